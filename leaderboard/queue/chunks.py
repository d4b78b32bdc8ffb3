"""The rows of a study that is computed in chunks: which belong together, given up together, put together once.

Each chunk is a job of its own and leaves what it found in a `StudyPartial`. Nothing here rests on locks: that there is
one merge is the unique constraint's doing, and the sweep inserts one that was forgotten.
"""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.models import Job, StudyPartial
from leaderboard.queue import job_counts
from leaderboard.queue.job_counts import count_unstarted
from leaderboard.queue.kinds import JOB_KINDS, MERGE, STUDY, study_of
from leaderboard.queue.rows import Subject, find_or_insert, inherited_offset, row_of
from leaderboard.queue.wake_ups import wake_on_commit
from ranking_engine import __version__ as engine_version

WAITING, DONE, SUPERSEDED = Job.State.WAITING, Job.State.DONE, Job.State.SUPERSEDED


def chunks_of(job: Job) -> QuerySet[Job]:
    """All chunks of the study that a chunk or a merge belongs to, itself among them."""
    return Job.objects.filter(
        kind=f"{STUDY}:{study_of(job.kind)}",
        subject_kind=job.subject_kind,
        subject_id=job.subject_id,
        parameter_hash=job.parameter_hash,
        engine_version=job.engine_version,
    )


@transaction.atomic
def supersede_rest(job: Job) -> None:
    """Give up the other chunks of a study of which one is given up, with what they found."""
    if not job.kind.startswith(f"{STUDY}:"):
        return
    now = timezone.now()
    n_waiting = chunks_of(job).filter(state=WAITING).update(state=SUPERSEDED, finished_at=now)
    chunks_of(job).filter(state=DONE).update(state=SUPERSEDED, finished_at=now)  # counted when they were done
    count_unstarted(job.queue, job.kind, job_counts.SUPERSEDED, n_waiting)
    StudyPartial.objects.filter(job__in=chunks_of(job).filter(state=SUPERSEDED)).delete()


def insert_missing_merges() -> int:
    """Insert the merge of every study whose chunks are all done: anyone who ended the last one may have died since."""
    begun = Job.objects.filter(partial__isnull=False, engine_version=engine_version).order_by("chunk")
    heads = {(job.kind, job.subject_kind, job.subject_id, job.parameter_hash, job.engine_version): job for job in begun}
    return sum(insert_merge_if_whole(job) for job in heads.values())


def insert_merge_if_whole(chunk: Job) -> bool:
    """Insert the job that puts a study together, where none of its chunks is left and there is no such job yet.

    Call inside the transaction that ends a chunk, or any time later.
    """
    if chunks_of(chunk).exclude(state=DONE).exists():
        return False
    subject = Subject(chunk.subject_kind, chunk.subject_id, chunk.benchmark_id, chunk.sequence)
    offset, study = inherited_offset(chunk), study_of(chunk.kind)
    row = row_of(JOB_KINDS[MERGE], subject, chunk.parameters, study=study, priority_offset=offset)
    row.engine_version, row.request_id = chunk.engine_version, chunk.request_id
    merge, is_new = find_or_insert(row)
    if is_new and merge.woken_at is not None:
        wake_on_commit(merge)
    return is_new
