"""Tables of every kind: CSV, workbooks, Parquet, JSON records and lines, Markdown, HTML, LaTeX.

`ranking_engine.files.roles` tells what the columns are, or someone who imports the table says it. Where it is not clear
and no one said it, nothing is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ranking_engine.core.decimals import exact_mean
from ranking_engine.files.cell_messages import number_message
from ranking_engine.files.grids import Row
from ranking_engine.files.metadata import COLUMN_PREFIX
from ranking_engine.files.number_forms import MIXED, SPREAD, ColumnNumbers, cell_number
from ranking_engine.files.problems import MAX_PLACES, InputError
from ranking_engine.files.roles import LABELS, ColumnChoices, TableColumns, columns_of, headed
from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.formats import Format
from ranking_engine.importers.records import Collector, Record, problem_in, showable

DIRECTIONS = {"true": True, "1": True, "higher": True, "false": False, "0": False, "lower": False, "": None}


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table with what its columns are taken for.

    Attributes:
        file: it is in.
        sheet: of a workbook.
        columns: what they are taken for, and what is not clear.
        rows: below the header.
    """

    file: SourceFile
    sheet: str
    columns: TableColumns
    rows: Sequence[Row]


class UnclearColumnsError(InputError):
    """A table whose columns are not clear; `table` is the first one, and `how` how to say what they are."""

    def __init__(self, table: SourceTable, how: str = "") -> None:
        self.table = table
        taken = ", ".join(
            f"{showable(name)!r}: {role}" for name, role in zip(table.columns.names, table.columns.roles, strict=True)
        )
        message = f"{'; '.join(table.columns.doubts)}. Say what the columns are; so far: {taken}{how}"
        super().__init__([problem_in(message[:2_000], table.file.name)])


def recognise(files: list[SourceFile]) -> bool:
    """Whether every file is of this format."""
    return all(map(_is_table, files))


def _is_table(file: SourceFile) -> bool:
    if file.kind == "json":
        # a list of objects, one a row
        return (
            bool(file.document)
            and isinstance(file.document, list)
            and all(
                isinstance(record, Mapping) and record and not any(isinstance(value, list) for value in record.values())
                for record in file.document
            )
        )
    if file.kind == "lines":
        return all(isinstance(record, Mapping) for _, record in file.lines)
    if file.kind not in ("table", "binary table"):
        return False
    rows = file.rows()
    return bool(rows) and len(rows[0][1]) > 1


def _read_files(collect: Collector, files: list[SourceFile], choices: ColumnChoices | None) -> None:
    for file in files:
        table = table_in(file, choices)
        if table.columns.doubts:
            raise UnclearColumnsError(table)
        collect.of(file.name, file.raw_hash)
        read_rows(collect, table)
        collect.shapes.add("one row per score" if table.columns.is_long else "one row per system")
    collect.closer_name = f"table with {' and '.join(sorted(collect.shapes))}"


def table_in(file: SourceFile, choices: ColumnChoices | None = None) -> SourceTable:
    """The table in a file, and what its columns are.

    Raises:
        InputError: it cannot be read, or what was said of its columns does not fit it.
    """
    said = choices or ColumnChoices()
    chosen = replace(file, sheet=said.sheet) if said.sheet != file.sheet and said.sheet else file
    rows = chosen.rows()
    if not rows or len(rows[0][1]) < 2:
        raise file.refused("expected a header with at least two columns, and a row for each system or score")
    names, rest = headed(rows)
    if problems := said.problems(names):
        raise InputError([problem_in(problem, file.name) for problem in problems])
    columns = said.over(columns_of(names, rest))
    if len(file.sheets) > 1 and not chosen.sheet:
        listed = ", ".join(repr(showable(name)) for name in list(file.sheets)[:10])
        columns = replace(columns, doubts=(*columns.doubts, f"which sheet is meant: there are {listed}"))
    return SourceTable(file, chosen.sheet or next(iter(file.sheets)), columns, rest)


def read_rows(collect: Collector, table: SourceTable, directions: Mapping[str, bool] | None = None) -> None:
    """Read the rows of a table.

    Args:
        collect: where its records go.
        table: with what its columns are.
        directions: by task, where another file states them.
    """
    reader = _Reader(collect, table, directions or {})
    for line, row in table.rows:
        if len(row) != len(table.columns.names):
            message = f"the row has {len(row)} cells, the header has {len(table.columns.names)}"
            collect.refuse(message, f"line {line}")
            continue
        reader.read(line, row)
    reader.finish()
    if table.file.remark:
        collect.note(table.file.remark)
    for name, role in zip(table.columns.names, table.columns.roles, strict=True):
        kind, _, of = role.partition(":")
        if kind == "ignored" and name:
            collect.note(f"left out: the column {showable(name)!r}")
        elif of and name not in (f"{of}_stderr", f"{of}_n", "stderr", "n"):
            what = "standard errors" if kind == "stderr" else "numbers of instances"
            collect.note(f"{showable(name)!r} is read as the {what} of {showable(of)!r}")


class _Reader:
    """Makes records of rows, and gathers what is said once for a column."""

    def __init__(self, collect: Collector, table: SourceTable, directions: Mapping[str, bool]) -> None:
        self.collect, self.columns, self.directions = collect, table.columns, directions
        self.labels = {
            role: places[0] for role in LABELS if role != "missing" and (places := table.columns.places(role))
        }
        self.metadata = {
            (name[len(COLUMN_PREFIX) :].strip() if name.casefold().startswith(COLUMN_PREFIX) else name): at
            for at, name in enumerate(table.columns.names)
            if table.columns.roles[at] == "metadata"
        }
        self.scores = [*table.columns.places("score"), *table.columns.places("of_system")]
        self.about = table.columns.about
        self.reasons = table.columns.places("missing")[:1]
        self.wrong: dict[int, list[tuple[int, str]]] = {}
        self.n_wrong: dict[int, int] = {}
        self.numbers = ColumnNumbers(lambda: table.columns.decimal)
        self.repeated: dict[tuple[str, ...], list[Record]] = {}
        self.names = [
            self.collect.label(name, "task", f"line 1, column {place + 1}") if place in self.scores else name
            for place, name in enumerate(table.columns.names)
        ]

    def read(self, line: int, row: Sequence[str]) -> None:
        """Read one row."""
        collect = self.collect
        texts = {role: collect.label(row[at], role, f"line {line}, column {role}") for role, at in self.labels.items()}
        for role in ("system", "task"):
            if role in texts and not texts[role]:
                collect.refuse(f"the {role} has no name", f"line {line}")
        direction = texts.get("higher_is_better", "").casefold()
        if direction not in DIRECTIONS:
            collect.refuse("write true or false, or leave it empty", f"line {line}, column higher_is_better")
        if self.metadata and texts.get("system"):
            collect.describe(texts["system"], {label: row[at] for label, at in self.metadata.items()})
        by_system = bool(self.columns.places("of_system"))
        for at in self.scores:
            value, spread = self.number(line, at, row[at])
            details = self.about.get(at, {})
            place = f"line {line}, column {self.names[at]!r}"
            error = self._plain(row[details["stderr"]]) if "stderr" in details else None
            count = self._plain(row[details["n"]]) if "n" in details else None
            if error is None and self.columns.spread == "stderr":
                error = spread
            # Several columns with scores beside one that names the tasks are several metrics.
            metric = "" if by_system or not self.columns.is_long or len(self.scores) == 1 else self.names[at]
            task = texts["task"] if self.columns.is_long else self.names[at]
            missing = ""
            if value is None and self.reasons:
                missing = collect.label(row[self.reasons[0]], "missing", f"line {line}, column missing")
            record = Record(
                system=self.names[at] if by_system else texts.get("system", ""),
                revision=texts.get("revision", ""),
                task=task,
                split=texts.get("split", ""),
                subset=texts.get("subset", ""),
                metric=texts.get("metric") or metric,
                value=value,
                standard_error=collect.error_of(error, place),
                n=collect.count_of(count, place),
                higher_is_better=DIRECTIONS.get(direction) if direction else self.directions.get(task),
                missing=missing,
                place=f"line {line}",
                source=collect.source,
                raw_hash=collect.raw_hash,
            )
            if "repeat" in texts:
                self.repeated.setdefault((record.system, record.revision, *record.column), []).append(record)
            else:
                collect.add(record)

    def number(self, line: int, at: int, text: str) -> tuple[float | None, float | None]:
        """The score in a cell, and the figure behind it."""
        cell = self.numbers.read(at, text)
        if cell is None:
            self.n_wrong[at] = self.n_wrong.get(at, 0) + 1
            if self.n_wrong[at] <= MAX_PLACES:
                self.wrong.setdefault(at, []).append((line, text.strip()))
            return None, None
        if cell.value is None:
            return None, None
        spread = cell.spread if cell.spread is None or math.isfinite(cell.spread) else None
        return self.collect.number(cell.value, f"line {line}, column {self.names[at]!r}"), spread

    def _plain(self, text: str) -> object:
        """An error or a count as a number; the text itself where it is none, of which the collector says so."""
        cell = cell_number(text, self.columns.decimal)
        return text if cell is None else cell.value

    def finish(self) -> None:
        """Say what is wrong with whole columns, and take the means over folds."""
        for at, cells in self.wrong.items():
            column, more = f"column {self.names[at]!r}", self.n_wrong[at] - len(cells)
            for line, text in cells:
                self.collect.refuse(number_message(text), f"line {line}, {column}")
            if more:
                self.collect.refuse(f"{more:,} more cells are not numbers", column)
        for at in self.numbers.mixed_columns:
            self.collect.refuse(MIXED, f"column {self.names[at]!r}")
        for remark in self.numbers.remarks:
            if remark != SPREAD or self.columns.spread != "stderr":
                self.collect.note(remark)
        for records in self.repeated.values():
            values = [record.value for record in records if record.value is not None]
            mean = exact_mean(values, [1] * len(values)) if len(values) == len(records) else None
            self.collect.add(
                replace(records[0], value=self.collect.number(mean, "") if mean is not None else None,
                        standard_error=None, n=None)
            )  # fmt: skip
        if self.repeated:
            self.collect.note(
                "scores are means over folds or seeds, without standard errors; they are missing where one is missing"
            )


FORMAT = Format(
    "table",
    "Tables: CSV, Excel, Parquet, JSON records, JSON lines, Markdown, HTML, LaTeX",
    recognise,
    _read_files,
    takes_columns=True,
    old_keys=("csv-wide", "csv-long"),  # as its two shapes were called
)
