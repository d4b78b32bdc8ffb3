"""Charts leave their names the room that these take, and no more."""

import math
import re

import pytest
from django.template.loader import render_to_string

from leaderboard.common.charts import card
from leaderboard.common.charts.heat_map import LEAD, TYPE, heat_map
from leaderboard.common.charts.rank_intervals import RankedThing, rank_intervals
from leaderboard.common.charts.rank_lines import RankedSystem, rank_lines
from leaderboard.common.charts.score_profile import ProfileTask, score_profile
from leaderboard.common.charts.text_width import LABEL_SIZE, label_room, text_width
from tests.markup import compact

LONG = "Commonsense reasoning, hard"


def test_the_room_of_labels_is_the_width_of_the_longest():
    assert label_room([]) == 0
    assert label_room(["iii", "WW"], 10) == math.ceil(2 * 9.89)
    assert label_room(["iii", "WW"]) == math.ceil(text_width("WW", LABEL_SIZE))


def profile(*names, systems=("A", "B")):
    return score_profile("Title", "Text", systems, [ProfileTask(name, [0.0, 1.0], 0.5, name) for name in names])


def test_a_score_profile_is_as_wide_as_its_names_ask_for():
    short, long = profile("RTE", "QNLI"), profile("RTE", LONG)
    assert (short.left, short.width, short.is_wide) == (60, 490, False)
    assert (long.left, long.is_wide) == (label_room([LONG]) + 8, True)
    assert long.width - long.left == short.width - short.left
    for chart in (short, long):
        (_, worst), (_, best) = chart.lines[0].dots
        assert (float(worst), float(best)) == (chart.left + 8, chart.right - 8)


def test_the_worst_and_the_best_score_of_a_task_have_room_beside_its_line():
    tasks = [
        ProfileTask("RTE", [0.0], 0.5, "RTE", ends=("50.3", "94.1")),
        ProfileTask(LONG, [1.0], 0.5, LONG, ends=("1234.5", "2")),
    ]
    chart, bare = score_profile("Title", "Text", ["A"], tasks), profile("RTE", LONG, systems=("A",))
    assert [(line.worst, line.best) for line in chart.lines] == [("50.3", "94.1"), ("1234.5", "2")]
    assert chart.left - chart.names_end == label_room(["1234.5"]) + 8
    assert (chart.names_end, bare.names_end) == (bare.left, bare.left)
    assert chart.width - chart.right == bare.width - bare.right + label_room(["94.1"]) + 8


def test_names_of_a_profile_s_systems_end_before_the_next_begins():
    chart = profile("RTE", systems=("An extraordinarily long name of a system " * 2, "B"))
    (_, first, at), (_, second, then) = chart.systems
    assert (first.endswith("…"), second) == (True, "B")
    assert int(at) + 11 + text_width(first, LABEL_SIZE) < int(then)


@pytest.mark.parametrize("name", ["Borda", "Proportional veto, at last"])
def test_rank_intervals_begin_where_their_names_end(name):
    chart = rank_intervals("Title", "Text", [RankedThing(name, 1, 1, 3, name)], 3)
    assert chart.left >= text_width(name, LABEL_SIZE)
    assert chart.ticks[0] == (f"{chart.left + 10:.1f}", "1")
    assert chart.width - float(chart.ticks[-1][0]) == 20
    assert chart.is_wide == (name != "Borda")


@pytest.mark.parametrize("last", ["B", "A rather long name, this"])
def test_names_over_a_heat_map_s_columns_end_inside_it(last):
    names = ["A", "C", last]
    chart = heat_map("Title", "Text", names, names, [[0.0] * 3] * 3, level=lambda _: "z", text=str,
                     said=lambda i, j: f"{i} {j}", legend={"z": "none"})  # fmt: skip
    reach = LEAD + text_width(last, TYPE)
    label = chart.columns[-1]
    assert label.name == last
    assert float(label.x) + reach * math.cos(math.radians(48)) < chart.width
    assert chart.top > reach * math.sin(math.radians(48))
    assert f"rotate(-48) translate({LEAD} 0)" in compact(
        render_to_string("comparisons/_heat_map.html", {"chart": chart, "id": "a"})
    )


@pytest.mark.parametrize(("columns", "n_slanted"), [(["Mean", "Veto"], 0), (["Mean", "Geometric mean", "Veto"], 3)])
def test_the_names_of_a_bump_chart_s_columns_all_lean_or_all_lie(columns, n_slanted):
    chart = rank_lines("Title", "Text", columns, [RankedSystem("a", "A", [1.0] * len(columns), "A")])
    drawn = compact(render_to_string("comparisons/_rank_lines.html", {"chart": chart, "id": "a"}))
    heads = re.findall(r'<text class="over" transform="([^"]*)"', drawn)
    assert len(heads) == len(columns)
    assert sum("rotate" in head for head in heads) == n_slanted


def test_a_small_bump_chart_with_names_at_its_end_is_shrunk_to_a_phone_and_a_large_one_is_not():
    def chart(n_revisions):
        numbers = [str(number) for number in range(1, n_revisions + 1)]
        system = RankedSystem("a", "Sup-Rotation-100%", [1.0] * n_revisions, "A")
        return rank_lines("Title", "Text", numbers, [system], is_named_last=True)

    small, large = chart(4), chart(12)
    assert (small.is_small, large.is_small) == (True, False)
    for drawn in (small, large):
        assert drawn.label + text_width("Sup-Rotation-100%", LABEL_SIZE) < drawn.width


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A short sentence.", "A short sentence."),
        (
            "Wins under twelve rules, " * 3 + "otherwise " * 9,
            "Wins under twelve rules, Wins under twelve rules, Wins under twelve…",
        ),
        ("W" * 200, "W" * 36 + "…"),
    ],
    ids=["fits", "cut between words", "one long word"],
)
def test_the_sentence_of_a_card_is_cut_between_words(text, line):
    assert card.cut(text, 28) == line
