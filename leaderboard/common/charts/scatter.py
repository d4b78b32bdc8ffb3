"""A plane of points, each with an interval on the upright axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.charts.lines import Tick

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 28, 40
TICKS = 5
NAME_GAP = 10
MOST_NAMED = 12  # more names would lie on each other


@dataclass(frozen=True)
class Point:
    """One thing on the plane: `low` and `high` are the ends of what is known of its upright value."""

    key: str
    name: str
    x: float
    low: float
    high: float


@dataclass(frozen=True)
class Dot:
    """A point as the template draws it."""

    key: str
    name: str
    x: str
    low: str
    high: str
    is_interval: bool
    said: str
    name_x: str  # where the name begins, or ends
    is_named_before: bool


@dataclass(frozen=True)
class Scatter:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    x_label: str
    y_label: str
    dots: list[Dot]
    is_named: bool  # whether names stand beside the dots
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def scatter(title: str, description: str, points: Sequence[Point], *, x_label: str, y_label: str) -> Scatter:
    """Lay out points whose values lie between 0 and 1; both axes show all of that.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        points: what is drawn.
        x_label: of the level axis.
        y_label: of the upright axis.
    """

    def x(value: float) -> str:
        return f"{LEFT + (WIDTH - RIGHT - LEFT) * min(1.0, max(0.0, value)):.1f}"

    def y(value: float) -> str:
        return f"{TOP + (HEIGHT - BOTTOM - TOP) * (1 - min(1.0, max(0.0, value))):.1f}"

    dots = [
        Dot(
            point.key,
            point.name,
            x(point.x),
            y(point.low),
            y(point.high),
            point.high - point.low > 1e-9,
            f"{point.name}: {x_label} {point.x:.2f}, {y_label} "
            + (f"{point.low:.2f}" if point.high - point.low <= 1e-9 else f"{point.low:.2f} to {point.high:.2f}"),
            f"{float(x(point.x)) + (NAME_GAP if point.x < 0.6 else -NAME_GAP):.1f}",
            point.x >= 0.6,
        )
        for point in points
    ]
    values = [k / TICKS for k in range(TICKS + 1)]
    return Scatter(
        title=title,
        description=description,
        x_label=x_label,
        y_label=y_label,
        dots=dots,
        is_named=len(dots) <= MOST_NAMED,
        x_ticks=[Tick(x(value), f"{value:.1f}") for value in values],
        y_ticks=[Tick(y(value), f"{value:.1f}") for value in values],
    )
