"""Plain CSV in the wide form: the first column `system` (or `model`), every other column is a task.

A column `<task>_stderr` holds the standard errors of the column `<task>`, `<task>_n` its numbers of instances. Columns
whose names begin with `meta:` are metadata of the systems.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ranking_engine.files.metadata import COLUMN_PREFIX
from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.records import Collector, Recognised, Record, is_stated, showable

KEY, NAME = "csv-wide", "CSV with one row per system, also with columns _stderr and _n"
STDERR, COUNT = "_stderr", "_n"


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    if any(file.document is not None for file in files):
        return False
    headers = [rows[0][1] for file in files if (rows := file.rows())]
    return len(headers) == len(files) and all(
        len(header) > 1 and header[0].strip().casefold() in ("system", "model") for header in headers
    )


def read(files: list[SourceFile]) -> Recognised:
    """The scores of the files.

    Raises:
        InputError: something in them cannot be read.
    """
    collect = Collector()
    for file in files:
        collect.of(file.name, file.raw_hash)
        read_wide(collect, file, {})
    return collect.done(KEY, NAME)


@dataclass(frozen=True)
class _Column:
    """A task's place in a row, and those of its standard errors and counts."""

    name: str
    at: int
    error_at: int | None
    count_at: int | None


def read_wide(collect: Collector, file: SourceFile, directions: Mapping[str, bool]) -> None:
    """Read one file.

    Args:
        collect: where its records go.
        file: the file.
        directions: by task, where another file states them.
    """
    marked = [c for c, cell in enumerate(file.rows()[0][1]) if c and cell.strip().casefold().startswith(COLUMN_PREFIX)]
    scores = [c for c in range(1, len(file.rows()[0][1])) if c not in set(marked)]
    (_, header), *rows = file.rows_with_points(scores)
    names = [collect.label(cell, "task", f"line 1, column {c + 1}") for c, cell in enumerate(header)]
    for c, name in enumerate(names):
        if not name:
            collect.refuse("the column has no name", f"line 1, column {c + 1}")
        elif names.index(name) < c:
            collect.refuse(f"two columns are called {showable(name)!r}", "line 1")
    numbers = {name: c for c, name in enumerate(names)}
    columns = []
    labels = {c: names[c][len(COLUMN_PREFIX) :].strip() for c in marked}
    for c, name in enumerate(names):
        if not c or c in labels:
            continue
        of_error, of_count = name.removesuffix(STDERR), name.removesuffix(COUNT)
        if (of_error != name and numbers.get(of_error, 0) > 0) or (of_count != name and numbers.get(of_count, 0) > 0):
            kind = "standard errors" if of_error != name else "numbers of instances"
            collect.note(f"{showable(name)} is read as the {kind} of another column")
            continue
        columns.append(_Column(name, c, numbers.get(name + STDERR), numbers.get(name + COUNT)))
    for line, row in rows:
        if len(row) != len(names):
            collect.refuse(f"the row has {len(row)} cells, the header has {len(names)}", f"line {line}")
            continue
        system = collect.label(row[0], "system", f"line {line}")
        if not system:
            collect.refuse("the system has no name", f"line {line}")
        collect.describe(system, {label: row[c] for c, label in labels.items()})
        for column in columns:
            place = f"line {line}, column {column.name!r}"
            cell = row[column.at]
            collect.add(
                Record(
                    system=system,
                    task=column.name,
                    metric="",
                    value=collect.number(cell, place) if is_stated(cell) else None,
                    standard_error=None if column.error_at is None else collect.error_of(row[column.error_at], place),
                    n=None if column.count_at is None else collect.count_of(row[column.count_at], place),
                    higher_is_better=directions.get(column.name),
                    source=collect.source,
                    raw_hash=collect.raw_hash,
                )
            )
