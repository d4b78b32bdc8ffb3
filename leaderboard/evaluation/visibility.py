"""What hidden references hide beside themselves."""

from leaderboard.access.audience import Audience
from leaderboard.models import Benchmark, TaskReferences


def sees_instances(audience: Audience) -> bool:
    """Whether someone sees scores of single instances, and what is known of each.

    Where a task has hidden references only those who decide do: the score of a known prediction tells its reference.
    """
    return audience.may_moderate or not hides_instances(audience.benchmark)


def hides_instances(benchmark: Benchmark) -> bool:
    """Whether a task has hidden references, so that not every reader sees scores of single instances."""
    return TaskReferences.objects.filter(task__benchmark=benchmark).exists()
