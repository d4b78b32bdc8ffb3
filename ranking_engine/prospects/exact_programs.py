"""Linear programs in fractions: exact whatever the tasks' scales, and slow, so only where floats cannot see.

A board may hold accuracies beside millions of parameters. Under the rule `mean` the weights at which a system begins to
win are then far below what a solver in floats tells from 0. Rivals' rows are added as they are violated, as in
`programs`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction

import numpy as np

from ranking_engine.core.exact_algebra import ExactProgram
from ranking_engine.prospects import exact
from ranking_engine.prospects.contest import Contest
from ranking_engine.prospects.programs import Budget

MAX_TASKS = 60  # beyond, fractions take too long
_N_ADDED = 2  # rivals added a round

Numerators = tuple[int, ...]


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


def least_weight_on(
    contest: Contest, tasks: Collection[int], budget: Budget, without: Collection[int] = ()
) -> Numerators | None:
    """Return winning weights with the least sum over `tasks`; None where no weights win.

    Args:
        contest: whose weights are sought.
        tasks: whose weights are added.
        budget: of programs.
        without: tasks that weigh nothing.
    """
    n_tasks = contest.leads.shape[1]
    program = ExactProgram([int(t in tasks) for t in range(n_tasks)])
    for sign in (1, -1):
        program.add_row([sign] * n_tasks, sign)
    for t in without:
        program.add_row([-int(s == t) for s in range(n_tasks)], 0)
    return _solved(contest, budget, program, lambda row: program.add_row(row, 0), lambda x: x)


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
