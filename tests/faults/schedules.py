"""What a seed draws: a benchmark, what is submitted to it, and the faults that strike meanwhile."""

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.create import TaskSpec, create_benchmark
from leaderboard.models import Benchmark, User
from tests.factories import Factory
from tests.faults.faults import Fault, draw_faults

T = TypeVar("T")
N_TASKS, N_SYSTEMS, N_SUBMISSIONS = 4, 6, 6
# Poison that never ends keeps a worker for seven minutes, three times its limit: rare, or all workers were its own.
POISON, ENDLESS_EVERY = ("raises", "memory"), 48


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
    seconds: float  # over which submissions and faults are spread
    benchmark: Benchmark
    token: str
    start: dict[str, list[float | None]]
    faults: list[Fault]
    poison: str
    accepted: list[Answer] = field(default_factory=list)
    seen: list[tuple[int, str]] = field(default_factory=list)  # answers to a reader: revision, ranks
    struck: Counter[str] = field(default_factory=Counter)
    tried_again: Counter[int] = field(default_factory=Counter)  # calls, by the status that they were answered with

    @property
    def title(self) -> str:
        """The schedule in one line."""
        names = ", ".join(fault.__name__ for fault in self.faults)
        return f"seed {self.seed}: {names}{f', poison that {self.poison}' if self.poison else ''}"


def steady(read: Callable[[], T], seconds: float = 180.0) -> T:
    """Read from the database, again where it was away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return read()
        except (DatabaseError, InterfaceError):
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def draw_scores(draw: random.Random) -> list[float | None]:
    """A row of scores, now and then with a gap."""
    return [None if draw.random() < 0.05 else round(draw.gauss(0, 1), 3) for _ in range(N_TASKS)]


def prepare(
    seed: int,
    stack: str,
    faults: list[Fault] | None = None,
    *,
    seconds: float,
    is_short: bool = False,
    word: str = "Faults",
) -> Schedule:
    """Make the schedule's benchmark, named with `word` first, and its submitter, whose cap is what they will submit.

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
    benchmark = create_benchmark(name=f"{word} {run}", **about)
    factory.accepted(benchmark, start, by=owner)
    poison = draw.choice(POISON) if seed % 4 == 0 else ""
    if seed % ENDLESS_EVERY == 0 and not is_short:
        poison = "endless"
    if poison:
        harmful = create_benchmark(name=f"{poison} {run}", **about)
        factory.accepted(harmful, start, by=owner)
        factory.accepted(harmful, {"Poison": [1.0] * N_TASKS}, by=owner)
    _, token = create_token(submitter, name="faults", scopes=["read", "submit"], days=30)
    drawn = draw_faults(draw, 2, stack, is_short=is_short) if faults is None else faults
    return Schedule(seed, seconds, benchmark, token, start, drawn, poison)
