from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import (
    TIES,
    UNRANKED,
    ScoreMatrix,
    condorcet_loser,
    condorcet_winner,
    listed_rules,
    rank,
    rank_all,
    smith_set,
)

TOY = ScoreMatrix(
    # tasks 1 to 5, best first: ABCD, ACDB, BDCA, CBDA, DBCA
    [[4, 4, 1, 1, 1], [3, 1, 4, 3, 3], [2, 3, 2, 4, 2], [1, 2, 3, 2, 4]],
    system_names=["A", "B", "C", "D"],
)


@pytest.mark.parametrize(
    ("rule", "scores", "ranks"),
    [
        ("plurality", [2, 1, 1, 1], [1, 2, 2, 2]),
        ("borda", [6, 9, 8, 7], [4, 1, 2, 3]),
        ("copeland", [-3, 3, 1, -1], [4, 1, 2, 3]),
        ("minimax", [-3, 0, -3, -3], [2, 1, 2, 2]),
        ("mean", [2.2, 2.8, 2.6, 2.4], [4, 1, 2, 3]),
        ("median", [1, 3, 2, 2], [4, 1, 2, 2]),
        ("dowdall", [2.75, 2.75, 2.5, 1.75 + 2 / 3], [1, 1, 3, 4]),
        ("average_rank", [-2.8, -2.2, -2.4, -2.6], [4, 1, 2, 3]),
        ("veto", [-3, -1, 0, -1], [4, 2, 1, 2]),
        ("threshold", [-4, -2, -1, -3], [4, 2, 1, 3]),
        ("baldwin", [1, 4, 3, 2], [4, 1, 2, 3]),
        ("nanson", [1, 3, 2, 1], [3, 1, 2, 3]),
        ("instant_runoff", [2, 1, 1, 1], [1, 2, 2, 2]),
        ("coombs", [1, 3, 2, 2], [4, 1, 2, 2]),
    ],
)
def test_the_toy_leaderboard_has_the_known_scores(rule, scores, ranks):
    ranking = rank(TOY, rule)
    assert (ranking.status, ranking.scores.tolist(), ranking.ranks.tolist()) == ("ranked", scores, ranks)


def test_the_toy_leaderboard_has_a_condorcet_winner_whom_plurality_passes_over():
    ranking = rank(TOY, "condorcet")
    assert (ranking.status, ranking.winners) == ("winner_only", (1,))
    assert ranking.ranks.tolist() == [UNRANKED, 1, UNRANKED, UNRANKED]
    assert condorcet_winner(TOY) == 1
    assert condorcet_loser(TOY) == 0
    assert smith_set(TOY) == (1,)
    assert rank(TOY, "plurality").winners == (0,)


def test_rank_all_gives_every_rule_what_rank_gives_alone():
    for rule, ranking in rank_all(TOY).items():
        alone = rank(TOY, rule)
        np.testing.assert_array_equal(ranking.scores, alone.scores)
        assert ranking.ranks.tolist() == alone.ranks.tolist()


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("bordo", {}, "`rule` is 'bordo'; expected one of mean, geometric_mean, harmonic_mean"),
        ("borda", {"ties": "first"}, "`ties` is 'first'; expected one of worst, best, average"),
        ("copeland", {"ties": "first"}, "`ties` is 'first'"),
        ("copeland", {"variant": "uper"}, "`variant` is 'uper'; expected one of difference, lower_with_ties"),
        ("borda", {"variant": "upper"}, r"`variant` is no option of the rule borda \(options: none\)"),
        ("positional", {}, "`vector` is missing: the rule positional needs it"),
        ("positional", {"vector": ()}, r"`vector` is \(\); expected numbers that do not rise, such as 12,10,8"),
        ("positional", {"vector": (1, 2)}, r"`vector` is \(1, 2\); expected numbers that do not rise"),
        ("positional", {"vector": "12,ten"}, "`vector` is '12,ten'; expected numbers"),
        ("positional", {"vector": (float("nan"),)}, "`vector` is "),
        ("positional", {"vector": 12}, "`vector` is 12; expected numbers"),
    ],
)  # fmt: skip
def test_unknown_rules_ties_and_options_are_named(rule, options, message):
    with pytest.raises(ValueError, match=message):
        rank(TOY, rule, **options)


def test_rank_all_takes_some_rules_in_the_order_asked_for():
    assert list(rank_all(TOY, ["minimax", "mean"])) == ["minimax", "mean"]
    with pytest.raises(ValueError, match="`rule` is 'bordo'"):
        rank_all(TOY, ["bordo"])


SCALE = {"gamma": 5, "maximum": [5], "chance": [0]}


@pytest.mark.parametrize("ties", [None, *TIES])
def test_one_system_and_one_task_are_enough(ties):
    rankings = rank_all(ScoreMatrix([[3.0]], **SCALE), ties=ties)
    assert list(rankings) == listed_rules()
    for ranking in rankings.values():
        assert (ranking.ranks.tolist(), ranking.winners) == ([1], (0,))
        assert not (ranking.scores[0] == 0 and np.signbit(ranking.scores[0]))


@pytest.mark.parametrize("ties", [None, *TIES])
def test_systems_that_are_alike_win_together(ties):
    for rule, ranking in rank_all(ScoreMatrix([[3.0]] * 4, **SCALE), ties=ties).items():
        assert ranking.ranks.tolist() == ([1] * 4 if rule != "condorcet" else [UNRANKED] * 4)
        assert not (np.signbit(ranking.scores) & (ranking.scores == 0)).any()


def test_no_winner_says_how_large_the_smith_set_is():
    ranking = rank(ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3]]), "condorcet")
    assert (ranking.status, ranking.winners) == ("no_winner", ())
    assert ranking.reason == "no system beats every other (the Smith set has 3 systems)"


def test_the_mean_of_huge_scores_is_finite_and_exact():
    huge = 1.79769313486e308  # the greatest float, to 12 digits
    ranking = rank(ScoreMatrix([[huge, huge, huge], [-huge, huge, 0], [0.1, 0.2, -0.3]]), "mean")
    assert ranking.scores[0] == huge
    assert ranking.ranks[0] == 1


def test_the_mean_does_not_depend_on_the_order_of_tasks():
    values = np.array([[0.1, 0.2, -0.3], [-0.3, 0.1, 0.2], [0.2, -0.3, 0.1]])
    ranking = rank(ScoreMatrix(values), "mean")
    assert ranking.ranks.tolist() == [1, 1, 1]


@pytest.mark.parametrize("rule", ["normalized_mean", "optimality_gap"])
def test_a_rule_that_leaves_the_groups_to_the_mean_is_ranked_in_two_steps_alone_as_among_all(rule):
    matrix = ScoreMatrix(
        [[5, 5, 1], [4, 4, 2], [3, 1, 3]], groups=["a", "b", "b"], chance=[0, 0, 0], maximum=[10, 10, 5], gamma=9
    )
    alone = rank(matrix, rule, aggregation="two_step")
    assert alone.ranks.tolist() == rank_all(matrix, ["mean", rule], aggregation="two_step")[rule].ranks.tolist()
    assert alone.status == "ranked"
