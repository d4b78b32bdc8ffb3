"""What pages say of rank intervals, against the engine's own figures for the same table."""

import re
from dataclasses import replace

import numpy as np
import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from leaderboard.rankings.confidence.intervals import possibly_best_text
from leaderboard.rankings.published import published_board
from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.stability.bootstrap import rank_intervals
from tests.factories import Factory

NAMES = [f"S{i}" for i in range(6)]
SCORES = np.random.default_rng(8).normal(size=(6, 10)).round(2) + np.array([2.0, 1.6, 0.0, 0.0, -1.0, -3.0])[:, None]
TABLE = {name: row.tolist() for name, row in zip(NAMES, SCORES, strict=True)}


@pytest.fixture(scope="module")
def factory(django_db_setup, django_db_blocker):
    """Makes benchmarks in a transaction that is rolled back after the last test: studies of a table take a second."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield Factory()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def benchmark(factory):
    return factory.publish(factory.benchmark(TABLE), studies=True)


@pytest.fixture(scope="module")
def intervals():
    matrix = ScoreMatrix(SCORES, system_names=NAMES)
    return rank_intervals(matrix, ("borda", "mean"), n_resamples=4000, simultaneous=True)


def interval_text(low, high):
    return str(low) if low == high else f"{low}–{high}"


def board_of(benchmark, query=""):
    return Client().get(reverse("board", args=[benchmark.key]) + query)


def intervals_on(response, rule):
    board = response.context["board"]
    k = next(k for k, column in enumerate(board.columns) if column["key"] == rule)
    return {row.name: row.cells[k].interval_text for row in board.rows}


def test_the_board_says_whose_intervals_they_are_and_what_is_drawn(benchmark, intervals):
    response = board_of(benchmark)
    text = re.sub(r"\s+", " ", response.content.decode())
    first = int(np.flatnonzero(rank(ScoreMatrix(SCORES), "borda").ranks == 1)[0])
    assert f"Rank {interval_text(intervals.lower['borda'][first], intervals.upper['borda'][first])}" in re.sub(
        "<[^>]+>", "", text
    )
    assert (
        "Under Borda: the 95 % interval if the same tasks were drawn again with replacement; for each system "
        "separately." in text
    )
    assert "other tasks" not in text


def test_a_switch_shows_the_intervals_of_all_systems_at_once(benchmark, intervals):
    alone, together = (board_of(benchmark, query) for query in ("?scores=1", "?scores=1&simultaneous=1"))
    ends = intervals.simultaneous["borda"]
    assert intervals_on(alone, "borda") == {
        name: interval_text(*pair)
        for name, *pair in zip(NAMES, intervals.lower["borda"], intervals.upper["borda"], strict=True)
    }
    assert intervals_on(together, "borda") == {
        name: interval_text(*pair) for name, *pair in zip(NAMES, ends.lower, ends.upper, strict=True)
    }
    assert intervals_on(alone, "borda") != intervals_on(together, "borda")
    path = reverse("board", args=[benchmark.key])
    assert alone.context["board"].simultaneous_url == f"{path}?scores=1&simultaneous=1"
    assert together.context["board"].simultaneous_url == f"{path}?scores=1"
    text = "for all systems at once: if the same 10 tasks were drawn again with replacement"
    assert text in together.content.decode()


def best_names(intervals, rule):
    ranks = rank(ScoreMatrix(SCORES), rule).ranks
    best = [i for i in range(6) if intervals.simultaneous[rule].possibly_best[i]]
    return [NAMES[i] for i in sorted(best, key=lambda i: (ranks[i], NAMES[i]))]


def test_the_possibly_best_are_named_on_the_board_and_the_stability_page(benchmark, intervals):
    names = best_names(intervals, "borda")
    assert 1 < len(names) <= 5
    sentence = (
        f"{len(names)} of 6 systems are possibly best (95 % confidence): {', '.join(names[:-1])} and {names[-1]}. "
        f"By resampling the tasks, each of the other {6 - len(names)} is behind another system."
    )
    assert sentence in board_of(benchmark).content.decode()
    assert sentence in Client().get(reverse("stability", args=[benchmark.key])).content.decode()


@pytest.mark.parametrize(
    ("every_pair", "remark"),
    [
        ({"n_separable": 1, "verdict": "some"}, ""),
        (
            {"n_separable": 0, "verdict": "none"},
            " Sign-flip tests of all pairs at once confirm none of these differences.",
        ),
        (
            {"n_separable": 0, "verdict": "too_few_tasks"},
            " Sign-flip tests of all pairs at once confirm none of these differences. With so few tasks they cannot.",
        ),
    ],
)
def test_the_possibly_best_say_whether_tests_confirm_it(benchmark, every_pair, remark):
    column = next(one for one in published_board(benchmark.publication).columns if one.rule == "borda")
    tests = {"rules": {"borda": {"tested": "contributions", "every_pair": every_pair}}}
    without = possibly_best_text(column, NAMES, None, 0.95)
    assert without
    assert possibly_best_text(column, NAMES, tests, 0.95) == without + remark
    every = replace(column, possibly_best=np.ones(6, dtype=bool))
    text = "All 6 systems are possibly best (90 % confidence): by resampling the tasks, none is behind another."
    assert possibly_best_text(every, NAMES, tests, 0.9) == text
    only = replace(column, possibly_best=column.ranks == 1)
    text = "Only S1 is possibly best (95 % confidence): by resampling the tasks, all others are behind it."
    assert possibly_best_text(only, NAMES, tests, 0.95) == text + remark


def test_the_stability_page_has_both_intervals_of_the_marked_rule(benchmark, intervals):
    for rule in ("borda", "mean"):
        response = Client().get(f"{reverse('stability', args=[benchmark.key])}?rule={rule}")
        section, ends = response.context["intervals"], intervals.simultaneous[rule]
        assert f"Rank intervals under {RULES[rule].name}" in response.content.decode()
        assert {row.name: (row.interval_text, row.simultaneous_text, row.is_possibly_best) for row in section.rows} == {
            name: (
                interval_text(intervals.lower[rule][i], intervals.upper[rule][i]),
                interval_text(ends.lower[i], ends.upper[i]),
                bool(ends.possibly_best[i]),
            )
            for i, name in enumerate(NAMES)
        }
        assert [row.rank for row in section.rows] == sorted(row.rank for row in section.rows)


def test_the_pages_tell_how_far_other_draws_would_move_an_end(benchmark, intervals):
    largest = int(intervals.errors["borda"].max())
    by = {0: "", 1: " by more than 1 rank"}.get(largest, f" by more than {largest} ranks")
    text = Client().get(reverse("rule", args=[benchmark.key, "borda"])).content.decode()
    assert f"Repeating the draws would rarely move an end{by} under Borda." in text


def test_seven_tasks_have_no_intervals_and_pages_say_why(factory):
    table = {name: row[:7] for name, row in TABLE.items()}
    benchmark = factory.publish(factory.benchmark(table), studies=True)
    text = Client().get(reverse("stability", args=[benchmark.key])).content.decode()
    assert (
        "No rank intervals: 7 tasks or clusters of tasks to draw from; with fewer than 8, intervals miss the true rank "
        "too often." in text
    )
    assert board_of(benchmark).context["board"].simultaneous_url == ""


def test_other_policies_have_no_intervals_of_either_kind(benchmark):
    response = board_of(benchmark, "?scores=1&simultaneous=1&policy=worst&aggregation=basic&ties=best")
    assert set(intervals_on(response, "borda").values()) == {""}
    assert "rank intervals exist only for" in response.content.decode().lower()
