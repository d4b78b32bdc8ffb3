"""Linear programs in fractions: exact whatever the tasks' scales, and slow, so only where floats cannot see.

A board may hold accuracies beside millions of parameters. Under the rule `mean` the weights at which a system begins to
win are then far below what a solver in floats tells from 0. Rivals' rows are added as they are violated, as in
`programs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ranking_engine.prospects import exact
from ranking_engine.prospects.contest import Contest
from ranking_engine.prospects.programs import Budget

MAX_TASKS = 60  # beyond, fractions take too long
_N_ADDED = 2  # rivals added a round
_PATIENCE = 2000  # pivots on the most violated row; then on the first one, which cannot go on for ever

Numerators = tuple[int, ...]
_Row = list[Fraction]


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


def least_total_change(contest: Contest, origin: Numerators, budget: Budget) -> Numerators | None:
    """Return winning weights with the least sum_t |w_t - origin_t|; None where no weights win.

    `origin` and the answer are in proportion to weights.
    """
    T = len(origin)
    return _moved(contest, origin, budget, ExactProgram([1] * T + [0] * T))


def least_largest_change(contest: Contest, origin: Numerators, budget: Budget) -> Numerators | None:
    """Return winning weights with the least max_t |w_t - origin_t|; otherwise as `least_total_change`."""
    T = len(origin)
    program = ExactProgram([0] * (2 * T) + [1])
    for t in range(2 * T):
        program.add_row([-int(s == t) for s in range(2 * T)] + [1], 0)
    return _moved(contest, origin, budget, program)


def _moved(contest: Contest, origin: Numerators, budget: Budget, program: ExactProgram) -> Numerators | None:
    """Solve for what each task gains, then what it loses, then further variables."""
    T = len(origin)
    even = [1] * T + [-1] * T
    for sign in (1, -1):
        program.add_row([sign * entry for entry in even], 0)
    for t in range(T):
        program.add_row([0] * T + [-int(s == t) for s in range(T)], -origin[t])

    def demand(row: list[int]) -> None:
        already = sum(entry * value for entry, value in zip(row, origin, strict=True))
        program.add_row([*row, *(-entry for entry in row)], -already)

    def weights(x: list[Fraction]) -> list[Fraction]:
        return [value + x[t] - x[T + t] for t, value in enumerate(origin)]

    return _solved(contest, budget, program, demand, weights)


def least_weight(contest: Contest, t: int, budget: Budget) -> Fraction | None:
    """Return the least weight of task t among all winning weights; None where no weights win."""
    n_tasks = contest.leads.shape[1]
    program = ExactProgram([int(s == t) for s in range(n_tasks)])
    for sign in (1, -1):
        program.add_row([sign] * n_tasks, sign)
    numerators = _solved(contest, budget, program, lambda row: program.add_row(row, 0), lambda x: x)
    return None if numerators is None else Fraction(numerators[t], sum(numerators))


def _solved(
    contest: Contest,
    budget: Budget,
    program: ExactProgram,
    demand: Callable[[list[int]], None],
    weights: Callable[[list[Fraction]], list[Fraction]],
) -> Numerators | None:
    """Solve with the conditions and those rivals that turn out to be above the system.

    Args:
        contest: whose weights are sought.
        budget: of programs.
        program: without a row of a condition or a rival.
        demand: adds row @ weights >= 0 to it.
        weights: what x stands for.
    """
    for row in contest.terms.exactly.tolist():
        demand([int(entry) for entry in row])
    while True:
        budget.take()
        x = program.solve()
        if x is None:
            return None
        numerators = exact.as_numerators(weights(x))
        leads = exact.product(contest.exactly, numerators, contest.most)
        worst = np.argsort(leads, kind="stable")[:_N_ADDED]
        added = [j for j in worst.tolist() if leads[j] < 0]
        if not added:
            return numerators
        for j in added:
            demand([int(entry) for entry in contest.exactly[j].tolist()])
