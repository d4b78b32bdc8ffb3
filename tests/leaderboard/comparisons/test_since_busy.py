"""A board is read while others write, and where nothing can be stored: the visit is forgotten, the page is not."""

import sqlite3
from contextlib import closing

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse

from leaderboard.models import Visit


@pytest.fixture
def reader(make_committed):
    """The address of a board, and someone signed in."""
    benchmark = make_committed.published({"A": [1.0], "B": [2.0]})
    client = Client()
    client.force_login(make_committed.user(), backend="django.contrib.auth.backends.ModelBackend")
    return benchmark, reverse("board", args=[benchmark.key]), client


def test_a_board_is_served_while_another_connection_has_the_lock(reader):
    benchmark, path, client = reader
    if settings.IS_SQLITE:
        with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert client.get(path).status_code == 200
            other.execute("ROLLBACK")
        connection.ensure_connection()
        usual = connection.connection.execute("PRAGMA busy_timeout").fetchone()[0]
        assert usual == 1000 * connection.settings_dict["OPTIONS"]["timeout"]
    else:
        with psycopg.connect(**connection.get_connection_params()) as other:
            other.execute("SELECT 1 FROM leaderboard_benchmark WHERE id = %s FOR UPDATE", [benchmark.pk])
            assert client.get(path).status_code == 200
            other.rollback()
    assert not Visit.objects.exists()
    assert client.get(path).status_code == 200
    assert Visit.objects.count() == 1


def test_a_board_is_served_by_a_database_that_is_read_only(reader):
    _, path, client = reader
    read_only, writable = (
        ("PRAGMA query_only = ON", "PRAGMA query_only = OFF")
        if settings.IS_SQLITE
        else ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off")
    )
    with connection.cursor() as cursor:
        cursor.execute(read_only)
    try:
        assert client.get(path).status_code == 200
    finally:
        with connection.cursor() as cursor:
            cursor.execute(writable)
    assert not Visit.objects.exists()
