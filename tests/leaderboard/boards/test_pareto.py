"""The Pareto front against the definition, pair by pair; its page, its chart and its files."""

import itertools
import math
import re

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import given, settings, strategies as st

from leaderboard.access.audience import audience_of
from leaderboard.boards.pareto.front import Upright, pareto_page, standings_of
from leaderboard.common.charts.pareto import LEFT, RIGHT, TOP, WIDTH
from leaderboard.models import System
from leaderboard.rankings.published import UnknownChoiceError
from tests.factories import owner_of

FIELDS = [
    {"key": "parameters", "name": "Parameters", "kind": "number"},
    {"key": "released", "name": "Released", "kind": "date"},
    {"key": "licence", "name": "Licence", "kind": "text"},
]
SCORES = {"A": [9.0, 9.0], "B": [8.0, 8.0], "C": [7.0, 7.0], "D": [1.0, 1.0], "E": [5.0, 5.0]}
METADATA = {
    "A": {"parameters": 70 * 10**9, "released": "2024-05"},
    "B": {"parameters": 7 * 10**9, "released": "2023"},
    "C": {"parameters": 8 * 10**9, "released": "2022-01-31"},
    "D": {"parameters": 10**9},
}


@pytest.fixture
def benchmark(make):
    benchmark = make.published(SCORES, metadata_fields=FIELDS)
    for name, metadata in METADATA.items():
        System.objects.filter(benchmark=benchmark, name=name).update(metadata=metadata)
    return benchmark


def on_front(page):
    return [row.name for row in page.rows if row.standing == "sure"]


def dominates(other, one):
    """Whether (cost, goodness) is nowhere worse and somewhere better."""
    return other[0] <= one[0] and other[1] >= one[1] and other != one


whole = st.integers(0, 5).map(float)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(whole, whole, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9), st.booleans())
def test_the_front_is_that_of_every_pair_compared(systems, is_less_better):
    across = np.array([one[0] for one in systems])
    middle = np.array([one[1] + 10 for one in systems])
    low, high = (middle + sign * np.array([one[k] for one in systems]) for k, sign in ((2, -1), (3, 1)))
    cost = across if is_less_better else -across
    places = np.arange(len(systems))

    def front(own, others):
        return [
            not any(dominates((cost[j], others[j]), (cost[i], own[i])) for j in range(len(systems)) if j != i)
            for i in range(len(systems))
        ]

    # Ranks: the lower the better.
    sure, possible = front(-high, -low), front(-low, -high)
    expected = ["sure" if s else "possible" if p else "" for s, p in zip(sure, possible, strict=True)]
    upright = Upright("rank", middle, is_low_better=True, low=low, high=high)
    assert standings_of(across, upright, places, is_less_better=is_less_better) == expected
    exact = front(middle, middle)
    plain = standings_of(across, Upright("score", middle, is_low_better=False), places, is_less_better=is_less_better)
    assert plain == ["sure" if is_on else "" for is_on in exact]


@pytest.mark.parametrize(
    ("choice", "front", "n_left_out"),
    [
        ({}, ["D", "B", "A"], 1),
        ({"x": "parameters", "y": "task.task-1"}, ["D", "B", "A"], 1),
        ({"x": "parameters", "y": "score.mean", "better": "high"}, ["A"], 1),
        ({"x": "released", "y": "rank.copeland"}, ["C", "B", "A"], 2),
    ],
)
def test_systems_are_set_against_what_is_asked_for(benchmark, choice, front, n_left_out):
    page = pareto_page(audience_of(owner_of(benchmark), benchmark), **choice)
    assert (on_front(page), page.n_left_out) == (front if choice.get("better") != "high" else ["A"], n_left_out)
    assert [field.key for field in page.fields] == ["parameters", "released"]


@pytest.mark.parametrize("choice", [{"x": "licence"}, {"x": "gone"}, {"y": "rank.best"}, {"y": "x"}, {"better": "yes"}])
def test_what_there_is_not_is_named(benchmark, choice):
    with pytest.raises(UnknownChoiceError):
        pareto_page(audience_of(owner_of(benchmark), benchmark), **choice)


def test_the_chart_has_better_upwards_on_a_logarithmic_scale_and_steps_over_the_front(benchmark):
    page = pareto_page(audience_of(owner_of(benchmark), benchmark), y="score.mean")
    dots = {dot.key: dot for dot in page.chart.dots}
    assert page.is_log
    assert float(dots["a"].y) < float(dots["b"].y) < float(dots["c"].y) < float(dots["d"].y)
    left, right = math.log10(1e9), math.log10(70e9)
    room = (right - left) * 0.04
    for name, one in METADATA.items():
        share = (math.log10(one["parameters"]) - left + room) / (right - left + 2 * room)
        assert float(dots[name.lower()].x) == pytest.approx(LEFT + share * (WIDTH - RIGHT - LEFT), abs=0.06)
    d, b, a = dots["d"], dots["b"], dots["a"]
    assert page.chart.steps == f"M{d.x} {d.y}H{b.x}V{b.y}H{a.x}V{a.y}H{WIDTH - RIGHT}"
    boxes = [(dot.label.x, dot.label.y) for dot in page.chart.dots if dot.label]
    assert len(boxes) == len(set(boxes)) == 4
    assert all(abs(p[1] - q[1]) >= 10 or abs(p[0] - q[0]) >= 6 for p, q in itertools.combinations(boxes, 2))
    assert all(y >= TOP for _, y in boxes)


def test_the_page_lists_the_front_and_its_files_have_all_systems(benchmark, client):
    path = reverse("pareto", args=[benchmark.key])
    page = client.get(path, {"x": "parameters", "y": "score.mean"}).content.decode()
    assert "Pareto front" in page
    assert re.search(r'aria-label="A: Parameters 70 B, Score under [^"]*9, on the front"', page)
    table = client.get(f"/b/{benchmark.key}/exports/pareto.csv", {"x": "parameters", "y": "score.mean"})
    assert table.getvalue().decode().splitlines() == [
        "system,name,parameters,score.mean,interval,front",
        "d,D,1000000000.0,1.0,,sure", "b,B,7000000000.0,8.0,,sure", "a,A,70000000000.0,9.0,,sure",
        "c,C,8000000000.0,7.0,,no",
    ]  # fmt: skip
    assert client.get(path, {"x": "licence"}).status_code == 400
    assert client.get(f"/b/{benchmark.key}/exports/pareto.csv", {"y": "x" * 5000}).status_code == 400


@pytest.mark.parametrize(
    ("scores", "parameters", "y"),
    [
        ({"A": [9.0], "B": [8.0], "C": [7.0]}, {"A": 1e-320, "B": 7e9, "C": 8e9}, "rank.copeland"),
        ({"A": [9.0], "B": [8.0], "C": [7.0]}, {"A": 5e-324, "B": 1e-322, "C": 0}, "rank.copeland"),
        ({"A": [9.0], "B": [8.0], "C": [7.0]}, {"A": 5e-324, "B": 1e-300, "C": 1e-310}, "rank.copeland"),
        ({"A": [1.7e308], "B": [-1.7e308], "C": [7.0]}, {"A": 1, "B": 2, "C": 3}, "task.task-1"),
        ({"A": [1.7e308], "B": [1.7e308], "C": [1.7e308]}, {"A": 1, "B": 2, "C": 3}, "task.task-1"),
        ({"A": [5e-324], "B": [1e-322], "C": [0.0]}, {"A": 1, "B": 2, "C": 3}, "task.task-1"),
    ],
)
def test_values_that_no_axis_has_room_for_leave_the_chart_out_and_the_table_in(make, client, scores, parameters, y):
    benchmark = make.published(scores, metadata_fields=FIELDS)
    for name, number in parameters.items():
        System.objects.filter(benchmark=benchmark, name=name).update(metadata={"parameters": number})
    response = client.get(reverse("pareto", args=[benchmark.key]), {"y": y})
    assert response.status_code == 200
    page = response.context["page"]
    assert (page.chart, {row.name for row in page.rows}) == (None, set("ABC"))
    assert "The values are too far apart for a chart, or too close to 0. The table has them." in (
        response.content.decode()
    )
    table = client.get(f"/b/{benchmark.key}/exports/pareto.csv", {"y": y})
    assert (table.status_code, len(table.getvalue().splitlines())) == (200, 4)


def test_a_board_without_numbers_beside_its_scores_says_so(make, client):
    benchmark = make.published(SCORES)
    assert "Nothing to set against scores" in client.get(reverse("pareto", args=[benchmark.key])).content.decode()
    assert client.get(f"/b/{benchmark.key}/exports/pareto.csv").status_code == 422


def test_the_scores_under_average_rank_are_the_ones_that_the_board_has(benchmark):
    page = pareto_page(audience_of(owner_of(benchmark), benchmark), x="parameters", y="score.average_rank")
    means = {row.name: row.y for row in page.rows}
    expected = {name: 1.0 + sum(other[0] > own[0] for other in SCORES.values()) for name, own in SCORES.items()}
    assert means == {name: expected[name] for name in means}
    assert "A" in [row.name for row in page.front]
