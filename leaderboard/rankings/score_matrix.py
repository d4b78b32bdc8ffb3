"""The one door between rows and arrays: a revision's scores as a `ScoreMatrix`."""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from leaderboard.common.hashing import canonical_json
from leaderboard.models import InstanceSet, Revision
from leaderboard.rankings.configuration import gamma_in_force
from leaderboard.rankings.instances import current_instances
from leaderboard.rankings.scores import BoardSystem, current_values, systems_at
from ranking_engine import ScoreMatrix

NOTHING_TO_RANK = "the benchmark has no system or no task"  # why `revision_matrix` gives none


@dataclass(frozen=True)
class RevisionMatrix:
    """A revision's matrix. Systems are known to the engine by their keys and stand in the order of these.

    `written` has the scores as somebody wrote them, to 12 significant digits; those of the matrix are rounded to the
    precision of their tasks as well.
    """

    revision: Revision
    systems: list[BoardSystem]
    matrix: ScoreMatrix
    written: np.ndarray

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """The tasks of the revision's configuration, in the order of the matrix's columns."""
        return self.revision.configuration.content["tasks"]


def revision_matrix(revision: Revision, *, as_stored: bool = False) -> RevisionMatrix | None:
    """The scores of `revision` as arrays; None while the benchmark has no system or no task.

    With `as_stored`, `written` has what the database has, whatever digits there are.
    """
    systems = systems_at(revision)
    tasks = revision.configuration.content["tasks"]
    if not systems or not tasks:
        return None
    values = np.full((len(systems), len(tasks)), np.nan)
    for system_ids, task_ids, found in current_values(revision, as_stored=as_stored):
        row = _places_of(system_ids, [system.id for system in systems])
        column = _places_of(task_ids, [task["id"] for task in tasks])
        is_here = (row >= 0) & (column >= 0)
        values[row[is_here], column[is_here]] = found[is_here]
    return RevisionMatrix(revision, systems, build_matrix(values, systems, revision.configuration.content), values)


def _places_of(ids: np.ndarray, known: list[int]) -> np.ndarray:
    """The place of each id among those known, -1 for one that is not."""
    order = np.argsort(known)
    ordered = np.array(known)[order]
    at = np.minimum(np.searchsorted(ordered, ids), len(known) - 1)
    return np.where(ordered[at] == ids, order[at], -1)


def build_matrix(values: np.ndarray, systems: list[BoardSystem], configuration: dict[str, Any]) -> ScoreMatrix:
    """A `ScoreMatrix` of `values` (systems x tasks of the configuration), known by keys.

    Where every task weighs nothing, none votes, as where all are unordered: the engine takes such weights for an error
    of a file, but here an owner may have meant to archive a task.
    """
    tasks = configuration["tasks"]
    if not any(Fraction(task["weight"]) for task in tasks):
        tasks = [task | {"weight": "1", "direction": 0} for task in tasks]
    return ScoreMatrix(
        values,
        system_names=[system.key for system in systems],
        task_names=[task["key"] for task in tasks],
        directions=[task["direction"] for task in tasks],
        weights=[Fraction(task["weight"]) for task in tasks],
        groups=[task["group"] for task in tasks],
        group_weights={group["key"]: Fraction(group["weight"]) for group in _groups_with_tasks(configuration)},
        gamma=gamma_in_force(configuration),
        minimum=[task["minimum"] for task in tasks],
        maximum=[task["maximum"] for task in tasks],
        chance=[task["chance"] for task in tasks],
        precision=[task.get("precision") for task in tasks],
        clusters=[task.get("cluster") for task in tasks],
    )


def _groups_with_tasks(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    """The groups that weigh anything: all tasks of the others were archived, or none was ever in them."""
    named = {task["group"] for task in configuration["tasks"]}
    return [group for group in configuration["groups"] if group["key"] in named]


def input_hash(found: RevisionMatrix | None, configuration: dict[str, Any]) -> str:
    """SHA-256 of what the figures of a revision are computed from, and of nothing else.

    The hashed text is one line of canonical JSON a task, sorted by key (key, direction, weight as a fraction, group,
    minimum, maximum, chance; precision and cluster where they are stated), one a group that has tasks (key, weight),
    one with γ, stated or derived; then, a system in the order of keys, its key and the IEEE-754 little-endian bytes of
    its scores in the order of the task keys, with -0.0 as 0.0 and one NaN; where there are scores of single instances,
    a line for each system and task that has some, with their keys and the hashes of the instances' names and of the
    scores.
    Scores are hashed to 12 significant digits, as figures are computed from them. They are not rounded to a task's
    precision: that has its place in the line of the task.
    Database ids, display names, dates, the default rule and visibility do not enter.
    """
    tasks = configuration["tasks"]
    order = sorted(range(len(tasks)), key=lambda t: tasks[t]["key"])
    digest = hashlib.sha256(b"plurank inputs 1\n")
    for t in order:
        entry = {name: tasks[t][name] for name in ("key", "direction", "group", "minimum", "maximum", "chance")}
        entry |= {name: tasks[t][name] for name in ("precision", "cluster") if name in tasks[t]}
        digest.update(canonical_json(entry | {"weight": str(Fraction(tasks[t]["weight"]))}).encode() + b"\n")
    for group in sorted(_groups_with_tasks(configuration), key=lambda group: group["key"]):
        line = {"group": group["key"], "weight": str(Fraction(group["weight"]))}
        digest.update(canonical_json(line).encode() + b"\n")
    digest.update(json.dumps({"gamma": gamma_in_force(configuration)}).encode() + b"\n")
    if found is not None:
        values = found.written[:, order] + 0.0  # -0.0 + 0.0 is 0.0
        values[np.isnan(values)] = np.nan
        for i, system in enumerate(found.systems):
            digest.update(system.key.encode() + b"\0" + values[i].astype("<f8").tobytes() + b"\n")
        for text in _instance_lines(found, [tasks[t] for t in order]):
            digest.update(text.encode() + b"\n")
    return digest.hexdigest()


def hash_anew(revision: Revision) -> str:
    """The `input_hash` of a revision from what the database has now, in the form in which it was stored.

    Before engine 0.5.0 scores were not rounded, and were hashed with all their digits: a revision of that time keeps
    its hash, and is found unharmed where either form gives it.
    """
    content = revision.configuration.content
    digest = input_hash(revision_matrix(revision), content)
    if revision.input_hash in ("", digest):
        return digest
    earlier = input_hash(revision_matrix(revision, as_stored=True), content)
    return earlier if revision.input_hash == earlier else digest


def _instance_lines(found: RevisionMatrix, tasks: list[dict[str, Any]]) -> list[str]:
    cells = current_instances(found.revision)
    if not cells:
        return []
    sets = dict(
        InstanceSet.objects.filter(pk__among={row.instance_set_id for row in cells.values()}).values_list(
            "pk", "content_hash"
        )
    )
    return [
        canonical_json([system.key, task["key"], sets[row.instance_set_id], row.values_hash])
        for system in found.systems
        for task in tasks
        if (row := cells.get((system.id, task["id"])))
    ]
