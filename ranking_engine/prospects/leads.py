"""Leads: by how much a system is ahead of each rival, task by task.

The lead of i over j under the weights w is sum_t w_t leads[j, t]. Under the majority rule an entry is +1, 0 or -1
as i scores above j, ties with it (or has no common score), or scores below it; under a rule on points it is what the
task gives i minus what it gives j. i wins, weakly, where its lead over every rival is at least 0: a polytope.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray
from ranking_engine.core.task_order import task_order
from ranking_engine.core.weights import as_float, over_common_denominator

Integers = NDArray[Any]  # of integers: float64 or int64 where they are exact, Python integers beyond


class Leads:
    """The leads of every system of a table, in floats and exactly.

    Attributes:
        n_systems, n_tasks: the table's size.
        scale: leads in floats are those of the rule divided by `scale`, so that they lie between -1 and 1.
        unit: exact leads are integers; divided by `unit` they are those of the rule.
        is_majority: all leads are +1, 0 or -1.
        most: no exact lead is further from 0.
        spreads: for each task a power of 2 that no exact lead on it reaches; None where tasks are on one scale.
    """

    n_systems: int
    n_tasks: int
    scale: float = 1.0
    unit: int = 1
    most: int = 1
    is_majority = False
    spreads: tuple[int, ...] | None = None

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """The leads of system i over `rivals`, shape (n_rivals, n_tasks), divided by `scale`."""
        raise NotImplementedError

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """The same leads as integers over `unit`."""
        raise NotImplementedError


class MajorityLeads(Leads):
    """+1, 0 or -1 as i scores above j, not above nor below, or below; `scores` are oriented, NaN = missing."""

    is_majority = True

    def __init__(self, scores: FloatArray) -> None:
        self.n_systems, self.n_tasks = scores.shape
        self._place = task_order(scores).place.astype(np.min_scalar_type(-len(scores) - 1))  # small: compared faster
        self._present = None if not np.isnan(scores).any() else (~np.isnan(scores)).view(np.int8)

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """As for all leads."""
        above = (self._place > self._place[i]).view(np.int8)
        above -= (self._place < self._place[i]).view(np.int8)
        if self._present is not None:
            above *= self._present
            above *= self._present[i]
        return above[rivals].astype(np.float64)

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """As for all leads."""
        return self.of(i, rivals)


class PointLeads(Leads):
    """The difference of what each task gives; `points` are exact fractions, shape (n_systems, n_tasks)."""

    def __init__(self, points: NDArray[Any]) -> None:
        self.n_systems, self.n_tasks = points.shape
        integers, self.unit = over_common_denominator(points.ravel().tolist())
        spread = max(integers, default=0) - min(integers, default=0)
        fits = spread < EXACT_FLOAT and max(map(abs, integers), default=0) < EXACT_FLOAT
        self._points = np.array(integers, dtype=np.int64 if fits else object).reshape(points.shape)
        self._spread = self.most = spread or 1
        columns = self._points.T.tolist()
        self.spreads = tuple(1 << (max(column) - min(column)).bit_length() for column in columns)
        self.scale = as_float(Fraction(self._spread, self.unit))

    @cached_property
    def _shares(self) -> tuple[FloatArray, FloatArray]:
        """The points above the least one of their task as shares of the spread, and what rounding takes from these.

        Tasks may have units so far apart that the shares of one would vanish beside those of another, and so would two
        scores of one task; with the second part both keep some 32 digits.
        """
        above = (self._points - self._points.min(axis=0)).tolist()
        rounded = [[int(x) / self._spread for x in row] for row in above]
        rest = [
            [float(Fraction(int(x), self._spread) - Fraction(share)) for x, share in zip(*rows, strict=True)]
            for rows in zip(above, rounded, strict=True)
        ]
        shape = self._points.shape
        return np.array(rounded, np.float64).reshape(shape), np.array(rest, np.float64).reshape(shape)

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """As for all leads."""
        if self._points.dtype != object:  # their differences are exact
            return np.asarray((self._points[i] - self._points[rivals]) / self._spread, dtype=np.float64)
        shares, rest = self._shares
        return (shares[i] - shares[rivals]) + (rest[i] - rest[rivals])

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """As for all leads."""
        return self._points[i] - self._points[rivals]


class GroupLeads(Leads):
    """The leads on groups of tasks: each is the mixture of those on the group's tasks, in fixed shares.

    Args:
        base: the leads on the tasks.
        shares: one row a group, the share of each task in it; a row sums to 1.
    """

    def __init__(self, base: Leads, shares: list[list[Fraction]]) -> None:
        self._base = base
        self.n_systems, self.n_tasks, self.scale = base.n_systems, len(shares), base.scale
        integers, denominator = over_common_denominator([share for row in shares for share in row])
        self.unit, self.most = base.unit * denominator, base.most * denominator
        fits = self.most < EXACT_FLOAT
        table = np.array(integers, dtype=np.float64 if fits else object).reshape(len(shares), base.n_tasks)
        self._shares: Integers = table.T
        if base.spreads is not None:
            rows = [integers[g * base.n_tasks : (g + 1) * base.n_tasks] for g in range(len(shares))]
            reach = [sum(share * most for share, most in zip(row, base.spreads, strict=True)) for row in rows]
            self.spreads = tuple(1 << most.bit_length() for most in reach)

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """As for all leads."""
        exactly, whole = self.exactly(i, rivals), Fraction(self._base.scale) * self.unit
        if exactly.dtype != object:
            return np.asarray(exactly / float(whole), dtype=np.float64)
        # Integers of any length: their quotient fits a float where they themselves do not.
        above, below = whole.numerator, whole.denominator
        return np.array([[int(x) * below / above for x in row] for row in exactly.tolist()], np.float64).reshape(
            exactly.shape
        )

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """As for all leads."""
        leads = self._base.exactly(i, rivals)
        if self._shares.dtype == object:
            leads = np.array([[int(x) for x in row] for row in leads.tolist()], dtype=object).reshape(leads.shape)
        return leads @ self._shares
