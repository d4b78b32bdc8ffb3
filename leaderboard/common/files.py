"""Tables as files: the one place that writes CSV, JSON, LaTeX and Markdown, each with its own way of escaping.

Each is written line by line, so that a large table is never in memory as text.

CSV and JSON give every digit; LaTeX and Markdown, which people read, as many as arithmetic left behind nothing in.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from leaderboard.common.file_parts import file_response
from leaderboard.common.paging import with_parameters
from leaderboard.common.text import MINUS, value_text
from ranking_engine.files import csv_rows
from ranking_engine.text.characters import writable
from ranking_engine.text.markup import escape_latex, escape_markdown
from ranking_engine.text.names import FORMULA_INSIDE, FORMULA_PREFIXES

Value = str | int | float | bool | None


@dataclass(frozen=True)
class ColumnHead:
    """A column: what programs call it, and what people read above it."""

    key: str
    name: str
    is_text: bool = False  # set to the left, numbers to the right


@dataclass(frozen=True)
class ExportTable:
    """A table that is written as a file.

    Attributes:
        stem: the file's name without its ending.
        caption: what it is, in a line; LaTeX and Markdown have it above the table.
        headings: its columns.
        rows: one value a column; None is an empty cell. They are gone through once, and may be made meanwhile.
        about: what the figures rest on, for JSON: the revision and whatever was asked for.
    """

    stem: str
    caption: str
    headings: Sequence[ColumnHead]
    rows: Iterable[Sequence[Value]]
    about: Mapping[str, Any] = field(default_factory=dict)


def listed_export(stem: str, caption: str, keys: Sequence[str], entries: Sequence[Mapping[str, Any]]) -> ExportTable:
    """The entries of a list as a table, with these of their fields."""
    rows = [[entry.get(key) for key in keys] for entry in entries]
    is_text = [any(isinstance(row[k], str) for row in rows) for k in range(len(keys))]
    headings = [ColumnHead(key, key.replace("_", " "), is_text=text) for key, text in zip(keys, is_text, strict=True)]
    return ExportTable(stem, caption, headings, rows)


def spreadsheet_csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Rows as lines of CSV: numbers with every digit, None as an empty cell, texts so that no spreadsheet takes one for
    a formula. Names cannot begin like one and stay as they are."""
    return csv_rows.csv_lines([_csv_cell(value) for value in row] for row in rows)


def spreadsheet_csv_text(rows: Iterable[Sequence[object]]) -> str:
    """As `spreadsheet_csv_lines`, in one text."""
    return "".join(spreadsheet_csv_lines(rows))


def _csv_cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, str):
        apart = FORMULA_INSIDE.sub(lambda inside: f"{inside[0][:-1]}'{inside[0][-1]}", writable(value))
        return f"'{apart}" if apart.startswith(FORMULA_PREFIXES) else apart
    return value


def export_csv(table: ExportTable) -> Iterator[str]:
    """The table under its keys."""
    return spreadsheet_csv_lines(chain([[heading.key for heading in table.headings]], table.rows))


def _export_json(table: ExportTable) -> Iterator[str]:
    """What the table rests on, and its rows as objects by key."""
    keys = [heading.key for heading in table.headings]
    rows = (
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in zip(keys, row, strict=True)
        }
        for row in table.rows
    )
    return json_lines({**table.about, "caption": table.caption, "columns": keys}, "rows", rows)


def json_text(content: Any) -> str:  # noqa: ANN401
    """Content as JSON that people can read, too."""
    return _json(content) + "\n"


def json_lines(head: Mapping[str, Any], name: str, entries: Iterable[Any]) -> Iterator[str]:
    """What `json_text` writes of `head` with one more list at its end, entry by entry."""
    yield _json({**head, name: []}).removesuffix("]\n}")
    is_empty = True
    for entry in entries:
        yield f"{'' if is_empty else ','}\n  " + _json(entry).replace("\n", "\n  ")
        is_empty = False
    yield "]\n}\n" if is_empty else "\n ]\n}\n"


def _json(content: Any) -> str:  # noqa: ANN401
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)


def export_latex(table: ExportTable) -> Iterator[str]:
    """The table for LaTeX with the package booktabs."""
    cells = ([latex_text(_shown(value)) if value is not None else "--" for value in row] for row in table.rows)
    return latex_table(table.caption, table.headings, cells)


def latex_table(caption: str, headings: Sequence[ColumnHead], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a `tabular` with booktabs' rules, under a comment that says what it is.

    Args:
        caption: of the table.
        headings: its columns.
        rows: cells that are LaTeX already.
    """
    yield f"% {_line(caption)}\n"
    yield "% \\usepackage{booktabs}\n"
    yield f"\\begin{{tabular}}{{{''.join('l' if heading.is_text else 'r' for heading in headings)}}}\n"
    yield "\\toprule\n"
    yield f"{' & '.join(latex_text(heading.name) for heading in headings)} \\\\\n"
    yield "\\midrule\n"
    for cells in rows:
        yield f"{' & '.join(cells)} \\\\\n"
    yield "\\bottomrule\n\\end{tabular}\n"


def latex_text(text: str) -> str:
    """A text in which LaTeX finds no command."""
    return escape_latex(_line(text))


def export_markdown(table: ExportTable) -> Iterator[str]:
    """The table for Markdown."""
    cells = ([markdown_text(_shown(value)) if value is not None else "–" for value in row] for row in table.rows)
    return markdown_table(table.caption, table.headings, cells)


def markdown_table(caption: str, headings: Sequence[ColumnHead], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table as GitHub writes it, under a line that says what it is.

    Args:
        caption: of the table.
        headings: its columns.
        rows: cells that are Markdown already.
    """
    yield f"{markdown_text(caption)}\n\n"
    yield f"| {' | '.join(markdown_text(heading.name) for heading in headings)} |\n"
    yield f"|{'|'.join('---' if heading.is_text else '---:' for heading in headings)}|\n"
    for cells in rows:
        yield f"| {' | '.join(cells)} |\n"


def markdown_text(text: str) -> str:
    """A text in which Markdown finds no mark-up and a table no end of a cell."""
    return escape_markdown(_line(text))


def _shown(value: Value) -> str:
    """A cell for people, on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return value_text(value).replace("-", MINUS, 1) if math.isfinite(value) else ""
    return str(value)


def _line(text: str) -> str:
    """A text on one line, without what a terminal or LaTeX would obey."""
    return writable(" ".join(text.split())).strip()


# By the ending of the file: its content type, and what writes it.
EXPORT_FORMATS: dict[str, tuple[str, Callable[[ExportTable], Iterator[str]]]] = {
    "csv": ("text/csv", export_csv),
    "json": ("application/json", _export_json),
    "tex": ("application/x-tex", export_latex),
    "md": ("text/markdown", export_markdown),
}
FORMAT_NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "md": "Markdown"}


def csv_response(request: HttpRequest, name: str, rows: Iterable[Sequence[object]]) -> HttpResponseBase:
    """Rows as a CSV file of this name; they may be made while it is sent."""
    response = file_response(request, spreadsheet_csv_lines(rows), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def export_links(key: str, table: str, **parameters: object) -> list[dict[str, str]]:
    """Where a table of a benchmark is to be had, in every format.

    Args:
        key: the benchmark's.
        table: one of those of `views.exports`.
        parameters: parameters of the address; empty ones are left out.
    """
    return [
        {"label": label, "url": export_url(key, table, extension, **parameters)}
        for extension, label in FORMAT_NAMES.items()
    ]


def export_url(key: str, table: str, extension: str, **parameters: object) -> str:
    """Where one file of a benchmark is to be had."""
    return with_parameters(reverse("export", args=[key, table, extension]), **parameters)
