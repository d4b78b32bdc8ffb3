"""Scores of single instances as they come in: each system's vector on each task, and the mean as its score."""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.conf import settings

from leaderboard.models import Benchmark
from leaderboard.submissions.csv_tables import keys_of_tasks, reading
from leaderboard.submissions.instances.vectors import entry_of, pack_names
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.files.instance_tables import CLUSTER_COLUMN, CLUSTER_LENGTH, read_instance_table
from ranking_engine.files.problems import SHOWN_PROBLEMS, InputError, Problems
from ranking_engine.importers.records import Instances
from ranking_engine.text.characters import lines_problem
from ranking_engine.text.names import clean_name, fold_name, shorten

NAME_LENGTH = 100  # of an instance


@dataclass(frozen=True, eq=False)
class TaskInstances:
    """One task's instances: their names, and `values[k, u]` of the k-th system that has some, NaN where none is.

    `clusters` has the cluster of each, empty for an instance by itself; it is empty where no clusters are stated.
    """

    names: Sequence[str]
    values: FloatArray
    clusters: Sequence[str] = ()


def with_instances(
    rows: Sequence[SubmittedRow], tasks: Mapping[str, TaskInstances], where: Sequence[int]
) -> list[SubmittedRow]:
    """The rows with their instance scores; where a row states no score of a task, it is their mean.

    Args:
        rows: one per system.
        tasks: by key.
        where: for each row of the tasks' values, the number of its system's row, from 0.
    """
    known: set[str] = set()
    order = {key: sorted(range(len(task.names)), key=task.names.__getitem__) for key, task in tasks.items()}
    names = {key: [task.names[u] for u in order[key]] for key, task in tasks.items()}
    clusters = {
        key: base64.b64encode(pack_names([task.clusters[u] for u in order[key]])).decode()
        for key, task in tasks.items()
        if any(task.clusters)
    }
    completed = list(rows)
    for k, i in enumerate(where):
        row = rows[i]
        entries = {
            key: entry_of(names[key], task.values[k, order[key]], known)
            for key, task in tasks.items()
            if not np.isnan(task.values[k]).all()
        }
        for key in entries.keys() & clusters.keys():
            entries[key]["clusters"] = clusters.pop(key)  # once an upload
        means = {key: entry["mean"] for key, entry in entries.items()}
        kept = {key: score for key, score in row.scores.items() if key not in means or score not in (None, "")}
        completed[i] = replace(row, scores=means | kept, instances=entries)
    return completed


def rows_of_instances(
    benchmark: Benchmark, data: bytes, *, system_column: str = "", table_rows: Sequence[SubmittedRow] = ()
) -> list[SubmittedRow]:
    """The rows of a file of instance scores, one per system.

    Args:
        benchmark: whose tasks they are.
        data: the file, in either form of `ranking_engine.files.instance_tables`.
        system_column: the column with the systems in the wide form; `system` where empty.
        table_rows: rows of a table of scores that came with it.

    Raises:
        InputError: the file cannot be read, or is too large; it names line and column where it can.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    with reading(data):
        # A task of this name was a column of such files before there were clusters.
        names_and_keys = benchmark.tasks.values_list("name", "key")
        is_task = any(CLUSTER_COLUMN in (fold_name(name), key) for name, key in names_and_keys)
        table = read_instance_table(
            text,
            name="file",
            system_column=clean_name(system_column) or "system",
            cluster_column="" if is_task else CLUSTER_COLUMN,
        )
    n_systems = len(table.scores.system_names)
    if n_systems > settings.UPLOAD_SYSTEMS:
        raise InputError.of(f"{n_systems:,} systems; at most {settings.UPLOAD_SYSTEMS:,} can be read at once", "file")
    problems = Problems()
    task_names = zip(table.scores.task_names, table.task_lines, strict=True)
    keys = keys_of_tasks(benchmark, task_names, problems, are_columns=False)
    names = []
    names_of: dict[tuple[str, ...], list[str]] = {}
    for given, lines in zip(table.scores.instance_names, table.instance_lines, strict=True):
        if given not in names_of:  # in the wide form all tasks have the same
            line_of: dict[str, int] = {}
            for name, line in zip(given, lines, strict=True):
                cleaned = clean_name(name)
                if problem := instance_name_problem(cleaned):
                    problems.add("file", problem, line=line)
                elif cleaned in line_of:
                    problems.add(
                        "file", f"the instance {shorten(cleaned)!r} is also in line {line_of[cleaned]}", line=line
                    )
                line_of[cleaned] = line
            names_of[given] = list(line_of)
        names.append(names_of[given])
    if too_many := too_many_cells(n_systems, names):
        problems.add("file", too_many)
    if problems:
        raise InputError(problems)
    rows = list(table_rows)
    place = {fold_name(row.system_name): i for i, row in enumerate(rows)}
    where = []
    for name, line in zip(table.scores.system_names, table.system_lines, strict=True):
        folded = fold_name(name)
        if folded not in place:
            place[folded] = len(rows)
            rows.append(SubmittedRow(name, {}, line=line))
        where.append(place[folded])
    if len(set(where)) < len(where):
        raise InputError.of("two systems in the file differ only in upper and lower case", "file")
    of_tasks = table.cluster_names or [()] * len(keys)
    blocks = zip(keys, names, table.scores.blocks, of_tasks, strict=True)
    tasks = {key: TaskInstances(of_task, block, clusters) for key, of_task, block, clusters in blocks}
    return with_instances(rows, tasks, where)


def with_imported_instances(
    rows: Sequence[SubmittedRow], of_tasks: Mapping[str, Mapping[int, Instances]]
) -> list[SubmittedRow]:
    """The rows with the scores of instances that result files have.

    Args:
        rows: one per system.
        of_tasks: by key of a task and number of a row, from 0.

    Raises:
        InputError: they are too many, or an instance has a name that cannot be kept.
    """
    where = sorted({place for of_task in of_tasks.values() for place in of_task})
    line_of = {place: k for k, place in enumerate(where)}
    names = {
        key: list(dict.fromkeys(name for one in of_task.values() for name in one.names))
        for key, of_task in of_tasks.items()
    }
    problems = Problems()
    if too_many := too_many_cells(len(where), list(names.values())):
        problems.add("", too_many)
    for of_names in names.values():
        cleaned = list(map(clean_name, of_names))
        problems_of_names = dict.fromkeys(filter(None, map(instance_name_problem, cleaned)))
        for problem in list(problems_of_names)[:SHOWN_PROBLEMS]:
            problems.add("", problem)
        if len(set(cleaned)) < len(cleaned):
            problems.add("", "two instances have the same name")
    if problems:
        raise InputError(problems)
    tasks = {}
    for key, of_task in of_tasks.items():
        place_of = {name: u for u, name in enumerate(names[key])}
        block = np.full((len(where), len(place_of)), np.nan)
        for place, one in of_task.items():
            block[line_of[place], [place_of[name] for name in one.names]] = one.values
        clusters: dict[str, str] = {}
        for one in of_task.values():
            for name, cluster in one.named_clusters:
                if clusters.setdefault(name, cluster) != cluster:
                    raise InputError.of(f"the instance {shorten(name)!r} is in two clusters")
        of_names = [clean_name(clusters.get(name, "")) for name in names[key]]
        tasks[key] = TaskInstances([clean_name(name) for name in names[key]], block, of_names)
    return with_instances(rows, tasks, where)


def too_many_cells(n_systems: int, names: Sequence[Sequence[str]]) -> str:
    """Why so many systems on these instances of each task are not read; empty where they are."""
    cells = n_systems * sum(map(len, names))
    if cells <= settings.INSTANCE_CELLS:
        return ""
    return (
        f"{n_systems} system{'' if n_systems == 1 else 's'} on these instances are {cells:,} scores; "
        f"at most {settings.INSTANCE_CELLS:,} can be read at once"
    )


def instance_name_problem(name: str) -> str:
    """Why an instance cannot be called so; empty where it can."""
    if not name:
        return "an instance has no name"
    if len(name) > NAME_LENGTH:
        return f"the instance {shorten(name)!r} has {len(name)} characters; the limit is {NAME_LENGTH}"
    problem = lines_problem(name)
    return f"the instance {shorten(name)!r} {problem}" if problem else ""


def cluster_problem(name: str) -> str:
    """Why a cluster of instances cannot be called so; empty where it can."""
    if len(name) > CLUSTER_LENGTH:
        return f"the cluster {shorten(name)!r} has {len(name)} characters; the limit is {CLUSTER_LENGTH}"
    problem = lines_problem(name)
    return f"the cluster {shorten(name)!r} {problem}" if problem else ""
