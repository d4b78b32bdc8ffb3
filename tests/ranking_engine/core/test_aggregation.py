from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import AGGREGATIONS, MISSING_POLICIES, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.core.aggregation import VotingGroup, reweighted, voting_groups
from ranking_engine.core.missing import complete
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_matrix

NAN = float("nan")
GROUPED = ScoreMatrix(
    # tasks a1, a2, a3 (unordered) of group a, weight 3; b1, b2 of group b, weight 1/2; c alone
    [[4, 1, 0, 3, 1, 2], [3, 2, 0, 1, 2, 3], [2, 3, 0, 2, 3, 1]],
    task_names=["a1", "a2", "a3", "b1", "b2", "c"],
    directions=[1, 1, 0, 1, 1, 1],
    weights=[1, 3, 7, 2, 2, 5],
    groups=["a", "a", "a", "b", "b", None],
    group_weights={"a": 3, "b": "1/2"},
)


def test_groups_hold_voting_tasks_and_a_task_without_a_group_is_one_by_itself():
    assert voting_groups(GROUPED) == [
        VotingGroup("group a", (0, 1), Fraction(3), is_single=False),
        VotingGroup("group b", (3, 4), Fraction(1, 2), is_single=False),
        VotingGroup("c", (5,), Fraction(5), is_single=True),
    ]


@pytest.mark.parametrize(
    ("aggregation", "weights"),
    [
        ("basic", [1, 3, 7, 2, 2, 5]),
        ("weighted", [Fraction(3, 2), Fraction(9, 2), 7, Fraction(1, 2), Fraction(1, 2), 5]),
        ("balanced", [Fraction(3, 4), Fraction(9, 4), 7, Fraction(1, 4), Fraction(1, 4), 5]),
    ],
)
def test_weights_of_voting_tasks_are_exact_fractions(aggregation, weights):
    assert list(reweighted(GROUPED, aggregation).weights) == weights


def test_balanced_groups_count_exactly_their_weight():
    balanced = reweighted(GROUPED, "balanced")
    for group in voting_groups(balanced):
        assert sum(balanced.weights[t] for t in group.tasks) == group.weight


def test_the_case_study_of_votenrank_has_its_weights():
    weights = set(reweighted(reference_matrix("votenrank-cs4"), "weighted").weights)
    assert weights == {Fraction(1, 13), Fraction(1, 26), Fraction(1, 5), Fraction(1, 40)}


def test_two_steps_rank_the_rule_scores_of_each_group():
    # Borda: group a 2 0 + 1 1 + 0 2 with weights 1, 3; group b 2 0 + 0 1 + 1 2 with weight 2; c alone, weight 5
    by_group = ScoreMatrix([[2, 4, 5], [4, 2, 10], [6, 6, 0]], weights=[3, "1/2", 5])
    ranking, expected = rank(GROUPED, "borda", aggregation="two_step"), rank(by_group, "borda")
    assert (ranking.rule, ranking.scores.tolist()) == ("borda", expected.scores.tolist())
    assert ranking.scores.tolist() == [5.5, 13, 7]


OF_POSITIVE_SCORES = {"geometric_mean", "harmonic_mean"}


def has_no_mean(part, missing):
    """The systems that have a score of 0 or below once the policy has filled or left out what is missing."""
    completed = complete(part, missing)
    if completed.matrix is None or (completed.matrix.directions < 0).any():
        return set()
    return {int(i) for i, row in zip(completed.systems, completed.matrix.scores, strict=True) if (row <= 0).any()}


def naive_two_step(matrix, rule, missing):
    """The scores of each group's own leaderboard as a matrix; its ranking under the rule."""
    columns, weights, without_mean = [], [], set()
    for group in voting_groups(matrix):
        if group.weight:
            part = matrix.subset(tasks=group.tasks)
            ranking = rank(part, rule, missing=missing)
            if rule in OF_POSITIVE_SCORES:
                without_mean |= has_no_mean(part, missing)
            if rule in OF_POSITIVE_SCORES and ranking.status != "ranked" and has_no_mean(part, missing):
                columns.append([np.nan] * matrix.n_systems)
                weights.append(group.weight)
                continue
            if ranking.status != "ranked" and not np.isnan(matrix.scores[:, group.tasks]).all():
                return None
            best = {place: ranking.scores[ranking.ranks == place].max() for place in set(ranking.ranks.tolist())}
            if rule == "relative_difference" and (ranking.scores <= 0).any():
                return None
            columns.append([best[place] if place > 0 else np.nan for place in ranking.ranks.tolist()])
            weights.append(group.weight)
    if not columns:
        return None
    values = np.transpose(columns)
    values[sorted(without_mean)] = np.nan
    by_group = ScoreMatrix(values, weights=weights)
    return rank(by_group, "mean" if rule in {"optimality_gap", "normalized_mean"} else rule, missing=missing)


@settings(max_examples=20, deadline=None)
@given(matrices(groups=True, scales=True), st.sampled_from(list(MISSING_POLICIES)))
def test_every_rule_in_two_steps_is_as_defined(matrix, missing):
    for rule, ranking in rank_all(matrix, aggregation="two_step", missing=missing).items():
        expected = None if rule == "condorcet" else naive_two_step(matrix, rule, missing)
        if expected is None or expected.status == "undefined":
            assert (ranking.status, ranking.winners) == ("undefined", ())
            assert ranking.reason
        else:
            assert (ranking.status, ranking.ranks.tolist()) == ("ranked", expected.ranks.tolist())
            np.testing.assert_array_equal(ranking.scores, expected.scores)


@settings(max_examples=20, deadline=None)
@given(matrices(groups=True, scales=True), st.sampled_from(["weighted", "balanced"]))
def test_every_rule_on_other_weights_is_the_rule_on_the_matrix_with_those_weights(matrix, aggregation):
    expected = rank_all(reweighted(matrix, aggregation))
    for rule, ranking in rank_all(matrix, aggregation=aggregation).items():
        assert ranking.ranks.tolist() == expected[rule].ranks.tolist()


def test_without_groups_one_step_or_weights_of_groups_change_nothing():
    matrix = ScoreMatrix([[1, 2], [2, 1], [0, 0]], weights=[1, 3])
    for rule, ranking in rank_all(matrix).items():
        for aggregation in ("weighted", "balanced"):
            assert rank(matrix, rule, aggregation=aggregation).ranks.tolist() == ranking.ranks.tolist()


def undefined_reason(matrix, rule, **options):
    ranking = rank(matrix, rule, aggregation="two_step", **options)
    assert (ranking.status, ranking.winners) == ("undefined", ())
    return ranking.reason


def test_rules_without_a_second_step_say_why():
    assert undefined_reason(GROUPED, "condorcet").startswith("the rule names one winner and ranks no other system")
    assert undefined_reason(GROUPED, "optimality_gap").startswith("group a: no optimality threshold")
    zeros = ScoreMatrix([[1.0, 1.0, 0.0]], groups=["a", "a", "b"], task_names=["x", "y", "z"])
    assert undefined_reason(zeros, "geometric_mean") == "group b: task z has scores <= 0"
    silent = ScoreMatrix([[1.0, 2.0]], groups=["a", "a"], group_weights={"a": 0})
    assert (
        undefined_reason(silent, "borda") == "no group of weight above 0 has a task with an order and a weight above 0"
    )


@pytest.mark.parametrize("missing", list(MISSING_POLICIES))
@pytest.mark.parametrize("rule", sorted(OF_POSITIVE_SCORES))
def test_a_zero_takes_a_mean_of_positive_scores_from_its_system_alone(rule, missing):
    names, groups = ["x", "y", "z"], ["a", "a", "b"]
    matrix = ScoreMatrix([[1, 2, 3], [3, 0, 1], [3, 1, 2]], task_names=names, groups=groups)
    ranking = rank(matrix, rule, missing=missing, aggregation="two_step")
    assert ranking.unranked_reasons == {1: "group a: a score <= 0 on 1 of 2 tasks of weight above 0: y"}
    without = rank(matrix.subset([0, 2]), rule, missing=missing, aggregation="two_step")
    assert (without.status, ranking.status) == ("ranked", "ranked")
    assert ranking.scores[[0, 2]].tolist() == without.scores.tolist()
    assert ranking.ranks.tolist() == [without.ranks[0], -1, without.ranks[1]]


@pytest.mark.parametrize("missing", ["drop_tasks", "median", "worst"])
def test_a_zero_of_the_only_system_in_a_group_leaves_the_others_their_ranks(missing):
    matrix = ScoreMatrix([[1, 2, NAN], [2, 1, 0], [3, 1, NAN]], task_names=["x", "y", "z"], groups=["a", "a", "b"])
    ranking = rank(matrix, "geometric_mean", missing=missing, aggregation="two_step")
    assert (ranking.status, ranking.ranks.tolist()) == ("ranked", [2, -1, 1])
    assert ranking.unranked_reasons == {1: "group b: a score <= 0 on 1 of 1 tasks of weight above 0: z"}


def test_where_every_system_has_a_zero_in_some_group_no_one_is_ranked():
    matrix = ScoreMatrix([[0, 2], [1, 0]], task_names=["x", "y"], groups=["a", "b"])
    assert undefined_reason(matrix, "geometric_mean") == "no system has a rank in every group of tasks"


def test_a_group_of_weight_zero_cannot_make_a_rule_undefined():
    matrix = ScoreMatrix([[1.0, 0.0], [2.0, 0.0]], groups=["a", "b"], group_weights={"b": 0})
    assert rank(matrix, "geometric_mean", aggregation="two_step").scores.tolist() == [1, 2]


def test_a_system_without_a_score_in_a_group_is_unranked_there_by_rules_that_need_all():
    values = [[1, np.nan, np.nan], [2, 3, 1], [3, 1, np.nan]]
    matrix = ScoreMatrix(values, groups=["a", "b", "b"], task_names=["x", "y", "z"])
    borda = rank(matrix, "borda", aggregation="two_step")
    assert borda.ranks.tolist() == [-1, 1, -1]
    assert borda.unranked_reasons == {
        0: "group b: no score on any task of weight above 0",
        2: "group b: no score on 1 of 2 tasks of weight above 0: z",
    }
    assert rank(matrix, "copeland", aggregation="two_step").ranks.tolist() == [3, 1, 1]


def test_a_task_may_be_called_like_a_group():
    matrix = ScoreMatrix([[1.0, 2.0]], groups=["a", None], task_names=["x", "group a"])
    assert rank(matrix, "borda", aggregation="two_step").winners == (0,)


@pytest.mark.parametrize("order", [["a", "group g", "group g (2)"], ["a", "group g (2)", "group g", "group g (3)"]])
def test_tasks_may_be_called_like_a_numbered_group(order):
    groups = ["g", *[None] * (len(order) - 1)]
    matrix = ScoreMatrix([range(len(order), 0, -1), [1] * len(order)], groups=groups, task_names=order)
    assert rank(matrix, "borda", aggregation="two_step").winners == (0,)


def test_groups_that_leave_no_weight_and_unknown_aggregations_are_told():
    silent = ScoreMatrix([[1.0, 2.0]], groups=["a", "a"], group_weights={"a": 0})
    with pytest.raises(ValueError, match="`group_weights` leave no task a positive weight"):
        rank(silent, "borda", aggregation="balanced")
    with pytest.raises(ValueError, match="`aggregation` is 'sum'; expected one of basic, weighted, balanced"):
        rank(GROUPED, "borda", aggregation="sum")


def test_aggregations_are_one_sentence_each():
    assert all(text.endswith(".") and text.count(".") == 1 for text in AGGREGATIONS.values())


def test_every_rule_gives_a_ranking_or_a_reason_under_every_aggregation():
    for aggregation in AGGREGATIONS:
        rankings = rank_all(GROUPED, aggregation=aggregation)
        assert list(rankings) == listed_rules()
        assert all(ranking.n_ranked or ranking.reason for ranking in rankings.values())


@pytest.mark.parametrize("names", [["x", "y"], ["y", "x"]])
def test_two_steps_claim_no_single_order_where_the_first_step_chose_among_equals(names):
    matrix = ScoreMatrix([[1, 2], [2, 1]], groups=["a", "a"], system_names=names)
    ranking = rank(matrix, "kemeny", aggregation="two_step")
    assert (ranking.winners, ranking.details["unique"], ranking.details["winners_complete"]) == ((0, 1), False, True)
    two = ScoreMatrix([[1, 2, 1], [2, 1, 1]], groups=["a", "a", "b"], system_names=names)
    ranking = rank(two, "kemeny", aggregation="two_step")
    assert (ranking.details["unique"], ranking.details["winners_complete"]) == (False, False)


def test_two_steps_tell_what_the_first_one_did():
    cycle = ScoreMatrix([[3, 2, 1], [1, 3, 2], [2, 1, 3]], groups=["a"] * 3)
    one_group = rank(cycle, "ranked_pairs", aggregation="two_step")
    assert (one_group.details["decided_by_name"], one_group.details["winners_complete"]) == (True, True)
    assert one_group.winners == rank(cycle, "ranked_pairs").winners == (0, 1, 2)
    two_groups = ScoreMatrix([[3, 2, 1, 1], [1, 3, 2, 1], [2, 1, 3, 1]], groups=["a", "a", "a", "b"])
    ranking = rank(two_groups, "ranked_pairs", aggregation="two_step")
    assert (ranking.details["decided_by_name"], ranking.details["winners_complete"]) == (True, False)
    gaps = ScoreMatrix([[1, NAN, 3], [2, 1, 2], [3, 2, 1]], groups=["a", "a", None])
    assert rank(gaps, "borda", missing="median", aggregation="two_step").details["n_imputed"] == 1
    dropped = rank(gaps, "borda", missing="drop_tasks", aggregation="two_step").details
    assert dropped["dropped_tasks"] == ["t2"]
    apart = ScoreMatrix([[1, NAN], [NAN, 1], [3, 2], [4, 5]], groups=["a", "a"])
    for rule in ("copeland", "win_rate", "minimax"):
        assert rank(apart, rule, aggregation="two_step").details["pairs_without_common_task"] == 1


def test_where_nobody_is_ranked_in_every_group_two_steps_say_so():
    matrix = ScoreMatrix([[1, 2, NAN], [NAN, NAN, 1], [2, 1, NAN]], groups=["a", "a", "b"])
    ranking = rank(matrix, "borda", aggregation="two_step")
    assert ranking.reason.startswith("no system has a rank in every group of tasks")
