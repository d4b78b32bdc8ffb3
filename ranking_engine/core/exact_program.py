"""A linear program in integers: exact whatever its scales, and slow, so only where floats cannot see."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

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
