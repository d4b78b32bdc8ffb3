from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import MISSING_POLICIES, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.core.missing import complete

NAN = float("nan")

# C lacks y, D has nothing; z is lower-is-better; w does not vote, and its gaps do not count
GAPPY = ScoreMatrix(
    [[1, 5, 9, NAN], [2, 6, 8, NAN], [3, NAN, 7, 1], [NAN, NAN, NAN, 1], [4, 8, NAN, NAN]],
    system_names=["A", "B", "C", "D", "E"],
    task_names=["x", "y", "z", "w"],
    directions=[1, 1, -1, 1],
    weights=[1, 1, 1, 0],
)


def test_undefined_says_how_many_scores_are_missing():
    ranking = rank(GAPPY, "borda", missing="undefined")
    assert (ranking.status, ranking.reason) == (
        "undefined",
        "2 missing scores (2 of 4 systems lack at least one)",
    )


def test_drop_systems_leaves_them_unranked_and_says_what_they_lack():
    ranking = rank(GAPPY, "mean", missing="drop_systems")
    assert ranking.ranks.tolist() == [2, 1, -1, -1, -1]
    assert ranking.unranked_reasons == {
        2: "no score on 1 of 3 voting tasks: y",
        3: "no score on any voting task",
        4: "no score on 1 of 3 voting tasks: z",
    }


def test_drop_tasks_says_which():
    ranking = rank(GAPPY, "mean", missing="drop_tasks")
    assert ranking.ranks.tolist() == [4, 3, 2, -1, 1]
    assert ranking.details == {"dropped_tasks": ["y", "z"]}


@pytest.mark.parametrize(("policy", "imputed"), [("median", [6, 8]), ("worst", [5, 9])])
def test_imputation_looks_at_oriented_scores(policy, imputed):
    part = complete(GAPPY, policy)
    assert part.systems.tolist() == [0, 1, 2, 4]
    np.testing.assert_array_equal(part.matrix.values, [[1, 5, 9], [2, 6, 8], [3, imputed[0], 7], [4, 8, imputed[1]]])
    assert part.details == {"n_imputed": 2}
    assert part.unranked_reasons == {3: "no score on any voting task"}


def test_the_median_of_an_even_number_is_the_midpoint():
    part = complete(ScoreMatrix([[1.0, 1], [4.0, 1], [NAN, 1]]), "median")
    assert part.matrix.values[2, 0] == 2.5


def test_a_task_without_any_score_cannot_be_imputed_and_is_dropped():
    part = complete(ScoreMatrix([[1, NAN, NAN], [2, NAN, 3]]), "worst")
    np.testing.assert_array_equal(part.matrix.values, [[1, 3], [2, 3]])
    assert part.details == {"n_imputed": 1, "dropped_tasks": ["t2"]}


def test_a_task_without_any_score_is_named_where_it_leaves_nobody_complete():
    reason = rank(ScoreMatrix([[1, NAN], [2, NAN]]), "mean").reason
    assert reason == "no system has a score on every voting task (no system has a score on t2)"


def test_long_lists_of_tasks_are_cut():
    values = np.ones((2, 9))
    values[1, :5] = NAN
    reasons = rank(ScoreMatrix(values), "mean").unranked_reasons
    assert reasons == {1: "no score on 5 of 9 voting tasks: t1, t2, t3 and 2 more"}


def test_drop_tasks_may_leave_none():
    ranking = rank(ScoreMatrix([[1, NAN], [NAN, 2]]), "mean", missing="drop_tasks")
    assert (ranking.status, ranking.reason) == ("undefined", "no voting task has a score of every system")


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (ScoreMatrix([[NAN], [NAN]]), "no system has a score on a voting task"),
        (ScoreMatrix([[1.0]], directions=[0]), "no task votes"),
    ],
)
def test_where_nothing_votes_every_rule_is_undefined(matrix, reason):
    for ranking in rank_all(matrix).values():
        assert (ranking.status, ranking.reason) == ("undefined", reason)
        assert set(ranking.unranked_reasons.values()) == {reason}


@pytest.mark.parametrize("policy", list(MISSING_POLICIES))
def test_native_rules_ignore_the_policy_and_the_unscored_are_nobodys_rivals(policy):
    for rule in ("copeland", "minimax"):
        ranking = rank(GAPPY, rule, missing=policy)
        assert ranking.unranked_reasons == {3: "no score on any voting task"}
        assert ranking.scores[:3].tolist() == rank(GAPPY.subset([0, 1, 2, 4]), rule).scores[:3].tolist()


@pytest.mark.parametrize("policy", list(MISSING_POLICIES))
def test_every_policy_leaves_a_complete_matrix_alone(policy):
    scale = {"gamma": 5, "maximum": [5, 5], "chance": [0, 0]}
    matrix = ScoreMatrix([[1.0, NAN], [2.0, 1.0]], weights=[1, 0], **scale)
    for rule in listed_rules():
        ranking = rank(matrix, rule, missing=policy)
        assert ranking.winners == (1,)
        assert "n_imputed" not in ranking.details


def test_an_unknown_policy_is_named():
    with pytest.raises(ValueError, match="`missing` is 'guess'; expected one of undefined, drop_systems, drop_tasks"):
        rank(GAPPY, "copeland", missing="guess")
