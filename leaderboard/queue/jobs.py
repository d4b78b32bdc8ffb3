"""The life of a job row: claimed, renewed, finished, failed, swept.

Every step is one conditional UPDATE; no row changed means that someone else was first, or took the job over. Nothing
here rests on locks, so any number of workers and sweepers is harmless.
"""

import logging
import random
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.models import Job, Revision
from leaderboard.queue import job_counts
from leaderboard.queue.chunks import chunks_of, insert_missing_merges, supersede_rest
from leaderboard.queue.engine_versions import is_older
from leaderboard.queue.job_counts import count_attempt, count_unstarted
from leaderboard.queue.kinds import (
    JOB_KINDS,
    MERGE,
    RANKINGS,
    REVISION,
    is_known,
    kind_of,
    may_be_superseded,
    study_of,
)
from leaderboard.queue.priorities import IDLE, NOBODY_WAITS
from leaderboard.queue.rows import requeue
from leaderboard.queue.turns import in_order_of_turns, take_turn
from leaderboard.queue.wake_ups import count_wake_ups, send_wake_up
from ranking_engine import __version__ as engine_version

logger = logging.getLogger(__name__)

LONGEST_BACKOFF = 300.0  # seconds that a job rests at most after a failure, the jitter included
MAX_ATTEMPTS = 30_000  # where counting stops: the column ends at 32,767
REWAKE_SECONDS = 5  # a due job is woken again when the last wake-up was so long ago
WAKE_UPS_A_SWEEP = 20  # a queue, so that a backlog does not flood the broker
# A queue that holds so many wake-ups gets no more: without a worker they would grow for ever, and a worker that comes
# to them is through with stale ones at once, and then the next sweep sends fresh ones.
WAKE_UPS_A_QUEUE = 100
WAKE_UPS_UNHURRIED = 20  # for jobs that no one waits for no more are sent than a queue then holds
TAKEN_OVER_A_SWEEP = 200  # jobs that an older engine version left
CANDIDATES = 20  # how many jobs a worker tries on one wake-up until it has one
WAITING, RUNNING = Job.State.WAITING, Job.State.RUNNING


class LeaseLostError(RuntimeError):
    """Another worker owns the job, or no one may: what was computed is dropped."""


class SupersededError(RuntimeError):
    """A newer revision made this job's result unwanted."""


def _newer_jobs(job: Job) -> QuerySet[Job]:
    """Jobs of the same kind and benchmark about a newer revision that are waiting, running or done."""
    return _like(job).filter(sequence__gt=job.sequence, state__in=[WAITING, RUNNING, Job.State.DONE])


def _like(job: Job) -> QuerySet[Job]:
    like = Job.objects.filter(kind=job.kind, benchmark=job.benchmark_id, engine_version=job.engine_version)
    # A study is the same with another number of steps: how many its budget buys differs from revision to revision.
    return like if study_of(job.kind) else like.filter(parameter_hash=job.parameter_hash)


def is_superseded(job: Job) -> bool:
    """Whether a newer revision makes a job unwanted that waits, or runs.

    A running ranking is never superseded. A running study is not where the benchmark went without a finished one for
    longer than the kind's budget, nor is the rest of a study that has begun.
    """
    is_waiting = job.state == WAITING
    if not may_be_superseded(job.kind) or (job.kind == RANKINGS and not is_waiting) or not _newer_jobs(job).exists():
        return False
    if not study_of(job.kind):
        return is_waiting or not _is_overdue(job)
    has_begun = chunks_of(job).filter(state__in=[RUNNING, Job.State.DONE]).exists()
    return not (has_begun and _is_overdue(job))


def _is_of_withdrawn(job: Job) -> bool:
    """Whether scores of the job's revision were taken down: it is never computed again."""
    return (
        job.subject_kind == REVISION and Revision.objects.filter(pk=job.subject_id).exclude(withdrawn_at=None).exists()
    )


def _is_overdue(job: Job) -> bool:
    """Whether the benchmark went without a finished study of this kind for longer than the kind's budget.

    Then a superseded study finishes for its own revision, so that a busy benchmark still gets one.
    """
    study = study_of(job.kind)
    ends = Job.objects.filter(kind=f"{MERGE}:{study}" if study else job.kind, benchmark=job.benchmark_id)
    since = ends.filter(state=Job.State.DONE).order_by("-finished_at").values_list("finished_at", flat=True).first()
    if since is None:
        of_kind = Job.objects.filter(kind=job.kind, benchmark=job.benchmark_id)
        since = of_kind.order_by("created_at").values_list("created_at", flat=True).first()
    budget = timedelta(seconds=kind_of(job.kind).budget_seconds)
    return since is not None and timezone.now() - since > budget


def most_urgent(job_id: int) -> list[int]:
    """The due jobs that a worker may run on a wake-up for this one, in the order in which benchmarks take turns.

    A queue of messages knows no priorities, so a wake-up is taken as one for whatever is most urgent in its queue, as
    long as that may not take longer: the message's time limit holds for it. What a worker of this engine version
    cannot run is left to those that can. Jobs of a priority below `IDLE` run only while no ranking waits or runs.
    """
    named = Job.objects.filter(pk=job_id).first()
    if named is None or not is_known(named.kind):
        return []
    limit = kind_of(named.kind).limit_seconds
    kinds = Q()
    for kind in JOB_KINDS.values():
        if kind.limit_seconds <= limit:
            kinds |= Q(kind=kind.key) | Q(kind__startswith=f"{kind.key}:")
    due = _due_jobs(named.queue).filter(kinds)
    return list(due.values_list("pk", flat=True)[:CANDIDATES])


def unwoken_jobs(queue: str) -> list[Job]:
    """Some jobs of a queue that have been due for so long that a wake-up should have come, the most urgent first."""
    long_ago = timezone.now() - timedelta(seconds=settings.UNWOKEN_SECONDS)
    return [job for job in _due_jobs(queue).filter(not_before__lte=long_ago)[:CANDIDATES] if is_known(job.kind)]


def _due_jobs(queue: str) -> QuerySet[Job]:
    waiting = Job.objects.filter(
        state=WAITING, queue=queue, not_before__lte=timezone.now(), engine_version=engine_version
    )
    due = in_order_of_turns(waiting)
    boards = Job.objects.filter(queue=Job.Queue.RANKINGS, state__in=[WAITING, RUNNING], engine_version=engine_version)
    if queue == Job.Queue.STUDIES and boards.exists():
        return due.filter(priority__gte=IDLE)
    return due


def claim(job_id: int, *, worker: str) -> Job | None:
    """Make a due job this worker's own; None where it is not due, is someone else's, or is superseded.

    Args:
        job_id: which job.
        worker: who asks, for the status page.
    """
    # A job of another engine version is not this process's: its report would be taken for the other version's.
    job = Job.objects.filter(pk=job_id, state=WAITING, engine_version=engine_version).first()
    now = timezone.now()
    if job is None or job.not_before > now:
        return None
    if is_superseded(job) or _is_of_withdrawn(job):
        ended = Job.objects.filter(pk=job.pk, state=WAITING).update(state=Job.State.SUPERSEDED, finished_at=now)
        count_unstarted(job.queue, job.kind, job_counts.SUPERSEDED, ended)
        supersede_rest(job)
        return None
    limit = kind_of(job.kind).limit_seconds
    token = uuid.uuid4()
    with transaction.atomic():
        claimed = Job.objects.filter(pk=job.pk, state=WAITING, not_before__lte=now).update(
            state=RUNNING,
            claim_token=token,
            attempts=min(job.attempts + 1, MAX_ATTEMPTS),
            worker=worker,
            started_at=now,
            deadline=now + timedelta(seconds=limit),
            lease_until=now + timedelta(seconds=min(limit, settings.JOB_LEASE_SECONDS)),
            progress=0.0,
        )
        if not claimed:
            return None
        take_turn(job)
        return Job.objects.get(pk=job.pk)  # read before anyone else can take it: the lease may be over soon after


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
        if _is_of_withdrawn(job):
            raise LeaseLostError(f"scores that {job} is about were taken down")
        write()
        count_attempt(job, job_counts.DONE)


def supersede(job: Job) -> None:
    """End a running job that a newer revision made unwanted."""
    if owned(job).update(state=Job.State.SUPERSEDED, finished_at=timezone.now(), lease_until=None):
        count_attempt(job, job_counts.SUPERSEDED)
    supersede_rest(job)


def give_back(job: Job) -> None:
    """Let go of a job whose worker is told to stop: it is due at once, and this attempt does not count."""
    now = timezone.now()
    is_returned = owned(job).update(
        state=WAITING, attempts=max(job.attempts - 1, 0), lease_until=None, not_before=now, woken_at=None, progress=0.0
    )
    if is_returned:
        count_attempt(job, job_counts.RETURNED)


def record_failure(job: Job, error: str, *, is_own: bool = True) -> bool:
    """Put the job back for another attempt, or end it as failed. False where the claim is lost.

    Args:
        job: as it was claimed.
        error: what went wrong.
        is_own: whether the job itself is at fault. What its surroundings did to it never ends it.
    """
    return _end_attempt(owned(job), job, error, is_own=is_own)


@transaction.atomic
def _end_attempt(row: QuerySet[Job], job: Job, error: str, *, is_own: bool) -> bool:
    now, failures = timezone.now(), job.failures + is_own
    is_given_up = failures >= settings.JOB_ATTEMPTS
    outcome: dict[str, object] = {"error": error[:4000], "lease_until": None, "failures": failures}
    if is_given_up:
        outcome |= {"state": Job.State.FAILED, "finished_at": now}
    else:
        outcome |= {"state": WAITING, "not_before": now + backoff(job.attempts), "woken_at": None}
    if not row.update(**outcome):
        return False
    count_attempt(job, job_counts.FAILED if is_given_up else job_counts.RETRIED)
    if is_given_up and job.queue == Job.Queue.RANKINGS:
        _revive_superseded(job)
    if is_given_up:
        supersede_rest(job)
    return True


def _revive_superseded(job: Job) -> None:
    """After a board failed for good: the newest one that it superseded is computed after all."""
    older = _like(job).filter(sequence__lt=job.sequence).exclude(state=Job.State.FAILED)
    newest = older.order_by("-sequence").first()
    if newest and newest.state == Job.State.SUPERSEDED and not _newer_jobs(newest).exists():
        requeue(Job.objects.filter(pk=newest.pk, state=Job.State.SUPERSEDED), request_id=newest.request_id)


def backoff(attempts: int) -> timedelta:
    """How long a job rests after its `attempts`-th failure: 1, 2, 4 ... seconds, at most 200, give or take a half."""
    pause = min(LONGEST_BACKOFF / 1.5, 2.0 ** min(attempts - 1, 20))
    return timedelta(seconds=pause * random.uniform(0.5, 1.5))  # noqa: S311 -- jitter


# --- The sweep -------------------------------------------------------------------------------------------------------


def sweep() -> int:
    """End leases that ran out, then wake workers for what is due. Returns how many wake-ups were sent."""
    now = timezone.now()
    for job in Job.objects.filter(state=RUNNING, lease_until__lt=now)[:200]:
        is_out_of_time = job.deadline is not None and job.lease_until == job.deadline
        error = f"attempt {job.attempts} ended without a result: its worker " + (
            "ran out of time" if is_out_of_time else "was killed, ran out of memory, or lost the database"
        )
        # A study that brings its worker down would do so for ever, and a board must not wait for it. Predictions are
        # scored in a child of the worker, or by someone's program elsewhere.
        is_own = is_out_of_time or job.queue == Job.Queue.STUDIES
        if _end_attempt(owned(job).filter(lease_until__lt=now), job, error, is_own=is_own):
            logger.warning("%s: %s", job, error)
    _take_over_older_jobs(now)
    insert_missing_merges()
    return sum(_wake_due_jobs(queue, now) for queue in Job.Queue)


def _take_over_older_jobs(now: datetime) -> None:
    """Make what an older engine version left waiting this version's own: no other will compute it."""
    of_others = Job.objects.filter(state=WAITING).exclude(engine_version=engine_version).order_by()
    older = [v for v in of_others.values_list("engine_version", flat=True).distinct() if is_older(v)]
    if not older:
        return
    for job in of_others.filter(engine_version__in=older).order_by("-priority", "pk")[:TAKEN_OVER_A_SWEEP]:
        waiting = Job.objects.filter(pk=job.pk, state=WAITING)
        if study_of(job.kind):  # chunks of two versions do not go together; a new plan makes new ones
            ended = waiting.update(state=Job.State.SUPERSEDED, finished_at=now)
            count_unstarted(job.queue, job.kind, job_counts.SUPERSEDED, ended)
            supersede_rest(job)
            continue
        try:
            with transaction.atomic():
                waiting.update(engine_version=engine_version)
        except IntegrityError:  # this version has the same job already
            ended = waiting.update(state=Job.State.SUPERSEDED, finished_at=now)
            count_unstarted(job.queue, job.kind, job_counts.SUPERSEDED, ended)


def _wake_due_jobs(queue: str, now: datetime) -> int:
    stale = now - timedelta(seconds=REWAKE_SECONDS)
    due = (
        Job.objects.filter(state=WAITING, queue=queue, not_before__lte=now, engine_version=engine_version)
        .filter(Q(woken_at=None) | Q(woken_at__lt=stale))
        .order_by("-priority", "pk")
    )[:WAKE_UPS_A_SWEEP]
    n_present = count_wake_ups(queue) if due else 0
    if n_present >= WAKE_UPS_A_QUEUE:
        return 0
    sent = 0
    for job in due:
        if job.priority < NOBODY_WAITS and n_present + sent >= WAKE_UPS_UNHURRIED:
            break  # workers that become free take these first; the next sweep sends as many again
        # The sweeper that changes the row sends the message; a second one finds `woken_at` new.
        row = Job.objects.filter(pk=job.pk, state=WAITING)
        if not is_known(job.kind):  # it must not keep others waiting
            error = f"this release knows no job of kind {job.kind!r}"
            ended = row.update(state=Job.State.FAILED, finished_at=now, error=error)
            count_unstarted(job.queue, job.kind, job_counts.FAILED, ended)
            continue
        if not row.filter(woken_at=job.woken_at).update(woken_at=now):
            continue
        if not send_wake_up(job.pk, job.queue, limit_seconds=kind_of(job.kind).limit_seconds):
            # The broker is out of reach: every sweep tries one, so that all are woken soon after it is back.
            row.filter(woken_at=now).update(woken_at=job.woken_at)
            break
        sent += 1
    return sent
