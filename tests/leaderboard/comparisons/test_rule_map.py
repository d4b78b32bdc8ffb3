"""The map of rules and tasks: on the page, as a file and by the API it is that of the engine."""

import csv
import io

import pytest
from django.urls import reverse

from leaderboard.common.charts.plane_map import HEIGHT, MARGIN, WIDTH, MappedThing, plane_map
from leaderboard.comparisons import rule_map
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.scaling import ranking_map


@pytest.fixture
def benchmark(make):
    return make.published()


def expected_of(benchmark):
    board = published_board(benchmark.publication)
    ranks = {column.rule: average_ranks(column.ranks) for column in board.columns if column.status == "ranked"}
    return ranking_map(ranks, revision_matrix(benchmark.publication.revision).matrix)


def test_the_api_tells_the_map_of_the_engine(benchmark, client):
    answer = client.get(reverse("api:agreement", args=[benchmark.key])).json()["map"]
    expected = expected_of(benchmark)
    assert {(one["kind"], one["key"]): (one["x"], one["y"]) for one in answer["members"]} == {
        member: (round(x, 6), round(y, 6))
        for member, (x, y) in zip(expected.members, expected.plane.points.tolist(), strict=True)
    }
    assert (answer["share"], answer["stress"]) == (
        pytest.approx(expected.plane.share),
        pytest.approx(expected.plane.stress),
    )
    assert {one["name"] for one in answer["members"] if one["kind"] == "task"} == {f"Task {t}" for t in range(1, 6)}
    assert (answer["reason"], len(answer["left_out"])) == ("", len(expected.left_out))


def test_the_page_draws_a_dot_for_each_place_and_has_all_members_in_a_table_and_a_file(benchmark, client):
    address = reverse("agreement", args=[benchmark.key])
    page = client.get(address).content.decode()
    members = expected_of(benchmark).members
    drawn = page.partition('class="plane-map"')[2].partition("</svg>")[0]
    assert drawn.count('<path class="mark"') == 5
    assert 'aria-label="Task 1"' in drawn
    table = page.partition('aria-label="The map as a table"')[2].partition("</table>")[0]
    assert table.count('<th scope="row">') == len(members)
    text = client.get(address, {"format": "csv", "table": "map"}).content.decode()
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    assert [(row["kind"], row["key"]) for row in rows] == members


def test_a_board_of_too_many_rules_and_tasks_says_so(benchmark, client, monkeypatch):
    monkeypatch.setattr(rule_map, "MAX_MAPPED", 6)
    answer = client.get(reverse("api:agreement", args=[benchmark.key])).json()["map"]
    assert (answer["members"], answer["share"]) == ([], None)
    assert answer["reason"].endswith("rules and 5 tasks; a map shows at most 6.")


def test_things_at_one_place_are_one_dot_and_both_directions_have_one_scale():
    things = [MappedThing(name, x, y, is_second) for name, x, y, is_second in (
        ("A", 0, 0, False), ("B", 0, 0, False), ("C", 0, 0, False), ("T", 0, 0, True), ("D", 2, 1, False),
    )]  # fmt: skip
    drawn = plane_map("Map", "Near is alike.", things)
    assert [(dot.said, dot.is_second) for dot in drawn.dots] == [("A, B, C", False), ("D", False), ("T", True)]
    assert drawn.dots[0].label.text == "A, B and 1 more"
    (low, high), right = (drawn.dots[0].x, drawn.dots[0].y), drawn.dots[1]
    assert (right.x - low, high - right.y) == (WIDTH - 2 * MARGIN, (WIDTH - 2 * MARGIN) / 2)
    assert all(MARGIN <= dot.x <= WIDTH - MARGIN and MARGIN <= dot.y <= HEIGHT - MARGIN for dot in drawn.dots)
