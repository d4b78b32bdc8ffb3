"""Workbooks and Parquet files as rows of cells, read by a process of their own with bounds on memory and time."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from ranking_engine.files.grids import MAX_CELLS, GridError, Row, bounded
from ranking_engine.files.limited_process import limited_command

PROGRAM = Path(__file__).with_name("table_process.py")
PROCESSOR_SECONDS = 20  # that it may take
# Bytes of addresses, by what is read: a table of a few bytes may say that it has a cell in the last row and column, or
# one long text in every row. The library for Parquet takes 330 million itself.
MEMORY = {"workbook": 300_000_000, "parquet": 800_000_000, "details": 900_000_000}
SECONDS = 30
MAX_UNPACKED = 200 * 2**20  # bytes of a workbook's parts
MAX_PARTS = 5_000
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls


def has_few_entries(data: bytes, most: int) -> bool:
    """Whether the directory of a zip archive is no larger than that of so many entries.

    Its size is at the end of the archive, and bounds what opening it takes, whatever number of entries is stated.

    Args:
        data: of the archive.
        most: entries, with 400 bytes for each.
    """
    end = data.rfind(b"PK\x05\x06")
    return not 0 <= end <= len(data) - 16 or int.from_bytes(data[end + 12 : end + 16], "little") <= 400 * most


def table_kind(data: bytes) -> str:
    """Return `workbook` or `parquet`, or an empty text for any other file.

    Args:
        data: its bytes.
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(_OLD_WORKBOOK):
        return "workbook"
    if data.startswith(b"PK\x03\x04") and has_few_entries(data, MAX_PARTS):
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                names = {part.filename for part in archive.infolist()[:MAX_PARTS]}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
            return ""
        is_workbook = "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= names
        return "workbook" if is_workbook else ""
    return ""


def sheets_of(data: bytes, kind: str) -> dict[str, list[Row]]:
    """Return the rows of every sheet that has some, by its name; a Parquet file has one without a name.

    Args:
        data: bytes of the file.
        kind: as `table_kind` says.

    Raises:
        GridError: it cannot be read, or is too large.
        ImportError: the library that reads it is not installed.
    """
    if data.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
            raise GridError(f"it unpacks to more than {MAX_UNPACKED // 2**20} MB")
    answer = _read_apart(data, kind, MAX_CELLS)
    sheets = {name: bounded((line, row) for line, row in rows) for name, rows in answer.items()}
    filled = {name: rows for name, rows in sheets.items() if rows}
    if not filled:
        raise GridError("no sheet has cells")
    return filled


def details_of(tables: Sequence[bytes], max_cells: int) -> list[list[Row]]:
    """Return the rows of several Parquet files of lighteval's details: instance, task, then every metric.

    Args:
        tables: bytes of each.
        max_cells: of all together.

    Raises:
        GridError: one cannot be read, or they are too large.
        ImportError: the library that reads them is not installed.
    """
    head = json.dumps([len(table) for table in tables]).encode()
    answer = _read_apart(b"".join((head, b"\n", *tables)), "details", max_cells)
    return [[(line, row) for line, row in answer[str(place)]] for place in range(len(tables))]


def _read_apart(data: bytes, kind: str, max_cells: int) -> dict[str, list[Row]]:
    """The rows of every table, as the other process reads them."""
    command = limited_command(PROGRAM, PROCESSOR_SECONDS, kind, str(max_cells), memory=MEMORY[kind])
    try:
        ran = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
        answer = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise GridError("it takes more memory or time than a file may, or is broken") from error
    if package := answer.get("missing"):
        what = "a workbook" if kind == "workbook" else "Parquet"
        raise ImportError(
            f"reading {what} needs {package}, which is not installed here: install plurank with its extra `files`, or "
            f"on a site pip install {package.replace('_', '-')}. A table can also be saved as CSV"
        )
    if message := answer.get("error"):
        raise GridError(f"not readable as a {'workbook' if kind == 'workbook' else 'Parquet file'}: {message}")
    tables: dict[str, list[Row]] = answer["sheets"]
    return tables
