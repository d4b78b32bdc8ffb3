"""Ranks with their intervals: one line each, the rank as a dot on a bar from the interval's one end to the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.charts.heat_map import short
from leaderboard.common.charts.text_width import label_room

SCALE, EDGE = 420, 20  # from the first rank to the last; what stays free beside them
WIDE_LEFT = 150  # names that take more make a chart that is pushed sideways on a phone
TOP, ROW = 30, 18
MAX_TICKS = 9


@dataclass(frozen=True)
class RankedThing:
    """One line: a system under a rule, or a rule for a system. No rank = nothing is drawn."""

    name: str
    rank: int | None
    low: int | None
    high: int | None
    said: str
    url: str = ""
    is_marked: bool = False


@dataclass(frozen=True)
class IntervalLine:
    """A line as it is drawn."""

    name: str
    url: str
    said: str
    y: str
    x: str
    bar: str
    is_marked: bool


@dataclass(frozen=True)
class RankIntervalChart:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    lines: list[IntervalLine]
    ticks: list[tuple[str, str]]
    height: int
    bottom: int
    width: int
    left: int
    is_wide: bool
    top: int = TOP - 8


def rank_intervals(title: str, description: str, things: Sequence[RankedThing], n_ranks: int) -> RankIntervalChart:
    """Lay out ranks between 1 and `n_ranks`, rank 1 at the left.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        things: from the top.
        n_ranks: the greatest rank there is.
    """
    names = [short(thing.name, 27) for thing in things]
    left = label_room(names) + 6
    first = left + 10  # where rank 1 is
    last = max([n_ranks, 2, *(thing.high or thing.rank or 1 for thing in things)])

    def x(rank: float) -> str:
        return f"{first + SCALE * (rank - 1) / (last - 1):.1f}"

    lines = []
    for number, (name, thing) in enumerate(zip(names, things, strict=True)):
        y = f"{TOP + ROW * (number + 0.5):.0f}"
        has_bar = thing.low is not None and thing.high is not None
        lines.append(
            IntervalLine(
                name=name,
                url=thing.url,
                said=thing.said,
                y=y,
                x=x(thing.rank) if thing.rank else "",
                bar=f"M{x(thing.low or 1)} {y}H{x(thing.high or 1)}" if has_bar else "",
                is_marked=thing.is_marked,
            )
        )
    every = max(1, round((last - 1) / (MAX_TICKS - 1)))
    bottom = TOP + ROW * len(things)
    return RankIntervalChart(
        title=title,
        description=description,
        lines=lines,
        ticks=[(x(rank), str(rank)) for rank in sorted({1, *range(1 + every, last - every // 2, every), last})],
        height=bottom + 8,
        bottom=bottom,
        width=first + SCALE + EDGE,
        left=left,
        is_wide=left > WIDE_LEFT,
    )
