"""A line chart: several curves over the same places, one of them marked, with its band."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.text import signed

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 28, 40
MAX_TICKS = 11
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)  # between the ticks of the upright axis


@dataclass(frozen=True)
class Curve:
    """One curve: a value for each place of the chart, None where there is none; `band` is added on both sides."""

    key: str
    name: str
    values: Sequence[float | None]
    is_marked: bool = False
    band: Sequence[float | None] | None = None


@dataclass(frozen=True)
class Tick:
    """A place on an axis, with its text."""

    at: str
    text: str


@dataclass(frozen=True)
class Line:
    """A curve as SVG paths."""

    key: str
    name: str
    path: str
    band: str
    is_marked: bool
    said: str  # its first and last value, in words


@dataclass(frozen=True)
class LineChart:
    """What the template draws; coordinates are those of a box of `width` by `height`."""

    title: str
    description: str
    x_label: str
    y_label: str
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    caption: str = ""  # which line is which, where there are few
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def line_chart(
    title: str,
    description: str,
    curves: Sequence[Curve],
    places: Sequence[str],
    *,
    x_label: str,
    y_label: str,
    top: float = 1.0,
    caption: str = "",
) -> LineChart:
    """Lay out curves over places that are at equal distances.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        curves: what is drawn; marked ones last, so that they lie above the others.
        places: the texts of the places, one for each value of a curve.
        x_label: what the places are.
        y_label: what the values are.
        caption: below the chart.
        top: the greatest value of the upright axis; the least is what the curves need.
    """
    known = [value for curve in curves for value in curve.values if value is not None]
    step = next((s for s in STEPS if (top - min(known, default=0.0)) / s <= MAX_TICKS - 1), 1.0)
    least = min(math.floor(min(known, default=0.0) / step + 1e-9) * step, top - step)

    def x(place: int) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * (place / max(1, len(places) - 1))

    def y(value: float) -> float:
        return TOP + (HEIGHT - BOTTOM - TOP) * (top - min(top, max(least, value))) / (top - least)

    lines = []
    for curve in sorted(curves, key=lambda curve: curve.is_marked):
        parts, is_drawn = [], False
        for i, value in enumerate(curve.values):
            if value is not None:
                parts.append(f"{'L' if is_drawn else 'M'}{x(i):.1f} {y(value):.1f}")
            is_drawn = value is not None  # the line is interrupted where there is no value
        area = ""  # around the line
        pairs = zip(curve.values, curve.band or [None] * len(curve.values), strict=True)
        banded = [(x(i), v, b) for i, (v, b) in enumerate(pairs) if v is not None and b is not None]
        if len(banded) > 1:
            upper = [f"{at:.1f} {y(v + b):.1f}" for at, v, b in banded]
            lower = [f"{at:.1f} {y(v - b):.1f}" for at, v, b in reversed(banded)]
            area = f"M{'L'.join(upper + lower)}Z"
        ends = [
            gettext("%(value)s at %(place)s") % {"value": signed(value), "place": place}
            for place, value in zip(places, curve.values, strict=True)
            if value is not None
        ]
        text = f"{ends[0]}, {ends[-1]}" if ends else gettext("no value")
        lines.append(Line(curve.key, curve.name, "".join(parts), area, curve.is_marked, f"{curve.name}: {text}"))
    every = math.ceil(len(places) / MAX_TICKS)
    n_steps = round((top - least) / step)
    return LineChart(
        title=title,
        description=description,
        x_label=x_label,
        y_label=y_label,
        caption=caption,
        lines=lines,
        x_ticks=[Tick(f"{x(i):.1f}", places[i]) for i in range(0, len(places), every)],
        y_ticks=[Tick(f"{y(least + k * step):.1f}", signed(least + k * step)) for k in range(n_steps + 1)],
    )
