"""Rank intervals from stated standard errors, on pages, in the API and in files, compared with draws counted here."""

import csv
import io
import math
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.models import Benchmark, Job
from leaderboard.queue.kinds import BOOTSTRAP
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
from ranking_engine.stability.resampling.measured_ranks import NUMBER
from tests.factories import owner_of

NAMES = ["S0", "S1", "S2", "S3", "S4"]
SCORES = np.array([[80, 3, 61], [78, 4, 60], [77, 5, 62], [60, 9, 40], [50, 9.5, 30]], dtype=float)
ERRORS = np.array([[2, 1, 3], [2, 1, 3], [2, 0, 3], [2, 1, 3], [2, 1, math.nan]])
DIRECTIONS = np.array([1, -1, 1])
CAUTION = (
    "Where systems are closer than their errors, the true rank is outside more often than 1 time in 20, most of all "
    "for those shown first."
)
ASSUMPTION = (
    f"95 % of the draws lie in it. {CAUTION} Where the rank itself is outside, as under rules that punish noise, the "
    "interval is extended to it. It takes the errors of systems as independent: where systems are measured on the same "
    "instances, it may be wider. What other tasks would change is not in it."
)


def with_errors(make, errors, scores=SCORES, **fields):
    tasks = [TaskSpec(f"Task {t}", direction=int(way)) for t, way in enumerate(DIRECTIONS)]
    benchmark = make.benchmark({}, tasks=tasks, **fields)
    rows = [
        SubmittedRow(
            system_name=name,
            scores={f"task-{t}": value for t, value in enumerate(row)},
            details={f"task-{t}": (None if math.isnan(error) else error, None) for t, error in enumerate(of_system)},
        )
        for name, row, of_system in zip(NAMES, scores.tolist(), errors.tolist(), strict=True)
    ]
    submit_upload(benchmark, owner_of(benchmark), Upload(rows=rows, creates_systems=True))
    make.publish(benchmark)
    run_job(Job.objects.get(benchmark=benchmark, kind=BOOTSTRAP).pk, worker="test")
    return make.publish(benchmark)


@pytest.fixture(scope="module")
def benchmark(make_once):
    return with_errors(make_once, ERRORS)


@pytest.fixture(scope="module")
def ends():
    """Under the mean and Borda the 25th rank from either end that each system has in 1,000 draws."""
    random, ranks = np.random.default_rng([0, NUMBER]), {"mean": [], "borda": []}
    for _ in range(1_000):
        drawn = (SCORES + np.nan_to_num(ERRORS) * random.standard_normal(SCORES.shape)) * DIRECTIONS
        points = {"mean": (drawn * DIRECTIONS).mean(axis=1), "borda": (drawn[:, None] > drawn[None]).sum(axis=(1, 2))}
        for rule, values in points.items():
            ranks[rule].append([1 + int((values > value + 1e-9).sum()) for value in values])
    ordered = {rule: np.sort(np.array(rows), axis=0) for rule, rows in ranks.items()}
    return {
        rule: {name: [int(rows[24, i]), int(rows[975, i])] for i, name in enumerate(NAMES)}
        for rule, rows in ordered.items()
    }


def interval_text(low, high):
    return str(low) if low == high else f"{low}–{high}"


def board_of(benchmark, query=""):
    return Client().get(reverse("board", args=[benchmark.key]) + query)


def text_of(response):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", "", response.content.decode()))


def intervals_on(response, rule):
    board = response.context["board"]
    k = next(k for k, column in enumerate(board.columns) if column["key"] == rule)
    return {row.name: row.cells[k].interval_text for row in board.rows}


def test_a_switch_on_the_board_shows_them_where_too_few_tasks_have_others(benchmark, ends):
    path = reverse("board", args=[benchmark.key])
    usual, measured = (board_of(benchmark, query) for query in ("?scores=1", "?scores=1&measured=1"))
    assert set(intervals_on(usual, "borda").values()) == {""}
    assert "No rank intervals: 3 tasks or clusters of tasks to draw from" in text_of(usual)
    assert usual.context["board"].measured_url == f"{path}?scores=1&measured=1"
    for rule in ("mean", "borda"):
        assert intervals_on(measured, rule) == {name: interval_text(*pair) for name, pair in ends[rule].items()}
    assert len(set(map(tuple, ends["borda"].values()))) > 2
    assert measured.context["board"].measured_url == f"{path}?scores=1"
    text = text_of(measured)
    assert (
        "Beside it: the 95 % rank interval if the scores were measured again on the same tasks, 1,000 times, for each "
        "system separately: each score is drawn from a normal distribution with its standard error. 13 of 15 scores "
        f"have a standard error; the others count as exact. {ASSUMPTION}" in text
    )
    again = "interval if the scores were measured again on the same tasks; for each system separately."
    assert f"{again} {CAUTION}" in text  # beside the first place


def test_the_pages_of_the_rule_and_of_stability_have_them(benchmark, ends):
    rule = Client().get(reverse("rule", args=[benchmark.key, "borda"]) + "?measured=1")
    assert {row.name: row.interval_text for row in rule.context["page"].rows} == {
        name: interval_text(*pair) for name, pair in ends["borda"].items()
    }
    assert ASSUMPTION in text_of(rule)
    stability = Client().get(f"{reverse('stability', args=[benchmark.key])}?rule=borda")
    assert {row.name: row.measured_text for row in stability.context["intervals"].rows} == {
        name: interval_text(*pair) for name, pair in ends["borda"].items()
    }
    assert {row.interval_text for row in stability.context["intervals"].rows} == {""}
    assert ASSUMPTION in text_of(stability)


def test_the_api_and_its_files_have_them(benchmark, ends):
    path = reverse("api:ranking", args=[benchmark.key, "borda"])
    answer = Client().get(path).json()
    assert {row["name"]: row["measured_interval"] for row in answer["results"]} == ends["borda"]
    assert {row["interval"] for row in answer["results"]} == {None}
    assert answer["intervals"]["measured"] == {"n_draws": 1_000, "n_errors": 13, "n_scores": 15, "reason": ""}
    system = Client().get(reverse("api:system", args=[benchmark.key, "s1"])).json()
    assert {one["rule"]: one["measured_interval"] for one in system["ranks"]}["mean"] == ends["mean"]["S1"]
    lines = csv.DictReader(io.StringIO(Client().get(path + "?format=csv").content.decode()))
    assert {row["name"]: [int(row["measured_least"]), int(row["measured_greatest"])] for row in lines} == ends["borda"]


def test_another_policy_has_none(benchmark):
    response = board_of(benchmark, "?scores=1&measured=1&policy=worst&aggregation=basic&ties=best")
    assert set(intervals_on(response, "borda").values()) == {""}
    assert response.context["board"].measured_url == ""


def test_a_board_without_standard_errors_has_neither_them_nor_the_switch(make_once):
    for errors in (np.full(SCORES.shape, math.nan), np.zeros(SCORES.shape)):  # 0 is no certainty
        benchmark = with_errors(make_once, errors)
        response = board_of(benchmark, "?scores=1&measured=1")
        assert response.context["board"].measured_url == ""
        assert "No rank intervals: 3 tasks" in text_of(response)
        answer = Client().get(reverse("api:ranking", args=[benchmark.key, "borda"])).json()
        assert answer["intervals"]["measured"] is None
        assert {row["measured_interval"] for row in answer["results"]} == {None}


def test_scores_near_the_largest_number_do_no_harm(make_once):
    scores = SCORES.copy()
    scores[0, 0] = 1e308
    benchmark = with_errors(make_once, np.full(SCORES.shape, 1e308), scores)
    answer = Client().get(reverse("api:ranking", args=[benchmark.key, "borda"])).json()
    assert {tuple(row["measured_interval"]) for row in answer["results"]} == {(1, 5)}


@pytest.mark.parametrize("most", [5 * 200, 5 * 99])
def test_boards_of_very_many_systems_have_fewer_draws_or_none_and_keep_the_others(make_once, monkeypatch, most):
    monkeypatch.setattr("leaderboard.studies.bootstrap.MAX_RANKS", most)
    benchmark = with_errors(make_once, ERRORS)
    answer = Client().get(reverse("api:ranking", args=[benchmark.key, "borda"])).json()["intervals"]
    why = "" if most == 5 * 200 else "there are too many systems to rank them again for every draw"
    n_draws = 0 if why else 200
    assert answer["measured"] == {"n_draws": n_draws, "n_errors": 13, "n_scores": 15, "reason": why}
    assert answer["reason"].startswith("3 tasks or clusters of tasks to draw from")


@pytest.mark.usefixtures("make")
def test_readers_who_see_no_scores_do_not_see_them(benchmark):
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view=Benchmark.ScoreView.RANKS)
    response = board_of(benchmark, "?scores=1&measured=1")
    assert (response.context["board"].measured_url, ASSUMPTION in text_of(response)) == ("", False)
    answer = Client().get(reverse("api:ranking", args=[benchmark.key, "borda"])).json()
    assert ({row["measured_interval"] for row in answer["results"]}, answer["intervals"]) == ({None}, None)


def test_where_groups_are_ranked_in_two_steps_a_sentence_says_why_there_are_none(make_once):
    benchmark = with_errors(make_once, ERRORS, aggregation="two_step")
    measured = Client().get(reverse("api:ranking", args=[benchmark.key, "borda"])).json()["intervals"]["measured"]
    why = "with two-step aggregation single tasks have no weight of their own"
    assert measured == {"n_draws": 0, "n_errors": 13, "n_scores": 15, "reason": why}
