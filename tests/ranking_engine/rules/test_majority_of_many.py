"""The majority of very many systems: the same answers as from all pairs, and none where the search was cut short."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from ranking_engine import ScoreMatrix, condorcet_winner, smith_set
from ranking_engine.rules.majority_of_many import majority_of_many
from tests.ranking_engine.strategies import matrices


@given(matrices(max_systems=9, max_tasks=5))
def test_it_agrees_with_the_comparison_of_all_pairs(matrix):
    assert majority_of_many(matrix) == (condorcet_winner(matrix), smith_set(matrix))


@given(matrices(max_systems=5, huge_weights=True))
def test_it_agrees_where_weights_are_beyond_floats(matrix):
    assert majority_of_many(matrix) == (condorcet_winner(matrix), smith_set(matrix))


@given(matrices(max_systems=9, max_tasks=4))
def test_a_search_that_is_cut_short_gives_no_smith_set_but_the_same_winner(matrix):
    winner, members = majority_of_many(matrix, most_members=2)
    assert winner == condorcet_winner(matrix)
    assert members in (None, smith_set(matrix))
    assert members is not None or len(smith_set(matrix)) > 1


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([[3, 3, 1], [2, 2, 3], [1, 1, 2]], (0, (0,))),  # it beats both
        ([[3, 1, 2], [2, 3, 1], [1, 2, 3], [0, 0, 0]], (None, (0, 1, 2))),  # a cycle above one that loses to all
        ([[1, 1], [1, 1]], (None, (0, 1))),  # all tied
        ([[7]], (0, (0,))),  # one system, one task
    ],
)
def test_small_contests_by_hand(columns, expected):
    assert majority_of_many(ScoreMatrix(columns)) == expected


def test_thirty_thousand_systems_are_searched_without_a_matrix_of_pairs():
    draw = np.random.default_rng(0)
    values = draw.normal(size=(30_000, 10))
    values[17_000] = 9.0  # above everybody
    assert majority_of_many(ScoreMatrix(values)) == (17_000, (17_000,))
    values[17_000:17_003] = 9.0 + np.array([[3, 1, 2] * 3 + [0], [2, 3, 1] * 3 + [0], [1, 2, 3] * 3 + [0]])
    assert majority_of_many(ScoreMatrix(values)) == (None, (17_000, 17_001, 17_002))


def test_weights_too_long_for_a_float_are_compared():
    weights = [Fraction(1, 10**9 + 2 * t + 7) for t in range(40)]
    matrix = ScoreMatrix(np.random.default_rng(5).integers(0, 4, (5, 40)).astype(float), weights=weights)
    assert majority_of_many(matrix) == (condorcet_winner(matrix), smith_set(matrix))
