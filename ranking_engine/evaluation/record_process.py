"""Reads a Parquet file of references or predictions row by row, in a process of its own with bounds on memory and time.

A small file can unpack to any size: a value that is there many times is written once, and what its footer says of sizes
is the sender's word. `limited_process.py` runs this file by its path for `parquet_rows.py`. It imports nothing of this
package, so that it starts quickly. It takes its bounds and the file, says the columns, is told which of them to read,
and writes each row as a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

BATCH_ROWS = 10_000  # that are unpacked at a time


class UnreadRecordsError(ValueError):
    """The file is too large, or has what is not read; the message says what."""


class Records:
    """The rows of a file.

    Args:
        data: of the file.
        bounds: `rows`, `columns`, `bytes`, `values` and `characters` of all cells that are read, and `line` of a row.
    """

    def __init__(self, data: bytes, bounds: dict[str, int]) -> None:
        import pyarrow as pa  # noqa: PLC0415 -- files of other formats need none
        from pyarrow import parquet  # noqa: PLC0415

        self.data, self.bounds = pa.py_buffer(data), bounds
        self.metadata = parquet.read_metadata(pa.BufferReader(self.data))
        for n, what in ((self.metadata.num_rows, "rows"), (self.metadata.num_columns, "columns")):
            if n > bounds[what]:
                raise UnreadRecordsError(f"{n:,} {what}; at most {bounds[what]:,} are read")
        self.columns: list[str] = list(self.metadata.schema.to_arrow_schema().names)
        self.number = 0  # of the last row

    def rows(self, wanted: list[str]) -> Iterator[list[Any]]:
        """Yield the cells of some columns, row by row.

        Texts stay as they are written, a list of different ones and places in it, until their characters are counted.

        Raises:
            UnreadRecordsError: it is too large, or has a kind of value that is not read.
        """
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415

        groups = [self.metadata.row_group(g) for g in range(self.metadata.num_row_groups)]
        parts = [group.column(c) for group in groups for c in range(group.num_columns)]
        parts = [part for part in parts if any(f"{part.path_in_schema}.".startswith(f"{column}.") for column in wanted)]
        if sum(part.total_uncompressed_size for part in parts) > self.bounds["bytes"]:
            raise UnreadRecordsError(f"its columns have more than {self.bounds['bytes']:,} bytes unpacked")
        if sum(part.num_values for part in parts) > self.bounds["values"]:
            raise UnreadRecordsError(f"more than {self.bounds['values']:,} values")
        for part in parts:
            if "DELTA_BYTE_ARRAY" in part.encodings:  # a value repeats the start of the one before
                raise UnreadRecordsError("a column is encoded as DELTA_BYTE_ARRAY, which is not read; write it without")
            if part.physical_type in {"FIXED_LEN_BYTE_ARRAY", "INT96"}:  # a value of the first can have any length
                raise UnreadRecordsError(f"a column has values of the type {part.physical_type}, which is not read")
        texts = sorted({part.path_in_schema for part in parts if part.physical_type == "BYTE_ARRAY"})
        file = parquet.ParquetFile(pa.BufferReader(self.data), read_dictionary=texts)
        for field in file.schema_arrow:
            if field.name in wanted and not is_read(field.type):
                raise UnreadRecordsError(
                    f"the column {field.name[:100]!r} has the type {str(field.type)[:100]}: not read"
                )
        n_characters = 0
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted, use_threads=False):
            n_characters += sum(_n_bytes_of(batch.column(column)) for column in wanted)
            if n_characters > self.bounds["characters"]:
                self.number += 1
                raise UnreadRecordsError(f"more than {self.bounds['characters']:,} characters in all")
            columns = [batch.column(column).to_pylist() for column in wanted]
            for k in range(batch.num_rows):
                self.number += 1
                yield [cells[k] for cells in columns]


def is_read(kind: Any) -> bool:  # noqa: ANN401 -- pyarrow's
    """Whether values of a type are read: texts, numbers, yes and no, and lists and objects of these."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind):
        return is_read(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind):
        return is_read(kind.value_type)
    if types.is_struct(kind):
        return all(is_read(field.type) for field in kind)
    is_text = types.is_string(kind) or types.is_large_string(kind)
    is_number = types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind)
    return is_text or is_number or types.is_boolean(kind) or types.is_null(kind)


def _n_bytes_of(array: Any) -> int:  # noqa: ANN401 -- pyarrow's
    """How many bytes the texts of an array have, each as often as it is there, and 8 for any other value."""
    from pyarrow import compute, types  # noqa: PLC0415

    kind = array.type
    if types.is_dictionary(kind):
        is_text = types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
        if not is_text:
            return 8 * len(array)
        return compute.sum(compute.take(compute.binary_length(array.dictionary), array.indices)).as_py() or 0
    if types.is_string(kind) or types.is_large_string(kind):
        return compute.sum(compute.binary_length(array)).as_py() or 0
    if types.is_list(kind) or types.is_large_list(kind):
        return 8 * len(array) + _n_bytes_of(array.flatten())
    if types.is_struct(kind):
        return sum(map(_n_bytes_of, array.flatten()))
    return 8 * len(array)


def answers(data: bytes, bounds: dict[str, int], choose: Any) -> Iterator[dict[str, Any] | list[Any]]:  # noqa: ANN401
    """Yield the rows, then `{"end": true}`, or what is wrong with the file.

    Args:
        data: of the file.
        bounds: as `Records` has them.
        choose: a function of the columns that says which of them to read.
    """
    try:
        records = Records(data, bounds)
    except Exception as error:  # noqa: BLE001 -- pyarrow raises many kinds, and all of them are the file's
        yield problem_of(error, None)
        return
    wanted = choose(records.columns)
    try:
        yield from records.rows(wanted)
        yield {"end": True}
    except Exception as error:  # noqa: BLE001 -- as above
        yield problem_of(error, records.number or None)


def problem_of(error: Exception, line: int | None) -> dict[str, Any]:
    """What is wrong with the file, after so many rows."""
    if isinstance(error, ModuleNotFoundError):
        return {"missing": (error.name or "").partition(".")[0]}
    if isinstance(error, UnreadRecordsError):
        return {"refused": str(error), "line": line}
    if isinstance(error, MemoryError):
        return {"refused": "it takes more memory than a file may", "line": line}
    return {"broken": " ".join(str(error).split())[:200], "line": 1 + (line or 0)}


def main() -> None:
    """Read the bounds as a line of JSON, and as many bytes of a file as it says; then which columns are wanted."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    bounds = json.loads(source.readline())
    data = source.read(bounds["n_bytes"])

    def choose(columns: list[str]) -> list[str]:
        target.write(json.dumps({"columns": columns}).encode() + b"\n")
        target.flush()
        wanted: list[str] = json.loads(source.readline())
        return wanted

    for number, answer in enumerate(answers(data, bounds, choose), start=1):
        line = json.dumps(answer)
        if len(line) > bounds["line"]:
            message = f"{len(line):,} characters; at most {bounds['line']:,} are read in a row"
            line = json.dumps({"refused": message, "line": number})
        target.write(line.encode() + b"\n")
        if line.startswith("{"):
            break
    target.flush()


if __name__ == "__main__":
    main()
