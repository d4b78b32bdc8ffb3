"""Workbooks and Parquet files, within bounds that are checked before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plurank.extras import extra

MAX_CELLS = 2_000_000  # of a sheet or a file


def read_workbook(path: Path) -> dict[str, dict[str, object]]:
    """The first sheet of a workbook: a header, then a row a system.

    Raises:
        ValueError: it is empty, or too large.
    """
    calamine = extra("python_calamine", "files")
    with path.open("rb") as file:
        sheet = calamine.CalamineWorkbook.from_filelike(file).get_sheet_by_index(0)
        if sheet.total_height * sheet.total_width > MAX_CELLS:
            raise ValueError(f"{path}: more than {MAX_CELLS:,} cells")
        rows = [row for row in sheet.to_python() if any(cell != "" for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(f"{path}: expected a header `system,<task>,...` and a row for each system on the first sheet")
    header, *body = rows
    scores: dict[str, dict[str, object]] = {}
    for number, (name, *cells) in enumerate(body, start=2):
        if str(name) in scores:
            raise ValueError(f"{path}, row {number}: the system {str(name)[:60]!r} is there twice")
        scores[str(name)] = {
            str(task): None if cell == "" else cell for task, cell in zip(header[1:], cells, strict=True)
        }
    return scores


def read_parquet(path: Path) -> Any:  # noqa: ANN401 -- of pyarrow
    """Return a Parquet file as a frame of pyarrow.

    Raises:
        ValueError: it is too large.
    """
    parquet = extra("pyarrow.parquet", "files")
    metadata = parquet.read_metadata(path)
    if metadata.num_rows * metadata.num_columns > MAX_CELLS:
        raise ValueError(f"{path}: more than {MAX_CELLS:,} cells")
    return parquet.read_table(path)
