"""Where no wake-up comes, workers take what is due from the table, within their limits."""

import json
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from leaderboard.models import Benchmark, Job
from tests.jobs.submitter import Submitter
from tests.jobs.test_lost_wake_ups import newcomers, redis_server
from tests.running_site import free_port

pytestmark = pytest.mark.services
OFTEN = "tests.jobs.disturbed.often"


def wait_for_board(site, benchmark, number: int) -> None:
    numbers = Benchmark.objects.filter(pk=benchmark.pk).values_list("published_number", flat=True)
    site.wait_until(lambda: numbers.get() == number, 30, f"revision {number} is published")


@contextmanager
def broker(site, fault: str):
    """A broker of this test's own. Yields two functions: one takes it away, the other brings it back."""
    if not settings.REDIS_URL:
        folder = site.folder / "broker"

        def take_away() -> None:
            while not folder.is_file():  # processes make it anew
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(IsADirectoryError):
                    folder.write_text("no folder")

        yield take_away, folder.unlink
        return
    port = free_port()
    site.environment["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    with ExitStack() as servers:
        redis = servers.enter_context(redis_server(port, site.folder))

        def take_away() -> None:
            redis.send_signal(signal.SIGSTOP if fault == "stands still" else signal.SIGKILL)

        def bring_back() -> None:
            if fault == "stands still":
                redis.send_signal(signal.SIGCONT)
            else:
                servers.enter_context(redis_server(port, site.folder))

        yield take_away, bring_back
        site.stop_all()


@pytest.mark.parametrize("fault", ["is gone", "stands still"])
def test_boards_are_published_without_a_broker_and_by_wake_ups_once_it_is_back(make_committed, site, fault):
    """Takes about half a minute: processes start, and one beside the worker."""
    if fault == "stands still" and not settings.REDIS_URL:
        pytest.skip("a folder does not stand still")
    site.environment["PLURANK_UNWOKEN_SECONDS"] = "3"
    benchmark = make_committed.benchmark()
    with broker(site, fault) as (take_away, bring_back):
        site.start("rankings", "sweep", include=OFTEN)
        wait_for_board(site, benchmark, 1)
        take_away()
        submitter = Submitter(site, benchmark)
        submitter.accept(newcomers(2, 2)[0])
        wait_for_board(site, benchmark, 2)
        for scores in newcomers(3, 5):
            submitter.accept(scores)
        wait_for_board(site, benchmark, 5)
        assert "they are taken from the table" in (site.folder / "rankings.log").read_text()
        jobs = Job.objects.filter(kind="rankings", state="done")
        assert set(jobs.values_list("attempts", flat=True)) == {1}
        bring_back()
        submitter.accept(newcomers(6, 6)[0])
        wait_for_board(site, benchmark, 6)
        assert site.running["rankings"].poll() is None


def test_a_worker_that_begins_without_its_broker_publishes_boards(make_committed, site):
    """Takes about fifteen seconds: processes start."""
    site.environment["PLURANK_UNWOKEN_SECONDS"] = "1"
    if settings.REDIS_URL:
        site.environment["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"
    else:
        (site.folder / "broker").write_text("no folder")
    benchmarks = [make_committed.benchmark() for _ in range(2)]
    site.start("rankings", include=OFTEN)
    for benchmark in benchmarks:
        wait_for_board(site, benchmark, 1)


def run_due(site, *options: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "manage.py", "run_due", "rankings", "--include=tests.faults.poison", *options],
        cwd=settings.ROOT,
        env=site.environment | {"PLURANK_UNWOKEN_SECONDS": "1"} | environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def poisoned(make_committed, kind: str) -> Job:
    """The job of a board that is poison, due for long enough."""
    benchmark = make_committed.benchmark(name=f"{kind.capitalize()} poison")
    make_committed.accepted(benchmark, newcomers(2, 2)[0])
    Job.objects.filter(kind="rankings", sequence=1).delete()
    job = Job.objects.get(kind="rankings")
    Job.objects.filter(pk=job.pk).update(not_before=job.created_at.replace(year=2020))
    return job


def test_what_comes_of_a_job_is_logged_as_json_where_logs_are(make_committed, site):
    """Takes about five seconds."""
    make_committed.benchmark()
    Job.objects.update(not_before=timezone.now() - timedelta(minutes=1))
    environment = site.environment | {"PLURANK_UNWOKEN_SECONDS": "1", "PLURANK_LOG_FORMAT": "json"}
    command = [sys.executable, "manage.py", "run_due", "rankings"]
    done = subprocess.run(command, cwd=settings.ROOT, env=environment, capture_output=True, text=True, check=True)
    messages = [json.loads(line)["message"] for line in (done.stdout + done.stderr).splitlines()]
    assert any(message.endswith(": done") for message in messages)


def test_a_job_that_never_ends_ends_its_process_at_its_limit(make_committed, site):
    """Takes about five seconds."""
    job = poisoned(make_committed, "endless")
    process = run_due(site, PLURANK_BOARD_SECONDS="2", PLURANK_JOB_GRACE_SECONDS="1")
    assert process.wait(60) == -signal.SIGALRM
    process.stdin.close()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease_until) == ("running", 1, job.deadline)


def test_a_job_that_asks_for_all_memory_fails_alone(make_committed, site):
    """Takes about five seconds."""
    job = poisoned(make_committed, "memory")
    process = run_due(site, PLURANK_JOB_MEMORY_MB="2048")
    assert process.wait(60) == 0
    process.stdin.close()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error.partition(":")[0]) == ("waiting", 1, "MemoryError")


def test_a_process_whose_worker_ends_gives_its_job_back(make_committed, site):
    """Takes about five seconds."""
    job = poisoned(make_committed, "endless")
    process = run_due(site, "--leashed")
    site.wait_until(lambda: Job.objects.get(pk=job.pk).state == "running", 30, "the job runs")
    process.stdin.close()
    assert process.wait(30) == 0
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("waiting", 0)


def test_a_worker_that_is_stopped_ends_what_runs_beside_it_and_the_job_is_given_back(make_committed, site):
    """Takes about fifteen seconds: a worker starts without its broker, and a process beside it."""
    site.environment |= {"PLURANK_UNWOKEN_SECONDS": "1", "PLURANK_TEST_SECONDS": "3600"}
    make_committed.benchmark()
    if settings.REDIS_URL:
        site.environment["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"
    else:
        (site.folder / "broker").write_text("no folder")
    site.start("rankings", include=f"tests.jobs.disturbed.sleepy,{OFTEN}")
    job = site.wait_until(Job.objects.filter(kind="rankings", state="running").first, 30, "the job runs")
    beside = int(job.worker.rpartition(":")[2])
    assert beside in site.processes("rankings")
    worker = site.running["rankings"]
    worker.send_signal(signal.SIGQUIT)
    worker.wait(90)
    site.wait_until(lambda: not Path(f"/proc/{beside}").exists(), 10, "what ran beside the worker has ended")
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("waiting", 0)
