"""Systems on a circle, with an arrow from each one to those that it beats on a cycle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.charts.heat_map import short

MAX_SYSTEMS = 16  # names beside a circle that a reader can follow
RADIUS, DOT, GAP = 130.0, 5.0, 9.0
WIDTH, HEIGHT = 680, 330


@dataclass(frozen=True)
class CycleNode:
    """One system, with its name beside the circle."""

    name: str
    full_name: str
    x: str
    y: str
    name_x: str
    name_y: str
    is_left: bool


@dataclass(frozen=True)
class CycleArrow:
    """One system beats another."""

    path: str
    said: str


@dataclass(frozen=True)
class CycleGraph:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    nodes: list[CycleNode]
    arrows: list[CycleArrow]
    width: int = WIDTH
    height: int = HEIGHT


def cycle_graph(title: str, names: Sequence[str], victories: Sequence[tuple[int, int, str]]) -> CycleGraph:
    """Lay out at most `MAX_SYSTEMS` systems clockwise from the top.

    Args:
        title: what the chart shows.
        names: of the systems.
        victories: who beats whom, by place in `names`, and the same in words.
    """
    points = []
    for k in range(len(names)):
        angle = 2 * math.pi * k / len(names) - math.pi / 2
        points.append((WIDTH / 2 + RADIUS * math.cos(angle), HEIGHT / 2 + RADIUS * math.sin(angle)))
    nodes = [
        CycleNode(
            name=short(name, 26),
            full_name=name,
            x=f"{x:.1f}",
            y=f"{y:.1f}",
            name_x=f"{x + math.copysign(12, x - WIDTH / 2 + 0.01):.1f}",
            name_y=f"{y:.1f}",
            is_left=x < WIDTH / 2 - 0.01,
        )
        for name, (x, y) in zip(names, points, strict=True)
    ]
    arrows = []
    for i, j, said in victories:
        (x1, y1), (x2, y2) = points[i], points[j]
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        dx, dy = GAP * (x2 - x1) / length, GAP * (y2 - y1) / length
        arrows.append(CycleArrow(f"M{x1 + dx:.1f} {y1 + dy:.1f}L{x2 - dx:.1f} {y2 - dy:.1f}", said))
    description = gettext("%(n_names)s systems on a circle; an arrow leads from a system to one that it beats.") % {
        "n_names": len(names)
    }
    return CycleGraph(title, description, nodes, arrows)
