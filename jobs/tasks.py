"""The Celery tasks: thin. A message names a job row; the row says what to do."""

import logging
import os
import socket

from celery import shared_task

from jobs import runner

logger = logging.getLogger(__name__)


@shared_task(name="jobs.run_job", ignore_result=True)  # its time limit comes with the message
def run_job(job_id: int) -> None:
    """Run the job of this row, if it is due, or what is more urgent in its queue."""
    outcome = runner.run_most_urgent(job_id, worker=f"{socket.gethostname()}:{os.getpid()}")
    if outcome == runner.NOTHING:  # what came of a job is logged with its ids where it ran
        logger.info("the wake-up for job %s: %s", job_id, outcome)
