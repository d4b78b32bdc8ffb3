"""Linear programs, solved by HiGHS (Huangfu and Hall 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.score_matrix import FloatArray

Indices = NDArray[np.int32]


class SolverError(RuntimeError):
    """The solver failed for a reason that is neither the time limit nor the problem itself."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What became of a linear program.

    Attributes:
        x: an optimal solution; None where the time ran out or there is none.
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
        self._solver = self._built()

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

    def solve_relaxation(self, seconds: float = math.inf) -> Relaxation:
        """Solve the linear program from where the last solve ended, within about `seconds`."""
        from highspy import HighsModelStatus as Status  # noqa: PLC0415 -- slow import

        solver = self._solver
        solver.setOptionValue("time_limit", min(solver.getRunTime() + max(seconds, 0.01), 1e9))
        _check(solver.run(), "linear program")
        status, info = solver.getModelStatus(), solver.getInfo()
        is_optimal = status == Status.kOptimal
        if not is_optimal and status not in (Status.kInfeasible, Status.kTimeLimit):
            raise SolverError(f"linear program: {solver.modelStatusToString(status)}")
        solution = solver.getSolution()
        duals = np.array(solution.row_dual) if solution.dual_valid else None
        return Relaxation(
            np.array(solution.col_value) if is_optimal else None,
            duals,
            status == Status.kInfeasible,
            max(0, info.simplex_iteration_count),
        )

    def _built(self) -> Any:  # noqa: ANN401 -- the solver's module is loaded where it is needed
        import highspy  # noqa: PLC0415 -- slow import

        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
            _check(solver.setOptionValue(option, value), option)
        n = len(self.cost)
        _check(solver.addVars(n, *self.bounds), "variables")
        every = np.arange(n, dtype=np.int32)
        _check(solver.changeColsCost(n, every, np.ascontiguousarray(self.cost, dtype=np.float64)), "costs")
        return solver


def _check(status: Any, what: str) -> None:  # noqa: ANN401 -- as above
    if status.name == "kError":
        raise SolverError(f"the solver refused the {what}")
