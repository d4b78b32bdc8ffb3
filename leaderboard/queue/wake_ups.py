"""The one door to background work: wake-ups are sent here, by task name, after the transaction commits."""

import logging
import time
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile

from celery import current_app
from django.conf import settings
from django.db import transaction

from leaderboard.models import Job
from leaderboard.queue.kinds import kind_of

RUN_JOB = "jobs.run_job"
# A message that no one took for so long is worth nothing: the sweep has sent another by then.
EXPIRES_SECONDS = 60
# A broker that was out of reach is not asked again for so long, so that a request that brings many jobs waits once.
REST_SECONDS = 5.0
PROBE, PROBE_BYTES = "plurank-probe", 4096  # what is written to see whether a message could be

logger = logging.getLogger(__name__)
_rests_until = 0.0


def wake_on_commit(job: Job) -> None:
    """Tell a worker about a job once its row is committed, unless no worker of the site takes jobs of its queue.

    An unreachable broker costs nothing but time: the row stays due, and the sweep wakes a worker later.
    """
    if job.queue in Job.Queue.values:
        send = partial(send_wake_up, job.pk, job.queue, limit_seconds=kind_of(job.kind).limit_seconds)
        transaction.on_commit(send, robust=True)


def send_wake_up(job_id: int, queue: str, *, limit_seconds: int) -> bool:
    """Send one wake-up now, without retries. False, and a line in the log, where the broker is out of reach.

    The worker kills the process that runs the job a little after its limit: a job that never returns must not keep
    its queue from all others.
    """
    global _rests_until  # noqa: PLW0603 -- one broker a process
    if time.monotonic() < _rests_until:
        return False
    signature = current_app.signature(RUN_JOB, kwargs={"job_id": job_id})
    # The row's deadline ends the lease first, then this ends the process.
    time_limit = limit_seconds + settings.JOB_GRACE_SECONDS
    try:
        signature.apply_async(
            queue=queue, expires=EXPIRES_SECONDS, time_limit=time_limit, retry=False, ignore_result=True
        )
    except Exception as error:  # noqa: BLE001 -- every transport raises its own; none may fail a request
        logger.warning("the broker did not take the wake-up of job %s: %s", job_id, error)
        _rests_until = time.monotonic() + REST_SECONDS
        return False
    return True


def count_wake_ups(queue: str) -> int:
    """How many wake-ups of this engine version lie in a queue, stale ones among them; 0 where the broker cannot say."""
    if time.monotonic() < _rests_until:
        return 0
    try:
        with current_app.pool.acquire(block=True) as connection:
            name = current_app.amqp.queues[queue].name
            return connection.default_channel.queue_declare(queue=name, passive=True).message_count
    except Exception as error:  # noqa: BLE001 -- Redis knows no empty queue; what else is wrong, sending will say
        logger.debug("the broker did not say how long queue %s is: %s", queue, error)
        return 0


def reaches_broker() -> bool:
    """Whether the broker answers within a moment, and can be written to: a full one takes no message."""
    try:
        with current_app.connection_for_write(connect_timeout=3) as connection:
            connection.ensure_connection(max_retries=1, timeout=3)
            if settings.REDIS_URL:
                connection.default_channel.client.set(PROBE, "1", ex=EXPIRES_SECONDS)
            else:
                folder = Path(connection.transport_options["folder"])
                folder.mkdir(parents=True, exist_ok=True)
                # Deleted as old messages are, should it be left behind.
                with NamedTemporaryFile("wb", dir=folder, prefix=f".{PROBE}.", suffix=".new") as file:
                    file.write(b"1" * PROBE_BYTES)
                    file.flush()
    except Exception as error:  # noqa: BLE001 -- every transport raises its own
        logger.warning("the broker does not answer, or takes no message: %s", error)
        return False
    return True
