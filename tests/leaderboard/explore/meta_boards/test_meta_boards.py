"""Saved meta-boards: they answer as `/compare/` does; who may save, read and change them; and their bounds."""

import csv
import io
import re
from copy import deepcopy
from html import unescape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import Http404

from leaderboard.benchmarks import meta_boards
from leaderboard.benchmarks.meta_boards import MAX_BENCHMARKS, MetaBoardSpec, save_meta_board
from leaderboard.explore import benchmarks
from leaderboard.explore.meta_boards.page import meta_board_page
from leaderboard.models import MetaBoard
from leaderboard.on_demand import budget
from leaderboard.on_demand.budget import reader_now
from tests.factories import owner_of
from tests.markup import compact

BACKEND = "django.contrib.auth.backends.ModelBackend"
TABLES = {
    "first": {"Ada": [9.0], "Bob": [8.0], "Cleo": [7.0], "Dan": [6.0]},
    "second": {"Ada": [1.0], "Bob": [3.0], "Cleo": [2.0]},
    "third": {"Ada": [4.0], "Bob": [5.0], "Cleo": [6.0], "Dan": [4.0]},
}


@pytest.fixture(autouse=True)
def nothing_counted():
    cache.clear()


@pytest.fixture(scope="module")
def three_once(make_once):
    return {key: make_once.published(table, name=key.capitalize(), key=key, n_tasks=1) for key, table in TABLES.items()}


@pytest.fixture
def three(three_once, make):
    return deepcopy(three_once)


@pytest.fixture
def author(make):
    return make.user("author")


def saved(author, keys=("first", "second", "third"), **fields) -> MetaBoard:
    return save_meta_board(MetaBoardSpec(list(keys), {"name": "All three", **fields}), author=author)


def ranks(client, path: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(client.get(path).content.decode())))


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        ({}, ""),
        ({"rule": "borda", "worth": "points", "missing_policy": "median"}, "&rule=borda&score=points&policy=median"),
        ({"least": 3, "default_rule": "minimax", "missing_policy": "worst"}, "&least=3&reference=minimax&policy=worst"),
    ],
)
def test_a_saved_board_is_what_the_benchmarks_side_by_side_say(three, author, client, fields, query):
    board = saved(author, **fields)
    assert board.key == "all-three"
    path = f"/compare/?b=first&b=second&b=third{query}"
    assert ranks(client, "/meta/all-three/?format=csv") == ranks(client, f"{path}&format=csv")
    page = unescape(compact(client.get("/meta/all-three/")))
    change = re.search(r'href="(/compare/[^"]+)">Change the question', page)[1]
    assert ranks(client, f"{change}&format=csv") == ranks(client, f"{path}&format=csv")
    assert "@misc{all-three," in page
    assert "{http://testserver/meta/all-three/}" in page
    assert '<a href="/meta/all-three/">All three</a>' in compact(client.get("/meta/"))


def test_it_follows_the_boards_and_computes_what_it_knows_no_second_time(three, make, author, monkeypatch):
    n_computed = []
    rank_in_time = benchmarks.rank_in_time
    monkeypatch.setattr(benchmarks, "rank_in_time", lambda *given: n_computed.append(1) or rank_in_time(*given))
    board = saved(author, missing_policy="median", default_rule="mean")
    first = meta_board_page(AnonymousUser(), board).compared
    again = meta_board_page(author, board).compared
    assert [(row.name, row.rank) for row in first.rows] == [(row.name, row.rank) for row in again.rows]
    assert len(n_computed) == 1
    make.accepted(three["second"], {"Eve": [4.0], "Cleo": [9.0]})
    make.publish(three["second"])
    later = meta_board_page(AnonymousUser(), board).compared
    assert len(n_computed) == 2
    ranks_there = {row.name: row.places[1] and row.places[1].rank for row in later.rows}
    assert ranks_there == {"Ada": 4, "Bob": 3, "Cleo": 1, "Dan": None}


def test_a_benchmark_that_became_private_is_not_there_for_others(three, author, client):
    saved(author)
    type(three["third"]).objects.filter(key="third").update(visibility="private")
    page = unescape(compact(client.get("/meta/all-three/")))
    assert "of the 2 benchmarks" in page
    assert "third" not in page.casefold()
    client.force_login(owner_of(three["third"]), backend=BACKEND)
    assert "Third" in compact(client.get("/meta/all-three/"))


def test_a_private_board_is_its_authors_alone_and_its_key_says_nothing(three, make, author, client):
    board = saved(author, is_public=False)
    assert re.fullmatch(r"board-[0-9a-f]{16}", board.key)
    path, missing = f"/meta/{board.key}/", "/meta/board-0000000000000000/"
    for user in (None, make.user()):
        if user:
            client.force_login(user, backend=BACKEND)
        answer, nothing = client.get(path), client.get(missing)
        # The way back after signing in is the address itself.
        same = nothing.content.replace(b"board-0000000000000000", board.key.encode())
        assert (answer.status_code, answer.content) == (404, same)
        assert "All three" not in compact(client.get("/meta/"))
    client.force_login(author, backend=BACKEND)
    assert client.get(path).status_code == 200
    assert "All three" in compact(client.get("/meta/"))


def test_the_author_saves_what_was_compared_changes_it_and_deletes_it(three, author, make, client):
    client.force_login(author, backend=BACKEND)
    page = compact(client.get("/compare/?b=first&b=second&policy=median&rule=borda"))
    link = unescape(re.search(r'href="(/meta/new/[^"]+)"', page)[1])
    form = client.get(link).context["form"]
    fields = {name: form[name].value() or "" for name in form.fields}
    assert (fields["benchmarks"], fields["rule"], fields["missing_policy"]) == (["first", "second"], "borda", "median")
    answer = client.post("/meta/new/", fields | {"name": "Two", "is_public": "on"})
    assert answer.headers["Location"] == "/meta/two/"
    page, manage = client.get("/meta/two/"), client.get("/meta/two/manage/")
    titles = [compact(one).partition("<title>")[2].partition("</title>")[0].strip() for one in (page, manage)]
    assert titles == ["Two · Plurank", "Change Two · Plurank"]
    form = manage.context["form"]
    fields = {name: form[name].value() or "" for name in form.fields}
    changed = fields | {"benchmarks": ["third", "first"], "least": "2", "is_public": "on", "default_rule": "minimax"}
    client.post("/meta/two/manage/", changed)
    board = MetaBoard.objects.get()
    assert sorted(one.key for one in board.benchmarks.all()) == ["first", "third"]
    assert (board.key, board.default_rule, board.rule) == ("two", "minimax", "borda")
    client.force_login(make.user(), backend=BACKEND)
    assert client.post("/meta/two/manage/", {"action": "delete"}).status_code == 403
    client.force_login(author, backend=BACKEND)
    client.post("/meta/two/manage/", {"action": "delete"})
    assert not MetaBoard.objects.exists()


@pytest.mark.parametrize(
    ("keys", "fields", "problem"),
    [
        (["first"], {}, "Select 2 to 12 benchmarks; you selected 1."),
        ([f"b{k}" for k in range(MAX_BENCHMARKS + 1)], {}, "you selected 13."),
        (["first", "nothing"], {}, "There is no benchmark 'nothing', or you have no access to it"),
        (["first", "hidden"], {}, "There is no benchmark 'hidden', or you have no access to it"),
        (["first", "second"], {"rule": "x" * 100}, "is not a rule"),
        (["first", "second"], {"default_rule": "nothing"}, "'nothing' is not a rule"),
        (["first", "second"], {"least": 3}, "3 is not between 2 and 2"),
        (["first", "second"], {"description": "x" * 5_001}, "at most 5000 are kept"),
        (["first", "second"], {"name": " "}, "is empty"),
        (["first", "second"], {"worth": "nothing"}, "not a valid choice"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_nothing_is_stored(three, make, author, keys, fields, problem):
    make.published({"Ada": [1.0]}, name="Hidden", key="hidden", n_tasks=1, visibility="private")
    with pytest.raises(ValidationError) as error:
        saved(author, keys, **fields)
    assert problem in " ".join(error.value.messages)
    assert not MetaBoard.objects.exists()


def test_a_public_board_has_public_benchmarks_alone(three, make):
    hidden = make.published({"Ada": [1.0]}, name="Hidden", key="hidden", n_tasks=1, visibility="private")
    owner = owner_of(hidden)
    with pytest.raises(ValidationError, match="hidden is not public"):
        saved(owner, ["first", "hidden"])
    board = saved(owner, ["first", "hidden"], is_public=False)
    with pytest.raises(ValidationError, match="hidden is not public"):
        save_meta_board(MetaBoardSpec(None, {"is_public": True}), author=owner, board=board)


def test_there_is_an_end_to_the_boards_of_one_person(three, author, monkeypatch):
    monkeypatch.setattr(meta_boards, "MAX_META_BOARDS", 1)
    saved(author)
    with pytest.raises(ValidationError, match="You have 1 meta-boards, which is the limit"):
        saved(author)


def test_names_give_keys_that_differ_and_are_no_page_of_their_own(three, make, author):
    assert [saved(one, name="New").key for one in (author, make.user())] == ["new-2", "new-3"]


def test_what_changed_since_a_board_was_read_is_kept_and_a_deleted_board_stays_deleted(three, author):
    board = saved(author)
    stale = MetaBoard.objects.get()
    save_meta_board(MetaBoardSpec(None, {"description": "Newer."}), author=author, board=board)
    save_meta_board(MetaBoardSpec(None, {"name": "Renamed"}), author=author, board=stale)
    assert list(MetaBoard.objects.values_list("name", "description")) == [("Renamed", "Newer.")]
    MetaBoard.objects.all().delete()
    with pytest.raises(Http404):
        save_meta_board(MetaBoardSpec(None, {"name": "Again"}), author=author, board=stale)
    assert not MetaBoard.objects.exists()


def test_staff_delete_a_public_board_and_change_none(three, author, make, client):
    saved(author)
    hidden = saved(author, is_public=False)
    client.force_login(make.user("staff", is_staff=True), backend=BACKEND)
    page = compact(client.get("/meta/all-three/manage/"))
    assert "As staff you can delete it" in page
    assert 'value="save"' not in page
    assert client.post("/meta/all-three/manage/", {"action": "save", "name": "Mine"}).status_code == 403
    assert client.post(f"/meta/{hidden.key}/manage/", {"action": "delete"}).status_code == 404
    assert client.post("/meta/all-three/manage/", {"action": "delete"}).status_code == 302
    assert MetaBoard.objects.get() == hidden


@pytest.mark.parametrize("address", ["/meta/all-three/", "/compare/?b=first&b=second&b=third"])
def test_a_ranking_that_used_up_the_seconds_leaves_no_agreement_and_the_answer_says_so(
    three, author, client, monkeypatch, address
):
    rank_in_time = benchmarks.rank_in_time

    def rank_to_the_end(*given):
        ranked = rank_in_time(*given)
        monkeypatch.setattr(budget, "FEW_STEPS", 0)  # the agreement of three boards is a few milliseconds otherwise
        reader_now().seconds = 0.0
        return ranked

    saved(author)
    monkeypatch.setattr(benchmarks, "rank_in_time", rank_to_the_end)
    page = compact(client.get(address))
    assert "How far the benchmarks agree was not computed in time." in page
    assert "Kendall’s tau" not in page
    assert "Cleo" in page
    cache.clear()
    content = client.get("/api/v1/meta-boards/all-three/").json()
    assert (content["benchmarks"], content["agreement_reason"]) == ([], benchmarks.NOT_IN_TIME)
    assert [one["name"] for one in content["systems"]] != []


def test_a_board_that_is_too_large_for_an_answer_on_demand_says_why_there_is_none(three, author, client, settings):
    saved(author)
    settings.ON_DEMAND_BUDGET = 1
    for address in ("/meta/all-three/", "/compare/?b=first&b=second&b=third"):
        assert "up to 1 can be computed on demand" in compact(client.get(address))
    assert "up to 1 can be computed" in client.get("/api/v1/meta-boards/all-three/").json()["reason"]


def test_reading_a_board_counts_as_comparing_does(three, author, client, settings):
    saved(author)
    settings.API_RATES = settings.API_RATES | {"on_demand": "2/minute"}
    assert [client.get("/meta/all-three/").status_code for _ in range(3)] == [200, 200, 429]


def test_benchmarks_are_found_by_words_and_ticked_and_what_was_typed_stays(three, author, client):
    client.force_login(author, backend=BACKEND)

    def boxes(page):
        return re.findall(r'name="benchmarks" value="(\w+)"( checked)?', page)

    assert boxes(compact(client.get("/meta/new/"))) == [("first", ""), ("second", ""), ("third", "")]
    typed = {"action": "find", "find": "THIRD", "benchmarks": ["second"], "name": "Half a name", "least": "x"}
    answer = client.post("/meta/new/", typed)
    page = compact(answer)
    assert (answer.status_code, boxes(page)) == (200, [("second", " checked"), ("third", "")])
    assert 'value="Half a name"' in page
    assert not MetaBoard.objects.exists()
    saved(author)
    page = compact(client.post("/meta/all-three/manage/", {"action": "find", "find": "zzz", "benchmarks": ["first"]}))
    assert boxes(page) == [("first", " checked")]
    assert "No other benchmark with a board has this name." in page
    assert len(MetaBoard.objects.get().benchmarks.all()) == 3


def test_boxes_never_name_benchmarks_that_lists_may_not_mention(three, make, author, client):
    make.published({"Ada": [1.0]}, name="Hidden", key="hidden", n_tasks=1, visibility="private")
    client.force_login(author, backend=BACKEND)
    page = compact(client.post("/meta/new/", {"action": "find", "find": "hid", "benchmarks": ["hidden", "first"]}))
    assert re.findall(r'name="benchmarks" value="(\w+)"', page) == ["first"]
    assert "Hidden" not in page
    answer = client.post("/meta/new/", {"name": "X", "benchmarks": ["a" * 500, "first\0"], "action": "save"})
    assert answer.status_code == 400


def test_each_two_benchmarks_are_compared_over_what_both_rank(three, author, client):
    saved(author)
    content = client.get("/api/v1/meta-boards/all-three/").json()
    pairs = {(one["first"], one["second"]): (one["n_systems"], one["kendall"]) for one in content["pairs"]}
    # First: Ada, Bob, Cleo, Dan. Second: Bob, Cleo, Ada. Third: Cleo, Bob, Ada = Dan.
    assert pairs == {
        ("first", "second"): (3, pytest.approx(-1 / 3)),
        ("first", "third"): (4, pytest.approx((2 - 3) / (6 * 5) ** 0.5)),
        ("second", "third"): (3, pytest.approx(1 / 3)),
    }
    page = client.get("/meta/all-three/").content.decode()
    table = page[page.index('<table class="pairs">') :]
    texts = re.findall(r'<td class="number l(\d)">(.*?)<small>(\d)</small></td>', table)
    assert sorted(texts) == sorted(2 * [("0", "−0.33", "3"), ("0", "−0.18", "4"), ("1", "0.33", "3")])
