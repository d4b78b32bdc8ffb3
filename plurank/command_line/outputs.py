"""The formats in which the commands of the package write their tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from plurank.tables import ResultTable


def _as_json(table: ResultTable) -> str:
    """Return title, rows and notes as JSON."""
    content = {"title": table.title, "rows": table.rows(), "notes": list(table.notes)}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _as_markdown(table: ResultTable) -> str:
    """Return a heading, the table, and the notes below it."""
    notes = "".join(f"\n- {note}" for note in table.notes)
    return f"### {table.title}\n\n{table.to_markdown()}" + (f"{notes}\n" if notes else "")


FORMATS: Mapping[str, Callable[[ResultTable], str]] = {
    "table": lambda table: f"{table.to_text()}\n",
    "markdown": _as_markdown,
    "json": _as_json,
    "csv": ResultTable.to_csv,
}


def written(table: ResultTable, format_name: str) -> str:
    """Return a table in one of FORMATS."""
    return FORMATS[format_name](table)
