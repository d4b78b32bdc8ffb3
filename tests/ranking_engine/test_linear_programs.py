from __future__ import annotations

import numpy as np
import pytest

from ranking_engine.linear_programs import SolverError, UnitProgram


def test_rows_are_added_to_a_program_and_kept():
    program = UnitProgram(np.array([-1.0, -2.0, -3.0]))
    assert program.solve_relaxation().x.tolist() == [1, 1, 1]
    program.add_rows(np.array([[0, 1, 2]], dtype=np.int32), np.ones((1, 3)), 0.0, 2.0)
    found = program.solve_relaxation()
    assert found.x.tolist() == [0, 1, 1]
    np.testing.assert_allclose(found.duals, [-1])  # one more would gain the least of the three
    program.add_rows(np.array([[1, 2], [0, 1]], dtype=np.int32), np.ones((2, 2)), 0.0, 1.0)
    np.testing.assert_allclose(program.solve_relaxation().x, [1, 0, 1])


def test_fixed_variables_stay_fixed_until_others_are():
    program = UnitProgram(np.array([-1.0, 2.0]))
    program.fix(np.array([0, 1], dtype=np.int32), np.array([0.0, 1.0]))
    assert program.solve_relaxation().x.tolist() == [0, 1]
    program.fix(np.array([1], dtype=np.int32), np.array([1.0]))
    assert program.solve_relaxation().x.tolist() == [1, 1]


def test_a_contradiction_is_infeasible_and_no_error():
    program = UnitProgram(np.array([1.0, 1.0]))
    program.add_rows(np.array([[0, 1]], dtype=np.int32), np.ones((1, 2)), 2.0, 2.0)
    program.fix(np.array([0], dtype=np.int32), np.array([0.0]))
    found = program.solve_relaxation()
    assert (found.x, found.is_infeasible) == (None, True)


def test_what_the_solver_refuses_is_an_error():
    program = UnitProgram(np.array([1.0]))
    with pytest.raises(SolverError, match="the solver refused the rows"):
        program.add_rows(np.array([[7]], dtype=np.int32), np.ones((1, 1)), 0.0, 1.0)
