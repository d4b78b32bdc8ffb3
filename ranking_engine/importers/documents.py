"""Files of results, read safely: bounded in size and depth, no archives, no aliases, no key twice."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ranking_engine.files.dialect import UnclearMarkError, decimal_mark, delimiter_of
from ranking_engine.files.problems import InputError
from ranking_engine.importers.json_bounds import MAX_DEPTH, n_values
from ranking_engine.importers.records import Collector, Recognised, problem_in, showable

MAX_BYTES = 10 * 2**20  # of all files together
MAX_YAML_BYTES = 2**20  # of all YAML together
MAX_FILES = 200
MAX_ROWS = 100_000
MAX_COLUMNS = 2_000
MAX_CELLS = 500_000  # of a table
MAX_VALUES = 300_000  # of all JSON together, keys included
ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file that someone chose. `document` is what it holds, where it is JSON or YAML; else None."""

    name: str
    data: bytes

    @property
    def base(self) -> str:
        """Its name without folders."""
        return self.name.replace("\\", "/").rsplit("/", 1)[-1]

    @cached_property
    def raw_hash(self) -> str:
        """The SHA-256 of its bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        """Its text.

        Raises:
            InputError: it is an archive, or no UTF-8.
        """
        if self.data.startswith(ARCHIVES) or self.data[257:262] == b"ustar":
            raise self.refused("archives are not supported; unpack it and choose its files")
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            raise self.refused("this is not UTF-8", f"line {line}") from error
        if "\0" in text:
            raise self.refused(
                "a NUL byte; this is not a text file", f"line {text[: text.index(chr(0))].count(chr(10)) + 1}"
            )
        return text

    @cached_property
    def kind(self) -> Literal["json", "yaml", "front matter", "table"]:
        """What it is, by its name, else by its beginning; `table` is everything that is no document."""
        name, start = self.base.casefold(), self.text.lstrip()[:1]
        if name.endswith((".csv", ".toml")):
            return "table"
        if name.endswith((".yaml", ".yml")):
            return "yaml"
        if self.text.startswith(("---\n", "---\r\n")):
            return "front matter"
        return "json" if name.endswith(".json") or (start and start in "{[") else "table"

    @cached_property
    def document(self) -> Any:  # noqa: ANN401
        """What a JSON or YAML file or the front matter of a Markdown file holds; None of any other file.

        Raises:
            InputError: it is broken.
        """
        if self.kind == "json":
            try:
                # NaN, Infinity and 1e999 become floats that are not finite: a problem only where a score is read.
                document = json.loads(self.text, object_pairs_hook=_unique)
            except json.JSONDecodeError as error:
                if error.msg == "Extra data" and self.text[error.pos :].lstrip().startswith("{"):
                    message = "one JSON object per line (JSONL) is not supported; choose the file with the results"
                    raise self.refused(message, f"line {error.lineno}") from error
                raise self.refused(f"not valid JSON: {error.msg}", f"line {error.lineno}") from error
            except RecursionError as error:
                raise self.refused(f"nested deeper than {MAX_DEPTH} levels") from error
            except ValueError as error:
                raise self.refused(f"not readable as JSON: {showable(str(error))}") from error
            # The lists and mappings of one level after the other.
            level: list[Any] = [document] if isinstance(document, dict | list) else []
            depth = 0
            while level and depth <= MAX_DEPTH:
                values = (value for outer in level for value in (outer.values() if isinstance(outer, dict) else outer))
                level = [value for value in values if isinstance(value, dict | list)]
                depth += 1
            if depth > MAX_DEPTH:
                raise self.refused(f"nested deeper than {MAX_DEPTH} levels")
            return document
        if self.kind == "table":
            return None
        text = self.text
        if self.kind == "front matter":  # what is between the first two lines of three hyphens
            lines = text.splitlines(keepends=True)
            end = next((i for i, line in enumerate(lines) if i and line.strip() == "---"), len(lines))
            text = "".join(lines[1:end])
        try:
            from ranking_engine.importers.plain_yaml import read_plain  # noqa: PLC0415 -- PyYAML is an extra
        except ModuleNotFoundError as error:
            raise self.refused("reading YAML needs PyYAML: pip install 'plurank[files]'") from error
        return read_plain(text, self.refused)

    def rows(self, *, quoted: bool = True) -> list[tuple[int, list[str]]]:
        """The rows of a CSV, each with the line on which it ends; blank ones are left out.

        Args:
            quoted: whether a quotation mark begins a cell in which commas may be; without, only commas separate.

        Raises:
            InputError: it cannot be read, or is too large.
        """
        return self._quoted_rows if quoted else self._read_rows(quoting=csv.QUOTE_NONE, delimiter=",")

    @cached_property
    def _quoted_rows(self) -> list[tuple[int, list[str]]]:
        """Read once: every format looks at them when files are recognised."""
        return self._read_rows(quoting=csv.QUOTE_MINIMAL, delimiter=delimiter_of(self.text))

    def _read_rows(self, *, quoting: Literal[0, 3], delimiter: str) -> list[tuple[int, list[str]]]:
        lines = io.StringIO(self.text, newline="")
        n_marks = 0  # separators since the last row: a row is refused before it is split into far too many texts

        def counted() -> Iterator[str]:
            nonlocal n_marks
            for number, line in enumerate(lines, start=1):
                n_marks += line.count(delimiter)
                if n_marks > 10 * MAX_COLUMNS:  # some may be in texts
                    raise self.refused(f"more than {MAX_COLUMNS:,} columns", f"line {number}")
                yield line

        reader = csv.reader(counted(), strict=True, quoting=quoting, delimiter=delimiter)
        rows: list[tuple[int, list[str]]] = []
        n_cells = 0
        try:
            for row in reader:
                n_marks = 0
                n_cells += len(row)
                if len(row) > MAX_COLUMNS:
                    raise self.refused(f"more than {MAX_COLUMNS:,} columns", f"line {reader.line_num}")
                if n_cells > MAX_CELLS:
                    message = f"more than {MAX_CELLS:,} cells; import the table in parts"
                    raise self.refused(message, f"line {reader.line_num}")
                if any(cell.strip() for cell in row):
                    rows.append((reader.line_num, row))
                if len(rows) > MAX_ROWS:
                    raise self.refused(f"more than {MAX_ROWS:,} rows", f"line {reader.line_num}")
        except csv.Error as error:
            raise self.refused(f"not readable as CSV: {error}", f"line {reader.line_num}") from error
        return rows

    def rows_with_points(self, columns: Collection[int]) -> list[tuple[int, list[str]]]:
        """The rows of a CSV, with decimal points in these columns where semicolons or tabs go with decimal commas.

        Args:
            columns: those that hold numbers, from 0.

        Raises:
            InputError: as `rows`, or it cannot be told what a comma in a number means.
        """
        header, *rows = self.rows()
        if delimiter_of(self.text) == ",":
            return [header, *rows]
        cells = [(line, row[c]) for line, row in rows for c in columns if c < len(row)]
        try:
            mark = decimal_mark(cell for _, cell in cells)
        except UnclearMarkError as unclear:
            raise self.refused(unclear.message, f"line {cells[unclear.place][0]}") from unclear
        if mark == ".":
            return [header, *rows]
        return [
            header,
            *(
                (line, [cell.replace(mark, ".") if c in columns else cell for c, cell in enumerate(row)])
                for line, row in rows
            ),
        ]

    def refused(self, message: str, place: str = "") -> InputError:
        """The error that says what is wrong with this file."""
        return InputError([problem_in(message, self.name, place)])


def check_files(files: list[SourceFile]) -> None:
    """Refuse too many files, or too much of them.

    Raises:
        InputError: there are none, or too many.
    """
    if not files:
        raise InputError.of("no file was chosen")
    if len(files) > MAX_FILES:
        raise InputError.of(f"{len(files)} files; the limit is {MAX_FILES} at once")
    if sum(len(file.data) for file in files) > MAX_BYTES:
        raise InputError.of(f"more than {MAX_BYTES // 2**20} MB; import them in parts")
    n_in_json = n_yaml_bytes = 0
    for file in files:
        if not file.text.strip():
            raise file.refused("the file is empty")
        if file.kind == "json":
            n_in_json += n_values(file.text, enough=MAX_VALUES - n_in_json)
        elif file.kind != "table":
            n_yaml_bytes += len(file.data)
        if n_in_json > MAX_VALUES:
            raise file.refused(f"more than {MAX_VALUES:,} values; import them in parts")
        if n_yaml_bytes > MAX_YAML_BYTES:
            raise file.refused(f"more than {MAX_YAML_BYTES // 2**20} MB of YAML; import them in parts")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise ValueError(f"the key {showable(key)!r} appears twice in one object")
        entries[key] = value
    return entries


def read_each(
    files: Sequence[SourceFile], key: str, name: str, read_file: Callable[[Collector, SourceFile], None]
) -> Recognised:
    """What files of one format say, read one after the other.

    Args:
        files: of the format.
        key: of the format.
        name: of the format, for people.
        read_file: reads one file.

    Raises:
        InputError: something in them cannot be read.
    """
    collect = Collector()
    for file in files:
        collect.of(file.name, file.raw_hash)
        read_file(collect, file)
    return collect.done(key, name)
