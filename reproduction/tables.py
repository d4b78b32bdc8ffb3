"""What a section finds: rows of printed and recomputed figures, and whole tables where there are many."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PUBLISHED = Path(__file__).resolve().parent / "published"

AGREES, DIFFERS, OURS_ALONE = "agrees", "differs", "ours alone"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Row:
    """One figure, or a few that belong together.

    Attributes:
        what: what it measures.
        printed: as the paper prints it; empty where the paper has no such figure.
        code: as the authors' code, notebooks or result files have it; empty where they have no such figure.
        ours: as computed.
        verdict: AGREES, DIFFERS or OURS_ALONE: ours against the printed figure, and where there is none, the code's.
        reason: why it differs, from the printed figure or from the code's; may stay empty otherwise.
        n_printed: how many printed numbers the row compares; 0 where it compares none. See printed.py.
        n_equal: to how many of them ours rounds.
    """

    what: str
    printed: str
    code: str
    ours: str
    verdict: str
    reason: str = ""
    n_printed: int = 0
    n_equal: int = 0


@dataclass(frozen=True)
class Grid:
    """Many figures at once; a cell that differs has both, as `ours (theirs X)`."""

    title: str
    header: list[str]
    lines: list[list[str]]


@dataclass(frozen=True)
class Plot:
    """Curves over places at equal distances, as the site's line chart draws them.

    Attributes:
        key: the name of its file in docs/figures/.
        title, description, x_label, y_label: as of the chart.
        places: the texts of the places.
        curves: a value for each place, by name; None where there is none.
        top: the greatest value of the upright axis.
    """

    key: str
    title: str
    description: str
    x_label: str
    y_label: str
    places: list[str]
    curves: dict[str, list[float | None]]
    top: float = 1.0


@dataclass(frozen=True)
class Plane:
    """Points between 0 and 1 with an interval on the upright axis: name, x, low, high."""

    key: str
    title: str
    description: str
    x_label: str
    y_label: str
    points: list[tuple[str, float, float, float]]


@dataclass(frozen=True)
class Result:
    """What a section found.

    Attributes:
        rows, grids, notes: what the page shows, in this order.
        plots, planes: what its figures show.
        facts: figures by name that the essay quotes.
    """

    rows: list[Row]
    grids: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    planes: list[Plane] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Result:
        return cls(
            [Row(**row) for row in stored["rows"]],
            [Grid(**grid) for grid in stored["grids"]],
            list(stored["notes"]),
            [Plot(**plot) for plot in stored["plots"]],
            [Plane(**{**plane, "points": [tuple(p) for p in plane["points"]]}) for plane in stored["planes"]],
            dict(stored["facts"]),
        )


@dataclass(frozen=True)
class Section:
    """One published table.

    Attributes:
        key: its name on the command line.
        title: its heading.
        boards: the leaderboards that it reads; see boards.py.
        compute: compute(progress) returns its Result; progress(done, total) is called now and then.
        sources: where the published figures come from; empty where there are none.
        is_slow: it takes more than some seconds.
    """

    key: str
    title: str
    boards: tuple[str, ...]
    compute: Callable[[Progress], Result]
    sources: tuple[str, ...] = ()
    is_slow: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper: its heading, what is said before its tables, its sections, and what is left out and why."""

    title: str
    citation: str
    about: str
    sections: tuple[Section, ...]
    left_out: tuple[str, ...] = ()


def published(name: str) -> dict[str, Any]:
    """Return one file of `published/`."""
    return tomllib.loads((PUBLISHED / f"{name}.toml").read_text(encoding="utf-8"))


def printed_scores(table: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the printed score of each of `names`.

    Raises:
        ValueError: a line names no system of the board, or a system has neither a line nor a `rest`.
    """
    lines = [line.partition(": ") for line in table["lines"].strip().splitlines()]
    scores = {name: score for score, _, name in lines}
    if unknown := set(scores) - set(names):
        raise ValueError(f"published scores of unknown systems: {', '.join(sorted(unknown))}")
    if "rest" not in table and (left := set(names) - set(scores)):
        raise ValueError(f"no published score of {', '.join(sorted(left))}, and no `rest`")
    return {name: scores.get(name, table.get("rest", "")) for name in names}


def same(printed: str, ours: float) -> bool:
    """Whether `ours` rounds to what was printed, with as many decimals; halves may go either way."""
    if printed == "nan" or math.isnan(ours):
        return printed == "nan" and math.isnan(ours)
    return abs(float(printed) - ours) <= 0.5 * 10.0 ** -decimals(printed) + 1e-9 * max(1.0, abs(ours))


def decimals(printed: str) -> int:
    return len(printed.partition(".")[2])


def number(value: float, digits: int = 2) -> str:
    """Return one of our figures; `undefined` where there is none, and no minus before a zero."""
    if math.isnan(value):
        return "undefined"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def compared(what: str, ours: float, *, printed: str = "", code: str = "", because: str = "") -> Row:
    """Return the row of a single figure, with the reason if it differs from the printed one or the code's.

    Args:
        what: what it measures.
        ours: as computed.
        printed, code: as texts, so that their decimals say how far to compare; at least one of them.
        because: why it differs.
    """
    return listed(what, [ours], printed=[printed] if printed else (), code=[code] if code else (), because=because)


def listed(
    what: str, ours: Sequence[float], *, printed: Sequence[str] = (), code: Sequence[str] = (), because: str = ""
) -> Row:
    """Return the row of a few figures that belong together, as `compared`."""
    references = [texts for texts in (printed, code) if texts]
    n_same = [sum(same(text, value) for text, value in zip(texts, ours, strict=True)) for texts in references]
    agree = [n == len(ours) for n in n_same]
    figures = ", ".join(number(v, 2 if t == "nan" else decimals(t)) for t, v in zip(references[0], ours, strict=True))
    verdict = AGREES if agree[0] else DIFFERS
    counts = (len(printed), n_same[0]) if printed else (0, 0)
    return Row(what, ", ".join(printed), ", ".join(code), figures, verdict, "" if all(agree) else because, *counts)


def names_compared(
    what: str,
    ours: Iterable[str],
    *,
    printed: Iterable[str] | None = None,
    code: Iterable[str] | None = None,
    because: str = "",
) -> Row:
    """Return the row of a set of systems, as `compared`."""
    on_paper, in_code = ("" if names is None else "; ".join(sorted(names)) or "no system" for names in (printed, code))
    own = "; ".join(sorted(ours)) or "no system"
    agree = [text == own for text in (on_paper, in_code) if text]
    return Row(what, on_paper, in_code, own, AGREES if agree[0] else DIFFERS, "" if all(agree) else because)


def ours_alone(what: str, ours: str) -> Row:
    """Return the row of a figure that neither the paper nor its authors' code has."""
    return Row(what, "", "", ours, OURS_ALONE)


def cell(printed: str, ours: float) -> str:
    """Return a cell of a grid."""
    text = number(ours, 2 if printed == "nan" else decimals(printed))
    return text if same(printed, ours) else f"**{text}** (theirs {printed})"
