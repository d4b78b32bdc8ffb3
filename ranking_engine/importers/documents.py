"""Files of results, read safely: bounded in number, size and depth, no aliases, no key twice."""

import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from ranking_engine.files.grids import GridError, Row, csv_rows, rows_of_records, rows_of_text
from ranking_engine.files.json_bounds import MAX_DEPTH, n_values
from ranking_engine.files.problems import InputError
from ranking_engine.files.texts import NotTextError, decoded
from ranking_engine.files.workbooks import sheets_of, table_kind
from ranking_engine.importers.archives import ArchiveError, is_archive, log_header, unpacked
from ranking_engine.importers.records import problem_in, showable
from ranking_engine.text.characters import UNSHOWABLE

MAX_TOTAL = 50 * 2**20  # bytes of all files together, unpacked
MAX_BYTES = 10 * 2**20  # of one file, and of the files that are read at a time
MAX_YAML_BYTES = 2**20  # of the YAML that is read at a time
MAX_FILES = 1_000
MAX_FILES_AT_A_TIME = 200
MAX_VALUES = 300_000  # of the JSON that is read at a time, keys included
MAX_LINE = 2_000_000  # characters of one of several JSON lines
# Files that say something of the others in their folder, which are needed wherever those are read.
COMPANIONS = frozenset({"model_meta.json", "benchmark.toml"})
TOO_MANY = f"more than {MAX_FILES_AT_A_TIME} files belong together; put each run into a folder of its own"
RUN_FILES = ("run_spec.json", "stats.json")  # of which one says something of the other

Kind = Literal["json", "lines", "yaml", "front matter", "table", "binary table", "log"]


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A file that someone chose. `document` is what it holds, where it is JSON or YAML; else None.

    `sheet` is the sheet of a workbook that is meant; empty for the first one with cells.
    """

    name: str
    data: bytes
    sheet: str = ""

    @property
    def base(self) -> str:
        """Its name without folders."""
        return self.name.replace("\\", "/").rsplit("/", 1)[-1]

    @property
    def folder(self) -> str:
        """Its folders, in its name."""
        return self.name.replace("\\", "/").rpartition("/")[0]

    @cached_property
    def raw_hash(self) -> str:
        """The SHA-256 of its bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def text(self) -> str:
        """Its text.

        Raises:
            InputError: it is an archive, or no text.
        """
        return self._decoded[0]

    @property
    def remark(self) -> str:
        """What is to be said of how it was read; mostly nothing."""
        return self._decoded[1] if self.kind in ("table", "front matter") else ""

    @cached_property
    def _decoded(self) -> tuple[str, str]:
        if self.data.startswith(b"PK") and not table_kind(self.data):
            try:
                return (log_header(self.data, MAX_BYTES) or b"").decode("utf-8-sig"), ""
            except (ArchiveError, UnicodeDecodeError, ImportError) as error:
                raise self.refused(str(error)) from error
        if is_archive(self.data) or table_kind(self.data):
            raise self.refused("this is not a text file")
        is_document = self.base.casefold().endswith((".json", ".jsonl", ".yaml", ".yml", ".toml"))
        try:
            return decoded(self.data, guesses=not is_document)
        except NotTextError as error:
            raise self.refused(str(error), f"line {error.line}") from error

    @cached_property
    def kind(self) -> Kind:
        """What it is, by its first bytes, its name, or its beginning; `table` is every text that is no document."""
        if table_kind(self.data):
            return "binary table"
        name = self.base.casefold()
        if name.endswith(".eval") or self.data.startswith(b"PK"):
            return "log"
        if name.endswith((".csv", ".tsv", ".toml")):
            return "table"
        if name.endswith((".yaml", ".yml")):
            return "yaml"
        if name.endswith((".jsonl", ".ndjson")):
            return "lines"
        start = self.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"---") and self.text.startswith(("---\n", "---\r\n")):
            return "front matter"
        if name.endswith(".json") or start[:1] in (b"{", b"["):
            return "lines" if start[:1] == b"{" and _are_json_lines(self.text) else "json"
        return "table"

    @cached_property
    def document(self) -> Any:  # noqa: ANN401
        """What a JSON or YAML file or the front matter of a Markdown file holds; None of any other file.

        Raises:
            InputError: it is broken.
        """
        if self.kind in ("json", "log"):
            return self.json_line(self.text)
        if self.kind in ("table", "binary table", "lines"):
            return None
        text = self.text
        if self.kind == "front matter":  # what is between the first two lines of three hyphens
            lines = text.splitlines(keepends=True)
            end = next((i for i, line in enumerate(lines) if i and line.strip() == "---"), len(lines))
            text = "".join(lines[1:end])
        try:
            from ranking_engine.importers.plain_yaml import read_plain  # noqa: PLC0415 -- PyYAML is an extra
        except ModuleNotFoundError as error:
            raise self.refused("reading YAML needs PyYAML: install plurank with its extra `files`") from error
        return read_plain(text, self.refused)

    @property
    def unknown_format(self) -> str:
        """Why it is of no format that is read, in words."""
        ending = self.base.casefold().rpartition(".")[2]
        if ending in ("xlsx", "ods", "parquet") and self.kind != "binary table":
            return f"no {'Parquet file' if ending == 'parquet' else 'workbook'} that can be read"
        if self.kind in ("table", "binary table") and self.rows():
            return "a table needs a column that names the systems and one with scores"
        return "the format of these files is not supported"

    def json_line(self, text: str, line: int = 0) -> Any:  # noqa: ANN401
        """What a JSON text of the file holds; `line` is its number where it is one of several.

        Raises:
            InputError: it is broken.
        """
        try:
            # NaN, Infinity and 1e999 become floats that are not finite: a problem only where a score is read.
            document = json.loads(text, object_pairs_hook=_unique)
        except json.JSONDecodeError as error:
            raise self.refused(f"not valid JSON: {error.msg}", f"line {line or error.lineno}") from error
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

    @cached_property
    def lines(self) -> list[tuple[int, Any]]:
        """What each line of a file of JSON lines holds, with its number.

        Raises:
            InputError: one is broken.
        """
        return [
            (number, self.json_line(line, number))
            for number, line in enumerate(self.text.split("\n"), start=1)  # texts may have other ends of lines
            if line.strip()
        ]

    @cached_property
    def sheets(self) -> dict[str, list[Row]]:
        """The rows of every table in the file, by the name of its sheet; a text has one without a name.

        Raises:
            InputError: it is no table, or too large.
        """
        try:
            if self.kind == "binary table":
                return sheets_of(self.data, table_kind(self.data))
            if self.kind == "lines":
                return {"": rows_of_records(self.lines)}
            if self.kind == "json":
                records = self.document if isinstance(self.document, list) else [self.document]
                return {"": rows_of_records((number, record) for number, record in enumerate(records, start=1))}
            return {"": rows_of_text(self.text)[1]}
        except GridError as error:
            raise self.refused(str(error), f"line {error.line}" if error.line else "") from error
        except ImportError as error:
            raise self.refused(str(error)) from error

    def rows(self, *, quoted: bool = True) -> list[Row]:
        """The rows of a table, each with the line on which it ends; blank ones are left out.

        Args:
            quoted: whether a quotation mark begins a cell in which commas may be; without, only commas separate.

        Raises:
            InputError: it cannot be read, or is too large.
        """
        if quoted:
            if self.sheet and self.sheet not in self.sheets:
                listed = ", ".join(repr(showable(name)) for name in list(self.sheets)[:10])
                raise self.refused(f"there is no sheet {showable(self.sheet)!r} with cells; there are {listed}")
            return self.sheets[self.sheet] if self.sheet else next(iter(self.sheets.values()), [])
        try:
            return csv_rows(self.text, quoting=csv.QUOTE_NONE, delimiter=",")
        except GridError as error:
            raise self.refused(str(error), f"line {error.line}" if error.line else "") from error

    def refused(self, message: str, place: str = "") -> InputError:
        """The error that says what is wrong with this file."""
        return InputError([problem_in(message, self.name, place)])


def _are_json_lines(text: str) -> bool:
    """Whether a text that begins an object is one object a line: the first line is whole, and another one follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.rstrip().endswith("}") or not rest.lstrip().startswith("{") or len(first) > MAX_LINE:
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def unpacked_files(files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files, with those of archives in place of these.

    Raises:
        InputError: there are none, too many, or too much of them, packed or not.
    """
    if not files:
        raise InputError.of("no file was chosen")
    total = sum(len(file.data) for file in files)
    chosen: list[SourceFile] = []
    for file in files:
        if not is_archive(file.data) or table_kind(file.data) or file.base.casefold().endswith(".eval"):
            chosen.append(file)
            continue
        try:
            if file.data.startswith(b"PK") and log_header(file.data, MAX_BYTES) is not None:
                chosen.append(file)
                continue
            parts = unpacked(file.name, file.data, MAX_FILES, max(MAX_TOTAL - total + len(file.data), 0))
        except (ArchiveError, ImportError) as error:
            raise file.refused(str(error)) from error
        total += sum(len(data) for _, data in parts) - len(file.data)
        for name, data in parts:
            part = SourceFile(UNSHOWABLE.sub("_", name)[-255:], data, file.sheet)
            if is_archive(data) and not table_kind(data) and not part.base.casefold().endswith(".eval"):
                raise part.refused("an archive in an archive is not read")
            chosen.append(part)
        if len(chosen) > MAX_FILES:
            break
    if len(chosen) > MAX_FILES:
        raise InputError.of(f"more than {MAX_FILES:,} files; import them in parts")
    if total > MAX_TOTAL:
        raise InputError.of(f"more than {MAX_TOTAL // 2**20} MB; import them in parts")
    if not chosen:
        raise InputError.of("the archive has no files")
    for file in chosen:
        if len(file.data) > MAX_BYTES and file.kind not in ("log", "lines"):  # lines of samples are read one by one
            raise file.refused(f"more than {MAX_BYTES // 2**20} MB in one file")
    return chosen


def pieces(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """The files in pieces that are read one after the other, so that memory has a bound; mostly one.

    Files that belong together are in one piece: what describes a folder is in every piece with files of it.

    Raises:
        InputError: one file holds more than is read at a time.
    """
    sizes = [_size_of(file) for file in files]
    companions: dict[str, list[int]] = {}
    groups: dict[tuple[str, str], list[int]] = {}
    for place, file in enumerate(files):
        folder = file.folder
        if file.base in COMPANIONS:
            companions.setdefault(folder, []).append(place)
            continue
        end = next((end for end in RUN_FILES if file.base.endswith(end)), "")
        groups.setdefault((folder, file.name.removesuffix(end) if end else str(place)), []).append(place)
    groups = groups or {(folder, ""): places for folder, places in companions.items()}
    copies = [replace(file) for file in files]  # without what was read of them
    piece: dict[int, None] = {}
    total = _Size()
    for (folder, _), places in groups.items():
        wanted = [*places, *companions.get(folder, [])]
        added = [place for place in wanted if place not in piece]
        size = total.plus(*(sizes[place] for place in added))
        if piece and not size.fits:
            yield [copies[place] for place in piece]
            piece, added = {}, wanted
            size = _Size().plus(*(sizes[place] for place in wanted))
        if not size.fits:
            raise files[places[0]].refused(size.excess or TOO_MANY)
        piece |= dict.fromkeys(added)
        total = size
    yield [copies[place] for place in piece]


@dataclass(frozen=True)
class _Size:
    """What files have: how many they are, bytes, values of JSON and bytes of YAML."""

    n_files: int = 0
    n_bytes: int = 0
    n_values: int = 0
    n_yaml: int = 0

    def plus(self, *others: "_Size") -> "_Size":
        return _Size(
            self.n_files + sum(other.n_files for other in others),
            self.n_bytes + sum(other.n_bytes for other in others),
            self.n_values + sum(other.n_values for other in others),
            self.n_yaml + sum(other.n_yaml for other in others),
        )

    @property
    def fits(self) -> bool:
        return self.n_files <= MAX_FILES_AT_A_TIME and not self.excess

    @property
    def excess(self) -> str:
        """What of one file is too much; empty where nothing is."""
        if self.n_values > MAX_VALUES:
            return f"more than {MAX_VALUES:,} values; import them in parts"
        if self.n_yaml > MAX_YAML_BYTES:
            return f"more than {MAX_YAML_BYTES // 2**20} MB of YAML; import them in parts"
        return f"more than {MAX_BYTES // 2**20} MB" if self.n_bytes > MAX_BYTES else ""


def _size_of(file: SourceFile) -> _Size:
    """Return what a file has of what is bounded at a time."""
    if file.kind == "binary table":
        return _Size(1, len(file.data))
    text = file.text
    if not text.strip():
        raise file.refused("the file is empty")
    is_json = file.kind in ("json", "lines", "log")
    return _Size(
        1,
        len(text) if file.kind == "log" else len(file.data),
        n_values(text, enough=MAX_VALUES) if is_json else 0,
        len(file.data) if file.kind in ("yaml", "front matter") else 0,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise ValueError(f"the key {showable(key)!r} appears twice in one object")
        entries[key] = value
    return entries
