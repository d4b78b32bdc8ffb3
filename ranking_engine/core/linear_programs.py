"""Linear programs, solved by HiGHS (Huangfu and Hall 2018)."""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

Indices = NDArray[np.int32]

MOST_ITERATIONS = 2**31 - 1


class SolverError(RuntimeError):
    """The solver failed for a reason that is neither the time limit nor the problem itself."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What became of a linear program.

    Attributes:
        x: an optimal solution; None where the time or the iterations ran out or there is none.
        duals: of the rows, in the order in which they were added; as far as they are known.
        is_infeasible: no solution exists.
        n_iterations: of the simplex method, in this solve.
    """

    x: FloatArray | None
    duals: FloatArray | None
    is_infeasible: bool
    n_iterations: int


class UnitProgram:
    """Minimise cost @ x over 0 <= x <= 1 and rows lower <= row @ x <= upper, which may be added at any time.

    The linear program is kept warm from solve to solve. One thread and a fixed seed: the same rows in the
    same order give the same solution.
    """

    def __init__(self, cost: FloatArray) -> None:
        self.cost = cost
        self.bounds: tuple[FloatArray, FloatArray] = (np.zeros(len(cost)), np.ones(len(cost)))
        solver = _quiet_solver()
        n = len(cost)
        _check(solver.addVars(n, *self.bounds), "variables")
        every = np.arange(n, dtype=np.int32)
        _check(solver.changeColsCost(n, every, np.ascontiguousarray(cost, dtype=np.float64)), "costs")
        self._solver = solver

    def add_rows(self, columns: Indices, coefficients: FloatArray, lower: float, upper: float) -> None:
        """Add rows with the same number of non-zero entries, given by arrays of shape (n_rows, n_entries)."""
        n, width = columns.shape
        added = self._solver.addRows(
            n,
            np.full(n, lower),
            np.full(n, upper),
            n * width,
            np.arange(0, n * width, width, dtype=np.int32),
            np.ascontiguousarray(columns, dtype=np.int32).ravel(),
            np.ascontiguousarray(coefficients, dtype=np.float64).ravel(),
        )
        _check(added, "rows")

    def fix(self, columns: Indices, values: FloatArray) -> None:
        """Fix some variables to values, and free all others."""
        lower, upper = np.zeros(len(self.cost)), np.ones(len(self.cost))
        lower[columns] = upper[columns] = values
        self.bounds = (lower, upper)
        every = np.arange(len(self.cost), dtype=np.int32)
        _check(self._solver.changeColsBounds(len(every), every, lower, upper), "bounds")

    def drop_idle_rows(self) -> NDArray[np.intp]:
        """Remove the rows that the last solution does not touch; return their places among all rows."""
        from highspy import HighsBasisStatus  # noqa: PLC0415 -- slow import

        basic = HighsBasisStatus.kBasic
        idle = np.array([k for k, status in enumerate(self._solver.getBasis().row_status) if status == basic], np.int32)
        if len(idle):
            _check(self._solver.deleteRows(len(idle), idle), "rows")
        return idle.astype(np.intp)

    def solve_relaxation(self, seconds: float = math.inf, iterations: int = MOST_ITERATIONS) -> Relaxation:
        """Solve the linear program from where the last solve ended, within about `seconds` and so many `iterations`."""
        from highspy import HighsModelStatus as Status  # noqa: PLC0415 -- slow import

        solver = self._solver
        solver.setOptionValue("time_limit", min(solver.getRunTime() + max(seconds, 0.01), 1e9))
        solver.setOptionValue("simplex_iteration_limit", iterations)
        _check(solver.run(), "linear program")
        status, info = solver.getModelStatus(), solver.getInfo()
        is_optimal = status == Status.kOptimal
        if not is_optimal and status not in (Status.kInfeasible, Status.kTimeLimit, Status.kIterationLimit):
            raise SolverError(f"linear program: {solver.modelStatusToString(status)}")
        solution = solver.getSolution()
        duals = np.array(solution.row_dual) if solution.dual_valid else None
        return Relaxation(
            np.array(solution.col_value) if is_optimal else None,
            duals,
            status == Status.kInfeasible,
            max(0, info.simplex_iteration_count),
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimal solution of a `RowProgram`, or that there is none.

    Attributes:
        x: the variables; None where no solution exists.
        duals: of all rows in the order of adding: how fast the optimum rises with their bound.
    """

    x: FloatArray | None
    duals: FloatArray | None


class RowProgram:
    """Minimise cost @ x over lower <= x <= upper and rows, the later of which can be removed.

    One solver for a whole family of programs: `reset` takes back the rows added since `keep` and forgets
    everything else, so that no answer depends on what was solved before. With `is_exacting` the solver's tolerances
    are tight; without, programs are solved that are too close to having no solution for these.
    """

    def __init__(self, cost: FloatArray, lower: FloatArray, upper: FloatArray, *, is_exacting: bool = True) -> None:
        self._n = len(cost)
        self._n_kept = 0
        self._columns = np.arange(self._n, dtype=np.int32)
        self._solver = _quiet_solver()
        for option, value in _EXACTING if is_exacting else ():
            _check(self._solver.setOptionValue(option, value), option)
        _check(self._solver.addVars(self._n, *map(_floats, (lower, upper))), "variables")
        self.set_cost(cost)

    def set_cost(self, cost: FloatArray) -> None:
        """Minimise something else."""
        _check(self._solver.changeColsCost(self._n, self._columns, _floats(cost)), "costs")

    def set_bounds(self, lower: FloatArray, upper: FloatArray) -> None:
        """Bound the variables otherwise."""
        _check(self._solver.changeColsBounds(self._n, self._columns, _floats(lower), _floats(upper)), "bounds")

    def add_rows(self, coefficients: FloatArray, lower: FloatArray | float, upper: FloatArray | float) -> None:
        """Add rows lower <= coefficients @ x <= upper, shape (n_rows, n_variables)."""
        n = coefficients.shape[0]
        rows, columns = np.nonzero(coefficients)
        starts = np.searchsorted(rows, np.arange(n)).astype(np.int32)
        added = self._solver.addRows(
            n,
            _floats(np.broadcast_to(lower, n)),
            _floats(np.broadcast_to(upper, n)),
            len(columns),
            starts,
            columns.astype(np.int32),
            _floats(coefficients[rows, columns]),
        )
        _check(added, "rows")

    def keep(self) -> None:
        """Keep the rows there are now through every `reset`."""
        self._n_kept = self._solver.getNumRow()

    def reset(self) -> None:
        """Remove all rows that are not kept, and start from scratch."""
        n = self._solver.getNumRow()
        if n > self._n_kept:
            _check(self._solver.deleteRows(n - self._n_kept, np.arange(self._n_kept, n, dtype=np.int32)), "rows")
        _check(self._solver.clearSolver(), "reset")

    def solve(self) -> Solution:
        """Solve the program from where the last solve since `reset` ended.

        Raises:
            SolverError: the solver gave up.
        """
        from highspy import HighsModelStatus as Status  # noqa: PLC0415 -- slow import

        solver = self._solver
        _check(solver.run(), "linear program")
        status = solver.getModelStatus()
        if status == Status.kInfeasible:
            return Solution(None, None)
        if status != Status.kOptimal:
            raise SolverError(f"linear program: {solver.modelStatusToString(status)}")
        solution = solver.getSolution()
        return Solution(np.array(solution.col_value), np.array(solution.row_dual))


# tight: what the floats say is turned into fractions; without presolve small programs are solved sooner
_EXACTING = (
    ("presolve", "off"),
    ("solver", "simplex"),
    ("primal_feasibility_tolerance", 1e-10),
    ("dual_feasibility_tolerance", 1e-10),
)


def solver_module() -> Any:  # noqa: ANN401 -- a module
    """Return `highspy`, imported where it is needed, since that is slow.

    Raises:
        ImportError: it cannot be loaded; the message says what may be in its way.
    """
    try:
        return importlib.import_module("highspy")
    except ModuleNotFoundError:
        raise
    except ImportError as error:  # two libraries of one process cannot both export HiGHS
        raise ImportError(
            f"the solver HiGHS of the package highspy cannot be loaded: {error}. Another package of this process may "
            "have loaded a HiGHS of its own, as ortools does, which pref_voting imports: use the two in processes of "
            "their own"
        ) from error


def _quiet_solver() -> Any:  # noqa: ANN401 -- the solver's module is loaded where it is needed
    solver = solver_module().Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
        _check(solver.setOptionValue(option, value), option)
    return solver


def _floats(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _check(status: Any, what: str) -> None:  # noqa: ANN401 -- as above
    if status.name == "kError":
        raise SolverError(f"the solver refused the {what}")
