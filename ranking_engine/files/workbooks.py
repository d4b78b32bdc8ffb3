"""Workbooks and Parquet files as tables, within bounds that are checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ranking_engine.files.csv_rows import csv_line
from ranking_engine.files.extras import extra
from ranking_engine.files.tables import (
    MAX_CELLS,
    SYSTEM_COLUMN,
    SYSTEM_COLUMNS,
    Table,
    TableError,
    TableIssue,
    read_table,
)

_PANDAS_INDEX = "__index_level_0__"  # as pandas calls an index without a name in a Parquet file


def read_workbook(path: Path) -> Table:
    """Read the first sheet of a workbook: a header, then one row per system.

    Raises:
        TableError: it cannot be read; the message names line and column of the sheet.
        ImportError: the library is not installed.
    """
    calamine = extra("python_calamine", "files")
    try:
        with path.open("rb") as file:
            sheet = calamine.CalamineWorkbook.from_filelike(file).get_sheet_by_index(0)
            if sheet.total_height * sheet.total_width > MAX_CELLS:
                raise _refused(f"more than {MAX_CELLS:,} cells", path)
            n_above = sheet.start[0] if sheet.start else 0
            rows = sheet.to_python()
    except calamine.CalamineError as error:
        raise _refused(f"no workbook that can be read: {error}", path) from error
    return _table_of([*[[]] * n_above, *rows], path)


def read_parquet(path: Path) -> Table:
    """Read a Parquet file: one row per system, whose names are the column `system` or `model`, an index, or texts.

    Raises:
        TableError: it cannot be read; the message names row and column, the header being line 1.
        ImportError: the library is not installed.
    """
    parquet, arrow = extra("pyarrow.parquet", "files"), extra("pyarrow", "files")
    try:
        metadata = parquet.read_metadata(path)
        if metadata.num_rows * metadata.num_columns > MAX_CELLS:
            raise _refused(f"more than {MAX_CELLS:,} cells", path)
        frame = parquet.read_table(path)
    except arrow.ArrowInvalid as error:
        raise _refused(f"no Parquet file that can be read: {error}", path) from error
    columns = list(frame.column_names)
    named = [name for name in columns if name == _PANDAS_INDEX or name.strip().casefold() in SYSTEM_COLUMNS]
    texts = [name for name in columns if arrow.types.is_string(frame.schema.field(name).type)]
    if not (named or texts):
        raise _refused("no column names the systems: call one `system`", path)
    first = (named or texts)[0]
    tasks = [name for name in columns if name != first]
    cells = [frame.column(name).to_pylist() for name in (first, *tasks)]
    return _table_of([[SYSTEM_COLUMN, *tasks], *map(list, zip(*cells, strict=True))], path)


def _table_of(rows: Sequence[Sequence[object]], path: Path) -> Table:
    """The table that a CSV file of these cells is, so that names and scores have the same bounds."""
    cleaned = [[None if cell == "" or cell != cell else cell for cell in row] for row in rows]  # noqa: PLR0124 -- NaN
    lines = [csv_line(row) if any(cell is not None for cell in row) else "" for row in cleaned]
    return read_table("\n".join(lines).encode(), name=str(path), allow_formula_names=True)


def _refused(message: str, path: Path) -> TableError:
    return TableError([TableIssue(None, None, None, message)], str(path))
