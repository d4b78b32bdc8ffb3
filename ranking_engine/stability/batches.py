"""Rule scores of many matrices of the same systems and tasks at once, whose scores differ.

A batch holds oriented scores of shape (n_matrices, n_systems, n_tasks), NaN where missing; r indexes matrices. Rule
scores have shape (n_matrices, n_systems), NaN where a system is not ranked, and are those of the rule up to rounding,
but for the rules that are ranked one by one, which give minus their ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.decimals import as_scores
from ranking_engine.dispatch import rank_all
from ranking_engine.missing import halfway
from ranking_engine.ranking import UNRANKED
from ranking_engine.registry import get_rule
from ranking_engine.score_matrix import EXACT_FLOAT, BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability.rules_of_pairs import PAIR_RULES, Pairs, snapped_rows, win_rate
from ranking_engine.task_order import task_order
from ranking_engine.weights import as_float

Step = Callable[[int], None]

_SCHULZE_SYSTEMS = 100  # beyond, paths in a batch are slower than one by one
_MAX_BYTE = 255
_ROUNDING = 1e-13  # of what is added up
IMPUTING = ("median", "worst")


class Batch:
    """Many matrices of scored systems and voting tasks.

    Attributes:
        matrix: where the directions, weights and scales come from.
        scores: shape (n_matrices, n_systems, n_tasks), oriented; NaN where missing.
        weights: how much each task counts in each matrix, integers as floats, shape (n_matrices, n_tasks).
        present: `present[r, i]`: system i has a score in matrix r.
    """

    def __init__(
        self,
        matrix: ScoreMatrix,
        scores: FloatArray,
        weights: FloatArray | None = None,
        present: BoolArray | None = None,
    ) -> None:
        own = matrix.integer_weights
        if own.dtype == object:  # integers may be beyond all floats; what is computed of a batch asks for shares alone
            own = np.array([as_float(weight) for weight in matrix.weights])
        own = own.astype(np.float64)
        self.matrix, self.scores = matrix, scores
        self.weights: FloatArray = np.broadcast_to(own, (len(scores), len(own))) if weights is None else weights
        self.present: BoolArray = np.asarray(~np.isnan(scores).all(axis=2)) if present is None else present

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """The number of systems on each board, shape (n_matrices, 1, 1)."""
        return self.present.sum(axis=1)[:, None, None]

    @cached_property
    def _order(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        b, n, T = self.scores.shape
        order = task_order(np.ascontiguousarray(self.scores.transpose(1, 0, 2)).reshape(n, b * T))
        first, last, place = (array.reshape(n, b, T) for array in (order.first, order.last, order.place))
        return first.transpose(1, 0, 2), last.transpose(1, 0, 2), place.transpose(2, 1, 0)

    @property
    def first(self) -> NDArray[np.int32]:
        """The first position, from 0, of the tie block of system i on task t of matrix r; -1 where missing."""
        return self._order[0]

    @property
    def last(self) -> NDArray[np.int32]:
        """The last position of that block."""
        return self._order[1]

    @cached_property
    def pairs(self) -> Pairs:
        """The comparison of all systems in each matrix, in integer weights."""
        wins = _count_wins(self._order[2], [int(weight) for weight in self.matrix.integer_weights])
        return Pairs(wins, self.present)

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


def completed(batch: Batch, policy: str) -> Batch:
    """Fill the gaps of every matrix with the `median` or the `worst` of the scores that the task has in it.

    Systems without any score stay out; a task without any score counts nothing.
    """
    scores = batch.scores.copy()
    has_task = ~np.isnan(scores).all(axis=1)
    gaps = np.isnan(scores) & batch.present[:, :, None]
    if gaps.any():
        substitute = as_scores(_medians(scores), batch.matrix.precision) if policy == "median" else _worsts(scores)
        scores = np.where(gaps, np.where(has_task, substitute, 0.0)[:, None, :], scores)
    return Batch(batch.matrix, scores, batch.weights * has_task, batch.present)


def _medians(scores: FloatArray) -> FloatArray:
    ascending = np.sort(scores, axis=1)
    count = (~np.isnan(scores)).sum(axis=1)
    low, high = (np.maximum(middle, 0)[:, None, :] for middle in ((count - 1) // 2, count // 2))
    low, high = np.take_along_axis(ascending, low, axis=1), np.take_along_axis(ascending, high, axis=1)
    return halfway(low, high)[:, 0]


def _worsts(scores: FloatArray) -> FloatArray:
    return np.fmin.reduce(scores, axis=1)


def _count_wins(place: NDArray[np.int32], weights: list[int]) -> NDArray[Any]:
    """Return wins[r, i, j] from `place[t, r, i]`: 1 for the best score, 0 where missing."""
    _, b, n = place.shape
    widest = int(place.max(initial=0)) + 1
    theirs = np.ascontiguousarray(place, dtype=np.min_scalar_type(widest))
    mine = np.where(theirs == 0, np.array(widest, dtype=theirs.dtype), theirs)
    wins = np.zeros((b, n, n), dtype=np.int32 if sum(weights) < 2**31 else np.int64)
    count, is_above = np.empty((b, n, n), dtype=np.uint8), np.empty((b, n, n), dtype=bool)
    for weight, tasks in _tasks_by_weight(weights).items():
        for k in range(0, len(tasks), _MAX_BYTE):
            count.fill(0)
            for t in tasks[k : k + _MAX_BYTE]:
                np.less(mine[t][:, :, None], theirs[t][:, None, :], out=is_above)
                np.add(count, is_above.view(np.uint8), out=count)
            wins += np.multiply(count, weight, dtype=wins.dtype)
    return wins


def _tasks_by_weight(weights: list[int]) -> dict[int, list[int]]:
    tasks: dict[int, list[int]] = defaultdict(list)
    for t, weight in enumerate(weights):
        if weight:
            tasks[weight].append(t)
    return tasks


def _geometric_mean(batch: Batch) -> FloatArray:
    """A system with a score <= 0 has none; lower-is-better tasks are seen to beforehand."""
    counts = batch.weights[:, None, :] > 0  # a task that lost all its scores is filled with 0, and weighs nothing
    is_low = (batch.scores <= 0) & counts
    logarithms = np.log(np.where(counts & ~is_low, batch.scores, 1.0))
    return np.where(is_low.any(axis=2), np.nan, np.exp(batch.weighted_mean(logarithms)))


def _median(batch: Batch) -> FloatArray:
    order = np.argsort(batch.scores, axis=2, kind="stable")
    ascending = np.take_along_axis(batch.scores, order, axis=2)
    weights = np.broadcast_to(batch.weights[:, None, :], batch.scores.shape)
    up_to = 2 * np.cumsum(np.take_along_axis(weights, order, axis=2), axis=2)
    total = batch.weights.sum(axis=1)[:, None, None]
    lower, upper = (np.asarray(is_past).argmax(axis=2)[:, :, None] for is_past in (up_to >= total, up_to > total))
    low, high = np.take_along_axis(ascending, lower, axis=2), np.take_along_axis(ascending, upper, axis=2)
    return np.where(low == high, low, low / 2 + high / 2)[:, :, 0]


def _normalized_mean(batch: Batch) -> FloatArray:
    matrix = batch.matrix
    best = np.where(matrix.directions > 0, matrix.maximum, matrix.minimum)
    values = batch.scores * matrix.directions
    return batch.weighted_mean((values - matrix.chance) / (best - matrix.chance))


def _minus_gap(batch: Batch) -> FloatArray:
    gamma = batch.matrix.gamma or 0.0
    return batch.weighted_mean(np.minimum(batch.scores, gamma) - gamma)


def _positional(points: Callable[[Batch], NDArray[np.floating[Any]]]) -> Callable[[Batch], FloatArray]:
    """A rule that gives each position its points, under its own convention for ties within a task."""
    return lambda batch: np.where(batch.present, batch.weighted_mean(points(batch)), np.nan)


def _relative_difference(batch: Batch) -> FloatArray:
    b, n, T = batch.scores.shape
    total, common = np.zeros((b, n, n)), np.zeros((b, n, n))
    weights = batch.weights / batch.weights.max()
    for t in range(T):
        column = batch.scores[:, :, t]
        size = np.abs(column)
        whole = size[:, :, None] + size[:, None, :]
        whole[whole == 0] = 1.0
        difference = (column[:, :, None] - column[:, None, :]) / whole
        weight = weights[:, t, None, None]
        has = ~np.isnan(difference)
        common += has * weight
        total += np.where(has, difference, 0.0) * weight
    common[:, np.arange(n), np.arange(n)] = 0
    is_rival = common > 0
    means = np.divide(total, common, out=np.zeros_like(total), where=is_rival)
    with np.errstate(invalid="ignore"):
        return _alone(snapped_rows(means.sum(axis=2) / is_rival.sum(axis=2)), batch)


def _win_rate(batch: Batch) -> FloatArray:
    return _alone(win_rate(batch.pairs.wins, batch.common), batch)


def _alone(scores: FloatArray, batch: Batch) -> FloatArray:
    """Give a system that is alone on its board the score 0."""
    return np.where(batch.present & (batch.size[:, :, 0] == 1), 0.0, scores)


ABSOLUTE: Mapping[str, Callable[[Batch], FloatArray]] = {
    "mean": lambda batch: batch.weighted_mean(batch.scores),
    "geometric_mean": _geometric_mean,
    "median": _median,
    "normalized_mean": _normalized_mean,
    "optimality_gap": _minus_gap,
}
POSITIONAL: Mapping[str, Callable[[Batch], FloatArray]] = {
    "plurality": _positional(lambda batch: (batch.last == 0).astype(np.float64)),
    "borda": _positional(lambda batch: (batch.size - 1.0) - batch.last),
    "dowdall": _positional(lambda batch: 1.0 / (np.maximum(batch.first, 0) + 1.0)),
    "average_rank": _positional(lambda batch: -(batch.first + batch.last) * 0.5 - 1.0),
    "veto": _positional(lambda batch: (batch.last < batch.size - 1).astype(np.float64)),
}
_RATES: Mapping[str, Callable[[Batch], FloatArray]] = {
    "win_rate": _win_rate,
    "relative_difference": _relative_difference,
}

_SCORES: Mapping[str, Callable[[Batch], FloatArray]] = {**ABSOLUTE, **POSITIONAL, **_RATES}


def is_batched(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether `rule` is scored for a whole batch of matrices of this size at once."""
    weights = matrix.integer_weights
    if weights.dtype == object or int(weights.sum()) * 2 * matrix.n_systems >= EXACT_FLOAT:
        return False
    if rule == "schulze":
        return matrix.n_systems <= _SCHULZE_SYSTEMS
    return rule in ABSOLUTE or rule in POSITIONAL or rule in PAIR_RULES or rule in _RATES


def batch_scores(batch: Batch, rules: Sequence[str], policy: str) -> dict[str, FloatArray]:
    """Return the scores of every rule of every matrix; `policy` is `median` or `worst`, for rules that need all scores.

    Rules that the whole matrix leaves undefined for other reasons than its scores, such as a task without a scale,
    must not be among them.
    """
    whole = batch if not np.isnan(batch.scores).any() else completed(batch, policy)
    alone = [key for key in rules if not is_batched(key, batch.matrix)]
    scores: dict[str, FloatArray] = {}
    for key in rules:
        mine = whole if get_rule(key).needs_complete else batch
        if key in alone:
            continue
        if key in PAIR_RULES:
            scores[key] = PAIR_RULES[key](mine.pairs)
        else:
            scores[key] = _SCORES[key](mine)
    if alone:
        scores.update(_one_by_one(batch, alone, policy))
    return scores


def _one_by_one(batch: Batch, rules: list[str], policy: str) -> dict[str, FloatArray]:
    scores = {rule: np.full(batch.present.shape, np.nan) for rule in rules}
    for r, values in enumerate(batch.scores * batch.matrix.directions):
        for rule, ranking in rank_all(batch.matrix.with_values(values), rules, missing=policy).items():
            is_ranked = ranking.ranks != UNRANKED
            scores[rule][r, is_ranked] = -ranking.ranks[is_ranked]
    return scores
