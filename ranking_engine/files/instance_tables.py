"""Reading scores of single instances from CSV.

Two forms, recognised by the header:

- wide: a column with the systems, one with the instances (`instance` or, as in Colombo et al. 2022, `Utterance`), and a
  column for each task;
- long: the columns `system`, `task`, `instance` and `score`, in any order, one row per score.

Either may have a column `cluster`: instances with the same text there, such as questions about one passage, are not
independent. It is the same in all rows of an instance; an instance whose cell is empty is a cluster by itself.

An empty cell is a missing score. Tables are read a part at a time, and only numbers are kept. A part of a wide table
that is plain is split at its commas as a whole (`plain_cells`); from the first part that is not, such as one with
quotes or with an error in it, rows are read one after the other.
"""

from __future__ import annotations

import csv
import itertools
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.instances import InstanceScores
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.plain_cells import numbers, plain_columns
from ranking_engine.files.tables import TableError, TableIssue
from ranking_engine.text.names import clean_name, name_problem, shorten

MAX_TASKS = 2_000  # of one table; each has a table of its own
INSTANCE_COLUMNS = ("instance", "utterance")
LONG_COLUMNS = ("system", "task", "instance", "score")
CLUSTER_COLUMN = "cluster"
CLUSTER_LENGTH = 100  # of a cluster's name

_LEAST_SHARED = 1 / 20  # of the cells of systems x instances that must hold a score, in large tables
_SMALL_CELLS = 5_000_000
_PART_LINES = 500  # of a table that are read at a time
_CODE_BITS = 32  # of a key that number the instance; the others number the system


def read_instances(
    source: str | Path | TextIO,
    *,
    name: str | None = None,
    system_column: str = "system",
    instance_column: str | None = None,
    cluster_column: str = CLUSTER_COLUMN,
    lower: Sequence[str] = (),
) -> InstanceScores:
    """Read scores of instances, in either form.

    Args:
        source: a path, or an open text (UTF-8, opened with newline="").
        name: what errors call the file; default its path, or "table".
        system_column: the column that names the systems. In Colombo's published files it is `Utterance`: the labels of
            the first two columns are swapped there.
        instance_column: the column that names the instances; default `instance` or `Utterance`, or, where the systems
            are in `Utterance`, `System`.
        cluster_column: the column that names the clusters of instances, where there is one; empty for none.
        lower: the tasks on which a lower score is better.

    Raises:
        TableError: with file, line and column.
        OSError: the file cannot be opened.
    """
    if not isinstance(source, (str, Path)):
        columns = (system_column, instance_column, cluster_column)
        return _InstanceReader(source, name or "table", *columns).read(lower).scores
    with Path(source).open(encoding="utf-8-sig", newline="") as text:
        columns = (system_column, instance_column, cluster_column)
        return _InstanceReader(text, name or str(source), *columns).read(lower).scores


@dataclass(frozen=True, eq=False)
class InstanceTable:
    """Scores of instances as they are in a file.

    Attributes:
        scores: of the instances, with their names.
        system_lines: the line in which each system comes first.
        task_lines: the same of each task; in the wide form the line of the header.
        instance_lines: the same of each instance of each task.
        cluster_names: of each task, the cluster of each instance, empty for one by itself; empty without such a column.
    """

    scores: InstanceScores
    system_lines: tuple[int, ...]
    task_lines: tuple[int, ...]
    instance_lines: tuple[tuple[int, ...], ...]
    cluster_names: tuple[tuple[str, ...], ...] = ()


def read_instance_table(
    text: TextIO,
    *,
    name: str | None = None,
    system_column: str = "system",
    instance_column: str | None = None,
    cluster_column: str = CLUSTER_COLUMN,
    lower: Sequence[str] = (),
) -> InstanceTable:
    """Read scores of instances with the names of these, and the lines where all names come first.

    Args:
        text: UTF-8, opened with newline="".
        name, system_column, instance_column, cluster_column, lower: as for `read_instances`.

    Raises:
        TableError: with file, line and column.
    """
    return _InstanceReader(text, name or "table", system_column, instance_column, cluster_column).read(lower)


def cluster_codes(*names: Sequence[str]) -> tuple[NDArray[np.int64], ...]:
    """Return the clusters of instances as numbers from 0, in the order in which they come; an empty name is one alone.

    Args:
        names: for each task the cluster of each instance; the same name on two tasks is the same cluster.
    """
    number: dict[object, int] = {}
    labels = ([name or (t, u) for u, name in enumerate(of_task)] for t, of_task in enumerate(names))
    return tuple(np.array([number.setdefault(one, len(number)) for one in of_task], np.int64) for of_task in labels)


class _Codes:
    """Numbers for names, in the order in which they come, and the lines where they come first."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.lines = array("q")

    def of(self, name: str, line: int) -> int:
        code = self.number.setdefault(name, len(self.number))
        if code == len(self.lines):
            self.lines.append(line)
        return code

    def of_all(self, names: Sequence[str], line: int) -> list[int]:
        """Return the numbers of the names of consecutive lines, the first of which is `line`."""
        number, lines = self.number, self.lines
        codes = []
        for name in names:
            code = number.get(name)
            if code is None:
                code = number[name] = len(number)
                lines.append(line)
            codes.append(code)
            line += 1
        return codes

    def __len__(self) -> int:
        return len(self.number)


class _InstanceReader:
    """Reads one table of instances."""

    def __init__(
        self, text: TextIO, name: str, system_column: str, instance_column: str | None, cluster_column: str
    ) -> None:
        self.cluster_column, self.cluster = cluster_column, -1  # its place, -1 where there is none
        self.clusters: list[dict[int, str]] = []  # of each task, the cluster of each instance
        self.text, self.rows, self.lines_before = text, csv.reader(text, strict=True), 0
        self.name, self.system_column, self.instance_column = name, system_column, instance_column
        self.header: list[str] = []
        self.systems, self.checked = _Codes(), set[str]()

    @property
    def line(self) -> int:
        """The number of the line that was read last."""
        return self.lines_before + self.rows.line_num

    def read(self, lower: Sequence[str]) -> InstanceTable:
        try:
            first = next(iter(self.text), "")
            if first.count(",") > 10 * MAX_TASKS:  # some may be in names
                self.fail(1, None, f"more than {MAX_TASKS:,} tasks; bring them in parts")
            self.rows = csv.reader(itertools.chain([first] if first else [], self.text), strict=True)
            self.header = [clean_name(cell) for cell in next(self.rows, [])]
            if len(self.header) > MAX_TASKS + 2:
                self.fail(1, None, f"more than {MAX_TASKS:,} tasks; bring them in parts")
            if not self.header:
                self.fail(None, None, "the table is empty")
            columns = sorted(cell.casefold() for cell in self.header)
            if self.cluster_column and columns.count(folded := self.cluster_column.casefold()) == 1:
                self.cluster = [cell.casefold() for cell in self.header].index(folded)
                columns.remove(folded)
            is_long = columns == sorted(LONG_COLUMNS)
            tasks, blocks, instances = self._long() if is_long else self._wide()
        except UnicodeDecodeError as error:
            raise TableError([TableIssue(None, None, None, "not UTF-8 text")], self.name) from error
        except csv.Error as error:
            raise TableError([TableIssue(self.line, None, None, f"not CSV: {error}")], self.name) from error
        if not self.systems:
            self.fail(None, None, "the table has no rows below its header")
        for task in lower:
            if task not in tasks.number:
                self.fail(None, None, f"no task is called {shorten(task)!r}")
        directions = tuple(-1 if task in lower else 1 for task in tasks.number)
        clusters = tuple(
            tuple(of_task[u] for u in range(len(known)))
            for of_task, known in zip(self.clusters * (1 if is_long else len(tasks)), instances, strict=False)
        )
        codes = cluster_codes(*clusters)
        names = tuple(tuple(known.number) for known in instances)
        return InstanceTable(
            InstanceScores(tuple(self.systems.number), tuple(tasks.number), tuple(blocks), directions, codes, names),
            tuple(self.systems.lines),
            tuple(tasks.lines),
            tuple(tuple(known.lines) for known in instances),
            clusters,
        )

    def _wide(self) -> tuple[_Codes, list[FloatArray], list[_Codes]]:
        place = {cell.casefold(): k for k, cell in reversed(list(enumerate(self.header)))}
        system = place.get(self.system_column.casefold())
        if system is None:
            self.fail(1, None, f"no column is called {self.system_column!r} (for the systems)")
        column = self.instance_column
        wanted = (*INSTANCE_COLUMNS, "system") if column is None else (column.casefold(),)
        known = (system, self.cluster)
        instance = next((place[cell] for cell in wanted if cell in place and place[cell] not in known), None)
        if instance is None:
            expected = column or " or ".join(INSTANCE_COLUMNS)
            self.fail(1, None, f"no column is called {expected!r} (for the instances)")
        columns = [k for k in range(len(self.header)) if k not in (system, instance, self.cluster)]
        self.clusters = [{}] if self.cluster >= 0 else []
        tasks = [self.header[k] for k in columns]
        if not tasks:
            self.fail(1, None, "no column holds the scores of a task")
        for k in columns:
            self._check_name(self.header[k], "task", k)
        if len(set(tasks)) < len(tasks):
            self.fail(1, None, "two columns have the same name")
        codes_of_tasks = _Codes()
        for task in tasks:
            codes_of_tasks.of(task, 1)
        instances, seen = _Codes(), set[int]()
        parts = [] if self.clusters else list(self._plain_parts(system, instance, columns, instances, seen))
        keys, values = array("q"), array("d")
        for row in self._body():
            u = instances.of(row[instance], self.line)
            if self.clusters:
                self._note_cluster(self.clusters[0], u, row, instance)
            key = self._system(row[system], system) << _CODE_BITS | u
            if key in seen:
                self.fail(self.line, None, f"system {row[system]!r} has instance {row[instance]!r} twice")
            seen.add(key)
            keys.append(key)
            values.extend([self._number(row[k], k) for k in columns])
        parts.append((np.array(keys), np.array(values).reshape(-1, len(columns))))
        codes, scores = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        n, U = len(self.systems), len(instances)
        self._check_shared(n * U, len(codes))
        rows, places = codes >> _CODE_BITS, codes & ((1 << _CODE_BITS) - 1)
        blocks = [_filled(n, U, rows, places, column) for column in scores.T]
        return codes_of_tasks, blocks, [instances] * len(blocks)

    def _plain_parts(
        self, system: int, instance: int, columns: list[int], instances: _Codes, seen: set[int]
    ) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        """Yield the keys and the scores of the rows of each part of a wide table, as long as the parts are plain.

        The part that is not is left to `_body`, which says what is wrong with it, if anything is.
        """
        self.lines_before, self.rows = self.rows.line_num, csv.reader(())
        while part := list(itertools.islice(self.text, _PART_LINES)):
            cells = plain_columns(part, len(self.header))
            if cells is None:
                break
            scores = [column for k in columns if (column := numbers(cells[k])) is not None]
            known = {raw: clean_name(raw) for raw in dict.fromkeys(cells[system])}
            if len(scores) < len(columns) or any(name_problem(name, allow_formula=True) for name in known.values()):
                break
            line = self.lines_before + 1
            systems = self.systems.of_all([known[raw] for raw in cells[system]], line)
            keys = [i << _CODE_BITS | u for i, u in zip(systems, instances.of_all(cells[instance], line), strict=True)]
            if len(set(keys)) < len(keys) or not seen.isdisjoint(keys):
                break
            seen.update(keys)
            self.lines_before += len(part)
            yield np.array(keys, dtype=np.int64), np.column_stack(scores)
        self.rows = csv.reader(itertools.chain(part, self.text), strict=True)

    def _long(self) -> tuple[_Codes, list[FloatArray], list[_Codes]]:
        place = {cell.casefold(): k for k, cell in enumerate(self.header)}
        system, task, instance, score = (place[name] for name in LONG_COLUMNS)
        tasks, instances = _Codes(), list[_Codes]()
        keys, values, seen = array("q"), array("d"), set[tuple[int, int, int]]()
        for row in self._body():
            line = self.line
            t = tasks.of(row[task], line)
            if t == len(instances):
                if t >= MAX_TASKS:
                    self.fail(line, None, f"more than {MAX_TASKS:,} tasks; bring them in parts")
                self._check_name(row[task], "task", task)
                instances.append(_Codes())
                if self.cluster >= 0:
                    self.clusters.append({})
            u = instances[t].of(row[instance], line)
            if self.clusters:
                self._note_cluster(self.clusters[t], u, row, instance)
            key = (t, self._system(row[system], system), u)
            if key in seen:
                twice = f"system {row[system]!r} has instance {row[instance]!r} of task {row[task]!r} twice"
                self.fail(self.line, None, twice)
            seen.add(key)
            keys.extend(key)
            values.append(self._number(row[score], score))
        codes = np.frombuffer(keys, dtype=np.int64).reshape(-1, 3)
        scores = np.frombuffer(values, dtype=np.float64)
        n = len(self.systems)
        self._check_shared(n * sum(map(len, instances)), len(codes))
        blocks = []
        order = np.argsort(codes[:, 0], kind="stable")
        ends = np.cumsum(np.bincount(codes[:, 0], minlength=len(instances)))[:-1]
        for known, rows in zip(instances, np.split(order, ends), strict=True):
            blocks.append(_filled(n, len(known), codes[rows, 1], codes[rows, 2], scores[rows]))
        return tasks, blocks, instances

    def _note_cluster(self, clusters: dict[int, str], u: int, row: list[str], instance: int) -> None:
        """Keep the cluster of instance `u`, which all rows of the instance say alike."""
        name = clean_name(row[self.cluster])
        if u not in clusters and name and (problem := name_problem(name, allow_formula=True)):
            self.fail(self.line, self.cluster, f"the cluster {shorten(name)!r} {problem}")
        if len(name) > CLUSTER_LENGTH:
            message = f"the cluster {shorten(name)!r} has {len(name)} characters; the limit is {CLUSTER_LENGTH}"
            self.fail(self.line, self.cluster, message)
        if clusters.setdefault(u, name) != name:
            message = f"instance {shorten(row[instance])!r} is in two clusters, {shorten(clusters[u])!r} before"
            self.fail(self.line, self.cluster, message)

    def _body(self) -> Iterator[list[str]]:
        """Yield the rows that are not blank; all have as many cells as the header."""
        width = len(self.header)
        for row in self.rows:
            if len(row) != width:
                if not any(row):
                    continue
                self.fail(self.line, None, f"{len(row)} cells; the header has {width}")
            yield row

    def _system(self, cell: str, column: int) -> int:
        name = clean_name(cell)
        if name not in self.systems.number:
            self._check_name(name, "system", column)
        return self.systems.of(name, self.line)

    def _check_name(self, name: str, kind: str, column: int) -> None:
        if problem := name_problem(name, allow_formula=True):
            self.fail(self.line, column, f"the {kind} name {shorten(name)!r} {problem}")

    def _number(self, cell: str, column: int) -> float:
        if not cell or cell.isspace():
            return math.nan
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in cell or not cell.isascii():
            self.fail(self.line, column, f"{shorten(cell)!r} is not a number")
        return value

    def _check_shared(self, n_cells: int, n_rows: int) -> None:
        """Refuse tables whose systems have hardly an instance in common: they would fill the memory with gaps."""
        if n_cells > _SMALL_CELLS and n_rows < n_cells * _LEAST_SHARED:
            share = f"{100 * n_rows / n_cells:.2g} %"
            self.fail(None, None, f"systems share hardly any instances ({share} of all pairs of them have scores)")

    def fail(self, line: int | None, column: int | None, message: str) -> NoReturn:
        name = self.header[column] if column is not None else None
        raise TableError([TableIssue(line, None if column is None else column + 1, name, message)], self.name)


def _filled(n: int, U: int, systems: NDArray[np.int64], instances: NDArray[np.int64], values: FloatArray) -> FloatArray:
    block = np.full((n, U), np.nan)
    block[systems, instances] = values
    return block
