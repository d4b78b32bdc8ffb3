"""Included by a worker: every board takes PLURANK_TEST_SECONDS, in one sleep that nothing interrupts."""

import os
import time

from jobs import runner
from leaderboard.queue.kinds import RANKINGS
from leaderboard.rankings.compute import compute_rankings


def compute(job, checkpoint):
    """As a board's own service, after a rest."""
    time.sleep(float(os.environ["PLURANK_TEST_SECONDS"]))
    return compute_rankings(job, checkpoint)


runner.SERVICES[RANKINGS] = compute
