"""Groups of systems by a field: sections of the board, places in them, and marks."""

import json
import math
import re
from copy import deepcopy

import pytest
from django.urls import reverse
from hypothesis import given, strategies as st

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.groups import MAX_MARKS, OTHERS, grouping_of, value_key
from leaderboard.boards.query import BoardQuery
from leaderboard.models import System
from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.systems import About
from ranking_engine.files.metadata import MetadataField
from tests.factories import owner_of

KIND = {"key": "kind", "name": "Kind", "kind": "choice", "choices": ["model", "ensemble", "human"], "is_column": True}
FIELDS = [
    KIND,
    {"key": "parameters", "name": "Parameters", "kind": "number"},
    {"key": "released", "name": "Released", "kind": "date"},
    {"key": "paper", "name": "Paper", "kind": "link"},
]
# Under every rule A, B, C=D, E, F.
SCORES = {"A": [9.0, 9.0], "B": [8.0, 8.0], "C": [7.0, 7.0], "D": [7.0, 7.0], "E": [5.0, 5.0], "F": [4.0, 4.0]}
METADATA = {
    "A": {"kind": "ensemble", "parameters": 10**9, "released": "2023-05"},
    "B": {"kind": "model", "parameters": 999_999_999, "released": "2024"},
    "C": {"kind": "model", "parameters": 7 * 10**9, "paper": "https://example.org/c"},
    "D": {"kind": "ensemble"},
    "F": {"kind": "model", "parameters": 0},
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


def board_of(benchmark, **query):
    return build_board(audience_of(owner_of(benchmark), benchmark), BoardQuery(**query))


def sections(board):
    return [(row.group.text if row.group else None, row.name, row.place, row.among_text) for row in board.rows]


def test_rows_are_in_the_order_of_the_groups_and_ranks_stay_those_among_all(benchmark):
    assert sections(board_of(benchmark, group="kind")) == [
        ("model", "B", 2, "1 of 3 in group"),
        ("model", "C", 3, "2 of 3 in group"),
        ("model", "F", 6, "3 of 3 in group"),
        ("ensemble", "A", 1, "1 of 2 in group"),
        ("ensemble", "D", 3, "2 of 2 in group"),
        ("not stated", "E", 5, "1 of 1 in group"),
    ]


@pytest.mark.parametrize(
    ("field", "groups"),
    [
        ("parameters", ["0 or less: F", "100 M to under 1 B: B", "1 B to under 10 B: AC", "not stated: DE"]),
        ("released", ["2024: B", "2023: A", "not stated: CDEF"]),
    ],
)
def test_numbers_are_in_groups_by_powers_of_ten_and_dates_by_year(benchmark, field, groups):
    board, members = board_of(benchmark, group=field), {}
    for text, name, *_ in sections(board):
        members[text] = members.get(text, "") + name
    assert [f"{text}: {names}" for text, names in members.items()] == groups


def test_pins_come_first_without_a_group_and_filters_count_what_they_leave(benchmark):
    assert sections(board_of(benchmark, group="kind", pins=("d",), top=3)) == [
        (None, "D", 3, "2 of 2 in group"),
        ("model", "B", 2, "1 of 2 in group"),
        ("model", "C", 3, "2 of 2 in group"),
        ("ensemble", "A", 1, "1 of 2 in group"),
    ]


def test_no_bracket_of_a_tie_goes_from_one_group_to_the_next(benchmark):
    def brackets(**query):
        return {row.name for row in board_of(benchmark, **query).rows if row.cells[0].joins_above}

    assert (brackets(), brackets(group="kind")) == ({"D"}, set())


@pytest.mark.parametrize("query", [{"group": "gone"}, {"group": "paper"}, {"mark": "gone"}, {"mark": "paper"}])
def test_fields_that_no_one_can_group_by_are_refused(benchmark, client, query):
    with pytest.raises(UnknownChoiceError, match="by which systems can be grouped"):
        board_of(benchmark, **query)
    assert client.get(reverse("board", args=[benchmark.key]), query).status_code == 400


def test_the_kind_is_marked_unless_a_reader_wants_another_field_or_none(benchmark):
    def marks(**query):
        return {row.name: row.mark.text if row.mark else "" for row in board_of(benchmark, **query).rows}

    kinds = {name: METADATA.get(name, {}).get("kind", "not stated") for name in SCORES}
    assert marks() == marks(mark="kind") == kinds
    assert marks(mark="none") == dict.fromkeys(SCORES, "")
    assert marks(mark="released")["B"] == "2024"


def test_the_legend_has_a_shape_for_each_group_and_rows_say_theirs_in_words(benchmark, client):
    page = client.get(reverse("board", args=[benchmark.key])).content.decode()
    legend = re.findall(r'<b class="mark (m\d)" aria-hidden="true"></b>(.*?) <small>(\d+)', page)
    assert legend == [("m1", "model", "3"), ("m2", "ensemble", "2"), ("m0", "not stated", "1")]
    rows = re.findall(r'<b class="mark (m\d)" title="([^"]*)"></b><i class="sr">([^<]*)</i>', page)
    assert rows[0] == ("m2", "ensemble", "ensemble: ")
    assert len(rows) == len(SCORES)


def test_each_group_is_a_body_of_the_table_with_a_head_that_spans_it(benchmark, client):
    page = client.get(reverse("board", args=[benchmark.key]), {"group": "kind"}).content.decode()
    heads = re.findall(r'<th scope="rowgroup"><span>Kind: <strong>(.*?)</strong> <small>(.*?)</small>', page)
    assert heads == [("model", "3 systems"), ("ensemble", "2 systems"), ("not stated", "1 system")]
    table = page[page.index('<table class="board') :]
    table = table[: table.index("</table>")]
    assert table.count("<tbody>") == table.count("</tbody>") == 3
    width = sum(len(re.findall(r"<col[ >]", part)) for part in re.findall(r"<colgroup>.*?</colgroup>", table, re.S))
    assert {int(span) + 1 for span in re.findall(r'</th><td colspan="(\d+)"></td>', table)} == {width}


def test_boards_with_baselines_are_grouped_by_them(make, client):
    benchmark = make.published(SCORES)
    System.objects.filter(benchmark=benchmark, name="B").update(baseline="human")
    assert [(text, name) for text, name, *_ in sections(board_of(benchmark, group="baseline"))] == [
        *(("no baseline", name) for name in "ACDEF"),
        ("human baseline", "B"),
    ]
    filtered = board_of(benchmark, meta=(("baseline", "no baseline"),))
    assert [row.name for row in filtered.rows] == list("ACDEF")
    assert all(row.mark is None for row in filtered.rows)


def test_files_have_the_groups_too(benchmark, client):
    rows = client.get(reverse("board_csv", args=[benchmark.key]), {"group": "kind"})
    lines = rows.getvalue().decode().splitlines()
    assert [line.rpartition(",")[2] for line in lines] == [
        "group", "model", "model", "model", "ensemble", "ensemble", "not stated",
    ]  # fmt: skip
    whole = client.get(reverse("board_download", args=[benchmark.key, "json"]))
    assert {row["group"] for row in json.loads(whole.getvalue())["systems"]} == {None}


@given(st.lists(st.sampled_from([None, "a", "A", "b", "c", "d", "e", "f", "g", "h"]), max_size=12))
def test_the_six_largest_groups_have_marks_of_their_own(texts):
    field = MetadataField("maker", "Maker")
    grouping = grouping_of(field, [About(metadata={} if text is None else {"maker": text}) for text in texts])
    folded = [None if text is None else text.casefold() for text in texts]
    assert sum(group.n_systems for group in grouping.groups) == len(texts)
    own = {group.mark for group in grouping.groups if group.is_stated and group.mark != OTHERS}
    assert len(own) == min(MAX_MARKS, len({*folded} - {None}))
    sizes = {text: folded.count(text) for text in {*folded} - {None}}
    marked = [sizes[group.text.casefold()] for group in grouping.groups if group.mark in own and group.is_stated]
    others = [sizes[group.text.casefold()] for group in grouping.groups if group.mark == OTHERS]
    assert not others or min(marked) >= max(others)
    for text, place in zip(folded, grouping.of, strict=True):
        group = grouping.groups[place]
        assert (group.text.casefold() if group.is_stated else None) == text
    assert sum(group.n_systems for group in grouping.legend) == len(texts)


@given(st.floats(1e-17, 1e18))
def test_a_number_is_between_the_ends_of_its_group(number):
    power, text = value_key(MetadataField("price", "Price", "number"), About(metadata={"price": number}))
    assert 10.0**power <= number < 10.0 ** (power + 1) or math.isclose(number, 10.0 ** (power + 1))
    assert " to under " in text
