"""How many rows can be negative at once: an upper bound, and a proof where it meets the best weights relaxed.

1. Boxes of weights, the one with the most rows that can be negative first, are halved until none can have more
   than the best weights. A bound costs one product a row, and many boxes are bounded together.
2. What that leaves open after a fixed amount of work is begun again with a linear relaxation of every box
   (`relaxation`), which costs as much as some dozens of bounds and replaces thousands.

Bounds are float64 with a guard of 1e-9 against rounding, not interval arithmetic. Zhang and Hardt 2024 only
search; the bounds are ours.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.sensitivity.cone import Boxes, Cone, Visit, largest_first, split
from ranking_engine.stability.sensitivity.relaxation import normaliser, relax

BOX_WORK = 10**9  # rows x weights x boxes
MAX_BOXES = 300_000
MAX_PROGRAMS = 1_000
_BATCH = 64

Tick = Callable[[], None]


@dataclass
class ConeBounds:
    """`lower` rows are negative under some weights met; never more than `upper`. And the work it took."""

    lower: int
    upper: int
    n_boxes: int = 0
    n_programs: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether no weights do better than those met."""
        return self.lower >= self.upper


@dataclass
class _Search:
    """What both stages share; `visit` is called with weights that are better than all before."""

    cone: Cone
    bounds: ConeBounds
    visit: Visit
    tick: Tick
    boxes: Boxes = field(init=False)

    def __post_init__(self) -> None:
        self.boxes = Boxes(self.cone)

    def offer(self, weights: FloatArray) -> None:
        count = self.cone.n_negative(weights)
        if count > self.bounds.lower:
            self.bounds.lower = count
            self.visit(weights.copy())


def prove(
    cone: Cone,
    lower: int,
    visit: Visit,
    *,
    max_programs: int = MAX_PROGRAMS,
    box_work: int = BOX_WORK,
    max_boxes: int = MAX_BOXES,
    tick: Tick = lambda: None,
) -> ConeBounds:
    """Bound the number of rows that can be negative at once.

    Args:
        cone: the rows and the least weight.
        lower: so many are, under weights already met.
        visit: called with better weights met on the way.
        max_programs: after how many linear relaxations no further box is halved; both halves of the last are relaxed,
            so that there may be one more. None are solved where there are more weights than that.
        box_work, max_boxes: how many rows x weights x boxes, and how many boxes, may be bounded by themselves.
        tick: called after every batch of boxes and every relaxation; it may raise to cancel.

    The same arguments give the same bounds, however long they take.
    """
    m, T = cone.rows.shape
    search = _Search(cone, ConeBounds(lower, m), visit, tick)
    if not m:
        return search.bounds
    _halve(search, max(T, min(max_boxes, box_work // (m * T))))
    if not search.bounds.is_proven and max_programs >= T:  # a bound needs one for each weight that may be the largest
        _relax_and_halve(search, max_programs)
    return search.bounds


def _halve(search: _Search, max_boxes: int) -> None:
    """The first stage."""
    bounds, boxes = search.bounds, search.boxes
    waiting: list[tuple[int, int, FloatArray, FloatArray]] = []  # minus the bound, number, lower, upper

    def push(lower: FloatArray, upper: FloatArray) -> None:
        most = boxes.can_be_negative(lower, upper).sum(axis=1)
        middle = (lower + upper) / 2
        search.offer(middle[boxes.n_negative(middle).argmax()])
        for box in np.flatnonzero(most > bounds.lower).tolist():
            heapq.heappush(waiting, (-int(most[box]), bounds.n_boxes + box, lower[box], upper[box]))
        bounds.n_boxes += len(lower)

    push(*largest_first(search.cone))
    while waiting and -waiting[0][0] > bounds.lower and bounds.n_boxes < max_boxes:
        batch = [heapq.heappop(waiting) for _ in range(min(_BATCH, len(waiting)))]
        lower = np.array([box[2] for box in batch if -box[0] > bounds.lower])
        upper = np.array([box[3] for box in batch if -box[0] > bounds.lower])
        in_doubt = boxes.can_be_negative(lower, upper) & boxes.can_be_positive(lower, upper)
        doubt = in_doubt.astype(np.float64) @ boxes.size
        push(*split(lower, upper, ((upper - lower) * doubt).argmax(axis=1)))
        search.tick()
    bounds.upper = max(bounds.lower, -waiting[0][0] if waiting else 0)


@dataclass(frozen=True, eq=False)
class _Node:
    """A box of the second stage: `open_rows` can be negative in it; `axis` is where to cut it."""

    lower: FloatArray
    upper: FloatArray
    top: int
    open_rows: NDArray[np.intp]
    weights: FloatArray
    axis: int


def _relax_and_halve(search: _Search, max_programs: int) -> None:
    """The second stage; it never raises the bound of the first."""
    cone, bounds = search.cone, search.bounds
    a = normaliser(cone.rows)
    waiting: list[tuple[int, int, _Node]] = []
    ceiling = bounds.upper

    def push(node: _Node, parent: int) -> None:
        """Bound a box, and prepare it for being cut, unless it cannot have more rows than the best weights."""
        can, must = search.boxes.of_one(node.lower, node.upper, node.open_rows)
        n_can = int(np.count_nonzero(can))
        if n_can > bounds.lower:
            in_doubt = node.open_rows[can & ~must]
            bounds.n_programs += 1
            box = (node.lower, node.upper, node.top)
            relaxed = relax(cone.rows[in_doubt], int(np.count_nonzero(must)), box, a, node.weights)
            search.offer(relaxed.weights)
            bound = min(int(relaxed.bound), parent, n_can)
            if bound > bounds.lower:
                axis = int((search.boxes.size[in_doubt].sum(axis=0) * (node.upper - node.lower)).argmax())
                cut = _Node(node.lower, node.upper, node.top, node.open_rows[can], relaxed.weights, axis)
                heapq.heappush(waiting, (-bound, bounds.n_programs, cut))
        search.tick()

    every = np.arange(len(cone.rows))
    lower, upper = largest_first(cone)
    for top in range(cone.n_weights):
        push(_Node(lower[top], upper[top], top, every, (lower[top] + upper[top]) / 2, 0), ceiling)
    while waiting and -waiting[0][0] > bounds.lower and bounds.n_programs < max_programs:
        bound, _, node = heapq.heappop(waiting)
        halves = split(node.lower[None], node.upper[None], [node.axis])
        for low, high in zip(*halves, strict=True):
            push(_Node(low, high, node.top, node.open_rows, node.weights, 0), -bound)
    bounds.upper = max(bounds.lower, min(ceiling, -waiting[0][0] if waiting else 0))
