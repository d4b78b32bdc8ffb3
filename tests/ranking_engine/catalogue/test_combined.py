"""Rules made of others, against sorting by hand what their parts say."""

import math
from itertools import permutations

import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.catalogue.registry import get_rule, in_order, read_variants
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study

PARTS = ("plurality", "borda", "copeland", "mean", "minimax", "veto", "bradley_terry")


def board(seed, missing=0.0):
    return random_matrix(7, 4, seed=seed, n_levels=4, missing=missing, weights=[1, 2, 1, 1])


def ranks_from(order_of, n, unranked):
    """1, 2, 2, 4 from a comparison of any two systems."""
    ranked = [i for i in range(n) if i not in unranked]
    return [-1 if i in unranked else 1 + sum(order_of(j, i) < 0 for j in ranked) for i in range(n)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("first", "second"), [("plurality", "borda"), ("veto", "copeland"), ("minimax", "mean")])
def test_ties_of_the_first_rule_are_broken_by_the_second(seed, first, second):
    matrix = board(seed)
    one, two = rank(matrix, first).ranks, rank(matrix, second).ranks
    expected = ranks_from(lambda i, j: (one[i] - one[j]) or (two[i] - two[j]), 7, set())
    assert rank(matrix, f"{first}[then={second}]").ranks.tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_mixture_ranks_by_the_mean_rank_under_its_rules(seed):
    matrix = board(seed)
    every = [average_ranks(rank(matrix, rule).ranks) for rule in ("mean", "borda", "copeland")]
    mean = [sum(ranks[i] for ranks in every) / 3 for i in range(7)]
    expected = ranks_from(lambda i, j: 0 if math.isclose(mean[i], mean[j]) else mean[i] - mean[j], 7, set())
    ranking = rank(matrix, "mean[with=borda,copeland]")
    assert ranking.ranks.tolist() == expected
    assert ranking.scores.tolist() == pytest.approx([-value for value in mean])


def test_native_parts_rank_a_board_with_gaps_and_who_lacks_a_rank_in_one_part_has_none():
    matrix = ScoreMatrix([[3.0, 3.0, 2.0], [2.0, math.nan, 3.0], [1.0, 1.0, 1.0], [math.nan] * 3])
    one, two = rank(matrix, "copeland").ranks, rank(matrix, "win_rate").ranks
    assert rank(matrix, "copeland[then=win_rate]").ranks.tolist() == ranks_from(
        lambda i, j: (one[i] - one[j]) or (two[i] - two[j]), 4, {3}
    )
    ranking = rank(matrix, "copeland[with=mean]")  # the mean needs all scores: system 2 is dropped for both
    assert ranking.ranks.tolist() == [1, -1, 2, -1]
    assert ranking.unranked_reasons[1] == "no score on 1 of 3 tasks of weight above 0: t2"


def test_a_part_that_says_nothing_leaves_the_whole_undefined():
    ranking = rank(board(1), "borda[with=optimality_gap]")
    assert (ranking.status, ranking.reason.startswith("Optimality gap: ")) == ("undefined", True)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("borda[then=nothing]", "`rule` is 'nothing'"),
        ("borda[then=]", "`rule` is ''"),
        ("borda[then=borda]", "names a rule twice"),
        ("borda[then=mean,veto]", "ties are broken by one rule"),
        ("borda[with=condorcet]", "condorcet cannot be combined: it ranks no system"),
        ("positional[with=borda]", "positional cannot be combined: it needs options"),
        (f"borda[with={','.join(PARTS[2:])},plurality,median]", "has 8 rules; at most 6 are combined"),
        (f"borda[with={'a,' * 10**5}]", "rules; at most 6 are combined"),
    ],
)
def test_what_cannot_be_combined_is_refused(key, problem):
    with pytest.raises(ValueError, match=problem.replace("[", r"\[")):
        get_rule(key)


def test_a_combined_rule_has_a_name_of_its_own_and_comes_after_its_first_part():
    assert get_rule("plurality[then= borda]").key == "plurality[then=borda]"
    assert get_rule("plurality[then=borda]").name == "Plurality (ties by Borda)"
    assert get_rule("borda[with=copeland,mean]").name == "Borda (with Copeland, Mean)"
    assert in_order(["borda", "mean[with=borda]", "mean"]) == ["mean", "mean[with=borda]", "borda"]


@pytest.mark.parametrize("parts", list(permutations(["mean", "borda", "copeland"])))
def test_a_mixture_has_one_key_in_whatever_order_its_rules_are_written(parts):
    key = f"{parts[0]}[with={parts[1]}, {parts[2]}]"
    assert get_rule(key).key == "borda[with=copeland,mean]"
    assert read_variants([key, "mean[with=borda,copeland]"]) == ("borda[with=copeland,mean]",)


def test_a_study_runs_on_combined_rules():
    rules = ["plurality", "plurality[then=borda]", "borda[with=copeland]"]
    summary = run_study("task_subsets", board(2), {"rules": rules, "n_repeats": 5, "n_best": 5}).summary
    assert list(summary["rules"]) == rules


def test_ties_that_the_second_rule_leaves_stay():
    matrix = ScoreMatrix([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
    assert rank(matrix, "plurality[then=borda]").ranks.tolist() == [1, 1, 3]


@pytest.mark.parametrize("task", [" ", "\u3000", "a\x00b", "\ud800", "a\u202eb"])
def test_the_task_of_a_unit_has_a_name_that_can_be_stored(task):
    for read in (get_rule, lambda key: read_variants([key])):
        with pytest.raises(ValueError, match="the name of the task"):
            read(f"mean[unit={task}]")


@pytest.mark.parametrize(
    "key",
    ["mean[unit= a ]", "plurality[then= borda]", "mean[with=borda, copeland]", "copeland[variant=lower]"],
)
def test_the_key_that_is_stored_names_the_same_rule(key):
    (stored,) = read_variants([key])
    assert (get_rule(stored).key, get_rule(stored).name) == (stored, get_rule(key).name)
