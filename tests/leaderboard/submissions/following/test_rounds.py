"""Benchmarks that follow addresses: what is taken over, what is not, and what becomes of addresses that fail."""

import json
import re
from datetime import timedelta
from itertools import pairwise

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.people import change_role
from leaderboard.models import AuditEntry, Batch, Benchmark, Draft, Fetch, FollowedAddress, Notice, Score
from leaderboard.rankings.scores import current_values
from leaderboard.submissions.following import rounds
from leaderboard.submissions.following.addresses import follow_address
from leaderboard.submissions.following.contents import MAX_FILES
from leaderboard.submissions.following.rounds import DIRECT_A_DAY, FAILING_FOR, MAX_FAILURES, fetch_due_addresses
from tests.factories import owner_of
from tests.leaderboard.notifications.served import served
from tests.markup import compact
from tests.signing_in import signed_in

FIRST = "system,Task 1,Task 2\nA,1,2\nB,2,1\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def server(settings, running):
    settings.WEBHOOKS_INSIDE = True
    running.forget()
    return running


@pytest.fixture(scope="module")
def made(make_once):
    return make_once.benchmark({"A": [1.0, 2.0], "B": [2.0, 1.0]}).pk


@pytest.fixture
def board(made, make):
    """A benchmark with two systems that any address may follow."""
    return Benchmark.objects.get(pk=made)


def follow(benchmark, address, **fields):
    given = {"author": owner_of(benchmark), "kind": "file", "every_minutes": 60, "is_direct": True} | fields
    return follow_address(benchmark, address=address, **given)


def again() -> Fetch | None:
    """One more round; what came of it."""
    FollowedAddress.objects.update(next_at=timezone.now())
    before = set(Fetch.objects.values_list("pk", flat=True))
    fetch_due_addresses()
    return Fetch.objects.exclude(pk__in=before).first()


def scores(benchmark) -> dict[tuple[str, str], float]:
    revision = benchmark.revisions.order_by("-number").first()
    systems = dict(benchmark.systems.values_list("pk", "name"))
    tasks = dict(benchmark.tasks.values_list("pk", "name"))
    return {
        (systems[s], tasks[t]): value
        for part in current_values(revision)
        for s, t, value in zip(*(column.tolist() for column in part), strict=True)
    }


def test_what_says_the_same_as_the_board_makes_no_submission(board, server):
    follow(board, server.put("/scores.csv", FIRST, etag='"1"'))
    n_batches = Batch.objects.count()
    fetches = [again() for _ in range(2)]
    assert [(f.outcome, f.status_code, f.n_new, f.n_changed) for f in fetches] == [
        ("unchanged", 200, 0, 0),
        ("unchanged", 304, 0, 0),
    ]
    server.put("/scores.csv", f"{FIRST}\n", etag='"2"')  # other bytes, and no other scores
    assert again().outcome == "unchanged"
    assert Batch.objects.count() == n_batches


def test_only_systems_that_differ_are_submitted_and_join_the_board_at_once(board, server):
    follow(board, server.put("/scores.csv", FIRST))
    again()
    server.put("/scores.csv", "system,Task 1,Task 2\nA,1,2\nB,2,1.5\n")
    fetch = again()
    assert (fetch.outcome, fetch.n_new, fetch.n_changed, fetch.error) == ("accepted", 0, 1, "")
    batch = Batch.objects.get(uuid=fetch.batch_uuid)
    assert (batch.uploader, batch.source) == (owner_of(board), "importer")
    assert batch.note.startswith(f"Fetched from {server.url}/….\nImported from")
    assert [submission.system.name for submission in batch.submissions.all()] == ["B"]
    assert scores(board) == {
        ("A", "Task 1"): 1.0, ("A", "Task 2"): 2.0, ("B", "Task 1"): 2.0, ("B", "Task 2"): 1.5,
    }  # fmt: skip


def test_a_file_that_is_cut_off_changes_nothing_and_is_fetched_again(board, server):
    followed = follow(board, server.put("/scores.csv", FIRST, etag='"1"'))
    again()
    newer = "system,Task 1,Task 2\nA,1,2\nB,2,91.15\n"
    server.put("/scores.csv", newer, etag='"2"', cut=len(newer) - 4)  # half a number: 9 in place of 91.15
    cut = again()
    assert (cut.outcome, cut.etag, cut.error) == (
        "failed", "", "The answer is incomplete: the connection ended before all of it arrived.",
    )  # fmt: skip
    assert scores(board)["B", "Task 2"] == 1.0
    server.put("/scores.csv", newer, etag='"2"')
    assert (again().outcome, scores(board)["B", "Task 2"]) == ("accepted", 91.15)
    assert [request["headers"].get("If-None-Match") for request in server.requests] == [None, '"1"', '"1"']
    followed.refresh_from_db()
    assert (next(iter(followed.validators.values()))[0], followed.n_failures) == ('"2"', 0)


def test_a_new_system_joins_only_where_the_owner_said_so(board, server):
    followed = follow(board, server.put("/scores.csv", f"{FIRST}C,3,3\n"))
    fetch = again()
    assert (fetch.outcome, fetch.n_new, fetch.n_changed) == ("draft", 1, 0)
    assert [row["system"]["name"] for row in Draft.objects.get(uuid=fetch.draft_uuid).rows] == ["C"]
    FollowedAddress.objects.update(creates_systems=True, is_asked_for=True)
    assert again().outcome == "accepted"
    assert ("C", "Task 1") in scores(board)
    assert followed.fetches.count() == 2


def test_a_draft_waits_for_its_owner_who_hears_of_it_and_confirms_it(board, server):
    follow(board, server.put("/scores.csv", f"{FIRST}C,3,3\n"), is_direct=False)
    fetch = again()
    owner, path = owner_of(board), reverse("draft", args=[fetch.draft_uuid])
    notice = Notice.objects.get(user=owner)
    assert (notice.kind, notice.path) == ("followed", path)
    assert "new scores of 1 system" in notice.text
    client = signed_in(owner)
    page = client.get(reverse("manage_following", args=[board.key])).content.decode()
    assert f'href="{path}">Check the draft</a>' in page
    form = {"action": "confirm", "create_system": "1", "previewed_number": 1}
    assert client.post(path, form).status_code == 302
    assert ("C", "Task 1") in scores(board)
    assert "Check the draft" not in client.get(reverse("manage_following", args=[board.key])).content.decode()
    assert again().outcome == "unchanged"


def test_a_newer_draft_takes_the_place_of_the_one_before(board, server):
    follow(board, server.put("/scores.csv", f"{FIRST}C,3,3\n"), is_direct=False)
    first = again()
    server.put("/scores.csv", f"{FIRST}C,4,4\n")
    second = again()
    assert list(Draft.objects.values_list("uuid", flat=True)) == [second.draft_uuid] != [first.draft_uuid]


def test_content_that_comes_back_waits_for_a_person(board, server):
    """Two sites that take each other's scores at the same moment would exchange them for ever."""
    follow(board, server.put("/scores.csv", "system,Task 1,Task 2\nA,5,5\n"))
    outcomes = [again().outcome]
    for text in ("A,6,6", "A,5,5", "A,6,6"):
        server.put("/scores.csv", f"system,Task 1,Task 2\n{text}\n")
        outcomes.append(again().outcome)
    # The last one says what the board says.
    assert outcomes == ["accepted", "accepted", "draft", "unchanged"]


def test_so_many_changes_a_day_join_the_board_and_the_next_waits_for_a_person(board, server, monkeypatch):
    monkeypatch.setattr(rounds, "DIRECT_A_DAY", 2)
    assert DIRECT_A_DAY == 24
    follow(board, server.put("/scores.csv", FIRST))
    outcomes = []
    for number in range(10, 14):
        server.put("/scores.csv", f"system,Task 1,Task 2\nA,{number},3\n")
        outcomes.append(again().outcome)
    assert outcomes == ["accepted", "accepted", "draft", "draft"]


def test_columns_are_mapped_as_in_the_owners_last_upload(board, server):
    client, table = signed_in(owner_of(board)), "model,first,second\nA,1,2\nB,2,9\n"
    path = reverse("upload", args=[board.key])
    page = client.post(path, {"text": table, "asks_columns": "1"}).context
    roles = {f"role-{place}": role for place, role in enumerate(("system", "score", "score"))}
    page = client.post(path, {"tables": page["packed"], **roles}).context
    form = {"imported": page["packed"], "task-0": "Task 1", "task-1": "Task 2", "system-0": "A", "system-1": "B"}
    assert client.post(path, form).status_code == 302
    follow(board, server.put("/results.csv", table.replace("9", "8")))
    fetch = again()
    assert (fetch.outcome, fetch.error) == ("accepted", "")
    assert scores(board)["B", "Task 2"] == 8.0


def test_what_cannot_be_mapped_fails_with_the_reason(board, server):
    follow(board, server.put("/results.csv", "model,first,second\nA,1,2\n"))
    fetch = again()
    assert fetch.outcome == "failed"
    assert fetch.error == (
        "no column is named like a task; the columns are first, second, and the tasks are Task 1, Task 2"
    )


def test_a_list_of_files_is_read_as_one_import(board, server):
    one, two = server.put("/r/one.csv", "system,Task 1\nC,3\n", etag='"1"'), "two.csv"
    server.put("/r/two.csv", "system,Task 2\nC,4\n", etag='"2"')
    files = [{"type": "dir", "download_url": None}, {"type": "file", "download_url": one}, two, two]
    address = server.put("/r/list", json.dumps(files))
    follow(board, address, kind="list", creates_systems=True)
    fetch = again()
    assert (fetch.outcome, fetch.error) == ("accepted", "")
    assert {task: value for (system, task), value in scores(board).items() if system == "C"} == {
        "Task 1": 3.0,
        "Task 2": 4.0,
    }
    assert (again().outcome, again().status_code) == ("unchanged", 304)
    server.put("/r/two.csv", "system,Task 2\nC,5\n", etag='"3"')  # the other one is fetched again with it
    assert again().outcome == "accepted"
    assert scores(board)["C", "Task 1"] == 3.0


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("x", "The list is not JSON."),
        ("[" * 100_000, "The list is not JSON."),
        ('{"a": 1}', "The content is not a JSON list of files."),
        ("[]", "The list has no files."),
        ("[1]", "Entry 1 of the list is neither a URL nor an object with a download_url."),
        ('["http://[x"]', "Entry 1 of the list is no URL."),
        (json.dumps([str(n) for n in range(MAX_FILES + 1)]), "The list has 201 files; at most 200 are fetched."),
        ('["ftp://a.example/x"]', "The URL must begin with https:// and a host name."),
        (f'["{"x" * 2**20}"]', "The content has more than 1,048,576 bytes."),
    ],
)
def test_a_list_that_is_none_fails_with_the_reason(board, server, body, error):
    follow(board, server.put("/list", body), kind="list")
    assert again().error == error


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 1000, b"PK\x03\x04" + b"\xff" * 500, b"{" * 50_000, b"a,b\n" * 60_000, "é".encode("utf-16")]
)
def test_content_that_is_no_table_fails_and_changes_nothing(board, server, body):
    follow(board, server.put("/scores.csv", body))
    n_batches = Batch.objects.count()
    fetch = again()
    assert fetch.outcome == "failed"
    assert fetch.error not in ("", rounds.SITE_ERROR)
    assert Batch.objects.count() == n_batches


def test_failures_are_tried_again_later_and_later_and_end_with_a_notice(board, server):
    followed = follow(board, f"{server.url}/nothing.csv")
    pauses = []
    for _ in range(MAX_FAILURES + 1):
        assert again().status_code == 404
        followed.refresh_from_db()
        pauses.append(followed.next_at - timezone.now())
    assert all(later > 1.5 * sooner for sooner, later in pairwise(pauses[:5]))
    assert max(pauses) < 1.2 * timedelta(hours=6)
    assert followed.is_active, "it has failed for a moment only"
    page = compact(signed_in(owner_of(board)).get(reverse("manage_following", args=[board.key])))
    assert f"{MAX_FAILURES + 1} attempts failed; none has succeeded yet." in page
    assert re.search(rf"Next fetch: <time [^>]*>\d+ {followed.next_at:%b %Y}, ", page)
    FollowedAddress.objects.update(failing_since=timezone.now() - FAILING_FOR)
    assert again().outcome == "failed"
    followed.refresh_from_db()
    assert (followed.is_active, followed.why_off) == (False, "No fetch succeeded for a day.")
    notice = Notice.objects.get(user=owner_of(board))
    assert notice.path == reverse("manage_following", args=[board.key])
    assert AuditEntry.objects.filter(subject="address", field="active", after="no", actor=None).count() == 1
    assert again() is None


def test_a_success_forgets_the_failures(board, server):
    followed = follow(board, f"{server.url}/scores.csv")
    again()
    server.put("/scores.csv", FIRST)
    again()
    followed.refresh_from_db()
    assert (followed.n_failures, followed.failing_since) == (0, None)


def test_an_address_ends_with_the_role_of_its_owner(make, board, server):
    followed = follow(board, server.put("/scores.csv", "system,Task 1,Task 2\nA,9,9\n"))
    other, owner = make.member(board, "owner"), followed.author
    change_role(board, owner, author=other, role="member")
    assert again() is None
    followed.refresh_from_db()
    assert (followed.is_active, followed.why_off[:16]) == (False, "Its owner left. ")
    assert server.requests == []
    path = reverse("manage_following", args=[board.key])
    signed_in(other).post(path, {"action": "on", "followed": followed.uuid})
    assert again().outcome == "accepted"
    followed.refresh_from_db()
    assert followed.author == other


@pytest.mark.parametrize("change", [{"is_archived": True}, {"submission_policy": "closed"}])
def test_a_benchmark_that_takes_no_scores_takes_none_from_an_address(board, server, change):
    follow(board, server.put("/scores.csv", "system,Task 1,Task 2\nA,9,9\n"))
    type(board).objects.filter(pk=board.pk).update(**change)
    n_scores = Score.objects.count()
    assert (again().outcome, Score.objects.count()) == ("failed", n_scores)


def test_an_owner_of_many_addresses_keeps_nobody_elses_back(make, board, server):
    address, owner = server.put("/scores.csv", FIRST), owner_of(board)
    for _ in range(5):
        follow(board, address)
    for _ in range(3):
        for _ in range(5):
            follow(make.benchmark({}, n_tasks=1, owner=owner), address)
    other = follow(make.benchmark({}, n_tasks=1), address)
    assert fetch_due_addresses() == 3
    assert other.fetches.count() == 1


def test_who_is_killed_in_between_leaves_an_address_that_comes_due_again(board, server, monkeypatch):
    followed = follow(board, server.put("/scores.csv", "system,Task 1,Task 2\nA,9,9\n"))
    with monkeypatch.context() as patched:
        patched.setattr(rounds, "bring_into_step", lambda followed: None)
        assert fetch_due_addresses() == 1
    assert fetch_due_addresses() == 0, "another sweep does not take it meanwhile"
    followed.refresh_from_db()
    assert timezone.now() < followed.next_at < timezone.now() + timedelta(minutes=11)
    assert again().outcome == "accepted"


@pytest.mark.parametrize("seconds", [1, 30, 3600])
def test_no_other_sweep_takes_an_address_while_it_may_be_fetched(board, server, monkeypatch, settings, seconds):
    settings.FOLLOW_SECONDS = seconds
    followed = follow(board, server.put("/scores.csv", FIRST))
    began = timezone.now()
    with monkeypatch.context() as patched:
        patched.setattr(rounds, "bring_into_step", lambda followed: None)
        assert fetch_due_addresses() == 1
    followed.refresh_from_db()
    # A list has 300 s, and its last file, begun just before, four times the seconds: redirects are followed thrice.
    assert followed.next_at > began + timedelta(seconds=300 + 4 * seconds)


def test_a_history_is_bounded(board, server, monkeypatch):
    monkeypatch.setattr(rounds, "KEPT", 3)
    followed = follow(board, server.put("/scores.csv", FIRST))
    for _ in range(5):
        again()
    assert followed.fetches.count() == 3


def test_nothing_follows_and_nothing_is_asked(django_assert_num_queries, make):
    make.benchmark({}, n_tasks=1)
    with django_assert_num_queries(1):
        fetch_due_addresses()


def test_the_secret_part_of_an_address_is_not_on_pages_that_others_read(board, server):
    follow(board, server.put("/scores.csv?token=secret", "system,Task 1,Task 2\nA,9,9\n"))
    fetch = again()
    page = Client().get(reverse("batch", args=[fetch.batch_uuid])).content.decode()
    assert f"Fetched from {server.url}/…" in page
    assert "token=secret" not in page
