"""A heat map: one square for each pair of a row and a column, coloured by its distance from the middle."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.common.charts.text_width import label_room

LEAST_LABEL, GAP = 100, 4
SLANT = math.radians(48)  # of the names over the columns
TYPE, LEAD = 11, 7  # the size of the names; how far one over a column is from it
WIDEST, NARROWEST, SIDE = 40, 18, 560  # sizes of a square, and what all of them together may take
TEXT_FITS = 30  # squares as wide as this hold their value
LABEL_LETTERS = 24
LEVELS = 5


@dataclass(frozen=True)
class HeatCell:
    """One square: `level` is its colour, `p5` to `p1` above the middle, `z` at it, `m1` to `m5` below, `none`."""

    x: str
    y: str
    level: str
    text: str
    said: str
    url: str


@dataclass(frozen=True)
class HeatRow:
    """The squares of one row, with its label."""

    name: str
    url: str
    said: str
    y: str
    cells: list[HeatCell]


@dataclass(frozen=True)
class HeatLabel:
    """What is over a column."""

    name: str
    x: str


@dataclass(frozen=True)
class HeatMap:
    """What the template draws, in a box of `width` by `height`; `legend` are levels with what they mean."""

    title: str
    description: str
    rows: list[HeatRow]
    columns: list[HeatLabel]
    legend: list[tuple[str, str]]
    size: int
    half: str
    width: int
    height: int
    label: int
    top: int
    lead: int = LEAD


def heat_map(
    title: str,
    description: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    level: Callable[[float], str],
    text: Callable[[float], str],
    said: Callable[[int, int], str],
    legend: Mapping[str, str],
    row_urls: Sequence[str] = (),
    row_said: Sequence[str] = (),
    url: Callable[[int, int], str] | None = None,
) -> HeatMap:
    """Lay out squares.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        rows: names, from the top.
        columns: names, from the left.
        values: a row of values for each name of `rows`; None where there is none.
        level: the colour of a value.
        text: a value as it is in a square that is wide enough.
        said: what a square tells, by its row and its column.
        legend: what the colours mean; those that occur are shown.
        row_urls: where the labels of the rows lead.
        row_said: what the labels of the rows tell.
        url: where a square leads, by its row and its column.
    """
    size = max(NARROWEST, min(WIDEST, SIDE // max(1, len(columns))))
    has_text = size >= TEXT_FITS

    names, heads = [short(name) for name in rows], [short(name) for name in columns]
    left = max(LEAST_LABEL, label_room(names, TYPE) + 3 * GAP)
    reach = label_room(heads, TYPE) + LEAD + GAP  # of the longest name over a column, along its slant
    top = math.ceil(reach * math.sin(SLANT)) + 2 * GAP
    overhang = math.ceil(reach * math.cos(SLANT) - size / 2) + 2 * GAP

    used = {"none" if value is None else level(value) for row in values for value in row}

    def cell(i: int, j: int, value: float | None) -> HeatCell:
        return HeatCell(
            x=str(left + size * j),
            y=str(top + size * i),
            level="none" if value is None else level(value),
            text=text(value) if has_text and value is not None else "",
            said=said(i, j),
            url=url(i, j) if url is not None and value is not None else "",
        )

    return HeatMap(
        title=title,
        description=description,
        rows=[
            HeatRow(
                name=names[i],
                url=row_urls[i] if row_urls else "",
                said=row_said[i] if row_said else name,
                y=f"{top + size * (i + 0.5):.1f}",
                cells=[cell(i, j, value) for j, value in enumerate(values[i])],
            )
            for i, name in enumerate(rows)
        ],
        columns=[HeatLabel(name, f"{left + size * (j + 0.5):.1f}") for j, name in enumerate(heads)],
        legend=[(name, meaning) for name, meaning in legend.items() if name in used],
        size=size,
        half=f"{size / 2:.1f}",
        width=left + size * len(columns) + max(GAP, overhang),
        height=top + size * len(rows) + GAP,
        label=left - GAP,
        top=top,
    )


def short(name: str, letters: int = LABEL_LETTERS) -> str:
    """A name as long as a label may be."""
    return name if len(name) <= letters else f"{name[: letters - 1].rstrip()}…"


def signed_level(value: float) -> str:
    """The colour of a value between -1 and 1 whose middle is 0, in steps of a fifth."""
    if abs(value) < 1e-12:
        return "z"
    step = min(LEVELS, max(1, math.ceil(abs(value) * LEVELS - 1e-9)))
    return f"{'p' if value > 0 else 'm'}{step}"
