"""Scores of single instances in a frozen revision's archive: which there are, in which files, and the files."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from leaderboard.common.files import ColumnHead, ExportTable
from leaderboard.evaluation.visibility import hides_instances
from leaderboard.models import Benchmark, InstanceScores, InstanceSet, Publication
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.instances import clusters_on, current_instances, shared_sets, unpack_names
from leaderboard.rankings.scores import systems_at
from leaderboard.submissions.instances.vectors import unpack_vector

MAX_SCORES = 500_000  # in one archive
MAX_BYTES = 32 * 2**20  # of their files, not packed
ROWS_A_FILE = 100_000
BYTES_A_VALUE = 26  # the digits of a score, two commas, the end of the line
ABOUT = "Scores of systems on single instances of a task; the mean of them is its score."
HEADINGS = (
    ColumnHead("system", "System", is_text=True),
    ColumnHead("task", "Task", is_text=True),
    ColumnHead("instance", "Instance", is_text=True),
    ColumnHead("value", "Score"),
)
CLUSTER = ColumnHead("cluster", "Cluster", is_text=True)
WITHOUT = "Scores of single instances are not in the archive"


@dataclass(frozen=True)
class InstanceFile:
    """A file of scores of single instances of one task.

    Attributes:
        name: in the archive, without its ending.
        task: its key.
        systems: of each system its key, the number of its stored row, and the hashes of its scores and of the names of
            the instances.
        clusters: of the instances of the set on which systems are compared, in its order, empty for one by itself; none
            where none are stated.
        clustered_set: the number of that set.
    """

    name: str
    task: str
    systems: tuple[tuple[str, int, str, str], ...]
    clusters: tuple[str, ...] = ()
    clustered_set: int = 0

    @property
    def headings(self) -> tuple[ColumnHead, ...]:
        """Its columns: that of clusters only where some are stated."""
        return (*HEADINGS, CLUSTER) if self.clusters else HEADINGS

    def table(self) -> ExportTable:
        """The file's scores; an instance without one has an empty cell, and so has one by itself for its cluster."""
        rows = InstanceScores.objects.filter(pk__among=[pk for _, pk, _, _ in self.systems])
        stored = {row.pk: row for row in rows.select_related("instance_set").defer("instance_set__names")}
        sets = InstanceSet.objects.filter(pk__among=list({row.instance_set_id for row in stored.values()}))
        names = {one.pk: unpack_names(one.names) for one in sets}
        clusters: dict[int, list[list[str | None]]] = {}  # the further cells of each instance, by set
        for pk, of_set in names.items():
            known = self.clusters if pk == self.clustered_set else [""] * len(of_set)
            clusters[pk] = [[cluster or None] for cluster in known] if self.clusters else [[] for _ in of_set]
        lines = [
            [system, self.task, instance, None if value != value else value, *cluster]  # noqa: PLR0124 -- NaN
            for system, pk, _, _ in self.systems
            if pk in stored
            for instance, value, cluster in zip(
                names[stored[pk].instance_set_id],
                unpack_vector(stored[pk].values).tolist(),
                clusters[stored[pk].instance_set_id],
                strict=True,
            )
        ]
        return ExportTable(self.name, ABOUT, self.headings, lines)


@dataclass(frozen=True)
class ArchivedInstances:
    """The files of an archive that have scores of single instances; where there are none, the sentence why."""

    files: tuple[InstanceFile, ...]
    why_none: str = ""


def archived_instances(benchmark: Benchmark, publication: Publication) -> ArchivedInstances:
    """The scores of single instances that hold at a revision, as files; no score is read yet.

    Where a task has hidden references there are none, for no reader: an archive is passed on.
    """
    if hides_instances(benchmark):
        return ArchivedInstances((), f"{WITHOUT}: the benchmark has hidden references.")
    revision = publication.revision
    cells = current_instances(revision)
    sets = InstanceSet.objects.filter(pk__among=list({row.instance_set_id for row in cells.values()})).defer("names")
    sizes = {one.pk: one for one in sets}
    keys = {task.id: task.key for task in configuration_of(revision).tasks}
    systems = systems_at(revision)
    held = [
        (key, system.key, cells[system.id, task])
        for task, key in keys.items()
        for system in systems
        if (system.id, task) in cells
    ]
    if not held:
        return ArchivedInstances((), f"{WITHOUT}: no system on the board has any.")
    n_scores = sum(sizes[row.instance_set_id].n_instances for _, _, row in held)
    if n_scores > MAX_SCORES:
        return ArchivedInstances(
            (), f"{WITHOUT}: it has at most {MAX_SCORES:,}, and there are {n_scores:,}. The API has them task by task."
        )
    names = InstanceSet.objects.filter(pk__among=list(sizes)).values_list("pk", "names").iterator(chunk_size=10)
    lengths = {pk: len(zlib.decompress(bytes(packed))) for pk, packed in names}  # as JSON, in CSV no longer
    compared = shared_sets(cells)
    clusters = {keys[task]: of_task for task, of_task in clusters_on(cells, compared).items() if task in keys}
    cluster_bytes = {task: sum(len(name.encode()) + 3 for name in of_task) for task, of_task in clusters.items()}
    most_bytes = sum(
        lengths[row.instance_set_id]
        + cluster_bytes.get(task, 0)
        + sizes[row.instance_set_id].n_instances * (len(system) + len(task) + BYTES_A_VALUE)
        for task, system, row in held
    )
    if most_bytes > MAX_BYTES:
        return ArchivedInstances(
            (), f"{WITHOUT}: their files would have more than {MAX_BYTES // 2**20} MiB. The API has them task by task."
        )
    clustered = {task: (compared[pk], tuple(clusters[task])) for pk, task in keys.items() if task in clusters}
    return ArchivedInstances(tuple(files_of(held, sizes, clustered)))


Held = tuple[str, str, InstanceScores]  # the keys of a task and of a system, and its scores on that task


def files_of(
    held: Iterable[Held], sizes: Mapping[int, InstanceSet], clustered: Mapping[str, tuple[int, tuple[str, ...]]]
) -> Iterator[InstanceFile]:
    """As many systems a file as have ROWS_A_FILE rows; one with more has its own.

    Args:
        held: the scores, those of one task behind each other.
        sizes: the sets by their numbers.
        clustered: of each task with clusters, the number of its set and the clusters of the instances.
    """
    for task, group in groupby(held, key=lambda one: one[0]):
        clustered_set, clusters = clustered.get(task, (0, ()))
        number, n_rows, systems = 1, 0, list[tuple[str, int, str, str]]()
        for _, system, row in group:
            instance_set = sizes[row.instance_set_id]
            if systems and n_rows + instance_set.n_instances > ROWS_A_FILE:
                yield InstanceFile(f"instances/{task}-{number:03}", task, tuple(systems), clusters, clustered_set)
                number, n_rows, systems = number + 1, 0, []
            systems.append((system, row.pk, row.values_hash, instance_set.content_hash))
            n_rows += instance_set.n_instances
        yield InstanceFile(f"instances/{task}-{number:03}", task, tuple(systems), clusters, clustered_set)
