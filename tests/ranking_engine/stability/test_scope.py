import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import checked_parameters, run_study
from ranking_engine.stability.scope import scoped


def test_the_first_systems_are_those_of_the_rule_named():
    matrix = random_matrix(9, 4, seed=2)
    for rule in ("mean", "borda", "copeland[variant=lower]"):
        ranks = rank(matrix, rule).ranks
        first = [name for name, place in zip(matrix.system_names, ranks.tolist(), strict=True) if 0 < place <= 4]
        assert list(scoped(matrix, {"first": 4, "first_by": rule}).system_names) == first


def test_a_study_of_the_first_systems_is_the_study_of_a_board_of_these():
    matrix = random_matrix(9, 4, seed=2)
    part = matrix.subset(systems=[i for i, place in enumerate(rank(matrix, "mean").ranks.tolist()) if place <= 5])
    own = {"rules": ["borda", "copeland"], "n_orders": 5}
    confined = run_study("system_additions", matrix, own | {"first": 5}, seed=4)
    assert confined.summary == run_study("system_additions", part, own, seed=4).summary


def test_a_copied_task_counts_twice():
    matrix = ScoreMatrix([[3, 1], [1, 2], [2, 3]], task_names=["a", "b"])
    copied = scoped(matrix, {"copied_tasks": ["a"]})
    assert copied.task_names == ("a", "b", "a (copy)")
    assert rank(copied, "mean").scores.tolist() == rank(matrix.with_weights([2, 1]), "mean").scores.tolist()


def test_copies_lower_the_share_of_tasks_that_gives_the_full_ranking():
    """Zhang and Hardt 2024, appendix C: tasks could be duplicated to reduce the ratio."""
    matrix = ScoreMatrix([[4, 4, 1], [3, 3, 2], [2, 2, 3], [1, 1, 4]])
    shares = [
        run_study("task_subsets", matrix, {"rules": ["mean"], **scope}).summary["rules"]["mean"]["smallest_share"]
        for scope in ({}, {"copied_tasks": ["t1", "t2"]})
    ]
    assert shares == [0.333333, 0.2]


def test_only_a_stated_scope_is_among_the_parameters():
    assert checked_parameters("diversity", {}) == {}
    assert checked_parameters("diversity", {"first": None, "first_by": "mean", "copied_tasks": []}) == {}
    assert checked_parameters("diversity", {"first": 3, "first_by": "borda"}) == {"first": 3, "first_by": "borda"}


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ({"first": 3, "first_by": "kemeny"}, "expected a rule that ranks fast"),
        ({"first": 3, "first_by": "condorcet"}, "expected a rule that ranks fast"),
        ({"first": 3, "first_by": "optimality_gap"}, "ranks no system here"),
        ({"copied_tasks": ["z"]}, "there is no such task"),
    ],
)
def test_a_scope_that_cannot_be_is_refused(scope, message):
    with pytest.raises(ValueError, match=message):
        scoped(random_matrix(5, 3, seed=1), scope)
