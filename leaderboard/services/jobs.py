"""The life of a job row: claimed, renewed, finished, failed, swept.

Every step is one conditional UPDATE; no row changed means that somebody else was first, or took the job over. Nothing
here rests on locks, so any number of workers and sweepers is harmless.
"""

import logging
import random
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from leaderboard.enqueue import send_wake_up
from leaderboard.models import Job
from leaderboard.services.job_kinds import JOB_KINDS

logger = logging.getLogger(__name__)

REWAKE_SECONDS = 5  # a due job is woken again when the last wake-up was so long ago
WAKE_UPS_A_SWEEP = 20  # a queue, so that a backlog does not flood the broker
WAITING, RUNNING = Job.State.WAITING, Job.State.RUNNING


class LeaseLostError(RuntimeError):
    """Another worker owns the job, or nobody may: what was computed is dropped."""


class SupersededError(RuntimeError):
    """A newer revision made this job's result unwanted."""


def newer_jobs(job: Job) -> QuerySet[Job]:
    """Jobs of the same kind and benchmark about a newer revision that are waiting, running or done."""
    return Job.objects.filter(
        kind=job.kind,
        benchmark=job.benchmark_id,
        parameter_hash=job.parameter_hash,
        engine_version=job.engine_version,
        sequence__gt=job.sequence,
        state__in=[WAITING, RUNNING, Job.State.DONE],
    )


def claim(job_id: int, *, worker: str) -> Job | None:
    """Make a due job this worker's own; None where it is not due, is somebody else's, or is superseded.

    Args:
        job_id: which job.
        worker: who asks, for the status page.
    """
    job = Job.objects.filter(pk=job_id, state=WAITING).first()
    now = timezone.now()
    if job is None or job.not_before > now:
        return None
    if newer_jobs(job).exists():
        Job.objects.filter(pk=job.pk, state=WAITING).update(state=Job.State.SUPERSEDED, finished_at=now)
        return None
    limit = JOB_KINDS[job.kind].limit_seconds
    token = uuid.uuid4()
    claimed = Job.objects.filter(pk=job.pk, state=WAITING, not_before__lte=now).update(
        state=RUNNING,
        claim_token=token,
        attempts=F("attempts") + 1,
        worker=worker,
        started_at=now,
        deadline=now + timedelta(seconds=limit),
        lease_until=now + timedelta(seconds=min(limit, settings.JOB_LEASE_SECONDS)),
        progress=0.0,
    )
    return Job.objects.filter(pk=job.pk, claim_token=token).first() if claimed else None


def owned(job: Job) -> QuerySet[Job]:
    """The job's row for as long as this claim owns it."""
    return Job.objects.filter(pk=job.pk, state=RUNNING, claim_token=job.claim_token)


def renew(job: Job) -> bool:
    """Prolong the lease, never beyond the deadline. False where the claim is lost or the deadline is past."""
    now = timezone.now()
    if job.deadline is None or now >= job.deadline:
        return False
    until = min(job.deadline, now + timedelta(seconds=settings.JOB_LEASE_SECONDS))
    return owned(job).update(lease_until=until) == 1


def finish(job: Job, write: Callable[[], None]) -> None:
    """End the job and write its outcome, in one transaction.

    Raises:
        LeaseLostError: the claim is no longer this worker's; nothing is written.
    """
    with transaction.atomic():
        # Short rows at the end first: this UPDATE also locks the job against a second worker until the commit.
        changed = owned(job).update(
            state=Job.State.DONE, finished_at=timezone.now(), lease_until=None, progress=1.0, error=""
        )
        if changed != 1:
            raise LeaseLostError(f"{job} is no longer owned by this worker")
        write()


def supersede(job: Job) -> None:
    """End a running job that a newer revision made unwanted."""
    owned(job).update(state=Job.State.SUPERSEDED, finished_at=timezone.now(), lease_until=None)


def record_failure(job: Job, error: str) -> None:
    """Put the job back for another attempt, or end it as failed after the last one."""
    owned(job).update(**_after_failure(job, error))


def _after_failure(job: Job, error: str) -> dict[str, object]:
    now = timezone.now()
    outcome: dict[str, object] = {"error": error[:4000], "lease_until": None}
    if job.attempts >= settings.JOB_ATTEMPTS:
        return outcome | {"state": Job.State.FAILED, "finished_at": now}
    return outcome | {"state": WAITING, "not_before": now + backoff(job.attempts), "woken_at": None}


def backoff(attempts: int) -> timedelta:
    """How long a job rests after its `attempts`-th failure: 1, 2, 4 ... seconds, at most 60, give or take a half."""
    return timedelta(seconds=min(60.0, 2.0 ** (attempts - 1)) * random.uniform(0.5, 1.5))  # noqa: S311 -- jitter


# --- The sweep -------------------------------------------------------------------------------------------------------


def sweep() -> int:
    """End leases that ran out, then wake workers for what is due. Returns how many wake-ups were sent."""
    now = timezone.now()
    _end_expired_leases(now)
    return sum(_wake_due_jobs(queue, now) for queue in Job.Queue)


def _end_expired_leases(now: datetime) -> None:
    for job in Job.objects.filter(state=RUNNING, lease_until__lt=now)[:200]:
        error = (
            f"attempt {job.attempts} ended without a word: its worker was killed, ran out of memory or time, "
            f"or lost the database"
        )
        if owned(job).filter(lease_until__lt=now).update(**_after_failure(job, error)):
            logger.warning("%s: %s", job, error)


def _wake_due_jobs(queue: str, now: datetime) -> int:
    stale = now - timedelta(seconds=REWAKE_SECONDS)
    due = (
        Job.objects.filter(state=WAITING, queue=queue, not_before__lte=now)
        .filter(Q(woken_at=None) | Q(woken_at__lt=stale))
        .order_by("-priority", "pk")
    )
    sent = 0
    for job in due[:WAKE_UPS_A_SWEEP]:
        # The sweeper that changes the row sends the message; a second one finds `woken_at` new.
        if Job.objects.filter(pk=job.pk, state=WAITING, woken_at=job.woken_at).update(woken_at=now):
            sent += send_wake_up(job.pk, job.queue)
    return sent


