"""How many jobs go before one that waits, and when it should be done, as far as one can tell from jobs so far."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet, Sum
from django.utils.translation import gettext, ngettext

from leaderboard.models import Job, JobCount
from leaderboard.queue.heartbeats import living_workers
from leaderboard.queue.job_counts import DONE, label_of
from leaderboard.queue.kinds import REVISION, may_be_superseded, study_of
from leaderboard.queue.turns import in_order_of_turns
from ranking_engine import __version__ as engine_version

MAX_JOBS = 5_000  # jobs of a queue that are looked through; what waits behind them has no place
SECONDS = 5.0  # that a job takes of whose kind none was done yet; chunks of studies are cut so
WHOLE_TURN = 4  # the band in which a turn is a revision's whole set


@dataclass(frozen=True)
class Place:
    """Where a job is in the line of its queue.

    Attributes:
        n_ahead: jobs that go before it, those that run among them.
        seconds: until it should be done.
    """

    n_ahead: int
    seconds: float

    @property
    def text(self) -> str:
        """The seconds in words."""
        if self.seconds < 60:
            return gettext("less than a minute")
        return gettext("about %(time)s") % {"time": self.time_text}

    @property
    def time_text(self) -> str:
        """The seconds in minutes or hours."""
        if self.seconds < 5400:
            n = math.ceil(self.seconds / 60)
            return ngettext("%(n)s minute", "%(n)s minutes", n) % {"n": n}
        n = math.ceil(self.seconds / 3600)
        return ngettext("%(n)s hour", "%(n)s hours", n) % {"n": n}


def places(queue: str) -> dict[int, Place]:
    """The places of the waiting jobs of a queue, by their ids, the next one first. Four queries.

    Args:
        queue: whose line.
    """
    of_queue = Job.objects.filter(queue=queue, engine_version=engine_version)
    running = of_queue.filter(state=Job.State.RUNNING).values_list("kind", "progress")
    # What a job of each kind took so far, on average.
    done = JobCount.objects.filter(queue=queue, outcome=DONE).order_by().values("kind")
    totals = done.annotate(total=Sum("seconds"), jobs=Sum("n"))
    seconds_of = {row["kind"]: row["total"] / row["jobs"] for row in totals}
    n_workers = max(1, living_workers()[queue].n_living)
    n_ahead = len(running)
    work = sum(seconds_of.get(label_of(kind), SECONDS) * max(0.0, 1 - progress) for kind, progress in running)
    by_job = {}
    for job in _line(of_queue.filter(state=Job.State.WAITING)):
        own = seconds_of.get(label_of(job.kind), SECONDS)
        by_job[job.pk] = Place(n_ahead, work / n_workers + own)
        n_ahead += 1
        work += own
    return by_job


def _line(waiting: QuerySet[Job]) -> list[Any]:
    """The jobs in the order in which they will be begun: after each of a study the benchmark is at the end again."""
    jobs: list[Any] = list(in_order_of_turns(waiting).only("pk", "kind", "benchmark_id", "sequence")[:MAX_JOBS])
    newest: Counter[tuple[int | None, str]] = Counter()
    for job in jobs:
        newest[job.benchmark_id, job.kind] = max(newest[job.benchmark_id, job.kind], job.sequence)
    # What a newer revision made unwanted ends as soon as a worker comes to it.
    jobs = [
        job for job in jobs if job.sequence == newest[job.benchmark_id, job.kind] or not may_be_superseded(job.kind)
    ]
    n_before: Counter[tuple[int, int | None]] = Counter()
    rounds = {}
    for job in jobs:
        group = job.band, job.benchmark_id
        rounds[job.pk] = 0 if job.band == WHOLE_TURN else n_before[group]
        n_before[group] += 1
    return sorted(jobs, key=lambda job: (-job.band, -job.is_wanted, rounds[job.pk]))


def newer_revisions(jobs: Iterable[Job]) -> dict[int, int]:
    """The newest revision with a job that makes an older one unwanted, by the ids of the older ones. One query.

    Args:
        jobs: that wait and have no place. Those about something else than a revision are left out.
    """
    older = [job for job in jobs if job.subject_kind == REVISION and may_be_superseded(job.kind)]
    if not older:
        return {}
    candidates = Job.objects.filter(
        benchmark__in={job.benchmark_id for job in older},
        kind__in={job.kind for job in older},
        sequence__gt=min(job.sequence for job in older),
        state__in=[Job.State.WAITING, Job.State.RUNNING, Job.State.DONE],
    ).order_by()
    newest: dict[tuple[object, ...], int] = {}
    fields = ("benchmark_id", "kind", "engine_version", "parameter_hash")
    for *alike, number in candidates.values_list(*fields).annotate(newest=Max("sequence")):
        newest[_alike(*alike)] = max(number, newest.get(_alike(*alike), 0))
    numbers = {job.pk: newest.get(_alike(*(getattr(job, name) for name in fields)), 0) for job in older}
    return {job.pk: numbers[job.pk] for job in older if numbers[job.pk] > job.sequence}


def _alike(benchmark_id: int | None, kind: str, version: str, parameter_hash: str) -> tuple[object, ...]:
    """What jobs have in common of which a newer one makes the older unwanted; a study's steps may change in number."""
    return benchmark_id, kind, version, "" if study_of(kind) else parameter_hash


def last_of(line: dict[int, Place]) -> str:
    """When all of a line should be done, in words; empty where no one waits."""
    if not line:
        return ""
    last = max(line.values(), key=lambda place: place.seconds)
    return last.text if len(line) < MAX_JOBS else gettext("more than %(time)s") % {"time": last.time_text}
