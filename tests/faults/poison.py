"""What workers of the fault tests import: boards of benchmarks whose name begins with a certain word are poison."""

import time

from leaderboard.models import Benchmark
from leaderboard.services import job_runner
from leaderboard.services.job_kinds import RANKINGS
from leaderboard.services.rankings import compute_rankings


def _raises() -> None:
    raise ArithmeticError("poison that always raises")


def _asks_for_all_memory() -> None:
    bytearray(64 * 2**30)


def _never_ends() -> None:
    while True:
        time.sleep(1)


POISON = {"raises": _raises, "memory": _asks_for_all_memory, "endless": _never_ends}


def compute(job, checkpoint):
    """As a board's own service, unless it is poison."""
    word = Benchmark.objects.values_list("name", flat=True).get(pk=job.benchmark_id).partition(" ")[0].lower()
    if word in POISON and job.sequence > 1:
        POISON[word]()
    return compute_rankings(job, checkpoint)


job_runner.SERVICES[RANKINGS] = compute
