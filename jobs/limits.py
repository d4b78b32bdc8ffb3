"""Limits of a process that runs jobs."""

import logging
import os
from typing import Any

from celery.signals import worker_process_init
from django.conf import settings

from config.celery import app
from config.processes.container import job_memory, memory_limit

NICE = 5  # pages and boards come before studies; what is computed on demand is as patient

logger = logging.getLogger(__name__)


@worker_process_init.connect
def limit_memory(**_signal: object) -> None:
    """Let a job that asks for too much memory fail alone, where the platform can say so."""
    try:
        import resource  # noqa: PLC0415 -- not on every platform

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        ceiling = job_memory(settings.JOB_MEMORY_BYTES, memory_limit())
        resource.setrlimit(resource.RLIMIT_AS, (ceiling if hard < 0 else min(ceiling, hard), hard))
    except (ImportError, ValueError, OSError) as error:
        logger.warning("no memory limit on this platform: %s", error)


@worker_process_init.connect
def yield_to_boards(**_signal: object) -> None:
    """Let a process that takes studies alone leave its processor to pages and boards that need it."""
    queues: Any = app.amqp.queues.consume_from
    if {queue.alias for queue in queues.values()} == {"studies"}:
        os.nice(NICE)
