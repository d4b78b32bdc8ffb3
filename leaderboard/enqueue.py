"""The one door to background work: wake-ups are sent here, by task name, after the transaction commits."""

import logging
from functools import partial

from celery import current_app
from django.db import transaction

from leaderboard.models import Job

RUN_JOB = "jobs.run_job"
# A message that nobody took for so long is worth nothing: the sweep has sent another by then.
EXPIRES_SECONDS = 60

logger = logging.getLogger(__name__)


def wake_on_commit(job: Job) -> None:
    """Tell a worker about a job once its row is committed.

    An unreachable broker costs nothing but time: the row stays due, and the sweep wakes a worker later.
    """
    transaction.on_commit(partial(send_wake_up, job.pk, job.queue), robust=True)


def send_wake_up(job_id: int, queue: str) -> bool:
    """Send one wake-up now, without retries. False, and a line in the log, where the broker is out of reach."""
    signature = current_app.signature(RUN_JOB, kwargs={"job_id": job_id})
    try:
        signature.apply_async(queue=queue, expires=EXPIRES_SECONDS, retry=False, ignore_result=True)
    except Exception as error:  # noqa: BLE001 -- every transport raises its own; none may fail a request
        logger.warning("the broker did not take the wake-up of job %s: %s", job_id, error)
        return False
    return True
