"""A plane of systems with the Pareto front as steps: what is known of a system along, its rank or score upright."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.common.charts.lines import Tick
from leaderboard.common.charts.name_places import Named, PlacedName, place_names
from leaderboard.common.text import typeset

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 28, 44
DOT = 4.0
TYPE_SIZE, WIDEST = 12, 180  # the size that the style sheet sets
MAX_NAMED = 24  # of more names hardly one would find room; those on the front go first
MAX_TICKS = 7
GREATEST_SPAN, GREATEST_POWER = 1e290, 290.0  # of an axis: beyond it floating-point numbers end
LOG_SPREAD = 20  # times that the greatest is the least: a logarithmic scale shows both
# The corners of marks about their middle, those of `.mark` in the style sheet.
SHAPES: Mapping[int, Sequence[tuple[float, float]]] = {
    2: ((-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)),
    3: ((0, -5.5), (5.2, 4), (-5.2, 4)),
    4: ((0, -6), (6, 0), (0, 6), (-6, 0)),
    5: ((-5.2, -4), (5.2, -4), (0, 5.5)),
    6: ((-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2), (2, 6), (-2, 6), (-2, 2), (-6, 2), (-6, -2), (-2, -2)),
}


@dataclass(frozen=True)
class PlacedSystem:
    """One system: `low` and `high` are the ends of the interval of its upright value, None where there is none."""

    key: str
    name: str
    x: float
    y: float
    low: float | None
    high: float | None
    standing: str  # whether it is on the front: "sure", "measured" (by its figure), "possible" or ""
    said: str
    url: str = ""  # of what its dot leads to, where that is not its page
    mark: int | None = None  # the number of its shape and colour; None for a plain dot


@dataclass(frozen=True)
class ParetoDot:
    """A system as the template draws it."""

    key: str
    said: str
    standing: str
    x: str
    y: str
    whisker: str  # the path of its interval; empty where there is none
    label: PlacedName | None = None
    url: str = ""
    mark: int | None = None
    shape: str = ""  # the path of its mark; empty for a plain dot


@dataclass(frozen=True)
class ParetoChart:
    """What the template draws; coordinates are those of a box of `width` by `height`."""

    title: str
    description: str
    x_label: str
    y_label: str
    dots: list[ParetoDot]
    steps: str  # the path of the front
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def pareto_chart(
    systems: Sequence[PlacedSystem],
    *,
    title: str,
    description: str,
    x_label: str,
    y_label: str,
    x_text: Callable[[float], str],
    is_log: bool,
    is_less_better: bool,
    is_low_better: bool,
    ticks: Callable[[float, float], Sequence[tuple[float, str]]] | None = None,
    least_y: float = -math.inf,
) -> ParetoChart | None:
    """Lay out systems; better is upwards, whatever the figure. None where the values are too far apart, or too close.

    Args:
        systems: at least one; those without a name have none beside their dots.
        title: what the chart shows.
        description: for those who do not see it.
        x_label: of the level axis.
        y_label: of the upright axis.
        x_text: a value of the level axis as people read it.
        is_log: whether that axis is logarithmic; all its values are above 0 then.
        is_less_better: whether less of it is better.
        is_low_better: whether a lower upright value is better, as ranks are.
        ticks: values of the level axis between two of them, with their texts; round numbers where None.
        least_y: the least value that an upright axis has a number for, as 1 of ranks.
    """
    along = [math.log10(one.x) if is_log else one.x for one in systems]
    ends = [end for one in systems for end in (one.y, one.low, one.high) if end is not None]
    (x_least, x_most), (y_least, y_most) = _padded(min(along), max(along)), _padded(min(ends), max(ends))
    if not (_has_room(y_least, y_most) and _has_room(x_least, x_most)):
        return None
    if is_log and max(-x_least, x_most) > GREATEST_POWER:
        return None

    def x(value: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * (value - x_least) / (x_most - x_least)

    def y(value: float) -> float:
        share = (value - y_least) / (y_most - y_least)
        return TOP + (HEIGHT - BOTTOM - TOP) * (share if is_low_better else 1 - share)

    dots = []
    intervals: list[tuple[float, float, float, float]] = []  # boxes of those that are drawn
    for one, at in zip(systems, along, strict=True):
        whisker = ""
        if one.low is not None and one.high is not None and one.high > one.low:
            whisker = f"M{x(at):.1f} {y(one.low):.1f}V{y(one.high):.1f}"
            if one.standing:
                top, bottom = sorted((y(one.low), y(one.high)))
                intervals.append((x(at) - 1, top, x(at) + 1, bottom))
        shape = "" if one.mark is None else _mark_path(one.mark, x(at), y(one.y))
        dots.append(
            ParetoDot(
                one.key, one.said, one.standing, f"{x(at):.1f}", f"{y(one.y):.1f}", whisker,
                url=one.url, mark=one.mark, shape=shape,
            )
        )  # fmt: skip
    places = [(float(dot.x), float(dot.y)) for dot in dots]
    first = [i for i, dot in enumerate(dots) if dot.standing and systems[i].name][:MAX_NAMED]
    if len(dots) <= MAX_NAMED:
        first += [i for i, dot in enumerate(dots) if not dot.standing]
    order = [*first, *(i for i in range(len(dots)) if i not in set(first))]
    labels = place_names(
        [Named(systems[i].name, *places[i]) for i in first],
        (LEFT, TOP, WIDTH - 2, HEIGHT - BOTTOM),
        [(px - DOT, py - DOT, px + DOT, py + DOT) for px, py in (places[i] for i in order)] + intervals,
        size=TYPE_SIZE,
        widest=WIDEST,
    )
    for i, label in zip(first, labels, strict=True):
        dots[i] = replace(dots[i], label=label)
    on_front = (places[i] for i, one in enumerate(systems) if one.standing in ("sure", "measured"))
    front = sorted(on_front, key=lambda place: place[0], reverse=not is_less_better)
    steps = ""
    for px, py in front:
        steps += f"H{px:.1f}V{py:.1f}" if steps else f"M{px:.1f} {py:.1f}"
    steps += f"H{WIDTH - RIGHT if is_less_better else LEFT}" if front else ""
    if ticks is not None:
        x_ticks = [Tick(f"{x(value):.1f}", text) for value, text in ticks(x_least, x_most)]
    else:
        x_values = (_log_ticks if is_log else _ticks)(x_least, x_most)
        x_ticks = [Tick(f"{x(math.log10(value) if is_log else value):.1f}", x_text(value)) for value in x_values]
    y_values = _ticks(y_least, y_most)
    if y_least <= least_y <= y_values[-1]:  # rank 1 has a number, which round steps may leave out
        y_values = [least_y, *(value for value in y_values if value > least_y)]
    return ParetoChart(
        title=title,
        description=description,
        x_label=x_label,
        y_label=y_label,
        dots=[dots[i] for i in reversed(order)],  # those on the front above the others
        steps=steps,
        x_ticks=x_ticks,
        y_ticks=[Tick(f"{y(value):.1f}", typeset(f"{value:zg}")) for value in y_values],
    )


def _mark_path(mark: int, x: float, y: float) -> str:
    """A shape about a point: circle, square, triangle, diamond, triangle downwards, cross, and a ring for the rest.

    Args:
        mark: its number, from 1; 0 is a small circle.
        x, y: the middle.
    """
    if mark in (0, 1) or mark not in SHAPES:
        r = 3.0 if mark == 0 else 4.5
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r:g} 0a{r} {r} 0 1 0 -{2 * r:g} 0Z"
    corners = [f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in SHAPES[mark]]
    return f"M{'L'.join(corners)}Z"


def _padded(least: float, most: float) -> tuple[float, float]:
    """The ends of an axis, with some room beyond the values."""
    room = (most - least) * 0.04 or abs(most) * 0.1 or 1.0
    return least - room, most + room


def _has_room(least: float, most: float) -> bool:
    """Whether an axis between two ends can be divided."""
    return 1 / GREATEST_SPAN < most - least < GREATEST_SPAN


def _ticks(least: float, most: float) -> list[float]:
    """Round values between two ends."""
    unit = 10 ** math.floor(math.log10((most - least) / MAX_TICKS))
    step = next(unit * factor for factor in (1, 2, 5, 10, 20) if (most - least) / (unit * factor) <= MAX_TICKS)
    return [round(k * step, 12) for k in range(math.ceil(least / step), math.floor(most / step) + 1)]


def _log_ticks(least: float, most: float) -> list[float]:
    """Powers of ten between two ends, with twice and five times each where there are few."""
    powers = range(math.floor(least), math.ceil(most) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**power for power in powers for factor in factors]
        values = [value for value in values if least <= math.log10(value) <= most]
        if len(values) <= MAX_TICKS:
            break
    return values[:: math.ceil(len(values) / MAX_TICKS) or 1]
