"""Names beside dots: none on another, none on a dot, none outside the picture."""

import math
from collections import namedtuple
from itertools import combinations

import numpy as np
import pytest

from leaderboard.common.charts.name_places import Named, place_names
from leaderboard.common.charts.scatter import NARROW, ROOMY, WIDE, Point, scatter
from leaderboard.common.charts.text_width import text_width

Box = namedtuple("Box", "left top right bottom")
END = [Point("constant", "Constant", 0.0, 0.0, 0.0), Point("random", "Random", 0.99, 0.98, 0.98)]


def crowd(seed: int, n: int) -> list[Point]:
    """Points that lie as close together as those of benchmarks do, half of them with an interval."""
    generator = np.random.default_rng(seed)
    places = zip(generator.random(n), 0.4 * generator.random(n), generator.random(n), strict=True)
    return [
        Point(f"key-{i}", f"HEIM-{'x' * (i % 9)}-auto {i}", x, low, low + 0.3 * extra * (i % 2))
        for i, (x, low, extra) in enumerate(places)
    ]


def area_shared(a: Box, b: Box) -> float:
    width = min(a.right, b.right) - max(a.left, b.left)
    height = min(a.bottom, b.bottom) - max(a.top, b.top)
    return max(0.0, width) * max(0.0, height)


@pytest.mark.parametrize("form", [ROOMY, WIDE, NARROW], ids=["roomy", "wide", "narrow"])
@pytest.mark.parametrize("seed", range(5))
def test_names_lie_on_no_name_no_dot_no_line_of_bounds_and_within_the_picture(form, seed):
    chart = scatter("Title", "Text", crowd(seed, 30), x_label="x", y_label="y", marks=END, form=form)
    drawn = [*chart.marks, *chart.dots]
    names = [dot.label for dot in drawn if dot.label]
    boxes = [Box(n.x, n.y - 6, n.x + text_width(n.text, form.type_size), n.y + 6) for n in names]
    assert sum(area_shared(a, b) for a, b in combinations(boxes, 2)) == 0
    for dot in drawn:
        x, low, high = float(dot.x), float(dot.low), float(dot.high)
        around = [Box(x - 5, low - 5, x + 5, low + 5), Box(x - 1, high, x + 1, low)]
        assert [area_shared(box, other) for box in boxes for other in around] == [0.0] * 2 * len(boxes)
    assert min(min(box.left, box.top) for box in boxes) >= 0
    assert max(box.right for box in boxes) <= form.width
    assert max(box.bottom for box in boxes) <= form.height
    assert chart.n_unnamed == len(drawn) - len(names)
    assert [mark.label.text for mark in chart.marks] == ["Constant", "Random"]


@pytest.mark.parametrize(("form", "least"), [(ROOMY, 25), (WIDE, 25), (NARROW, 6)], ids=["roomy", "wide", "narrow"])
def test_most_names_of_thirty_dots_find_room_on_a_desk_and_some_on_a_phone(form, least):
    charts = [scatter("Title", "Text", crowd(seed, 30), x_label="x", y_label="y", form=form) for seed in range(5)]
    assert min(30 - chart.n_unnamed for chart in charts) >= least


@pytest.mark.parametrize("form", [ROOMY, WIDE, NARROW], ids=["roomy", "wide", "narrow"])
@pytest.mark.parametrize("seed", range(5))
def test_a_name_without_a_leader_lies_nearer_to_its_own_dot_than_to_any_other(form, seed):
    chart = scatter("Title", "Text", crowd(seed, 30), x_label="x", y_label="y", form=form)
    centers = {dot.key: (float(dot.x), float(dot.low)) for dot in chart.dots}
    for dot in chart.dots:
        if dot.label and not dot.label.leader:
            right = dot.label.x + text_width(dot.label.text, form.type_size)
            corner = [(min(max(x, dot.label.x), right), min(max(y, dot.label.y - 7.2), dot.label.y + 7.2))
                      for x, y in centers.values()]  # fmt: skip
            distances = dict(zip(centers, map(math.dist, corner, centers.values()), strict=True))
            assert distances[dot.key] <= min(distances.values()) + 0.1


@pytest.mark.parametrize("form", [ROOMY, WIDE, NARROW], ids=["roomy", "wide", "narrow"])
@pytest.mark.parametrize("seed", range(5))
def test_a_name_further_away_has_a_leader_from_its_dot_that_lies_on_no_other_dot_and_no_name(form, seed):
    chart = scatter("Title", "Text", crowd(seed, 30), x_label="x", y_label="y", form=form)
    led = [dot for dot in chart.dots if dot.label and dot.label.leader]
    assert led
    for dot in led:
        start, end = (np.array(at.split(), dtype=float) for at in dot.label.leader[1:].split("L"))
        assert start.tolist() == [float(dot.x), float(dot.low)]
        on_the_way = start + np.linspace(0, 1, 200)[:, None] * (end - start)
        others = [np.array([float(other.x), float(other.low)]) for other in chart.dots if other is not dot]
        assert min(np.abs(on_the_way - other).max(axis=1).min() for other in others) >= 4.9
        for name in (other.label for other in chart.dots if other.label):
            right = name.x + text_width(name.text, form.type_size)
            is_in = (on_the_way[:, 0] > name.x + 0.1) & (on_the_way[:, 0] < right - 0.1)
            assert not (is_in & (np.abs(on_the_way[:, 1] - name.y) < 7)).any()


@pytest.mark.parametrize("form", [ROOMY, WIDE, NARROW], ids=["roomy", "wide", "narrow"])
def test_a_plane_with_very_many_dots_names_its_marks_alone(form):
    chart = scatter("Title", "Text", crowd(0, 100), x_label="x", y_label="y", marks=END, form=form)
    assert [mark.label is None for mark in chart.marks] == [False, False]
    assert (len(chart.dots), chart.n_unnamed) == (100, 100)


def test_a_name_without_room_is_left_out_and_its_dot_stays():
    points = [Point(f"key-{i}", "A name", 0.5, 0.5, 0.5) for i in range(40)]
    chart = scatter("Title", "Text", points, x_label="x", y_label="y")
    assert len(chart.dots) == 40
    assert 0 < chart.n_unnamed < 40
    assert {dot.said for dot in chart.dots} == {"A name: x 0.50, y 0.50"}


def test_a_lone_name_stands_beside_its_dot_and_a_long_one_ends_in_an_ellipsis():
    frame = (0, 0, 300, 100)
    (short,) = place_names([Named("GLUE", 100, 50)], frame, [], size=12, widest=100)
    assert (short.text, short.x, short.y) == ("GLUE", 108, 50)
    (long,) = place_names([Named("A benchmark with a long name", 100, 50)], frame, [], size=12, widest=100)
    assert long.text.endswith("…")
    assert text_width(long.text, 12) <= 100


def test_the_line_ends_at_the_edge_of_the_plane():
    points = [Point("a", "A", 0.0, 0.0, 0.0), Point("b", "B", 1.0, 1.0, 1.0)]
    chart = scatter("Title", "Text", points, x_label="x", y_label="y", line=(2.0, -0.5), form=WIDE)
    # It meets 0 at x = 0.25 and 1 at x = 0.75.
    assert chart.line == "M249.0 440.0L659.0 28.0"
