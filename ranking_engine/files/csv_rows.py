"""Rows as CSV, every text as it is: nothing here tames what a spreadsheet takes for a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

# Not only what separates cells here: where a spreadsheet splits at semicolons or tabs, a cell that holds one ends in
# its middle unless it is quoted, and what follows may be a formula.
_QUOTED = re.compile('[,;\t"\r\n]')


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, each with a line feed at its end.

    Args:
        rows: of texts, numbers and None, which is an empty cell. A cell is quoted where it holds a comma, a semicolon,
            a tab, a quotation mark or the end of a line.
    """
    return "".join(csv_lines(rows))


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield what `csv_text` returns line by line, for tables that are too large to be text as a whole."""
    return (f"{csv_line(row)}\n" for row in rows)


def csv_line(row: Sequence[object]) -> str:
    """Return one row as CSV, without an end of the line."""
    if len(row) == 1 and row[0] in (None, ""):
        return '""'  # else the line would be blank, which is no row
    return ",".join(map(_cell, row))


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
