"""Columns on demand: the engine's own answer, computed once, for whom it is fit."""

import threading
import time

import numpy as np
import pytest
from django.core.cache import cache

from leaderboard.access.audience import audience_of
from leaderboard.boards.board import build_board
from leaderboard.boards.query import BoardQuery
from leaderboard.on_demand.budget import ANSWER_BYTES, TooLargeError, single_flight
from leaderboard.rankings import on_request
from leaderboard.rankings.on_request import board_under
from leaderboard.rankings.published import published_board
from leaderboard.rankings.score_matrix import revision_matrix
from ranking_engine import rank

POLICIES = ["undefined", "drop_systems", "drop_tasks", "median", "worst"]
SCORES = {"A": [4.0, 4.0, None], "B": [3.0, None, 4.0], "C": [2.0, 3.0, 3.0], "D": [1.0, 2.0, 2.0]}


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


@pytest.fixture(scope="module")
def by_policy(make_once):
    """A board under each policy."""
    return {policy: make_once.published(SCORES, missing_policy=policy) for policy in POLICIES}


@pytest.mark.parametrize("stored", POLICIES)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.usefixtures("make")
def test_a_policy_on_demand_is_the_engines_own_answer(by_policy, stored, policy):
    benchmark = by_policy[stored]
    owner = benchmark.memberships.get().user
    board = build_board(audience_of(owner, benchmark), BoardQuery(policy=policy))
    matrix = revision_matrix(benchmark.publication.revision).matrix
    for column in board.columns:
        own = rank(matrix, column.rule, missing=policy)
        assert column.ranks.tolist() == own.ranks.tolist()
        assert np.array_equal(column.scores, own.scores, equal_nan=True)
        assert column.status == own.status


def on_demand(benchmark, names=None, level="public"):
    board = published_board(benchmark.publication)
    return board_under(board, "median", "basic", names or list("ABCD"), level).columns


def test_an_answer_is_kept_by_audience(make, monkeypatch):
    benchmark, calls = make.published(SCORES), []
    compute = on_request.rank_in_time

    def counted(*arguments, **options):
        calls.append(arguments)
        return compute(*arguments, **options)

    monkeypatch.setattr(on_request, "rank_in_time", counted)
    for level in ("public", "public", "member", "owner", "member"):
        on_demand(benchmark, level=level)
    assert len(calls) == 3


def test_two_benchmarks_of_the_same_scores_keep_their_own_names(make):
    """The hash of the inputs knows keys alone; the names of a private benchmark are not the public one's."""
    public = make.published({"A": [1.0, 2.0], "B": [2.0, 3.0]})
    private = make.published({"a": [1.0, 2.0], "b": [2.0, 3.0]}, visibility="private")
    assert public.publication.revision.input_hash == private.publication.revision.input_hash
    names = [on_demand(b, n)[0].winner_names for b, n in ((private, ["a", "b"]), (public, ["A", "B"]))]
    assert names == [["b"], ["B"]]


def test_beyond_the_budget_the_refusal_says_how_much_is_too_much(make, settings):
    settings.ON_DEMAND_BUDGET = 71
    with pytest.raises(
        TooLargeError, match=r"4 systems x 3 tasks x \d+ rules = \d+; up to 71 can be computed on demand"
    ):
        on_demand(make.published(SCORES))


# --- One computation for all who ask -------------------------------------------------------------------------------


def test_two_who_ask_at_once_cause_one_computation():
    calls, answers, started, second_asks = [], [], threading.Event(), threading.Event()

    def compute():
        calls.append(threading.get_ident())
        started.set()
        second_asks.wait(30)
        time.sleep(0.2)
        return "answer"

    def ask(begins: threading.Event):
        begins.set()
        answers.append(single_flight("key", compute))

    first = threading.Thread(target=ask, args=(threading.Event(),))
    first.start()
    started.wait(5)
    second = threading.Thread(target=ask, args=(second_asks,))
    second.start()
    first.join(5)
    second.join(5)
    assert (answers, len(calls)) == (["answer", "answer"], 1)


def test_a_failure_is_not_kept_and_the_next_one_computes():
    with pytest.raises(ZeroDivisionError):
        single_flight("key", lambda: 1 // 0)
    assert single_flight("key", lambda: "answer") == "answer"


def test_whoever_waits_in_vain_computes_for_themselves(monkeypatch, settings):
    settings.ON_DEMAND_SECONDS = 0.1
    monkeypatch.setattr(cache, "add", lambda *args, **options: False)
    assert single_flight("key", lambda: "answer") == "answer"


def test_who_waited_in_vain_leaves_the_mark_of_the_one_that_still_computes(settings):
    settings.ON_DEMAND_SECONDS = 0.5
    started, first_may_end, answers, calls = threading.Event(), threading.Event(), [], []

    def slow():
        started.set()
        first_may_end.wait(30)
        return "first"

    first = threading.Thread(target=lambda: answers.append(single_flight("key", slow)))
    first.start()
    started.wait(5)
    # An answer that is too long to be kept: so the third one finds none.
    single_flight("key", lambda: "x" * (ANSWER_BYTES + 1))

    third = threading.Thread(target=lambda: answers.append(single_flight("key", lambda: calls.append(1) or "third")))
    third.start()
    time.sleep(0.1)
    first_may_end.set()
    first.join(5)
    third.join(5)
    assert (answers, calls) == (["first", "first"], [])


def test_a_mark_that_ran_out_is_not_removed_from_the_one_who_set_the_next(settings, monkeypatch):
    settings.ON_DEMAND_SECONDS, marks, removed = 30, [], []

    def made():
        (mark,) = marks
        cache.set(mark, "of another", 30)  # as if the first mark had run out
        return "answer"

    add, delete = cache.add, cache.delete
    monkeypatch.setattr(cache, "add", lambda key, *rest: marks.append(key) or add(key, *rest))
    monkeypatch.setattr(cache, "delete", lambda key: removed.append(key) or delete(key))
    assert single_flight("key", made) == "answer"
    assert (removed, cache.get(marks[0])) == ([], "of another")


def test_an_answer_is_computed_once_and_other_keys_have_their_own():
    answers = [single_flight(key, lambda key=key: [key]) for key in ("a", "b", "a")]
    assert answers == [["a"], ["b"], ["a"]]
    assert single_flight("a", lambda: "not asked") == ["a"]


def test_without_its_cache_the_site_answers_all_the_same(settings):
    nowhere = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": nowhere | {"OPTIONS": {"socket_connect_timeout": 1}}}
    assert single_flight("anything", lambda: "an answer") == "an answer"


OF_A_REVISION = ("", "board.csv", "embed/", "rules/borda/", "scores/", "exports/ranks.csv", "agreement/", "what-if/")


@pytest.mark.parametrize("number", ["0", "-1", "2", "99999999999999999999999"])
def test_a_number_that_no_revision_has_is_not_found_on_a_page_or_in_the_api(make_once, client, number):
    cache.clear()
    key = make_once.published({"A": [1.0], "B": [2.0]}).key
    pages = [f"/b/{key}/{page}" for page in OF_A_REVISION]
    answers = [f"/api/v1/benchmarks/{key}/{path}/" for path in ("board", "rankings", "rankings/borda", "scores")]
    statuses = {path: client.get(path, {"revision": number}).status_code for path in [*pages, *answers]}
    assert statuses == dict.fromkeys([*pages, *answers], 404)
    error = client.get(answers[0], {"revision": number}).json()["error"]
    assert error["message"] == f"There is no revision {number}; the last one is 1."


def test_what_is_no_number_of_a_revision_is_refused(make, client):
    key = make.published({"A": [1.0], "B": [2.0]}).key
    for page in OF_A_REVISION:
        assert client.get(f"/b/{key}/{page}", {"revision": "one"}).status_code == 400
