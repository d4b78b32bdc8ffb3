"""Rows of cells from the texts in which people keep tables: CSV, Markdown, HTML, LaTeX, JSON records and JSON lines.

Every reader counts cells before it makes texts of them, so that what is too large is refused and not split.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, Literal

from ranking_engine.files.dialect import delimiter_of
from ranking_engine.text.characters import UNSHOWABLE
from ranking_engine.text.markup import keep_latex, keep_markdown, show_kept

MAX_ROWS = 100_000
MAX_COLUMNS = 2_000
MAX_CELLS = 500_000
MAX_CELL = 4_000  # characters
MAX_MARKUP = 2_000_000  # characters of a text whose table is in Markdown, HTML or LaTeX

Row = tuple[int, list[str]]  # the line on which it ends, and its cells
# Texts come from strangers: no part of a pattern may be tried again for another length (`*+`), or it has few of them.
_RULE = re.compile(r"\s*+\|?+\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?+\s*+")  # below the header of a Markdown table
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|\*(.+?)\*|`(.+?)`")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_TABULAR = re.compile(r"\\begin\{(?:tabular[x*]?|longtable)\}")
_LATEX_LINES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|endhead|endfirsthead|endfoot|endlastfoot|cmidrule(?:\([^)\n]{0,50}\))?"
    r"\{[^}\n]{0,50}\}|cline\{[^}\n]{0,50}\}|addlinespace(?:\[[^\]\n]{0,50}\])?)"
)
_LATEX_COMMAND = re.compile(r"\\(?:textbf|textit|underline|emph|text|mathbf|texttt|textsc|mathrm)\s*\{([^{}]*)\}")


class GridError(ValueError):
    """A text that is no table, or too large a one; `line` is where, where that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def rows_of_text(text: str) -> tuple[str, list[Row]]:
    """Return what kind of table a text is, and its rows without blank ones.

    Args:
        text: of a file.

    Raises:
        GridError: it is none, or too large.
    """
    kind, read = next(((name, read) for name, is_it, read in _MARKUP if is_it(text)), ("", None))
    if read is None:
        return "CSV", csv_rows(text)
    if len(text) > MAX_MARKUP:
        raise GridError(f"more than {MAX_MARKUP:,} characters of {kind}")
    return kind, bounded(read(text))


def _is_html(text: str) -> bool:
    return text.lstrip()[:1] == "<" and "<table" in text[:200_000].casefold()


def _is_latex(text: str) -> bool:
    return _TABULAR.search(text[:200_000]) is not None


def _is_markdown(text: str) -> bool:
    """Whether there is a line of hyphens below a header, which is what makes bars separators."""
    return any(
        "|" in line and "|" in below and "-" in below and _RULE.fullmatch(below[:10_000])
        for line, below in itertools.pairwise(text[:100_000].splitlines())
    )


def bounded(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that are not blank.

    Raises:
        GridError: there are too many of them, or of their cells, or a cell is too long.
    """
    kept: list[Row] = []
    n_cells = 0
    for line, row in rows:
        n_cells += len(row)
        if len(row) > MAX_COLUMNS:
            raise GridError(f"more than {MAX_COLUMNS:,} columns", line)
        if n_cells > MAX_CELLS:
            raise GridError(f"more than {MAX_CELLS:,} cells; import the table in parts", line)
        if any(len(cell) > MAX_CELL for cell in row):
            raise GridError(
                f"a cell has more than {MAX_CELL:,} characters; perhaps a quotation mark is not closed", line
            )
        if any(cell.strip() for cell in row):
            kept.append((line, row))
        if len(kept) > MAX_ROWS:
            raise GridError(f"more than {MAX_ROWS:,} rows", line)
    return kept


def csv_rows(text: str, *, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL, delimiter: str = "") -> list[Row]:
    """Return the rows of a CSV that are not blank.

    Args:
        text: of the file.
        quoting: whether a quotation mark begins a cell in which separators may be; without, it is a letter.
        delimiter: what separates cells; the first of the header's comma, semicolon or tab where empty.

    Raises:
        GridError: it cannot be read, or is too large.
    """
    delimiter = delimiter or delimiter_of(text)
    n_marks = 0  # separators since the last row: a row is refused before it is split into far too many texts

    def counted() -> Iterator[str]:
        nonlocal n_marks
        for number, line in enumerate(io.StringIO(text, newline=""), start=1):
            n_marks += line.count(delimiter)
            if n_marks > 10 * MAX_COLUMNS:  # some may be in texts
                raise GridError(f"more than {MAX_COLUMNS:,} columns", number)
            yield line

    reader = csv.reader(counted(), strict=True, quoting=quoting, delimiter=delimiter)

    def rows() -> Iterator[Row]:
        nonlocal n_marks
        for row in reader:
            n_marks = 0
            yield reader.line_num, row

    try:
        return bounded(rows())
    except csv.Error as error:
        raise GridError(f"not readable as CSV: {error}", reader.line_num) from error


def rows_of_records(records: Iterable[tuple[int, Any]]) -> list[Row]:
    """Return a table from objects, each with its line: a header with every key, then a row an object.

    An object in an object has its keys behind a point: `{"metrics": {"acc": 1}}` is the column `metrics.acc`.

    Raises:
        GridError: one is no object, or they are too many.
    """
    places: dict[str, int] = {}
    cells: list[tuple[int, dict[int, str]]] = []
    n_cells = 0
    for line, record in records:
        if not isinstance(record, Mapping):
            raise GridError("expected an object with a value for each column", line)
        flat: list[tuple[str, object]] = []
        for key, value in record.items():
            if isinstance(value, Mapping):
                flat += [(f"{key}.{inner}", inner_value) for inner, inner_value in value.items()]
            else:
                flat.append((str(key), value))
        row: dict[int, str] = {}
        for name, value in flat:
            if (text := _cell(value)) is not None:
                row[places.setdefault(UNSHOWABLE.sub("_", name), len(places))] = text
        n_cells += len(flat)
        if len(places) > MAX_COLUMNS:
            raise GridError(f"more than {MAX_COLUMNS:,} columns", line)
        cells.append((line, row))
        if n_cells > MAX_CELLS or len(places) * len(cells) > MAX_CELLS:
            raise GridError(f"more than {MAX_CELLS:,} cells; import the table in parts", line)
    header = list(places)
    return bounded([(1, header), *((line, [row.get(c, "") for c in range(len(header))]) for line, row in cells)])


def _cell(value: object) -> str | None:
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 -- NaN
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else "a large number"
    if isinstance(value, float):
        return repr(value)
    # JSON may spell what no text has: halves of characters, and a NUL.
    return UNSHOWABLE.sub("_", value) if isinstance(value, str) else json.dumps(value, default=str)[: MAX_CELL // 2]


def _markdown_rows(text: str) -> Iterator[Row]:
    """The rows of the first table."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if number and "|" in line and "-" in line and "|" in lines[number - 1] and _RULE.fullmatch(line[:10_000]):
            yield number, _markdown_cells(lines[number - 1])
            for below, row in enumerate(lines[number + 1 :], start=number + 2):
                if "|" not in row:
                    return
                yield below, _markdown_cells(row)
            return


def _markdown_cells(line: str) -> list[str]:
    if line.count("|") > MAX_COLUMNS + 1:
        raise GridError(f"more than {MAX_COLUMNS:,} columns")
    inner = keep_markdown(line.strip()).removeprefix("|").removesuffix("|")
    cells = [_LINK.sub(r"\1", cell.strip()[:MAX_CELL]) for cell in inner.split("|")]
    plain = (_EMPHASIS.sub(lambda match: next(part for part in match.groups() if part), cell) for cell in cells)
    return [show_kept(cell).strip() for cell in plain]


def _latex_rows(text: str) -> Iterator[Row]:
    """The rows of the first table, without its rules."""
    match = _TABULAR.search(text)
    begin = match.end() if match else 0
    end = text.find("\\end{", begin)
    body = text[begin : end if end >= 0 else len(text)]
    # Behind the name of the environment are its columns, as in {l|rr}.
    first = body.find("\n")
    specification, body = body[:first], body[first:]
    if "\\\\" in specification:  # all of it is on one line
        close = specification.rfind("}", 0, specification.find("&") if "&" in specification else None)
        body = specification[close + 1 :] + body
    line = text[:begin].count("\n") + 1
    if body.count("&") > MAX_CELLS:
        raise GridError(f"more than {MAX_CELLS:,} cells; import the table in parts", line)
    for row in body.split("\\\\"):
        line += row.count("\n")
        cells = []
        for cell in _LATEX_LINES.sub("", re.sub(r"(?<!\\)%.*", "", row)).replace("\\&", "\0").split("&"):
            plain = keep_latex(cell.replace("\0", "\\&").strip()[:MAX_CELL])
            for _ in range(5):  # one command for a font may be in another
                plain = _LATEX_COMMAND.sub(r"\1", plain)
            plain = plain.replace("\\pm", "±").replace("~", " ").replace("$", "").replace("{,}", ",")
            cells.append(show_kept(plain.strip("{} ")).strip())
        yield line, cells


class _Table(HTMLParser):
    """The cells of the first table of a page; tables within it are part of their cell."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []
        self.n_cells = self.depth = 0
        self.is_done = self.is_in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.is_done:
            return
        if tag == "table":
            self.depth += 1
        elif self.depth == 1 and tag == "tr":
            self.rows.append((self.getpos()[0], []))
        elif self.depth == 1 and tag in ("td", "th") and self.rows:
            text = dict(attrs).get("colspan") or "1"
            span = int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 1
            self.n_cells += span
            if span > MAX_COLUMNS or self.n_cells > MAX_CELLS or len(self.rows) > MAX_ROWS:
                raise GridError(f"more than {MAX_CELLS:,} cells; import the table in parts", self.getpos()[0])
            self.rows[-1][1].extend([""] * max(span, 1))
            self.is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.is_in_cell = False
        elif tag == "table" and self.depth:
            self.depth -= 1
            self.is_done = self.is_done or not self.depth

    def handle_data(self, data: str) -> None:
        if self.is_in_cell and not self.is_done and self.rows and self.rows[-1][1]:
            cells = self.rows[-1][1]
            cells[-1] = (cells[-1] + " ".join(data.split()))[: MAX_CELL + 1]


def _html_rows(text: str) -> list[Row]:
    table = _Table()
    table.feed(text)
    return table.rows


# By what is in a text; what is none of these is CSV.
_MARKUP: Sequence[tuple[str, Callable[[str], bool], Callable[[str], Iterable[Row]]]] = (
    ("HTML", _is_html, _html_rows),
    ("LaTeX", _is_latex, _latex_rows),
    ("Markdown", _is_markdown, _markdown_rows),
)
