from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import TIES, ScoreMatrix, rank
from ranking_engine.core.profile import Profile
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.core.task_order import task_order
from ranking_engine.rules.positional import points, positional_scores
from tests.ranking_engine import naive
from tests.ranking_engine.strategies import matrices

TIED = np.array([[5.0], [7.0], [5.0], [5.0], [1.0]])  # one first, three on positions 2 to 4, one last


@pytest.mark.parametrize(("ties", "shared"), [("best", 8), ("worst", 2), ("average", 5)])
def test_a_tie_block_gets_its_first_last_or_mean_entry(ties, shared):
    vector = np.array([10.0, 8, 5, 2, 1])
    assert points(task_order(TIED), vector, ties).T.tolist() == [[shared, 10, shared, shared, 1]]


def test_an_unknown_convention_is_named():
    with pytest.raises(ValueError, match="`ties` is 'first'; expected one of worst, best, average"):
        points(task_order(TIED), np.ones(5), "first")


def test_any_scoring_vector_fits():
    harmonic = 1 / np.arange(1, 6)
    scores = positional_scores(Profile(ScoreMatrix(TIED, weights=[3])), harmonic, "best")
    assert scores.tolist() == [1.5, 3, 1.5, 1.5, 0.6000000000000001]


def test_joint_first_places_count_for_nobody_by_default_and_are_shared_on_request():
    matrix = ScoreMatrix([[2.0], [2.0], [1.0]])
    assert rank(matrix, "plurality").scores.tolist() == [0, 0, 0]
    assert rank(matrix, "plurality", ties="best").scores.tolist() == [1, 1, 0]
    assert rank(matrix, "plurality", ties="average").scores.tolist() == [0.5, 0.5, 0]


def test_order_has_first_and_last_positions_and_dense_places_and_marks_missing_scores():
    order = task_order(np.array([[5.0], [np.nan], [7.0], [5.0], [1.0]]))
    assert order.first.T.tolist() == [[1, -1, 0, 1, 3]]
    assert order.last.T.tolist() == [[2, -1, 0, 2, 3]]
    assert order.place.T.tolist() == [[2, 0, 1, 2, 3]]


def test_a_scoring_vector_is_padded_or_cut_to_the_positions():
    matrix = ScoreMatrix([[4.0], [3.0], [2.0], [1.0]])
    assert rank(matrix, "positional", vector=(12, 10)).scores.tolist() == [12, 10, 0, 0]
    assert rank(matrix, "positional", vector="3, 2, 1, 1, 1").scores.tolist() == [3, 2, 1, 1]
    borda = rank(matrix, "positional", vector=[3, 2, 1, 0], ties="average")
    assert borda.scores.tolist() == rank(matrix, "borda", ties="average").scores.tolist()


def test_a_vector_that_would_rise_when_padded_gives_no_ranking():
    matrix = ScoreMatrix([[3.0], [2.0], [1.0]])
    assert rank(matrix, "positional", vector=(0, 0, -1)).scores.tolist() == [0, 0, -1]
    ranking = rank(matrix, "positional", vector=(0, -1))
    assert (ranking.status, ranking.reason) == (
        "undefined",
        "the scoring vector ends below 0 and would rise when padded with 0 for 3 systems",
    )


def test_sums_that_are_not_exact_do_not_depend_on_the_order_of_tasks():
    values = random_matrix(20, 40, seed=1).values
    matrix = ScoreMatrix(values, weights=[Fraction(1, k) for k in range(1, 41)])
    for rule in ("dowdall", "plurality", "average_rank"):
        for ties in TIES:
            backwards = rank(matrix.subset(tasks=range(39, -1, -1)), rule, ties=ties)
            assert backwards.scores.tolist() == rank(matrix, rule, ties=ties).scores.tolist()


@settings(max_examples=60, deadline=None)
@given(matrices(max_systems=4, max_tasks=4))
def test_compatible_borda_is_the_mean_over_all_orders_that_the_scores_allow(matrix):
    scores, variances = naive.compatible_borda(matrix)
    ranking = rank(matrix, "compatible_borda")
    naive.assert_ranks(ranking, scores or None, matrix.n_systems)
    if scores:
        np.testing.assert_allclose([ranking.scores[i] for i in scores], [float(x) for x in scores.values()], atol=1e-12)
        spread = [ranking.details["spread"][matrix.system_names[i]] ** 2 for i in scores]
        np.testing.assert_allclose(spread, [float(variances[i]) for i in scores], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_compatible_borda_of_complete_scores_is_borda_with_shared_points(seed):
    matrix = random_matrix(9, 6, seed=seed, n_levels=4)
    ranking = rank(matrix, "compatible_borda")
    assert ranking.scores.tolist() == rank(matrix, "borda", ties="average").scores.tolist()
    assert set(ranking.details["spread"].values()) == {0.0}
