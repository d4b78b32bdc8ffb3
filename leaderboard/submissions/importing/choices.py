"""What someone said of files of one format, kept for their next import to the same benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from leaderboard.models import Benchmark, ImportChoices, Task, User
from leaderboard.submissions.imports import SCALES, Assignment, read_import, read_tables
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers import UnclearColumnsError
from ranking_engine.importers.results_table import Import
from ranking_engine.text.names import fold_name

MAX_KEPT = 3_000  # names of one kind; the ones that were said longest ago go
COLUMNS = "table"  # the format whose columns have roles


def kept_assignment(benchmark: Benchmark, user: User, results: Import) -> Assignment:
    """What they said the last time of the columns and systems that these files have."""
    kept = _kept(benchmark, user, results.format_key)
    names = dict(Task.objects.filter(benchmark=benchmark, is_archived=False).values_list("key", "name"))
    tasks, scales, systems = (kept.get(kind, {}) for kind in ("tasks", "scales", "systems"))
    called = {c: column.name for c, column in enumerate(results.columns)}
    assigned: dict[int, str] = {}
    for c, name in called.items():
        task = names.get(tasks.get(name, ""))
        if task is not None and task not in assigned.values():
            assigned[c] = task
    return Assignment(
        tasks=assigned,
        scales={c: scales[name] for c, name in called.items() if c in assigned and scales.get(name) in SCALES},
        names={s: systems[name] for s, (name, _) in enumerate(results.systems) if name and name in systems},
    )


def keep_assignment(benchmark: Benchmark, user: User, results: Import, assignment: Assignment) -> None:
    """Keep what was said of an import: of every column its task and scale, of systems the names that differ."""
    keys: dict[str, str] = {}
    for key, name, folded in Task.objects.filter(benchmark=benchmark).values_list("key", "name", "name_folded"):
        keys |= {key: key, folded: key, name: key}
    columns = [column.name for column in results.columns]
    said = {c: keys.get(fold_name(given), "") for c, given in assignment.tasks.items()}
    systems = {
        results.systems[s][0]: name for s, name in assignment.names.items() if name and name != results.systems[s][0]
    }
    _keep(
        benchmark,
        user,
        results.format_key,
        tasks={columns[c]: key for c, key in said.items()},
        scales={columns[c]: scale for c, scale in assignment.scales.items() if said.get(c)},
        systems={name: given for name, given in systems.items() if name},
    )


def kept_columns(benchmark: Benchmark, user: User, names: Sequence[str]) -> ColumnChoices | None:
    """What they said the last time of columns with these names; None where they said nothing of them."""
    roles = _kept(benchmark, user, COLUMNS).get("columns", {})
    # What a column is about may not be in this table.
    known = {name: roles[name] for name in names if name in roles and roles[name].partition(":")[2] in ("", *names)}
    return ColumnChoices(roles=known) if known else None


def keep_columns(benchmark: Benchmark, user: User, choices: ColumnChoices) -> None:
    """Keep what was said of a table's columns."""
    _keep(benchmark, user, COLUMNS, columns=choices.roles)


def read_with_kept(
    benchmark: Benchmark, user: User, files: Sequence[tuple[str, bytes]], importer: str, said: ColumnChoices | None
) -> tuple[Import, ColumnChoices | None]:
    """What files say, where what their sender said of such columns the last time fills in what is not said now.

    Args:
        benchmark: where to.
        user: the sender.
        files: the name and the bytes of each.
        importer: the key of the format; whichever they are of where empty.
        said: of the columns of tables.

    Returns:
        What was recognised, and what was said of the columns in all.

    Raises:
        UnclearColumnsError: they are tables, and it is not clear what their columns are.
        InputError: they cannot be read.
    """
    results = None
    try:
        results = read_import(files, importer, said)
        if results.format_key != COLUMNS:
            return results, said
        names = read_tables(files, said).columns.names
    except UnclearColumnsError as error:
        names = error.table.columns.names
    kept = kept_columns(benchmark, user, names)
    if kept is None:
        return results or read_import(files, importer, said), said
    now = said or ColumnChoices()
    choices = replace(now, roles={**kept.roles, **now.roles})
    return read_import(files, importer, choices), choices


def _kept(benchmark: Benchmark, user: User, format_key: str) -> dict[str, dict[str, str]]:
    row = ImportChoices.objects.filter(benchmark=benchmark, user=user, format_key=format_key).first()
    return row.choices if row is not None else {}


def _keep(benchmark: Benchmark, user: User, format_key: str, **said: Mapping[str, str]) -> None:
    if not format_key:
        return
    choices: dict[str, Any] = _kept(benchmark, user, format_key)
    for kind, of_kind in said.items():
        before = {name: value for name, value in choices.get(kind, {}).items() if name not in of_kind}
        choices[kind] = dict(list({**before, **of_kind}.items())[-MAX_KEPT:])
    ImportChoices.objects.update_or_create(
        benchmark=benchmark, user=user, format_key=format_key, defaults={"choices": choices}
    )
