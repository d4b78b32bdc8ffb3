"""Rows of jobs: made for what they are about, inserted where there is none, put back to wait."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Min, Model, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from config.monitoring.logs import current_request
from leaderboard.common.hashing import content_hash
from leaderboard.models import Job, Revision
from leaderboard.models.jobs import ONE_JOB
from leaderboard.queue.kinds import AXIOMS, JOB_KINDS, STUDIES_QUIET_MOST, STUDY_PLAN, JobKind, kind_of
from leaderboard.queue.priorities import IDLE, NOBODY_WAITS
from leaderboard.queue.turns import want_after_submission
from leaderboard.queue.wake_ups import wake_on_commit
from ranking_engine import __version__ as engine_version


@dataclass(frozen=True)
class Subject:
    """What a job is about.

    Attributes:
        kind: the table of the row.
        pk: the number of the row.
        benchmark_id: the benchmark that it belongs to.
        sequence: of jobs of one kind about one benchmark the greatest is the newest; of a revision its number.
    """

    kind: str
    pk: int
    benchmark_id: int | None
    sequence: int = 0


def about(row: Model, benchmark_id: int, *, sequence: int = 0) -> Subject:
    """A stored row as what jobs are about."""
    return Subject(type(row).__name__.lower(), row.pk, benchmark_id, sequence)


def about_revision(revision: Revision) -> Subject:
    """A revision as what jobs are about."""
    return about(revision, revision.benchmark_id, sequence=revision.number)


def row_of(
    kind: JobKind,
    subject: Subject,
    parameters: dict[str, Any] | None = None,
    *,
    study: str = "",
    chunk: int = 0,
    priority_offset: int = 0,
    is_woken: bool | None = None,
) -> Job:
    """A row of a job that is not stored yet: due now, of this engine version, caused by the request that runs now.

    Args:
        kind: what to compute.
        subject: about what.
        parameters: in place of the kind's own.
        study: which one, of kinds whose jobs are each about a study.
        chunk: which part of the work; each is a job of its own.
        priority_offset: added to the kind's priority; below 0 for work that is less urgent, such as `RECOMPUTATION`.
        is_woken: whether a worker is woken for it as it is inserted; the sweep wakes workers for the others. Where
            None, if someone waits for it.
    """
    chosen = kind.parameters if parameters is None else parameters
    priority, now = kind.priority + priority_offset, timezone.now()
    if is_woken is None:
        is_woken = priority >= NOBODY_WAITS
    return Job(
        kind=f"{kind.key}:{study}" if study else kind.key,
        subject_kind=subject.kind,
        subject_id=subject.pk,
        benchmark_id=subject.benchmark_id,
        sequence=subject.sequence,
        parameters=chosen,
        parameter_hash=content_hash(chosen),
        chunk=chunk,
        engine_version=engine_version,
        queue=kind.queue,
        priority=priority,
        not_before=now,
        woken_at=now if is_woken else None,
        request_id=current_request(),
    )


def inherited_offset(job: Job) -> int:
    """What was added to the priority of a job's kind: `RECOMPUTATION`, which its follow-ups inherit, or 0."""
    return min(0, job.priority - kind_of(job.kind).priority)


def find_or_insert(row: Job) -> tuple[Job, bool]:
    """The stored row of the same job, and whether it is new. No worker is woken."""
    fields = {name: value for name, value in vars(row).items() if name not in ("id", "_state")}
    identity = {name: fields.pop(name) for name in ONE_JOB}
    return Job.objects.get_or_create(**identity, defaults=fields)


def insert(row: Job) -> Job:
    """The stored row of the same job, inserted where there is none, and a wake-up for it if someone waits for it.

    A row that waits as a recomputation is raised to the priority asked for. The sweep wakes for what no one waits for,
    so that the broker gets few messages at a time.
    """
    job, _ = find_or_insert(row)
    if job.state == Job.State.WAITING and row.woken_at is not None:
        if job.priority < row.priority:
            Job.objects.filter(pk=job.pk, priority__lt=row.priority).update(priority=row.priority)
        wake_on_commit(job)
    return job


def insert_new(rows: Iterable[Job]) -> None:
    """Insert jobs that no one else can have inserted, and wake workers for those that say so.

    Raises:
        IntegrityError: one of them is there.
    """
    for job in Job.objects.bulk_create(rows):
        if job.woken_at is not None:
            wake_on_commit(job)


def insert_missing(rows: Iterable[Job]) -> None:
    """Insert those of these jobs that are not there yet. No worker is woken."""
    Job.objects.bulk_create(rows, ignore_conflicts=True)


def insert_revision_jobs(revision: Revision) -> None:
    """Insert the jobs of a new revision, in the transaction that accepts it, and wake workers afterwards."""
    now, rows = timezone.now(), []
    for kind in JOB_KINDS.values():
        if kind.comes_with_revision:
            pause = seconds_until_quiet(revision, now) if kind.key == STUDY_PLAN else 0.0
            # Of a board that no one has submitted to, violations wait like its studies: other boards' come first.
            offset = 2 * IDLE - 1 if kind.key == AXIOMS and revision.number == 1 else 0
            row = row_of(kind, about_revision(revision), priority_offset=offset, is_woken=not pause)
            row.not_before += timedelta(seconds=pause)
            rows.append(row)
    insert_new(rows)  # the revision is not committed yet: no one else knows of it
    want_after_submission(revision)


def seconds_until_quiet(revision: Revision, now: datetime) -> float:
    """How long the studies of a new revision are not planned yet: until nothing more was submitted for a while.

    A submission that comes alone has its studies planned at once. Of ten in a minute the first one has, and the others
    end with one set of studies. A benchmark that is never quiet has its studies planned when that was put off for
    `STUDIES_QUIET_MOST` since the first revision that has none.
    """
    quiet = timedelta(seconds=settings.STUDIES_QUIET_SECONDS)
    revisions = Revision.objects.filter(benchmark=revision.benchmark_id, number__lt=revision.number)
    if not revisions.filter(number__gt=1, created_at__gt=revision.created_at - quiet).exists():  # 1 is no submission
        return 0.0
    planned = Job.objects.filter(benchmark=revision.benchmark_id, kind=STUDY_PLAN, state=Job.State.DONE)
    last = Coalesce(Subquery(planned.order_by("-sequence").values("sequence")[:1]), 0)
    since = Revision.objects.filter(benchmark=revision.benchmark_id, number__gt=last, created_at__lte=now)
    first = since.aggregate(at=Min("created_at"))["at"]  # of those from a wrong clock, far ahead, none counts
    waited = (now - first).total_seconds() if first else 0.0
    return max(0.0, min(quiet.total_seconds(), STUDIES_QUIET_MOST - waited))


def requeue(rows: QuerySet[Job], **fields: Any) -> int:  # noqa: ANN401
    """Have jobs wait again as if they were never tried, due now. Which states they may be in the caller filters.

    Args:
        rows: of jobs.
        fields: further fields that change.

    Returns:
        How many wait.
    """
    fresh = {
        "state": Job.State.WAITING, "attempts": 0, "failures": 0, "progress": 0.0, "error": "",
        "not_before": timezone.now(), "woken_at": None, "finished_at": None, "request_id": current_request(),
    }  # fmt: skip
    return rows.update(**fresh | fields)
