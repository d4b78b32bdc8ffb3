"""Figures in words."""

import math

import numpy as np
import pytest

from leaderboard.common.text import (
    as_sentence,
    depends_on_names,
    direction_question,
    figure_text,
    figure_texts,
    in_words,
    percent,
    ranking_remark,
    shortened,
    signed,
    with_system_names,
    with_task_count,
    with_task_names,
)
from ranking_engine import Ranking


@pytest.mark.parametrize(
    ("names", "total", "text"),
    [
        ([], None, ""),
        (["A"], None, "A"),
        (["A", "B"], None, "A and B"),
        (["A", "B", "C"], None, "A, B and C"),
        (["A", "B", "C", "D"], None, "A, B, C and 1 more"),
        (["A", "B", "C", "D"], 30, "A, B, C and 27 more"),
        (["A"], 2, "A and 1 more"),
    ],
)
def test_names_in_words(names, total, text):
    assert in_words(names, total=total) == text


def test_a_list_of_task_keys_becomes_one_of_names_and_nothing_else_changes():
    names = {"mnli-m": "MNLI (matched)", "no": "Norwegian"}
    assert with_task_names("no score on 2 of 9 tasks of weight above 0: mnli-m, qqp and 3 more", names) == (
        "no score on 2 of 9 tasks of weight above 0: MNLI (matched), qqp and 3 more"
    )
    assert with_task_names("tasks mnli-m, no and 3 more have no stated chance level", names) == (
        "tasks MNLI (matched), Norwegian and 3 more have no stated chance level"
    )
    assert with_task_names("task mnli-m has scores <= 0", names) == "task MNLI (matched) has scores <= 0"
    assert with_task_names("no system beats every other", names) == "no system beats every other"


def test_tasks_whose_names_say_that_less_is_better_are_asked_about_by_name():
    assert direction_question([]) == ""
    assert direction_question([("Latency (ms)", "Latency")]) == (
        "“Latency (ms)” is set to “higher is better”, but its name contains “latency”. Is lower better?"
    )
    assert direction_question([("Cost", "Cost"), ("Loss", "Loss")]) == (
        "“Cost” and “Loss” are set to “higher is better”, but their names contain “cost” and “loss”. Is lower better?"
    )


def test_a_reason_becomes_a_sentence_and_a_long_name_a_short_one():
    assert [as_sentence(""), as_sentence("no task has an order and a weight above 0"), as_sentence("Why?")] == [
        "",
        "No task has an order and a weight above 0.",
        "Why?",
    ]
    assert [shortened("T5"), shortened("x" * 61)] == ["T5", "x" * 59 + "…"]


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({}, ""),
        (
            {"proven": True, "distance": 202.0, "lower_bound": 202.0, "unique": True},
            "Proven optimal: no order disagrees less with the tasks (distance 202).",
        ),
        (
            {"proven": False, "distance": 12.5, "lower_bound": 11.0, "unique": None},
            (
                "The best order found, not proven optimal: "
                "its distance to the tasks is 12.5, and no order has one below 11."
            ),
        ),
        (
            {"unique": False, "proven": True, "distance": 3.0, "lower_bound": 3.0, "pairs_without_common_task": 1},
            (
                "Proven optimal: no order disagrees less with the tasks (distance 3). Other orders are equally good. "
                "1 pair of systems shares no task and counts as equal."
            ),
        ),
        (
            {"proven": True, "distance": 202.0, "lower_bound": 202.0, "unique": None},
            (
                "Proven optimal: no order disagrees less with the tasks (distance 202). "
                "It is not known whether other orders are equally good."
            ),
        ),
        (
            {"decided_by_name": True},
            (
                "Victories of equal strength were taken in the order of the systems’ names, which decided the result: "
                "the order shown is one of several."
            ),
        ),
        (
            {"decided_by_name": True, "winners_complete": False},
            (
                "Victories of equal strength were taken in the order of the systems’ names, which decided the result: "
                "the order shown is one of several. The search for all winners was stopped early, so there may be more."
            ),
        ),
        (
            {"is_stationary": False, "steps": 3333},
            (
                "The descent was ended after 3,333 steps, before the loss had stopped falling: systems with ratings "
                "close together can be in the wrong order."
            ),
        ),
        ({"is_stationary": True, "steps": 90}, ""),
    ],
)
def test_what_must_be_known_beside_the_ranks_is_said(details, text):
    assert ranking_remark(Ranking.from_scores("kemeny", np.array([2.0, 1.0]), details=details)) == text


@pytest.mark.parametrize(
    ("rule", "winners", "text"),
    [
        ("schulze", (0,), ""),
        (
            "schulze",
            (0, 1),
            (
                "1 winner is below rank 1: a system that no other beats along paths wins, and the score counts how "
                "many each beats."
            ),
        ),
        (
            "ranked_pairs",
            (0, 1, 2),
            "2 winners are below rank 1: another order of victories of equal strength makes it first.",
        ),
        ("kemeny", (0, 2), "1 winner is below rank 1: another order, equally near to the tasks, makes it first."),
    ],
)
def test_winners_below_the_first_rank_are_counted_and_told_why(rule, winners, text):
    assert ranking_remark(Ranking.from_scores(rule, np.array([3.0, 2.0, 1.0]), stated_winners=winners)) == text


@pytest.mark.parametrize(("reason", "expected"), [
    ("tasks mnli-m, no and 3 more have no stated chance level", "5 tasks have no stated chance level"),
    ("tasks up, down have no stated chance level or best score", "2 tasks have no stated chance level or best score"),
    ("no score on 2 of 9 tasks of weight above 0: mnli-m, qqp", "no score on 2 of 9 tasks of weight above 0"),
    ("no score on 5 of 9 tasks of weight above 0: a-b, qqp and 3 more", "no score on 5 of 9 tasks of weight above 0"),
    ("task mnli-m has scores <= 0", "task mnli-m has scores <= 0"),
    ("no system beats every other", "no system beats every other"),
])  # fmt: skip
def test_a_list_of_tasks_is_counted_where_names_would_fill_a_cell(reason, expected):
    assert with_task_count(reason) == expected


@pytest.mark.parametrize(
    ("rule", "details", "depends"),
    [
        ("kemeny", {"proven": True, "distance": 1.0, "lower_bound": 1.0, "unique": True}, False),
        ("kemeny", {"proven": True, "distance": 1.0, "lower_bound": 1.0, "unique": False}, True),
        ("kemeny", {"proven": True, "distance": 1.0, "lower_bound": 1.0, "unique": None}, True),
        ("kemeny", {"proven": False, "distance": 2.0, "lower_bound": 1.0, "unique": None}, True),
        ("ranked_pairs", {"decided_by_name": True}, True),
        ("ranked_pairs", {"decided_by_name": False}, False),
        ("borda", {}, False),
    ],
)
def test_it_is_known_whether_the_order_of_names_may_have_decided(rule, details, depends):
    remark = ranking_remark(Ranking.from_scores(rule, np.array([2.0, 1.0]), details=details))
    assert depends_on_names(rule, remark) is depends


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (None, 3, "none"),
        (0.0, 3, "0 %"),
        (0.24531, 3, "24.5 %"),
        (0.24531, 2, "25 %"),
        (0.0853, 2, "8.5 %"),
        (0.996, 2, "100 %"),
        (1.0, 3, "100 %"),
    ],
)
def test_shares_are_percentages_of_few_digits(share, digits, text):
    assert percent(share, digits) == text


@pytest.mark.parametrize(
    ("listed", "named"),
    [
        ("(gpt-4; t5, bert)", "(GPT-4, large; T5, BERT)"),
        ("(gpt-4, t5, bert and 2 more; t5; 2; ...)", "(GPT-4, large, T5, BERT and 2 more; T5; Two; ...)"),
    ],
)
def test_a_reason_that_lists_groups_of_systems_has_their_names(listed, named):
    names = {"gpt-4": "GPT-4, large", "t5": "T5", "bert": "BERT", "2": "Two", "more": "No one", "and": "No one"}
    start = "group g: no finite strengths: 3 groups of systems have not both won and lost against each other "
    assert with_system_names(f"{start}{listed}; a prior would give some", names) == (
        f"{start}{named}; a prior would give some"
    )
    assert with_system_names("no finite strengths (t5)", names) == "no finite strengths (t5)"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([6.8692, 4.34, 0.93264, -3.7091], ["6.8692", "4.3400", "0.9326", "−3.7091"]),
        ([90.4, 90.38, math.nan], ["90.40", "90.38", ""]),
        ([5 / 6, 0.5, 3**0.5], ["0.8333", "0.5000", "1.7321"]),
        ([12.0, 9.0], ["12", "9"]),
        ([100.2, 0.09123, -0.0001], ["100.200", "0.091", "0.000"]),  # a small one gives a large one few decimals more
        ([2.5, 0.00001], ["2.5", "1e−05"]),  # no decimals show both
        ([], []),
    ],
)
def test_figures_below_each_other_have_as_many_decimals(values, texts):
    assert figure_texts(values) == texts


@pytest.mark.parametrize(
    ("value", "n_decimals", "text"),
    [
        (0.504, 2, "0.50"),
        (-0.504, 2, "−0.50"),
        (-0.001, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (-1.0, 3, "−1.000"),
        (np.float64(-0.0004), 3, "0.000"),
        (math.nan, 2, "–"),
    ],
)
def test_a_signed_figure_has_a_real_minus_sign_and_none_where_it_is_rounded_to_0(value, n_decimals, text):
    assert signed(value, n_decimals) == text


def test_a_signed_figure_that_is_undefined_says_what_its_page_says():
    assert signed(math.nan, undefined="undefined") == "undefined"


def test_no_figure_is_minus_0():
    assert figure_text(-0.0) == "0"
