"""The broker loses messages, is away, or does not answer: accepting goes on, and everything is published."""

import shutil
import signal
import subprocess
import sys
import time

import pytest
from django.conf import settings

from leaderboard.models import Benchmark, Job
from ranking_engine import __version__ as engine_version
from tests.config.redis_server import redis_server
from tests.databases import empty_broker
from tests.jobs.submitter import Submitter
from tests.running_site import RunningSite, free_port

pytestmark = pytest.mark.services

MOST_SECONDS = 60  # what accepting may take while the broker is away, on a machine that does much else


def newcomers(first: int, last: int) -> list[dict[str, list[float]]]:
    return [{f"Newcomer {n}": [float(n)] * 5} for n in range(first, last + 1)]


def wait_for_board(site: RunningSite, benchmark: Benchmark, number: int, seconds: float = 40) -> None:
    numbers = Benchmark.objects.filter(pk=benchmark.pk).values_list("published_number", flat=True)
    site.wait_until(lambda: numbers.get() == number, seconds, f"revision {number} is published")
    jobs = Job.objects.filter(kind="rankings")
    site.wait_until(lambda: not jobs.filter(state__in=["waiting", "running"]).exists(), 20, "no job is left")
    assert set(jobs.values_list("state", flat=True)) <= {"done", "superseded"}
    assert jobs.filter(attempts__gt=1).count() == 0


def forget_all_messages(site: RunningSite) -> None:
    if settings.REDIS_URL:
        empty_broker()
    else:
        shutil.rmtree(site.folder / "broker", ignore_errors=True)  # the worker takes files meanwhile


def test_what_waits_is_published_although_the_broker_forgot_every_wake_up(make_committed, site):
    """Takes about ten seconds: three processes start, and a job is woken again after five."""
    benchmark = make_committed.benchmark()
    submitter = Submitter(site, benchmark)
    for scores in newcomers(2, 6):
        submitter.accept(scores)
    forget_all_messages(site)
    site.start("rankings", "sweep")
    wait_for_board(site, benchmark, 6)


def test_a_worker_outlives_the_loss_of_its_messages_and_folder(make_committed, site):
    """Takes about ten seconds: processes start, and messages are forgotten again and again under a busy worker."""
    benchmark = make_committed.benchmark()
    site.start("rankings", "sweep")
    wait_for_board(site, benchmark, 1)
    submitter = Submitter(site, benchmark)
    for scores in newcomers(2, 8):
        submitter.accept(scores)
        forget_all_messages(site)
    wait_for_board(site, benchmark, 8)
    assert {name: process.poll() for name, process in site.running.items()} == dict.fromkeys(site.running)


def test_without_a_broker_submissions_are_accepted_and_published_once_it_is_back(make_committed, site):
    """Takes about fifteen seconds: processes start, the broker is away for some, and workers find it again."""
    site.environment["PLURANK_UNWOKEN_SECONDS"] = "3600"  # what comes before a worker looks for itself
    benchmark = make_committed.benchmark()
    if settings.REDIS_URL:
        port = free_port()
        site.environment["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    else:
        (site.folder / "broker").write_text("no folder")
    site.start("rankings", "studies", "sweep")
    submitter = Submitter(site, benchmark)
    answers = [submitter.accept(scores) for scores in newcomers(2, 5)]
    assert [answer["number"] for answer in answers] == [2, 3, 4, 5]
    assert max(answer["seconds"] for answer in answers) < MOST_SECONDS
    assert "the broker did not take the wake-up" in (site.folder / "submitter.log").read_text()
    time.sleep(3)  # the sweep tries in vain, too
    assert Job.objects.exclude(state="waiting").count() == 0
    if settings.REDIS_URL:
        with redis_server(port, site.folder):
            wait_for_board(site, benchmark, 5)
            site.stop_all()
    else:
        (site.folder / "broker").unlink()
        wait_for_board(site, benchmark, 5)


def test_a_broker_that_stands_still_delays_accepting_little_and_loses_nothing(make_committed, site):
    """Takes about fifteen seconds: processes start, and a Redis is stopped for some."""
    if not settings.REDIS_URL:
        pytest.skip("a folder does not stand still")
    port = free_port()
    site.environment["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    benchmark = make_committed.benchmark()
    with redis_server(port, site.folder) as redis:
        site.start("rankings", "sweep")
        wait_for_board(site, benchmark, 1)
        submitter = Submitter(site, benchmark)
        assert submitter.accept(newcomers(2, 2)[0])["seconds"] < MOST_SECONDS
        redis.send_signal(signal.SIGSTOP)
        answers = [submitter.accept(scores) for scores in newcomers(3, 6)]
        assert max(answer["seconds"] for answer in answers) < MOST_SECONDS
        time.sleep(2)
        redis.send_signal(signal.SIGCONT)
        wait_for_board(site, benchmark, 6)
        site.stop_all()


def test_wake_ups_do_not_pile_up_without_a_worker(make_committed, site, settings):
    """Takes about five seconds: a sweep starts, with more jobs to wake than a queue may hold messages."""
    from leaderboard.queue import jobs

    benchmark = make_committed.benchmark()
    first = Job.objects.filter(kind="rankings").values().get()
    del first["id"]
    Job.objects.bulk_create(Job(**first | {"subject_id": 1000 + n, "woken_at": None}) for n in range(150))
    site.start("sweep")

    def n_messages() -> int:
        if settings.REDIS_URL:
            import redis

            with redis.Redis.from_url(settings.REDIS_URL) as client:
                return client.llen(f"rankings-{engine_version}")
        return len(list((site.folder / "broker" / "messages").glob("*.rankings-*.msg")))

    site.wait_until(lambda: n_messages() >= jobs.WAKE_UPS_A_QUEUE, 30, "the queue is full")
    time.sleep(2)
    assert n_messages() < jobs.WAKE_UPS_A_QUEUE + jobs.WAKE_UPS_A_SWEEP
    assert benchmark.last_revision_number in (0, 1)


EXPIRED = """
import config.celery
from celery import current_app
for _ in range(20):
    current_app.send_task("jobs.run_job", kwargs={"job_id": 1}, queue="rankings", expires=0.001, ignore_result=True)
"""


def test_wake_ups_that_came_too_late_leave_no_lines_in_the_log(make_committed, site):
    """Takes about ten seconds: three processes start."""
    subprocess.run([sys.executable, "-c", EXPIRED], env=site.environment, cwd=settings.ROOT, check=True)
    benchmark = make_committed.benchmark()
    site.start("rankings", "sweep")
    wait_for_board(site, benchmark, 1)
    log = (site.folder / "rankings.log").read_text()
    assert "revoked" not in log
    assert "received" not in log
    assert "rankings of revision" in log
