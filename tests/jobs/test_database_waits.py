"""A PostgreSQL that hangs, or a row that somebody keeps locked, takes neither the web server nor the sweep along."""

import json
import signal
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from leaderboard.accounts.tokens import create_token
from leaderboard.models import Heartbeat, Job, Submission
from tests.relay import Relay, through

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(settings.IS_SQLITE, reason="SQLite is a file: nothing is waited for over a network"),
]


@pytest.fixture
def relay():
    parts = connection.settings_dict
    relay = Relay(parts["HOST"] or "127.0.0.1", int(parts["PORT"] or 5432))
    yield relay
    relay.close()


def status(url: str, timeout: float) -> int:
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_after_a_failover_that_leaves_connections_hanging_web_and_sweep_go_on(make_committed, site, relay):
    """Takes about 15 seconds: two processes start, and their statements wait for their limit."""
    make_committed.benchmark()
    site.environment |= {
        "DATABASE_URL": through(relay, site.environment["DATABASE_URL"]),
        "PLURANK_QUERY_SECONDS": "2",
    }
    site.start("web", "sweep")
    site.wait_for_web()
    site.wait_until(Heartbeat.objects.filter(role="sweep").exists, 30, "the sweep is at work")
    with ThreadPoolExecutor(8) as pool:  # each thread of the web server has a connection
        assert set(pool.map(lambda _: status(f"{site.url}/status/", 20), range(16))) == {200}
        relay.hang()
        seen_at = Heartbeat.objects.get(role="sweep").seen_at
        answers = list(pool.map(lambda _: status(f"{site.url}/status/", 30), range(8)))
    assert set(answers) <= {200, 503}
    assert status(f"{site.url}/healthz/", 5) == 200
    site.wait_until(lambda: Heartbeat.objects.get(role="sweep").seen_at > seen_at, 30, "the sweep is back")


def test_a_web_server_that_nobody_asks_gives_its_connections_back(make_committed, site):
    """Takes about five seconds: a web server starts, and is asked by eight at once."""
    url = site.environment["DATABASE_URL"]  # PLURANK_IDLE_SECONDS sets the same, but nothing below a minute
    url += f"{'&' if '?' in url else '?'}options=-c%20idle_session_timeout%3D2s"
    site.environment |= {"DATABASE_URL": url}
    site.start("web")
    site.wait_for_web()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: status(f"{site.url}/status/", 20), range(16))) == {200}

    def n_connections() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()")
            return cursor.fetchone()[0]

    site.wait_until(lambda: n_connections() == 0, 20, "no connection is left")
    assert status(f"{site.url}/status/", 20) == 200


def test_while_somebody_keeps_a_benchmark_locked_readers_are_answered_and_submitters_told_to_come_again(
    make_committed, site
):
    """Takes about ten seconds: twelve submitters wait for one row."""
    benchmark = make_committed.benchmark({}, n_tasks=1)
    _, secret = create_token(benchmark.memberships.get(role="owner").user, name="t", scopes=["submit"], days=30)
    site.environment |= {"PLURANK_LOCK_SECONDS": "4"}
    site.start("web")
    site.wait_for_web()

    def submit(n: int) -> int:
        body = {"systems": [{"name": f"System {n}", "scores": {"task-1": n}}], "create_systems": True}
        request = urllib.request.Request(
            f"{site.url}/api/v1/benchmarks/{benchmark.key}/submissions/",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Token {secret}"},
        )
        return status(request, 60)

    with psycopg.connect(site.environment["DATABASE_URL"]) as other, ThreadPoolExecutor(12) as pool:
        other.execute("SELECT * FROM leaderboard_benchmark FOR UPDATE")
        submitters = [pool.submit(submit, n) for n in range(12)]
        time.sleep(3.5)  # those that wait for their turn are told by now that the others are stuck
        assert [status(f"{site.url}/healthz/", 2) for _ in range(5)] == [200] * 5
        assert status(f"{site.url}/b/{benchmark.key}/", 5) == 200
        assert {submitter.result() for submitter in submitters} == {503}
        other.rollback()
    assert not Submission.objects.exists()
    assert {submit(n) for n in range(3)} == {201}


def test_a_worker_that_is_told_to_stop_in_the_middle_of_a_query_gives_its_job_back(make_committed, site):
    """Takes about eight seconds: a worker starts, waits for a table that somebody keeps locked, and is stopped."""
    site.environment |= {"PLURANK_LEASE_SECONDS": "60", "PLURANK_LOCK_SECONDS": "60", "PLURANK_QUERY_SECONDS": "60"}
    make_committed.benchmark()
    with psycopg.connect(site.environment["DATABASE_URL"]) as other:
        other.execute("lock table leaderboard_report in access exclusive mode")
        site.start("rankings")

        def is_waiting_for_the_table() -> bool:
            with connection.cursor() as cursor:
                cursor.execute(
                    "select count(*) from pg_locks where relation = 'leaderboard_report'::regclass and not granted"
                )
                return cursor.fetchone()[0] > 0

        site.wait_until(is_waiting_for_the_table, 30, "the worker waits for the table")
        job = Job.objects.filter(kind="rankings", state="running").get()
        site.running["rankings"].send_signal(signal.SIGQUIT)
        site.wait_until(lambda: Job.objects.get(pk=job.pk).state != "running", 10, "the job is given back")
        given_back = Job.objects.get(pk=job.pk)
        assert (job.attempts, given_back.state, given_back.attempts) == (1, "waiting", 0)
