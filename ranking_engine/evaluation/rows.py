"""The rows of files of references and predictions: CSV, JSON lines and Parquet, each with its line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ranking_engine.evaluation.parquet_rows import records_of
from ranking_engine.files.dialect import delimiter_of
from ranking_engine.files.json_bounds import n_values
from ranking_engine.files.problems import InputError, Problem, Problems
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.text.names import shorten

MAX_BYTES = 200_000_000
MAX_ROWS = 1_000_000
MAX_COLUMNS = 2_000
MAX_LINE = 2_000_000  # characters of a row of JSON
MAX_VALUES = 100_000  # of a row of JSON
PARQUET_MARK = b"PAR1"
MAX_CHARACTERS = 200_000_000  # of all cells that are read

Row = tuple[int, dict[str, Any]]
RoleOf = Callable[[str], str | None]


def rows_of(
    data: bytes, role_of: RoleOf, problems: Problems, ignored: dict[str, None], *, is_bounded: bool = False
) -> Iterator[Row]:
    """Yield the rows of a file, each with its line (of Parquet its number) and its cells by role.

    A row that cannot be read is noted as a problem and passed over, where the next one can be told.

    Args:
        data: of the file.
        role_of: says what a column is, None for one that means nothing.
        problems: to add to.
        ignored: the columns that mean nothing, to add to.
        is_bounded: whether this process has bounds on memory and time; otherwise another one that has reads Parquet.

    Raises:
        InputError: the file as a whole cannot be read, is too large, or has two columns for one role.
    """
    if len(data) > MAX_BYTES:
        raise InputError.of(f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read")
    if data[: len(PARQUET_MARK)] == PARQUET_MARK:
        rows = parquet_rows(data, role_of, ignored, is_bounded=is_bounded)
    else:
        try:
            text = decoded(data, guesses=False)[0]
        except NotTextError as error:
            raise InputError([Problem(str(error), line=error.line)]) from error
        start = text[:1_000].lstrip()[:1]
        if not text.strip():
            raise InputError.of("the file is empty")
        if start == "[":
            raise InputError.of("this begins as a JSON list; write one object a line (JSON lines)")
        read = _json_rows if start == "{" else csv_rows
        rows = read(text, role_of, problems, ignored)
    for n_rows, row in enumerate(rows, start=1):
        if n_rows > MAX_ROWS:
            raise InputError([Problem(f"more than {MAX_ROWS:,} rows", line=row[0])])
        yield row


def _roles_of(columns: Sequence[str], role_of: RoleOf, ignored: dict[str, None], line: int) -> list[str | None]:
    """Return the role of each column.

    Raises:
        InputError: two columns have the same role.
    """
    roles = [role_of(column) for column in columns]
    known: dict[str, str] = {}
    for column, role in zip(columns, roles, strict=True):
        if role is None:
            if len(ignored) < MAX_COLUMNS:
                ignored.setdefault(shorten(column))
        elif role in known:
            message = f"the columns {shorten(known[role])!r} and {shorten(column)!r} are both the {role}"
            raise InputError([Problem(message, line=line)])
        else:
            known[role] = column
    return roles


def csv_rows(text: str, role_of: RoleOf, problems: Problems, ignored: dict[str, None]) -> Iterator[Row]:
    """Yield the rows of a CSV; see `rows_of`."""
    delimiter = delimiter_of(text[:100_000])
    first = text.partition("\n")[0]
    if first.count(delimiter) > MAX_COLUMNS:
        raise InputError([Problem(f"more than {MAX_COLUMNS:,} columns", line=1)])
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        header = next((row for row in reader if row), [])
        roles = _roles_of([cell.strip() for cell in header], role_of, ignored, reader.line_num)
        width, wanted = len(header), [(k, role) for k, role in enumerate(roles) if role is not None]
        for row in reader:
            if not row:
                continue
            if len(row) != width:
                cause = f"rows have another number of cells than the {width:,} columns"
                problems.add("", f"{len(row):,} cells for {width:,} columns", line=reader.line_num, cause=cause)
                continue
            yield reader.line_num, {role: row[k] for k, role in wanted}
    except csv.Error as error:
        raise InputError([*problems.listed, Problem(f"not readable as CSV: {error}", line=reader.line_num)]) from error


def _json_rows(text: str, role_of: RoleOf, problems: Problems, ignored: dict[str, None]) -> Iterator[Row]:
    """Yield the objects of JSON lines; see `rows_of`."""
    known: dict[tuple[str, ...], list[str | None]] = {}
    for number, line in enumerate(io.StringIO(text), start=1):
        if not line.strip():
            continue
        value = _object_of(line)
        if isinstance(value, str):
            problems.add("", value, line=number, cause="lines are no object that can be read")
            continue
        columns = tuple(value)
        roles = known.get(columns)
        if roles is None:
            if len(columns) > MAX_COLUMNS:
                raise InputError([Problem(f"more than {MAX_COLUMNS:,} keys", line=number)])
            roles = _roles_of(columns, role_of, ignored, number)
            if len(known) < 1_000:
                known[columns] = roles
        yield number, {role: value[column] for column, role in zip(columns, roles, strict=True) if role is not None}


def _object_of(line: str) -> Mapping[str, Any] | str:
    """Return the object of a line, or what is wrong with it."""
    if len(line) > MAX_LINE:
        return f"{len(line):,} characters; at most {MAX_LINE:,} are read in a line"
    if n_values(line, enough=MAX_VALUES) > MAX_VALUES:
        return f"more than {MAX_VALUES:,} values in a line"
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return f"not valid JSON: {error.msg}"
    except (ValueError, RecursionError):
        return "not valid JSON: too deep, or a number is too long"
    return value if isinstance(value, Mapping) else "expected an object with a value for each column"


def parquet_rows(data: bytes, role_of: RoleOf, ignored: dict[str, None], *, is_bounded: bool) -> Iterator[Row]:
    """Yield the rows of a Parquet file; see `rows_of`."""
    wanted: dict[str, str] = {}

    def choose(columns: Sequence[str]) -> list[str]:
        roles = _roles_of(columns, role_of, ignored, 0)
        wanted.update({column: role for column, role in zip(columns, roles, strict=True) if role is not None})
        return list(wanted)

    bounds = {
        "rows": MAX_ROWS, "columns": MAX_COLUMNS, "bytes": MAX_BYTES, "characters": MAX_CHARACTERS, "line": MAX_LINE
    }  # fmt: skip
    for number, cells in records_of(data, choose, bounds, is_bounded=is_bounded):
        yield number, dict(zip(wanted.values(), cells, strict=True))


def too_many_characters(line: int) -> Problem:
    """Return the problem of a file with more than MAX_CHARACTERS."""
    return Problem(f"more than {MAX_CHARACTERS:,} characters in all", line=line)
