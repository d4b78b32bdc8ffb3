"""What a process that runs jobs may take."""

import logging

from celery.signals import worker_process_init
from django.conf import settings

from config.processes.container import job_memory, memory_limit

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
