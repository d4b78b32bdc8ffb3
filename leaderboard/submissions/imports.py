"""Result files compared with a benchmark: which of their columns is which task, and which name is which system."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from leaderboard.access.audience import Audience
from leaderboard.common.form_fields import NOTE_LENGTH
from leaderboard.common.language.numbers import localise
from leaderboard.models import Benchmark, Draft, Task
from leaderboard.models.submissions import Source
from leaderboard.rankings.scores import current_values
from leaderboard.submissions.checks import stated_reason
from leaderboard.submissions.csv_tables import UnknownTasks
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.imported_metadata import imported_metadata
from leaderboard.submissions.importing.turns import turn_to_read_large_files
from leaderboard.submissions.instances.uploads import with_imported_instances
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers import SourceFile, read_results
from ranking_engine.importers.documents import unpacked_files
from ranking_engine.importers.records import Instances
from ranking_engine.importers.results_table import Import, table_of
from ranking_engine.importers.table import SourceTable, table_in
from ranking_engine.text.characters import writable
from ranking_engine.text.names import clean_name, fold_name

MAX_COLUMNS, MAX_SYSTEMS = 1_000, 3_000
NOTED_FILES, NOTED_WARNINGS = 10, 10
# What may be done to a column's scores, as a power of ten.
SCALES: Mapping[str, int] = {"as-is": 0, "times-100": 2, "by-100": -2}


@dataclass(frozen=True)
class Assignment:
    """What someone said of an import: by number of column its task and scale, by number of system its name."""

    tasks: Mapping[int, str] = field(default_factory=dict)
    scales: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)


def read_import(files: Iterable[tuple[str, bytes]], importer: str = "", columns: ColumnChoices | None = None) -> Import:
    """What the files say.

    Args:
        files: the name and the bytes of each.
        importer: the key of the format that they are to be read as; whichever they are of where empty.
        columns: what someone said of the columns of tables.

    Raises:
        UnclearColumnsError: they are tables, and it is not clear what their columns are.
        InputError: they cannot be read, or hold too much for one import.
    """
    chosen = [SourceFile(name, data) for name, data in files]
    with turn_to_read_large_files(chosen):
        results = table_of(read_results(chosen, importer, columns=columns))
    if len(results.columns) > MAX_COLUMNS or len(results.systems) > MAX_SYSTEMS:
        message = (
            f"{len(results.columns):,} columns and {len(results.systems):,} systems; at most {MAX_COLUMNS:,} and "
            f"{MAX_SYSTEMS:,} can be shown at once. Import them in parts"
        )
        raise InputError.of(message)
    return results


def read_tables(files: Iterable[tuple[str, bytes]], choices: ColumnChoices | None) -> SourceTable:
    """The first table of the files, with what its columns are taken for.

    Raises:
        InputError: they cannot be read, or what was said of the columns does not fit them.
    """
    chosen = [SourceFile(name, data) for name, data in files]
    with turn_to_read_large_files(chosen):
        first, *_ = unpacked_files(chosen)
        return table_in(first, choices)


def suggested(benchmark: Benchmark, results: Import, kept: Assignment | None = None) -> Assignment:
    """What can be said without doubt: a column is a task where it alone has that task's name or key (and its metric).

    A mean over a group, or what says how a run was made, is left to people. No scale is suggested; systems keep the
    names that they have in the files.

    Args:
        benchmark: whose tasks are meant.
        results: what was recognised.
        kept: what was said of these columns and systems the last time, which goes before; None for nothing.
    """
    tasks = _tasks(benchmark)
    of_task: dict[str, list[int]] = {}
    by_name = _by_name(tasks)
    for c, column in enumerate(results.columns):
        if column.aside:
            continue
        called = (
            column.task,
            column.name,
            f"{column.task} {column.metric}",
            f"{column.task} - {column.metric}",
            f"{column.task}:{column.subset}",  # as lighteval writes it
        )
        key = next((by_name[fold_name(name)] for name in called if fold_name(name) in by_name), None)
        if key is not None:
            of_task.setdefault(key, []).append(c)
    chosen = {}
    for key, candidates in of_task.items():
        metric = fold_name(tasks[key].metric)
        fitting = [c for c in candidates if metric and fold_name(results.columns[c].metric) == metric]
        only = candidates if len(candidates) == 1 else fitting
        if len(only) == 1:
            chosen[only[0]] = tasks[key].name
    n_called = Counter(name for name, _ in results.systems)
    names = {
        s: clean_name(f"{name} ({revision})" if revision and n_called[name] > 1 else name)
        for s, (name, revision) in enumerate(results.systems)
    }
    if kept is None:
        return Assignment(tasks=chosen, names=names)
    taken = set(kept.tasks.values())
    fresh = {c: name for c, name in chosen.items() if c not in kept.tasks and name not in taken}
    return Assignment(tasks=fresh | dict(kept.tasks), scales=kept.scales, names=names | dict(kept.names))


def import_draft(audience: Audience, results: Import, assignment: Assignment, *, note: str = "") -> Draft:
    """Check an import with what was said of it, and keep it as a draft until it is confirmed.

    Raises:
        InputError: something in it is in doubt or cannot be stored; the problems' places are `task-3`, `scale-3` and
            `system-1`, numbered from 0, or empty.
    """
    rows = rows_of_import(audience, results, assignment)
    names = [row.system_name for row in rows]
    try:
        draft = make_draft(audience, rows, source=Source.IMPORTER, note=note_of(results, note))
    except InputError as error:
        raise error.at(lambda problem: Problem(str(in_row_named(problem, names)))) from error
    for row in draft.rows:  # a row is no line of a file
        row["line"] = None
    draft.save(update_fields=["rows"])
    return draft


def in_row_named(problem: Problem, names: Sequence[str]) -> Problem:
    """A problem of a row with the name of the row in place of its number, from 1."""
    name = names[problem.line - 1] if problem.line else ""
    return Problem(problem.message, source=", ".join(part for part in (name, problem.place_name) if part))


def note_of(results: Import, note: str) -> str:
    """The note of an import: what its owner says, then where the scores are from and what has to be known of them."""
    files = [f"{name} (SHA-256 {raw_hash[:16]}…)" for name, raw_hash in results.sources[:NOTED_FILES]]
    more = len(results.sources) - len(files)
    origin = f"Imported from {results.format_name}: {', '.join(files)}{f' and {more} more' if more > 0 else ''}."
    said = note.strip()[: NOTE_LENGTH // 2]
    lines = [*([said] if said else []), origin, *results.warnings[:NOTED_WARNINGS]]
    return writable("\n".join(lines))[:NOTE_LENGTH]  # a name of a file may hold anything


def rows_of_import(audience: Audience, results: Import, assignment: Assignment) -> list[SubmittedRow]:
    """The rows of an upload, one a named system; `line` is the number of the row, from 1.

    Raises:
        InputError: as `import_draft` says.
    """
    problems = Problems()
    columns = _columns(audience, results, assignment, problems)
    scores: dict[str, dict[str, str | float | None]] = {}
    details: dict[str, dict[str, tuple[float | None, int | None]]] = {}
    names: dict[str, str] = {}
    about = imported_metadata(audience.benchmark, results)
    metadata: dict[str, dict[str, Any]] = {}
    organisations: dict[str, str] = {}
    for s, c, value, error, n in results.cells:
        name = clean_name(assignment.names.get(s, ""))
        if not name or c not in columns:
            continue
        key, power = columns[c]
        folded = fold_name(name)
        names.setdefault(folded, name)
        called = results.systems[s][0]
        metadata.setdefault(folded, {}).update(about.values.get(called, {}))
        organisations[folded] = organisations.get(folded) or about.organisations.get(called, "")
        of_system = scores.setdefault(folded, {})
        if key in of_system:
            problems.add(f"system-{s}", f"{name} has two scores on the task of {results.columns[c].name}")
            continue
        of_system[key] = stated_reason(results.missing.get((s, c))) if value is None else _scaled(value, power)
        spread = _scaled(error, power)
        if spread is not None and math.isinf(spread):
            problems.add(f"task-{c}", f"a standard error of {name} is too large")
        if spread is not None or n is not None:
            details.setdefault(folded, {})[key] = (spread, n)
    if not columns and not problems:
        problems.add("", "no column is assigned to a task; assign at least one")
    elif not scores and not problems:
        problems.add("", "no system has a name; enter which system it is")
    if problems:
        raise InputError(problems)
    rows = [
        SubmittedRow(
            names[folded],
            of_system,
            organisation=organisations[folded],
            line=line,
            details=details.get(folded, {}),
            metadata=metadata[folded],
        )
        for line, (folded, of_system) in enumerate(scores.items(), start=1)
    ]
    places = {folded: place for place, folded in enumerate(scores)}
    of_tasks: dict[str, dict[int, Instances]] = {}
    for (s, c), instances in results.instances.items():
        place = places.get(fold_name(clean_name(assignment.names.get(s, ""))))
        if place is not None and c in columns:
            key, power = columns[c]
            values = instances.values * 10.0**power
            of_tasks.setdefault(key, {})[place] = Instances(instances.names, values, instances.clusters)
    return with_imported_instances(rows, of_tasks)


def _columns(
    audience: Audience, results: Import, assignment: Assignment, problems: Problems
) -> dict[int, tuple[str, int]]:
    """Of every assigned column the key of its task, and the power of ten that its scores are multiplied with."""
    tasks = _tasks(audience.benchmark)
    by_name = _by_name(tasks)
    # The least and the greatest score of each task on the board, where `audience` may see them.
    board: dict[str, tuple[float, float]] = {}
    revision = audience.benchmark.revisions.order_by("-number").first()
    if revision is not None and not audience.is_restricted:
        keys = {task.pk: key for key, task in tasks.items()}
        for _, in_place, values in current_values(revision):
            for pk in keys.keys() & set(np.unique(in_place).tolist()):
                of_task = values[in_place == pk]
                low, high = board.get(keys[pk], (math.inf, -math.inf))
                board[keys[pk]] = (min(low, float(of_task.min())), max(high, float(of_task.max())))
    unknown = UnknownTasks(task.name for task in tasks.values())
    taken: dict[str, str] = {}
    columns = {}
    for c, given in sorted(assignment.tasks.items()):
        if not given.strip():
            continue
        key, place = by_name.get(fold_name(given)), f"task-{c}"
        column = results.columns[c]
        if key is None:
            problems.add(place, unknown.message(given.strip()))
            continue
        task = tasks[key]
        if key in taken:
            problems.add(place, f"{task.name} is {taken[key]} already; a task can have only one column")
            continue
        taken[key] = column.name
        higher_is_better = column.higher_is_better
        if higher_is_better is not None and task.direction != (1 if higher_is_better else -1):
            said = "higher" if higher_is_better else "lower"
            states = task.get_direction_display()
            problems.add(place, f"the file states that {said} is better, but {task.name} states: {states}")
        scale = assignment.scales.get(c, "")
        if scale not in SCALES and (question := _scale_question(results.values.get(c, []), task, board.get(key))):
            problems.add(f"scale-{c}", question)
        columns[c] = (key, SCALES.get(scale, 0))
    return columns


def _scale_question(values: Sequence[float], task: Task, board: tuple[float, float] | None) -> str:
    """What has to be asked where scores and a task seem to be on different scales, 0 to 1 and 0 to 100.

    Args:
        values: the scores.
        task: with its stated range.
        board: the least and the greatest score of the task on the board, where they may be looked at.
    """
    if not values:
        return ""
    maximum = task.maximum if task.maximum is not None else None if board is None else max(map(abs, board))
    greatest = max(map(abs, values))
    if maximum is None or not greatest or not ((greatest <= 1 and maximum > 1.5) or (greatest > 1.5 and maximum <= 1)):
        return ""
    return (
        f"these scores are from {localise(min(values), 'g')} to {localise(max(values), 'g')}, and those of {task.name} "
        f"go up to {localise(maximum, 'g')}: say whether they are on the same scale"
    )


def _scaled(value: float | None, power: int) -> float | None:
    """The value times a power of ten, as if its decimal point were moved: 0.07 becomes 7, not 7.000000000000001."""
    return value if value is None or not power else float(Decimal(repr(value)).scaleb(power))


def _tasks(benchmark: Benchmark) -> dict[str, Task]:
    return {task.key: task for task in Task.objects.filter(benchmark=benchmark, is_archived=False)}


def _by_name(tasks: Mapping[str, Task]) -> dict[str, str]:
    return {key: key for key in tasks} | {task.name_folded: key for key, task in tasks.items()}
