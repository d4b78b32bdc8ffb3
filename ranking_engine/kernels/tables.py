"""Rule scores of many tables of the same systems and tasks at once, whose scores differ.

A batch holds oriented scores of shape (n_matrices, n_systems, n_tasks), NaN where missing; r indexes matrices. Rule
scores have shape (n_matrices, n_systems), NaN where a system is not ranked, and are those of the rule up to rounding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.core.task_order import TaskOrder, task_order
from ranking_engine.core.weights import as_float
from ranking_engine.kernels.pairs import Pairs, cached_blocks, win_rate as rate_of_wins
from ranking_engine.rules.cardinal import inverted
from ranking_engine.rules.positional import compatible_points
from ranking_engine.rules.rates import order_of_names, snapped

Transform = Callable[[FloatArray], FloatArray]

_MAX_BYTE = 255
_ROUNDING = 1e-13  # of what is added up
_LEAST = 5e-324  # above 0


class MatrixBatch:
    """Many matrices of scored systems and voting tasks.

    Attributes:
        matrix: where the directions, weights and scales come from.
        scores: shape (n_matrices, n_systems, n_tasks), oriented; NaN where missing.
        weights: how much each task counts in each matrix, integers as floats, shape (n_matrices, n_tasks).
        present: `present[r, i]`: system i has a score in matrix r.
        shared: the scores that systems have in every matrix in which they are present, if these are the same.
    """

    def __init__(
        self,
        matrix: ScoreMatrix,
        scores: FloatArray,
        weights: FloatArray | None = None,
        present: BoolArray | None = None,
        shared: Profile | None = None,
    ) -> None:
        own = matrix.integer_weights
        if own.dtype == object:  # integers may be beyond all floats; what is computed of a batch asks for shares alone
            own = np.array([as_float(weight) for weight in matrix.weights])
        own = own.astype(np.float64)
        self.matrix, self.scores, self.shared = matrix, scores, shared
        self.weights: FloatArray = np.broadcast_to(own, (len(scores), len(own))) if weights is None else weights
        self.present: BoolArray = np.asarray(~np.isnan(scores).all(axis=2)) if present is None else present

    @classmethod
    def of_counts(
        cls, profile: Profile, task_counts: NDArray[np.int64], present: BoolArray | None = None
    ) -> MatrixBatch:
        """Return tables of the same scores, in which task t counts `task_counts[r, t]` times its weight.

        Args:
            profile: the scores, which all tables share.
            task_counts: shape (n_matrices, n_tasks).
            present: who has a score on a task that counts, shape (n_matrices, n_systems); everyone unless stated.
        """
        b, T = task_counts.shape
        n, order = profile.n_systems, profile.order
        weights = (task_counts * profile.weights).astype(np.float64)
        if present is None:
            present = np.ones((b, n), dtype=bool)
        batch = cls(profile.matrix, np.broadcast_to(profile.scores, (b, n, T)), weights, present, profile)
        batch._order = (  # known, and the same for all
            np.broadcast_to(order.first, (b, n, T)),
            np.broadcast_to(order.last, (b, n, T)),
            np.broadcast_to(order.place.T[:, None, :], (T, b, n)),
        )
        return batch

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """The number of systems on each board, shape (n_matrices, 1, 1)."""
        return self.present.sum(axis=1)[:, None, None]

    @cached_property
    def order(self) -> TaskOrder:
        """How each task of each matrix orders the systems: task t of matrix r is column r * n_tasks + t."""
        b, n, T = self.scores.shape
        return task_order(np.ascontiguousarray(self.scores.transpose(1, 0, 2)).reshape(n, b * T))

    @cached_property
    def _order(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        b, n, T = self.scores.shape
        first, last, place = (array.reshape(n, b, T) for array in (self.order.first, self.order.last, self.order.place))
        return first.transpose(1, 0, 2), last.transpose(1, 0, 2), place.transpose(2, 1, 0)

    @property
    def first(self) -> NDArray[np.int32]:
        """The first position, from 0, of the tie block of system i on task t of matrix r; -1 where missing."""
        return self._order[0]

    @property
    def last(self) -> NDArray[np.int32]:
        """The last position of that block."""
        return self._order[1]

    @property
    def place(self) -> NDArray[np.int32]:
        """The number of distinct scores above, plus 1, 0 where missing; shape (n_tasks, n_matrices, n_systems)."""
        return self._order[2]

    @cached_property
    def pairs(self) -> Pairs:
        """The comparison of all systems in each matrix, in integer weights."""
        _, b, n = self.place.shape
        widest = int(self.place.max(initial=0)) + 1
        theirs = np.ascontiguousarray(self.place, dtype=np.min_scalar_type(widest))
        mine = np.where(theirs == 0, np.array(widest, dtype=theirs.dtype), theirs)
        by_weight: dict[int, list[int]] = defaultdict(list)
        for t, weight in enumerate(map(int, self.matrix.integer_weights)):
            if weight:
                by_weight[weight].append(t)
        is_light = sum(weight * len(tasks) for weight, tasks in by_weight.items()) < 2**31
        wins: NDArray[Any] = np.zeros((b, n, n), dtype=np.int32 if is_light else np.int64)
        count, is_above = np.empty((b, n, n), dtype=np.uint8), np.empty((b, n, n), dtype=bool)
        for weight, tasks in by_weight.items():
            for k in range(0, len(tasks), _MAX_BYTE):
                count.fill(0)
                for t in tasks[k : k + _MAX_BYTE]:
                    np.less(mine[t][:, :, None], theirs[t][:, None, :], out=is_above)
                    np.add(count, is_above.view(np.uint8), out=count)
                wins += np.multiply(count, weight, dtype=wins.dtype)
        return Pairs(wins, self.present, name_order=order_of_names(self.matrix.system_names))

    @cached_property
    def common(self) -> FloatArray:
        """`common[r, i, j]`: the weight of the tasks on which both have a score."""
        has = (~np.isnan(self.scores)).astype(np.float64)
        return (has * self.weights[:, None, :]) @ has.transpose(0, 2, 1)

    def weighted_mean(self, terms: NDArray[np.floating[Any]]) -> FloatArray:
        """Return the weighted mean over tasks of `terms`, shaped as the scores; 0 where only rounding is left."""
        shares = (self.weights / self.weights.sum(axis=1, keepdims=True))[:, :, None]
        means = np.asarray((terms @ shares)[:, :, 0], dtype=np.float64)
        if np.min(terms, initial=0.0) < 0 < np.max(terms, initial=0.0):
            with np.errstate(invalid="ignore"):
                means[np.abs(means) <= _ROUNDING * (np.abs(terms) @ shares)[:, :, 0]] = 0.0
        return means


def mean(batch: MatrixBatch) -> FloatArray:
    """The weighted mean of the scores."""
    return batch.weighted_mean(batch.scores)


def geometric_mean(batch: MatrixBatch) -> FloatArray:
    """The exponential of the mean logarithm."""
    return _of_positive_scores(batch, np.log, np.exp)


def harmonic_mean(batch: MatrixBatch) -> FloatArray:
    """The inverse of the mean inverse."""
    return _of_positive_scores(batch, inverted, np.reciprocal)


def _of_positive_scores(batch: MatrixBatch, term: Transform, mean_of_terms: Transform) -> FloatArray:
    """A mean that a system with a score <= 0 has not; lower-is-better tasks are seen to beforehand."""
    counts = batch.weights[:, None, :] > 0  # a task that lost all its scores is filled with 0, and weighs nothing
    is_low = (batch.scores <= 0) & counts
    terms = term(np.where(counts & ~is_low, batch.scores, 1.0))
    return np.where(is_low.any(axis=2), np.nan, mean_of_terms(batch.weighted_mean(terms)))


def worst_task(batch: MatrixBatch) -> FloatArray:
    """The least score on the tasks that weigh something."""
    counts = batch.weights[:, None, :] > 0
    least = np.where(counts, batch.scores, np.inf).min(axis=2)
    return np.where(batch.present, least, np.nan)


def median(batch: MatrixBatch) -> FloatArray:
    """The weighted median of the scores."""
    order = np.argsort(batch.scores, axis=2, kind="stable")
    ascending = np.take_along_axis(batch.scores, order, axis=2)
    weights = np.broadcast_to(batch.weights[:, None, :], batch.scores.shape)
    up_to = 2 * np.cumsum(np.take_along_axis(weights, order, axis=2), axis=2)
    total = batch.weights.sum(axis=1)[:, None, None]
    lower, upper = (np.asarray(is_past).argmax(axis=2)[:, :, None] for is_past in (up_to >= total, up_to > total))
    low, high = np.take_along_axis(ascending, lower, axis=2), np.take_along_axis(ascending, upper, axis=2)
    return np.where(low == high, low, low / 2 + high / 2)[:, :, 0]


def normalized_mean(batch: MatrixBatch) -> FloatArray:
    """The weighted mean of how far scores are on the way from chance to the best."""
    matrix = batch.matrix
    best = np.where(matrix.directions > 0, matrix.maximum, matrix.minimum)
    values = batch.scores * matrix.directions
    return batch.weighted_mean((values - matrix.chance) / (best - matrix.chance))


def optimality_gap(batch: MatrixBatch) -> FloatArray:
    """Minus the weighted mean of what scores lack of the threshold."""
    gamma = batch.matrix.gamma or 0.0
    return batch.weighted_mean(np.minimum(batch.scores, gamma) - gamma)


def plurality(batch: MatrixBatch) -> FloatArray:
    """A point for a system that is first alone."""
    return _positional(batch, (batch.last == 0).astype(np.float64))


def borda(batch: MatrixBatch) -> FloatArray:
    """A point for each system below."""
    return _positional(batch, (batch.size - 1.0) - batch.last)


def dowdall(batch: MatrixBatch) -> FloatArray:
    """1 over the position."""
    return _positional(batch, 1.0 / (np.maximum(batch.first, 0) + 1.0))


def average_rank(batch: MatrixBatch) -> FloatArray:
    """Minus the position, the mean of its block for systems that tie."""
    return _positional(batch, -(batch.first + batch.last) * 0.5 - 1.0)


def veto(batch: MatrixBatch) -> FloatArray:
    """A point for every system but the last ones."""
    return _positional(batch, (batch.last < batch.size - 1).astype(np.float64))


def compatible_borda(batch: MatrixBatch) -> FloatArray:
    """The expected number of systems below, whatever is missing."""
    return _positional(batch, compatible_points(batch.first, batch.last, batch.size))


def _positional(batch: MatrixBatch, points: NDArray[np.floating[Any]]) -> FloatArray:
    """The weighted mean of the points that positions are worth, under the rule's own convention for ties."""
    return np.where(batch.present, batch.weighted_mean(points), np.nan)


def of_pairs(score: Callable[[Pairs], FloatArray]) -> Callable[[MatrixBatch], FloatArray]:
    """Return the scores that a rule makes of the comparisons of a batch."""
    return lambda batch: score(batch.pairs)


def relative_difference(batch: MatrixBatch) -> FloatArray:
    """The mean over rivals of the mean relative difference over common tasks."""
    b, n, T = batch.scores.shape
    scores = np.empty((b, n))
    weights = batch.weights / batch.weights.max()
    highest, lowest = np.fmax.reduce(batch.scores), np.fmin.reduce(batch.scores)
    # Tables with the same scores but for missing ones share their differences.
    shared = _relative_differences(np.where(np.isnan(highest), 0.0, highest)) if (highest <= lowest).all() else None
    for rows in cached_blocks(b, n):
        is_there = ~np.isnan(batch.scores[rows])
        is_whole: BoolArray = np.asarray(is_there.all(axis=(0, 1)))
        columns, has = np.where(is_there, batch.scores[rows], 0.0), is_there.astype(np.float64)
        weighted = has * weights[rows, None]
        common = weighted @ has.swapaxes(1, 2)
        total, step, whole = np.zeros((3, len(has), n, n))
        for t in range(T):
            if shared is not None:
                np.multiply(shared[t], weighted[:, :, t, None], out=step)
            else:
                column, size = columns[:, :, t], np.abs(columns[:, :, t])
                np.add(size[:, :, None], size[:, None, :], out=whole)
                np.maximum(whole, _LEAST, out=whole)
                np.subtract(column[:, :, None], column[:, None, :], out=step)
                step /= whole
                step *= weighted[:, :, t, None]
            if not is_whole[t]:
                step *= has[:, None, :, t]
            total += step
        common[:, np.arange(n), np.arange(n)] = 0
        is_rival = common > 0
        means = np.divide(total, common, out=step, where=is_rival)
        means[~is_rival] = 0
        with np.errstate(invalid="ignore"):
            scores[rows] = means.sum(axis=2) / is_rival.sum(axis=2)
    return _alone(snapped(scores), batch)


def _relative_differences(values: FloatArray) -> FloatArray:
    """Return those of each task between all pairs, shape (n_tasks, n_systems, n_systems), of one table."""
    columns = values.T
    size = np.abs(columns)
    whole = np.maximum(size[:, :, None] + size[:, None, :], _LEAST)  # 0 / anything = 0
    return (columns[:, :, None] - columns[:, None, :]) / whole


def relative_difference_of_draws(batch: MatrixBatch) -> FloatArray:
    """The same on boards that share their scores, and differ in what tasks weigh: one product with the differences."""
    b, n, T = batch.scores.shape
    columns = batch.matrix.scores.T
    has = ~np.isnan(columns)
    columns = np.where(has, columns, 0.0)
    both = has[:, :, None] & has[:, None, :] & ~np.eye(n, dtype=bool)
    differences = np.where(both, _relative_differences(columns.T), 0.0).reshape(T, n * n)
    counted = both.reshape(T, n * n).astype(np.float64)
    weights = batch.weights / batch.weights.max()
    scores = np.empty((b, n))
    for rows in cached_blocks(b, n):
        shape = (-1, n, n)
        total, common = (weights[rows] @ differences).reshape(shape), (weights[rows] @ counted).reshape(shape)
        is_rival = (common > 0) & batch.present[rows, :, None] & batch.present[rows, None, :]
        means = np.divide(total, common, out=np.zeros_like(total), where=is_rival)
        with np.errstate(invalid="ignore"):
            scores[rows] = means.sum(axis=2) / is_rival.sum(axis=2)
    return _alone(snapped(scores), batch)


def win_rate(batch: MatrixBatch) -> FloatArray:
    """The mean over rivals of the share of common weight won."""
    return _alone(rate_of_wins(batch.pairs.wins, batch.common), batch)


def _alone(scores: FloatArray, batch: MatrixBatch) -> FloatArray:
    """Give a system that is alone on its board the score 0."""
    return np.where(batch.present & (batch.size[:, :, 0] == 1), 0.0, scores)
