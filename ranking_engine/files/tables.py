"""scores.csv: reading a table of scores, and writing one.

The first row names the columns: `system` (or `model`), then one column a task. Each further row is a system; an empty
cell is a missing score. Numbers are plain decimals such as 91.2, -0.5 or 1e-3, read as the nearest float64. Semicolons
or tabs may be in place of the commas, and then decimal commas in place of the points, as spreadsheets write them.
A column whose name begins with `meta:` is no task: it says something else of the systems, and its cells are texts.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol

import numpy as np

from ranking_engine.core.decimals import NUMBER, rounded, rounding_note
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.files.cell_messages import number_message
from ranking_engine.files.csv_rows import csv_lines
from ranking_engine.files.dialect import PLAIN, Dialect, delimiter_of
from ranking_engine.files.metadata import COLUMN_PREFIX, MAX_FIELDS
from ranking_engine.files.number_forms import MIXED, ColumnNumbers, Forms, UnclearMarkError, decimal_mark, mark_of
from ranking_engine.files.table_issues import TableError, TableIssue
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.text.names import clean_name, fold_name, name_problem, shorten

__all__ = ["MAX_CELLS", "MAX_ISSUES", "SYSTEM_COLUMN", "SYSTEM_COLUMNS", "Table", "TableError", "TableIssue",
           "read_table", "table_lines", "write_table"]  # fmt: skip

MAX_ISSUES = 100
MAX_COLUMNS = 20_000  # of one row, whatever the caller allows; a row that runs on is refused before it is split
MAX_CELLS = 2_000_000
MAX_CELL = 4_000  # characters
MAX_PLACES = 3  # of a column's cells that are no numbers: more are counted, and told once
MAX_WRONG_CELLS = 10_000  # that are counted; then the rest of the table is not read
SYSTEM_COLUMN = "system"
SYSTEM_COLUMNS = frozenset({SYSTEM_COLUMN, "model", ""})  # as other people's files have it; data frames leave it empty


@dataclass(frozen=True, eq=False)
class Table:
    """A table of scores as it is in a file.

    Attributes:
        system_names: one a row, clean and different after case folding.
        task_names: one a column, likewise.
        values: float64 of shape (n_systems, n_tasks), NaN where the cell is empty.
        line_numbers: for each system the line of the file on which its row begins.
        missing_words: the word that is in a cell without a score, by (system, task) from 0, where it is no empty
            one.
        header_line: the line on which the header ends.
        source: what errors call the file.
        dialect: how the file is written.
        rounding: what is to be told of scores that were rounded, or empty; `values` are to 12 significant digits.
        metadata: by the name of a `meta:` column, without that prefix, its cells: a text a system.
        forms: what is to be told of its encoding and of the forms of its numbers.
        cells: in which forms its cells are.
    """

    system_names: tuple[str, ...]
    task_names: tuple[str, ...]
    values: FloatArray
    line_numbers: tuple[int, ...]
    header_line: int = 1
    source: str = "table"
    missing_words: Mapping[tuple[int, int], str] = field(default_factory=dict)
    dialect: Dialect = PLAIN
    rounding: str = ""
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forms: tuple[str, ...] = ()
    cells: Forms = field(default_factory=Forms)

    @property
    def remarks(self) -> list[str]:
        """All that is to be told of how the table was read."""
        return [text for text in (self.rounding, *self.forms) if text]


def read_table(
    source: str | Path | bytes | BinaryIO,
    *,
    name: str | None = None,
    allow_formula_names: bool = False,
    max_systems: int | None = None,
    max_tasks: int | None = None,
    max_cells: int = MAX_CELLS,
    missing_words: Callable[[str], str | None] | None = None,
) -> Table:
    """Read a table of scores.

    Args:
        source: a path, the bytes of a file, or a binary stream.
        name: what errors call the file; default its path, or "table".
        allow_formula_names: accept names that a spreadsheet would take for a formula.
        max_systems, max_tasks, max_cells: refuse larger tables; the cells are systems x tasks.
        missing_words: says what a text means that is in place of a score; None for one that means nothing.

    Raises:
        TableError: with up to 100 issues, each with its line and column.
        OSError: the file cannot be opened.
    """
    if isinstance(source, (str, Path)):
        name, source = name or str(source), Path(source).read_bytes()
    data = source if isinstance(source, bytes) else source.read()
    bounds = (max_systems, max_tasks, max_cells)
    return _TableReader(name or "table", allow_formula_names, bounds, missing_words).read(data)


class _CsvReader(Protocol):
    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


class _TableReader:
    """Reads one table and collects what is wrong with it."""

    def __init__(
        self,
        name: str,
        allow_formula: bool,
        bounds: tuple[int | None, int | None, int],
        meaning: Callable[[str], str | None] | None,
    ) -> None:
        self.name = name
        self.allow_formula = allow_formula
        self.max_systems, self.max_tasks, self.max_cells = bounds
        self.issues: list[TableIssue] = []
        self.wrong_cells: defaultdict[int, list[TableIssue]] = defaultdict(list)  # by column: those that are no numbers
        self.n_wrong_cells = 0
        self.meaning = meaning or (lambda _: None)
        self.missing_words: dict[tuple[int, int], str] = {}
        self.columns: list[str] = []
        self.metadata: dict[int, list[str]] = {}  # by the place of a column in a row, from 0, its cells
        self.task_places: list[int] = []  # of the columns that are tasks
        self.line = self.header_line = 0
        self.n_marks = 0  # separators read since the last row
        self.dialect = PLAIN
        self.text = ""
        self.remark = ""
        self.numbers = ColumnNumbers(self._mark)

    def read(self, data: bytes) -> Table:
        try:
            text, self.remark = decoded(data)
        except NotTextError as error:
            self._stop(str(error), line=error.line)
        if not text.strip():
            self._stop("the file is empty; expected a header `system,<task>,...` and a row for each system")
        self.dialect = Dialect(delimiter_of(text))
        rows = self._rows(text)
        try:
            self._read_header(rows)
            self.text = text
            if self.dialect.delimiter != ",":
                self.dialect = Dialect(self.dialect.delimiter, self._decimal_mark(text))
            return self._read_rows(rows)
        except csv.Error as error:
            message = f"not readable as CSV: {error}"
            if "field larger" in message:
                message = "a cell is too long; perhaps a quotation mark is not closed"
            elif "unexpected end of data" in message:
                message = "the file ends inside quotation marks; perhaps one is not closed"
            self._stop(message, line=self.line + 1)

    def _rows(self, text: str) -> _CsvReader:
        return csv.reader(self._lines(text), strict=True, delimiter=self.dialect.delimiter)

    def _lines(self, text: str) -> Iterator[str]:
        """The lines of the file, as long as no row has far too many cells: splitting one makes a text of each."""
        self.n_marks = 0
        for number, line in enumerate(io.StringIO(text, newline=""), start=1):
            self.n_marks += line.count(self.dialect.delimiter)
            if self.n_marks > MAX_COLUMNS:
                self._stop(f"more than {MAX_COLUMNS:,} columns; perhaps the lines do not end", line=number)
            yield line

    def _decimal_mark(self, text: str) -> str:
        """The mark of the whole table, for which it is read once before."""

        def scores() -> Iterator[tuple[int, int, str]]:
            rows = self._rows(text)
            next((row for row in rows if row), None)
            for row in rows:
                self.n_marks = 0
                for place in self.task_places:
                    if place < len(row):
                        yield rows.line_num, place + 1, row[place]

        try:
            return decimal_mark(cell for _, _, cell in scores())
        except UnclearMarkError as unclear:
            line, column, _ = next(itertools.islice(scores(), unclear.place, None))
            self._issue(unclear.message, column, line)
            raise TableError(self._all_issues(), self.name) from unclear
        except csv.Error:  # which the second reading meets as well, and tells with its line
            return "."

    def _read_header(self, rows: _CsvReader) -> None:
        header: list[str] = next((row for row in rows if row), [])
        self.line = self.header_line = rows.line_num
        self.n_marks = 0
        self._check_cells(header, self.line)
        first = clean_name(header[0]) if header else ""
        self.columns = [first, *(clean_name(cell) for cell in header[1:])]
        marked = [name[: len(COLUMN_PREFIX)].casefold() == COLUMN_PREFIX for name in self.columns]
        self.metadata = {place: [] for place, is_marked in enumerate(marked) if is_marked and place}
        self.task_places = [place for place in range(1, len(marked)) if not marked[place]]
        if self.max_tasks is not None and len(self.task_places) > self.max_tasks:
            self._stop(f"{len(self.task_places)} tasks; at most {self.max_tasks} are allowed", line=self.line)
        if len(self.metadata) > MAX_FIELDS:
            message = f"{len(self.metadata)} columns that begin with {COLUMN_PREFIX!r}; at most {MAX_FIELDS} are read"
            self._stop(message, line=self.line)
        if len(header) == 1:
            message = f"only one column, {shorten(first)!r}; expected `system` and a column for each task"
            self._stop(message, line=self.line)
        if not self.task_places:
            self._stop(f"no task: every column but the first begins with {COLUMN_PREFIX!r}", line=self.line)
        if first.casefold() not in SYSTEM_COLUMNS:
            self._issue(f"the first column must be called {SYSTEM_COLUMN!r} or 'model', found {shorten(first)!r}", 1)
        self.columns[0] = SYSTEM_COLUMN  # as messages about rows call it
        seen: dict[str, int] = {}
        for column, task in enumerate(self.columns[1:], start=2):
            problem = name_problem(task, allow_formula=self.allow_formula)
            if problem:
                self._issue(f"the task name {shorten(task)!r} {problem}", column)
            elif fold_name(task) in seen:
                self._issue(f"the task {shorten(task)!r} is already column {seen[fold_name(task)]}", column)
            else:
                seen[fold_name(task)] = column

    def _read_rows(self, rows: _CsvReader) -> Table:
        systems: list[str] = []
        lines: list[int] = []
        values: list[FloatArray] = []
        seen: dict[str, int] = {}
        n_rows = 0
        for row in rows:
            begins, self.line, self.n_marks = self.line + 1, rows.line_num, 0
            if not row:
                continue
            n_before = len(self.issues)
            self._check_cells(row, begins)
            name = clean_name(row[0])
            problem = name_problem(name, allow_formula=self.allow_formula)
            if problem:
                self._issue(f"the system name {shorten(name)!r} {problem}", 1, begins)
            elif (first := seen.setdefault(fold_name(name), begins)) != begins:
                self._issue(f"the system {shorten(name)!r} is already on line {first}", 1, begins)
            scores = np.array(self._row_values(row, begins, len(values)))
            n_rows += 1
            if len(self.issues) == n_before:
                systems.append(name)
                values.append(scores)
                lines.append(begins)
                for place, cells in self.metadata.items():
                    cells.append(row[place])
            if self.max_systems is not None and n_rows > self.max_systems:
                self._stop(f"too many systems; at most {self.max_systems} are allowed", line=begins)
            if n_rows * len(self.task_places) > self.max_cells:
                self._stop(f"more than {self.max_cells:,} cells; bring the table in parts", line=begins)
        if not n_rows and not self.issues:
            self._stop("no systems: the header is the only row", line=self.line)
        array = np.array(values).reshape(len(systems), len(self.task_places))
        table = Table(
            tuple(systems),
            tuple(self.columns[place] for place in self.task_places),
            rounded(array),
            tuple(lines),
            self.header_line,
            self.name,
            self.missing_words,
            self.dialect,
            rounding_note(array),
            {self.columns[place][len(COLUMN_PREFIX) :].strip(): tuple(cells) for place, cells in self.metadata.items()},
            tuple(text for text in (self.remark, *self.numbers.remarks) if text),
            self.numbers.forms(self.dialect.decimal),
        )
        for column in self.numbers.mixed_columns:
            self.issues.append(TableIssue(self.header_line, column, self.columns[column - 1] or None, MIXED))
        if issues := self._all_issues():
            raise TableError(issues[:MAX_ISSUES], self.name, is_cut=len(issues) > MAX_ISSUES, readable=table)
        return table

    def _check_cells(self, row: list[str], line: int) -> None:
        longest = max(map(len, row), default=0)
        if longest > MAX_CELL:
            self._stop(f"a cell has {longest:,} characters; at most {MAX_CELL:,} are read", line=line)

    def _row_values(self, row: list[str], line: int, i: int) -> list[float]:
        if len(row) != len(self.columns):
            message = f"the row has {len(row)} columns, the header has {len(self.columns)}"
            self._issue(message, min(len(row), len(self.columns)) + (len(row) > len(self.columns)), line)
            return [math.nan] * len(self.task_places)
        scores = []
        for t, place in enumerate(self.task_places):
            value, column = math.nan, place + 1
            if text := row[place].strip():
                number = text if self.dialect.decimal == "." else text.replace(self.dialect.decimal, ".", 1)
                if NUMBER.fullmatch(number):  # as nearly all do, and looking for a word takes longer
                    value = float(number)
                    if math.isinf(value):
                        self._issue(f"{shorten(text)} is too large for a 64-bit number", column, line)
                    self.numbers.n_numbers[column] += 1
                elif (word := self.meaning(text)) is not None:
                    self.missing_words[i, t] = word
                elif (cell := self.numbers.read(column, text)) is not None:
                    if cell.value is not None:
                        value = cell.value
                        if math.isinf(value):
                            self._issue(f"{shorten(text)} is too large for a 64-bit number", column, line)
                else:
                    cell_issue = TableIssue(line, column, self.columns[column - 1] or None, number_message(text))
                    self.wrong_cells[column].append(cell_issue)
                    self.n_wrong_cells += 1
                    if self.n_wrong_cells >= MAX_WRONG_CELLS:
                        raise TableError(self._all_issues()[:MAX_ISSUES], self.name, is_cut=True)
            scores.append(value)
        return scores

    def _mark(self) -> str:
        """The decimal mark of the table. Between commas, those in cells have quotation marks around them."""
        if self.dialect.delimiter != ",":
            return self.dialect.decimal

        def cells() -> Iterator[str]:
            rows = self._rows(self.text)
            next((row for row in rows if row), None)
            for row in rows:
                self.n_marks = 0
                yield from (row[place] for place in self.task_places if place < len(row))

        try:
            return mark_of(cells())
        except (csv.Error, TableError):  # which the reading that goes on meets as well
            return "."
        finally:
            self.n_marks = 0

    def _all_issues(self) -> list[TableIssue]:
        """What is wrong, in the order of the file; many cells of one column are one issue with the first places."""
        issues = list(self.issues)
        for cells in self.wrong_cells.values():
            if len(cells) > MAX_PLACES:
                lines = ", ".join(str(issue.line) for issue in cells[:MAX_PLACES])
                message = f"{len(cells):,} cells are not numbers, first on lines {lines}: {cells[0].message}"
                issues.append(replace(cells[0], message=message))
            else:
                issues += cells
        return sorted(issues, key=lambda issue: (issue.line or 0, issue.column or 0))

    def _issue(self, message: str, column: int | None = None, line: int | None = None) -> None:
        column_name = self.columns[column - 1] if column and column <= len(self.columns) else None
        self.issues.append(TableIssue(line or self.line, column, column_name or None, message))
        if len(self.issues) >= MAX_ISSUES:
            raise TableError(self._all_issues()[:MAX_ISSUES], self.name, is_cut=True)

    def _stop(self, message: str, line: int | None = None) -> NoReturn:
        issues = self._all_issues()[: MAX_ISSUES - 1]
        raise TableError([*issues, TableIssue(line, None, None, message)], self.name)


def write_table(matrix: ScoreMatrix) -> str:
    """Return `matrix` as the text of a scores.csv, with the shortest decimals that read back the same."""
    return "".join(table_lines(matrix.system_names, matrix.task_names, matrix.values))


def table_lines(system_names: Sequence[str], task_names: Sequence[str], values: FloatArray) -> Iterator[str]:
    """Yield the lines of a scores.csv, each with its end.

    Args:
        system_names: one a row.
        task_names: one a column.
        values: float64 of shape (n_systems, n_tasks), NaN where a score is missing.
    """
    yield from csv_lines([[SYSTEM_COLUMN, *task_names]])
    for name, row in zip(system_names, values, strict=True):
        cells = ("" if math.isnan(value) else repr(value).removesuffix(".0") for value in row.tolist())
        yield from csv_lines([[name, *cells]])
