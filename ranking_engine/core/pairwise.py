"""Pairwise comparison: how much weight prefers one system to another.

`wins[i, j]` is the weight of the voting tasks on which both have a score and i's is above j's, as an
integer over `denominator`, so that equal sums are equal exactly, whatever the order of the tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.core.task_order import TaskOrder, task_order

_BLOCK_CELLS = 1 << 17  # comparisons a block, so that its buffers stay in the processor's cache
_LIMB_BITS = 40  # weights beyond int64 are summed in pieces of so many bits


@dataclass(frozen=True, eq=False)
class Pairwise:
    """Wins, margins and the majority relation between all systems.

    Attributes:
        wins: shape (n_systems, n_systems); int32 or int64 where the sums fit, Python integers beyond.
        denominator: what `wins` and `margins` are integers over.
        scored: `scored[i]`: i has a score on a voting task. The rows and columns of the others are 0,
            and they are no one's rivals.
        scores: the oriented scores on the voting tasks, shape (n_systems, n_voting_tasks).
        weights: the weights of the voting tasks, integers over `denominator`.
        order: the order of the systems on the voting tasks, where it was found on the way.
    """

    wins: NDArray[Any]
    denominator: int
    scored: BoolArray
    scores: FloatArray
    weights: NDArray[Any]
    order: TaskOrder | None = None

    @classmethod
    def of(cls, matrix: ScoreMatrix, order: TaskOrder | None = None) -> Pairwise:
        """Compare all systems of `matrix`; `order` is the order of its voting tasks, where already known.

        O(n_systems^2 n_tasks) comparisons.
        """
        scores = matrix.scores[:, matrix.votes]
        weights = matrix.integer_weights[matrix.votes]
        order = order or task_order(scores)
        wins = _count_wins(order.place, [int(weight) for weight in weights])
        return cls(wins, matrix.weight_denominator, matrix.has_score, scores, weights, order)

    @property
    def n_systems(self) -> int:
        """The number of systems, scored or not."""
        return self.wins.shape[0]

    @cached_property
    def margins(self) -> NDArray[Any]:
        """`margins[i, j]` is `wins[i, j] - wins[j, i]`."""
        return self.wins - self.wins.T

    @cached_property
    def beats(self) -> BoolArray:
        """`beats[i, j]`: more weight prefers i to j than j to i."""
        return np.asarray(self.wins > self.wins.T, dtype=bool)

    @cached_property
    def has_common_task(self) -> BoolArray:
        """`has_common_task[i, j]`: some voting task has a score of both."""
        present = ~np.isnan(self.scores)
        if present.all():
            return np.ones(self.wins.shape, dtype=bool)
        counts = present.astype(np.float32)
        return counts @ counts.T > 0

    @cached_property
    def n_pairs_without_common_task(self) -> int:
        """The number of pairs of scored systems that no voting task compares."""
        return int(self.rivals_without_common_task.sum()) // 2

    @cached_property
    def rivals_without_common_task(self) -> NDArray[np.int64]:
        """For each system the number of scored rivals that no voting task compares it with."""
        if not np.isnan(self.scores).any():
            return np.zeros(self.n_systems, dtype=np.int64)
        apart = ~self.has_common_task & self.scored[:, None] & self.scored[None, :]
        np.fill_diagonal(apart, val=False)
        return np.asarray(apart.sum(axis=1), dtype=np.int64)

    def updated(self, matrix: ScoreMatrix, systems: int | Sequence[int]) -> Pairwise:
        """Return the comparison of `matrix`, in which only `systems` differ, in O(n_systems n_tasks) for each.

        For `matrix.replace_row(i, ...)`, and with the last system for `matrix.with_row(...)`: further systems
        come after those that are compared already. Tasks, directions and weights must be the same.
        """
        changed = sorted(set(np.atleast_1d(systems).tolist()))
        scores = matrix.scores[:, matrix.votes]
        n, n_known = matrix.n_systems, self.n_systems
        is_alike = self.denominator == matrix.weight_denominator and np.array_equal(
            self.weights, matrix.integer_weights[matrix.votes]
        )
        is_inside = not changed or (changed[0] >= 0 and changed[-1] < n)
        if n < n_known or not set(range(n_known, n)) <= set(changed) or not is_inside or not is_alike:
            raise ValueError("`matrix` must differ from the compared one in `systems` alone")
        factors = self.weights
        if factors.dtype != object:
            factors = factors.astype(np.float64)  # exact, and faster to multiply
        wins = np.zeros((n, n), dtype=self.wins.dtype)
        wins[:n_known, :n_known] = self.wins
        for i in changed:
            wins[i, :] = (scores[i] > scores) @ factors
            wins[:, i] = (scores > scores[i]) @ factors
        return Pairwise(wins, self.denominator, matrix.has_score, scores, self.weights)

    def subset(self, systems: NDArray[np.intp]) -> Pairwise:
        """Return the comparison of some systems, given by index."""
        if np.array_equal(systems, np.arange(self.n_systems)):
            return self
        wins = self.wins[np.ix_(systems, systems)]
        return Pairwise(wins, self.denominator, self.scored[systems], self.scores[systems], self.weights)

    def is_of(self, matrix: ScoreMatrix) -> bool:
        """Whether this is the comparison of `matrix`: the same scores on voting tasks of the same weights."""
        return (
            self.denominator == matrix.weight_denominator
            and np.array_equal(self.weights, matrix.integer_weights[matrix.votes])
            and np.array_equal(self.scores, matrix.scores[:, matrix.votes], equal_nan=True)
        )


def _count_wins(place: NDArray[np.int32], weights: list[int]) -> NDArray[Any]:
    """Sum the weights of the tasks on which i is placed before j (`place` 0 = missing, 1 = first)."""
    if sum(weights) < 2**31:
        return _count_bounded_wins(place, weights, np.dtype(np.int32))
    if sum(weights) < 2**62:
        return _count_bounded_wins(place, weights, np.dtype(np.int64))
    mask = (1 << _LIMB_BITS) - 1
    low = _count_bounded_wins(place, [weight & mask for weight in weights], np.dtype(np.int64))
    high = _count_wins(place, [weight >> _LIMB_BITS for weight in weights])
    return low.astype(object) + high.astype(object) * (mask + 1)


def _count_bounded_wins(place: NDArray[np.int32], weights: list[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    # Codes by task such that i is placed before j iff mine[t, i] < theirs[t, j], never if missing.
    n, widest = place.shape[0], int(place.max(initial=0)) + 1
    theirs = np.ascontiguousarray(place.T, dtype=np.min_scalar_type(widest))
    mine = np.where(theirs == 0, np.array(widest, dtype=theirs.dtype), theirs)
    by_weight: dict[int, list[int]] = defaultdict(list)
    for t, weight in enumerate(weights):
        if weight:
            by_weight[weight].append(t)
    alike = {weight: tasks for weight, tasks in by_weight.items() if len(tasks) > 3}
    single = [t for weight, tasks in by_weight.items() if weight not in alike for t in tasks]
    wins = np.zeros((n, n), dtype=dtype)
    height = max(1, _BLOCK_CELLS // n)
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        block = _Block(mine[:, rows], theirs)
        for weight, tasks in alike.items():
            block.add_counts(wins[rows], weight, tasks)
        for k in range(0, len(single), 8):
            block.add_packed(wins[rows], single[k : k + 8], weights)
    return wins


class _Block:
    """The comparisons of some rows with all systems; its buffers are used again and again."""

    def __init__(self, mine: NDArray[Any], theirs: NDArray[Any]) -> None:
        self.mine, self.theirs = mine, theirs
        shape = (mine.shape[1], theirs.shape[1])
        self.is_above = np.empty(shape, dtype=bool)
        self.total = np.empty(shape, dtype=np.uint8)
        self.bit = np.empty(shape, dtype=np.uint8)

    def compare(self, t: int) -> NDArray[np.uint8]:
        np.less(self.mine[t][:, None], self.theirs[t][None, :], out=self.is_above)
        return self.is_above.view(np.uint8)

    def add_counts(self, wins: NDArray[Any], weight: int, tasks: list[int]) -> None:
        """Add `weight` for each of `tasks`, counting up to 255 of them in a byte."""
        for k in range(0, len(tasks), 255):
            self.total.fill(0)
            for t in tasks[k : k + 255]:
                np.add(self.total, self.compare(t), out=self.total)
            wins += np.multiply(self.total, weight, dtype=wins.dtype)

    def add_packed(self, wins: NDArray[Any], tasks: list[int], weights: list[int]) -> None:
        """Add the weights of up to 8 `tasks`: their comparisons make a byte, a table has its sum."""
        self.total.fill(0)
        table = np.zeros(1, dtype=wins.dtype)
        for bit, t in enumerate(tasks):
            np.multiply(self.compare(t), 1 << bit, out=self.bit, dtype=np.uint8)
            np.bitwise_or(self.total, self.bit, out=self.total)
            table = np.concatenate([table, table + weights[t]])
        wins += table[self.total]
