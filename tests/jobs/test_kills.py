"""Workers killed, stopped and starved: what was accepted is published, once, in order, with the right figures."""

import hashlib
import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from django.conf import settings
from django.db import connection, connections
from django.db.models import Q

from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.rankings.reports import unpack_arrays
from ranking_engine import RULES, UNRANKED, ScoreMatrix, quick_rules, rank
from tests.databases import empty_broker
from tests.jobs.submitter import Submitter
from tests.running_site import RunningSite

pytestmark = pytest.mark.services

SEED = int(os.environ.get("PLURANK_TEST_SEED", "20"))
N_TASKS = 8
N_SUBMISSIONS = 50


def published_number(benchmark: Benchmark) -> int:
    return Benchmark.objects.values_list("published_number", flat=True).get(pk=benchmark.pk)


def is_published(benchmark: Benchmark, number: int):
    return lambda: published_number(benchmark) == number


def running(kind: str):
    return lambda: Job.objects.filter(kind=kind, state="running").first()


def all_boards_are_done() -> bool:
    return not Job.objects.filter(kind="rankings", state__in=["waiting", "running"]).exists()


def child_of(job: Job) -> int:
    """The process that runs a job; `worker` is its host and its number."""
    return int(job.worker.rpartition(":")[2])


def large_scores(n_systems: int, n_tasks: int) -> dict[str, list[float]]:
    values = np.random.default_rng(SEED).normal(size=(n_systems, n_tasks)).round(3)
    return {f"System {i}": row for i, row in enumerate(values.tolist())}


@contextmanager
def pointer_watched(benchmark: Benchmark):
    """A thread reads the benchmark's pointer again and again, as readers do; yields the list of what it saw."""
    seen, is_over = [], threading.Event()

    def watch() -> None:
        try:
            while not is_over.wait(0.02):
                seen.append(published_number(benchmark))
        finally:
            connections.close_all()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        is_over.set()
        watcher.join(timeout=10)


def test_nothing_is_lost_when_workers_and_the_sweep_are_killed_in_the_middle_of_fifty_submissions(make_committed, site):
    """Takes about half a minute, more on a busy machine: fifty submissions, while processes are killed and started at
    moments that a seed draws, sometimes both workers at once, mostly in the middle of a job."""
    draw = random.Random(SEED)
    submitted = large_scores(20, N_TASKS)
    benchmark = make_committed.benchmark(submitted)
    batches = []
    for n in range(N_SUBMISSIONS):
        is_newcomer = draw.random() < 0.7
        name = f"Newcomer {n}" if is_newcomer else draw.choice(sorted(submitted))
        batches.append({name: [None if draw.random() < 0.02 else round(draw.gauss(0, 1), 3) for _ in range(N_TASKS)]})
        submitted |= batches[-1]
    site.start("rankings", "sweep")
    with pointer_watched(benchmark) as seen, ThreadPoolExecutor(1) as pool:
        site.wait_until(is_published(benchmark, 1), 30, "the first board is published")
        submitting = pool.submit(submit_all, Submitter(site, benchmark), batches, random.Random(SEED + 1))
        n_kills = kill_until(submitting.done, site, draw)
        numbers = submitting.result()
        last = N_SUBMISSIONS + 1
        site.wait_until(is_published(benchmark, last), 40, "the last board is published")
        site.wait_until(all_boards_are_done, 40, "no board is computed any more")

    jobs = Job.objects.filter(kind="rankings")
    n_interrupted = jobs.filter(Q(attempts__gt=1) | ~Q(error="")).count()
    assert (n_kills >= 3, n_interrupted >= 1) == (True, True), f"{n_kills} kills, {n_interrupted} jobs interrupted"
    assert numbers == list(range(2, last + 1))
    revisions = Revision.objects.filter(benchmark=benchmark).order_by("number")
    assert list(revisions.values_list("number", flat=True)) == list(range(1, last + 1))
    assert seen == sorted(seen)
    publications = Publication.objects.order_by("pk").values_list("revision__number", "is_pointer_moved")
    published = [number for number, _ in publications]
    moves = [number for number, is_moved in publications if is_moved]
    assert len(set(published)) == len(published)
    assert moves == sorted(moves)
    assert moves[-1] == last
    assert set(seen) <= {0, *moves}
    assert set(jobs.values_list("state", flat=True)) <= {"done", "superseded"}
    assert set(jobs.filter(state="done").values_list("sequence", flat=True)) == set(published)
    assert_board_is(benchmark, submitted)


def submit_all(submitter: Submitter, batches: list[dict], draw: random.Random) -> list[int]:
    """Submit one batch after the other, with pauses; the numbers of their revisions."""
    numbers = []
    for batch in batches:
        numbers.append(submitter.accept(batch)["number"])
        time.sleep(draw.uniform(0, 0.4))
    return numbers


def kill_until(is_over, site: RunningSite, draw: random.Random) -> int:
    """Kill and start processes until it is over; how many were killed."""
    n_kills = 0
    while not is_over():
        time.sleep(draw.uniform(0.1, 1.0))
        victims = draw.choice([["rankings"], ["rankings2"], ["rankings", "rankings2"], ["sweep", "rankings"]])
        if not n_kills or draw.random() < 0.7:  # whoever is in the middle of a job, where one comes
            # A busy machine may take long to start the process that submits, and the workers that were killed before.
            victims = worker_of_the_next_job(site, is_over, seconds=30) or victims
        alive = [name for name in victims if name in site.running]
        for name in alive:
            site.kill(name)
        n_kills += len(alive)
        missing = [name for name in ("rankings", "sweep") if name not in site.running]
        site.start(*missing, *(["rankings2"] if "rankings2" not in site.running and draw.random() < 0.5 else []))
    return n_kills


def worker_of_the_next_job(site: RunningSite, is_over, seconds: float) -> list[str]:
    """The name of a worker that was stopped in the middle of a job, however short jobs are."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_over():
        job = running("rankings")()
        with suppress(ProcessLookupError):
            if job and (group := os.getpgid(child_of(job))):
                names = [name for name, process in site.running.items() if process.pid == group]
                for name in names:
                    site.pause(name)
                if running("rankings")() == job:
                    return names
                for name in names:
                    site.resume(name)
        time.sleep(0.002)
    return []


def assert_board_is(benchmark: Benchmark, submitted: dict[str, list[float | None]]) -> None:
    """Compare everything stored about the published revision with what follows from the submitted scores alone.

    Slow rules follow in a job of their own, which needs a worker that is not running here.
    """
    publication = Benchmark.objects.get(pk=benchmark.pk).publication
    by_key = {name.lower().replace(" ", "-"): scores for name, scores in submitted.items()}
    keys = sorted(by_key)
    values = np.array([[np.nan if s is None else s for s in by_key[key]] for key in keys])
    tasks = [f"task-{t}" for t in range(1, values.shape[1] + 1)]
    matrix = ScoreMatrix(values, system_names=keys, task_names=tasks)
    reports = {r.summary["rule"]: r for r in Report.objects.filter(revision=publication.revision, kind="ranking")}
    stored = {
        rule: (report.summary["status"], unpack_arrays(report.arrays)["ranks"].tolist())
        for rule, report in reports.items()
    }
    rankings = {rule: rank(matrix, rule, missing="drop_systems") for rule in rules_of_a_board(*values.shape)}
    expected = {rule: (r.status, [int(place) for place in r.ranks]) for rule, r in rankings.items()}
    # The search for Kemeny's order ends by the clock: on a busy machine before its order is proven to be the best.
    best, (status, ranks) = rankings["kemeny"].details, stored.pop("kemeny")
    assert status == "ranked"
    assert [place == UNRANKED for place in ranks] == [place == UNRANKED for place in expected["kemeny"][1]]
    assert best["lower_bound"] <= order_distance(values, np.array(ranks)) <= 1.1 * best["distance"]
    assert order_distance(values, np.array(expected.pop("kemeny")[1])) == best["distance"]
    assert stored == expected
    assert publication.revision.input_hash == hash_of(values, keys, tasks)


def order_distance(values: np.ndarray, ranks: np.ndarray) -> int:
    """In how many tasks, over all pairs of ranked systems, the lower one has the better score."""
    ordered = values[np.argsort(ranks)][(ranks == UNRANKED).sum() :]
    return sum(int((ordered[i + 1 :] > ordered[i]).sum()) for i in range(len(ordered)))


def rules_of_a_board(n_systems: int, n_tasks: int) -> list[str]:
    """The quick rules at this size, but for those that need a parameter of the reader's own."""
    return [rule for rule in quick_rules(n_systems, n_tasks) if not RULES[rule].parameters]


def hash_of(values: np.ndarray, keys: list[str], tasks: list[str]) -> str:
    """The hash of inputs with tasks of weight 1 and no group, γ or scale, written down a second time."""
    digest = hashlib.sha256(b"plurank inputs 1\n")
    for key in sorted(tasks):
        fields = f'"chance":null,"direction":1,"group":null,"key":"{key}","maximum":null,"minimum":null,"weight":"1"'
        digest.update(b"{" + fields.encode() + b"}\n")
    digest.update(b'{"gamma": null}\n')
    order = [tasks.index(key) for key in sorted(tasks)]
    for key, row in zip(keys, values, strict=True):
        digest.update(key.encode() + b"\0" + (row[order] + 0.0).astype("<f8").tobytes() + b"\n")
    return digest.hexdigest()


def test_a_board_is_published_while_a_long_study_runs_and_the_study_then_stops(make_committed, site):
    """Takes about ten seconds: three processes start, and a study of more than a minute is overtaken."""
    benchmark = make_committed.benchmark(large_scores(30, 12))
    Job.objects.filter(kind="bootstrap").update(parameters={"n_resamples": 4000, "level": 0.95, "seed": 0})
    site.start("studies", "rankings", "sweep")
    site.wait_until(is_published(benchmark, 1), 30, "revision 1 is published")
    study = site.wait_until(running("bootstrap"), 30, "the study runs")
    site.wait_until(lambda: Job.objects.filter(pk=study.pk, progress__gt=0).exists(), 30, "the study makes progress")
    revision = make_committed.accepted(benchmark, {"Newcomer": [1.0] * 12})
    site.wait_until(is_published(benchmark, 2), 15, "revision 2 is published")
    ended = site.wait_until(
        lambda: Job.objects.filter(pk=study.pk).exclude(state="running").first(), 15, "the study stops"
    )
    # It stops at its next checkpoint: neither it nor the board waited for its end.
    assert (ended.state, ended.attempts, 0 < ended.progress < 1) == ("superseded", 1, True)
    assert Publication.objects.filter(revision=revision).exists()
    assert not Report.objects.filter(kind="bootstrap", revision__number=1).exists()


def test_what_a_worker_brings_after_its_lease_ran_out_is_dropped(make_committed, site):
    """Takes about 15 seconds: a lease runs out while its worker stands still."""
    benchmark = make_committed.benchmark(large_scores(300, 60))
    site.start("rankings", "sweep")
    site.wait_until(running("rankings"), 30, "a worker has the job")
    stopped = site.running["rankings"].pid
    os.killpg(stopped, signal.SIGSTOP)
    first = Job.objects.get(kind="rankings")
    assert first.state == "running", "the worker was through before it was stopped: the benchmark is too small"
    site.start("rankings2")
    site.wait_until(is_published(benchmark, 1), 30, "another worker publishes")
    before = (Job.objects.filter(kind="rankings").values().get(), list(Publication.objects.values()))
    n_reports = Report.objects.count()
    os.killpg(stopped, signal.SIGCONT)
    log = site.folder / "rankings.log"
    site.wait_until(lambda: "lease lost" in log.read_text(), 15, "the first worker finds its lease lost")
    after = (Job.objects.filter(kind="rankings").values().get(), list(Publication.objects.values()))
    assert after == before
    assert (before[0]["state"], before[0]["attempts"], len(before[1])) == ("done", 2, 1)
    assert before[0]["worker"] != first.worker
    assert Report.objects.count() == n_reports == len(rules_of_a_board(300, 60)) + 1


def test_a_board_whose_process_is_killed_again_and_again_is_published_once_that_ends(make_committed, site):
    """Takes about ten seconds: three attempts, of which the first two end with a lease and a rest."""
    site.environment |= {"PLURANK_LEASE_SECONDS": "1", "PLURANK_JOB_ATTEMPTS": "1"}
    benchmark = make_committed.benchmark(large_scores(300, 60))
    site.start("rankings", "sweep")
    killed = set()

    def kill_two() -> bool:
        for job in Job.objects.filter(kind="rankings", sequence=1, state="running"):
            with suppress(ProcessLookupError):
                os.kill(child_of(job), signal.SIGKILL)
                killed.add(child_of(job))
        return len(killed) == 2

    site.wait_until(kill_two, 90, "two processes were killed")
    site.wait_until(is_published(benchmark, 1), 60, "the board is published")
    job = Job.objects.get(kind="rankings")
    assert (job.state, job.failures) == ("done", 0)
    assert job.attempts >= 3
    assert site.running["rankings"].poll() is None, "the worker itself lives on"


def test_a_board_that_always_raises_fails_and_the_next_one_goes_on(make_committed, site, client):
    """Takes about ten seconds: three attempts, each with a rest."""
    benchmark = make_committed.benchmark()
    benchmark.tasks.update(direction=7)  # no form lets this pass, and the engine refuses it
    make_committed.accepted(benchmark, {"E": [1.0] * 5})
    site.start("rankings", "sweep")
    failed = site.wait_until(
        lambda: Job.objects.filter(kind="rankings", sequence=2, state="failed").first(), 40, "the job has failed"
    )
    assert (failed.attempts, failed.error.split(":")[0]) == (3, "ValueError")
    site.wait_until(is_published(benchmark, 1), 20, "the board before it is published after all")
    assert failed.error.split("\n")[0] in client.get("/status/").content.decode().replace("&#x27;", "'")
    benchmark.tasks.update(direction=1)
    make_committed.accepted(benchmark, {"F": [2.0] * 5})
    site.wait_until(is_published(benchmark, 3), 20, "the next board is published")


def test_a_job_whose_workers_parent_alone_is_killed_is_done_once_and_nobody_is_left_over(make_committed, site):
    """Takes about ten seconds: the study takes some, and two workers start."""
    make_committed.benchmark(large_scores(30, 12))
    Job.objects.filter(kind="bootstrap").update(parameters={"n_resamples": 100, "level": 0.95, "seed": 0})
    site.start("studies", "sweep")
    study = site.wait_until(running("bootstrap"), 30, "the study runs")
    orphan = child_of(study)
    site.kill_parent_alone("studies")
    site.start("studies")
    done = site.wait_until(lambda: Job.objects.filter(pk=study.pk, state="done").first(), 90, "the study is done")
    assert Report.objects.filter(kind="bootstrap").count() == 1
    assert done.attempts in (1, 2)

    def is_gone() -> bool:
        try:
            os.kill(orphan, 0)
        except ProcessLookupError:
            return True
        return False

    site.wait_until(is_gone, 20, "the orphan has ended")


@pytest.mark.parametrize("signals", [[signal.SIGTERM, signal.SIGQUIT], [signal.SIGQUIT]], ids=["supervisor", "systemd"])
def test_a_worker_that_is_told_to_stop_gives_its_study_back_at_once(make_committed, site, signals):
    """Takes about eight seconds: a worker starts, and is stopped as the supervisor, or systemd and compose, do it."""
    site.environment["PLURANK_LEASE_SECONDS"] = "60"
    make_committed.benchmark(large_scores(30, 12))
    Job.objects.filter(kind="bootstrap").update(parameters={"n_resamples": 4000, "level": 0.95, "seed": 0})
    site.start("studies", "sweep")
    study = site.wait_until(running("bootstrap"), 30, "the study runs")
    process = site.running["studies"]
    for number in signals:
        process.send_signal(number)
        time.sleep(0.5)
    # Not until the worker has ended: Celery's pool may wait for a lock that died with its child, until it is killed.
    given_back = site.wait_until(
        lambda: Job.objects.filter(pk=study.pk).exclude(state="running").first(), 10, "the study is given back"
    )
    assert (given_back.state, given_back.attempts) == ("waiting", 0)


def test_workers_and_the_sweep_outlive_a_database_that_drops_every_connection(make_committed, site):
    """Takes about ten seconds: two processes start, and their connections are cut again and again."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connections that could drop")
    benchmark = make_committed.benchmark(large_scores(40, N_TASKS))
    site.start("rankings", "sweep")
    site.wait_until(is_published(benchmark, 1), 30, "revision 1 is published")
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    n_cut = 0
    for n in range(12):
        make_committed.accepted(benchmark, {f"Newcomer {n}": [float(n)] * N_TASKS})
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(pg_terminate_backend(pid)) {others}")
            n_cut += cursor.fetchone()[0]
        time.sleep(0.2)
    site.wait_until(is_published(benchmark, 13), 40, "the last board is published")
    site.wait_until(all_boards_are_done, 40, "no board is computed any more")
    assert n_cut > 0
    assert {name: process.poll() for name, process in site.running.items()} == {"rankings": None, "sweep": None}
    assert set(Job.objects.filter(kind="rankings").values_list("state", flat=True)) <= {"done", "superseded"}


def test_a_job_that_never_returns_is_killed_at_its_limit_and_its_queue_goes_on(make_committed, site):
    """Takes about ten seconds: a process that stands still is killed when its message's time is over."""
    from leaderboard.queue.wake_ups import RUN_JOB

    benchmark = make_committed.benchmark(large_scores(300, 60))
    job = Job.objects.get(kind="rankings")
    empty_broker()  # accepting has sent a wake-up with the limit of every board
    site.start("rankings")
    site.send(RUN_JOB, job.pk, queue="rankings", time_limit=3)
    stuck = site.wait_until(running("rankings"), 30, "a worker has the job")
    os.kill(child_of(stuck), signal.SIGSTOP)
    Job.objects.filter(pk=job.pk).update(lease_until="2020-01-01T00:00Z", state="waiting")
    site.start("sweep")
    site.wait_until(is_published(benchmark, 1), 30, "the same worker publishes it with another process")
    assert Job.objects.get(pk=job.pk).worker != stuck.worker


def test_the_wake_up_of_every_kind_carries_a_time_limit(make, django_capture_on_commit_callbacks, tmp_path):
    from celery import current_app

    from leaderboard.queue.kinds import JOB_KINDS

    if settings.REDIS_URL:
        pytest.skip("reads the folder of messages")
    from pathlib import Path

    folder = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["folder"])
    before = set(folder.glob("*.msg"))
    with django_capture_on_commit_callbacks(execute=True):
        make.benchmark()
    messages = [json.loads(path.read_text()) for path in sorted(set(folder.glob("*.msg")) - before)]
    limits = sorted(message["headers"]["timelimit"][0] for message in messages)
    assert limits == sorted(kind.limit_seconds + 30 for kind in JOB_KINDS.values() if kind.comes_with_revision)
    assert current_app.conf.task_time_limit is None
