from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.catalogue.dispatch import task_contributions
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.rates import NO_RIVAL, snapped
from tests.ranking_engine import naive, naive_consensus
from tests.ranking_engine.strategies import matrices

NAN = float("nan")
FEW = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize("variant", RULES["win_rate"].options["variant"])
def test_win_rate_is_as_defined(variant):
    @FEW
    @given(matrices())
    def check(matrix):
        ranking = rank(matrix, "win_rate", variant=variant)
        expected = naive_consensus.win_rate(matrix, variant) if naive.scored_systems(matrix) else None
        naive.assert_ranks(ranking, expected, matrix.n_systems)

    check()


@FEW
@given(matrices())
def test_relative_difference_is_as_defined(matrix):
    ranking = rank(matrix, "relative_difference")
    expected = naive_consensus.relative_difference(matrix) if naive.scored_systems(matrix) else None
    naive.assert_ranks(ranking, expected, matrix.n_systems)


@FEW
@given(matrices(huge_weights=True), st.sampled_from(RULES["win_rate"].options["variant"]))
def test_weights_beyond_64_bits_do_not_overflow(matrix, variant):
    expected = naive_consensus.win_rate(matrix, variant), naive_consensus.relative_difference(matrix)
    got = rank(matrix, "win_rate", variant=variant), rank(matrix, "relative_difference")
    for ranking, scores in zip(got, expected, strict=True):
        exact = [float(scores.get(i, NAN)) for i in range(matrix.n_systems)]
        np.testing.assert_allclose(ranking.scores, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", ["win_rate", "relative_difference"])
def test_larger_boards_with_gaps_are_as_defined(rule):
    matrix = random_matrix(30, 8, seed=4, missing=0.3, n_levels=9, weights=[1, 2, 0, "1/13", 1, 3, "0.1", 1])
    expected = {
        "win_rate": lambda: naive_consensus.win_rate(matrix, "rivals"),
        "relative_difference": lambda: naive_consensus.relative_difference(matrix),
    }[rule]()
    naive.assert_ranks(rank(matrix, rule), expected, 30)


@pytest.mark.parametrize("least", [-8.0, -2.0, 0.0], ids=["not positive", "of both signs", "not negative"])
def test_boards_of_several_blocks_are_as_defined(least):
    matrix = random_matrix(400, 3, seed=5, missing=0.3, n_levels=9, weights=[1, "0.3", 2])
    values = np.arange(9.0)[np.unique(matrix.values, return_inverse=True)[1] % 9] + least
    values[np.isnan(matrix.values)] = np.nan
    values[0] = np.nan
    ranking = rank(matrix.with_values(values), "relative_difference")

    mine, theirs = values[:, None], values[None, :]
    whole = np.abs(mine) + np.abs(theirs)
    quotients = np.divide(mine - theirs, whole, out=np.zeros_like(whole), where=whole != 0)
    is_common = ~np.isnan(quotients) & ~np.eye(400, dtype=bool)[:, :, None]
    weights = is_common * np.array([1, 0.3, 2])
    common = weights.sum(axis=2)
    means = np.nansum(weights * quotients, axis=2) / np.where(common > 0, common, 1)
    with np.errstate(invalid="ignore"):
        expected = means.sum(axis=1) / (common > 0).sum(axis=1)
    np.testing.assert_allclose(ranking.scores, expected, rtol=1e-12, atol=1e-12)


def test_the_four_win_rates_of_a_small_board():
    # the third task is C's and D's alone; E shares no task with anybody
    matrix = ScoreMatrix(
        [
            [3, 2, NAN, NAN],
            [2, 2, NAN, NAN],
            [1, NAN, 5, NAN],
            [NAN, NAN, 5, NAN],
            [NAN, NAN, NAN, 1],
        ]
    )
    rates = {
        "rivals": [(3 / 4 + 1) / 2, (1 / 4 + 1) / 2, (0 + 0 + 1 / 2) / 3, 1 / 2, NAN],
        "success_rate": [(1 / 2 + 1) / 2, (0 + 1) / 2, 0, 0, NAN],
        "helm": [(1 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2, (0 + 1 / 2) / 2, 1 / 2, NAN],
        "benchbench": [(1 / 2 + 1) / 5, (0 + 1) / 5, 0, 0, 0],
    }
    for variant, expected in rates.items():
        ranking = rank(matrix, "win_rate", variant=variant)
        np.testing.assert_allclose(ranking.scores, expected, rtol=1e-15)
        unranked = {} if variant == "benchbench" else {4: NO_RIVAL}
        assert (ranking.status, ranking.unranked_reasons) == ("ranked", unranked)


def test_relative_differences_are_taken_on_stored_values_and_turned_by_the_direction():
    matrix = ScoreMatrix([[1.0, 30.0], [3.0, 10.0], [0.0, 0.0]], directions=[1, -1])
    expected = [((-1 / 2 - 1 / 2) / 2 + (1 - 1) / 2) / 2, ((1 / 2 + 1 / 2) / 2 + (1 - 1) / 2) / 2, 0]
    np.testing.assert_allclose(rank(matrix, "relative_difference").scores, expected, atol=1e-15)
    assert rank(ScoreMatrix([[0.0], [0.0]]), "relative_difference").scores.tolist() == [0, 0]


def test_relative_differences_of_huge_scores_are_finite():
    huge = np.finfo(float).max
    assert rank(ScoreMatrix([[huge], [-huge], [huge]]), "relative_difference").scores.tolist() == [
        0.5,
        -1,
        0.5,
    ]


def test_differences_that_are_only_rounding_tie():
    scores = np.array([3e-17, -1e-17, NAN, 0.5, 0.5 + 4e-13, 0.5 + 8e-13, 0.6])
    np.testing.assert_array_equal(snapped(scores), [0, 0, NAN, 0.5, 0.5, 0.5, 0.6])
    cycle = ScoreMatrix([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    assert rank(cycle, "relative_difference").ranks.tolist() == [1, 1, 1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shift", [0.0, 3.0, -30.0])
def test_the_printed_relative_difference_divides_by_the_sum_of_the_scores_as_stored(seed, shift):
    random = np.random.default_rng(seed)
    values = np.round(random.normal(shift, 4, size=(6, 4)), 1)
    values[0, 0] = -values[1, 0]  # a sum of 0
    values[random.random(values.shape) < 0.15] = np.nan
    values[2:4] = random.integers(1, 9, size=(2, 4))
    directions, weights = [1, -1, 1, -1], [1, 2, 1, 3]
    matrix = ScoreMatrix(values, directions=directions, weights=weights)

    def quotient(x, y):
        return (x - y) / (x + y) if x + y else 0.0

    expected = []
    for i in range(6):
        means = []
        for j in range(6):
            common = [t for t in range(4) if i != j and np.isfinite(values[i, t] + values[j, t])]
            if common:
                ahead = sum(weights[t] * directions[t] * quotient(values[i, t], values[j, t]) for t in common)
                means.append(ahead / sum(weights[t] for t in common))
        expected.append(sum(means) / len(means))
    ranking = rank(matrix, "relative_difference[divisor=sum]")
    np.testing.assert_allclose(ranking.scores, expected, atol=1e-12)
    whole = ScoreMatrix(np.nan_to_num(values, nan=2.0), directions=directions, weights=weights)
    key = "relative_difference[divisor=sum]"
    parts = task_contributions(whole, [key])[key]
    np.testing.assert_allclose(parts.values.sum(axis=1), rank(whole, key).scores, atol=1e-12)
    if (np.nan_to_num(values, nan=1) > 0).all():
        np.testing.assert_allclose(rank(matrix, "relative_difference").scores, expected, atol=1e-12)
