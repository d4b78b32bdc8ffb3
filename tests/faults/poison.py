"""What workers of the fault tests import: boards take as long as large ones do, and some benchmarks' are poison."""

import time

from jobs import runner
from leaderboard.models import Benchmark
from leaderboard.queue.kinds import RANKINGS
from leaderboard.rankings.compute import compute_rankings

# Seconds that a board takes, by the benchmark's first word, so that faults meet boards that are being computed.
BOARD_TAKES = {"slow": 3.0}
USUALLY = 0.4


def _raises() -> None:
    raise ArithmeticError("poison that always raises")


def _asks_for_all_memory() -> None:
    bytearray(64 * 2**30)


def _never_ends() -> None:
    while True:
        time.sleep(1)


# By the word with which the benchmark's name begins.
POISON = {"raises": _raises, "memory": _asks_for_all_memory, "endless": _never_ends}


def compute(job, checkpoint):
    """As a board's own service, unless it is poison."""
    word = Benchmark.objects.values_list("name", flat=True).get(pk=job.benchmark_id).partition(" ")[0].lower()
    if word in POISON and job.sequence > 1:
        POISON[word]()
    time.sleep(BOARD_TAKES.get(word, USUALLY))
    return compute_rankings(job, checkpoint)


runner.SERVICES[RANKINGS] = compute
