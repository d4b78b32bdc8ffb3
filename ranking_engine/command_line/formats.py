"""The formats in which the commands write what they report."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ranking_engine.files.csv_rows import csv_text
from ranking_engine.text.grids import Grid, latex_grid, markdown_grid, text_grid
from ranking_engine.text.json_text import json_text
from ranking_engine.text.markup import escape_markdown

NOTHING = "-"  # the cell of a figure that there is not
FORMATS = ("table", "json", "csv", "markdown", "latex")


@dataclass(frozen=True)
class TitledGrid:
    """A table of a report.

    Attributes:
        grid: the header, and a row for each system, rule or task.
        title: a heading of its own; empty for none.
        caption: what is directly above the table; empty for nothing.
    """

    grid: Grid
    title: str = ""
    caption: str = ""


Blocks = list[str | TitledGrid]


@dataclass(frozen=True)
class Layout:
    """How the reports of one command are written: the JSON is the report, and these functions make the rest of it.

    Attributes:
        rows: of the CSV, the header first; None is an empty cell.
        blocks: paragraphs and tables, in order. A paragraph can have several lines.
        heading: a paragraph above everything else; empty for none.
        notes: a line for each thing that the tables do not tell.
    """

    rows: Callable[[Any], Sequence[Sequence[object]]]
    blocks: Callable[[Any], Blocks]
    heading: Callable[[Any], str] = lambda _: ""
    notes: Callable[[Any], Sequence[str]] = lambda _: ()

    def written(self, report: Any, format_name: str) -> str:  # noqa: ANN401 -- every command has its own
        """Return a report in one of FORMATS."""
        if format_name == "json":
            return json_text(report)
        if format_name == "csv":
            return csv_text(self.rows(report))
        writer = {"table": _as_text, "markdown": _as_markdown, "latex": _as_latex}[format_name]
        return writer(self.heading(report), self.blocks(report), self.notes(report))


def add_format_argument(command: argparse.ArgumentParser, remark: str = "") -> None:
    """Declare --format, with a remark for its help."""
    command.add_argument("--format", choices=FORMATS, default="table", help=f"default: table{remark}")


def best_first(ranks: Mapping[str, int | None]) -> list[str]:
    """Return the systems by their rank, then by their name; those without a rank are last."""
    return sorted(ranks, key=lambda name: (ranks[name] or math.inf, name))


def rank_cell(rank: int | None) -> str:
    """Return a rank as a cell."""
    return NOTHING if rank is None else str(rank)


def _as_text(heading: str, blocks: Blocks, notes: Sequence[str]) -> str:
    parts = [heading]
    for block in blocks:
        if isinstance(block, str):
            parts.append(block)
        else:
            parts.append(block.title)
            parts.append("\n".join([*([block.caption] if block.caption else []), *text_grid(block.grid)]))
    return _joined([*parts, "\n".join(notes)])


def _as_markdown(heading: str, blocks: Blocks, notes: Sequence[str]) -> str:
    parts = [escape_markdown(heading)]
    for block in blocks:
        if isinstance(block, str):
            parts.append(escape_markdown(block))
        else:
            parts.append(f"### {escape_markdown(block.title)}" if block.title else "")
            parts.append(f"{escape_markdown(block.caption)}:" if block.caption else "")
            parts.append("\n".join(markdown_grid(block.grid)))
    return _joined([*parts, "\n".join(f"- {escape_markdown(note)}" for note in notes)])


def _as_latex(heading: str, blocks: Blocks, notes: Sequence[str]) -> str:
    """Return the tables as tabulars, whose rules need the package booktabs, and all texts as comments.

    The comments of the heading and of the notes come first, those of a table are above it.
    """
    lines = [*_comments(heading), *(line for note in notes for line in _comments(note))]
    for block in blocks:
        if isinstance(block, str):
            lines += _comments(block)
        else:
            lines += [*_comments(block.title), *_comments(block.caption), *latex_grid(block.grid), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _comments(text: str) -> list[str]:
    return [f"% {' '.join(line.split())}" for line in text.splitlines()]
