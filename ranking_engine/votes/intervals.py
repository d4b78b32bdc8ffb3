"""Intervals of strengths and ranks, from a sandwich covariance or from resampled votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.bradley_terry import SAME_STRENGTH
from ranking_engine.votes.connectedness import Connectedness
from ranking_engine.votes.data import Codes, Comparisons, Votes
from ranking_engine.votes.errors import cluster_problem, clusters_by_component, covariance_of, quantile_of, resampled
from ranking_engine.votes.fitting import VoteFit

SAME_VARIANCE = 1e-18  # of a strength; what rounding leaves of none


@dataclass(frozen=True, eq=False)
class VoteIntervals:
    """How far estimates would move with other votes.

    Attributes:
        errors: sandwich standard errors of all estimates, as `VoteFit.parameters`; NaN without.
        lower, upper: the interval of each strength by itself; NaN without.
        rank_lower, rank_upper: the least and greatest rank of each system in its component; UNRANKED without.
        method: "sandwich", "bootstrap", or "" where there are no intervals.
        n_undefined: resampled sets of votes without an estimate.
        problem: why there are no intervals; empty where there are.
    """

    errors: FloatArray
    lower: FloatArray
    upper: FloatArray
    rank_lower: NDArray[np.int32]
    rank_upper: NDArray[np.int32]
    method: str = ""
    n_undefined: int = 0
    problem: str = ""

    @classmethod
    def none(cls, n_systems: int, n_parameters: int, problem: str = "", n_undefined: int = 0) -> VoteIntervals:
        """Return that there are none, and why."""
        nothing, unranked = np.full(n_systems, np.nan), np.full(n_systems, UNRANKED, dtype=np.int32)
        errors = np.full(n_parameters, np.nan)
        return cls(errors, nothing, nothing, unranked, unranked, n_undefined=n_undefined, problem=problem)


def intervals_of(
    fit: VoteFit,
    comparisons: Comparisons,
    votes: Votes,
    connectedness: Connectedness,
    clusters: tuple[Codes, int] | None,
    *,
    level: float,
    n_resamples: int,
    seed: int,
) -> VoteIntervals:
    """Return intervals of an estimate.

    Args:
        fit, comparisons, votes, connectedness: the estimate and what it is from.
        clusters: of votes, as `Votes.clusters` returns them.
        level: of each interval by itself.
        n_resamples: 0 for estimate +- quantile x standard error; else percentiles of so many resampled sets of votes.
        seed: of the resamples.
    """
    n, n_clusters, effective = votes.n_systems, 0, None
    sizes = np.bincount(connectedness.labels, minlength=connectedness.n_components)
    if clusters is not None:
        by_component, as_good_as = clusters_by_component(comparisons, votes, connectedness, clusters)
        if problem := cluster_problem(by_component, as_good_as, sizes):
            return VoteIntervals.none(n, len(fit.parameters), problem)
        # The fewest of any group, so that no interval is too narrow.
        n_clusters = int(by_component[sizes > 1].min(initial=clusters[1]))
        effective = float(as_good_as[sizes > 1].min(initial=clusters[1]))
    covariance = covariance_of(fit, comparisons, votes, clusters, n_clusters)
    variances = covariance.diagonal().copy()
    # Where no vote could change, such as where all are ties, how far others may differ is not known.
    variances[:n][variances[:n] <= SAME_VARIANCE] = np.nan
    errors, quantile = np.sqrt(np.maximum(variances, 0.0)), quantile_of(level, effective)
    if n_resamples:
        draws = resampled(
            fit, comparisons, votes, connectedness, clusters, n_resamples=n_resamples, seed=seed
        )  # fmt: skip
        if draws.problem:
            return VoteIntervals.none(n, len(errors), f"no intervals: {draws.problem}", draws.n_undefined)
        tail, strengths = 0.5 - level / 2, draws.parameters[:, :n]
        lower, upper = np.quantile(strengths, [tail, 1 - tail], axis=0)
        least_gaps = np.array([np.quantile(strengths[:, [i]] - strengths, tail, axis=0) for i in range(n)])
        is_above, method, n_undefined = least_gaps > SAME_STRENGTH, "bootstrap", draws.n_undefined
    else:
        margin = quantile * errors[:n]
        lower, upper = fit.strengths - margin, fit.strengths + margin
        of_gaps = variances[:n, None] + variances[:n] - 2 * covariance[:n, :n]
        gaps = fit.strengths[:, None] - fit.strengths
        is_above = gaps > np.maximum(quantile * np.sqrt(np.maximum(of_gaps, 0.0)), SAME_STRENGTH)
        method, n_undefined = "sandwich", 0
    is_unknown = np.isnan(variances[:n])
    lower, upper = (np.where(is_unknown, np.nan, ends) for ends in (lower, upper))
    is_above &= ~is_unknown & ~is_unknown[:, None]
    least, greatest = rank_bounds(is_above, connectedness)
    return VoteIntervals(errors, lower, upper, least, greatest, method, n_undefined)


def rank_bounds(is_above: BoolArray, connectedness: Connectedness) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the least and greatest rank of each system in its component.

    Args:
        is_above: [i, j], whether i is better than j beyond the errors, each pair by itself.
        connectedness: whose components are ranked each by itself.
    """
    same = connectedness.labels[:, None] == connectedness.labels
    is_above = is_above & same
    least, greatest = 1 + is_above.sum(axis=0), same.sum(axis=0) - is_above.sum(axis=1)
    return least.astype(np.int32), greatest.astype(np.int32)
