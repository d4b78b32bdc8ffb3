"""A database that is busy with others is said to be so, with the time to come again; nothing is stored or lost."""

import json
import sqlite3
from contextlib import ExitStack, closing

import psycopg
import pytest
from django.conf import settings
from django.db import InternalError, OperationalError, ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse

from leaderboard.accounts.tokens import create_token
from leaderboard.common.busy import is_away, is_busy
from leaderboard.models import Batch, Submission
from leaderboard.submissions.score_rows import insert_scores


@pytest.fixture
def locked(make_committed, monkeypatch):
    """SQLite, which another connection is writing; requests wait for a tenth of a second."""
    if not settings.IS_SQLITE:
        pytest.skip("PostgreSQL locks rows, not the whole database")
    benchmark = make_committed.benchmark({}, n_tasks=1)
    user = benchmark.memberships.get(role="owner").user
    _, secret = create_token(user, name="busy", scopes=["submit"], days=30)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {**connection.settings_dict["OPTIONS"], "timeout": 0.1})
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield benchmark, secret, client
        other.execute("ROLLBACK")
    assert Batch.objects.count() == 0


def test_the_api_answers_503_with_the_time_to_come_again(locked):
    benchmark, secret, client = locked
    body = json.dumps({"systems": [{"name": "A", "scores": {"task-1": 1}}], "create_systems": True})
    answer = client.post(
        reverse("api:submit", args=[benchmark.key]),
        body,
        content_type="application/json",
        headers={"Authorization": f"Token {secret}"},
    )
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "2", "no-store")
    assert answer.json()["error"]["code"] == "busy"


def test_a_page_answers_503_with_the_time_to_come_again(locked):
    benchmark, _, client = locked
    answer = client.post(reverse("upload", args=[benchmark.key]), {"text": "system,Task 1\nA,1\n"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "The site is busy" in answer.content.decode()


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class SqlError(psycopg.OperationalError):
    """An error of PostgreSQL with a state."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("the server said so")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "busy", "away"),
    [
        (OperationalError("database is locked"), True, False),
        (caused(OperationalError("deadlock detected"), SqlError("40P01")), True, False),
        (caused(OperationalError("canceling statement due to lock timeout"), SqlError("55P03")), True, False),
        (caused(OperationalError("canceling statement due to statement timeout"), SqlError("57014")), False, True),
        (caused(OperationalError("terminating connection"), SqlError("57P01")), False, True),
        (caused(OperationalError("too many connections"), SqlError("53300")), False, True),
        (caused(OperationalError("No space left on device"), SqlError("53100")), False, True),
        (caused(OperationalError("connection refused"), SqlError(None)), False, True),
        (caused(InternalError("cannot execute INSERT in a read-only transaction"), SqlError("25006")), False, True),
        (caused(InternalError("current transaction is aborted"), SqlError("25P02")), False, False),
        (caused(InternalError("idle-in-transaction timeout"), SqlError("25P03")), True, False),
        (caused(OperationalError("disk I/O error"), sqlite3.OperationalError()), False, True),
        (caused(OperationalError("database or disk is full"), sqlite3.OperationalError()), False, True),
        (caused(OperationalError("no such table: x"), sqlite3.OperationalError()), False, False),
        (ProgrammingError("relation does not exist"), False, False),
        (ValueError("database is locked"), False, False),
    ],
    ids=str,
)
def test_a_database_is_busy_or_away_or_at_fault(error, busy, away):
    assert (is_busy(error), is_away(error)) == (busy, away)


@pytest.fixture
def away(make):
    """A benchmark, and a database that goes away once this test says so."""
    benchmark = make.benchmark({}, n_tasks=1)
    user = benchmark.memberships.get(role="owner").user
    _, secret = create_token(user, name="away", scopes=["read", "submit"], days=30)
    client = Client(raise_request_exception=False)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")

    def refuse(*_statement):
        raise GONE

    with ExitStack() as stack:
        yield benchmark, secret, client, lambda: stack.enter_context(connection.execute_wrapper(refuse))


GONE = caused(OperationalError("server closed the connection unexpectedly"), SqlError(None))
UNCERTAIN = "may have been stored, or not"


def test_a_read_of_a_database_that_is_away_is_told_to_come_again(away):
    benchmark, _, client, go_away = away
    go_away()
    page, answer = client.get("/"), client.get(f"/api/v1/benchmarks/{benchmark.key}/")
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "Database not reachable" in page.content.decode()
    assert (answer.status_code, answer["Retry-After"], answer.json()["error"]["code"]) == (503, "5", "busy")
    assert UNCERTAIN not in answer.json()["error"]["message"]


@pytest.mark.parametrize(("error", "status"), [(GONE, 503), (ProgrammingError("a mistake of ours"), 500)])
def test_what_fails_after_the_commit_is_never_said_to_have_changed_nothing(away, monkeypatch, error, status):
    benchmark, secret, client, _ = away

    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr("leaderboard.api.submissions.submission_status", fail)
    answer = client.post(
        reverse("api:submit", args=[benchmark.key]),
        json.dumps({"systems": [{"name": "A", "scores": {"task-1": 1}}], "create_systems": True}),
        content_type="application/json",
        headers={"Authorization": f"Token {secret}"},
    )
    assert answer.status_code == status
    assert UNCERTAIN in answer.json()["error"]["message"]
    assert Batch.objects.count() == 1


def test_scores_that_wait_for_a_locked_table_are_said_to_be_busy(make_committed):
    """They are copied past Django's own cursor, which would turn psycopg's errors into Django's."""
    if settings.IS_SQLITE:
        pytest.skip("SQLite inserts row by row")
    benchmark = make_committed.benchmark({"A": [1.0]})
    submission, task = Submission.objects.get(), benchmark.tasks.get()
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("LOCK TABLE leaderboard_score")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '100ms'")
        with pytest.raises(OperationalError) as raised, transaction.atomic():
            insert_scores([(submission.pk, task.pk, 2.0, "", None, None)])
        other.rollback()
    assert is_busy(raised.value)
