"""Linear equations and programs solved in integers: exact whatever their scales, and slow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

Equation = tuple[Sequence[Fraction | int], Fraction | int]  # coefficients of the unknowns, right-hand side

_MAX_UNKNOWNS = 200  # of a system of equations: its time grows with the cube, its numbers with their count
_MAX_EQUATIONS = 400
_PATIENCE = 2000  # pivots on the most violated row; then on the first one, which cannot go on for ever


class ExactProgram:
    """Minimise cost @ x over x >= 0 and rows a @ x >= b, all of integers, by the dual simplex method.

    No cost is negative, so x = 0 is optimal without the rows; each step corrects one of them. Rows may be added
    between solves. The table holds integers over one denominator, which every step divides without a
    rest. Lemke 1954, Edmonds 1967; against cycles Bland 1977.

    Args:
        cost: one entry a variable, none of them negative.
    """

    def __init__(self, cost: Sequence[int]) -> None:
        self._n = len(cost)
        self._outside = list(range(self._n))  # the variables that are 0: x first, then one a row
        self._inside: list[int] = []
        # Over the denominator: of each variable inside its value, then its slope in each one outside; last the cost.
        self._table = np.array([[0, *cost]], dtype=object)
        self._denominator = 1
        self._n_pivots = 0

    def add_row(self, coefficients: Sequence[int], bound: int) -> None:
        """Demand coefficients @ x >= bound."""
        row = np.zeros(len(self._outside) + 1, dtype=object)
        row[0] = -bound * self._denominator
        place_of = {variable: k for k, variable in enumerate(self._outside, start=1)}
        row_of = {variable: r for r, variable in enumerate(self._inside)}
        for variable, coefficient in enumerate(coefficients):
            if coefficient and variable in place_of:
                row[place_of[variable]] += coefficient * self._denominator
            elif coefficient:
                row = row + coefficient * self._table[row_of[variable]]
        self._inside.append(self._n + len(self._inside))
        self._table = np.vstack([self._table[:-1], row[None], self._table[-1:]])

    def solve(self) -> list[Fraction] | None:
        """Return an optimal x, None where no x satisfies the rows."""
        while short := [r for r, value in enumerate(self._table[:-1, 0].tolist()) if value < 0]:
            is_patient = self._n_pivots < _PATIENCE
            r = min(short, key=lambda r: (self._table[r, 0] if is_patient else 0, self._inside[r]))
            slopes, costs = self._table[r, 1:].tolist(), self._table[-1, 1:].tolist()
            entering = [k for k, slope in enumerate(slopes) if slope > 0]
            if not entering:
                return None
            k = min(entering, key=lambda k: (Fraction(costs[k], slopes[k]), self._outside[k]))
            # The variable outside at place k changes places with the one inside of row r.
            row, column = self._table[r].copy(), self._table[:, k + 1].copy()
            pivot = row[k + 1]
            self._table = (self._table * pivot - column[:, None] * row[None, :]) // self._denominator
            self._table[:, k + 1] = column
            self._table[r] = -row
            self._table[r, k + 1] = self._denominator
            self._denominator = pivot
            self._inside[r], self._outside[k] = self._outside[k], self._inside[r]
            self._n_pivots += 1
        x = [Fraction(0)] * self._n
        for variable, value in zip(self._inside, self._table[:-1, 0].tolist(), strict=True):
            if variable < self._n:
                x[variable] = Fraction(value, self._denominator)
        return x


def solve_equations(equations: Sequence[Equation], approximate: Sequence[float]) -> list[Fraction] | None:
    """Solve linear equations exactly, near an approximate solution; None where they contradict each other.

    Unknowns that the equations leave free take their approximate value, rounded. Gauss-Jordan elimination on rows
    of coprime integers.

    Args:
        equations: the coefficients of each, one an unknown, and the right-hand side.
        approximate: a solution in floats.
    """
    n = len(approximate)
    if n > _MAX_UNKNOWNS or len(equations) > _MAX_EQUATIONS:
        return None
    rows = []
    for coefficients, right in equations:
        entries = [*coefficients, right]
        denominator = math.lcm(*(Fraction(entry).denominator for entry in entries))
        rows.append([int(entry * denominator) for entry in entries])
    pivots = _reduced(rows, n, key=lambda k: abs(approximate[k]))
    if pivots is None:
        return None
    free = [k for k in range(n) if k not in pivots]
    values = {k: Fraction(approximate[k]).limit_denominator(10**6) for k in free}
    for k, row in pivots.items():
        known = sum((row[f] * values[f] for f in free if row[f]), Fraction(0))
        values[k] = (row[n] - known) / row[k]
    return [values[k] for k in range(n)]


def kernel(rows: Iterable[Sequence[int]], n: int) -> list[list[int]]:
    """Return a basis of all x with row @ x = 0 for every row of `n` integers; empty where only 0 is one."""
    pivots = _reduced([[*row, 0] for row in rows], n, key=lambda k: -k) or {}
    basis = []
    for free in (k for k in range(n) if k not in pivots):
        scale = math.lcm(*(row[k] for k, row in pivots.items()))
        vector = [0] * n
        vector[free] = scale
        for k, row in pivots.items():
            vector[k] = -row[free] * scale // row[k]
        basis.append(_divided(vector))
    return basis


def _reduced(rows: Iterable[list[int]], n: int, key: Callable[[int], float]) -> dict[int, list[int]] | None:
    """Return the rows, of `n` coefficients and a right-hand side, by pivot; None where they contradict each other.

    No row has an entry at the pivot of another one. Of the places where a row has an entry, the one of the highest
    `key` becomes its pivot.
    """
    pivots: dict[int, list[int]] = {}
    for given in rows:
        row = _divided(given)
        for k, other in pivots.items():
            if row[k]:
                row = _eliminated(row, other, k)
        candidates = [k for k in range(n) if row[k]]
        if not candidates:
            if row[n]:
                return None
            continue
        pivot = max(candidates, key=key)
        for k, other in pivots.items():
            if other[pivot]:
                pivots[k] = _eliminated(other, row, pivot)
        pivots[pivot] = row
    return pivots


def _divided(row: list[int]) -> list[int]:
    divisor = math.gcd(*row)
    return [entry // divisor for entry in row] if divisor > 1 else row


def _eliminated(row: list[int], by: list[int], k: int) -> list[int]:
    a, b = by[k], row[k]
    return _divided([a * x - b * y for x, y in zip(row, by, strict=True)])
