"""Ranks that retention removed, computed again from the scores, which are always kept."""

from collections.abc import Callable

from django.utils import timezone

from leaderboard.models import Benchmark, Job, Publication, Report, Revision
from leaderboard.queue.kinds import JOB_KINDS, RANKS_AGAIN
from leaderboard.queue.queries import jobs_about
from leaderboard.queue.rows import about_revision, insert, requeue, row_of
from leaderboard.queue.wake_ups import wake_on_commit
from leaderboard.rankings.compute import ranking_reports, slow_reports
from leaderboard.rankings.score_matrix import hash_anew
from ranking_engine import __version__ as engine_version

UNENDED = (Job.State.WAITING, Job.State.RUNNING)


class OtherInputsError(ValueError):
    """The scores that are stored are not those that the revision was ranked by."""


def request_ranks(benchmark: Benchmark, number: int) -> bool:
    """Have the removed ranks of a revision computed again. False where they are there, or were taken down.

    Asking again while they are being computed changes nothing.
    """
    there = Revision.objects.filter(benchmark=benchmark, number=number, withdrawn_at=None)
    revision = there.exclude(ranks_removed_at=None).first()
    if revision is None:
        return False
    job = insert(row_of(JOB_KINDS[RANKS_AGAIN], about_revision(revision)))
    ended = Job.objects.filter(pk=job.pk).exclude(state__in=UNENDED)
    if requeue(ended, woken_at=timezone.now()):
        wake_on_commit(job)
    return True


def is_requested(revision: Revision) -> bool:
    """Whether the ranks of a revision are being computed again."""
    return jobs_about(revision.pk).filter(kind=RANKS_AGAIN, state__in=UNENDED).exists()


def compute_ranks_again(job: Job, checkpoint: Callable[[float], None]) -> Callable[[], None]:
    """Rank the job's revision under every rule; the returned function stores it, and moves no pointer.

    Raises:
        OtherInputsError: the stored scores do not have the revision's hash.
    """
    revision = Revision.objects.select_related("configuration", "benchmark").get(pk=job.subject_id)
    reports, digest = ranking_reports(revision)
    if revision.input_hash not in (digest, hash_anew(revision)):
        raise OtherInputsError(
            f"{revision} was ranked by inputs of the hash {revision.input_hash[:12]}, and the scores that are stored "
            f"have {digest[:12]}: restore them from a backup, and try again"
        )
    checkpoint(0.3)
    reports += slow_reports(revision, lambda share: checkpoint(0.3 + 0.6 * share))

    def write() -> None:
        Report.objects.bulk_create(reports, ignore_conflicts=True)
        # A board of another engine version than the first one's is a publication of its own, which no one was told of.
        Publication.objects.get_or_create(
            revision=revision,
            engine_version=engine_version,
            defaults={"benchmark_id": revision.benchmark_id, "is_pointer_moved": False},
        )
        Revision.objects.filter(pk=revision.pk).update(ranks_removed_at=None)

    return write
