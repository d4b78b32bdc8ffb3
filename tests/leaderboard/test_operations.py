"""What operators ask of the site: is it ready, its numbers, write it down, bring it back, forget what is old."""

import os
import re
import shutil
import sqlite3
import tarfile
from datetime import timedelta

import pytest
from django.conf import settings as site_settings
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.utils import timezone

from leaderboard.management.commands.sweep import OFTEN
from leaderboard.models import Benchmark, Heartbeat, Job, Publication, Report, Revision, Score, SubmissionCount
from leaderboard.services import health, jobs, metrics
from leaderboard.services.retention import RETAINED

TOKEN = "a-token-of-more-than-twenty-letters"


# --- Ready? ----------------------------------------------------------------------------------------------------------


def test_a_site_is_ready_once_a_sweep_was_heard_of_and_not_when_it_fell_silent(make, client):
    answers = [client.get("/readyz/")]
    for step in OFTEN:
        step()
    answers.append(client.get("/readyz/"))
    Heartbeat.objects.update(seen_at=timezone.now() - timedelta(seconds=health.LATE_SECONDS + 1))
    answers.append(client.get("/readyz/"))
    silent = (503, {"database": True, "broker": True, "sweep": False})
    assert [(a.status_code, a.json()) for a in answers] == [silent, (200, silent[1] | {"sweep": True}), silent]


def test_a_heartbeat_is_written_now_and_then_and_mends_a_clock_that_was_ahead(make, django_assert_num_queries):
    health.note_heartbeat("sweep")
    first = Heartbeat.objects.get().seen_at
    health.note_heartbeat("sweep")
    assert Heartbeat.objects.get().seen_at == first
    Heartbeat.objects.update(seen_at=timezone.now() + timedelta(hours=1))
    health.note_heartbeat("sweep")
    assert Heartbeat.objects.get().seen_at <= timezone.now()


# --- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer no", f"Token {TOKEN}", TOKEN, "Bearer \u00e9"])
def test_metrics_are_for_whoever_brings_the_token(make, client, settings, header):
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics/", headers={"Authorization": header}).status_code == 404


def numbers(client) -> dict[str, float]:
    text = client.get("/metrics/", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^plurank_(\S+) (\S+)$", text, flags=re.MULTILINE)}


def test_metrics_tell_queues_jobs_failures_and_delays(make, client, settings):
    settings.METRICS_TOKEN = TOKEN
    benchmark = make.published()
    accepted = make.accepted(benchmark, {"E": [1.0] * 5})
    now = timezone.now()
    Job.objects.filter(kind="rankings", sequence=2).update(not_before=now - timedelta(seconds=90))
    Job.objects.filter(kind="rankings", sequence=1).update(started_at=now - timedelta(seconds=7), finished_at=now)
    Job.objects.filter(kind="axioms", sequence=1).update(state="failed", finished_at=now)
    found = numbers(client)
    n_studies = Job.objects.filter(queue="studies", state="waiting").count()
    assert found['queue_jobs{queue="rankings",state="waiting"}'] == 1
    assert found['queue_jobs{queue="studies",state="waiting"}'] == n_studies > 0
    assert 90 <= found['queue_oldest_seconds{queue="rankings"}'] < 100
    assert found['jobs_lately{kind="rankings",state="done"}'] == 1
    assert found['job_seconds_mean{kind="rankings"}'] == found['job_seconds_max{kind="rankings"}'] == 7
    assert found['jobs_failed{queue="studies"}'] == 1
    publication = Publication.objects.get()
    delay = (publication.published_at - publication.revision.created_at).total_seconds()
    assert found['publish_delay_seconds{quantile="0.5"}'] == pytest.approx(delay, rel=1e-4)
    assert (found["benchmarks"], found["benchmarks_behind"], accepted.number) == (1, 1, 2)


@pytest.mark.parametrize(("n", "q", "expected"), [(1, 0.95, 1), (2, 0.5, 1), (2, 0.95, 2), (20, 0.95, 19)])
def test_a_quantile_of_few_delays_leaves_no_long_one_out(n, q, expected):
    assert metrics.quantile(range(1, n + 1), q) == expected


def test_metrics_of_an_empty_site_are_zeros(make, client, settings):
    settings.METRICS_TOKEN = TOKEN
    found = numbers(client)
    told = {name: value for name, value in found.items() if not name.startswith("build_info")}
    assert set(told.values()) == {0}


# --- Who works on what -----------------------------------------------------------------------------------------------


def test_staff_read_who_works_on_what_since_when_and_until_when_it_is_theirs(make, client):
    benchmark, now = make.benchmark(name="In hand"), timezone.now()
    Job.objects.filter(kind="prospects").update(
        state="running", worker="machine-7:4711", started_at=now - timedelta(seconds=65), attempts=2, progress=0.25,
        lease_until=now + timedelta(seconds=20),
    )  # fmt: skip
    assert "Who works on what" not in client.get("/status/").content.decode()
    client.force_login(make.user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    section = client.get("/status/").content.decode().split('id="at-work"')[-1].split("</section>")[0]
    cells = re.findall(r"<t[hd][^>]*>(?:<code>)?([^<]*)", section.split("<tbody>")[1])
    assert cells[:5] == ["machine-7:4711", "Prospects", benchmark.name, "1", "2"]
    assert (int(cells[5]) >= 65, int(cells[6]) <= 20, cells[7]) == (True, True, "25 %")
    Job.objects.filter(kind="prospects").update(state="waiting")
    assert "No worker has a job in hand" in client.get("/status/").content.decode()


# --- Clocks and other releases ---------------------------------------------------------------------------------------


def test_a_clock_that_was_an_hour_ahead_keeps_no_job_waiting_for_that_hour(make):
    make.benchmark()
    hour = timezone.now() + timedelta(hours=1)
    Job.objects.filter(kind="rankings").update(not_before=hour, woken_at=hour)
    Job.objects.filter(kind="prospects").update(state="running", lease_until=hour, deadline=hour)
    jobs.sweep()
    board, prospects = Job.objects.get(kind="rankings"), Job.objects.get(kind="prospects")
    assert board.not_before <= timezone.now()
    assert board.woken_at <= timezone.now()
    assert prospects.state == "running"
    assert prospects.lease_until <= timezone.now() + timedelta(seconds=site_settings.JOB_LEASE_SECONDS)


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
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{made[0]}" WITH (FORCE)')


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
    with pytest.raises(CommandError, match="is there already"):
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


def test_a_backup_that_was_tampered_with_is_found_out(make_committed, tmp_path, another_database):
    if connection.vendor != "sqlite":
        pytest.skip("changes a score in SQLite's file")
    make_committed.published()
    file, folder = tmp_path / "plurank.backup", tmp_path / "unpacked"
    call_command("backup", str(file))
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    with sqlite3.connect(folder / "database") as database:
        database.execute("INSERT INTO append_only_permit (reason) VALUES ('a test')")
        database.execute("UPDATE leaderboard_score SET value = value + 1 WHERE id = 1")
        database.execute("DELETE FROM append_only_permit")
    database.close()
    changed = tmp_path / "changed.backup"
    with tarfile.open(changed, "w") as archive:
        archive.add(folder / "manifest.json", "manifest.json")
        archive.add(folder / "database", "database")
    another_database()
    with pytest.raises(CommandError, match="differs from the backup's manifest in the input hashes of"):
        call_command("restore", str(changed))
    connections.close_all()


@pytest.mark.parametrize(("content", "words"), [(b"", "is no backup of Plurank"), (b"PK\x03\x04", "is no backup")])
def test_another_file_is_no_backup(db, tmp_path, content, words):
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=words):
        call_command("restore", str(file))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


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
    assert len(capsys.readouterr().out.splitlines()) == 2 * len(RETAINED)
    with pytest.raises(CommandError, match="3 days are too few"):
        call_command("prune", "--days", "3")
