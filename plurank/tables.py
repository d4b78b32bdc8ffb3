"""What every result is: a small table that knows its names, for notebooks, files and frames."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from plurank import frames
from ranking_engine.files.csv_rows import csv_text
from ranking_engine.text.grids import Grid, cell, latex_grid, markdown_grid, text_grid

MAX_ROWS = 60  # that a notebook shows; `to_frame` has them all
RANK_COLUMNS = frozenset({"rank", "lower", "upper", "before", "after", "places"})  # of all tables but a landscape
_STYLE = "text-align:right;font-variant-numeric:tabular-nums"


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable:
    """A table of results. What does not exist, such as the rank of an unranked system, is None.

    Attributes:
        title: what it shows.
        columns: by name, each with one value a row; the first one names the rows.
        notes: remarks on the figures.
        backend: the library whose frames `to_frame` makes unless you name another; None: the first that is installed.
    """

    title: str
    columns: Mapping[str, Any]
    notes: Sequence[str]
    backend: str | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return list(self.columns[column])

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows, each as a dict by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401 -- of whichever library
        """Return the table as a data frame.

        Args:
            backend: "pandas", "polars" or "pyarrow"; default the library that the scores came in, else the first of
                these that is installed. In pandas the first column is the index.

        Raises:
            ImportError: the library is not installed.
        """
        whole = [column for column in self.columns if self.is_whole(column)]
        frame = frames.to_frame(self.columns, backend or self.backend, whole)
        return frame.set_index(next(iter(self.columns))) if hasattr(frame, "set_index") else frame

    def is_whole(self, column: str) -> bool:
        """Whether a column is of whole numbers, also where it is empty."""
        return column in RANK_COLUMNS

    def to_csv(self) -> str:
        """Return the table as CSV; empty where a value is missing."""
        return csv_text([list(self.columns), *map(list, zip(*self.columns.values(), strict=True))])

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return "\n".join(markdown_grid(self._grid(None))) + "\n"

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular; its rules need the package booktabs."""
        return "\n".join(latex_grid(self._grid(None))) + "\n"

    def _grid(self, limit: int | None) -> Grid:
        rows = zip(*(values[:limit] for values in self.columns.values()), strict=True)
        return [list(self.columns), *([readable(value) for value in row] for row in rows)]

    def to_text(self, limit: int | None = None) -> str:
        """Return title, table and notes as text, at most `limit` rows of it."""
        lines = ["", *text_grid(self._grid(limit))] if len(self) else []
        n_more = 0 if limit is None else max(0, len(self) - limit)
        more = [f"... and {n_more} more rows"] if n_more else []
        return "\n".join([self.title, *lines, *more, *(["", *self.notes] if self.notes else [])])

    def __repr__(self) -> str:
        return self.to_text(MAX_ROWS)

    def _repr_html_(self) -> str:
        header, *rows = self._grid(MAX_ROWS)
        quoted = partial(html.escape, quote=True)
        lines = [f"<table><caption>{quoted(self.title)}</caption>", "<thead><tr>"]
        lines += [f'<th scope="col">{quoted(name)}</th>' for name in header]
        lines.append("</tr></thead><tbody>")
        for name, *cells in rows:
            tail = "".join(f'<td style="{_STYLE}">{quoted(text)}</td>' for text in cells)
            lines.append(f'<tr><th scope="row" style="text-align:left">{quoted(name)}</th>{tail}</tr>')
        lines.append("</tbody></table>")
        if len(self) > MAX_ROWS:
            lines.append(f"<p>... and {len(self) - MAX_ROWS} more rows; <code>to_frame()</code> has them all</p>")
        lines += [f"<p>{quoted(note)}</p>" for note in self.notes]
        return "\n".join(lines)


def readable(value: object) -> str:
    """Return a value as tables show it: four significant decimals, "–" where there is none."""
    if isinstance(value, float) and not math.isnan(value):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return "–" if value is None or isinstance(value, float) else cell(value)


def numbers(values: Any) -> list[Any]:  # noqa: ANN401 -- an array
    """Return an array as plain numbers, None where it is NaN."""
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values.tolist()]
