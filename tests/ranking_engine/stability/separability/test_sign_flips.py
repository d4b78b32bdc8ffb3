"""P-values by flipping signs: those of every sign vector, counted or drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix
from ranking_engine.stability.separability.pair_tests import pair_test
from ranking_engine.stability.separability.sign_flips import (
    BOUND,
    DRAWN,
    EXACT,
    TILTED,
    chernoff_bounds,
    exact_p_value,
    holm,
    sign_flips,
)
from tests.ranking_engine.stability.separability.naive_flips import naive_p_value

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]  # eighths of an inch


def test_the_p_value_of_darwins_maize_is_fishers():
    """Fisher 1935, section 21: 1,726 of 32,768 sign vectors give at least the observed sum."""
    assert exact_p_value(np.array(DARWIN, dtype=float)) == 1726 / 32768


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=7))
def test_counting_by_halves_counts_every_sign_vector_ties_and_zeros_included(differences):
    assert exact_p_value(np.array(differences, dtype=float)) == naive_p_value(differences)


def test_differences_of_decimals_tie_as_the_decimals_do():
    """0.3 - 0.1 and 0.2 differ by a rounding error; sums that tie count as at least as large."""
    assert exact_p_value(np.array([0.3 - 0.1, 0.2, -0.2])) == naive_p_value([1, 1, -1]) == 1


def test_one_pair_by_itself_has_the_p_value_of_every_sign_vector_and_no_adjustment():
    matrix = ScoreMatrix([[3, 5, 1, 8, 2], [1, 4, 2, 3, 2], [2, 9, 7, 4, 5]], groups=["g", "g", None, None, None])
    scaled = matrix.scores / matrix.scores.std(axis=0)
    apart = scaled[0] - scaled[2]
    verdict = pair_test(matrix, 0, 2)
    expected = naive_p_value([apart[0] + apart[1], *apart[2:]])
    assert verdict.p_values.tolist() == verdict.adjusted.tolist() == pytest.approx([expected])
    assert verdict.n_units.tolist() == [4]
    assert verdict.differences.tolist() == pytest.approx([apart.mean()])


def test_the_least_p_value_is_that_of_differences_of_one_sign():
    for n in (1, 5, 9, 20):
        flips = sign_flips(np.full((1, n), 0.5))
        assert flips.p_values[0] == flips.least[0] == 2.0 ** (1 - n)
    assert sign_flips(np.full((1, 3), np.nan)).least.tolist() == [1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-4, 4), min_size=7, max_size=7), min_size=1, max_size=8))
def test_pairs_counted_together_have_the_p_value_of_every_sign_vector(rows):
    flips = sign_flips(np.array(rows, dtype=float))
    assert flips.p_values.tolist() == [naive_p_value(row) for row in rows]
    assert set(flips.methods.tolist()) == {EXACT}


def test_twenty_differences_counted_together_are_counted_as_one_pair_is():
    differences = np.random.default_rng(4).normal(0.3, 1, size=(50, 20))
    flips = sign_flips(differences)
    assert flips.p_values.tolist() == [exact_p_value(row) for row in differences]


def test_drawn_p_values_are_near_the_counted_ones_and_repeat_with_the_seed():
    generator = np.random.default_rng(1)
    differences = generator.normal(0.15, 1, size=(6, 29))
    differences[0] = 0.01 * generator.random(29) + 1  # of one sign: as rare as can be
    flips = sign_flips(differences, n_draws=20_000, seed=3)
    assert flips.methods.tolist() == [TILTED, *[DRAWN] * 5]
    counted = [exact_p_value(row) for row in differences]
    assert counted[0] == 2.0**-28 <= flips.p_values[0] < 2 * counted[0]
    # 100 of 20,000 draws or more: a relative standard deviation of 10 % at most, and three of these
    np.testing.assert_allclose(flips.p_values[1:], counted[1:], rtol=0.3)
    np.testing.assert_array_equal(flips.p_values, sign_flips(differences, n_draws=20_000, seed=3).p_values)
    assert (flips.p_values != sign_flips(differences, n_draws=20_000, seed=4).p_values).any()
    alone = sign_flips(differences[2:3], n_draws=20_000, seed=3)
    assert alone.p_values[0] == flips.p_values[2]


@pytest.mark.parametrize("heaviest", [1.0, 6.0])
def test_rare_p_values_are_a_little_above_the_counted_ones_also_where_one_task_outweighs_the_others(heaviest):
    generator = np.random.default_rng(5)
    differences = generator.normal(0.9, 1, size=(150, 24)) * np.r_[heaviest, np.ones(23)]
    flips = sign_flips(differences, max_exact=20)
    rare = flips.methods == TILTED
    assert rare.sum() > 30
    counted = np.array([exact_p_value(row) for row in differences[rare]])
    ratio = flips.p_values[rare] / counted
    assert 0.75 < ratio.min() < 1.1 < ratio.max() < 2
    assert 1 < np.median(ratio) < 1.25  # two standard errors of about 10 %, less half of what they vary


def test_no_counted_p_value_is_above_its_bound():
    generator = np.random.default_rng(6)
    for mean in (0.0, 0.5, 1.5):
        differences = generator.normal(mean, 1, size=(60, 14))
        _, bounds = chernoff_bounds(differences)
        assert (sign_flips(differences).p_values <= bounds * (1 + 1e-9)).all()
    certain = sign_flips(np.full((1, 30), 1.0), certain=1e-6)
    assert certain.methods.tolist() == [BOUND]
    assert 2.0**-29 <= certain.p_values[0] < 1e-7


def test_a_pair_that_no_draw_exceeds_has_a_positive_p_value():
    few = sign_flips(np.full((1, 30), 1.0) * np.r_[np.ones(18), -np.ones(12)], n_draws=9, seed=0)
    assert few.p_values[0] in {k / 10 for k in range(1, 11)} or few.methods[0] == TILTED
    assert 0 < few.p_values[0] <= 1


def test_holm_multiplies_by_the_pairs_that_are_left_and_never_decreases():
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.9])), [0.09, 0.04, 0.09, 0.9])
    assert holm(np.array([0.5, 0.6])).tolist() == [1, 1]
    assert holm(np.zeros(0)).tolist() == []
