"""Boards whose weights are refused today, as sites have them from releases that took them."""

from decimal import Decimal

from leaderboard.benchmarks.create import GroupSpec, TaskSpec
from leaderboard.models import Benchmark

SCORES = {"X": [1.0, 2.0], "Y": [2.0, 1.0]}


def without_weight(make, aggregation="basic") -> Benchmark:
    """A benchmark of tasks a and b with a revision that is not computed yet: all tasks weigh 0, or their one group."""
    group = "" if aggregation == "basic" else "g"
    benchmark = make.benchmark(
        {},
        tasks=[TaskSpec("a", group=group), TaskSpec("b", group=group)],
        groups=[GroupSpec("g")] if group else [],
        aggregation=aggregation,
    )
    (benchmark.groups if group else benchmark.tasks).update(weight=Decimal(0))
    make.accepted(benchmark, SCORES)
    return benchmark
