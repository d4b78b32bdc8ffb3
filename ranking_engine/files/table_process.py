"""Reads one workbook or Parquet file, or several with details, in a process of its own, with bounds on memory and time.

`limited_process.py` runs it by its path. It has the file as its input, writes the cells as JSON and imports nothing of
this package, so that it starts quickly; what is wrong is the text after `error`.
"""

import datetime as dt
import io
import json
import sys
from collections.abc import Iterator
from typing import Any

MAX_CELL = 300  # characters of a text
MAX_SHEETS = 50
MAX_TEXT = 20_000_000  # characters of all cells: a workbook stores a text once, however many cells have it


def cell(value: Any) -> str:  # noqa: ANN401
    """A cell as text; a whole number without decimals, whatever the file stores it as."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 -- NaN
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return str(value)[:MAX_CELL]


def workbook(data: bytes, max_cells: int) -> dict[str, list[tuple[int, list[str]]]]:
    """The rows of every sheet, with their numbers from 1."""
    import python_calamine as calamine  # noqa: PLC0415 -- only one of both is needed

    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets: dict[str, list[tuple[int, list[str]]]] = {}
    n_cells = 0
    for name in book.sheet_names[:MAX_SHEETS]:
        sheet = book.get_sheet_by_name(name)
        n_cells += sheet.total_height * sheet.total_width
        if n_cells > max_cells:
            raise ValueError(f"more than {max_cells:,} cells; import the sheets in parts")
        above = sheet.start[0] if sheet.start else 0
        sheets[name] = [
            (above + number, [cell(value) for value in row]) for number, row in enumerate(sheet.to_python(), 1)
        ]
    return sheets


def _opened(data: bytes) -> Any:  # noqa: ANN401 -- the library has no types
    """A Parquet file, whose texts are read as the file stores them: each once, however many rows have it."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet as files  # noqa: PLC0415

    metadata = files.read_metadata(io.BytesIO(data))
    leaves = (metadata.schema.column(place) for place in range(metadata.num_columns))
    # Within structs the library does so in a file of one group of rows alone.
    is_whole = metadata.num_row_groups < 2
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and (is_whole or "." not in leaf.path)]
    pa.set_cpu_count(1)  # a thread has memory of its own
    return files.ParquetFile(io.BytesIO(data), read_dictionary=texts)


def cells_of(column: Any) -> list[str]:  # noqa: ANN401
    """The cells of a column; a text that several have is made once."""
    cells: list[str] = []
    for chunk in getattr(column, "chunks", [column]):
        if hasattr(chunk, "dictionary"):
            values = [cell(value) for value in chunk.dictionary.to_pylist()]
            cells += ["" if place is None else values[place] for place in chunk.indices.to_pylist()]
        else:
            cells += [cell(value) for value in chunk.to_pylist()]
    return cells


def parquet(data: bytes, max_cells: int) -> dict[str, list[tuple[int, list[str]]]]:
    """The rows of a table, the header as the first; columns of lists are left out."""
    import pyarrow as pa  # noqa: PLC0415

    opened = _opened(data)
    n_rows = opened.metadata.num_rows

    def plain(fields: Any, above: str) -> Iterator[str]:  # noqa: ANN401 -- a schema or a struct
        for field in fields:
            if pa.types.is_struct(field.type):
                yield from plain(field.type, f"{above}{field.name}.")
            elif not (pa.types.is_nested(field.type) or pa.types.is_null(field.type)):
                yield above + field.name

    columns = list(plain(opened.schema_arrow, ""))
    if n_rows * len(columns) > max_cells:
        raise ValueError(f"more than {max_cells:,} cells; import the table in parts")
    frame = opened.read(columns=columns)
    while any(pa.types.is_struct(field.type) for field in frame.schema):
        frame = frame.flatten()
    about = opened.schema_arrow.pandas_metadata or {}
    index = [name for name in about.get("index_columns", []) if isinstance(name, str) and name in frame.column_names]
    names = [*index, *(name for name in frame.column_names if name not in index)]
    cells = [cells_of(frame.column(name)) for name in names]
    header = ["" if name.startswith("__index_level_") else name for name in names]
    rows = zip(*cells, strict=True) if cells else []
    return {"": [(1, header), *((number, list(row)) for number, row in enumerate(rows, 2))]}


def details(data: bytes, max_cells: int) -> dict[str, list[tuple[int, list[str]]]]:
    """The rows of several tables of lighteval's details, each by its number: instance, task, then every metric.

    Before the tables is a line with their lengths as JSON. Metrics that are no number of each instance are left out.
    """
    import pyarrow as pa  # noqa: PLC0415

    head, _, rest = data.partition(b"\n")
    tables: dict[str, list[tuple[int, list[str]]]] = {}
    start = n_cells = 0
    for place, length in enumerate(json.loads(head)):
        opened = _opened(rest[start : start + length])
        start += length
        schema = opened.schema_arrow
        scores = [
            (outer.name, field.name)
            for outer in schema
            if outer.name in ("metric", "metrics") and pa.types.is_struct(outer.type)
            for field in outer.type
            if pa.types.is_floating(field.type) or pa.types.is_integer(field.type) or pa.types.is_boolean(field.type)
        ]
        about = [
            (outer.name, field.name)
            for outer in schema
            if outer.name == "doc" and pa.types.is_struct(outer.type)
            for field in outer.type
            if field.name in ("id", "task_name")
        ]
        n_rows = opened.metadata.num_rows
        n_cells += n_rows * (len(scores) + 2)
        if n_cells > max_cells:
            raise ValueError(f"more than {max_cells:,} cells; import the files in parts")
        frame = opened.read(columns=[".".join(path) for path in (*about, *scores)])
        outer = {name: frame.column(name).combine_chunks() for name in frame.column_names}
        cells = {path: cells_of(outer[path[0]].field(path[1])) for path in (*about, *scores)}
        blank = [""] * n_rows
        columns = [cells.get(("doc", name), blank) for name in ("id", "task_name")]
        columns += [cells[path] for path in scores]
        rows = [(number, list(row)) for number, row in enumerate(zip(*columns, strict=True), 2)]
        tables[str(place)] = [(1, ["id", "task_name", *(name for _, name in scores)]), *rows]
    return tables


READERS = {"workbook": workbook, "parquet": parquet, "details": details}


def main() -> None:
    """Read standard input as what the first argument says, with at most as many cells as the second says."""
    kind, max_cells = sys.argv[1], int(sys.argv[2])
    data = sys.stdin.buffer.read()
    try:
        sheets = READERS[kind](data, max_cells)
        n_characters = sum(len(text) for rows in sheets.values() for _, row in rows for text in row)
        is_long = n_characters > MAX_TEXT
        answer: object = {"error": f"more than {MAX_TEXT:,} characters"} if is_long else {"sheets": sheets}
    except ModuleNotFoundError as error:
        answer = {"missing": (error.name or "").partition(".")[0]}
    except MemoryError:
        answer = {"error": "it takes more memory than a file may"}
    except Exception as error:  # noqa: BLE001 -- the libraries raise many kinds, and all of them are the file's
        answer = {"error": " ".join(str(error).split())[:200]}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
