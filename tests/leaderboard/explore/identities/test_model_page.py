"""A model over all boards: ranks of each board, shares worked out by hand, fronts, and nothing of what is hidden."""

import re
from decimal import Decimal
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.utils import timezone

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.explore.identities import page as pages
from leaderboard.explore.identities.page import model_page
from leaderboard.explore.identities.strengths import MAX_KINDS
from leaderboard.models import System
from tests.factories import owner_of
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"
FIRST = {"Ada": [9.0, 5.0, 1.0], "Bob": [8.0, 5.0, 2.0], "Cleo": [7.0, 6.0, 3.0]}
SECOND = {"Eve": [1.0, 3.0], "ADA": [2.0, 2.0], "Dan": [3.0, 1.0], "Fay": [4.0, 0.0]}


@pytest.fixture
def model(make):
    """Ada on two boards; the reading tasks of both are one kind."""
    tasks = [
        TaskSpec("T1", group="Reading", weight=Decimal(1)),
        TaskSpec("T2", group="Reading", weight=Decimal(1)),
        TaskSpec("T3", weight=Decimal(1)),
    ]
    groups = [GroupSpec("Reading")]
    first = make.published(FIRST, name="First", key="first", tasks=tasks, groups=groups, default_rule="mean")
    tasks = [TaskSpec("U1", group="READING", weight=Decimal(1)), TaskSpec("U2", direction=-1, weight=Decimal(1))]
    groups = [GroupSpec("READING")]
    second = make.published(SECOND, name="Second", key="second", tasks=tasks, groups=groups, default_rule="borda")
    change_links(first, {"ada": NEW}, author=owner_of(first))
    change_links(second, {"ada": "ada"}, author=owner_of(second))
    return first, second


def hide(benchmark, **fields):
    type(benchmark).objects.filter(pk=benchmark.pk).update(**fields)


def test_the_page_has_the_rank_of_every_board_and_the_strengths_over_all(model, client):
    content = model_page(AnonymousUser(), "ada")
    assert [(one.benchmark.key, one.name, one.rule_name, one.rank, one.n_ranked) for one in content.boards] == [
        ("first", "Ada", "Mean", 2, 3),
        ("second", "ADA", "Borda", 3, 4),
    ]
    # Reading: first of three, then level with one of two and below the other, then above one of three.
    reading = (1 + 1 / 4 + 1 / 3) / 3
    assert [(kind.name, round(kind.below, 12), kind.n_tasks) for kind in content.kinds] == [
        ("Reading", round(reading, 12), 3),
        ("U2", round(1 / 3, 12), 1),
        ("T3", 0.0, 1),
    ]
    page = unescape(compact(client.get("/s/ada/")))
    sentence = (
        "On 2 boards. The owners of each board declare for their own board alone that a system there is this model"
    )
    assert sentence in page
    assert re.findall(r'<a href="(/b/[a-z]+/systems/[a-z]+/)">', page) == [
        "/b/first/systems/ada/",
        "/b/second/systems/ada/",
    ]
    assert "This model on all boards" in compact(client.get("/b/second/systems/ada/"))
    assert "This model on all boards" not in compact(client.get("/b/second/systems/eve/"))


@pytest.mark.parametrize("rule", ["borda", "copeland", "minimax"])
def test_a_rule_that_is_asked_for_ranks_on_every_board(model, client, rule):
    content = model_page(AnonymousUser(), "ada", rule=rule)
    for one in content.boards:
        ranks = client.get(f"/api/v1/benchmarks/{one.benchmark.key}/systems/ada/").json()["ranks"]
        assert [one.rank] == [row["rank"] for row in ranks if row["rule"] == rule]
    assert client.get("/s/ada/?rule=nothing").status_code == 400


def test_pareto_places_are_those_of_the_boards_own_page(model, client):
    first, _ = model
    first.metadata_fields = [{"key": "parameters", "name": "Parameters", "kind": "number"}]
    first.save()
    for key, number in {"ada": 9, "bob": 5, "cleo": 7}.items():
        System.objects.filter(benchmark=first, key=key).update(metadata={"parameters": number})
    for rule in ("mean", "borda"):
        content = model_page(AnonymousUser(), "ada", rule=rule).boards[0].pareto
        query = {"x": "parameters", "y": f"rank.{rule}", "format": "json"}
        rows = client.get("/b/first/exports/pareto.json", query).json()["rows"]
        standing = next(row["front"] for row in rows if row["system"] == "ada")
        assert [(one.field_name, one.standing or "no") for one in content] == [("Parameters", standing)]


def test_a_board_that_shows_ranks_alone_gives_its_rank_and_nothing_else(model, client):
    _, second = model
    hide(second, score_view="ranks")
    _, hiding = model_page(AnonymousUser(), "ada").boards
    assert (hiding.rank, hiding.score_text, hiding.interval_text, hiding.shares) == (3, "", "", [])
    assert [kind.name for kind in model_page(AnonymousUser(), "ada").kinds] == ["Reading", "T3"]
    page = compact(client.get("/s/ada/"))
    assert "/b/second/systems/" not in page
    assert "ranks only" in page


@pytest.mark.parametrize(
    "hiding",
    [
        {"visibility": "private"},
        {"visibility": "unlisted"},
        {"score_view": "own"},
        {"anonymous_until": timezone.now() + timezone.timedelta(days=9)},
    ],
)
def test_what_hides_a_system_hides_it_here(model, make, client, hiding):
    first, second = model
    whole = compact(client.get("/s/ada/"))
    hide(second, **hiding)
    page = compact(client.get("/s/ada/"))
    assert "On 1 board." in page
    assert not {"Second", "ADA", "READING", "U2"} & set(re.findall(r"\w+", page))
    owners = make.member(second, "owner")
    client.force_login(owners, backend=BACKEND)
    assert "On 2 boards." in compact(client.get("/s/ada/"))
    client.logout()
    hide(first, **hiding)
    nothing, other = client.get("/s/ada/"), client.get("/s/bda/")
    # The way back after signing in is the address itself.
    assert (nothing.status_code, nothing.content) == (404, other.content.replace(b"bda", b"ada"))
    assert "On 2 boards." in whole


def test_a_system_under_embargo_or_off_the_board_is_not_there(model, make):
    from leaderboard.submissions.lifecycle import withdraw_submission

    first, second = model
    withdraw_submission(second.submissions.get(system__key="ada"), actor=owner_of(second), reason="Wrong.")
    make.publish(second)
    assert [one.benchmark.key for one in model_page(AnonymousUser(), "ada").boards] == ["first"]
    withdraw_submission(first.submissions.get(system__key="ada"), actor=owner_of(first), reason="Wrong.")
    make.publish(first)
    with pytest.raises(Http404):
        model_page(AnonymousUser(), "ada")


def test_a_page_has_some_boards_and_each_costs_as_many_queries(model, monkeypatch, django_assert_num_queries):
    model_page(AnonymousUser(), "ada")
    with django_assert_num_queries(2 + 2):
        model_page(AnonymousUser(), "ada")
    monkeypatch.setattr(pages, "BOARDS_A_PAGE", 1)
    for number, key in ((1, "first"), (2, "second")):
        with django_assert_num_queries(2 + 1):
            content = model_page(AnonymousUser(), "ada", page=str(number))
        assert ([one.benchmark.key for one in content.boards], content.n_boards) == ([key], 2)


def test_kinds_beyond_the_longest_table_are_counted(make, client):
    """More tasks without a group than the table has rows; the one that a second board has, too, is one kind."""
    names = ["Shared", *(f"T{k}" for k in range(MAX_KINDS))]
    scores = {"Ada": [float(k) for k in range(len(names))], "Bob": [100.5] * len(names)}
    for key, task_names in (("long", names), ("short", ["Shared"])):
        tasks = [TaskSpec(name, weight=Decimal(1)) for name in task_names]
        values = {name: row[: len(tasks)] for name, row in scores.items()}
        board = make.published(values, name=key, key=key, tasks=tasks)
        change_links(board, {"ada": NEW if key == "long" else "ada"}, author=owner_of(board))
    model = model_page(AnonymousUser(), "ada")
    assert (len(model.kinds), model.n_kinds) == (MAX_KINDS, MAX_KINDS + 1)
    page = unescape(compact(client.get("/s/ada/")))
    assert f"These are the {MAX_KINDS} strongest of {MAX_KINDS + 1} kinds." in page
    content = client.get("/api/v1/models/ada/").json()
    assert (len(content["strengths"]), content["n_strengths"]) == (MAX_KINDS, MAX_KINDS + 1)
    hide(System.objects.get(benchmark__key="long", key="ada").benchmark, visibility="private")
    assert [kind.name for kind in model_page(AnonymousUser(), "ada").kinds] == ["Shared"]
    assert "strongest of" not in client.get("/s/ada/").content.decode()


def test_a_task_without_a_group_and_a_group_of_its_name_are_one_kind(make, client):
    reading = [TaskSpec("T1", group="Reading", weight=Decimal(1))]
    first = make.published({"Ada": [2.0], "Bob": [1.0]}, key="one", tasks=reading, groups=[GroupSpec("Reading")])
    second = make.published({"Ada": [1.0], "Bob": [2.0]}, key="two", tasks=[TaskSpec("reading", weight=Decimal(1))])
    change_links(first, {"ada": NEW}, author=owner_of(first))
    change_links(second, {"ada": "ada"}, author=owner_of(second))
    assert [(kind.below, kind.n_tasks) for kind in model_page(AnonymousUser(), "ada").kinds] == [(0.5, 2)]
    assert "groups or tasks of the same name are one kind" in compact(client.get("/s/ada/"))


@pytest.mark.parametrize(
    ("most", "kinds"), [(17, {"Reading", "U2", "T3"}), (16, {"Reading", "T3"}), (8, {"READING", "U2"})]
)
def test_a_page_reads_so_many_scores_and_says_what_it_left_out(model, client, monkeypatch, most, kinds):
    """The first board has 3 x 3 scores, the second 4 x 2."""
    monkeypatch.setattr(pages, "MAX_CELLS", most)
    content = model_page(AnonymousUser(), "ada")
    assert {kind.name for kind in content.kinds} == kinds
    n_too_large = int(most < 17)
    assert (content.n_too_large, client.get("/api/v1/models/ada/").json()["n_too_large"]) == (n_too_large, n_too_large)
    assert [one.rank for one in content.boards] == [2, 3]
    assert ("1 board is left out" in compact(client.get("/s/ada/"))) == bool(n_too_large)


def test_a_page_without_any_strengths_says_why(model, client, monkeypatch):
    monkeypatch.setattr(pages, "MAX_CELLS", 7)
    assert model_page(AnonymousUser(), "ada").kinds == []
    assert "2 boards are left out" in compact(client.get("/s/ada/"))


def test_reading_a_model_counts_as_asking(model, client, settings):
    settings.API_RATES = {**settings.API_RATES, "on_demand": "2/hour"}
    paths = ["/s/ada/", "/api/v1/models/ada/"]
    assert [client.get(path).status_code for path in paths] == [200, 200]
    assert [client.get(path).status_code for path in paths] == [429, 429]


def test_boards_of_others_do_not_rename_a_model_and_its_name_is_kept_from_those_who_may_not_read_it(model, make):
    first, _ = model
    for key in ("third", "fourth"):
        other = make.published({"Zed": [1.0], "Bob": [2.0]}, name=key.capitalize(), key=key, n_tasks=1)
        change_links(other, {"zed": "ada"}, author=owner_of(other))
    assert model_page(AnonymousUser(), "ada").name == "Ada"
    hide(first, visibility="private")
    assert model_page(AnonymousUser(), "ada").name == "Zed"
    assert model_page(owner_of(first), "ada").name == "Ada"
    change_links(first, {"ada": ""}, author=owner_of(first))
    assert model_page(owner_of(first), "ada").name == "Zed"


def test_the_ranks_over_time_are_those_of_each_stored_revision(model, make, client):
    first, _ = model
    assert model_page(AnonymousUser(), "ada", with_history=True).over_time is None
    make.accepted(first, {"Gus": [9.5, 9.0, 9.0]})
    make.publish(first)
    over_time = model_page(AnonymousUser(), "ada", with_history=True).over_time
    assert [(one.benchmark.key, [(r.revision, r.rank, r.n_ranked) for r in one.ranks]) for one in over_time.boards] == [
        ("first", [(1, 2, 3), (2, 3, 4)]),
    ]
    assert len(over_time.chart.lines) == 1
    assert over_time.chart.lines[0].said.startswith("First: 2 of 3 at ")
    page = compact(client.get("/s/ada/"))
    assert "Ranks over time" in page
    assert 'href="/b/first/?revision=2"' in page
    borda = model_page(AnonymousUser(), "ada", rule="minimax", with_history=True).over_time.boards[0].ranks
    assert [one.rank for one in borda] == [
        row["rank"]
        for row in client.get("/api/v1/benchmarks/first/systems/ada/history/?rule=minimax").json()["results"]
    ]


def test_ranks_over_time_leave_out_boards_that_hide_their_scores(model, make):
    first, _ = model
    make.accepted(first, {"Gus": [9.5, 9.0, 9.0]})
    make.publish(first)
    hide(first, score_view="ranks")
    assert model_page(AnonymousUser(), "ada", with_history=True).over_time is None
    assert model_page(owner_of(first), "ada", with_history=True).over_time is not None
