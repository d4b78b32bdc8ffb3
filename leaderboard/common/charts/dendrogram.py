"""A tree of things from left to right: those that are alike join early, near their names."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.common.charts.heat_map import short

ROW, TOP, BOTTOM = 22, 14, 30
NAME_WIDTH, TREE_WIDTH, GAP = 230, 460, 8


@dataclass(frozen=True)
class TreeLeaf:
    """One thing at the left end."""

    name: str
    full_name: str
    y: str


@dataclass(frozen=True)
class TreeBranch:
    """Where two branches join."""

    path: str
    said: str
    is_near: bool  # near enough to be called alike


@dataclass(frozen=True)
class TreeTick:
    """A number on the axis under the tree."""

    text: str
    x: str


@dataclass(frozen=True)
class Dendrogram:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    leaves: list[TreeLeaf]
    branches: list[TreeBranch]
    ticks: list[TreeTick]
    height: int
    width: int = NAME_WIDTH + TREE_WIDTH + 2 * GAP
    name_x: int = NAME_WIDTH - GAP

    @property
    def axis_y(self) -> int:
        """Where the axis is."""
        return self.height - BOTTOM


def dendrogram(
    title: str,
    description: str,
    names: Sequence[str],
    order: Sequence[int],
    joins: Sequence[tuple[int, int, float, str, bool]],
    *,
    farthest: float,
    ticks: Sequence[tuple[float, str]],
) -> Dendrogram:
    """Lay out a tree.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        names: of the leaves.
        order: of the leaves, by place in `names`, from the top.
        joins: two branches (k < n is a leaf, n + k the k-th join), their distance, the same in words, and whether it is
            near enough to be marked.
        farthest: the distance at the right end, above 0.
        ticks: distances with what the axis says there.
    """
    n = len(names)

    def x_of(distance: float) -> float:
        return NAME_WIDTH + TREE_WIDTH * distance / farthest

    places = {leaf: TOP + ROW * row for row, leaf in enumerate(order)}
    middle: dict[int, tuple[float, float]] = {leaf: (0.0, float(y)) for leaf, y in places.items()}
    branches = []
    for k, (first, second, distance, said, is_near) in enumerate(joins):
        (d1, y1), (d2, y2) = middle[first], middle[second]
        x = x_of(distance)
        path = f"M{x_of(d1):.1f} {y1:.1f}H{x:.1f}V{y2:.1f}H{x_of(d2):.1f}"
        branches.append(TreeBranch(path, said, is_near))
        middle[n + k] = (distance, (y1 + y2) / 2)
    return Dendrogram(
        title,
        description,
        [TreeLeaf(short(names[leaf], 32), names[leaf], f"{y}") for leaf, y in places.items()],
        branches,
        [TreeTick(text, f"{x_of(distance):.1f}") for distance, text in ticks if distance <= farthest],
        TOP + ROW * max(0, n - 1) + TOP + BOTTOM,
    )
