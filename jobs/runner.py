"""Running one job: claim it, keep its lease alive, compute, and write what came out or what went wrong."""

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context

from django.conf import settings
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    ProgrammingError,
    close_old_connections,
    connection,
)
from django.utils import timezone

from config.monitoring.logs import logged_as
from jobs.stopping import StopRequest
from leaderboard.evaluation.scoring import compute_scores
from leaderboard.models import Job
from leaderboard.queue import jobs
from leaderboard.queue.kinds import (
    AXIOMS,
    BOOTSTRAP,
    EXPERIMENT,
    INSTANCES,
    MERGE,
    PROSPECTS,
    RANKINGS,
    RANKS_AGAIN,
    SCORING,
    SIGNIFICANCE,
    SLOW_RANKINGS,
    STUDY,
    STUDY_PLAN,
    VOTES,
    kind_of,
)
from leaderboard.rankings.compute import compute_rankings, compute_slow_rankings
from leaderboard.rankings.confidence.significance import compute_significance
from leaderboard.rankings.ranks_again import compute_ranks_again
from leaderboard.studies.axioms import compute_axioms
from leaderboard.studies.bootstrap import compute_bootstrap
from leaderboard.studies.chunks import compute_chunk, compute_merge
from leaderboard.studies.experiments.run import compute_experiment
from leaderboard.studies.instances import compute_instances
from leaderboard.studies.plans import compute_plan
from leaderboard.studies.prospects.stored import compute_prospects
from leaderboard.votes.ratings import compute_vote_ratings

logger = logging.getLogger(__name__)

# A kind's service computes without an open transaction and returns the function that writes the outcome.
Checkpoint = Callable[[float], None]
SERVICES: dict[str, Callable[[Job, Checkpoint], Callable[[], None]]] = {
    RANKINGS: compute_rankings,
    SLOW_RANKINGS: compute_slow_rankings,
    RANKS_AGAIN: compute_ranks_again,
    PROSPECTS: compute_prospects,
    SIGNIFICANCE: compute_significance,
    INSTANCES: compute_instances,
    BOOTSTRAP: compute_bootstrap,
    AXIOMS: compute_axioms,
    STUDY_PLAN: compute_plan,
    EXPERIMENT: compute_experiment,
    STUDY: compute_chunk,
    MERGE: compute_merge,
    VOTES: compute_vote_ratings,
    SCORING: compute_scores,
}
CHECK_SECONDS = 1.0  # how often a checkpoint looks into the database


NOTHING = "nothing to do"


def run_most_urgent(job_id: int, *, worker: str) -> str:
    """Run what a wake-up for this job is good for: the most urgent job of its queue, which may be another.

    Args:
        job_id: the row that the message names.
        worker: who runs it.
    """
    for candidate in jobs.most_urgent(job_id):
        outcome = run_job(candidate, worker=worker)
        if outcome != NOTHING:
            return outcome
    return NOTHING


def run_job(job_id: int, *, worker: str) -> str:
    """Run a job if it is due. Returns what came of it, for the log.

    Args:
        job_id: the row's id; a wake-up may name a job that is long done.
        worker: who runs it.
    """
    with StopRequest() as stop:
        job = jobs.claim(job_id, worker=worker)
        if job is None:
            return NOTHING
        caused_by = {"request": job.request_id} if job.request_id else {}
        with logged_as(job=job.pk, kind=job.kind, attempt=job.attempts, **caused_by):
            outcome = _run(job, stop)
            logger.info("%s: %s", job, outcome)
    return outcome


def _run(job: Job, stop: StopRequest) -> str:
    with lease_kept(job) as is_lost:
        try:
            stop.obey()
            write = SERVICES[kind_of(job.kind).key](job, _checkpoint(job, is_lost))
            jobs.finish(job, write)
            stop.hold_back()
        except jobs.LeaseLostError:
            return "lease lost"
        except jobs.SupersededError:
            stop.hold_back()
            jobs.supersede(job)
            return "superseded"
        except (SystemExit, KeyboardInterrupt):  # the worker is told to stop
            with suppress(Exception):  # it may have been in the middle of a query; then the lease runs out
                jobs.give_back(job)
            raise
        except Exception as error:
            stop.hold_back()
            logger.exception("%s, attempt %s", job, job.attempts)
            close_old_connections()  # where the database went away in between, the outcome takes a new connection
            text = f"{type(error).__name__}: {error}\n\n{traceback.format_exc(limit=-3)}"
            jobs.record_failure(job, text, is_own=_is_own_fault(job, error))
            return "failed"
    return "done"


def _is_own_fault(job: Job, error: Exception) -> bool:
    """Whether the same again would fail the same way, as far as one can tell: the surroundings may be better soon."""
    if isinstance(error, MemoryError):  # others may have taken it; twice is no chance
        return job.attempts > 1
    if isinstance(error, (DataError, IntegrityError, ProgrammingError)):
        return True
    return not isinstance(error, (DatabaseError, InterfaceError, OSError))


@contextmanager
def lease_kept(job: Job) -> Iterator[threading.Event]:
    """A thread renews the lease every third of it. The event is set when the claim is lost."""
    is_over, is_lost = threading.Event(), threading.Event()

    def keep() -> None:
        try:
            while not is_over.wait(settings.JOB_LEASE_SECONDS / 3):
                try:
                    close_old_connections()
                    if not jobs.renew(job):
                        is_lost.set()
                        return
                except Exception:
                    logger.warning("the lease of %s was not renewed this time", job, exc_info=True)
        finally:
            connection.close()

    # A thread begins without the ids of what is being done; its lines in the log belong to this job, too.
    thread = threading.Thread(target=copy_context().run, args=(keep,), name=f"lease of job {job.pk}", daemon=True)
    thread.start()
    try:
        yield is_lost
    finally:
        is_over.set()
        thread.join(timeout=5)


def _checkpoint(job: Job, is_lost: threading.Event) -> Checkpoint:
    """What a computation calls now and then with its progress: it stops one that is lost or superseded."""
    last = timezone.now()

    def checkpoint(progress: float) -> None:
        nonlocal last
        if is_lost.is_set():
            raise jobs.LeaseLostError(f"the lease of {job} is lost")
        now = timezone.now()
        if (now - last).total_seconds() < CHECK_SECONDS:
            return
        last = now
        if jobs.owned(job).update(progress=progress) != 1:
            raise jobs.LeaseLostError(f"{job} is no longer owned by this worker")
        if jobs.is_superseded(job):
            raise jobs.SupersededError(f"{job} was overtaken by a newer revision")

    return checkpoint
