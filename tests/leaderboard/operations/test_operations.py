"""What operators ask of the site: is it ready, its numbers, write it down, bring it back, forget what is old."""

import json
import os
import random
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone

from leaderboard.models import Benchmark, Heartbeat, Job, Report, Revision, Score, SubmissionCount
from leaderboard.operations.backups import BackupError, _run
from leaderboard.operations.retention import DESCRIPTIONS
from leaderboard.queue import jobs
from leaderboard.queue.heartbeats import LATE_SECONDS, Process
from tests.databases import drop
from tests.markup import compact

TOKEN = "a-token-of-more-than-twenty-letters"


# --- Ready? ----------------------------------------------------------------------------------------------------------


def test_a_site_is_ready_while_a_sweep_and_a_worker_for_boards_are_heard_of(make, client):
    answers = [client.get("/readyz/")]
    call_command("sweep", "--once")
    answers.append(client.get("/readyz/"))
    for pid in (1, 2):
        Process("rankings", name="rankings", pid=pid).beat()
    answers.append(client.get("/readyz/"))
    Heartbeat.objects.filter(role="sweep").update(seen_at=timezone.now() - timedelta(seconds=LATE_SECONDS + 1))
    answers.append(client.get("/readyz/"))
    silent = {"database": True, "broker": True, "sweep": False, "workers": {"rankings": 0, "studies": 0, "scoring": 0}}
    with_workers = {"workers": {"rankings": 2, "studies": 0, "scoring": 0}}
    assert [(a.status_code, a.json()) for a in answers] == [
        (503, silent),
        (503, silent | {"sweep": True}),
        (200, silent | {"sweep": True} | with_workers),
        (503, silent | with_workers),
    ]


# --- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer no", f"Token {TOKEN}", TOKEN, "Bearer \u00e9"])
def test_metrics_are_for_whoever_brings_the_token(make, client, settings, header):
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics/", headers={"Authorization": header}).status_code == 404


# --- Jobs in progress -----------------------------------------------------------------------------------------------


def test_staff_read_who_works_on_what_since_when_and_until_when_it_is_theirs(make, client):
    benchmark, now = make.benchmark(name="In hand"), timezone.now()
    Job.objects.filter(kind="prospects").update(
        state="running", worker="machine-7:4711", started_at=now - timedelta(seconds=65), attempts=2, progress=0.25,
        lease_until=now + timedelta(seconds=20),
    )  # fmt: skip
    assert "Jobs in progress" not in compact(client.get("/status/"))
    client.force_login(make.user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    section = compact(client.get("/status/")).split('id="at-work"')[-1].split("</section>")[0]
    cells = re.findall(r"<t[hd][^>]*>(?:<code>)?([^<]*)", section.split("<tbody>")[1])
    assert cells[:5] == ["machine-7:4711", "Who can win", benchmark.name, "1", "2"]
    assert (int(cells[5]) >= 65, int(cells[6]) <= 20, cells[7]) == (True, True, "25 %")
    Job.objects.filter(kind="prospects").update(subject_kind="predictionsubmission", sequence=0)  # about no revision
    section = compact(client.get("/status/")).split('id="at-work"')[-1].split("</section>")[0]
    assert re.findall(r"<t[hd][^>]*>(?:<code>)?([^<]*)", section.split("<tbody>")[1])[3] == "–"
    Job.objects.filter(kind="prospects").update(state="waiting")
    assert "No worker is busy" in compact(client.get("/status/"))


# --- Other releases --------------------------------------------------------------------------------------------------


def test_a_job_that_another_release_left_fails_with_a_word_and_keeps_no_other_waiting(make):
    make.benchmark()
    Job.objects.filter(kind="axioms").update(kind="divination")
    Job.objects.update(woken_at=None)
    assert jobs.sweep() == Job.objects.exclude(kind="divination").count()
    unknown = Job.objects.get(kind="divination")
    assert (unknown.state, unknown.error) == ("failed", "this release knows no job of kind 'divination'")


# --- Backup and restore ----------------------------------------------------------------------------------------------


@pytest.fixture
def another_database(committed_db, tmp_path):
    """Turns to a database without any table; the value is a function that does so."""
    original = connection.settings_dict["NAME"]
    made = []

    def turn() -> None:
        connections.close_all()
        name = str(tmp_path / "fresh.sqlite3")
        if connection.vendor == "postgresql":
            name = f"plurank_fresh_{os.getpid()}"
            with connection._nodb_cursor() as cursor:
                cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        made.append(name)
        connection.settings_dict["NAME"] = name

    yield turn
    connections.close_all()
    connection.settings_dict["NAME"] = original
    if made and connection.vendor == "postgresql":
        drop(made[0])


def facts() -> dict[str, list]:
    """What must be the same in a restored database."""
    return {
        "hashes": list(Revision.objects.order_by("pk").values_list("number", "input_hash")),
        "scores": list(Score.objects.order_by("pk").values_list("submission__uuid", "task__key", "value")),
        "boards": list(Benchmark.objects.order_by("pk").values_list("key", "published_number")),
        "reports": [(r.kind, r.parameters, bytes(r.arrays)) for r in Report.objects.order_by("pk")],
        "jobs": list(Job.objects.order_by("pk").values_list("kind", "state", "attempts")),
    }


def test_a_backup_restores_into_an_empty_database_to_the_same_inputs_and_boards(
    make_committed, tmp_path, another_database, capsys
):
    if connection.vendor == "postgresql" and not shutil.which("pg_dump"):
        pytest.skip("pg_dump is not installed")
    first = make_committed.published({"A": [1.0, None, -0.0], "B": [2.0, 3.0, 0.1]})
    make_committed.accepted(first, {"C": [1.5, 2.5, None]})
    make_committed.publish(first)
    make_committed.published(name="Another")
    before, file = facts(), tmp_path / "plurank.backup"
    call_command("backup", str(file))
    assert (file.stat().st_mode & 0o777) == 0o600
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(file))
    with pytest.raises(CommandError, match="the database is not empty"):
        call_command("restore", str(file))
    another_database()
    call_command("restore", str(file))
    assert facts() == before
    assert "2 boards have the inputs they had at" in capsys.readouterr().out
    # The restored database is one that goes on: it takes scores, and keeps what it took.
    again = Benchmark.objects.get(key=first.key)
    make_committed.accepted(again, {"D": [9.0, 9.0, 9.0]})
    assert make_committed.publish(again).published_number == 3
    with pytest.raises(Exception, match="append-only"):
        Score.objects.update(value=0)
    connections.close_all()


def changed_backup(file: Path, manifest: Callable[[dict], object] = lambda it: it, *statements: str) -> Path:
    """A copy of a backup with another manifest, and with the database of SQLite after some statements."""
    folder = file.with_suffix(".unpacked")
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    text = folder / "manifest.json"
    text.write_text(json.dumps(manifest(json.loads(text.read_text()))))
    if statements:
        with closing(sqlite3.connect(folder / "database")) as database, database:
            for statement in statements:
                database.execute(statement)
    changed = file.with_suffix(".changed")
    with tarfile.open(changed, "w") as archive:
        archive.add(text, "manifest.json")
        archive.add(folder / "database", "database")
    return changed


def of_older_release(manifest: dict) -> dict:
    return {name: value for name, value in manifest.items() if name != "database_sha256"}


def test_one_changed_byte_is_refused_before_anything_is_written(make_committed, tmp_path, another_database):
    make_committed.published()
    file = tmp_path / "plurank.backup"
    call_command("backup", str(file))
    content = bytearray(file.read_bytes())
    content[content.rindex(b"@")] ^= 1  # of an email address, where the database is not compressed
    file.write_bytes(content)
    another_database()
    with pytest.raises(CommandError, match="is damaged: its database is not the one that was backed up"):
        call_command("restore", str(file))
    assert connection.introspection.table_names() == []


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (lambda it: [1], "is not a backup of Plurank: its manifest has no format"),
        (lambda it: 5, "is not a backup of Plurank: its manifest has no format"),
        (lambda it: it | {"format": 2}, "has format 2; this release reads 1"),
        (lambda it: {"format": 1}, "is damaged: 'vendor' of its manifest is missing or malformed"),
        (lambda it: it | {"rows": ["leaderboard_user"]}, "is damaged: 'rows' of its manifest is missing or malformed"),
        (lambda it: it | {"boards": [["a", "1", ""]]}, "is damaged: 'boards' of its manifest is missing or malformed"),
        (lambda it: it | {"boards": [["none", 1, "f"]]}, "in the input hashes of none: none has None, not f"),
    ],
)
def test_a_manifest_that_is_malformed_or_names_other_boards_is_refused_in_a_line(
    make_committed, tmp_path, another_database, manifest, words
):
    file = tmp_path / "plurank.backup"
    call_command("backup", str(file))
    another_database()
    with pytest.raises(CommandError, match=words):
        call_command("restore", str(changed_backup(file, manifest)))
    connections.close_all()


def test_changed_scores_and_rows_in_a_backup_of_an_older_release_are_found(make_committed, tmp_path, another_database):
    if connection.vendor != "sqlite":
        pytest.skip("changes a score in SQLite's file")
    make_committed.published()
    file = tmp_path / "plurank.backup"
    call_command("backup", str(file))
    another_database()
    with pytest.raises(CommandError, match="differs from the backup's manifest in the rows of account_"):
        call_command("restore", str(changed_backup(file, lambda it: of_older_release(it) | {"rows": {}})))
    assert connection.introspection.table_names() == []
    permit = "INSERT INTO append_only_permit (reason) VALUES ('a test')"
    score = "UPDATE leaderboard_score SET value = value + 1 WHERE id = 1"
    changed = changed_backup(file, of_older_release, permit, score, "DELETE FROM append_only_permit")
    with pytest.raises(CommandError, match="differs from the backup's manifest in the input hashes of"):
        call_command("restore", str(changed))
    connections.close_all()


def test_a_program_of_postgresql_that_fails_without_a_word_is_named_with_its_status():
    with pytest.raises(BackupError, match=r"^false failed: exit status 1, without a reason$"):
        _run("false", [])


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "is not a backup of Plurank"), (b"PK\x03\x04", "is not a backup")]
)
def test_another_file_is_no_backup(db, tmp_path, content, words):
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=words) as refusal:
        call_command("restore", str(file))
    assert "\n" not in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_backup_that_was_compressed_is_refused(db, tmp_path, compression, damage):
    (tmp_path / "database").write_bytes(random.Random(0).randbytes(200_000))
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    file = tmp_path / "file"
    with tarfile.open(file, f"w:{compression}") as archive:
        for name in ("manifest.json", "database"):
            archive.add(tmp_path / name, name)
    content = file.read_bytes()
    file.write_bytes(content[:150_000] if damage == "cut" else content[:100_000] + b"\0" * 99 + content[100_099:])
    with pytest.raises(CommandError, match="file is not a backup of Plurank: "):
        call_command("restore", str(file))


# --- What goes once it is old ----------------------------------------------------------------------------------------


def test_pruning_deletes_old_ends_and_nothing_that_a_board_or_a_history_needs(make, capsys):
    benchmark = make.published()
    make.accepted(benchmark, {"E": [1.0] * 5})
    make.publish(benchmark)
    user = make.user()
    for day in ("2020-01-01", timezone.now().date().isoformat(), "total"):
        SubmissionCount.objects.create(benchmark=benchmark, user=user, period=day, n_submitted=1)
    Job.objects.filter(finished_at__isnull=False).update(finished_at=timezone.now() - timedelta(days=100))
    before = facts()
    call_command("prune", "--dry-run")
    assert facts() == before
    call_command("prune")
    after = facts()
    assert {name: after[name] for name in after if name != "jobs"} == {n: before[n] for n in before if n != "jobs"}
    assert not Job.objects.filter(kind="rankings", sequence=1).exists()
    assert Job.objects.get(kind="rankings", sequence=2).state == "done"
    assert Job.objects.filter(state="waiting", sequence=1).exists(), "what still waits is not old"
    assert sorted(SubmissionCount.objects.filter(user=user).values_list("period", flat=True))[1:] == ["total"]
    assert len(capsys.readouterr().out.splitlines()) == 2 * len(DESCRIPTIONS)
