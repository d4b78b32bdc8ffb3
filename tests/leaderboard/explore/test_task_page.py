"""The page of one task: its figures against a naive computation, what it says without the task, its queries."""

import random
import re
from html import unescape
from itertools import combinations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.benchmarks.create import TaskSpec
from leaderboard.rankings import task_ranks
from leaderboard.rankings.task_ranks import CACHE_BYTES
from tests.markup import compact

pytestmark = pytest.mark.django_db
DIRECTIONS = [1, -1, 1, 0]
TASKS = [
    TaskSpec(f"T{t}", key=f"t{t}", direction=direction, weight=str(t + 1)) for t, direction in enumerate(DIRECTIONS)
]


@pytest.fixture(autouse=True)
def unread(monkeypatch):
    """Scores that this test has read, and no other."""
    monkeypatch.setattr(task_ranks, "_kept", type(task_ranks._kept)(CACHE_BYTES))


def some_scores(seed: int) -> dict[str, list[float | None]]:
    dice = random.Random(seed)
    return {f"S{i}": [dice.choice([None, 1.0, 2.0, 3.0, 4.0, 5.0]) for _ in TASKS] for i in range(9)}


def naive_tau(first, second):
    """Tau-b by counting pairs; None for a side without a score."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    signs = [((a > c) - (a < c), (b > d) - (b < d)) for (a, b), (c, d) in combinations(pairs, 2)]
    untied = [sum(x != 0 for x, _ in signs), sum(y != 0 for _, y in signs)]
    if len(pairs) < 3 or not all(untied):
        return "–", len(pairs)
    return f"{sum(x * y for x, y in signs) / (untied[0] * untied[1]) ** 0.5:.2f}".replace("-", "−"), len(pairs)


def get(client, benchmark, task, query=""):
    return compact(client.get(reverse("task", args=[benchmark.key, task]) + query))


def taus(body):
    """{with what: (tau, systems)}."""
    row = (
        r'<th scope="row">(?:<a [^>]*>)?([^<]*)(?:</a>)?</th><td class="number">([^<]*)</td>'
        r'<td class="bar-cell">.*?</td><td class="number">(\d+)</td>'
    )
    return {unescape(name): (tau, int(n)) for name, tau, n in re.findall(row, body)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("t", [0, 1, 2])
def test_how_a_task_agrees_with_the_others_is_what_counting_pairs_gives(client, make, seed, t):
    scores = some_scores(seed)
    benchmark = make.published(scores, tasks=TASKS)
    worth = [[None if row[u] is None else DIRECTIONS[u] * row[u] for row in scores.values()] for u in range(len(TASKS))]
    others = {f"T{u}": naive_tau(worth[t], worth[u]) for u in range(3) if u != t}
    by_task = taus(get(client, benchmark, f"t{t}"))
    assert {name: value for name, value in by_task.items() if name in others} == others
    assert "T3" not in by_task  # it has no order


def test_who_is_best_what_it_weighs_and_which_way_is_better_are_told(client, make):
    scores = {"A": [3.0, 20.0], "B": [2.0, 10.0], "C": [1.0, 10.0], "D": [4.0, None]}
    tasks = [
        TaskSpec("Up", key="up", minimum=0.0, maximum=5.0),
        TaskSpec("Down", key="down", direction=-1, weight="3", unit="ms"),
    ]
    body = get(client, make.published(scores, tasks=tasks), "down")
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", body))
    assert {name: facts[name] for name in ("Best", "Direction", "Weight", "Scores", "Median", "Scale")} == {
        "Best": "B and C: 10 ms",
        "Direction": "lower is better",
        "Weight": "3, 75.0 % of the total weight",
        "Scores": "3 of 4 systems",
        "Median": "10 ms",
        "Scale": "not stated",
    }
    row = r'<tr><td class="number">([^<]*)</td><th scope="row"><a [^>]*>(\w)</a></th><td class="number">(.*?)</td>'
    ranks = [(rank, name, re.sub("<[^>]*>", "", score).strip()) for rank, name, score in re.findall(row, body)]
    assert ranks == [("=1", "B", "10"), ("=1", "C", "10"), ("3", "A", "20"), ("–", "D", "not reported")]


def test_the_board_without_a_task_is_the_board_of_the_others(client, make):
    """Without the second task A wins everywhere, with it B does."""
    scores = {"A": [3.0, 1.0], "B": [2.0, 3.0], "C": [1.0, 2.0]}
    tasks = [TaskSpec("Light", key="light", weight="1"), TaskSpec("Heavy", key="heavy", weight="3")]
    body = get(client, make.published(scores, tasks=tasks), "heavy")
    assert re.findall(r"<li><strong>(\w)</strong> in place of (\w) ", body) == [("A", "B")]
    part = body.partition('aria-labelledby="without"')[2].partition('aria-labelledby="agrees"')[0]
    row = r'<td class="number">([^<]*)</td><td class="number">([^<]*)</td><th scope="row"><a [^>]*>(\w)</a>'
    assert [(rank, name) for rank, _, name in re.findall(row, part)] == [("1", "A"), ("2", "B"), ("3", "C")]
    assert "/what-if/?weights=heavy%3A0" in body
    assert "The ranking includes this task." in body


def test_a_task_that_changes_no_winner_says_how_many_rules_were_compared(client, make):
    scores = {"A": [3.0, 3.0], "B": [2.0, 2.0], "C": [1.0, 1.0]}
    tasks = [TaskSpec("One", key="one"), TaskSpec("Two", key="two")]
    said = r"Without One the winner changes under none of the \d+ compared rules\."
    assert re.search(said, get(client, make.published(scores, tasks=tasks), "one"))


def test_a_task_that_does_not_vote_or_votes_alone_says_what_follows(client, make):
    benchmark = make.published(
        {"A": [1.0, 2.0], "B": [2.0, 1.0]}, tasks=[TaskSpec("One", key="one"), TaskSpec("Two", key="two", direction=0)]
    )
    assert "It does not count in rankings: they are the same without it." in get(client, benchmark, "two")
    assert "No other task has a weight: without it there is no ranking." in get(client, benchmark, "one")


def test_a_task_that_there_is_not_is_not_found(client, make):
    benchmark = make.published()
    for task in ("none", "task-1x"):
        assert client.get(reverse("task", args=[benchmark.key, task])).status_code == 404


def test_who_asks_for_much_reads_the_page_without_what_is_computed_for_it(client, make, settings):
    benchmark = make.published()
    cache.clear()
    settings.API_RATES = settings.API_RATES | {"on_demand": "1/hour"}
    first, second = (get(client, benchmark, f"task-{t}") for t in (1, 2))
    assert "You asked for many computations at once" not in first
    assert "You asked for many computations at once" in second
    assert (first.count("You asked for many"), second.count("You asked for many")) == (0, 2)
    assert ("Task 2" in taus(first), "Task 1" in taus(second), len(taus(second))) == (True, False, 1)


@pytest.mark.parametrize("page", ["scores/", "tasks/task-1/", "pareto/?y=task.task-1"])
def test_a_board_beyond_the_budget_is_not_read(client, make, settings, page):
    fields = [{"key": "size", "name": "Size", "kind": "number"}]
    benchmark = make.published(metadata_fields=fields)
    benchmark.systems.update(metadata={"size": 7})
    path = reverse("board", args=[benchmark.key]) + page
    assert client.get(path).status_code == 200
    settings.ON_DEMAND_BUDGET = 1
    with CaptureQueriesContext(connection) as queries:
        refused = client.get(path)
    assert (refused.status_code, "up to 1 can be computed on demand" in refused.content.decode()) == (400, True)
    assert not [query for query in queries if 'FROM "leaderboard_score"' in query["sql"]]


def test_the_pareto_page_of_ranks_reads_no_scores(client, make):
    benchmark = make.published(metadata_fields=[{"key": "size", "name": "Size", "kind": "number"}])
    benchmark.systems.update(metadata={"size": 7})
    with CaptureQueriesContext(connection) as queries:
        page = client.get(reverse("pareto", args=[benchmark.key])).content.decode()
    assert "Score on Task 1" in page
    assert not [query for query in queries if "leaderboard_score" in query["sql"]]


def test_the_page_asks_the_database_so_often(client, make):
    benchmark = make.published()
    cache.clear()
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            get(client, benchmark, "task-1")
        counts.append(len(queries))
    # The benchmark, which reports there are, the submissions in force and the scores of this page, what the board
    # without the task is computed from; first the reports, and the systems and scores of all.
    assert counts == [14, 8]
