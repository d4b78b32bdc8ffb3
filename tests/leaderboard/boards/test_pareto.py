"""The Pareto front against the definition, pair by pair; its page, its chart and its files."""

import itertools
import math
import re
from copy import deepcopy

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import given, settings, strategies as st

from leaderboard.access.audience import audience_of
from leaderboard.boards.pareto.front import pareto_page, standings_of
from leaderboard.boards.pareto.uprights import Upright, standard_errors
from leaderboard.common.charts.pareto import LEFT, RIGHT, TOP, WIDTH
from leaderboard.models import System
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.scores import systems_at
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, submit_upload
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


@pytest.fixture(scope="module")
def made_once(make_once):
    benchmark = make_once.published(SCORES, metadata_fields=FIELDS)
    for name, metadata in METADATA.items():
        System.objects.filter(benchmark=benchmark, name=name).update(metadata=metadata)
    return benchmark


@pytest.fixture
def benchmark(made_once, make):
    return deepcopy(made_once)


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
    measured = front(-middle, -middle)
    expected = ["sure" if s else "measured" if m else "possible" if p else ""
                for s, m, p in zip(sure, measured, possible, strict=True)]  # fmt: skip
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


@pytest.fixture
def measured(make):
    """Scores on a task with standard errors: A and B cannot be told apart, C is far below both and costs least."""
    benchmark = make.benchmark({}, n_tasks=2, metadata_fields=FIELDS)
    rows = [
        SubmittedRow(
            system_name=name,
            scores={"task-1": score, "task-2": 1.0},
            details={"task-1": (error, None)},
            metadata={"parameters": parameters},
        )
        for name, score, error, parameters in [
            ("A", 90.0, 1.0, 9), ("B", 89.0, 1.0, 9), ("C", 10.0, 1.0, 1), ("D", 1.0, None, 2), ("E", 91.0, 0.1, 20),
        ]
    ]  # fmt: skip
    submit_upload(benchmark, owner_of(benchmark), Upload(rows=rows, creates_systems=True))
    return make.publish(benchmark)


def test_standard_errors_of_scores_say_who_is_surely_and_who_possibly_on_the_front(measured):
    page = pareto_page(audience_of(owner_of(measured), measured), y="task.task-1", x="parameters")
    # Bonferroni over the four systems that have one: the 99.375th percentile of the normal distribution.
    z = 2.4977
    ends = {name: f"{value - z * error:.4g} to {value + z * error:.4g}"
            for name, value, error in [("A", 90, 1), ("B", 89, 1), ("C", 10, 1), ("E", 91, 0.1)]}  # fmt: skip
    assert [(row.name, row.standing, row.interval_text) for row in page.rows] == [
        ("C", "sure", ends["C"]), ("A", "measured", ends["A"]), ("E", "measured", ends["E"]),
        ("B", "possible", ends["B"]), ("D", "", ""),
    ]  # fmt: skip
    assert page.interval_text == (
        "approximate 95 % intervals for all systems at once, from the standard errors of the scores; 1 score without "
        "one counts as exact"
    )
    assert [row.name for row in page.front] == ["C", "A", "E"]
    assert [row.name for row in page.possible] == ["B"]


def test_scores_of_instances_give_standard_errors(make):
    benchmark = make.benchmark({}, n_tasks=1, metadata_fields=FIELDS)
    values = {"A": [1, 0, 1, 1] * 3, "all right": [1] * 12, "too few": [0, 1, 1], "B": [0.5, 0.25, 1, 0] * 3}
    lines = [f"{name},Task 1,{i},{one}" for name, ones in values.items() for i, one in enumerate(ones)]
    table = "\n".join(["system,task,instance,score", *lines]).encode()
    upload = Upload(table=table, is_of_instances=True, creates_systems=True)
    submit_upload(benchmark, owner_of(benchmark), upload)
    revision = make.publish(benchmark).publication.revision
    systems = systems_at(revision)
    errors = standard_errors(revision, benchmark.tasks.get().pk, systems)
    # With two more of each where all are 0 or 1: one with all right is not exact for it.
    of = {"A": [*values["A"], 0, 0, 1, 1], "all right": [*values["all right"], 0, 0, 1, 1], "B": values["B"]}
    expected = {name: np.std(ones, ddof=1) / math.sqrt(len(ones)) for name, ones in of.items()}
    assert {systems[i].name: error for i, error in errors.items()} == pytest.approx(expected)


def test_dots_have_the_shape_of_their_kind_and_the_legend_names_it(benchmark, client):
    fields = [*FIELDS, {"key": "kind", "name": "Kind", "kind": "choice", "choices": ["model", "human"]}]
    benchmark.metadata_fields = fields
    benchmark.save()
    for name, kind in {"A": "model", "B": "human", "C": "human"}.items():
        System.objects.filter(benchmark=benchmark, name=name).update(metadata=METADATA[name] | {"kind": kind})
    path = reverse("pareto", args=[benchmark.key])
    page = client.get(path, {"x": "parameters", "y": "score.mean"})
    dots = {dot.key: (dot.mark, dot.shape.count("L")) for dot in page.context["page"].chart.dots}
    assert dots == {"a": (1, 0), "b": (2, 3), "c": (2, 3), "d": (0, 0)}  # circle, squares, small circle
    assert "A: Parameters 70 B, Score under Mean 9, on the front, Kind model" in page.content.decode()
    legend = re.findall(r'<b class="mark (m\d)" aria-hidden="true"></b>(.*?) <small>', page.content.decode())
    assert legend == [("m1", "model"), ("m2", "human"), ("m0", "not stated")]
    plain = client.get(path, {"x": "parameters", "y": "score.mean", "mark": "none"}).context["page"].chart
    assert {dot.shape for dot in plain.dots} == {""}
    assert client.get(path, {"mark": "gone"}).status_code == 400


def test_a_board_without_numbers_beside_its_scores_says_so(make, client):
    benchmark = make.published(SCORES)
    assert (
        "No figures to compare the scores with" in client.get(reverse("pareto", args=[benchmark.key])).content.decode()
    )
    assert client.get(f"/b/{benchmark.key}/exports/pareto.csv").status_code == 422


def test_the_scores_under_average_rank_are_the_ones_that_the_board_has(benchmark):
    page = pareto_page(audience_of(owner_of(benchmark), benchmark), x="parameters", y="score.average_rank")
    means = {row.name: row.y for row in page.rows}
    expected = {name: 1.0 + sum(other[0] > own[0] for other in SCORES.values()) for name, own in SCORES.items()}
    assert means == {name: expected[name] for name in means}
    assert "A" in [row.name for row in page.front]
