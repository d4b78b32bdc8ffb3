"""The site's numbers, compared with what the database holds and with what was asked."""

import importlib
from datetime import timedelta
from functools import partial

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from jobs.runner import run_job
from leaderboard.models import Heartbeat, Job, JobCount, Publication
from leaderboard.operations import metrics
from leaderboard.queue import job_counts, jobs
from leaderboard.queue.heartbeats import Process
from leaderboard.queue.priorities import RECOMPUTATION
from leaderboard.queue.retry import retry_job
from tests.exposition import names_with_labels, samples, total, value


def text() -> str:
    return metrics.metrics_text().decode()


def test_metrics_tell_queues_jobs_and_delays(make):
    benchmark = make.published()
    accepted = make.accepted(benchmark, {"E": [1.0] * 5})
    now = timezone.now()
    Job.objects.filter(kind="rankings", sequence=2).update(not_before=now - timedelta(seconds=90))
    Job.objects.filter(kind="rankings", sequence=1).update(started_at=now - timedelta(seconds=7), finished_at=now)
    exposition = text()
    n_studies = Job.objects.filter(queue="studies", state="waiting").count()
    assert value(exposition, "queue_jobs", queue="rankings", state="waiting") == 1
    assert value(exposition, "queue_jobs", queue="studies", state="waiting") == n_studies > 0
    assert 90 <= value(exposition, "queue_oldest_seconds", queue="rankings") < 150
    assert value(exposition, "jobs_lately", kind="rankings", state="done") == 1
    means = {value(exposition, f"job_seconds_{which}", kind="rankings") for which in ("mean", "max")}
    assert means == {7}
    publication = Publication.objects.get()
    delay = (publication.published_at - publication.revision.created_at).total_seconds()
    assert value(exposition, "publish_delay_seconds", quantile="0.5") == pytest.approx(delay, rel=1e-4)
    assert (value(exposition, "benchmarks"), value(exposition, "benchmarks_behind"), accepted.number) == (1, 1, 2)


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_a_board_whose_process_is_killed_at_every_attempt_makes_its_queue_look_stuck(make, state):
    make.benchmark()
    now = timezone.now()
    board = Job.objects.filter(kind="rankings")
    board.update(state=state, not_before=now + timedelta(seconds=100), created_at=now - timedelta(minutes=10))
    oldest = []
    for attempts in (1, 8):
        board.update(attempts=attempts)
        oldest.append(value(text(), "queue_oldest_seconds", queue="rankings"))
    assert oldest[0] == 0
    assert 600 <= oldest[1] < 660


def test_what_only_follows_an_upgrade_does_not_make_a_queue_look_stuck(make):
    make.benchmark()
    hour_ago = timezone.now() - timedelta(hours=1)
    Job.objects.update(not_before=hour_ago, priority=F("priority") + RECOMPUTATION)
    assert value(text(), "queue_jobs", queue="rankings", state="waiting") == 1
    assert value(text(), "queue_oldest_seconds", queue="rankings") == 0


@pytest.mark.parametrize(("n", "q", "expected"), [(1, 0.95, 1), (2, 0.5, 1), (2, 0.95, 2), (20, 0.95, 19)])
def test_a_quantile_of_few_delays_leaves_no_long_one_out(n, q, expected):
    assert metrics.quantile(range(1, n + 1), q) == expected


def test_an_empty_site_has_done_nothing_and_says_so_of_every_kind_and_outcome(make):
    by_series = samples(text())
    of_database = ("queue", "job", "board", "benchmark", "outbox", "processes")
    values = {name: v for (name, _), v in by_series.items() if name.removeprefix("plurank_").startswith(of_database)}
    assert set(values.values()) == {0}
    of_jobs = {labels for name, labels in by_series if name == "plurank_jobs_total"}
    kinds = job_counts.JOB_KINDS
    assert of_jobs == {frozenset({("kind", k), ("outcome", o)}) for k in kinds for o in job_counts.OUTCOMES}


def test_metrics_ask_the_database_as_often_however_much_there_is(make, django_assert_num_queries):
    """14 questions, and one more on PostgreSQL for its connections."""
    n_queries = 14 + (connection.vendor == "postgresql")
    with django_assert_num_queries(n_queries):
        metrics.metrics_text()
    for _ in range(3):
        make.published()
    with django_assert_num_queries(n_queries):
        metrics.metrics_text()


# --- How jobs ended --------------------------------------------------------------------------------------------------


@pytest.fixture
def after_commit(django_capture_on_commit_callbacks):
    """Runs a function as if its transaction had committed."""

    def run(function, *arguments):
        with django_capture_on_commit_callbacks(execute=True):
            return function(*arguments)

    return run


def test_every_way_in_which_an_attempt_ends_is_counted_and_pruning_takes_nothing_away(make, after_commit, settings):
    settings.JOB_ATTEMPTS, settings.JOB_LEASE_SECONDS = 2, 600
    benchmark = make.benchmark()
    after_commit(make.publish, benchmark)
    prospects = Job.objects.get(kind="prospects")
    for _ in range(2):
        Job.objects.filter(pk=prospects.pk).update(not_before=timezone.now())
        after_commit(jobs.record_failure, jobs.claim(prospects.pk, worker="w"), "it went wrong")
    after_commit(jobs.give_back, jobs.claim(Job.objects.get(kind="axioms").pk, worker="w"))
    make.accepted(benchmark, {"E": [1.0] * 5})
    before = text()
    counted = {
        (labels["kind"], labels["outcome"]): n
        for (name, pairs), n in samples(before).items()
        if name == "plurank_jobs_total" and n and (labels := dict(pairs))
    }
    assert counted == {
        ("rankings", "done"): 1,
        ("prospects", "retried"): 1,
        ("prospects", "failed"): 1,
        ("axioms", "returned"): 1,
    }
    assert value(before, "jobs_failed", queue="studies") == 1
    assert total(before, "job_duration_seconds_count", kind="prospects") == 2
    assert value(before, "job_duration_seconds_bucket", kind="rankings", outcome="done", le="+Inf") == 1
    make.publish(benchmark)
    Job.objects.filter(finished_at__isnull=False).update(finished_at=timezone.now() - timedelta(days=100))
    call_command("prune")
    assert not Job.objects.filter(pk=prospects.pk).exists()
    after = text()
    assert value(after, "jobs_failed", queue="studies") == 1
    assert total(after, "jobs_total") == total(before, "jobs_total")


def test_a_job_that_is_superseded_before_any_worker_had_it_counts_and_took_no_time(make, after_commit):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1.0] * 5})
    older = Job.objects.get(kind="rankings", sequence=1)
    after_commit(partial(run_job, older.pk, worker="w"))
    exposition = text()
    assert value(exposition, "jobs_total", kind="rankings", outcome="superseded") == 1
    assert total(exposition, "job_duration_seconds_count") == 0


def test_a_job_tried_again_and_given_up_again_counts_twice(make, after_commit, settings):
    settings.JOB_ATTEMPTS = 1
    make.benchmark()
    job = Job.objects.get(kind="prospects")
    for n_failed in (1, 2):
        after_commit(jobs.record_failure, jobs.claim(job.pk, worker="w"), "it went wrong")
        assert value(text(), "jobs_failed", queue="studies") == n_failed
        job.refresh_from_db()
        assert retry_job(job)


@pytest.mark.parametrize(("seconds", "bucket"), [(0, "0.1"), (0.9, "1.0"), (59, "60.0"), (10_000, "+Inf")])
def test_an_attempt_counts_in_the_bucket_of_its_duration_and_all_above(make, after_commit, seconds, bucket):
    make.benchmark()
    job = jobs.claim(Job.objects.get(kind="prospects").pk, worker="w")
    job.started_at = timezone.now() - timedelta(seconds=seconds)
    after_commit(job_counts.count_attempt, job, job_counts.DONE)
    assert JobCount.objects.get().bucket == bucket
    of_attempt = {"kind": "prospects", "outcome": "done"}
    bounds = [*map(str, job_counts.BOUNDS), "+Inf"]
    exposition = text()
    cumulated = [value(exposition, "job_duration_seconds_bucket", le=bound, **of_attempt) for bound in bounds]
    place = bounds.index(bucket)
    assert cumulated == [0] * place + [1] * (len(bounds) - place)
    assert value(exposition, "job_duration_seconds_sum", **of_attempt) == pytest.approx(seconds, abs=5)


def test_kinds_of_another_release_are_counted_as_one(make, after_commit):
    make.benchmark()
    Job.objects.filter(kind="axioms").update(kind="divination", woken_at=None)
    after_commit(jobs.sweep)
    assert value(text(), "jobs_total", kind="unknown", outcome="failed") == 1


def test_the_count_of_failures_begins_with_those_whose_rows_are_there(make):
    make.benchmark()
    Job.objects.filter(kind__in=["prospects", "rankings"]).update(state="failed")
    migration = importlib.import_module("leaderboard.migrations.0024_job_counts")
    migration.count_failed(apps, None)
    exposition = text()
    assert [value(exposition, "jobs_failed", queue=queue) for queue in ("rankings", "studies")] == [1, 1]


# --- Processes, backups ----------------------------------------------------------------------------------------------


def test_processes_that_live_are_counted_by_role_and_silent_ones_only_have_an_age(make):
    for pid in (1, 2):
        Process("rankings", name=f"rankings{pid}", pid=pid).beat()
    Process("sweep", name="sweep").beat()
    Heartbeat.objects.filter(pid=2).update(seen_at=timezone.now() - timedelta(minutes=5))
    Heartbeat.objects.filter(role="sweep").update(seen_at=timezone.now() - timedelta(minutes=2))
    exposition = text()
    assert [value(exposition, "processes", role=role) for role in ("sweep", "rankings", "studies")] == [0, 1, 0]
    assert 120 <= value(exposition, "process_age_seconds", role="sweep") < 180
    assert value(exposition, "sweep_age_seconds") >= 120
    assert value(exposition, "process_age_seconds", role="rankings") < 60
    assert value(exposition, "process_age_seconds", role="studies") is None


def test_the_age_of_the_last_backup_counts_from_the_making_of_the_database_until_there_is_one(
    make_committed, tmp_path, capsys
):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET applied = %s", [timezone.now() - timedelta(days=3)])
    assert value(text(), "backup_age_seconds") >= 3 * 86_400
    call_command("backup", str(tmp_path / "one"))
    assert value(text(), "backup_age_seconds") < 600
    call_command("backup", str(tmp_path / "two"))
    assert value(text(), "backup_age_seconds") < 600


# --- Requests --------------------------------------------------------------------------------------------------------


def test_requests_are_counted_by_the_name_of_their_route_method_and_status(make, client):
    before = text()
    client.get("/status/")
    client.get("/status/")
    client.post("/status/")
    client.get("/b/no-such-board/")
    client.get("/static/no-such-file.css")
    after = text()

    def more(**labels):
        return total(after, "http_requests_total", **labels) - total(before, "http_requests_total", **labels)

    assert more() == 5
    assert more(route="status", method="GET", status="200") == 2
    assert more(route="status", method="POST", status="405") == 1
    assert more(method="GET", status="404") == 2
    assert more(route="static") == 1
    timed = "http_request_duration_seconds_count"
    assert total(after, timed, route="status") - total(before, timed, route="status") == 3


def test_whatever_strangers_send_there_is_only_so_much_to_count(make, client):
    def series() -> set:
        return {key for key in samples(text()) if key[0].startswith("plurank_http")}

    client.get("/no/such/page/")
    client.generic("ZERO", "/status/")
    client.generic("ZERO", "/no/page/")
    before = series()
    for n in range(60):
        client.get(f"/no/page/{n}/", {"q": "x" * 1000})
        client.generic(f"METHOD{n}", "/status/")
        client.generic(f"METHOD{n}", f"/no/page/{n}")
    assert series() == before


def test_the_cache_counts_what_it_knew(make):
    before = text()
    cache.set("known", None)
    assert [cache.get("known", 1), cache.get("unknown"), cache.get("unknown", 3)] == [None, None, 3]
    assert cache.get_many(["known", "unknown", "others"]) == {"known": None}
    after = text()
    more = {o: total(after, "cache_reads_total", outcome=o) - total(before, "cache_reads_total", outcome=o)
            for o in ("hit", "miss")}  # fmt: skip
    assert more == {"hit": 2, "miss": 4}


def test_every_number_has_the_name_of_the_site_before_it_and_words_of_help(make):
    make.published()
    exposition = text()
    assert {name for name in names_with_labels(exposition) if not name.startswith("plurank_")} == set()
    n_help = sum(line.startswith("# HELP plurank_") and len(line.split()) > 4 for line in exposition.splitlines())
    assert n_help == sum(line.startswith("# TYPE plurank_") for line in exposition.splitlines()) > 20
