"""How far estimates would move with other votes: sandwich covariances, and resampled votes.

The sandwich B S B has B, the inverse information, and S, the sum over clusters of votes of u u', where u is the sum of
the cluster's derivatives (Huber 1967, White 1982; by cluster Liang and Zeger 1986). It needs no trust in the model's
own variance. Votes that are clusters of their own need no correction; G clusters have G / (G - 1) on variances and
Student's t with G - 1 degrees of freedom, as standard errors of Bradley-Terry over tasks have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import LEAST_CLUSTERS, effective_number, is_enough
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.votes.connectedness import Connectedness, within_components
from ranking_engine.votes.data import Codes, Comparisons, Votes
from ranking_engine.votes.fitting import NotFittedError, VoteFit, assembled, fitted_votes

MIN_RESAMPLES, MAX_RESAMPLES = 100, 10_000
MAX_UNDEFINED = 0.01  # the share of draws without an estimate up to which the others give intervals


def covariance_of(
    fit: VoteFit, comparisons: Comparisons, votes: Votes, clusters: tuple[Codes, int] | None, n_counted: int = 0
) -> FloatArray:
    """Return the sandwich covariance of all estimates, in the order of `VoteFit.parameters`.

    O(n_votes + n_systems^3); by cluster, also the sum over clusters of the squared number of systems in it.

    Args:
        fit: the estimate.
        comparisons: the counts that were fitted.
        votes: what was counted in them.
        clusters: as `Votes.clusters` returns them.
        n_counted: how many of them have a vote that counts, by which the variances are corrected.
    """
    slope, tie_slope = fit.terms.slope, fit.terms.tie_slope
    has_tie = fit.tie is not None
    if clusters is None:
        squares = np.bincount(comparisons.codes, weights=votes.weights**2, minlength=comparisons.counts.size)
        counted = squares.reshape(comparisons.counts.shape) * (comparisons.counts > 0)
        cross = (counted * slope * tie_slope).sum(axis=0) if has_tie else None
        meat = assembled(comparisons, (counted * slope**2).sum(axis=0), cross, float((counted * tie_slope**2).sum()))
        factor = 1.0
    else:
        labels, n_clusters = clusters
        by_cluster = _cluster_gradients(fit, comparisons, votes, labels, n_clusters)
        meat = (by_cluster.T @ by_cluster).toarray()
        factor = n_counted / (n_counted - 1) if n_counted > 1 else 1.0  # of one cluster no error is stated
    # The constant in the information reaches none of this: derivatives sum to 0 in each component.
    bread = fit.inverse
    return np.asarray(factor * bread @ meat @ bread.T)


def _cluster_gradients(fit: VoteFit, comparisons: Comparisons, votes: Votes, labels: Codes, n_clusters: int) -> Any:  # noqa: ANN401 -- a sparse array
    """Return a row per cluster: the sum of its votes' derivatives in all parameters, times their weights; sparse."""
    from scipy.sparse import coo_array  # noqa: PLC0415 -- slow import

    n, k = comparisons.n_systems, comparisons.covariates.shape[1]
    is_counted = comparisons.counts.ravel()[comparisons.codes] > 0
    codes, weights = comparisons.codes[is_counted], votes.weights[is_counted]
    clusters, rows = labels[is_counted], codes % comparisons.n_rows
    slopes = weights * fit.terms.slope.ravel()[codes]
    columns = [comparisons.first[rows], comparisons.second[rows]]
    values = [slopes, -slopes]
    for c in range(k):
        columns.append(np.full(len(rows), n + c))
        values.append(slopes * comparisons.covariates[rows, c])
    if fit.tie is not None:
        columns.append(np.full(len(rows), n + k))
        values.append(weights * fit.terms.tie_slope.ravel()[codes])
    places = (np.tile(clusters, len(columns)), np.concatenate(columns))
    return coo_array((np.concatenate(values), places), shape=(n_clusters, len(fit.parameters))).tocsr()


def quantile_of(level: float, n_clusters: float | None) -> float:
    """Return by how many standard errors an interval of this level extends to each side.

    Args:
        level: of the interval.
        n_clusters: by their `effective_number`; None for votes by themselves.
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 -- slow import

    tail = 0.5 + level / 2
    return float(ndtri(tail) if n_clusters is None else stdtrit(n_clusters - 1, tail))


def clusters_by_component(
    comparisons: Comparisons, votes: Votes, connectedness: Connectedness, clusters: tuple[Codes, int]
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return how many clusters have a counted vote in each component, and how many they count as.

    The second is their `effective_number` by the weights of their votes there; votes of weight 0 do not count.

    Args:
        comparisons: the counts within components.
        votes, connectedness: what they are from.
        clusters: as `Votes.clusters` returns them.
    """
    labels, n_clusters = clusters
    is_counted = (comparisons.counts.ravel()[comparisons.codes] > 0) & (votes.weights > 0)
    components = connectedness.labels[votes.first[is_counted]]
    distinct, place = np.unique(components.astype(np.int64) * n_clusters + labels[is_counted], return_inverse=True)
    sizes = np.bincount(place, votes.weights[is_counted], minlength=len(distinct))
    n_of_each = np.bincount(distinct // n_clusters, minlength=connectedness.n_components)
    of_each = np.split(sizes, np.cumsum(n_of_each)[:-1])
    return n_of_each, np.array([effective_number(of_component) for of_component in of_each])


def cluster_problem(n_clusters: NDArray[np.intp], effective: FloatArray, sizes: NDArray[np.intp]) -> str:
    """Say which groups have too few clusters for errors; empty where none has.

    Args:
        n_clusters, effective: as `clusters_by_component` returns them.
        sizes: the systems of each component.
    """
    is_compared = sizes > 1
    least = float(effective[is_compared].min(initial=np.inf))
    if is_enough(least):
        return ""
    where = "the votes have" if is_compared.sum() == 1 else "the votes of a group of systems have"
    n_least = int(n_clusters[is_compared][effective[is_compared].argmin()])
    as_good_as = "" if n_least < LEAST_CLUSTERS else f", as good as {least:.1f} of equal size"
    return f"errors by cluster need {LEAST_CLUSTERS} clusters; {where} {n_least}{as_good_as}"


@dataclass(frozen=True, eq=False)
class Resamples:
    """Estimates from resampled votes.

    Attributes:
        parameters: (n_drawn, n_parameters), as `VoteFit.parameters`.
        n_undefined: draws without a finite estimate, because they connect fewer systems.
    """

    parameters: FloatArray
    n_undefined: int

    @property
    def problem(self) -> str:
        """Why the draws give no intervals; empty where they do."""
        n_draws = len(self.parameters) + self.n_undefined
        if self.n_undefined <= MAX_UNDEFINED * n_draws:
            return ""
        return f"{self.n_undefined:,} of {n_draws:,} resampled sets of votes connect fewer systems than all votes do"


def resampled(
    fit: VoteFit,
    comparisons: Comparisons,
    votes: Votes,
    connectedness: Connectedness,
    clusters: tuple[Codes, int] | None,
    *,
    n_resamples: int,
    seed: int,
) -> Resamples:
    """Draw clusters of votes with replacement, as many as there are, and fit each draw, beginning at the estimate.

    A draw is left out where it does not connect the same components, or has no finite estimate.

    Args:
        fit, comparisons, votes, connectedness, clusters: the estimate and what it is from.
        n_resamples: the number of draws.
        seed: of the random numbers.

    Raises:
        ValueError: `n_resamples` is not between MIN_RESAMPLES and MAX_RESAMPLES.
    """
    if not MIN_RESAMPLES <= n_resamples <= MAX_RESAMPLES:
        raise ValueError(f"`n_resamples` is {n_resamples:,}; expected {MIN_RESAMPLES} to {MAX_RESAMPLES:,}")
    random = np.random.default_rng(seed)
    shape, start = comparisons.counts.shape, fit.parameters
    n_votes = votes.n_votes
    # Equal weights and no clusters: only how often each result was drawn matters.
    unit = float(votes.weights[0]) if clusters is None and n_votes and np.ptp(votes.weights) == 0 else None
    n_of_each = np.bincount(comparisons.codes, minlength=comparisons.counts.size)
    of_votes = np.bincount(comparisons.codes, weights=votes.weights, minlength=comparisons.counts.size)
    # A prior, which no vote gave, is in every draw. Where one is, everything is connected, and all votes are counted.
    of_prior = comparisons.counts - of_votes.reshape(shape) if connectedness.n_components == 1 else 0.0
    drawn, n_undefined = [], 0
    for _ in range(n_resamples):
        if unit is not None:
            counts = unit * random.multinomial(n_votes, n_of_each / n_votes).astype(np.float64)
        else:
            n_clusters = n_votes if clusters is None else clusters[1]
            times = np.bincount(random.integers(n_clusters, size=n_clusters), minlength=n_clusters)
            weights = votes.weights * (times if clusters is None else times[clusters[0]])
            counts = np.bincount(comparisons.codes, weights=weights, minlength=comparisons.counts.size).astype(float)
        draw = comparisons.with_counts(np.maximum(counts.reshape(shape) + of_prior, 0.0))
        connected = Connectedness.of(draw)
        # Components are numbered by who beats whom, so that the same ones may have other numbers.
        pairs = np.unique(np.stack([connected.labels, connectedness.labels]), axis=1)
        if not connected.n_components == connectedness.n_components == pairs.shape[1]:
            n_undefined += 1
            continue
        try:
            draw_fit = fitted_votes(within_components(draw, connectedness), fit.model, connectedness.labels, start)
        except NotFittedError:
            n_undefined += 1
            continue
        if len(draw_fit.parameters) != len(start):  # no tie was drawn
            n_undefined += 1
            continue
        drawn.append(draw_fit.parameters)
    return Resamples(np.array(drawn).reshape(-1, len(start)), n_undefined)
