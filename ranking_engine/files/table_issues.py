"""What is wrong with a table, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ranking_engine.text.names import shorten

if TYPE_CHECKING:
    from ranking_engine.files.tables import Table


@dataclass(frozen=True)
class TableIssue:
    """One thing that is wrong with a table.

    Attributes:
        line: the line of the file, from 1; None where the whole file is meant.
        column: the column of the table, from 1 (not a position in the line); None for the whole line.
        column_name: the column's name, where it has one.
        message: what is wrong, without the place.
    """

    line: int | None
    column: int | None
    column_name: str | None
    message: str

    def __str__(self) -> str:
        place = [] if self.line is None else [f"line {self.line}"]
        if self.column is not None:
            name = f" ({shorten(self.column_name)})" if self.column_name else ""
            place.append(f"column {self.column}{name}")
        return f"{', '.join(place)}: {self.message}" if place else self.message


class TableError(ValueError):
    """A table cannot be read; `errors` holds up to 100 issues, in the order of the file.

    `readable` is what can still be read, so that more can be checked at once: the rows whose name and length are
    right, with NaN in cells that are no numbers. It is None where reading stopped.
    """

    def __init__(
        self,
        errors: Sequence[TableIssue],
        source: str = "table",
        *,
        is_cut: bool = False,
        readable: Table | None = None,
    ) -> None:
        self.errors = tuple(errors)
        self.source = source
        self.is_cut = is_cut
        self.readable = readable
        super().__init__(self.one_line())

    def one_line(self) -> str:
        """Return the first issue with its place, and how many more there are, on one line."""
        n_more = len(self.errors) - 1
        more = f" (and {n_more}{' or more' if self.is_cut else ''} more)" if n_more else ""
        joint = ", " if self.errors[0].line is not None else ": "
        return f"{self.source}{joint}{self.errors[0]}{more}"
