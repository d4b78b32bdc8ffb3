"""A bump chart: one line a system through its ranks in several columns, such as rules or revisions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from leaderboard.common.charts.heat_map import short
from leaderboard.common.charts.text_width import LABEL_SIZE, label_room

TOP, BOTTOM = 96, 16
NAME_SIZE, BOLD = 11, 1.15  # the type of a name; how much wider it is where it is pinned
# A chart that is no wider is shrunk to a phone, or to a tablet, where it would else be pushed sideways.
MAX_SHRUNK, MAX_SHRUNK_TO_TABLET = 520, 900
NUMBERS_TOP = 36  # what takes TOP where columns have names takes so much where they have numbers
MARKS = 44  # what the numbers of the ranks take beside the lines
NARROWEST, WIDEST, ACROSS = 34, 84, 760  # between two columns, and what all of them may take
ROW, TAIL = 18, 130  # a rank, and all ranks beyond the number of the systems together
LEAST_KNEE = 12  # ranks that always are at equal distances
LABEL_GAP = 12.0  # between two names
NAME_LETTERS, NAME_TO_LINES = 25, 28  # of a name as it is drawn; from where its room begins to the first column
FLAT_LETTERS = 4  # a longer name leans, and then all of them do
MAX_PINNED = 4  # as many colours as readers can distinguish


@dataclass(frozen=True)
class RankedSystem:
    """One system: its average rank in each column (None = unranked), and what is said of it."""

    key: str
    name: str
    ranks: Sequence[float | None]
    said: str
    url: str = ""
    pinned: int = 0  # its colour among the pinned, from 1; 0 = not pinned


@dataclass(frozen=True)
class RankLine:
    """A system as it is drawn."""

    name: str
    url: str
    said: str
    path: str
    dots: str
    label_y: str
    leader: str  # from the name to the first dot
    pinned: int

    @classmethod
    def of(
        cls,
        system: RankedSystem,
        xs: Sequence[int],
        y: Callable[[float], float],
        label: tuple[int, float],
        *,
        is_named_last: bool,
        until: int | None,
    ) -> "RankLine":
        """Draw a system.

        Args:
            system: with its rank in each column.
            xs: of the columns.
            y: of a rank.
            label: where its name is.
            is_named_last: whether the name is behind the line.
            until: where its last rank ends; None where ranks are points.
        """
        path, dots, is_drawn, end = [], [], False, ""
        for at, rank in zip(xs, system.ranks, strict=True):
            if rank is None:
                path += [f"H{at}"] if is_drawn and until is not None else []
                is_drawn = False
                continue
            place = f"{at} {y(rank):.1f}"
            path.append(
                f"H{at}V{y(rank):.1f}" if is_drawn and until is not None else f"{'L' if is_drawn else 'M'}{place}"
            )
            dots.append(f"M{place}h0")
            end = place if is_named_last else end or place
            is_drawn = True
        if is_drawn and until is not None:
            path.append(f"H{until}")
            end = f"{until} {end.split()[1]}"
        return cls(
            name=short(system.name, NAME_LETTERS),
            url=system.url,
            said=system.said,
            path="".join(path),
            dots="".join(dots),
            label_y=f"{label[1]:.1f}",
            leader=f"M{label[0] + (-2 if is_named_last else 2)} {label[1]:.1f}L{end}" if end else "",
            pinned=system.pinned,
        )


@dataclass(frozen=True)
class RankLines:
    """What the template draws, in a box of `width` by `height`; pinned lines come last, above the others."""

    title: str
    description: str
    lines: list[RankLine]
    columns: list[tuple[str, str]]  # where, and its name
    ranks: list[tuple[str, str]]  # where, and the number
    width: int
    height: int
    label: int
    left: int
    right: int
    mark_x: int
    is_named_last: bool
    is_small: bool
    is_medium: bool
    is_slanted: bool  # whether the columns' names lean, because one of them is long
    top: int = TOP
    bottom: int = 0
    knee: str = ""  # below it ranks are closer together


def rank_lines(
    title: str,
    description: str,
    columns: Sequence[str],
    systems: Sequence[RankedSystem],
    *,
    is_named_last: bool = False,
    along: Sequence[float] | None = None,
    ticks: Sequence[tuple[float, str]] = (),
) -> RankLines:
    """Lay out lines; rank 1 is at the top.

    Args:
        title: what the chart shows.
        description: for those who do not see it.
        columns: names, from the left.
        systems: what is drawn.
        is_named_last: whether names are at the ends of the lines, as where many begin late, not at their starts.
        along: where each column is between the left end (0) and the right (1), and a rank holds until the next one;
            where None, columns are at equal distances and their names above them.
        ticks: with `along`, what is written above the lines, and where.
    """
    # The room that the longest name takes, those that are pinned in bold.
    size = LABEL_SIZE if is_named_last else NAME_SIZE
    pinned = [short(system.name, NAME_LETTERS) for system in systems if system.pinned]
    others = [short(system.name, NAME_LETTERS) for system in systems if not system.pinned]
    room = max(label_room(others, size), label_room(pinned, BOLD * size))
    left = MARKS if is_named_last else room + NAME_TO_LINES
    step = max(NARROWEST, min(WIDEST, ACROSS // max(1, len(columns) - 1)))
    known = [rank for system in systems for rank in system.ranks if rank is not None]
    last = max(known, default=1.0)
    knee = min(last, float(max(LEAST_KNEE, len(systems))))
    heads = [(share, text) for share, text in ticks] if along is not None else list(enumerate(columns))
    is_slanted = any(len(name) > FLAT_LETTERS for _, name in heads)
    top = TOP if is_slanted else NUMBERS_TOP
    tail = min(TAIL, ROW * (last - knee))

    xs = [left + step * c for c in range(len(columns))]
    if along is not None:
        xs = [left + round(ACROSS * share) for share in along]

    def y(rank: float) -> float:
        """Ranks are at equal distances down to the number of systems drawn, and closer together beyond."""
        if rank <= knee:
            return top + ROW * (rank - 1)
        return top + ROW * (knee - 1) + tail * (rank - knee) / (last - knee)

    ends = {system.key: [rank for rank in system.ranks if rank is not None] or [last] for system in systems}
    # Names are as near to their lines as leaves room for the text of each.
    wanted = {key: y(ranks[-1 if is_named_last else 0]) for key, ranks in ends.items()}
    labels: dict[str, float] = {}
    before = float("-inf")
    for key, at in sorted(wanted.items(), key=lambda item: item[1]):
        before = max(at, before + LABEL_GAP)
        labels[key] = before
    right = left + (ACROSS if along is not None else step * max(0, len(columns) - 1))
    name_x = right + 24 if is_named_last else room + 6
    bottom = max([y(last), *labels.values()])
    lines = [
        RankLine.of(
            system,
            xs,
            y,
            (name_x, labels[system.key]),
            is_named_last=is_named_last,
            until=None if along is None else right,
        )
        for system in systems
    ]
    width = right + (24 + room if is_named_last else 96)
    marks = list(range(1, int(knee) + 1))
    if last > knee + 3:  # three ranks beyond the knee, the last one among them
        marks += sorted({round(knee + (last - knee) * part) for part in (1 / 3, 2 / 3, 1)})
    return RankLines(
        title=title,
        description=description,
        lines=sorted(lines, key=lambda line: line.pinned > 0),
        columns=[
            (str(left + round(ACROSS * place) if along is not None else xs[int(place)]), short(name, 18))
            for place, name in heads
        ],
        ranks=[(f"{y(rank):.1f}", str(rank)) for rank in marks],
        width=width,
        height=round(bottom + BOTTOM),
        right=right,
        left=left,
        label=name_x,
        top=top,
        mark_x=left - 30 if is_named_last else right + 12,
        is_named_last=is_named_last,
        is_small=is_named_last and width <= MAX_SHRUNK,
        is_medium=is_named_last and MAX_SHRUNK < width <= MAX_SHRUNK_TO_TABLET,
        is_slanted=is_slanted,
        bottom=round(y(last)),
        knee=f"{y(knee) + ROW / 2:.0f}" if last > knee else "",
    )
