"""Boards that no rule can rank, and the smallest ones: every public page of them answers, and says why it is empty."""

import re
from decimal import Decimal
from itertools import product

import pytest
from django.core.cache import cache
from django.urls import get_resolver

from leaderboard.benchmarks.create import TaskSpec
from tests.leaderboard.benchmarks.older_weights import without_weight
from tests.markup import compact

pytestmark = pytest.mark.django_db
NOTHING = Decimal(0)
PLACE = re.compile(r"<\w+:(\w+)>")
SCORES = {"X": [1.0, 2.0], "Y": [2.0, 1.0]}
UNORDERED = {"scores": SCORES, "tasks": [TaskSpec("a", 0), TaskSpec("b", 0)]}
MISSING = {"scores": {"X": [None, None], "Y": [None, None]}, "tasks": [TaskSpec("a"), TaskSpec("b")]}
WEIGHTLESS = {  # there are scores, but none on the only task that counts
    "scores": {"X": [None, 1.0, 2.0], "Y": [None, 2.0, 2.0]},
    "tasks": [TaskSpec("a"), TaskSpec("b", weight=NOTHING), TaskSpec("c", 0)],
}
NO_TASK = "no task has an order and a weight above 0"
NO_SCORE = "no system has a score on a task of weight above 0"
WHY = {
    "unordered": (UNORDERED, NO_TASK),
    "missing": (MISSING, NO_SCORE),
    "weightless": (WEIGHTLESS, NO_SCORE),
}
OLDER = {  # weights that are refused today
    "tasks of weight 0": ("basic", NO_TASK),
    "groups of weight 0": ("balanced", NO_TASK),
    "groups of weight 0 in two steps": (
        "two_step",
        "no group of weight above 0 has a task with an order and a weight above 0",
    ),
}
SMALL = {
    "no submission": {"scores": {}, "tasks": [TaskSpec("a"), TaskSpec("b")]},
    "one system": {"scores": {"X": [1.0, 2.0]}, "tasks": [TaskSpec("a"), TaskSpec("b")]},
    "one task": {"scores": {"X": [1.0], "Y": [2.0]}, "tasks": [TaskSpec("a")]},
}
VALUES = {
    "system_key": ["x"],
    "rule_key": ["borda", "kemeny", "condorcet"],
    "rule": ["borda", "kemeny"],
    "task": ["a"],
    "extension": ["csv", "json", "zip"],
    "table": ["scores", "ranks", "margins", "folder"],
    "study": ["missing_scores", "axioms"],
    "number": [1],
}
CHOICES = {
    "board": ["?aggregation=two_step", "?aggregation=balanced", "?policy=median", "?ranks=filtered&q=x"],
    "head_to_head": ["?a=x&b=y"],
    "what_if": ["?weights=a:3", "?aggregation=two_step"],
    "history_compare": ["?from=1&to=1"],
    "prospects": ["?conditions=a+%3E%3D+0.5"],
    "api:ranking": ["?weights=a:3", "?aggregation=two_step"],
    "api:head_to_head": ["?a=x&b=y"],
}  # fmt: skip


def _routes(resolver, before=""):
    """The address of each route with places such as `<slug:key>`, and its name."""
    for pattern in resolver.url_patterns:
        address = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern, address)
        else:
            yield address, f"api:{pattern.name}" if before.startswith("api/") else pattern.name


def _addresses(key):
    """Every address about a benchmark that is read without signing in, some with what a reader may choose."""
    for route, name in _routes(get_resolver()):
        places = PLACE.findall(route)
        if "key" in places and "manage/" not in route and "files/" not in route and {*places} <= {"key", *VALUES}:
            for values in product(*(VALUES.get(place, [key]) for place in places)):
                left = iter(values)
                address = "/" + PLACE.sub(lambda _, left=left: str(next(left)), route)
                yield from [address, *(address + query for query in CHOICES.get(name, []))]


@pytest.fixture(scope="module")
def boards(make_once):
    """The key of a published board for each state."""
    states = {name: state for name, (state, _) in WHY.items()} | SMALL
    made = {name: make_once.benchmark(**state) for name, state in states.items()}
    made |= {name: without_weight(make_once, aggregation) for name, (aggregation, _) in OLDER.items()}
    return {name: make_once.publish(benchmark).key for name, benchmark in made.items()}


@pytest.mark.parametrize("name", [*WHY, *SMALL, *OLDER])
def test_every_public_page_of_such_a_board_answers(client, boards, name):
    cache.clear()
    client.raise_request_exception = False
    key = boards[name]
    statuses = {address: client.get(address).status_code for address in _addresses(key)}
    assert len(statuses) > 100
    refused = {f"/api/v1/benchmarks/{key}/evaluations/claim/": 403}
    if name != "no submission":
        refused[f"/api/v1/benchmarks/{key}/head-to-head/"] = 400
    if name in ("unordered", *list(OLDER)[1:]):  # no weight of a task gives it a direction, or its group a weight
        weighed = ("rankings/borda/", "rankings/kemeny/")
        refused |= {f"/api/v1/benchmarks/{key}/{path}?weights=a:3": 400 for path in weighed}
        refused[f"/b/{key}/what-if/?weights=a:3"] = 400
    usual = (200, 302, 401, 404, 405, 422)
    assert {address: status for address, status in statuses.items() if status not in usual} == refused


@pytest.mark.parametrize("name", [*WHY, *OLDER])
def test_where_no_rule_has_a_winner_the_board_says_why(client, boards, name):
    cache.clear()
    page, why = f"/b/{boards[name]}/", (WHY | OLDER)[name][1]
    sentence = f"No rule has a winner: {why}."
    assert sentence in compact(client.get(page))
    assert sentence in compact(client.get(f"{page}embed/"))
    assert f'<p id="headline">{sentence}</p>' in compact(client.get(f"{page}what-if/"))
    assert f'<p class="notice">{why.capitalize()}.</p>' in compact(client.get(f"{page}rules/borda/"))
    agreement = compact(client.get(f"{page}agreement/"))
    assert f"<h2>No rule ranks these systems</h2><p>{why.capitalize()}.</p>" in agreement
    answers = [client.get(f"/api/v1/benchmarks/{boards[name]}/{path}/").json() for path in ("board", "rankings")]
    assert [answer["verdict"] for answer in answers] == [sentence, sentence]
    ranks = client.get(f"{page}board.csv").content.decode()
    assert ranks == "system,borda_rank,borda_score\nX,,\nY,,\n"


def test_weights_that_rank_what_the_own_ones_do_not_are_ranked_on_the_page_and_in_the_api(client, boards):
    cache.clear()
    key = boards["weightless"]
    text = compact(client.get(f"/b/{key}/what-if/?weights=a:0,b:1"))
    assert "First under Borda: Y. With the benchmark’s weights: no ranking." in text
    assert "The benchmark’s own weights rank no system: results update when you stop moving the sliders." in text
    answer = client.get(f"/api/v1/benchmarks/{key}/rankings/borda/?weights=a:0,b:1").json()
    assert [(row["system"], row["rank"]) for row in answer["results"]] == [("y", 1), ("x", 2)]


@pytest.mark.parametrize(
    ("table", "about", "why"),
    [
        ("system,a,b\nx,,\ny,,\n", "", NO_SCORE),
        ("system,a\nx,1\ny,2\n", '[[task]]\nname = "a"\ndirection = "unordered"\n', NO_TASK),
    ],
)
def test_a_tried_table_that_no_rule_ranks_is_a_page_that_says_why(client, table, about, why):
    cache.clear()
    answer = client.post("/try/", {"text": table, "about": about})
    assert answer.status_code == 200
    assert f"No rule has a winner: {why}." in compact(answer)
