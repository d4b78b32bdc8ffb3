"""Things on a plane without axes: near is alike. Both directions have the same scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from leaderboard.common.charts.name_places import Named, PlacedName, place_names

WIDTH, HEIGHT, MARGIN = 880, 520, 24
DOT, MARK = 5.0, 7.0  # from the middle to the edge of a circle, and to the corners of a diamond
TYPE_SIZE, WIDEST_NAME = 12, 240
NAMED_TOGETHER = 2  # of things at one place so many are named, the others counted
MAX_NAMED = 40  # of more places hardly a name would find room, and the search takes long


@dataclass(frozen=True)
class MappedThing:
    """One thing of the map, of the first kind (a circle) or of the second (a diamond)."""

    name: str
    x: float
    y: float
    is_second: bool


@dataclass(frozen=True)
class MapDot:
    """Things at one place, as the template draws them."""

    x: float
    y: float
    is_second: bool
    said: str
    label: PlacedName | None  # None where the name finds no room

    @property
    def diamond(self) -> str:
        """The path of a diamond."""
        x, y = self.x, self.y
        return f"M{x - MARK:.1f} {y:.1f}L{x:.1f} {y - MARK:.1f}L{x + MARK:.1f} {y:.1f}L{x:.1f} {y + MARK:.1f}Z"


@dataclass(frozen=True)
class PlaneMap:
    """What the template draws, in a box of `width` by `height`."""

    title: str
    description: str
    dots: list[MapDot]
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def n_unnamed(self) -> int:
        """How many dots have no name beside them."""
        return sum(dot.label is None for dot in self.dots)


def plane_map(title: str, description: str, things: Sequence[MappedThing]) -> PlaneMap:
    """Lay out things, those of one kind at one place as one dot.

    Args:
        title: what the map shows.
        description: for those who do not see it.
        things: with their coordinates in any unit; the picture is as large as they need it.
    """
    xs, ys = [thing.x for thing in things], [thing.y for thing in things]
    spans = ((WIDTH - 2 * MARGIN, max(xs) - min(xs)), (HEIGHT - 2 * MARGIN, max(ys) - min(ys)))
    scale = min((room / span for room, span in spans if span > 0), default=0.0)
    places: dict[tuple[bool, float, float], list[str]] = {}
    for thing in things:
        x = WIDTH / 2 + scale * (thing.x - (max(xs) + min(xs)) / 2)
        y = HEIGHT / 2 - scale * (thing.y - (max(ys) + min(ys)) / 2)
        places.setdefault((thing.is_second, round(x, 1), round(y, 1)), []).append(thing.name)
    ordered = sorted(places.items(), key=lambda item: item[0][0])  # circles choose their names' places first
    radii = [MARK if is_second else DOT for (is_second, _, _), _ in ordered]
    names = []
    for _, together in ordered:
        others = len(together) - NAMED_TOGETHER
        listed = ", ".join(together[:NAMED_TOGETHER])
        names.append(gettext("%(names)s and %(n)s more") % {"names": listed, "n": others} if others > 0 else listed)
    n_first = sum(not is_second for (is_second, _, _), _ in ordered)
    n_named = len(ordered) if len(ordered) <= MAX_NAMED else min(n_first, MAX_NAMED)
    labels = place_names(
        [Named(name, x, y) for name, ((_, x, y), _) in zip(names[:n_named], ordered, strict=False)],
        (2, 2, WIDTH - 2, HEIGHT - 2),
        [(x - r, y - r, x + r, y + r) for ((_, x, y), _), r in zip(ordered, radii, strict=True)],
        size=TYPE_SIZE,
        widest=WIDEST_NAME,
        n_first=min(n_first, n_named),
    )
    labels += [None] * (len(ordered) - len(labels))
    dots = [
        MapDot(x, y, is_second, ", ".join(together), label)
        for ((is_second, x, y), together), label in zip(ordered, labels, strict=True)
    ]
    return PlaneMap(title, description, dots)
