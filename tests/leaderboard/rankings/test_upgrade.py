"""An earlier release's database, with what was in it, becomes this one's: the same scores, hashes and boards."""

import os

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction

from leaderboard.models import Benchmark, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import input_hash, revision_matrix
from tests.databases import drop
from tests.jobs.test_kills import assert_board_is
from tests.leaderboard.operations.test_operations import facts

EARLIER = "0006_instances"  # the schema of the first boards with hosting and instances
SCORES = {"A": [1.0, None, -0.0], "B": [2.0, 3.0, 0.1], "C": [0.5, 2.5, 7.25]}


def columns_of(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def _listed(columns: list[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def rows_of(table: str) -> tuple[list[str], list[tuple]]:
    columns = columns_of(table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_listed(columns)} FROM {table} ORDER BY 1")
        return columns, list(cursor.fetchall())


def fill(table: str, columns: list[str], rows: list[tuple]) -> None:
    """Insert rows into a table of the earlier schema: those of their columns that it had."""
    kept = [n for n, column in enumerate(columns) if column in columns_of(table)]
    names, places = _listed([columns[n] for n in kept]), ", ".join(["%s"] * len(kept))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", [[row[n] for n in kept] for row in rows])
        if connection.vendor == "postgresql":
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}) + 1, false)"
                if rows and "id" in columns
                else "SELECT 1"
            )


@pytest.fixture
def earlier_database(committed_db, tmp_path):
    """A function that turns to a database of the earlier schema, which is empty."""
    original = connection.settings_dict["NAME"]
    name = str(tmp_path / "earlier.sqlite3")

    def turn() -> None:
        nonlocal name
        connections.close_all()
        if connection.vendor == "postgresql":
            name = f"plurank_earlier_{os.getpid()}"
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        connection.settings_dict["NAME"] = name
        call_command("migrate", "leaderboard", EARLIER, interactive=False, verbosity=0)

    yield turn
    connections.close_all()
    connection.settings_dict["NAME"] = original
    if name != original and connection.vendor == "postgresql":
        drop(name)


def test_a_database_of_an_earlier_schema_migrates_with_its_boards(make_committed, earlier_database):
    benchmark = make_committed.published(SCORES)
    make_committed.accepted(benchmark, {"D": [3.0, 1.0, 2.0]})
    make_committed.publish(benchmark)
    before = facts()
    tables = {table: rows_of(table) for table in connection.introspection.table_names() if "leaderboard_" in table}
    earlier_database()
    there = set(connection.introspection.table_names())
    with connection.constraint_checks_disabled(), transaction.atomic():
        for table, (columns, rows) in tables.items():
            if table in there:
                fill(table, columns, rows)
    call_command("migrate", interactive=False, verbosity=0)
    assert facts() == before
    revision = Revision.objects.select_related("configuration").get(number=2)
    assert input_hash(revision_matrix(revision), configuration_of(revision)) == revision.input_hash
    again = Benchmark.objects.get()
    assert_board_is(again, SCORES | {"D": [3.0, 1.0, 2.0]})
    assert again.searched_text == f"{again.name}\n".casefold()
    make_committed.accepted(again, {"E": [9.0, 9.0, 9.0]})
    make_committed.publish(again)
    assert_board_is(again, SCORES | {"D": [3.0, 1.0, 2.0], "E": [9.0, 9.0, 9.0]})
    connections.close_all()
