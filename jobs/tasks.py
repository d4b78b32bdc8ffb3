"""The Celery tasks: thin. A message names a job row; the row says what there is to do."""

import logging
import os
import socket

from celery import shared_task
from celery.signals import worker_process_init
from django.conf import settings

from leaderboard.services import job_runner

logger = logging.getLogger(__name__)


@shared_task(name="jobs.run_job", ignore_result=True)  # its time limit comes with the message
def run_job(job_id: int) -> None:
    """Run the job of this row, if it is due, or what is more urgent in its queue."""
    outcome = job_runner.run_most_urgent(job_id, worker=f"{socket.gethostname()}:{os.getpid()}")
    logger.info("job %s: %s", job_id, outcome)


@worker_process_init.connect
def limit_memory(**_signal: object) -> None:
    """Let a job that asks for too much memory fail alone, where the platform can say so."""
    try:
        import resource  # noqa: PLC0415 -- not on every platform

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        ceiling = settings.JOB_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (ceiling if hard < 0 else min(ceiling, hard), hard))
    except (ImportError, ValueError, OSError) as error:
        logger.warning("no memory limit on this platform: %s", error)
