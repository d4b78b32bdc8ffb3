"""A mixed-integer program for few rows: how many of them can be negative or 0 at once?

Weights between `floor` and 1, an indicator f_p for each row, and d_p @ v <= M_p (1 - f_p) with the least M_p that
works: the sum of the positive entries of d_p and of the negative ones times the floor. It bounds the rows that
are negative or 0 from above whatever the solver's tolerances, which only let more rows count; its weights are
evaluated again. For the pairs of one system it ends in seconds; for all pairs of a board it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking_engine.core.linear_programs import SolverError, solver_module
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.sensitivity.cone import Cone

MAX_ROWS = 150


@dataclass(frozen=True, eq=False)
class MostNegative:
    """No more than `upper` rows are negative or 0 at once; `weights` may come near, None where none were found."""

    upper: int
    weights: FloatArray | None
    n_nodes: int


def most_negative(cone: Cone, *, margin: float = 0.0, max_nodes: int = 1_000) -> MostNegative:
    """Solve the program, within so many nodes of branch and bound.

    With a positive `margin` only rows below minus so much of their largest entry count: then `upper` bounds
    these alone, and the weights make rows negative that without it are 0.
    """
    highspy = solver_module()
    m, T = cone.rows.shape
    size = np.abs(cone.rows).max(axis=1, keepdims=True)
    rows = cone.rows / size
    big = np.maximum(rows, 0).sum(axis=1) + cone.floor * np.minimum(rows, 0).sum(axis=1)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = T + m, m
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = np.concatenate([np.zeros(T), np.ones(m)])
    program.col_lower_ = np.concatenate([np.full(T, cone.floor), np.zeros(m)])
    program.col_upper_ = np.ones(T + m)
    program.row_lower_, program.row_upper_ = np.full(m, -highspy.kHighsInf), np.maximum(big, 0.0)
    program.integrality_ = [highspy.HighsVarType.kContinuous] * T + [highspy.HighsVarType.kInteger] * m
    matrix = np.hstack([rows, np.diag(np.maximum(big, 0.0) + margin)])
    row, column = np.nonzero(matrix)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(row, np.arange(m + 1)).astype(np.int32)
    program.a_matrix_.index_ = column.astype(np.int32)
    program.a_matrix_.value_ = matrix[row, column]
    solver = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "random_seed": 0, "mip_rel_gap": 0.0, "mip_max_nodes": max_nodes}
    for option, value in options.items():
        if solver.setOptionValue(option, value).name == "kError":
            raise SolverError(f"the solver refused the option {option}")
    if solver.passModel(program).name == "kError":
        raise SolverError("the solver refused the mixed-integer program")
    solver.run()
    info = solver.getInfo()
    bound = float(info.mip_dual_bound)
    upper = min(m, int(np.floor(bound + 1e-6))) if np.isfinite(bound) else m
    values = np.array(solver.getSolution().col_value)
    has_weights = info.primal_solution_status == 2 and len(values) == T + m
    weights = np.clip(values[:T], cone.floor, 1.0) if has_weights else None
    return MostNegative(upper, weights, max(1, int(info.mip_node_count)))
