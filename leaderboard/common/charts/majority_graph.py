"""A majority graph: systems from the top in their order, with an arc for every pair that the order does not tell.

The upper of two systems beats the lower unless an arc says otherwise: on the right an arc leads from a lower system up
to one that it beats, on the left an arc without an arrow joins two that beat neither the other, or that no task
compares. So few arcs tell all pairs, and where the order is the majority's own there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.charts.heat_map import short

ROW, TOP, NAME_X, NAME_WIDTH = 22, 16, 150, 190
WIDEST_ARC = 150.0
MAX_SYSTEMS = 30


@dataclass(frozen=True)
class Arc:
    """What two systems are to each other against the order."""

    path: str
    said: str


@dataclass(frozen=True)
class Node:
    """One system with the arcs that leave it: those up to the systems that it beats, and those down to lower ones that
    it ties with, or shares no task with."""

    name: str
    url: str
    y: str
    is_marked: bool
    said: str
    upsets: list[Arc]
    ties: list[Arc]
    apart: list[Arc]


@dataclass(frozen=True)
class MajorityGraph:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    nodes: list[Node]
    n_upsets: int
    n_ties: int
    height: int
    width: int = NAME_X + NAME_WIDTH + 160
    name_x: int = NAME_X
    right: int = NAME_X + NAME_WIDTH


def majority_graph(
    title: str,
    names: Sequence[str],
    signs: Sequence[Sequence[int]],
    marked: Sequence[bool],
    urls: Sequence[str],
    *,
    is_compared: Sequence[Sequence[bool]],
    marked_name: str,
) -> MajorityGraph:
    """Lay out the majority relation of at most `MAX_SYSTEMS` systems.

    Args:
        title: what the chart shows.
        names: of the systems, from the top.
        signs: `signs[i][j]` is 1 where i beats j, -1 where j beats i, 0 where neither does.
        marked: whether each is to be marked.
        urls: where each leads.
        is_compared: whether some task that votes has a score of both i and j.
        marked_name: what the mark says, such as "Smith set".
    """
    n = len(names)
    nodes = []
    for i, name in enumerate(names):
        upsets = [j for j in range(i) if signs[i][j] > 0]
        ties = [j for j in range(i + 1, n) if signs[i][j] == 0 and is_compared[i][j]]
        apart = [j for j in range(i + 1, n) if not is_compared[i][j]]
        beaten = sum(1 for j in range(n) if signs[i][j] > 0)
        lost = sum(1 for j in range(n) if signs[i][j] < 0)
        figures = {"name": name, "beaten": beaten, "n": n - 1, "lost": lost, "set": marked_name}
        said = gettext("%(name)s: beats %(beaten)s of the %(n)s others here, loses to %(lost)s") % figures
        if marked[i]:
            said = (
                gettext("%(name)s: beats %(beaten)s of the %(n)s others here, loses to %(lost)s, in the %(set)s")
                % figures
            )
        nodes.append(
            Node(
                name=short(name, 26),
                url=urls[i],
                y=f"{_y(i):.1f}",
                is_marked=marked[i],
                said=said,
                upsets=[
                    Arc(
                        _arc(i, j, n, is_right=True),
                        gettext("%(first)s beats %(second)s") % {"first": name, "second": names[j]},
                    )
                    for j in upsets
                ],
                ties=[
                    Arc(
                        _arc(i, j, n, is_right=False),
                        gettext("%(first)s and %(second)s: neither beats the other")
                        % {"first": name, "second": names[j]},
                    )
                    for j in ties
                ],
                apart=[
                    Arc(
                        _arc(i, j, n, is_right=False),
                        gettext("%(first)s and %(second)s share no task of weight above 0")
                        % {"first": name, "second": names[j]},
                    )
                    for j in apart
                ],
            )
        )
    n_upsets, n_ties, n_apart = (
        sum(len(arcs) for arcs in kind) for kind in zip(*((o.upsets, o.ties, o.apart) for o in nodes), strict=True)
    )
    description = gettext("Each of the %(n)s systems beats every one below it.") % {"n": n}
    if n_upsets or n_ties or n_apart:
        description = gettext(
            "Each of the %(n)s systems beats every one below it, except where an arc shows something else. Pairs "
            "against the order (an arrow on the right, from the winner up to the loser): %(n_upsets)s of %(n_pairs)s. "
            "Tied pairs (a dotted arc on the left): %(n_ties)s."
        ) % {"n": n, "n_pairs": n * (n - 1) // 2, "n_upsets": n_upsets, "n_ties": n_ties}
    if n_apart:
        apart_text = gettext("Pairs without a common task, which cannot be compared (a dashed arc on the left): %(n)s.")
        description = f"{description} {apart_text % {'n': n_apart}}"
    return MajorityGraph(
        title=title,
        description=description,
        nodes=nodes,
        n_upsets=n_upsets,
        n_ties=n_ties,
        height=TOP * 2 + ROW * max(0, n - 1),
    )


def _y(i: int) -> float:
    return TOP + ROW * i


def _arc(i: int, j: int, n: int, *, is_right: bool) -> str:
    """A curve beside the names, the wider the further the two are apart."""
    start = NAME_X + NAME_WIDTH if is_right else NAME_X - 14.0
    width = 14 + (WIDEST_ARC - 30) * abs(i - j) / max(1, n - 1)
    bend = start + width * 1.3 if is_right else start - width * 1.1
    return f"M{start:.0f} {_y(i):.0f}C{bend:.0f} {_y(i):.0f} {bend:.0f} {_y(j):.0f} {start:.0f} {_y(j):.0f}"
