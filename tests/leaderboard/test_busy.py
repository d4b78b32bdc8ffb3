"""A database that is busy with others is said to be so, with the time to come again; nothing is stored or lost."""

import json
import sqlite3
from contextlib import closing

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse

from leaderboard.models import Batch
from leaderboard.services.busy import is_busy
from leaderboard.services.tokens import create_token


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
    assert "Busy for a moment" in answer.content.decode()


def test_other_failures_of_the_database_are_no_business_of_readers():
    assert is_busy(OperationalError("database is locked"))
    assert not is_busy(OperationalError("disk I/O error"))
    assert not is_busy(ValueError("database is locked"))
