"""Places for names next to the dots of a chart: no name covers another name or a dot, or leaves the picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.common.charts.text_width import fitted, text_width

GAP = 8  # between the middle of a dot and its name
NEAR = (0.0, 0.6, 1.2)  # by how many lines a name may be shifted and still be seen as its dot's
LINE = 1.2  # of the size of the type
RINGS = (
    24,
    36,
    50,
    66,
    84,
    104,
    126,
    150,
    176,
    204,
)  # how far away a name goes that has no room nearby; a leader shows whose it is
N_DIRECTIONS = 24

Boxes = NDArray[np.float64]  # shape (n, 4): left, top, right, bottom
Places = NDArray[np.intp]  # of boxes
Segments = NDArray[np.float64]  # shape (n, 4): x, y of one end, x, y of the other


@dataclass(frozen=True)
class Named:
    """A dot that wants its name beside it."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class PlacedName:
    """A name with its place: `x` is its left end, `y` its middle; `leader` is the path to a dot further away."""

    text: str
    x: float
    y: float
    leader: str


def place_names(
    dots: Sequence[Named],
    frame: Sequence[float],
    obstacles: Sequence[Sequence[float]],
    *,
    size: float,
    widest: float,
    n_first: int = 0,
) -> list[PlacedName | None]:
    """Find a place for each name; None for a name that finds none.

    First come the names that have room beside their dots, those with the fewest free places before the others. Then
    come names further away, with a leader that crosses no name and no other dot.

    Args:
        dots: whose names are placed.
        frame: left, top, right and bottom of what names stay within.
        obstacles: boxes that names stay off: those of the dots themselves, in the order of `dots`, and then those of
            what else is drawn. Leaders may cross the latter.
        size: of the type.
        widest: longer names end in an ellipsis.
        n_first: so many of the dots choose before the others.

    Returns:
        a place or None for each dot, in the order of `dots`.
    """
    boxes_of_dots, drawn = _boxes(obstacles[: len(dots)]), _boxes(obstacles[len(dots) :])
    room = _Room(np.array(frame, dtype=float), boxes_of_dots, drawn)
    texts = [fitted(dot.name, size, widest) for dot in dots]
    sizes = [(text_width(text, size), size * LINE) for text in texts]
    centers = np.array([(dot.x, dot.y) for dot in dots]).reshape(-1, 2)
    # Boxes beside each dot, then above and below it, the best first: those to which no other dot is nearer than their
    # own, so that a reader takes them for its name.
    nearby: list[Boxes] = []
    for i, (dot, (width, height)) in enumerate(zip(dots, sizes, strict=True)):
        beside = (dot.x + GAP, dot.x - GAP - width)
        corners = [(left, dot.y + sign * step * height) for step in NEAR for left in beside for sign in (-1, 1)]
        lefts, level = (dot.x - width / 2, dot.x, dot.x - width), GAP + height / 2
        corners += [(left, dot.y + sign * level) for left in lefts for sign in (-1, 1)]
        boxes = np.array([(left, y - height / 2, left + width, y + height / 2) for left, y in corners])
        away = np.maximum(boxes[:, None, :2] - centers, centers - boxes[:, None, 2:]).clip(min=0)
        distances = np.hypot(away[..., 0], away[..., 1])
        nearby.append(boxes[distances[:, i] <= distances.min(axis=1) + 1e-9])
    places: list[PlacedName | None] = [None] * len(dots)
    n_free = [room.free(boxes).size for boxes in nearby]
    for group in (range(n_first), range(n_first, len(dots))):
        for i in sorted(group, key=lambda i: n_free[i]):
            box = room.take(nearby[i])
            places[i] = None if box is None else _placed(texts[i], box, "")
        # From the top down, so that the names of upper dots do not lie in the way of leaders that go upwards.
        for i in sorted((i for i in group if places[i] is None), key=lambda i: dots[i].y):
            # Boxes around the dot, the nearest first; each touches its ring with the side that looks to the dot.
            (across, down, cosine), (width, height) = DIRECTIONS.T, sizes[i]
            left, top = dots[i].x + across - width * (1 - cosine) / 2, dots[i].y + down - height / 2
            far = np.stack([left, top, left + width, top + height], axis=1)
            box = room.take(far, _leaders(dots[i], far), own=i)
            if box is not None:
                x, y = _leaders(dots[i], box[None])[0, 2:]
                places[i] = _placed(texts[i], box, f"M{dots[i].x:.1f} {dots[i].y:.1f}L{x:.1f} {y:.1f}")
    return places


class _Room:
    """What is taken of a picture, and what is free."""

    def __init__(self, frame: Boxes, dots: Boxes, drawn: Boxes) -> None:
        self.frame = frame
        self.drawn = drawn  # what a leader may cross
        self.taken = dots  # and what it may not
        self.leaders: Segments = np.zeros((0, 4))

    def free(self, boxes: Boxes) -> Places:
        """Which boxes lie within the frame and on nothing."""
        left, top, right, bottom = self.frame
        is_within = (boxes[:, 0] >= left) & (boxes[:, 1] >= top) & (boxes[:, 2] <= right) & (boxes[:, 3] <= bottom)
        places = np.flatnonzero(is_within)
        # Boxes that share more than an edge with what is there already are not free.
        a, b = boxes[places], np.vstack([self.taken, self.drawn])
        a_left, a_top, a_right, a_bottom = (column[:, None] for column in a.T)
        shared: NDArray[np.bool_] = (a_left < b[:, 2]) & (b[:, 0] < a_right) & (a_top < b[:, 3]) & (b[:, 1] < a_bottom)
        places = places[~shared.any(axis=1)]
        unled: Places = places[~_cross(self.leaders, boxes[places]).any(axis=0)]
        return unled

    def take(self, boxes: Boxes, leaders: Segments | None = None, own: int = 0) -> Boxes | None:
        """Take the first free box, and return it; None where none is free.

        Args:
            boxes: the best first.
            leaders: of each box, where it needs one.
            own: the dot that a leader begins in.
        """
        places = self.free(boxes)
        if leaders is not None:
            places = places[~_cross(leaders[places], np.delete(self.taken, own, axis=0)).any(axis=1)]
        if not places.size:
            return None
        chosen: Boxes = boxes[places[0]]
        self.taken = np.vstack([self.taken, chosen])
        if leaders is not None:
            self.leaders = np.vstack([self.leaders, leaders[places[0]]])
        return chosen


def _boxes(rows: Sequence[Sequence[float]]) -> Boxes:
    return np.array(rows, dtype=float).reshape(-1, 4)


# Upwards first: that is where a plane of benchmarks has room.
ANGLES = [-math.pi / 2 + (k + 1) // 2 * (-1) ** k * 2 * math.pi / N_DIRECTIONS for k in range(N_DIRECTIONS)]
DIRECTIONS = np.array([(radius * math.cos(a), radius * math.sin(a), math.cos(a)) for radius in RINGS for a in ANGLES])


def _leaders(dot: Named, boxes: Boxes) -> Segments:
    """From the dot to the nearest point of each box, and not quite into it, so that it does not cross its own name."""
    x, y = np.clip(dot.x, boxes[:, 0], boxes[:, 2]), np.clip(dot.y, boxes[:, 1], boxes[:, 3])
    return np.stack([np.full_like(x, dot.x), np.full_like(y, dot.y), x, y], axis=1)


def _cross(segments: Segments, boxes: Boxes) -> NDArray[np.bool_]:
    """Which segments meet the inside of which boxes, shape (n_segments, n_boxes)."""
    shape = (len(segments), len(boxes))
    enters, leaves = np.zeros(shape), np.ones(shape)  # as shares of the way along the segment
    for axis in (0, 1):
        start = segments[:, axis, None]
        way = segments[:, axis + 2, None] - start
        way = np.where(np.abs(way) < 1e-9, 1e-9, way)
        low, high = (boxes[:, axis] - start) / way, (boxes[:, axis + 2] - start) / way
        enters, leaves = np.maximum(enters, np.minimum(low, high)), np.minimum(leaves, np.maximum(low, high))
    crossed: NDArray[np.bool_] = enters < leaves - 1e-9
    return crossed


def _placed(text: str, box: Boxes, leader: str) -> PlacedName:
    left, top, _, bottom = box.tolist()
    return PlacedName(text, left, (top + bottom) / 2, leader)
