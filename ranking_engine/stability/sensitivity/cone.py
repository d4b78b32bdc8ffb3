"""The problem behind cardinal sensitivity: how many of some linear forms can be negative at once?

Given rows d_1, ..., d_m, find weights v with floor <= v_t <= 1 such that as many d_p @ v as possible are negative.
Only the ratios of weights matter, so that one of them, the largest, can be taken to be 1.

`climb` finds good weights: along one coordinate the best value is exact, from the sorted points at which rows
change sign. `box_bounds` says for boxes of weights how many rows can be negative in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

Visit = Callable[[FloatArray], None]

ROUNDING = 1e-12  # forms smaller than so much of the row's largest entry, at weights that sum to 1, are 0


@dataclass(frozen=True, eq=False)
class Cone:
    """The rows, shape (m, T), none without a negative entry, and the least weight `floor`, above 0 and at most 1.

    `zero_counts`: bounds are to hold for rows that are negative or 0.
    """

    rows: FloatArray
    floor: float
    zero_counts: bool = False

    @property
    def n_weights(self) -> int:
        """The number of weights, T."""
        return self.rows.shape[1]

    def n_negative(self, weights: FloatArray) -> int:
        """Count the negative rows."""
        return int(np.count_nonzero(self.is_negative(weights)))

    def is_negative(self, weights: FloatArray) -> NDArray[np.bool_]:
        """Say which rows are negative, by more than rounding."""
        slack = ROUNDING * np.abs(self.rows).max(axis=1, initial=0.0) * weights.sum()
        return np.asarray(self.rows @ weights < -slack, dtype=bool)

    def sweep(self, weights: FloatArray) -> bool:
        """Give each weight in turn its best value, in place; return whether any row was gained."""
        forms = self.rows @ weights
        before = most = int(np.count_nonzero(forms < 0))
        for t in range(self.n_weights):
            # The most negative entries of rest + slope x over floor <= x <= 1, and the middle of where that is.
            column = self.rows[:, t]
            rest, moves = forms - column * weights[t], column != 0
            fixed = int(np.count_nonzero(rest[~moves] < 0))
            turn, is_rising = -rest[moves] / column[moves], column[moves] > 0
            at_floor = np.where(is_rising, turn > self.floor, turn <= self.floor)
            inside = (turn > self.floor) & (turn < 1)
            order = np.argsort(turn[inside], kind="stable")
            steps = np.where(is_rising[inside][order], -1, 1)
            counts = fixed + int(np.count_nonzero(at_floor)) + np.concatenate([[0], np.cumsum(steps)])
            edges = np.concatenate([[self.floor], turn[inside][order], [1.0]])
            counts[np.diff(edges) <= 1e-9] = -1  # too narrow to be in the middle of
            k = int(counts.argmax())
            if counts[k] > most:
                value = float(edges[k] + edges[k + 1]) / 2
                forms += column * (value - weights[t])
                weights[t], most = value, int(counts[k])
        return most > before


def corners(n_weights: int, floor: float) -> list[FloatArray]:
    """Return equal weights, then one weight at 1 and the rest at the floor, then one at the floor."""
    low = np.full((n_weights, n_weights), floor)
    np.fill_diagonal(low, 1.0)
    high = np.ones((n_weights, n_weights))
    np.fill_diagonal(high, floor)
    return [np.ones(n_weights), *low, *high]


def climb(cone: Cone, starts: Iterable[FloatArray], visit: Visit, *, max_sweeps: int = 1_000) -> int:
    """Improve the starts one coordinate at a time until nothing improves, the best first; return the sweeps made.

    `visit` is called with every start, and with all weights that are better than those before on their path.
    A sweep is O(T m log m); `max_sweeps` is how many there may be in all.
    """
    starts = list(starts)
    for start in starts:
        visit(start.copy())
    n_sweeps = 0
    for start in sorted(starts, key=cone.n_negative, reverse=True):
        weights = start.copy()
        while n_sweeps < max_sweeps:
            n_sweeps += 1
            if not cone.sweep(weights):
                break
            visit(weights.copy())
    return n_sweeps


class Boxes:
    """Bounds of the rows over boxes lower <= v <= upper of weights, many boxes at a time."""

    def __init__(self, cone: Cone) -> None:
        self.size = np.abs(cone.rows)
        # a row counts as negative below minus ROUNDING; sums over a box are far more exact than that
        self.slack = ROUNDING * self.size.max(axis=1, initial=0.0)
        self.threshold = self.slack if cone.zero_counts else -self.slack / 2
        self._rows = cone.rows
        positive, negative = np.maximum(cone.rows, 0).T, np.minimum(cone.rows, 0).T
        self._least = np.ascontiguousarray(np.concatenate([positive, negative]))
        self._most = np.ascontiguousarray(np.concatenate([negative, positive]))

    def can_be_negative(self, lower: FloatArray, upper: FloatArray) -> NDArray[np.bool_]:
        """Say for boxes, shape (n_boxes, T), which rows are negative somewhere; shape (n_boxes, m)."""
        return np.asarray(np.concatenate([lower, upper], axis=1) @ self._least < self.threshold, dtype=bool)

    def can_be_positive(self, lower: FloatArray, upper: FloatArray) -> NDArray[np.bool_]:
        """Say for boxes which rows are not negative everywhere."""
        return np.asarray(np.concatenate([lower, upper], axis=1) @ self._most > -self.slack, dtype=bool)

    def of_one(
        self, lower: FloatArray, upper: FloatArray, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say for one box which of `rows` can be negative in it, and which are all over it."""
        box = np.concatenate([lower, upper])
        can = box @ self._least[:, rows] < self.threshold[rows]
        must = box @ self._most[:, rows] < -self.slack[rows]
        return np.asarray(can, dtype=bool), np.asarray(must, dtype=bool)

    def n_negative(self, weights: FloatArray) -> NDArray[np.int64]:
        """Count the rows that each of some weights, shape (n, T), makes negative."""
        forms = weights @ self._rows.T
        return np.asarray((forms < -self.slack * weights.sum(axis=1, keepdims=True)).sum(axis=1), dtype=np.int64)


def largest_first(cone: Cone) -> tuple[FloatArray, FloatArray]:
    """Return one box for each weight that may be the largest, then 1: together they hold all ratios of weights."""
    T = cone.n_weights
    lower = np.full((T, T), cone.floor)
    np.fill_diagonal(lower, 1.0)
    return lower, np.ones((T, T))


def split(
    lower: FloatArray, upper: FloatArray, axes: Sequence[int] | NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Cut each box in two at the middle of one axis; the lower halves come first."""
    rows = np.arange(len(lower))
    middle = (lower[rows, axes] + upper[rows, axes]) / 2
    low, high = upper.copy(), lower.copy()
    low[rows, axes] = middle
    high[rows, axes] = middle
    return np.concatenate([lower, high]), np.concatenate([low, upper])
