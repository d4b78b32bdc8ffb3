from __future__ import annotations

import numpy as np
import pytest

from ranking_engine.core.linear_programs import RowProgram, SolverError, UnitProgram


def test_rows_are_added_to_a_program_and_kept():
    program = UnitProgram(np.array([-1.0, -2.0, -3.0]))
    assert program.solve_relaxation().x.tolist() == [1, 1, 1]
    program.add_rows(np.array([[0, 1, 2]], dtype=np.int32), np.ones((1, 3)), 0.0, 2.0)
    solution = program.solve_relaxation()
    assert solution.x.tolist() == [0, 1, 1]
    np.testing.assert_allclose(solution.duals, [-1])  # one more would gain the least of the three
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
    solution = program.solve_relaxation()
    assert (solution.x, solution.is_infeasible) == (None, True)


def test_what_the_solver_refuses_is_an_error():
    program = UnitProgram(np.array([1.0]))
    with pytest.raises(SolverError, match="the solver refused the rows"):
        program.add_rows(np.array([[7]], dtype=np.int32), np.ones((1, 1)), 0.0, 1.0)


def simplex_program():
    """x + y + z = 1, to be minimised: -x."""
    program = RowProgram(np.array([-1.0, 0, 0]), np.zeros(3), np.ones(3))
    program.add_rows(np.ones((1, 3)), 1.0, 1.0)
    program.keep()
    return program


def test_rows_can_be_taken_back():
    program = simplex_program()
    assert program.solve().x.tolist() == [1, 0, 0]
    program.add_rows(np.array([[1.0, -1, 0], [1, 0, -3]]), -np.inf, np.array([0.0, 0.0]))
    np.testing.assert_allclose(program.solve().x, [3 / 7, 3 / 7, 1 / 7])
    program.reset()
    assert program.solve().x.tolist() == [1, 0, 0]


def test_costs_and_bounds_can_be_changed():
    program = simplex_program()
    program.set_cost(np.array([0.0, -1, 0]))
    program.set_bounds(np.zeros(3), np.array([1.0, 0.25, 0.5]))
    np.testing.assert_allclose(program.solve().x[1], 0.25)
    program.add_rows(np.array([[1.0, 0, 0]]), -np.inf, 0.2)
    assert program.solve().x is None  # 0.2 + 0.25 + 0.5 is less than 1


def test_a_solver_that_another_package_keeps_from_loading_is_named_with_a_way_out(monkeypatch):
    """As after `import ortools`, which has a HiGHS of its own."""

    def refused(name):
        raise ImportError(f"{name}/_core.so: undefined symbol: _ZN5Highs13releaseMemoryEv")

    monkeypatch.setattr("ranking_engine.core.linear_programs.importlib.import_module", refused)
    with pytest.raises(ImportError, match=r"undefined symbol.* ortools does, .* in processes of their own"):
        UnitProgram(np.array([1.0]))
