"""Trying a job again that was given up, or that rests after a failure: by an owner, the administration, a command."""

from django.db.models import F, QuerySet

from leaderboard.models import Benchmark, Job, Revision
from leaderboard.queue.kinds import JOB_KINDS, RANKINGS, is_known, kind_of, study_of
from leaderboard.queue.rows import about_revision, insert, requeue, row_of
from leaderboard.queue.wake_ups import wake_on_commit
from ranking_engine import __version__ as engine_version

GIVEN_UP_OR_RESTING = (Job.State.FAILED, Job.State.WAITING)


def retry_job(job: Job) -> bool:
    """Make a job due now that was given up or that rests after a failure; its failures are forgotten.

    Returns:
        Whether it is due now. A job that runs, is done or was superseded stays as it is, and so does one that this
        release cannot compute.
    """
    if job.engine_version != engine_version or not is_known(job.kind):
        return False
    # Someone waits for it now, even where it only followed an upgrade. Chunks of studies have priorities of their own.
    priority = job.priority if study_of(job.kind) else max(job.priority, kind_of(job.kind).priority)
    changed = requeue(Job.objects.filter(pk=job.pk, state__in=GIVEN_UP_OR_RESTING), priority=priority)
    if changed:
        wake_on_commit(job)
    return bool(changed)


def retry_board(benchmark: Benchmark) -> bool:
    """Have the newest board of a benchmark computed now. False where it is there, runs already, or has no revision."""
    revision = Revision.objects.filter(benchmark=benchmark, number=benchmark.last_revision_number).first()
    if revision is None or revision.withdrawn_at is not None:
        return False
    if (benchmark.published_number, benchmark.published_engine_version) == (revision.number, engine_version):
        return False
    return retry_job(insert(row_of(JOB_KINDS[RANKINGS], about_revision(revision))))


def failed_jobs() -> QuerySet[Job]:
    """What was given up and is still wanted: boards of the newest revision, and studies of what is published."""
    failed = Job.objects.filter(state=Job.State.FAILED, engine_version=engine_version).order_by("pk")
    boards = failed.filter(queue=Job.Queue.RANKINGS, sequence=F("benchmark__last_revision_number"))
    studies = failed.filter(queue=Job.Queue.STUDIES, sequence=F("benchmark__published_number"))
    return boards | studies


def failed_boards() -> QuerySet[Job]:
    """The newest boards that were given up: no one sees the newest scores of these benchmarks."""
    return failed_jobs().filter(kind=RANKINGS, sequence__gt=F("benchmark__published_number"))
