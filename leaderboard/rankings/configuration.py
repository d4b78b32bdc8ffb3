"""The configuration of a revision: tasks, groups, directions, weights, scales, γ and policy as they were."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from leaderboard.common.hashing import content_hash
from leaderboard.common.text import decimal_text, value_text
from leaderboard.models import Benchmark, Configuration, Task, TaskGroup
from leaderboard.rankings.text import votes
from ranking_engine.core.threshold import DerivedGamma, derived_gamma


def configuration_content(benchmark: Benchmark) -> dict[str, Any]:
    """The benchmark's configuration as it stands now, as it is stored with a revision.

    A task has the entries `precision` and `cluster` only where they are stated, and `derived_gamma` is there only where
    a threshold follows from the tasks: what was stored before there were any says the same as what is stored now. The
    derived threshold is part of what is stored, so that a revision ranks for good as it did when it was made.
    """
    groups = TaskGroup.objects.filter(benchmark=benchmark)
    tasks = Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group")
    entries = [_task_content(task) for task in tasks]
    derived = derived_threshold(entries) if benchmark.gamma is None else None
    return {
        "groups": [{"key": g.key, "name": g.name, "weight": decimal_text(g.weight)} for g in groups],
        "tasks": entries,
        "gamma": benchmark.gamma,
        **({} if derived is None else {"derived_gamma": asdict(derived)}),
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


def derived_threshold(tasks: Sequence[Mapping[str, Any]]) -> DerivedGamma | None:
    """The optimality threshold that follows from the scales of tasks, where nobody states one.

    Args:
        tasks: entries of a configuration.
    """
    voting = [task for task in tasks if votes(task)]
    return derived_gamma([task["direction"] for task in voting], [task["maximum"] for task in voting])


def gamma_in_force(content: Mapping[str, Any]) -> float | None:
    """The stated threshold of a configuration, else the derived one."""
    return content["gamma"] if content["gamma"] is not None else gamma_derived(content)


def gamma_derived(content: Mapping[str, Any]) -> float | None:
    """The threshold that a configuration derives from the scales of its tasks; None where it does not."""
    return content["derived_gamma"]["gamma"] if "derived_gamma" in content else None


def threshold_text(content: Mapping[str, Any]) -> str:
    """The threshold in force and where it comes from, as a sentence; empty without one."""
    if content.get("gamma") is not None:
        return f"γ = {value_text(content['gamma'])}, as stated."
    if "derived_gamma" not in content:
        return ""
    derived = content["derived_gamma"]
    maximum = value_text(derived["maximum"])
    return f"γ = {value_text(derived['gamma'])}, derived: 95 % of the scale’s maximum {maximum}."


def store_configuration(benchmark: Benchmark) -> Configuration:
    """The row of the benchmark's present configuration, shared with every revision that had the same."""
    content = configuration_content(benchmark)
    configuration, _ = Configuration.objects.get_or_create(
        content_hash=content_hash(content), defaults={"content": content}
    )
    return configuration
