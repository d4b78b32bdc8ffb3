"""Two rankings as columns of names with a line for each system between them (as figure 1 of Zhang and Hardt 2024)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

WIDTH, TOP, ROW = 640, 34, 22
LEFT, RIGHT = 230, 410  # where the lines begin and end
MAX_SYSTEMS = 40  # systems
UP, DOWN, SAME = "up", "down", "same"


@dataclass(frozen=True)
class Slope:
    """One system: its name, where it is on both sides, and which way it moves."""

    name: str
    before: str
    after: str
    y_before: str
    y_after: str
    direction: str

    @property
    def said(self) -> str:
        """Its ranks in words."""
        return gettext("%(name)s: rank %(before)s before, %(after)s after") % {
            "name": self.name,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True)
class SlopeChart:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    before_label: str
    after_label: str
    slopes: list[Slope]
    n_more: int
    height: int
    width: int = WIDTH
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP


def slope_chart(
    title: str,
    names: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    before_label: str = "Before",
    after_label: str = "After",
) -> SlopeChart:
    """Lay out two rankings of the same systems.

    Args:
        title: of the chart.
        names: of the systems.
        before, after: their average ranks.
        before_label, after_label: what the columns are called.
    """
    every = sorted(range(len(names)), key=lambda i: (before[i], names[i]))
    drawn = every[:MAX_SYSTEMS]
    places = {i: place for place, i in enumerate(drawn)}
    places_after = {i: place for place, i in enumerate(sorted(drawn, key=lambda i: (after[i], before[i], names[i])))}

    def y(place: int) -> str:
        return f"{TOP + ROW * (place + 0.5):.1f}"

    def direction(i: int) -> str:
        return SAME if before[i] == after[i] else UP if after[i] < before[i] else DOWN

    return SlopeChart(
        title=title,
        description=gettext("Systems are in the order of their ranks on both sides; a line joins each with itself."),
        before_label=before_label,
        after_label=after_label,
        slopes=[
            Slope(names[i], f"{before[i]:g}", f"{after[i]:g}", y(places[i]), y(places_after[i]), direction(i))
            for i in drawn
        ],
        n_more=len(every) - len(drawn),
        height=TOP + ROW * len(drawn) + 12,
    )
