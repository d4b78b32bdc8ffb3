"""A critical-difference diagram: average ranks, and which of them are not significantly different (Demšar 2006)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.charts.lines import Tick
from leaderboard.common.language.numbers import localise

WIDTH, LEFT, RIGHT, TOP, ROW = 640, 190, 628, 44, 20
RUN_GAP = 9


@dataclass(frozen=True)
class RankedDot:
    """One system: its name and its average rank on the axis."""

    name: str
    rank_text: str
    x: str
    y: str


@dataclass(frozen=True)
class RunBar:
    """A run of systems within a critical difference of each other, as an upright line beside their dots."""

    x: str
    top: str
    bottom: str
    said: str


@dataclass(frozen=True)
class CriticalDifference:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    dots: list[RankedDot]
    runs: list[RunBar]
    x_ticks: list[Tick]
    difference_start: str
    difference_end: str
    difference_text: str
    height: int
    width: int = WIDTH
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP


def critical_difference_diagram(
    systems: Sequence[str], average_ranks: Sequence[float], difference: float, runs: Sequence[Sequence[int]]
) -> CriticalDifference:
    """Lay out a diagram.

    Args:
        systems: the pool, best average rank first.
        average_ranks: of these.
        difference: how far apart two average ranks must be.
        runs: first and last place, from 0, of the systems that are within it.
    """
    n = len(systems)

    def x(rank: float) -> float:
        return LEFT + 14 + (RIGHT - LEFT - 28) * (rank - 1) / max(1, n - 1)

    def y(place: int) -> float:
        return TOP + ROW * (place + 0.5)

    # Bars are right of the dots that they join, the further right the more of them overlap.
    bars: list[RunBar] = []
    for number, (first, last) in enumerate(runs):
        level = number % 3
        at = min(WIDTH - 4.0, x(average_ranks[last]) + 12 + RUN_GAP * level)
        said = gettext("%(first)s to %(last)s do not differ significantly") % {
            "first": systems[first],
            "last": systems[last],
        }
        bars.append(RunBar(f"{at:.1f}", f"{y(first) - 6:.1f}", f"{y(last) + 6:.1f}", said))
    return CriticalDifference(
        title=gettext("Average ranks over the tasks, and the critical difference"),
        description=gettext("A line joins systems whose average ranks are within %(difference)s.")
        % {"difference": localise(difference, ".2f")},
        dots=[
            RankedDot(name, localise(rank, ".2f"), f"{x(rank):.1f}", f"{y(place):.1f}")
            for place, (name, rank) in enumerate(zip(systems, average_ranks, strict=True))
        ],
        runs=bars,
        x_ticks=[Tick(f"{x(rank):.1f}", str(rank)) for rank in range(1, n + 1)],
        difference_start=f"{x(1):.1f}",
        difference_end=f"{x(1 + difference):.1f}",
        difference_text=gettext("critical difference %(value)s") % {"value": localise(difference, ".2f")},
        height=TOP + ROW * n + 12,
    )
