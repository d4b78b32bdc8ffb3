"""A score profile: one line a task from the worst to the best score on it, with a dot for each system looked at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.charts.heat_map import short
from leaderboard.common.charts.text_width import LABEL_SIZE, fitted, label_room

SCALE, EDGE = 410, 20  # what a task's line takes; what stays free beside it
LEGEND = 200  # what the meaning of the small tick takes, in the line below
LEAST_LEFT, WIDE_LEFT = 60, 150  # names that take more than the second make a chart that is pushed sideways on a phone
TOP, ROW = 34, 24


@dataclass(frozen=True)
class ProfileTask:
    """One task: where the systems looked at lie between its worst (0) and its best score (1), and half of all do."""

    name: str
    positions: Sequence[float]  # NaN where there is no score
    median: float
    said: str
    is_voting: bool = True
    ends: tuple[str, str] = ("", "")  # its worst and its best score


@dataclass(frozen=True)
class ProfileLine:
    """A task as it is drawn."""

    name: str
    y: str
    text_y: str
    dots: list[tuple[int, str]]  # which system, and where
    joint: str  # between two dots
    median: str
    said: str
    is_voting: bool
    worst: str
    best: str


@dataclass(frozen=True)
class ScoreProfile:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    systems: list[tuple[int, str, str]]  # number, name, and where its name is in the legend
    lines: list[ProfileLine]
    height: int
    width: int
    left: int
    right: int
    is_wide: bool
    names_end: int  # where the names of the tasks end, before the worst scores
    legend: int  # where the meaning of the small tick begins


def score_profile(title: str, description: str, systems: Sequence[str], tasks: Sequence[ProfileTask]) -> ScoreProfile:
    """Lay out a profile of one system or two.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        systems: the names of those looked at.
        tasks: from the top.
    """
    names = [short(task.name, 28) for task in tasks]
    of_ends = zip(*(task.ends for task in tasks), strict=True)
    worst_room, best_room = (label_room(texts) + 8 if any(texts) else 0 for texts in of_ends)
    left = max(LEAST_LEFT, label_room(names) + 8 + worst_room)
    right = left + SCALE

    def x(position: float) -> str:
        return f"{left + 8 + (SCALE - 16) * min(1.0, max(0.0, position)):.1f}"

    lines = []
    for number, (name, task) in enumerate(zip(names, tasks, strict=True)):
        y = TOP + ROW * (number + 0.5)
        dots = [(k, x(at)) for k, at in enumerate(task.positions, start=1) if not math.isnan(at)]
        lines.append(
            ProfileLine(
                name=name,
                y=f"{y:.0f}",
                text_y=f"{y + 4:.0f}",
                dots=dots,
                joint=f"M{dots[0][1]} {y:.0f}H{dots[1][1]}" if len(dots) == 2 else "",
                median="" if math.isnan(task.median) else x(task.median),
                said=task.said,
                is_voting=task.is_voting,
                worst=task.ends[0],
                best=task.ends[1],
            )
        )
    step = right // max(1, len(systems))
    return ScoreProfile(
        title=title,
        description=description,
        systems=[
            (k, fitted(name, LABEL_SIZE, step - 24), str(8 + step * (k - 1))) for k, name in enumerate(systems, start=1)
        ],
        lines=lines,
        height=TOP + ROW * len(tasks) + 22,
        width=right + best_room + EDGE,
        left=left,
        right=right,
        is_wide=left > WIDE_LEFT,
        names_end=left - worst_room,
        legend=left + (SCALE - LEGEND) // 2,
    )
