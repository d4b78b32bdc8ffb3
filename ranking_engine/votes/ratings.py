"""Ratings of systems from votes, with everything that says how far to trust them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.rules.bradley_terry import SAME_STRENGTH
from ranking_engine.rules.rates import snapped
from ranking_engine.votes.connectedness import Connectedness, tie_problem, within_components
from ranking_engine.votes.data import Comparisons, Votes
from ranking_engine.votes.fitting import NotFittedError, VoteFit, fitted_votes
from ranking_engine.votes.intervals import VoteIntervals, intervals_of
from ranking_engine.votes.models import vote_model

POINTS = 400 / math.log(10)  # of a rating, in a strength of 1: 400 points are a factor of 10
MIDDLE = 1000.0  # the rating of a strength of 0, the mean of a component


@dataclass(frozen=True)
class Coefficient:
    """What a covariate adds to the difference of strengths per unit.

    Attributes:
        name: of the covariate.
        value, error: in units of strength, per unit of the covariate as it was fitted; the error is NaN without one.
        unit: what was one unit: 1, or the covariate's root mean square where it was divided by it.
    """

    name: str
    value: float
    error: float
    unit: float


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of systems from votes.

    Attributes:
        system_names: of the systems.
        model: the key of the model.
        strengths: (n_systems,), natural logarithms, mean 0 in each component; NaN where there are none.
        ranks: int32, 1 for the best of a component; equal strengths share a rank; UNRANKED without strengths.
        intervals: of strengths and ranks.
        n_votes: (n_systems,), how many votes of positive weight each system is in.
        connectedness: which systems can be compared.
        tie: nu or eta; None for a model without ties.
        coefficients: of the covariates.
        cluster, n_clusters: what the errors are clustered by, and how many clusters there are.
        level: of the intervals.
        problems: figures that are missing, and why.
        fit, comparisons: what the figures are from; None without strengths.
    """

    system_names: tuple[str, ...]
    model: str
    strengths: FloatArray
    ranks: NDArray[np.int32]
    intervals: VoteIntervals
    n_votes: NDArray[np.intp]
    connectedness: Connectedness
    tie: float | None
    coefficients: tuple[Coefficient, ...]
    cluster: str
    n_clusters: int
    level: float
    problems: tuple[str, ...]
    fit: VoteFit | None = field(repr=False)
    comparisons: Comparisons = field(repr=False)

    @property
    def is_fitted(self) -> bool:
        """Whether there are strengths."""
        return self.fit is not None

    @property
    def points(self) -> FloatArray:
        """The strengths on the scale of Elo: the mean of a component is 1000, 400 points are a factor of 10."""
        return MIDDLE + POINTS * self.strengths

    @property
    def order(self) -> NDArray[np.intp]:
        """The systems by component, then by rank, then by name."""
        return np.lexsort((np.arange(len(self.ranks)), self.ranks, self.connectedness.labels))


def rate(
    votes: Votes,
    model: str = "half_wins",
    *,
    cluster: str = "vote",
    level: float = 0.95,
    n_resamples: int = 0,
    seed: int = 0,
    prior: float = 0.0,
    with_covariates: bool = True,
    is_scaled: bool = True,
) -> Ratings:
    """Return ratings of maximum likelihood, with intervals. O(n_votes + n_systems^3).

    Args:
        votes: what to rate.
        model: "half_wins", "davidson" or "rao_kupper"; see `ranking_engine.votes.models`.
        cluster: errors treat votes of one "voter" or "prompt" as one, or each "vote" by itself.
        level: of the intervals.
        n_resamples: 0 for sandwich intervals; else percentiles of so many resampled sets of clusters.
        seed: of the resamples.
        prior: so many wins each way are added to every pair, so that strengths exist whatever the votes; not in the
            errors' sum over votes.
        with_covariates: whether the covariates of the votes are fitted.
        is_scaled: divide each covariate by its root mean square, so that a coefficient is per typical difference. Its
            mean is not taken off: which system is the first of a vote must not matter.

    Raises:
        ValueError: an argument is not as described.
    """
    chosen = vote_model(model)
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a number between 0 and 1, such as 0.95")
    if not (math.isfinite(prior) and prior >= 0):
        raise ValueError(f"`prior` is {prior}; expected 0 or a positive number of wins")
    clusters = votes.clusters(cluster)
    units = np.ones(votes.covariates.shape[1])
    if with_covariates and is_scaled and votes.n_votes:
        root_mean_squares = np.sqrt((votes.covariates**2).mean(axis=0))
        units = np.where(root_mean_squares > 0, root_mean_squares, 1.0)
    used = with_covariates and bool(votes.covariate_names)
    counted = Comparisons.of(votes, with_covariates=used)
    if used:
        counted = Comparisons(
            counted.n_systems, counted.first, counted.second, counted.counts, counted.covariates / units, counted.codes
        )
    whole = counted.with_prior(prior)
    connectedness = Connectedness.of(whole)
    comparisons = within_components(whole, connectedness)
    n = votes.n_systems
    problems = [sentence] if (sentence := connectedness.sentence(votes.system_names)) else []
    fit = None
    if not votes.n_votes:
        problems.append("there are no votes")
    elif chosen.has_ties and (reason := tie_problem(comparisons)):
        problems.append(f"no finite estimate with this model of ties: {reason}")
    else:
        try:
            fit = fitted_votes(comparisons, chosen, connectedness.labels)
        except NotFittedError as error:
            problems.append(str(error))
    if fit is None:
        strengths, ranks = np.full(n, np.nan), np.full(n, UNRANKED, dtype=np.int32)
        intervals, tie = VoteIntervals.none(n, 0), None
    else:
        strengths = snapped(fit.strengths, SAME_STRENGTH)
        ranks = np.empty(n, dtype=np.int32)
        for component in range(connectedness.n_components):
            members = connectedness.members(component)
            ranks[members] = 1 + np.searchsorted(np.sort(-strengths[members]), -strengths[members], side="left")
        intervals = intervals_of(
            fit, comparisons, votes, connectedness, clusters, level=level, n_resamples=n_resamples, seed=seed
        )
        no_ties = None if not chosen.has_ties else 1.0 if chosen.is_positive else 0.0
        tie = no_ties if fit.tie is None else math.exp(fit.tie)
        if intervals.problem:
            problems.append(intervals.problem)
    n_covariates = 0 if fit is None else len(fit.coefficients)
    return Ratings(
        system_names=votes.system_names,
        model=model,
        strengths=strengths,
        ranks=ranks,
        intervals=intervals,
        n_votes=votes_of(votes),
        connectedness=connectedness,
        tie=tie,
        coefficients=tuple(
            Coefficient(
                votes.covariate_names[c], float(fit.coefficients[c]), float(intervals.errors[n + c]), float(units[c])
            )
            for c in range(n_covariates)
            if fit is not None
        ),
        cluster=cluster,
        n_clusters=int((votes.weights > 0).sum()) if clusters is None else clusters[1],
        level=level,
        problems=tuple(problems),
        fit=fit,
        comparisons=comparisons,
    )


def votes_of(votes: Votes) -> NDArray[np.intp]:
    """Return in how many votes of positive weight each system is."""
    is_counted = votes.weights > 0
    both = np.concatenate([votes.first[is_counted], votes.second[is_counted]])
    return np.bincount(both, minlength=votes.n_systems)
