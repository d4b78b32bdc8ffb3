from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings, strategies as st

from ranking_engine.core.exact_algebra import kernel, solve_equations
from tests.ranking_engine import naive_prospects as naive

SMALL = st.integers(-3, 3)


@st.composite
def systems_of_equations(draw):
    n = draw(st.integers(1, 4))
    row = st.lists(SMALL, min_size=n, max_size=n)
    return draw(st.lists(row, max_size=6)), draw(row)


@settings(max_examples=60, deadline=None)
@given(systems_of_equations())
def test_equations_are_solved_exactly_near_the_approximate_solution(system):
    rows, solution = system
    true = [Fraction(value, 7) for value in solution]
    equations = [(row, naive.lead(row, true)) for row in rows]
    solved = solve_equations(equations, [float(value) + 1e-9 for value in true])
    assert solved is not None
    assert all(naive.lead(row, solved) == right for row, right in equations)
    assert np.allclose([float(value) for value in solved], [float(value) for value in true], atol=1e-6)


def test_contradicting_equations_have_no_solution():
    assert solve_equations([([1, 1], 1), ([2, 2], 1)], [0.5, 0.5]) is None


def test_systems_too_large_to_solve_exactly_are_left_alone():
    assert solve_equations([([1] * 300, 1)], [0.1] * 300) is None


@settings(max_examples=60, deadline=None)
@given(systems_of_equations())
def test_the_kernel_has_all_solutions_and_no_basis_vector_too_many(system):
    rows, _ = system
    n = len(system[1])
    basis = kernel(rows, n)
    assert all(naive.lead(row, vector) == 0 for row in rows for vector in basis)
    rank = np.linalg.matrix_rank(np.array(rows, dtype=float).reshape(-1, n)) if rows else 0
    assert len(basis) == n - rank
    assert np.linalg.matrix_rank(np.array(basis, dtype=float).reshape(-1, n)) == len(basis)
