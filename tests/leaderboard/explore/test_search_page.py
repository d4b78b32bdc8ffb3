"""The search over the whole site: what it finds, and that it finds nothing that the reader may not see."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.explore.search import MAX_HITS, search
from leaderboard.models import Benchmark
from leaderboard.submissions.withdrawals import withdraw_own
from tests.markup import compact

pytestmark = pytest.mark.django_db
NOBODY = AnonymousUser()


def names(text, viewer=NOBODY):
    """{kind: names} of what is found."""
    return {kind: [hit.name for hit in hits] for kind, hits in search(viewer, text).kinds}


def test_it_finds_benchmarks_systems_tasks_rules_and_pages(make):
    make.published(
        {"Zebra one": [1.0], "Zebra two": [2.0]}, tasks=[TaskSpec("Zebra crossing", key="crossing")], name="Zebras"
    )
    hits = names("ZEBRA")
    assert (hits["Benchmarks"], hits["Systems"], hits["Tasks"]) == (
        ["Zebras"], ["Zebra one", "Zebra two"], ["Zebra crossing"]
    )  # fmt: skip
    assert hits["Pages"] == [
        f"Zebras: {page}" for page in
        ("Scores", "Agreement", "Head to head", "Who can win", "What if", "Stability", "History")
    ]  # fmt: skip
    assert names("copel") == {"Rules": ["Copeland"]}
    assert names("landsc") == {"Pages": ["Landscape"]}
    assert names("no such thing anywhere") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "z",
        "\x00",
        "\x00a",
        "z\x00e",
        "%",
        "z" * 100_000,
        "zeb\u0301" * 50_000,
        "%%",
        "__",
        "a" * 99 + "\u200b",
    ],
)
def test_whatever_is_typed_is_answered(client, make, text):
    make.published({"Zebra": [1.0]}, name="Zebras")
    assert client.get(reverse("search"), {"q": text[:3000]}).status_code in (200, 400)
    hits, is_part_of_name = names(text), text == "z\x00e"
    expected = (["Zebras"], ["Zebra"]) if is_part_of_name else (None, None)
    assert (hits.get("Benchmarks"), hits.get("Systems")) == expected


def test_of_each_kind_so_many_are_found_at_most(make):
    n = MAX_HITS + 1
    tasks = [TaskSpec(f"Zebra task {number}", key=f"task-{number}") for number in range(n)]
    make.published({f"Zebra {number}": [1.0] * n for number in range(n)}, tasks=tasks, name="Zebras")
    for number in range(n):
        make.published({"A": [1.0]}, name=f"Zebras {number}")
    kinds = ("Benchmarks", "Systems", "Tasks")
    assert {kind: len(names("zebra")[kind]) for kind in kinds} == dict.fromkeys(kinds, MAX_HITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"visibility": "private"},
        {"visibility": "unlisted"},
        {"score_view": "ranks"},
        {"score_view": "own"},
        {"anonymous_until": "tomorrow"},
    ],
)
def test_what_is_hidden_is_not_found_by_those_it_is_hidden_from(make, fields):
    benchmark = make.published({"Zebra": [1.0]}, tasks=[TaskSpec("Zebra task", key="task")], name="Board")
    fields = {
        name: timezone.now() + timedelta(days=1) if value == "tomorrow" else value for name, value in fields.items()
    }
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    for viewer in (NOBODY, make.user(), make.user(is_staff=True)):
        assert names("zebra", viewer) == {}
    owner = benchmark.memberships.get(role="owner").user
    expected = {} if fields.get("visibility") == "unlisted" else {"Systems": ["Zebra"], "Tasks": ["Zebra task"]}
    assert names("zebra", owner) == (expected or {"Systems": ["Zebra"], "Tasks": ["Zebra task"]})


def test_a_system_that_waits_or_has_left_is_not_found(make):
    benchmark = make.published({"A": [1.0]}, submission_policy="open")
    me = make.user()
    make.pending(benchmark, {"Zebra that waits": [2.0]}, by=me)
    batch = make.submitted(benchmark, "Zebra that left", ["3"], by=me)
    withdraw_own(audience_of(me, benchmark), batch.submissions.get(), reason="Wrong.")
    make.publish(benchmark)
    assert names("zebra") == {}


def test_the_page_shows_what_is_found_and_says_where_it_is(client, make):
    make.published({"Zebra <b>": [1.0]}, name="Animals")
    page = compact(client.get(reverse("search"), {"q": "zebra"}))
    assert '>Zebra &lt;b&gt;</a><span class="soft small">Animals</span>' in page.replace("</a> <span", "</a><span")
    nothing = compact(client.get(reverse("search"), {"q": "nothing here"})).partition('<div id="results"')[2]
    assert "No results for “nothing here”." in nothing
    assert re.findall(r'<a href="([^"]*)">', nothing.partition("</div>")[0]) == ["/", "/rules/", "/docs/"]
    assert "Type at least 2 characters." in compact(client.get(reverse("search"), {"q": "z"}))


def test_what_is_called_exactly_so_is_first_and_then_what_begins_so(make):
    beasts = ["A zebra", "Ärger", "ZEBRA", "Zebra Ä", "zebra%"]
    tasks = [TaskSpec(name, key=f"task-{n}") for n, name in enumerate(beasts)]
    make.published({name: [1.0] * len(tasks) for name in beasts}, tasks=tasks, name="A board")
    for name in ("An ÄRGER", "Ärger zwei", "ärger"):
        make.published({"A": [1.0]}, name=name)
    make.published({"A": [1.0]}, name="Begins", key="arg-er")
    expected = ["ZEBRA", "Zebra Ä", "zebra%", "A zebra"]
    assert (names("zebra")["Systems"], names("Zebra")["Tasks"]) == (expected, expected)
    assert names("zebra%")["Systems"] == ["zebra%"]
    assert names("Ärger")["Benchmarks"] == ["ärger", "Ärger zwei", "An ÄRGER"]
    assert names("arg-er")["Benchmarks"] == ["Begins"]
    assert names("condorcet")["Rules"][0] == "Condorcet"


def test_kinds_of_which_something_is_called_exactly_so_are_first(make):
    make.published({"Bordaline": [1.0], "Copeland": [2.0]}, tasks=[TaskSpec("Borda", key="b")], name="A borda board")
    kinds = {text: list(names(text)) for text in ("BORDA", "bordal", "copeland", "cop")}
    assert kinds == {
        "BORDA": ["Tasks", "Rules", "Benchmarks", "Systems", "Pages"],
        "bordal": ["Systems"],
        "copeland": ["Systems", "Rules"],
        "cop": ["Systems", "Rules"],
    }


@pytest.mark.parametrize("n", [1, 5])
def test_it_asks_the_database_so_often_whatever_is_found(client, make, n):
    for k in range(n):
        make.published({"Zebra": [1.0]}, tasks=[TaskSpec("Zebra task", key="task")], name=f"Zebras {k}")
    with CaptureQueriesContext(connection) as queries:
        client.get(reverse("search"), {"q": "zebra"})
    assert len(queries) == 4  # benchmarks, names of systems, those on a board, tasks


def test_who_searches_too_often_waits(client, settings):
    settings.API_RATES = settings.API_RATES | {"search": "2/min"}
    cache.clear()
    answers = [client.get(reverse("search"), {"q": "zebra"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "You have searched very often" in answers[2].content.decode()
    assert client.get(reverse("search")).status_code == 200  # the empty form asks nothing of the database


def test_systems_beyond_the_first_names_are_not_looked_up(make, monkeypatch):
    make.published({f"Zebra {n}": [float(n)] for n in range(5)}, name="Board")
    monkeypatch.setattr("leaderboard.explore.search.MAX_NAMES", 2)
    assert names("zebra")["Systems"] == ["Zebra 0", "Zebra 1"]
    assert names("bra 4") == names("zebra 4") == {"Systems": ["Zebra 4"]}
