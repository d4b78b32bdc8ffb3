"""The configuration of a revision: tasks, groups, directions, weights, scales, γ and policy as they were."""

from typing import Any

from leaderboard.common.hashing import content_hash
from leaderboard.common.text import decimal_text
from leaderboard.models import Benchmark, Configuration, Task, TaskGroup


def configuration_content(benchmark: Benchmark) -> dict[str, Any]:
    """The benchmark's configuration as it stands now, as it is stored with a revision.

    A task has the entries `precision` and `cluster` only where they are stated: what was stored before there were any
    says the same as what is stored now.
    """
    groups = TaskGroup.objects.filter(benchmark=benchmark)
    tasks = Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group")
    return {
        "groups": [{"key": g.key, "name": g.name, "weight": decimal_text(g.weight)} for g in groups],
        "tasks": [_task_content(task) for task in tasks],
        "gamma": benchmark.gamma,
        "missing_policy": benchmark.missing_policy,
        "aggregation": benchmark.aggregation,
        "replacement": benchmark.replacement,
    }


def _task_content(task: Task) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    if task.precision is not None:
        stated["precision"] = decimal_text(task.precision)
    if task.cluster:
        stated["cluster"] = task.cluster
    return {
        "id": task.pk,
        "key": task.key,
        "name": task.name,
        "group": task.group.key if task.group else None,
        "direction": task.direction,
        "weight": decimal_text(task.weight),
        "metric": task.metric,
        "unit": task.unit,
        "minimum": task.minimum,
        "maximum": task.maximum,
        "chance": task.chance,
        **stated,
    }


def store_configuration(benchmark: Benchmark) -> Configuration:
    """The row of the benchmark's present configuration, shared with every revision that had the same."""
    content = configuration_content(benchmark)
    configuration, _ = Configuration.objects.get_or_create(
        content_hash=content_hash(content), defaults={"content": content}
    )
    return configuration
