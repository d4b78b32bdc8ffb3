"""Every place where one of the papers prints numbers, and what becomes of these.

The places of a paper are in `published/<paper>_printed.toml`, under `[places."table 1"]`:

    numbers = 98                      how many numbers are printed there
    sections = ["rofin-agreement"]    whose rows compare them
    not_compared = [{ n = 7, why = "the formula was lost in the text" }]

The tests find every table, figure and passage again in the papers' texts, and count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reproduction.tables import Result, published

UNEXPLAINED = "not established"  # what the reason of a row says whose difference has no known cause
PAPERS = ("rofin_2023", "zhang_2024", "colombo_2022", "pavao_2021")


@dataclass(frozen=True)
class Place:
    """A table, a figure or a passage that prints numbers.

    Attributes:
        paper: the file of `published/`, without `_printed`.
        where: as "table 1", "figure 2" or "section 3.2".
        numbers: how many numbers are printed there.
        sections: the sections whose rows compare them.
        not_compared: how many are not compared, and why.
    """

    paper: str
    where: str
    numbers: int
    sections: tuple[str, ...]
    not_compared: tuple[tuple[int, str], ...]

    @property
    def compared(self) -> int:
        """How many of its numbers are compared."""
        return self.numbers - sum(n for n, _ in self.not_compared)


def places() -> list[Place]:
    """Return all places, paper by paper, in the order of the files."""
    return [
        Place(
            paper,
            where,
            int(of["numbers"]),
            tuple(of.get("sections", ())),
            tuple((int(each["n"]), str(each["why"])) for each in of.get("not_compared", ())),
        )
        for paper in PAPERS
        for where, of in published(f"{paper}_printed")["places"].items()
    ]


@dataclass(frozen=True)
class Counts:
    """What becomes of the printed numbers.

    Attributes:
        printed: by the papers, in all.
        equal, different: to ours, of those that are compared.
        not_compared: for a reason that is stated.
        unexplained: of those that differ, how many have no known cause.
        unexplained_rows: in how many rows these are.
    """

    printed: int
    equal: int
    different: int
    not_compared: int
    unexplained: int
    unexplained_rows: int


def counts(results: Mapping[str, Result]) -> Counts:
    """Count the printed numbers of all papers."""
    rows = [row for result in results.values() for row in result.rows]
    n_compared, n_equal = sum(row.n_printed for row in rows), sum(row.n_equal for row in rows)
    n_printed = sum(place.numbers for place in places())
    unexplained = [row for row in rows if UNEXPLAINED in row.reason]
    return Counts(
        printed=n_printed,
        equal=n_equal,
        different=n_compared - n_equal,
        not_compared=sum(n for place in places() for n, _ in place.not_compared),
        unexplained=sum(row.n_printed - row.n_equal for row in unexplained),
        unexplained_rows=len(unexplained),
    )
