"""A worker that is told to stop gives its job back, whatever it is at."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from django.conf import settings

from leaderboard.models import Job, JobCount

pytestmark = pytest.mark.services
RETURNED = {"kind": "rankings", "outcome": "returned"}


@contextmanager
def kept_from_writing(url: str, job: Job) -> Iterator[Callable[[], None]]:
    """Nobody else may write the job's row, on SQLite nothing, until the function that this gives is called."""
    if settings.IS_SQLITE:
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=20, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield lambda: other.execute("ROLLBACK")
        return
    with psycopg.connect(url) as other:
        other.execute("SELECT * FROM leaderboard_job WHERE id = %s FOR UPDATE", [job.pk])
        yield other.rollback


def test_a_worker_whose_job_takes_long_to_give_back_gives_it_back_before_it_ends(make_committed, site):
    """Takes about ten seconds: worker and sweep start, and the worker waits to write what became of its job."""
    site.environment |= {"PLURANK_LEASE_SECONDS": "120", "PLURANK_TEST_SECONDS": "60", "PLURANK_LOCK_SECONDS": "60"}
    make_committed.benchmark()
    site.start("rankings", "sweep", include="tests.jobs.disturbed.sleepy")
    job = site.wait_until(Job.objects.filter(kind="rankings", state="running").first, 30, "a job runs")
    with kept_from_writing(site.environment["DATABASE_URL"], job) as let_write:
        worker = site.running["rankings"]
        worker.send_signal(signal.SIGQUIT)
        site.wait_until(lambda: "Hitting Ctrl+C" in site.logs(), 10, "the worker has heard of it")
        time.sleep(3.0)
        before = Job.objects.get(pk=job.pk)
        let_write()
        site.wait_until(lambda: worker.poll() is not None, 20, "the worker ends")
    after = Job.objects.get(pk=job.pk)
    assert (before.state, before.attempts) == ("running", 1)
    assert (after.state, after.attempts) == ("waiting", 0)


def test_a_worker_that_is_stopped_just_after_it_claimed_a_job_gives_it_back(make_committed, site):
    """Takes about eight seconds: worker and sweep start."""
    site.environment["PLURANK_LEASE_SECONDS"] = "600"
    make_committed.benchmark()
    site.start("rankings", "sweep", include="tests.jobs.disturbed.stopped_while_claiming")
    site.wait_until(JobCount.objects.filter(**RETURNED).exists, 30, "the job is given back")
    assert Job.objects.get(kind="rankings").attempts <= 1
