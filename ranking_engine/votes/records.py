"""The rows of files of votes, by format: each with its line and the cells of the columns that are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ranking_engine.files.dialect import delimiter_of
from ranking_engine.files.extras import extra
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.votes.columns import METADATA, VoteColumns

PARQUET_ROWS = 50_000  # that are read at a time
MAX_CSV_COLUMNS = 2_000

Record = tuple[int, Sequence[Any]]
FindColumns = Callable[[Sequence[str]], VoteColumns]
Rows = tuple[VoteColumns, Iterator[Record]]


def text_format(text: str) -> str:
    """Return "json" for a list, "jsonl" for an object per line, else "csv"."""
    return {"[": "json", "{": "jsonl"}.get(text[:1_000].lstrip()[:1], "csv")


def csv_records(text: str, find: FindColumns) -> Rows:
    """Return the columns of a CSV, and its rows.

    Args:
        text: of the file.
        find: says which columns of a header are read.

    Raises:
        InputError: there is no header, or a row has another number of cells.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter_of(text[:100_000]))
    try:
        header = next(reader)
    except (StopIteration, csv.Error) as error:
        raise InputError.of("the file is empty, or its first line is no header") from error
    if len(header) > MAX_CSV_COLUMNS:
        raise InputError.of(f"{len(header):,} columns; at most {MAX_CSV_COLUMNS:,} are read")
    columns = find(header)
    places = [header.index(name) for name in columns.names]

    def records() -> Iterator[Record]:
        try:
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    message = f"{len(row):,} cells for {len(header):,} columns"
                    raise InputError([Problem(message, line=reader.line_num)])
                yield reader.line_num, [row[place] for place in places]
        except csv.Error as error:
            raise InputError([Problem(f"not readable as CSV: {error}", line=reader.line_num)]) from error

    return columns, records()


def jsonl_records(text: str, find: FindColumns) -> Rows:
    """Return the columns of JSON lines, as their first object has them, and their objects; see `csv_records`."""

    def objects() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(io.StringIO(text), start=1):
            if line.strip():
                yield number, loaded(line, number)

    return _object_records(objects(), find)


def json_records(text: str, find: FindColumns) -> Rows:
    """Return the columns of a JSON list, as its first object has them, and its objects, numbered; see `csv_records`."""
    values = loaded(text, None)
    return _object_records(enumerate(values, start=1), find)


def loaded(text: str, line: int | None) -> Any:  # noqa: ANN401 -- whatever it is
    """Return a JSON text as values, or raise an InputError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError([Problem(f"not valid JSON: {error.msg}", line=line or error.lineno)]) from error
    except (ValueError, RecursionError) as error:
        raise InputError([Problem("not valid JSON: too deep, or a number is too long", line=line)]) from error


def _object_records(objects: Iterator[tuple[int, Any]], find: FindColumns) -> Rows:
    """Return the columns of objects, and of each the cells; a key that an object lacks is None."""
    first = next(objects, None)
    if first is None:
        raise InputError.of("there are no votes")
    if not isinstance(first[1], Mapping):
        raise InputError([Problem("expected an object with a value for each column", line=first[0])])
    columns = find([str(key) for key in first[1]])
    names = columns.names

    def records() -> Iterator[Record]:
        yield first[0], [first[1].get(name) for name in names]
        for number, value in objects:
            if not isinstance(value, Mapping):
                raise InputError([Problem("expected an object with a value for each column", line=number)])
            yield number, [value.get(name) for name in names]

    return columns, records()


def parquet_records(source: Path | bytes, find: FindColumns, *, max_votes: int, max_bytes: int) -> Rows:
    """Return the columns of a Parquet file, and its rows, numbered from 1; only what is needed is read.

    Args:
        source: the file, or its bytes.
        find: as for `csv_records`.
        max_votes: the most rows that it may have.
        max_bytes: the most bytes that the columns that are read may have, unpacked.

    Raises:
        InputError: it is too large, or cannot be read.
        ImportError: pyarrow is not installed.
    """
    pyarrow = extra("pyarrow", "files")
    parquet = extra("pyarrow.parquet", "files")
    try:
        file = parquet.ParquetFile(source if isinstance(source, Path) else pyarrow.BufferReader(source))
        metadata = file.metadata
        if metadata.num_rows > max_votes:
            raise InputError.of(f"{metadata.num_rows:,} votes; at most {max_votes:,} are read")
        columns = find(list(file.schema_arrow.names))
        wanted = [name for name in columns.names if name != METADATA]
        wanted += [f"{METADATA}.{part}" for name in columns.in_metadata for part in columns.covariates[name]]
        size = sum(
            metadata.row_group(g).column(c).total_uncompressed_size
            for g in range(metadata.num_row_groups)
            for c in range(metadata.num_columns)
            if any((metadata.row_group(g).column(c).path_in_schema + ".").startswith(f"{name}.") for name in wanted)
        )
        if size > max_bytes:
            raise InputError.of(f"its columns have {size:,} bytes unpacked; at most {max_bytes:,} are read")
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of what is in the file
            raise
        raise InputError.of(f"not readable as Parquet: {error}") from error

    def records() -> Iterator[Record]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=wanted):
                cells = [batch.column(name).to_pylist() for name in columns.names]
                for row in zip(*cells, strict=True):
                    number += 1
                    yield number, row
        except (pyarrow.ArrowException, OSError) as error:  # the second of pages that are cut off or overwritten
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError([Problem(f"not readable as Parquet: {error}", line=number + 1)]) from error

    return columns, records()
