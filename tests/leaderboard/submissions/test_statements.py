"""What is said of systems: who is believed, from when on, and what a moderator sees of it before."""

from copy import deepcopy
from importlib import import_module

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import AuditEntry, Submission, System
from leaderboard.submissions.lifecycle import (
    accept_batch,
    reinstate_submission,
    reject_batch,
    take_batch,
    withdraw_submission,
)
from leaderboard.submissions.moderation.decisions import queue, review
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, check_upload, submit_upload
from ranking_engine.files.problems import InputError
from tests.factories import owner_of
from tests.signing_in import signed_in

MALLORY = {"organisation": "Mallory Inc", "url": "https://phish.example/gpt9", "description": "A fraud."}
REAL = {"organisation": "Real Lab", "url": "https://real.example/"}


def sent(benchmark, user, name="GPT-9", score=50.0, **about):
    upload = Upload(rows=[SubmittedRow(name, {"task-1": score}, **about)], creates_systems=True)
    return submit_upload(benchmark, user, upload)[0]


def said(system):
    return {name: getattr(system, name) for name in ("key", "name", "organisation", "url", "description")}


@pytest.fixture(scope="module")
def benchmark_once(make_once):
    return make_once.benchmark({"A": [1.0], "B": [2.0]}, submission_policy="moderated")


@pytest.fixture
def benchmark(benchmark_once, make):
    return deepcopy(benchmark_once)


@pytest.mark.parametrize("is_rejected", [False, True])
def test_a_submission_that_is_not_accepted_says_nothing_of_somebody_elses_system(make, benchmark, is_rejected):
    owner, mallory, alice = owner_of(benchmark), make.user(), make.user()
    first = sent(benchmark, mallory, "gpt-9", key="mallory-owns-this", **MALLORY)
    if is_rejected:
        reject_batch(first, actor=owner, reason="No.")
    second = sent(benchmark, alice, "GPT-9", key="gpt-9", **REAL)
    take_batch(second, actor=owner)
    system = benchmark.systems.get(name_folded="gpt-9")
    assert said(system) == {"key": "gpt-9", "name": "GPT-9", "description": ""} | REAL
    benchmark = make.publish(benchmark)
    page = Client().get(f"/b/{benchmark.key}/systems/gpt-9/").content.decode()
    assert "https://real.example/" in page
    assert "phish" not in page
    assert "Mallory" not in page


def test_a_system_that_waits_has_no_key_and_takes_none_from_others(make, benchmark):
    owner, mallory, alice = owner_of(benchmark), make.user(), make.user()
    waiting = sent(benchmark, mallory, "Secret 5", key="secret-5", **MALLORY)
    _, secret = create_token(mallory, name="t", scopes=["read"], days=30)
    path = reverse("api:submission", args=[waiting.uuid])
    system = Client().get(path, headers={"Authorization": f"Token {secret}"}).json()["systems"][0]
    assert (system["system"], system["name"], system["states"]) == (None, "Secret 5", MALLORY | {"key": "secret-5"})
    # Whether somebody asks for a key that waits is nobody's business: it is as free as any other.
    guess = [SubmittedRow("zz 2", {"task-1": 1.0}, key="secret-5")]
    rows = check_upload(audience_of(alice, benchmark), Upload(rows=guess, creates_systems=True))
    assert rows[0]["system"]["new_key"] == "secret-5"
    take_batch(sent(benchmark, alice, "zz 2", key="secret-5"), actor=owner)
    take_batch(waiting, actor=owner)
    assert dict(benchmark.systems.values_list("name", "key")) == {
        "A": "a", "B": "b", "zz 2": "secret-5", "Secret 5": "secret-5-2",
    }  # fmt: skip
    with pytest.raises(InputError, match="the key 'secret-5' is that of 'zz 2'"):
        check_upload(audience_of(alice, benchmark), Upload(rows=[SubmittedRow("C", {"task-1": 1.0}, key="secret-5")]))


def test_the_newest_accepted_submission_that_states_something_is_believed_and_the_trail_says_so(make, benchmark):
    owner, alice = owner_of(benchmark), make.user()
    take_batch(sent(benchmark, alice, **REAL), actor=owner)
    second = sent(benchmark, alice, score=60.0, url="https://new.example/", description="Larger.")
    system = benchmark.systems.get(name="GPT-9")
    assert (system.url, system.description) == ("https://real.example/", "")
    take_batch(second, actor=owner)
    system.refresh_from_db()
    assert said(system) == {
        "key": "gpt-9", "name": "GPT-9", "organisation": "Real Lab", "url": "https://new.example/",
        "description": "Larger.",
    }  # fmt: skip
    trail = AuditEntry.objects.filter(benchmark=benchmark, subject="system").order_by("pk")
    assert list(trail.values_list("of", "field", "before", "after", "actor")) == [
        ("gpt-9", "url", "https://real.example/", "https://new.example/", owner.pk),
        ("gpt-9", "description", "", "Larger.", owner.pk),
    ]


def test_what_a_withdrawn_submission_said_goes_with_it_and_comes_back(make, benchmark):
    owner, alice = owner_of(benchmark), make.user()
    take_batch(sent(benchmark, alice, **REAL), actor=owner)
    second = sent(benchmark, alice, score=60.0, **MALLORY)
    take_batch(second, actor=owner)
    submission = make.submission_of(second)
    system = benchmark.systems.get(name="GPT-9")
    assert system.organisation == "Mallory Inc"
    withdraw_submission(submission, actor=owner, reason="Slander.")
    system.refresh_from_db()
    assert said(system) == {"key": "gpt-9", "name": "GPT-9", "description": ""} | REAL
    reinstate_submission(Submission.objects.get(pk=submission.pk), actor=owner, reason="It was true.")
    system.refresh_from_db()
    assert said(system) == {"key": "gpt-9", "name": "GPT-9"} | MALLORY


def test_a_system_that_left_the_board_keeps_its_key_and_what_was_said_of_it(make, benchmark):
    owner, alice = owner_of(benchmark), make.user()
    batch = sent(benchmark, alice, **REAL)
    take_batch(batch, actor=owner)
    withdraw_submission(make.submission_of(batch), actor=owner, reason="Wrong.")
    assert said(benchmark.systems.get(name="GPT-9")) == {"key": "gpt-9", "name": "GPT-9", "description": ""} | REAL


def test_a_moderator_reads_what_is_said_and_what_it_changes_before_deciding(make, benchmark):
    owner, alice = owner_of(benchmark), make.user()
    take_batch(sent(benchmark, alice, **REAL), actor=owner)
    changing = sent(benchmark, alice, score=60.0, url="https://new.example/", organisation="Real Lab")
    new = sent(benchmark, make.user(), "Newcomer", key="the-newcomer", **MALLORY)
    statements = [(one.system, one.what, one.text, one.now, one.is_change) for one in review(changing).statements]
    assert statements == [("GPT-9", "address", "https://new.example/", "https://real.example/", True)]
    assert [(one.what, one.text, one.now) for one in review(new).statements] == [
        ("key", "the-newcomer", ""), ("organisation", "Mallory Inc", ""),
        ("address", "https://phish.example/gpt9", ""), ("description", "A fraud.", ""),
    ]  # fmt: skip
    line = "GPT-9: address https://new.example/ in place of https://real.example/"
    first, second = queue(benchmark, most=50)[0]
    assert first.statements == [line]
    assert line in first.flags
    assert "Newcomer: address https://phish.example/gpt9" in second.statements
    client = signed_in(owner)
    for path in (reverse("manage_decide", args=[benchmark.key, new.uuid]), reverse("batch", args=[new.uuid]),
                 reverse("manage_queue", args=[benchmark.key])):  # fmt: skip
        page = client.get(path).content.decode()
        assert "https://phish.example/gpt9" in page, path
        assert 'href="https://phish.example/gpt9"' not in page, path


def test_systems_of_one_batch_get_the_keys_they_state_and_others_made_from_their_names(make, benchmark):
    owner = owner_of(benchmark)
    rows = [
        SubmittedRow("C d", {"task-1": 1.0}), SubmittedRow("E", {"task-1": 2.0}, key="c-d"),
        SubmittedRow("F g", {"task-1": 3.0}),
    ]  # fmt: skip
    submit_upload(benchmark, owner, Upload(rows=rows, creates_systems=True))
    assert dict(benchmark.systems.filter(name__in=["C d", "E", "F g"]).values_list("name", "key")) == {
        "C d": "c-d-2", "E": "c-d", "F g": "f-g",
    }  # fmt: skip


def test_many_systems_join_in_few_queries(make, benchmark):
    batches = [make.pending(benchmark, {f"S{n} {i}": [1.0] for i in range(n)}, by=make.user()) for n in (3, 30)]
    counts = []
    for batch in batches:
        with CaptureQueriesContext(connection) as counted:
            accept_batch(batch, actor=owner_of(benchmark))
        counts.append(len(counted))
    assert counts[0] == counts[1]
    assert System.objects.filter(benchmark=benchmark, key__startswith="~").count() == 0


def test_the_migration_keeps_what_is_said_of_accepted_systems_and_gives_the_rest_back_to_who_said_it(make, benchmark):
    """As a database was before: what was said stands with systems, and those that wait have keys."""
    owner = owner_of(benchmark)
    take_batch(sent(benchmark, make.user(), **REAL), actor=owner)
    later = make.submission_of(sent(benchmark, make.submission_of(benchmark.batches.first()).batch.uploader, score=2.0))
    first, second = (make.submission_of(sent(benchmark, make.user(), "Waiting")) for _ in range(2))
    turned_down = sent(benchmark, make.user(), "Turned down")
    reject_batch(turned_down, actor=owner, reason="No.")
    System.objects.filter(name="Waiting").update(key="waiting", **MALLORY)
    System.objects.filter(name="Turned down").update(key="turned-down", **MALLORY)
    with transaction.atomic(), append_only_permit("a test"):
        Submission.objects.update(statement=None)
        import_module("leaderboard.migrations.0018_statements").keep_what_is_said(apps, None)
    statements = dict(Submission.objects.values_list("pk", "statement"))
    accepted = Submission.objects.get(system__name="GPT-9", state="accepted")
    assert [statements[row.pk] for row in (accepted, later, first, second, make.submission_of(turned_down))] == [
        {"name": "GPT-9"} | REAL, {"name": "GPT-9"}, {"name": "Waiting", "key": "waiting"} | MALLORY,
        {"name": "Waiting"}, {"name": "Turned down"},
    ]  # fmt: skip
    assert said(System.objects.get(name="GPT-9")) == {"key": "gpt-9", "name": "GPT-9", "description": ""} | REAL
    waiting = System.objects.filter(name__in=["Waiting", "Turned down"])
    assert [(one.is_waiting, one.url, one.organisation) for one in waiting] == [(True, "", "")] * 2
    take_batch(first.batch, actor=owner)
    assert said(System.objects.get(name="Waiting")) == {"key": "waiting", "name": "Waiting"} | MALLORY


def test_what_a_submission_states_never_changes(make, benchmark):
    sent(benchmark, make.user(), **REAL)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Submission.objects.filter(system__name="GPT-9").update(statement={"name": "Another"})
