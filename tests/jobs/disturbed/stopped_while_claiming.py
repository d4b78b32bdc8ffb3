"""Included by a worker: while it claims a board, it is told to stop, as Celery tells it."""

import os
import signal

from leaderboard.queue import jobs

claim = jobs.claim


def claim_and_be_stopped(job_id, *, worker):
    """The row is claimed, and nothing that comes after the claim has begun."""
    job = claim(job_id, worker=worker)
    if job is not None:
        os.kill(os.getpid(), signal.SIGTERM)
    return job


jobs.claim = claim_and_be_stopped
