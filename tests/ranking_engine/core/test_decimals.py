"""Scores as decimals: rounding in vectors is rounding one by one, exactly, whatever the size of the numbers."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from ranking_engine import ScoreMatrix, rank, rank_all
from ranking_engine.core.decimals import (
    as_scores,
    exact_mean,
    exact_precision,
    rounded,
    rounded_score,
    rounded_to,
    rounding_note,
)
from ranking_engine.core.instances import InstanceScores, aggregate
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.files.benchmark_file import to_matrix
from ranking_engine.files.tables import read_table, write_table

NAN = float("nan")
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1000, 1000),
    st.integers(-(10**15), 10**15).map(float),
    st.integers(-(10**14), 10**14).map(lambda i: i / 2),  # halves beyond 1e12 lie between two decimals
    st.builds(lambda i, k: i / 10**k, st.integers(-(10**15), 10**15), st.integers(0, 22)),
    st.builds(lambda k, up: math.nextafter(10.0**k, up), st.integers(-300, 300), st.sampled_from([-1e308, 1e308])),
    st.builds(lambda x, k: x * 2.0**k, st.floats(0.5, 1), st.integers(-1074, 1023)),
)
PRECISIONS = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 10**12 - 1), st.integers(-20, 15)
) | st.sampled_from([0.1, 0.5, 1.0, 0.25, 0.01, 5.0, 3.0, 0.7])


@given(st.lists(NUMBERS, min_size=1, max_size=50))
@example([5e-324, 1.7976931348623157e308, -1e308, 1e22, 1e23, 0.0, -0.0, 2.2250738585072014e-308])
@example([1000000000000.5, 1000000000001.5, -1000000000000.5, 999999999999.5, 9999999999999.5, 123456789012.5])
@example([92.19999999999999, 92.2, 0.1 + 0.2, 0.49999999999999994, 999999.9999999, 999999.9999995])
def test_numbers_are_rounded_to_twelve_digits_as_one_by_one(numbers):
    context = Context(prec=12, rounding=ROUND_HALF_EVEN)
    result = rounded(numbers)
    assert result.tolist() == [float(f"{x:.12g}") for x in numbers]
    assert result.tolist() == [float(context.create_decimal(Decimal(x))) for x in numbers]
    assert result.tolist() == [rounded_score(x) for x in numbers]
    assert rounded(result).tolist() == result.tolist()
    assert rounded([-x for x in numbers]).tolist() == (-result).tolist()


def test_shape_order_and_gaps_stay_and_the_argument_is_not_changed():
    given_values = np.asfortranarray([[0.1 + 0.2, NAN], [1e-300 / 3, np.inf], [-0.7 - 0.1, 92.19999999999999]])
    before = given_values.copy()
    result = rounded(given_values)
    np.testing.assert_array_equal(result, [[0.3, NAN], [3.33333333333e-301, np.inf], [-0.8, 92.2]])
    np.testing.assert_array_equal(given_values, before)
    assert rounded(np.empty((3, 0))).shape == (3, 0)
    assert rounded(0.1 + 0.2).tolist() == 0.3


def test_a_large_table_is_rounded_part_by_part_as_its_rows_are():
    values = np.random.default_rng(0).normal(size=(700, 600)) * 50
    result = rounded(values)
    assert result[::97].tolist() == [[float(f"{x:.12g}") for x in row] for row in values[::97].tolist()]
    assert (result != values).any()


@given(st.lists(NUMBERS.map(rounded_score), min_size=1, max_size=30), PRECISIONS)
@example([0.05, 0.15, 0.25, 0.35, -0.05, -0.15, 92.15, 92.25], 0.1)
@example([1.5, 2.5, 3.5, -2.5, 1e12, 123456789012.0], 1.0)
@example([1.79769313486e308, 5e-324, -1e308], 9.99999999999e26)
@example([1e-20, 1.0, 1e15], 7e-20)
def test_numbers_are_rounded_to_multiples_of_a_precision_exactly_and_halves_to_the_even_one(numbers, precision):
    step = Fraction(Decimal(repr(precision)))
    nearest = [float(round(Fraction(Decimal(repr(x))) / step) * step) for x in numbers]
    result = rounded_to(numbers, precision)
    assert result.tolist() == [float(f"{x:.12g}") for x in nearest]
    assert not np.signbit(result[result == 0]).any()
    assert rounded_to([-x for x in numbers], precision).tolist() == (-result).tolist()


@given(st.data(), st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(0, 8))
def test_a_mean_of_decimals_is_the_float_next_to_it_in_any_order(data, numbers, places):
    values = [number / 10**places for number in numbers]
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    expected = float(Fraction(sum(map(int.__mul__, numbers, weights)), sum(weights) * 10**places))
    order = data.draw(st.permutations(range(len(values))))
    assert exact_mean([values[k] for k in order], [weights[k] for k in order]) == expected


def test_halves_go_to_the_even_multiple():
    assert rounded_to([0.05, 0.15, 0.25, 0.35, -0.25], 0.1).tolist() == [0, 0.2, 0.2, 0.4, -0.2]
    assert rounded_to([1.25, 3.75, 12.5], 2.5).tolist() == [0, 5, 12.5]


def test_each_task_is_rounded_to_its_own_precision():
    values = [[71.26, 0.1 + 0.2, NAN, 71.26], [71.34, 0.3, 14, 71.34]]
    result = as_scores(values, np.array([0.1, NAN, 5, 0.1]))
    np.testing.assert_array_equal(result, [[71.3, 0.3, NAN, 71.3], [71.3, 0.3, 15, 71.3]])


@pytest.mark.parametrize("value", ["0.10", 0.1, Decimal("0.1"), np.float64(0.1), " 0.1 "])
def test_a_precision_is_the_decimal_that_was_written(value):
    assert exact_precision(value) == 0.1


def test_dust_is_told_of_and_long_numbers_are_not():
    assert rounding_note(np.array([92.2, NAN, 0.8333333333333334, np.inf, 1e300 / 3])) == ""
    assert rounding_note(np.array([92.2, 92.19999999999999])) == (
        "1 score is rounded to 12 significant digits: 92.19999999999999 is read as 92.2"
    )
    assert rounding_note(np.array([0.1 + 0.2, NAN, -83.05000000000001])) == (
        "2 scores are rounded to 12 significant digits: 0.30000000000000004 is read as 0.3"
    )


# --- What is built of scores ----------------------------------------------------------------------------------------

DUSTY = [[92.19999999999999, 3.0], [92.2, 2.0], [(91.7 + 92.7) / 2, 1.0], [0.1, 0.0]]


def test_scores_that_differ_by_dust_tie_in_everything_that_compares_them():
    matrix = ScoreMatrix(DUSTY, task_names=["F", "G"])
    clean = ScoreMatrix([[92.2, 3], [92.2, 2], [92.2, 1], [0.1, 0]], task_names=["F", "G"])
    assert matrix.values.tolist() == clean.values.tolist()
    assert Pairwise.of(matrix).wins[:3, :3].tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert {key: r.ranks.tolist() for key, r in rank_all(matrix).items()} == {
        key: r.ranks.tolist() for key, r in rank_all(clean).items()
    }
    for changed in (
        clean.replace_row(0, [92.19999999999999, 3]),
        clean.subset(systems=[1, 2, 3]).with_row("s1", [92.19999999999999, 3]).subset(systems=[3, 0, 1, 2]),
        clean.with_values(DUSTY),
    ):
        assert changed.values.tolist() == clean.values.tolist()


def test_scores_are_rounded_to_the_precision_before_anything_is_ranked():
    matrix = ScoreMatrix([[71.26, 1], [71.34, 2], [71.36, 3]], precision=["0.1", None])
    assert matrix.values.tolist() == [[71.3, 1], [71.3, 2], [71.4, 3]]
    assert rank(matrix, "plurality", ties="best").scores.tolist() == [0, 0, 2]
    assert matrix.replace_row(2, [71.31, 3]).values[2].tolist() == [71.3, 3]
    assert matrix.with_row("D", [0.05, 0.05]).values[3].tolist() == [0, 0.05]
    with pytest.raises(ValueError, match="`values` is infinite for system 's1' on task 't2'"):
        matrix.replace_row(0, [1, np.inf])


@given(
    st.lists(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, NAN]), min_size=3, max_size=3), min_size=2, max_size=6),
    st.sampled_from([None, "0.5", "0.2"]),
)
def test_medians_that_are_filled_in_are_scores_as_all_others(table, precision):
    columns = np.array(table)
    if np.isnan(columns).all(axis=0).any() or np.isnan(columns).all(axis=1).any():
        return
    precisions = None if precision is None else [precision] * 3
    matrix = ScoreMatrix(columns, precision=precisions)
    expected = matrix.values.copy()
    for column in expected.T:
        known = sorted(Fraction(repr(x)) for x in column[~np.isnan(column)].tolist())
        middle = float((known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2)
        column[np.isnan(column)] = middle if precision is None else rounded_to(middle, float(precision))
    for rule in ("borda", "mean", "plurality"):
        ranking = rank(matrix, rule, missing="median")
        assert ranking.ranks.tolist() == rank(ScoreMatrix(expected, precision=precisions), rule).ranks.tolist()


def test_instances_tie_by_their_decimals_too():
    scores = InstanceScores(("A", "B"), ("T",), (np.array([[0.1 + 0.2, 1], [0.3, 2]]),))
    assert scores.blocks[0].tolist() == [[0.3, 1], [0.3, 2]]
    assert aggregate(scores, "one_level").scores.tolist() == [0.5, 1.5]


def test_a_table_is_read_written_and_read_again_as_decimals():
    table = read_table(b"system,F,G\nA,92.19999999999999,0.30000000000000004\nB,92.2,\n")
    assert table.values.tolist()[0] == [92.2, 0.3]
    assert table.rounding.startswith("2 scores are rounded to 12 significant digits: 92.19999999999999")
    again = read_table(write_table(to_matrix(table)).encode())
    assert (again.values.tolist()[0], again.rounding) == ([92.2, 0.3], "")
