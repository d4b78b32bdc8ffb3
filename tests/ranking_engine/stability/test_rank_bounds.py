from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from ranking_engine import UNRANKED
from ranking_engine.stability.rank_bounds import end_errors, expanded_quantile, expanded_tail, interval_bounds


def naive_tail(level, n_clusters):
    """The tail by numbers alone: Student's quantile by bisection of its density's integral."""
    degrees = n_clusters - 1

    def below(t):
        scale = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
        return 0.5 + integrate.quad(lambda x: scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2), 0, t)[0]

    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < (1 + level) / 2 else (low, middle)
    return math.erfc(math.sqrt(n_clusters / degrees) * low / math.sqrt(2)) / 2


@pytest.mark.parametrize("n_clusters", [2, 8, 9, 12, 30, 100])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_tails_are_those_of_the_expanded_percentile_interval(n_clusters, level):
    assert float(expanded_tail(level, n_clusters)) == pytest.approx(naive_tail(level, n_clusters), abs=6e-7)


def test_eight_clusters_need_less_than_a_quarter_of_the_usual_tail_and_many_nearly_all_of_it():
    assert [float(expanded_tail(0.95, n)) for n in (8, 30, 1000)] == [0.005738, 0.018754, 0.024804]


@pytest.mark.parametrize("n_clusters", [2, 8, 30])
def test_a_quantile_is_replaced_by_students_of_the_same_tail_further_out(n_clusters):
    for quantile in (0.5, 1.96, 4.0):
        student = stats.t(n_clusters - 1)
        expanded = expanded_quantile(quantile, n_clusters) / math.sqrt(n_clusters / (n_clusters - 1))
        assert student.sf(expanded) == pytest.approx(stats.norm.sf(quantile), rel=1e-9)
    assert expanded_quantile(-1.0, n_clusters) == 0
    assert expanded_quantile(1e9, n_clusters) == math.inf


def test_bounds_leave_out_exactly_the_tails():
    counts = np.array([[25, 950, 25], [26, 948, 26], [0, 0, 0], [1000, 0, 0]], dtype=np.int32)
    lower, upper = interval_bounds(counts, Fraction(1, 40))
    assert lower.tolist() == [2, 1, UNRANKED, 1]
    assert upper.tolist() == [2, 3, UNRANKED, 1]


def naive_bounds(row, n_beyond):
    below = [r for r in range(len(row)) if sum(row[: r + 1]) > n_beyond]
    above = [r for r in range(len(row)) if sum(row[r:]) > n_beyond]
    return (below[0] + 1, above[-1] + 1) if sum(row) else (UNRANKED, UNRANKED)


ROWS = st.lists(st.integers(0, 60), min_size=1, max_size=6)
TAILS = st.sampled_from([Fraction(0), Fraction(1, 40), Fraction(5739, 10**6), Fraction(1, 4)])


@settings(max_examples=100, deadline=None)
@given(ROWS, TAILS)
def test_bounds_are_as_defined(row, tail):
    lower, upper = interval_bounds(np.array([row], dtype=np.int32), tail)
    assert (lower[0], upper[0]) == naive_bounds(row, tail * sum(row))


@settings(max_examples=100, deadline=None)
@given(ROWS, TAILS)
def test_errors_of_the_ends_reach_the_order_statistics_around_them(row, tail):
    total, share = sum(row), float(tail)
    spread = 1.959963984540054 * math.sqrt(total * share * (1 - share))
    bounds = naive_bounds(row, tail * total)
    inner = max(0, min(math.floor(total * share + spread), (total - 1) // 2))
    others = [naive_bounds(row, max(0, math.floor(total * share - spread))), naive_bounds(row, inner)]
    expected = max(abs(end - other) for pair in others for end, other in zip(bounds, pair, strict=True))
    assert end_errors(np.array([row], dtype=np.int32), tail).tolist() == [expected]


def test_four_times_the_resamples_make_ends_surer():
    share = np.diff(stats.norm(150, 30).cdf(np.arange(301.0) + 0.5))
    errors = [int(end_errors(np.round(n * share).astype(np.int32)[None], Fraction(1, 40))[0]) for n in (1000, 4000)]
    assert errors == [5, 3]
