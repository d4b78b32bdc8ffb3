"""Scores of single instances that a program sends with its rows: by task, then by instance."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from leaderboard.submissions.checks import LARGEST_SCORE
from leaderboard.submissions.csv_tables import UnknownTasks
from leaderboard.submissions.instances.uploads import (
    TaskInstances,
    cluster_problem,
    instance_name_problem,
    too_many_cells,
    with_instances,
)
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.text.names import clean_name, fold_name, shorten


class InstanceRows:
    """Reads the instances of rows.

    Args:
        key_of: a task's key by its folded name and by its key.
        problem: notes what is wrong: the number of the row from 1, the place in it, the message.
    """

    def __init__(self, key_of: Mapping[str, str], problem: Callable[[int, str, str], None]) -> None:
        self._key_of, self._problem = key_of, problem
        self._unknown = UnknownTasks(sorted(set(key_of.values())))
        self._names: dict[str, dict[str, int]] = {}  # task key -> number of each instance
        self._cells: list[tuple[str, int, int, float]] = []
        self._clusters: dict[str, dict[str, str]] = {}  # task key -> cluster of each instance that has one

    def added(self, raw: Sequence[SubmittedRow], rows: Sequence[SubmittedRow]) -> list[SubmittedRow]:
        """The raw rows with the instances of the rows; a row without any stays as it is."""
        where = [i for i, row in enumerate(rows) if row.instance_scores or row.instance_clusters]
        for k, i in enumerate(where):
            seen: set[str] = set()
            for label, scores in rows[i].instance_scores.items():
                key = self._key_of.get(fold_name(label)) or self._key_of.get(clean_name(label))
                place = f"instances.{label}"
                if key is None:
                    self._problem(i + 1, place, self._unknown.message(label))
                elif key in seen:
                    self._problem(i + 1, place, f"{shorten(label)!r} is a task that appears twice here")
                else:
                    seen.add(key)
                    self._read_task(i + 1, k, place, key, scores)
            for label, clusters in rows[i].instance_clusters.items():
                key = self._key_of.get(fold_name(label)) or self._key_of.get(clean_name(label))
                if key in seen:
                    self.read_clusters(i + 1, label, key, clusters)
                else:
                    self._problem(i + 1, f"clusters.{label}", "this system has no scores on instances of this task")
        if too_many := too_many_cells(len(where), [list(names) for names in self._names.values()]):
            self._problem(where[0] + 1, "instances", too_many)
            return list(raw)
        blocks = {key: np.full((len(where), len(names)), np.nan) for key, names in self._names.items()}
        for key, k, u, score in self._cells:
            blocks[key][k, u] = score
        tasks = {
            key: TaskInstances(
                list(names),
                blocks[key],
                [self._clusters[key].get(name, "") for name in names] if key in self._clusters else (),
            )
            for key, names in self._names.items()
        }
        return with_instances(raw, tasks, where)

    def _read_task(self, number: int, k: int, place: str, key: str, scores: Mapping[str, float | None]) -> None:
        names = self._names.setdefault(key, {})
        here: set[str] = set()
        for given, score in scores.items():
            name = clean_name(given)
            if problem := instance_name_problem(name):
                self._problem(number, place, problem)
                continue
            if name in here:
                self._problem(number, place, f"the instance {shorten(name)!r} appears here twice")
            here.add(name)
            u = names.setdefault(name, len(names))
            try:
                value = np.nan if score is None else float(score)
            except OverflowError:  # a whole number beyond the greatest float
                value = np.inf
            if abs(value) > LARGEST_SCORE:
                problem = "the number is too large to be a score; scores are between -1e100 and 1e100"
                self._problem(number, f"{place}.{given}", problem)
            self._cells.append((key, k, u, value))

    def read_clusters(self, number: int, label: str, key: str, clusters: Mapping[str, str]) -> None:
        """Keep the clusters that a row states of the instances of a task; its scores on these were read before."""
        of_task = self._clusters.setdefault(key, {}) if clusters else {}
        for given, cluster in clusters.items():
            place, name, cleaned = f"clusters.{label}.{given}", clean_name(given), clean_name(cluster)
            if name not in self._names[key]:
                self._problem(number, place, f"{shorten(name)!r} is not an instance with a score here")
            elif problem := cleaned and cluster_problem(cleaned):
                self._problem(number, place, problem)
            elif of_task.setdefault(name, cleaned) != cleaned:
                self._problem(number, place, f"the instance {shorten(name)!r} is in two clusters")
