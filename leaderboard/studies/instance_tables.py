"""The scores of single instances of one task as they hold at a revision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leaderboard.models import Revision, Submission
from leaderboard.rankings.configuration import ConfiguredTask
from leaderboard.rankings.instances import clusters_on, current_instances, shared_sets, unpack_names
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.submissions.instances.vectors import unpack_vector


@dataclass(frozen=True)
class InstanceRow:
    """One system: its scores in the order of the instances, None where one is missing."""

    system: BoardSystem
    submission: str
    values: list[float | None]


@dataclass(frozen=True)
class TaskInstances:
    """The instances of a task on which systems are compared, and every system's scores on them."""

    task: ConfiguredTask
    names: list[str]
    rows: list[InstanceRow]  # by the systems' keys
    n_other_set: int  # systems that were scored on other instances
    clusters: list[str]  # of the instances, empty for one by itself; empty where none are stated


def task_instances(revision: Revision, task: ConfiguredTask) -> TaskInstances:
    """The scores of single instances of `task`, an entry of the revision's configuration."""
    cells = current_instances(revision, with_values=True, task_id=task.id)
    chosen = shared_sets(cells).get(task.id)
    kept = {system: row for (system, _), row in cells.items() if row.instance_set_id == chosen}
    ids = {row.submission_id for row in kept.values()}
    uuids = {pk: str(uuid) for pk, uuid in Submission.objects.filter(pk__among=ids).values_list("pk", "uuid")}
    on_board = [system for system in systems_at(revision) if system.id in kept]
    rows = []
    for system in on_board:
        vector = unpack_vector(kept[system.id].values).tolist()
        values = [value if value == value else None for value in vector]  # noqa: PLR0124
        rows.append(InstanceRow(system, uuids[kept[system.id].submission_id], values))
    names = unpack_names(kept[on_board[0].id].instance_set.names) if on_board else []
    clusters = clusters_on(cells, {} if chosen is None else {task.id: chosen}).get(task.id, [])
    return TaskInstances(task, names, rows, len(cells) - len(kept), clusters)


def instance_lines(instances: TaskInstances) -> Iterator[Sequence[object]]:
    """A line a score, under a header, as an upload of single instances takes them."""
    yield ("system", "task", "instance", "score", *(["cluster"] if instances.clusters else []))
    for row in instances.rows:
        for u, value in enumerate(row.values):
            cluster = instances.clusters[u : u + 1]  # nothing where none are stated
            yield (row.system.name, instances.task.name, instances.names[u], value, *cluster)
