"""One schedule: scores submitted to a benchmark by the API while faults strike, and what must hold afterwards."""

import http.client
import json
import random
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from django.db import InterfaceError, OperationalError, connection, connections

from leaderboard.models import Benchmark, Job, Publication, Revision, SubmissionCount, User
from leaderboard.services.benchmarks import TaskSpec, create_benchmark
from leaderboard.services.tokens import create_token
from ranking_engine import ScoreMatrix, rank
from tests.factories import Factory
from tests.faults.faults import Fault, draw_faults
from tests.faults.machine import Machine
from tests.faults.poison import POISON
from tests.jobs.test_kills import assert_board_is

T = TypeVar("T")
N_TASKS, N_SYSTEMS, N_SUBMISSIONS = 4, 6, 6
SECONDS = 2.0  # over which submissions and faults are spread
PATIENCE = 180.0  # for a client until it is answered, and for a board until it is published
WORDS = {503, 500, 502, 504}  # what a client tries again after


@dataclass
class Answer:
    """What one submission became."""

    revision: int
    name: str
    scores: list[float | None]


@dataclass
class Schedule:
    """What a seed draws, and what came of it."""

    seed: int
    benchmark: Benchmark
    token: str
    start: dict[str, list[float | None]]
    faults: list[Fault]
    poison: str
    accepted: list[Answer] = field(default_factory=list)
    seen: dict[int, set[str]] = field(default_factory=dict)  # answers to readers, by revision
    n_tried_again: int = 0

    @property
    def told(self) -> str:
        """The schedule in one line."""
        names = ", ".join(fault.__name__ for fault in self.faults)
        return f"seed {self.seed}: {names}{f', poison that {self.poison}' if self.poison else ''}"


def steady(read: Callable[[], T], seconds: float = PATIENCE) -> T:
    """Read from the database, again where it was away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return read()
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def draw_scores(draw: random.Random) -> list[float | None]:
    """A row of scores, now and then with a gap."""
    return [None if draw.random() < 0.05 else round(draw.gauss(0, 1), 3) for _ in range(N_TASKS)]


def prepare(seed: int, faults: list[Fault] | None = None) -> Schedule:
    """Make the schedule's benchmark and its submitter, whose cap is what they will submit.

    Every fourth schedule also submits to a benchmark that is poison to whoever computes its board.
    """
    draw = random.Random(seed)
    start = {f"System {i}": draw_scores(draw) for i in range(N_SYSTEMS)}
    start["System 0"] = [0.0] * N_TASKS  # somebody is complete
    factory = Factory()
    run = f"{seed}-{uuid.uuid4().hex[:6]}"
    owner = User.objects.create_user(f"owner-{run}@plurank.example", display_name=f"Owner {run}")
    submitter = User.objects.create_user(f"submitter-{run}@plurank.example", display_name=f"Submitter {run}")
    tasks = [TaskSpec(f"Task {t}", weight=Decimal(1)) for t in range(1, N_TASKS + 1)]
    about = {"owner": owner, "tasks": tasks, "submission_policy": "open", "total_cap": N_SUBMISSIONS}
    benchmark = create_benchmark(name=f"Faults {run}", **about)
    factory.accepted(benchmark, start, by=owner)
    poison = draw.choice(sorted(POISON)) if seed % 4 == 0 else ""
    if poison:
        harmful = create_benchmark(name=f"{poison} {run}", **about)
        factory.accepted(harmful, start, by=owner)
        factory.accepted(harmful, {"Poison": [1.0] * N_TASKS}, by=owner)
    _, token = create_token(submitter, name="faults", scopes=["read", "submit"], days=30)
    return Schedule(seed, benchmark, token, start, faults or draw_faults(draw, 2), poison)


def run(schedule: Schedule, machine: Machine) -> None:
    """Submit from two clients, read from one, and let the faults strike at moments that the seed draws."""
    draw = random.Random(schedule.seed + 1)
    is_over = threading.Event()
    batches = [(f"Newcomer {draw.randrange(4)}", draw_scores(draw)) for _ in range(N_SUBMISSIONS)]
    moments = sorted(draw.uniform(0, SECONDS) for _ in schedule.faults)
    seeds = [draw.randrange(2**30) for _ in range(N_SUBMISSIONS + len(schedule.faults))]
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        reading = pool.submit(_closing, read_boards, schedule, machine, is_over)
        clients = [
            pool.submit(_closing, submit_all, schedule, machine, batches[n::2], random.Random(seeds[n])) for n in (0, 1)
        ]
        striking = pool.submit(_closing, strike, schedule, machine, moments, seeds[N_SUBMISSIONS:], began)
        try:
            striking.result()
            for client in clients:
                client.result()
        finally:
            is_over.set()
        reading.result()


def _closing(work: Callable[..., None], *args: Any) -> None:
    try:
        work(*args)
    finally:
        connections.close_all()


def strike(schedule: Schedule, machine: Machine, moments: list[float], seeds: list[int], began: float) -> None:
    """Let each fault strike at its moment."""
    for fault, moment, seed in zip(schedule.faults, moments, seeds, strict=True):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        try:
            fault(machine, random.Random(seed), schedule.benchmark.key)
        except (OperationalError, InterfaceError):  # another schedule's fault: the database is away
            connection.close()


# --- Clients ---------------------------------------------------------------------------------------------------------


def call(machine: Machine, method: str, path: str, token: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """One call of the API. Status 0 where the connection broke: nobody knows what became of it."""
    asked = http.client.HTTPConnection(urlsplit(machine.url).netloc, timeout=15)
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"} | headers
    try:
        asked.request(method, f"/api/v1/{path}", json.dumps(body) if body is not None else None, headers)
        answer = asked.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        asked.close()


def submit_all(schedule: Schedule, machine: Machine, batches: list, draw: random.Random) -> None:
    """Submit one after the other; each until it is answered, under one idempotency key."""
    for name, scores in batches:
        time.sleep(draw.uniform(0, 2 * SECONDS / len(batches)))
        body = {
            "systems": [{"name": name, "scores": {f"task-{t}": s for t, s in enumerate(scores, start=1)}}],
            "create_systems": True,
        }
        schedule.accepted.append(Answer(submit(schedule, machine, body), name, scores))


def submit(schedule: Schedule, machine: Machine, body: dict) -> int:
    """Submit until it is answered; the number of the revision that it made."""
    key, end = uuid.uuid4().hex, time.monotonic() + PATIENCE
    while True:
        path = f"benchmarks/{schedule.benchmark.key}/submissions/"
        status, told = call(machine, "POST", path, schedule.token, body, **{"Idempotency-Key": key})
        if status in (200, 201):
            return int(told["revision"])
        assert status in {0, *WORDS}, f"{schedule.told}: a submission was answered with {status}: {told}"
        assert time.monotonic() < end, f"{schedule.told}: no answer to a submission\n{machine.logs()}"
        schedule.n_tried_again += 1
        time.sleep(0.2)


def read_boards(schedule: Schedule, machine: Machine, is_over: threading.Event) -> None:
    """Read a ranking again and again, as readers do, and keep what it said by the revision that it named."""
    path = f"benchmarks/{schedule.benchmark.key}/rankings/borda/"
    while not is_over.wait(0.3):
        status, told = call(machine, "GET", path, schedule.token)
        if status == 200 and told.get("revision"):
            ranks = {row["system"]: row["rank"] for row in told["results"]}
            schedule.seen.setdefault(told["revision"], set()).add(json.dumps(ranks, sort_keys=True))


# --- What must hold --------------------------------------------------------------------------------------------------


def is_published(schedule: Schedule) -> bool:
    """Whether the newest revision is on the board and no board is being computed any more."""
    benchmark = Benchmark.objects.get(pk=schedule.benchmark.pk)
    open_jobs = Job.objects.filter(benchmark=benchmark, kind="rankings", state__in=["waiting", "running"])
    return benchmark.published_number == benchmark.last_revision_number and not open_jobs.exists()


def check(schedule: Schedule, machine: Machine) -> None:
    """Hold everything that is stored and was seen against what was accepted, computed from scratch.

    Raises:
        AssertionError: a promise is broken.
    """
    machine.wait_until(lambda: steady(lambda: is_published(schedule)), PATIENCE, f"the board of {schedule.told}")
    accepted = sorted(schedule.accepted, key=lambda answer: answer.revision)
    last = 1 + N_SUBMISSIONS
    # Each accepted once, each number once, none missing.
    assert [answer.revision for answer in accepted] == list(range(2, last + 1)), schedule.told
    revisions = Revision.objects.filter(benchmark=schedule.benchmark)
    assert sorted(revisions.values_list("number", flat=True)) == list(range(1, last + 1)), schedule.told
    counts = SubmissionCount.objects.filter(benchmark=schedule.benchmark, period="total")
    count = counts.get(user__email__startswith="submitter")
    assert count.n_submitted == N_SUBMISSIONS, f"{schedule.told}: {count.n_submitted} count against the cap"
    body = {"systems": [{"name": "One more", "scores": {"task-1": 1}}], "create_systems": True}
    status, told = call(machine, "POST", f"benchmarks/{schedule.benchmark.key}/submissions/", schedule.token, body)
    assert (status, told["error"]["code"]) == (429, "quota_exceeded"), f"{schedule.told}: {status} {told}"
    # The board is that of the scores; no reader saw another for any revision.
    state = dict(schedule.start)
    boards = {1: dict(state)}
    for answer in accepted:
        state[answer.name] = answer.scores
        boards[answer.revision] = dict(state)
    assert_board_is(schedule.benchmark, state)
    for number, answers in schedule.seen.items():
        assert answers == {json.dumps(borda_ranks(boards[number]), sort_keys=True)}, f"{schedule.told}: {number}"
    check_jobs(schedule)


def borda_ranks(scores: dict[str, list[float | None]]) -> dict[str, int | None]:
    """The ranks of a board from scratch, by the systems' keys."""
    by_key = {name.lower().replace(" ", "-"): row for name, row in scores.items()}
    keys = sorted(by_key)
    values = np.array([[np.nan if score is None else score for score in by_key[key]] for key in keys])
    places = rank(ScoreMatrix(values, system_names=keys), "borda", missing="drop_systems").ranks
    return {key: int(place) if place >= 1 else None for key, place in zip(keys, places, strict=True)}


def check_jobs(schedule: Schedule) -> None:
    """Each published once, the pointer moved forwards, no job failed; poison keeps its board to itself."""
    publications = Publication.objects.filter(benchmark=schedule.benchmark).order_by("pk")
    published = list(publications.values_list("revision__number", flat=True))
    moves = list(publications.filter(is_pointer_moved=True).values_list("revision__number", flat=True))
    assert (len(set(published)), moves) == (len(published), sorted(set(moves))), schedule.told
    jobs = Job.objects.filter(benchmark=schedule.benchmark, kind="rankings")
    assert set(jobs.values_list("state", flat=True)) <= {"done", "superseded"}, schedule.told
    if schedule.poison:
        run = schedule.benchmark.name.partition(" ")[2]
        poisoned = Job.objects.get(benchmark__name=f"{schedule.poison} {run}", kind="rankings", sequence=2)
        assert poisoned.state != "done", schedule.told

