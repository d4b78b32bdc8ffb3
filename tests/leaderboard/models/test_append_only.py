"""What was accepted cannot be changed, whoever asks: the database refuses."""

import sqlite3
from contextlib import closing

import pytest
from django.db import DatabaseError, connection, transaction

from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.common.append_only import append_only_permit
from leaderboard.models import AppendOnlyPermit, Revision, Score, Submission, SubmissionEvent
from leaderboard.submissions.uploads import Upload, submit_upload
from tests.leaderboard.votes.sent import collecting, sent, vote_lines

FROZEN = [
    "leaderboard_score",
    "leaderboard_submissionevent",
    "leaderboard_batch",
    "leaderboard_systemchange",
    "leaderboard_configuration",
    "leaderboard_publication",
    "leaderboard_release",
    "leaderboard_auditentry",
    "leaderboard_instanceset",
    "leaderboard_instancescores",
    "leaderboard_voteevent",
]
SCORES = "leaderboard_score"
KEPT = [*FROZEN, "leaderboard_submission", "leaderboard_revision", "leaderboard_votebatch"]


def fill(make):
    """A row in every table."""
    benchmark = make.published()
    table = b"system,task,instance,score\nA,Task 1,a,1\nA,Task 1,b,0\n"
    owner = benchmark.memberships.get(role="owner").user
    submit_upload(benchmark, owner, Upload(table=table, is_of_instances=True))
    freeze_revision(benchmark, author=owner, number=1, name="2026.1")
    sent(collecting(make), vote_lines(12))


def refused(statement: str) -> str:
    """The database's own words when it refuses `statement`; fails where it does not."""
    with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    return str(caught.value)


@pytest.mark.parametrize("table", FROZEN)
def test_a_frozen_row_refuses_every_update(make, table):
    fill(make)
    assert "append-only: UPDATE refused" in refused(f"UPDATE {table} SET id = id")


@pytest.mark.parametrize("table", KEPT)
def test_no_kept_row_can_be_deleted(make, table):
    fill(make)
    assert "append-only: DELETE refused" in refused(f"DELETE FROM {table}")


@pytest.mark.parametrize("table", KEPT)
def test_no_kept_row_can_be_replaced(make, table):
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has INSERT OR REPLACE")
    fill(make)
    assert "append-only: REPLACE refused" in refused(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1")


def test_a_score_cannot_be_replaced_under_another_number(make):
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has INSERT OR REPLACE")
    fill(make)
    columns = [column.name for column in connection.introspection.get_table_description(connection.cursor(), SCORES)]
    values = ["id + 10000" if column == "id" else "-1" if column == "value" else column for column in columns]
    statement = f"INSERT OR REPLACE INTO {SCORES} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {SCORES}"
    assert "append-only: DELETE refused" in refused(statement)


def test_other_programs_replace_no_row_either(make_committed, committed_db):
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has INSERT OR REPLACE")
    fill(make_committed)
    with closing(sqlite3.connect(connection.settings_dict["NAME"])) as other:
        assert other.execute("PRAGMA recursive_triggers").fetchone() == (0,)
        with pytest.raises(sqlite3.DatabaseError, match="append-only: REPLACE refused"):
            other.execute(f"INSERT OR REPLACE INTO {SCORES} SELECT * FROM {SCORES} LIMIT 1")


def test_what_a_submission_corrects_never_changes(make):
    benchmark = make.published()
    first, second = Submission.objects.filter(benchmark=benchmark).order_by("pk")[:2]
    with append_only_permit("a test"):
        Submission.objects.filter(pk=second.pk).update(corrects=first)
    for change in (None, second.pk):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Submission.objects.filter(pk=second.pk).update(corrects_id=change)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Submission.objects.filter(pk=first.pk).update(corrects=second)


@pytest.mark.parametrize("table", KEPT)
def test_no_kept_table_can_be_truncated(make, table):
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL has TRUNCATE")
    fill(make)
    connection.check_constraints()  # pending foreign keys would refuse a TRUNCATE before the trigger does
    assert "append-only: TRUNCATE refused" in refused(f"TRUNCATE {table} CASCADE")


@pytest.mark.parametrize(
    "change", [{"position": 9}, {"system_id": -1}, {"uuid": "00000000-0000-0000-0000-000000000000"}]
)
def test_a_submission_changes_its_state_and_nothing_else(make, change):
    make.published()
    Submission.objects.filter(position=1).update(state="withdrawn")
    assert Submission.objects.get(position=1).state == "withdrawn"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Submission.objects.filter(position=1).update(**change)


def test_a_revision_takes_its_input_hash_and_nothing_else(make):
    make.benchmark()
    Revision.objects.update(input_hash="0" * 64)
    for other in ("1" * 64, ""):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Revision.objects.update(input_hash=other)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Revision.objects.update(note="rewritten")


def test_a_permit_opens_the_tables_for_its_own_transaction_only(make):
    make.benchmark()
    with transaction.atomic():
        permit = AppendOnlyPermit.objects.create(reason="takedown")
        Score.objects.update(value=None, missing_reason="withdrawn")
        permit.delete()
    assert set(Score.objects.values_list("value", "missing_reason")) == {(None, "withdrawn")}
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        SubmissionEvent.objects.update(reason="rewritten")
