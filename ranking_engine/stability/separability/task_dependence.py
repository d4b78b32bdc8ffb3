"""Dependence of tasks: whether the tasks of a board are as independent as its tests take them to be.

Tests and intervals count clusters of tasks as independent: those that a benchmark declares, and every other task by
itself. Tasks that repeat each other (three sizes of one puzzle, two metrics of one data set) make both too confident.
What a system does well at in general is no dependence of this kind: it is what a board measures. So the correlations
here are of what is left of the scores after an effect of each system and one of each task are taken out: a positive one
says that two tasks favour the same systems beyond how good these are overall.

Tasks reflect how good a system is with unequal precision. If the same effect were taken out of all, the precise ones
would keep a part of it in common and look alike. So each task has a loading on the systems' effects, by the centroid
method (Thurstone 1931): as much as it correlates with all tasks together. Tasks that are independent given how good a
system is then leave correlations that the loadings predict (those of the residuals of independent errors, about
-1 / (T - 1)), and a pair is beyond luck where its own exceeds what they predict.

The effective number of clusters is that of Bretherton et al. 1999, (sum of eigenvalues)^2 / (sum of their squares) =
T^2 / sum r^2, less what independent tasks show by themselves: the square of the predicted correlation, and 1 / (m - 1)
for m systems. So independent tasks give about T.

Scores cannot tell a family that makes up most of a board from tasks that measure better than all the others: both are
taken as precise. With two precise tasks among very noisy ones, the pair may still look alike.

Systems are taken as drawn independently. Where many systems are variants of one model the luck level is too low, and
some suggestions may say more about the systems than about the tasks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.separability.pair_tests import task_clusters

MIN_SYSTEMS = 10  # with fewer, the correlation that luck reaches is .9 and more
MIN_CLUSTERS = 4  # of two, taking out the systems' effects leaves one column and its mirror image
MAX_TASKS = 1000
LEAST_CORRELATION = 0.4  # a suggested cluster's average, at least
LEVEL = 0.05

_SWEEPS = 100
_SETTLED = 1e-10  # in units of a task's spread
_LARGEST_LOADING = 0.995  # a task without an error of its own would leave nothing to correlate
_SMALLEST_LOADING = 0.01


@dataclass(frozen=True)
class CorrelatedPair:
    """Two clusters of tasks, by number, and the correlation of their residuals over `n_systems` common systems."""

    first: int
    second: int
    correlation: float
    n_systems: int


@dataclass(frozen=True)
class SuggestedCluster:
    """Clusters, by number, that would better be one; `correlation` is the average over their pairs."""

    clusters: tuple[int, ...]
    tasks: tuple[int, ...]
    correlation: float

    @classmethod
    def all_of(cls, clusters: tuple[tuple[int, ...], ...], similarity: FloatArray) -> tuple[SuggestedCluster, ...]:
        """Return the groups of average linkage whose average correlation is `LEAST_CORRELATION` or more."""
        from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 -- slow import
        from scipy.spatial.distance import squareform  # noqa: PLC0415 -- slow import

        known = np.where(np.isnan(similarity), 0.0, similarity)
        np.fill_diagonal(known, 1.0)
        joined = linkage(squareform(1.0 - known, checks=False), "average")
        labels = fcluster(joined, 1.0 - LEAST_CORRELATION, "distance")
        suggestions = []
        for label in np.unique(labels):
            together = np.flatnonzero(labels == label)
            if len(together) > 1:
                inside = known[np.ix_(together, together)][np.triu_indices(len(together), 1)]
                tasks = tuple(sorted(t for a in together for t in clusters[a]))
                suggestions.append(cls(tuple(together.tolist()), tasks, float(inside.mean())))
        return tuple(sorted(suggestions, key=lambda one: (-one.correlation, one.clusters)))


@dataclass(frozen=True, eq=False)
class TaskDependence:
    """How far the clusters of tasks of a board depend on each other.

    Attributes:
        reason: why there is nothing to say; empty where there is.
        clusters: the voting tasks of each cluster, by index in the matrix, in the order of the first of them.
        correlations: `correlations[a, b]` of the residuals of clusters a and b, float64 of shape
            (n_clusters, n_clusters); NaN where they cannot be had.
        effective_number: as how many independent clusters they are, between 1 and their number; NaN with a reason.
        pairs: those whose correlation, and whose rank correlation, is beyond luck at the 5 % level among all pairs,
            strongest first; positive ones only.
        suggested: clusters that would better be one, those of the strongest correlation first.
    """

    reason: str
    clusters: tuple[tuple[int, ...], ...] = ()
    correlations: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    effective_number: float = np.nan
    pairs: tuple[CorrelatedPair, ...] = ()
    suggested: tuple[SuggestedCluster, ...] = ()

    @property
    def n_clusters(self) -> int:
        """How many clusters the tests take as independent."""
        return len(self.clusters)

    def summary(self) -> dict[str, Any]:
        """Return what a page says, as JSON; tasks by index."""
        return {
            "reason": self.reason,
            "clusters": [list(tasks) for tasks in self.clusters],
            "effective_number": None if self.reason else self.effective_number,
            "pairs": [asdict(pair) for pair in self.pairs],
            "suggested": [
                {"clusters": list(one.clusters), "tasks": list(one.tasks), "correlation": one.correlation}
                for one in self.suggested
            ],
        }


def task_dependence(matrix: ScoreMatrix) -> TaskDependence:
    """Return how far the clusters of voting tasks depend on each other.

    A task is measured in its standard deviation over the systems, so that units do not matter; a cluster of several
    tasks is the average of those that a system has a score on, in the standard deviation of these averages.

    Args:
        matrix: the scores; its clusters are what tests take as independent. Missing scores are left out; weights
            do not matter, except whether a task votes.
    """
    if not matrix.votes.any() or int(matrix.votes.sum()) > MAX_TASKS:
        return TaskDependence(f"only boards of 1 to {MAX_TASKS:,} tasks of weight above 0 are looked at")
    voting = np.flatnonzero(matrix.votes)
    part = matrix.subset(systems=matrix.has_score, tasks=voting) if matrix.has_score.any() else None
    if part is None or part.n_systems < MIN_SYSTEMS:
        return TaskDependence(f"fewer than {MIN_SYSTEMS} systems have scores")
    by_number: dict[int, list[int]] = {}
    for t, number in enumerate(task_clusters(part)):
        by_number.setdefault(number, []).append(t)
    members = list(by_number.values())
    if len(members) < MIN_CLUSTERS:
        return TaskDependence(f"fewer than {MIN_CLUSTERS} clusters of tasks")
    clusters = tuple(tuple(int(voting[t]) for t in tasks) for tasks in members)
    from scipy.stats import rankdata  # noqa: PLC0415 -- slow import

    residuals, loadings = _residuals(part.scores, members)
    correlations, n_common = _correlations(residuals)
    of_ranks, _ = _correlations(rankdata(residuals, axis=0, nan_policy="omit"))
    # What is left of tasks that have nothing but the systems' effects in common correlates by so much.
    squares = loadings @ loadings
    effects_out = np.eye(len(loadings)) - np.outer(loadings, loadings) / (squares if squares > 0 else 1.0)
    covariance = effects_out @ (effects_out * (1 - loadings**2)[:, None])
    variance = np.maximum(np.diag(covariance), 1e-12)
    predicted = np.clip(covariance / np.sqrt(np.outer(variance, variance)), -1.0, 1.0)
    # The correlation that independent tasks exceed in any pair with a probability of 5 % (Fisher's z).
    from scipy.special import ndtri  # noqa: PLC0415 -- slow import

    n_clusters = len(n_common)
    n_pairs = n_clusters * (n_clusters - 1) / 2
    z = -ndtri(LEVEL / n_pairs)
    least_z = np.arctanh(np.clip(predicted, 0.0, 1 - 1e-12)) + z / np.sqrt(np.maximum(n_common - 3, 1))
    luck = np.where(n_common > 3, np.tanh(least_z), 1.0)
    is_beyond = (correlations > luck) & (of_ranks > luck)  # a few extreme systems make the first alone
    pairs = sorted(
        (
            CorrelatedPair(int(a), int(b), float(correlations[a, b]), int(n_common[a, b]))
            for a, b in np.argwhere(np.triu(is_beyond, 1))
        ),
        key=lambda pair: (-pair.correlation, pair.first, pair.second),
    )
    effective_number, is_known = float(n_clusters), ~np.isnan(correlations) & ~np.eye(n_clusters, dtype=bool)
    if is_known.any():
        by_luck = predicted[is_known] ** 2 + 1 / (n_common[is_known] - 1)
        excess = float((correlations[is_known] ** 2 - by_luck).mean()) * n_clusters * (n_clusters - 1)
        effective_number = float(np.clip(n_clusters**2 / (n_clusters + max(excess, 0.0)), 1.0, n_clusters))
    return TaskDependence(
        "",
        clusters,
        correlations,
        effective_number,
        tuple(pairs),
        SuggestedCluster.all_of(clusters, np.where(is_beyond, correlations, np.minimum(correlations, 0.0))),
    )


def centroid_loadings(correlations: FloatArray) -> FloatArray:
    """Return how much each task reflects what all have in common, from 0 to less than 1 (Thurstone 1931).

    The loading is the sum of a task's correlations, itself included, over the root of the sum of all. What its error
    leaves of its correlation with itself is the square of the loading: from the strongest correlation on, until that
    agrees. Tasks that have nothing in common get the same small loading, as do those that go against the others.

    Args:
        correlations: of every two tasks; NaN counts as 0, and such a task's loading is 0 if NaN is on the diagonal.
    """
    is_varied = ~np.isnan(np.diag(correlations))
    others = np.nan_to_num(correlations)
    np.fill_diagonal(others, 0.0)
    loadings = np.sqrt(np.abs(others).max(axis=0))
    for _ in range(_SWEEPS):
        sums = others.sum(axis=0) + loadings**2
        total = sums.sum()
        before, loadings = loadings, sums / np.sqrt(total) if total > 0 else np.zeros(len(sums))
        loadings = np.where(is_varied, np.clip(loadings, _SMALLEST_LOADING, _LARGEST_LOADING), 0.0)
        if np.abs(loadings - before).max() < _SETTLED:
            break
    return loadings


def _standardised(scores: FloatArray) -> FloatArray:
    """Return every column less its mean, in its standard deviation over the scores that are there."""
    is_there = ~np.isnan(scores)
    n = np.maximum(is_there.sum(axis=0), 1)
    largest = np.where(is_there, np.abs(scores), 0.0).max(axis=0)
    unit = np.where(is_there, scores, 0.0) / np.where(largest > 0, largest, 1.0)  # squares of 1e308 are no floats
    centred = np.where(is_there, unit - unit.sum(axis=0) / n, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=0) / n)
    return np.where(is_there, centred / np.where(deviation > 0, deviation, 1.0), np.nan)


def _residuals(scores: FloatArray, members: list[list[int]]) -> tuple[FloatArray, FloatArray]:
    """Return the scores on each cluster less an effect of each system, times the cluster's loading, and one of each
    cluster; and the loadings.

    Least squares, by sweeps, in standard deviations; NaN where a system has no score on a cluster.
    """
    measured = _standardised(scores)
    columns = np.full((len(scores), len(members)), np.nan)
    for number, tasks in enumerate(members):
        is_there = ~np.isnan(measured[:, tasks])
        n_there, total = is_there.sum(axis=1), np.where(is_there, measured[:, tasks], 0.0).sum(axis=1)
        columns[:, number] = np.divide(total, n_there, out=np.full(len(scores), np.nan), where=n_there > 0)
    columns = _standardised(columns)
    loadings = centroid_loadings(_correlations(columns)[0])
    is_there = ~np.isnan(columns)
    left = np.where(is_there, columns, 0.0)
    squares = is_there @ loadings**2
    n_column = np.maximum(is_there.sum(axis=0), 1)
    for _ in range(_SWEEPS):  # complete tables settle in the first
        of_rows = np.outer(left @ loadings / np.where(squares > 0, squares, 1.0), loadings)
        left = np.where(is_there, left - of_rows, 0.0)
        of_columns = left.sum(axis=0) / n_column
        left = np.where(is_there, left - of_columns, 0.0)
        if max(np.abs(of_rows).max(), np.abs(of_columns).max()) < _SETTLED:
            break
    return np.where(is_there, left, np.nan), loadings


def _correlations(residuals: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the correlations of the columns over common rows, and how many rows these are.

    NaN where there are fewer than four, or a column does not vary on them.
    """
    is_there = ~np.isnan(residuals)
    values, present = np.where(is_there, residuals, 0.0), is_there.astype(np.float64)
    n = present.T @ present
    sums = values.T @ present  # sums[a, b]: of column a over the rows common with b
    squares = (values**2).T @ present
    safe = np.maximum(n, 1.0)
    covariance = values.T @ values - sums * sums.T / safe
    variance = squares - sums**2 / safe
    is_varied = variance > 1e-12 * np.maximum(squares, 1e-300) + 1e-20 * n
    scale = np.sqrt(np.where(is_varied & is_varied.T, variance * variance.T, np.nan))
    correlations = np.clip(covariance / scale, -1.0, 1.0)
    correlations[n < 4] = np.nan
    return correlations, n.astype(np.int64)
