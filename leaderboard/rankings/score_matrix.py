"""The one door between rows and arrays: a revision's scores as a `ScoreMatrix`."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import product

import numpy as np

from leaderboard.common.hashing import canonical_json
from leaderboard.computing.rankings import RuleSplit, split_rules
from leaderboard.models import InstanceSet, Revision
from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredTask, configuration_of
from leaderboard.rankings.instances import clusters_on, current_instances, shared_sets
from leaderboard.rankings.scores import BoardSystem, Values, current_errors, current_values, systems_at
from ranking_engine import ScoreMatrix

NOTHING_TO_RANK = "the benchmark has no system or no task"  # why `revision_matrix` gives none


@dataclass(frozen=True)
class RevisionMatrix:
    """A revision's matrix. Systems are known to the engine by their keys and are in the order of these.

    `written` has the scores as someone wrote them, to 12 significant digits; those of the matrix are rounded to the
    precision of their tasks as well.
    """

    revision: Revision
    systems: list[BoardSystem]
    matrix: ScoreMatrix
    written: np.ndarray

    @cached_property
    def configuration(self) -> BoardConfiguration:
        """The revision's own: its tasks are in the order of the matrix's columns."""
        return configuration_of(self.revision)

    @property
    def rules(self) -> RuleSplit:
        """The rules of its board, the variants among them."""
        return split_rules(self.matrix.n_systems, self.matrix.n_tasks, self.configuration.variants)


MatrixReader = Callable[[], RevisionMatrix | None]


def reader_of(revision: Revision) -> MatrixReader:
    """Reads the scores of a revision when they are first needed, and no second time."""
    return cache(partial(revision_matrix, revision))


def revision_matrix(revision: Revision, *, as_stored: bool = False) -> RevisionMatrix | None:
    """The scores of `revision` as arrays; None while the benchmark has no system or no task.

    With `as_stored`, `written` has what the database has, whatever digits there are.
    """
    systems = systems_at(revision)
    configuration = configuration_of(revision)
    tasks = configuration.tasks
    if not systems or not tasks:
        return None
    values = _as_table(current_values(revision, as_stored=as_stored), systems, tasks)
    return RevisionMatrix(revision, systems, build_matrix(values, systems, configuration), values)


def error_table(table: RevisionMatrix) -> np.ndarray:
    """The standard errors that submitters stated of the scores of a revision, in the shape of its matrix.

    NaN where there is no score or none is stated; 0 is taken for none, because no measured score is exact.
    """
    errors = _as_table(current_errors(table.revision), table.systems, table.configuration.tasks)
    errors[(errors == 0) | np.isnan(table.matrix.values)] = np.nan
    return errors


def _as_table(cells: Iterable[Values], systems: Sequence[BoardSystem], tasks: Sequence[ConfiguredTask]) -> np.ndarray:
    """Figures by the ids of systems and tasks as a table of these systems and tasks, NaN where there is none."""
    table = np.full((len(systems), len(tasks)), np.nan)
    for system_ids, task_ids, figures in cells:
        row = _places_of(system_ids, [system.id for system in systems])
        column = _places_of(task_ids, [task.id for task in tasks])
        is_here = (row >= 0) & (column >= 0)
        table[row[is_here], column[is_here]] = figures[is_here]
    return table


def _places_of(ids: np.ndarray, known: list[int]) -> np.ndarray:
    """The place of each id among those known, -1 for one that is not."""
    order = np.argsort(known)
    ordered = np.array(known)[order]
    at = np.minimum(np.searchsorted(ordered, ids), len(known) - 1)
    return np.where(ordered[at] == ids, order[at], -1)


def build_matrix(values: np.ndarray, systems: list[BoardSystem], configuration: BoardConfiguration) -> ScoreMatrix:
    """A `ScoreMatrix` of `values` (systems x tasks of the configuration), known by keys.

    Where every task weighs nothing, or its group does, none votes, as where all are unordered: the engine takes such
    weights for an error, but there are boards with them from before they were refused.
    """
    tasks = configuration.tasks
    if not configuration.has_weight:
        tasks = tuple(replace(task, weight="1", direction=0) for task in tasks)
    return ScoreMatrix(
        values,
        system_names=[system.key for system in systems],
        task_names=[task.key for task in tasks],
        directions=[task.direction for task in tasks],
        weights=[Fraction(task.weight) for task in tasks],
        groups=[task.group for task in tasks],
        group_weights={group.key: Fraction(group.weight) for group in configuration.groups_with_tasks},
        gamma=configuration.gamma_in_force,
        minimum=[task.minimum for task in tasks],
        maximum=[task.maximum for task in tasks],
        chance=[task.chance for task in tasks],
        precision=[task.precision for task in tasks],
        clusters=[task.cluster for task in tasks],
    )


def input_hash(table: RevisionMatrix | None, configuration: BoardConfiguration) -> str:
    """SHA-256 of the scores, tasks, weights and groups of a revision.

    Ranks also depend on the aggregation and on the missing-score policy, which do not enter: revisions that differ in
    these alone have the same hash. The number of the revision and the version of the engine identify a figure.

    The hashed text is one line of canonical JSON a task, sorted by key (key, direction, weight as a fraction, group,
    minimum, maximum, chance; precision and cluster where they are stated), one a group that has tasks (key, weight),
    one with γ, stated or derived; one with the variants of rules, where there are any; then, a system in the order of
    keys, its key and the IEEE-754 little-endian bytes of its scores in the order of the task keys, with -0.0 as 0.0 and
    one NaN; where there are scores of single instances,
    a line for each system and task that has some, with their keys and the hashes of the instances' names and of the
    scores; then one for each task whose instances have clusters, with these.
    Scores are hashed to 12 significant digits, as figures are computed from them. They are not rounded to a task's
    precision: that has its place in the line of the task.
    Database ids, display names, dates, the default rule and visibility do not enter.
    """
    tasks = configuration.tasks
    order = sorted(range(len(tasks)), key=lambda t: tasks[t].key)
    digest = hashlib.sha256(b"plurank inputs 1\n")
    for t in order:
        line = {name: getattr(tasks[t], name) for name in ("key", "direction", "group", "minimum", "maximum", "chance")}
        later = {"precision": tasks[t].precision, "cluster": tasks[t].cluster}
        line |= {name: value for name, value in later.items() if value is not None}
        digest.update(canonical_json(line | {"weight": str(Fraction(tasks[t].weight))}).encode() + b"\n")
    for group in sorted(configuration.groups_with_tasks, key=lambda group: group.key):
        line = {"group": group.key, "weight": str(Fraction(group.weight))}
        digest.update(canonical_json(line).encode() + b"\n")
    digest.update(json.dumps({"gamma": configuration.gamma_in_force}).encode() + b"\n")
    if configuration.variants:
        digest.update(canonical_json({"variants": configuration.variants}).encode() + b"\n")
    if table is not None:
        values = table.written[:, order] + 0.0  # -0.0 + 0.0 is 0.0
        values[np.isnan(values)] = np.nan
        for i, system in enumerate(table.systems):
            digest.update(system.key.encode() + b"\0" + values[i].astype("<f8").tobytes() + b"\n")
        cells = current_instances(table.revision)
        set_ids = {row.instance_set_id for row in cells.values()}
        stored_sets = InstanceSet.objects.filter(pk__among=set_ids).values_list("pk", "content_hash")
        sets = dict(stored_sets) if cells else {}
        clusters = clusters_on(cells, shared_sets(cells)) if cells else {}
        for system, t in product(table.systems if cells else (), order):
            if row := cells.get((system.id, tasks[t].id)):
                text = canonical_json([system.key, tasks[t].key, sets[row.instance_set_id], row.values_hash])
                digest.update(text.encode() + b"\n")
        for t in order:
            if names := clusters.get(tasks[t].id):
                digest.update(canonical_json({"task": tasks[t].key, "clusters": names}).encode() + b"\n")
    return digest.hexdigest()


def hash_anew(revision: Revision) -> str:
    """The `input_hash` of a revision from what the database has now, in the form in which it was stored.

    Before engine 0.5.0 scores were not rounded, and were hashed with all their digits: a revision of that time keeps
    its hash, and is found unharmed where either form gives it.
    """
    configuration = configuration_of(revision)
    digest = input_hash(revision_matrix(revision), configuration)
    if revision.input_hash in ("", digest):
        return digest
    earlier = input_hash(revision_matrix(revision, as_stored=True), configuration)
    return earlier if revision.input_hash == earlier else digest
