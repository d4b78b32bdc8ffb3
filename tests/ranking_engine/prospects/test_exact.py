from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.prospects import exact
from tests.ranking_engine import naive_prospects as naive

SMALL = st.integers(-3, 3)
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=6).filter(lambda shares: sum(shares) > 1e-3)


@st.composite
def systems_of_equations(draw):
    n = draw(st.integers(1, 4))
    row = st.lists(SMALL, min_size=n, max_size=n)
    return draw(st.lists(row, max_size=6)), draw(row)


@pytest.mark.parametrize(
    ("shares", "numerators"),
    [
        ([1.0, 0.0], (1, 0)),
        ([1 / 3, 2 / 3], (1, 2)),
        ([0.1, 0.2, 0.7], (1, 2, 7)),
        ([1e-12, 1.0], (0, 1)),
        ([0.5**0.5, 1 - 0.5**0.5], None),
    ],
)
def test_simple_fractions_are_recognised(shares, numerators):
    assert exact.simple_fractions(np.array(shares)) == numerators


@settings(max_examples=50, deadline=None)
@given(SHARES, st.sampled_from([1, 7, 10**9]))
def test_rounded_shares_sum_to_the_denominator(shares, denominator):
    numerators = exact.rounded(np.array(shares), denominator)
    total = sum(share for share in shares if share > exact.SUPPORT)
    assert sum(numerators) == denominator
    for numerator, share in zip(numerators, shares, strict=True):
        assert abs(numerator - denominator * (share if share > exact.SUPPORT else 0) / total) < 1 + 1e-6


@settings(max_examples=60, deadline=None)
@given(systems_of_equations())
def test_equations_are_solved_exactly_near_the_approximate_solution(system):
    rows, solution = system
    true = [Fraction(value, 7) for value in solution]
    equations = [(row, naive.lead(row, true)) for row in rows]
    solved = exact.solve_equations(equations, [float(value) + 1e-9 for value in true])
    assert solved is not None
    assert all(naive.lead(row, solved) == right for row, right in equations)
    assert np.allclose([float(value) for value in solved], [float(value) for value in true], atol=1e-6)


def test_contradicting_equations_have_no_solution():
    assert exact.solve_equations([([1, 1], 1), ([2, 2], 1)], [0.5, 0.5]) is None


def test_systems_too_large_to_solve_exactly_are_left_alone():
    assert exact.solve_equations([([1] * 300, 1)], [0.1] * 300) is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(SMALL, st.integers(0, 5)), min_size=1, max_size=5), st.sampled_from([1, 2**40, 2**70]))
def test_products_are_exact_whatever_their_size(pairs, factor):
    entries, vector = [a * factor for a, _ in pairs], [b for _, b in pairs]
    rows = np.array([entries], dtype=object if factor > 2**60 else np.int64)
    (found,) = exact.product(rows, vector, 3 * factor)
    assert int(found) == sum(a * b for a, b in zip(entries, vector, strict=True))
