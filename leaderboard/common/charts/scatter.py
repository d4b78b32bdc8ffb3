"""A plane of points, each with an interval on the upright axis."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from leaderboard.common.charts.lines import Tick
from leaderboard.common.charts.name_places import Named, PlacedName, place_names
from leaderboard.common.language.numbers import localise

LEFT, RIGHT, TOP, BOTTOM = 44, 16, 28, 40
TICKS = 5
DOT = 5.0
MARK = 7.0  # from the middle of a mark to its corners
WHISKER = 2.0
MAX_NAMED = 40  # of more dots hardly a name would find room, and the search takes long


@dataclass(frozen=True)
class Form:
    """The size of a picture and of its type, in the picture's own unit."""

    key: str
    width: int
    height: int
    type_size: float
    widest_name: float


ROOMY = Form("roomy", 1320, 560, 12, 260)
WIDE = Form("wide", 880, 480, 12, 240)
NARROW = Form("narrow", 340, 420, 12, 120)  # as wide as a phone, so that the type keeps its size there
COMMON = Form("", 640, 360, 11, 240)


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
    label: PlacedName | None  # None where the name finds no room

    @property
    def diamond(self) -> str:
        """The path of a mark, which is no circle."""
        x, y = float(self.x), float(self.low)
        return f"M{x - MARK:.1f} {y:.1f}L{x:.1f} {y - MARK:.1f}L{x + MARK:.1f} {y:.1f}L{x:.1f} {y + MARK:.1f}Z"


@dataclass(frozen=True)
class Scatter:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    x_label: str
    y_label: str
    dots: list[Dot]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    marks: list[Dot] = field(default_factory=list)  # points to compare with, drawn as diamonds
    line: str = ""  # the path of a straight line
    form: Form = COMMON

    @property
    def width(self) -> int:
        """Of the picture."""
        return self.form.width

    @property
    def height(self) -> int:
        """Of the picture."""
        return self.form.height

    @property
    def left(self) -> int:
        """Where the plane begins."""
        return LEFT

    @property
    def right(self) -> int:
        """Where the plane ends."""
        return self.form.width - RIGHT

    @property
    def top(self) -> int:
        """Where the plane begins."""
        return TOP

    @property
    def bottom(self) -> int:
        """Where the plane ends."""
        return self.form.height - BOTTOM

    @property
    def n_unnamed(self) -> int:
        """How many names found no room."""
        return sum(dot.label is None for dot in (*self.dots, *self.marks))


def scatter(
    title: str,
    description: str,
    points: Sequence[Point],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[Point] = (),
    line: tuple[float, float] | None = None,
    form: Form = COMMON,
) -> Scatter:
    """Lay out points whose values lie between 0 and 1; both axes show all of that.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        points: what is drawn.
        x_label: of the level axis.
        y_label: of the upright axis.
        marks: points to compare with, drawn otherwise.
        line: slope and intercept of a straight line, drawn from the leftmost point to the rightmost.
        form: the size of the picture.
    """
    plane = _Plane(form)
    dots = [plane.dot(point, x_label, y_label) for point in points]
    diamonds = [plane.dot(mark, x_label, y_label) for mark in marks]
    # Marks are larger than other dots, and always have a name.
    at = [(float(dot.x), float(dot.low), float(dot.high)) for dot in (*diamonds, *dots)]
    radii = [MARK] * len(diamonds) + [DOT] * len(dots)
    around = [(x - r, y - r, x + r, y + r) for (x, y, _), r in zip(at, radii, strict=True)]
    whiskers = [(x - WHISKER, high, x + WHISKER, low - DOT) for x, low, high in at if low - DOT > high]
    named = [*diamonds, *dots] if len(dots) <= MAX_NAMED else diamonds
    labels = place_names(
        [Named(dot.name, x, y) for dot, (x, y, _) in zip(named, at, strict=False)],
        (LEFT, TOP, form.width - 2, form.height - BOTTOM),
        around + whiskers,
        size=form.type_size,
        widest=form.widest_name,
        n_first=len(diamonds),
    )
    labels += [None] * (len(at) - len(named))
    values = [k / TICKS for k in range(TICKS + 1)]
    return Scatter(
        title=title,
        description=description,
        x_label=x_label,
        y_label=y_label,
        dots=[_with_label(dot, label) for dot, label in zip(dots, labels[len(diamonds) :], strict=True)],
        x_ticks=[Tick(f"{plane.x(value):.1f}", localise(value, ".1f")) for value in values],
        y_ticks=[Tick(f"{plane.y(value):.1f}", localise(value, ".1f")) for value in values],
        marks=[_with_label(dot, label) for dot, label in zip(diamonds, labels, strict=False)],
        line=plane.line(line, [point.x for point in points]) if line and points else "",
        form=form,
    )


@dataclass(frozen=True)
class _Plane:
    """From values to places in the picture."""

    form: Form

    def x(self, value: float) -> float:
        return LEFT + (self.form.width - RIGHT - LEFT) * min(1.0, max(0.0, value))

    def y(self, value: float) -> float:
        return TOP + (self.form.height - BOTTOM - TOP) * (1 - min(1.0, max(0.0, value)))

    def dot(self, point: Point, x_label: str, y_label: str) -> Dot:
        is_interval = point.high - point.low > 1e-9
        known = localise(point.low, ".2f")
        if is_interval:
            known = gettext("%(low)s to %(high)s") % {"low": known, "high": localise(point.high, ".2f")}
        return Dot(
            point.key,
            point.name,
            f"{self.x(point.x):.1f}",
            f"{self.y(point.low):.1f}",
            f"{self.y(point.high):.1f}",
            is_interval,
            f"{point.name}: {x_label} {localise(point.x, '.2f')}, {y_label} {known}",
            None,
        )

    def line(self, line: tuple[float, float], places: Sequence[float]) -> str:
        """The path over the points' own places, cut where it would leave the plane."""
        slope, intercept = line
        start, end = min(places), max(places)
        if slope:  # where the line meets the lower and the upper edge of the plane
            low, high = sorted([-intercept / slope, (1 - intercept) / slope])
            start, end = max(start, low), min(end, high)
        ends = (f"{self.x(at):.1f} {self.y(intercept + slope * at):.1f}" for at in (start, end))
        return "M" + "L".join(ends)


def _with_label(dot: Dot, label: PlacedName | None) -> Dot:
    return Dot(dot.key, dot.name, dot.x, dot.low, dot.high, dot.is_interval, dot.said, label)
