"""Linear programs over weights, with the rivals' rows added only as they are violated.

Each starts from the rivals that are worst under some weights, solves, and adds the most violated rows until none is
(cutting planes, Dantzig, Fulkerson and Johnson 1954).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.linear_programs import RowProgram
from ranking_engine.core.score_matrix import FloatArray

TOLERANCE = 1e-9  # a row short of its bound by less is not violated
NO_VARIABLE = np.array([], dtype=np.intp)
_N_FIRST = 4  # rivals to start from
_N_ADDED = 8  # rivals added a round


class OutOfSteps(Exception):  # noqa: N818 -- no error: the caller asked for no more
    """The number of linear programs allowed is used up."""


class Budget:
    """Counts linear programs, and ends the work at `max_steps` of them (None: never)."""

    def __init__(self, max_steps: int | None = None) -> None:
        self.n_steps = 0
        self.max_steps = max_steps

    def take(self) -> None:
        """Count one, or raise OutOfSteps."""
        if self.max_steps is not None and self.n_steps >= self.max_steps:
            raise OutOfSteps
        self.n_steps += 1


@dataclass(frozen=True, eq=False)
class Optimum:
    """An optimal solution, in floats.

    Attributes:
        weights: one per task.
        x: the program's own variables.
        rival_duals, condition_duals: of the rows of rivals (0 for those never added) and of conditions.
    """

    weights: FloatArray
    x: FloatArray
    rival_duals: FloatArray
    condition_duals: FloatArray


class WeightProgram:
    """Minimise cost @ x, where the weights are made of x, sum to 1 and satisfy the conditions.

    Args:
        cost, lower, upper: of the variables x: blocks of n_tasks each, then further ones.
        signs: of the blocks: the weights are origin + sum_b signs[b] * block b.
        origin: shape (n_tasks,).
        conditions: rows a with a @ weights >= 0, shape (n_conditions, n_tasks).
        shift: the lead over a rival must be at least shift @ x.
    """

    def __init__(
        self,
        *,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        signs: tuple[int, ...],
        origin: FloatArray,
        conditions: FloatArray,
        shift: FloatArray,
    ) -> None:
        self._signs, self._origin, self._shift = signs, origin, shift
        self._lower, self._upper = lower, upper
        self._n_conditions, self._n_kept = len(conditions), 0
        self.program = RowProgram(cost, lower, upper)
        if len(conditions):
            self._keep_rows(self._in_variables(conditions), -(conditions @ origin), np.inf)
        total = np.array([1 - origin.sum()])
        self._keep_rows(self._in_variables(np.ones((1, len(origin)))), total, total)

    def _in_variables(self, rows: FloatArray) -> FloatArray:
        """Return rows over the weights as rows over x."""
        n_further = len(self._lower) - len(self._signs) * len(self._origin)
        return np.hstack([*(sign * rows for sign in self._signs), np.zeros((len(rows), n_further))])

    def _keep_rows(self, rows: FloatArray, lower: FloatArray, upper: FloatArray | float) -> None:
        self.program.add_rows(rows, lower, upper)
        self.program.keep()
        self._n_kept += len(rows)

    def keep_rows(self, rows: FloatArray, lower: FloatArray) -> None:
        """Add rows for all rivals: rows @ x >= lower."""
        self._keep_rows(rows, lower, np.inf)

    def solve(
        self, leads: FloatArray, start: FloatArray, budget: Budget, without: NDArray[np.intp] = NO_VARIABLE
    ) -> Optimum | None:
        """Solve against rivals given by their leads, shape (n_rivals, n_tasks); None where nothing satisfies all.

        `start` are weights under which the rivals to begin with are the worst; the variables `without` are 0.
        """
        program, T = self.program, len(self._origin)
        program.reset()
        if without.size:
            upper = self._upper.copy()
            upper[without] = 0.0
            program.set_bounds(self._lower, upper)
        used: list[NDArray[np.intp]] = []
        is_used = np.zeros(len(leads), dtype=bool)
        added = _lowest(leads @ start, _N_FIRST)
        try:
            while True:
                if added.size:
                    rows = leads[added]
                    program.add_rows(self._in_variables(rows) - self._shift, -(rows @ self._origin), np.inf)
                    used.append(added)
                    is_used[added] = True
                budget.take()
                solution = program.solve()
                if solution.x is None or solution.duals is None:
                    return None
                blocks = (sign * solution.x[b * T : (b + 1) * T] for b, sign in enumerate(self._signs))
                weights = np.asarray(sum(blocks, start=self._origin))
                short = leads @ weights - float(self._shift @ solution.x)
                short[is_used] = 0.0
                added = _lowest(short, _N_ADDED)
                added = added[short[added] < -TOLERANCE]
                if not added.size:
                    break
        finally:
            if without.size:
                program.set_bounds(self._lower, self._upper)
        rival_duals = np.zeros(len(leads))
        if used:
            rival_duals[np.concatenate(used)] = solution.duals[self._n_kept :]
        return Optimum(weights, solution.x, rival_duals, solution.duals[: self._n_conditions])


def margin_program(n_tasks: int, conditions: FloatArray) -> WeightProgram:
    """The largest delta such that some weights give a lead of at least delta over every rival.

    Variables: the weights, then delta. Leads must lie between -1 and 1. The duals of the rivals sum to 1; they are
    the mixture of rivals against which no task gains more than delta (linear programming duality).
    """
    delta = np.eye(n_tasks + 1)[n_tasks]
    return WeightProgram(
        cost=-delta,
        lower=-2 * delta,
        upper=np.ones(n_tasks + 1),
        signs=(1,),
        origin=np.zeros(n_tasks),
        conditions=conditions,
        shift=delta,
    )


def total_change_program(origin: FloatArray, conditions: FloatArray) -> WeightProgram:
    """The least half of sum_t |w_t - origin_t|. Variables: what each task gains, then what it loses."""
    T = len(origin)
    return WeightProgram(
        cost=np.concatenate([np.ones(T), np.zeros(T)]),
        lower=np.zeros(2 * T),
        upper=np.concatenate([np.ones(T), origin]),
        signs=(1, -1),
        origin=origin,
        conditions=conditions,
        shift=np.zeros(2 * T),
    )


def largest_change_program(origin: FloatArray, conditions: FloatArray) -> WeightProgram:
    """The least max_t |w_t - origin_t|. Variables: the weights, then that change."""
    T = len(origin)
    change = np.eye(T + 1)[T]
    made = WeightProgram(
        cost=change,
        lower=np.zeros(T + 1),
        upper=np.ones(T + 1),
        signs=(1,),
        origin=np.zeros(T),
        conditions=conditions,
        shift=np.zeros(T + 1),
    )
    weights = np.eye(T, T + 1)
    made.keep_rows(np.vstack([weights + change, change - weights]), np.concatenate([origin, -origin]))
    return made


def set_weight_program(members: FloatArray, conditions: FloatArray) -> WeightProgram:
    """The least members @ weights. Variables: the weights."""
    T = len(members)
    return WeightProgram(
        cost=members,
        lower=np.zeros(T),
        upper=np.ones(T),
        signs=(1,),
        origin=np.zeros(T),
        conditions=conditions,
        shift=np.zeros(T),
    )


def _lowest(values: FloatArray, count: int) -> NDArray[np.intp]:
    """The indices of the `count` lowest values, in order."""
    if len(values) > count:
        chosen = np.argpartition(values, count - 1)[:count]
        return chosen[np.argsort(values[chosen], kind="stable")]
    return np.argsort(values, kind="stable")
