"""Jobs and what is theirs, for the pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from leaderboard.access.audience import Viewer, hides_something, listed_benchmarks
from leaderboard.models import Benchmark, Job
from leaderboard.queue.kinds import RANKINGS, REVISION


def board_job(benchmark: Benchmark) -> Job | None:
    """The rankings job of the benchmark's latest revision."""
    return (
        Job.objects.filter(benchmark=benchmark, kind=RANKINGS, sequence=benchmark.last_revision_number)
        .order_by("-pk")
        .first()
    )


def has_failed_board() -> Exists:
    """For a query of benchmarks: whether the rankings of the newest revision failed for good."""
    return Exists(
        Job.objects.filter(
            benchmark=OuterRef("pk"),
            kind=RANKINGS,
            state=Job.State.FAILED,
            sequence=OuterRef("last_revision_number"),
            sequence__gt=OuterRef("published_number"),
        )
    )


def jobs_about(*revision_ids: int) -> QuerySet[Job]:
    """All jobs about these revisions, of every kind, state and engine version."""
    return Job.objects.filter(subject_kind=REVISION, subject_id__in=revision_ids)


def job_of(revision_id: int, kind: str) -> Job | None:
    """The newest job of a kind about a revision."""
    return jobs_about(revision_id).filter(kind=kind).order_by("-pk").first()


def jobs_of(revision_id: int, kinds: Sequence[str]) -> dict[str, Job]:
    """The newest job of each of these kinds about a revision, where there is one."""
    return {job.kind: job for job in jobs_about(revision_id).filter(kind__in=kinds).order_by("pk")}


def visible_jobs(viewer: Viewer) -> QuerySet[Job]:
    """Jobs of benchmarks that lists may mention to this viewer, newest first."""
    return Job.objects.filter(benchmark__in=listed_benchmarks(viewer)).select_related("benchmark").order_by("-pk")


def running_jobs(viewer: Viewer) -> QuerySet[Job]:
    """What workers have in hand now, of what this viewer may know of: the longest first."""
    return visible_jobs(viewer).filter(state=Job.State.RUNNING).order_by("started_at", "pk")[:100]


def workers_since(viewer: Viewer, moment: datetime) -> int:
    """How many workers took one of these jobs since then, as far as it is running still or ended since then."""
    alive = Q(state=Job.State.RUNNING) | Q(finished_at__gt=moment)
    taken = visible_jobs(viewer).filter(alive, started_at__gt=moment).exclude(worker="").order_by()
    return taken.values("worker").distinct().count()


def visible_error(job: Job, *, sees_all: bool) -> str:
    """What a reader is told of a job's error: its first line, and nothing where it may name what is hidden from them.

    The whole text, with its traceback, is for those who operate the site.

    Args:
        job: with its benchmark.
        sees_all: whether nothing of the benchmark is hidden from the reader.
    """
    if not sees_all and job.benchmark is not None and hides_something(job.benchmark):
        return ""
    return error_line(job.error)


def error_line(error: str) -> str:
    """The first line of a job's error, without its traceback."""
    return error.split("\n", 1)[0][:200]


@dataclass(frozen=True)
class QueueCount:
    """How many jobs of one queue wait and run, and since when the oldest waits."""

    queue: str
    n_waiting: int = 0
    n_running: int = 0
    oldest: datetime | None = None


def queue_counts(viewer: Viewer) -> list[QueueCount]:
    """Waiting and running jobs by queue, of what this viewer may know of."""
    counted = (
        visible_jobs(viewer)
        .filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
        .order_by()
        .values("queue")
        .annotate(
            n_waiting=Count("pk", filter=Q(state=Job.State.WAITING)),
            n_running=Count("pk", filter=Q(state=Job.State.RUNNING)),
            oldest=Min("created_at", filter=Q(state=Job.State.WAITING)),
        )
    )
    by_queue = {row["queue"]: QueueCount(**row) for row in counted}
    return [by_queue.get(queue, QueueCount(queue)) for queue in Job.Queue.values]
