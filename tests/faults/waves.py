"""Waves of schedules on one machine, and the table of what they came to."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, InterfaceError, connection, connections

from tests.faults.clients import read_boards, submit_all
from tests.faults.machine import Machine
from tests.faults.schedules import N_SUBMISSIONS, Schedule, draw_scores, steady
from tests.faults.verdict import MOST_SWEEPS, check, is_published

PATIENCE = 2.0 * MOST_SWEEPS  # seconds in which so many sweeps must have come


@dataclass
class Table:
    """What the schedules came to so far."""

    n_schedules: int = 0
    n_accepted: int = 0
    n_read: int = 0
    struck: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)  # faults that met nothing that they could strike
    tried_again: Counter[int] = field(default_factory=Counter)
    sweeps: list[int] = field(default_factory=list)  # from the last fault of a wave until a board was the newest

    def add(self, schedule: Schedule) -> None:
        """One more schedule that was found right."""
        self.n_schedules += 1
        self.n_accepted += len(schedule.accepted)
        self.n_read += len(schedule.seen)
        self.struck += schedule.struck
        self.missed += Counter(fault.__name__ for fault in schedule.faults) - schedule.struck
        self.tried_again += schedule.tried_again

    def lines(self) -> list[str]:
        """The table as text."""
        ordered = sorted(self.sweeps)
        middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]
        return [
            f"{self.n_schedules} schedules held: {self.n_accepted} submissions answered, {self.n_read} readings.",
            f"Struck {self.struck.total()}: {_in_words(self.struck)}.",
            f"Met nothing to strike {self.missed.total()}: {_in_words(self.missed)}.",
            f"Calls tried again {self.tried_again.total()}, by status: {_in_words(self.tried_again)}.",
            f"Sweeps from the last fault to the newest board: half {middle}, 95% {late}, at most {ordered[-1]}.",
        ]


def _in_words(counts: Counter[Any]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda item: str(item[0]))) or "nothing"


def run_wave(wave: list[Schedule], machine: Machine, table: Table) -> None:
    """Run schedules at once, wait until the site has come back from all of it, and hold it to its promises.

    Raises:
        AssertionError: a promise is broken.
    """
    with ThreadPoolExecutor(len(wave)) as pool:
        list(pool.map(lambda schedule: run(schedule, machine), wave))
    n_before = machine.n_sweeps()
    waiting = list(wave)
    end = time.monotonic() + PATIENCE
    while waiting:
        n_after = machine.n_sweeps() - n_before
        published = [schedule for schedule in waiting if steady(lambda one=schedule: is_published(one))]
        table.sweeps += [n_after] * len(published)
        waiting = [schedule for schedule in waiting if schedule not in published]
        titles = "; ".join(schedule.title for schedule in waiting)
        assert n_after <= MOST_SWEEPS, (
            f"not published {n_after} sweeps after the last fault: {titles}\n{machine.logs()}"
        )
        assert time.monotonic() < end, f"too few sweeps: {n_after} in {PATIENCE:g} s; {titles}\n{machine.logs()}"
        time.sleep(0.2)
    machine.wait_until(machine.answers, 60, "every web server answers again")
    for schedule in wave:
        steady(lambda one=schedule: check(one, machine))
        table.add(schedule)


def run(schedule: Schedule, machine: Machine) -> None:
    """Submit from two clients, read from one, and let the faults strike at moments that the seed draws."""
    draw = random.Random(schedule.seed + 1)
    is_over = threading.Event()
    batches = [(f"Newcomer {draw.randrange(4)}", draw_scores(draw)) for _ in range(N_SUBMISSIONS)]
    moments = sorted(draw.uniform(0, schedule.seconds / 2) for _ in schedule.faults)
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
            has_struck = fault(machine, random.Random(seed), schedule.benchmark.key)
            schedule.struck[fault.__name__] += has_struck
        except (DatabaseError, InterfaceError):  # another schedule's fault: the database is away
            connection.close()
