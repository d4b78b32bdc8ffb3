from __future__ import annotations

import pytest
from hypothesis import given, settings

from ranking_engine import (
    Pairwise,
    ScoreMatrix,
    condorcet_loser,
    condorcet_winner,
    schwartz_set,
    smith_set,
    uncovered_set,
    weak_condorcet_winners,
)
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine import naive, naive_consensus
from tests.ranking_engine.strategies import matrices


@settings(max_examples=80, deadline=None)
@given(matrices(max_tasks=4))
def test_choice_sets_are_as_defined(matrix):
    assert condorcet_winner(matrix) == naive.condorcet_winner(matrix)
    assert condorcet_loser(matrix) == naive.condorcet_loser(matrix)
    assert weak_condorcet_winners(matrix) == naive.weak_condorcet_winners(matrix)
    assert smith_set(matrix) == naive.smith_set(matrix)


def test_a_cycle_is_its_own_smith_set_and_has_no_winner():
    cycle = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3], [0, 0, 0]])
    assert smith_set(cycle) == (0, 1, 2)
    assert condorcet_winner(cycle) is None
    assert weak_condorcet_winners(cycle) == ()
    assert condorcet_loser(cycle) == 3


def test_they_also_take_the_comparison_itself():
    matrix = ScoreMatrix([[1, 1], [2, 0], [0, 0]])
    assert smith_set(Pairwise.of(matrix)) == smith_set(matrix) == (0, 1)


def test_systems_that_share_no_task_are_both_unbeaten_and_say_so():
    matrix = ScoreMatrix([[1, float("nan")], [float("nan"), 1]])
    assert weak_condorcet_winners(matrix) == (0, 1)
    assert Pairwise.of(matrix).rivals_without_common_task.tolist() == [1, 1]


@settings(max_examples=80, deadline=None)
@given(matrices())
def test_schwartz_and_uncovered_sets_are_as_defined(matrix):
    assert schwartz_set(matrix) == naive_consensus.schwartz_set(matrix)
    for variant in ("mckelvey", "gillies"):
        assert uncovered_set(matrix, variant=variant) == naive_consensus.uncovered_set(matrix, variant)


@pytest.mark.parametrize("seed", range(6))
def test_larger_boards_have_the_same_schwartz_and_uncovered_sets_as_defined(seed):
    matrix = random_matrix(9, 4, seed=seed, kind="uniform", n_levels=4, missing=0.2)
    assert schwartz_set(matrix) == naive_consensus.schwartz_set(matrix)
    for variant in ("mckelvey", "gillies"):
        assert uncovered_set(matrix, variant=variant) == naive_consensus.uncovered_set(matrix, variant)


def test_a_draw_takes_a_system_out_of_the_schwartz_set_but_not_of_the_smith_set():
    # A draws with B and C, and C beats B: nobody beats A or C
    matrix = ScoreMatrix([[3, 1], [1, 2], [2, 3]])
    assert smith_set(matrix) == (0, 1, 2)
    assert schwartz_set(matrix) == (0, 2)


def test_the_two_uncovered_sets_differ_where_pairs_are_drawn():
    # A beats B, B beats C, and A and C draw: nobody beats A, but only B beats C
    matrix = ScoreMatrix([[2, 2, float("nan")], [1, 2, 2], [3, 1, 1]])
    assert uncovered_set(matrix, variant="gillies") == (0, 2)
    assert uncovered_set(matrix) == (0, 1, 2)


def test_an_unknown_variant_is_named():
    with pytest.raises(ValueError, match="`variant` is 'fishburn'; expected one of mckelvey, gillies"):
        uncovered_set(ScoreMatrix([[1.0]]), variant="fishburn")
