from __future__ import annotations

from hypothesis import given, settings

from ranking_engine import (
    Pairwise,
    ScoreMatrix,
    condorcet_loser,
    condorcet_winner,
    smith_set,
    weak_condorcet_winners,
)
from tests.ranking_engine import naive
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
