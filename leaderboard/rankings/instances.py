"""Which scores of single instances hold at a revision."""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db.models import Max

from leaderboard.models import Benchmark, InstanceScores, Revision, TaskReferences
from leaderboard.rankings.scores import WITHDRAWN, current_scores

Cell = tuple[int, int]  # ids of a system and a task


def current_instances(
    revision: Revision, *, with_values: bool = False, task_id: int | None = None
) -> dict[Cell, InstanceScores]:
    """The instance scores of every (system, task) whose current score came with some.

    Args:
        revision: the state of the benchmark.
        with_values: whether the vectors are loaded, and with them the names of the sets.
        task_id: of the one task that is asked for; all where None.
    """
    rows = InstanceScores.objects.filter(submission__benchmark_id=revision.benchmark_id)
    rows = rows if task_id is None else rows.filter(task_id=task_id)
    if not rows.exists():
        return {}
    systems = rows.values_list("submission__system_id", flat=True).distinct()
    holds = {
        (score.submission_id, task): (system, task)
        for (system, task), score in current_scores(revision, list(systems)).items()
        if score.missing_reason != WITHDRAWN
    }
    rows = rows.filter(submission_id__among={submission for submission, _ in holds})
    rows = rows.select_related("instance_set").defer("clusters") if with_values else rows.defer("values", "clusters")
    instances = {}
    for row in rows.order_by("pk").iterator(chunk_size=500):
        cell = holds.get((row.submission_id, row.task_id))
        if cell is not None:
            instances[cell] = row
    return instances


def hidden_instances(benchmark: Benchmark) -> dict[int, str]:
    """The keys of the tasks, by id, whose scores of single instances are for the owners alone.

    Who knows a system's predictions would read hidden references off its scores on single instances.
    """
    rows = TaskReferences.objects.filter(task__benchmark=benchmark).order_by()
    return dict(rows.values_list("task_id", "task__key").distinct())


def unpack_names(packed: bytes | memoryview) -> list[str]:
    """Names, of the instances of a set or of the clusters of these, as they are stored."""
    names: list[str] = json.loads(zlib.decompress(bytes(packed)))
    return names


def clusters_on(cells: Mapping[Cell, InstanceScores], sets: Mapping[int, int]) -> dict[int, list[str]]:
    """The cluster of each instance, by task: as the latest submission that holds and states some says it.

    Only those of moderators, and copies of them, are stored: a cluster of all instances would end all significance.

    Args:
        cells: the instance scores that hold.
        sets: of each task the set on which systems are compared; others' clusters do not count.

    Returns:
        In the order of the set, empty for an instance by itself; only tasks with clusters.
    """
    ids = [row.pk for (_, task), row in cells.items() if sets.get(task) == row.instance_set_id]
    if not ids:
        return {}
    rows = InstanceScores.objects.filter(pk__among=ids, clusters__isnull=False).order_by("task_id")
    latest = list(rows.values_list("task_id").annotate(latest=Max("pk")).values_list("latest", flat=True))
    if not latest:
        return {}
    packed = InstanceScores.objects.filter(pk__among=latest).values_list("task_id", "clusters")
    return {task: unpack_names(names) for task, names in packed if names is not None}


def shared_sets(cells: Mapping[Cell, InstanceScores]) -> dict[int, int]:
    """The set of each task on which systems are compared: that of most systems, among equals the oldest."""
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for (_, task), row in cells.items():
        counts[task][row.instance_set_id] += 1
    return {task: min(sets, key=lambda pk: (-sets[pk], pk)) for task, sets in counts.items()}
