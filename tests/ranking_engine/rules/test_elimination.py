from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, condorcet_winner, rank
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine import naive

# A = B > C on 3 tasks, A = C > B on 3, B > A = C on 2, C > A = B on 2
SHARED_TOPS = ScoreMatrix(
    [[2, 2, 2, 2, 2, 2, 1, 1, 1, 1], [2, 2, 2, 1, 1, 1, 2, 2, 1, 1], [1, 1, 1, 2, 2, 2, 1, 1, 2, 2]],
    system_names=["A", "B", "C"],
)


def test_by_default_baldwin_and_nanson_elect_a_system_that_beats_all_others():
    assert condorcet_winner(SHARED_TOPS) == 0
    assert rank(SHARED_TOPS, "borda", ties="average").scores.tolist() == [11, 9.5, 9.5]
    assert rank(SHARED_TOPS, "baldwin").ranks.tolist() == [1, 2, 2]
    assert rank(SHARED_TOPS, "nanson").ranks.tolist() == [1, 2, 2]


def test_with_ties_at_the_worst_position_they_drop_it():
    assert rank(SHARED_TOPS, "borda").scores.tolist() == [6, 7, 7]
    assert rank(SHARED_TOPS, "baldwin", ties="worst").ranks.tolist() == [3, 1, 1]
    assert rank(SHARED_TOPS, "nanson", ties="worst").ranks.tolist() == [3, 1, 1]


@pytest.mark.parametrize("rule", ["baldwin", "nanson", "instant_runoff", "coombs", "threshold"])
@pytest.mark.parametrize("ties", ["worst", "best", "average"])
@pytest.mark.parametrize("options", [{}, {"n_levels": 5}, {"weights": [1, "1/13", 2, "0.1", 1, 3]}])
def test_more_systems_than_the_small_examples_leave_in_the_same_rounds(rule, ties, options):
    matrix = random_matrix(18, 6, seed=4, kind="uniform", **options)
    expected = getattr(naive, rule)(matrix, ties)
    assert rank(matrix, rule, ties=ties).scores.tolist() == [expected[i] for i in range(18)]


def test_shares_too_fine_for_floats_are_compared_exactly():
    # 12 systems tied in blocks of 1 to 12: shares over 27,720, times weights around 2^50
    values = [[float(i >= size) for size in range(12)] for i in range(12)]
    matrix = ScoreMatrix(values, weights=[2**50 + k for k in range(12)])
    for rule in ("instant_runoff", "coombs", "threshold"):
        expected = getattr(naive, rule)(matrix, "average")
        assert rank(matrix, rule, ties="average").scores.tolist() == [expected[i] for i in range(12)]


def test_instant_runoff_drops_all_systems_that_are_nowhere_first_in_one_round():
    order = np.array([[9, 1, 9, 1], [8, 9, 2, 2], [7, 8, 8, 9], [6, 2, 1, 3], [5, 3, 3, 8]], dtype=float)
    assert rank(ScoreMatrix(order), "instant_runoff").scores.tolist() == [3, 2, 2, 1, 1]


def test_the_threshold_rule_prefers_a_system_that_is_never_last():
    matrix = ScoreMatrix([[3, 3, 3, 1], [2, 2, 2, 2], [1, 1, 1, 3]])
    ranking = rank(matrix, "threshold")
    assert ranking.ranks.tolist() == [2, 1, 3]
    assert ranking.details == {
        "weights_by_position": {"s1": {3: 1.0}, "s2": {2: 4.0}, "s3": {3: 3.0}},
    }


def test_the_weights_by_position_of_more_than_300_systems_are_not_listed():
    assert rank(random_matrix(301, 3, seed=1), "threshold").details == {}
