"""Which systems a view of a board shows, and in which order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from leaderboard.boards.query import BoardQuery, bounds_of
from leaderboard.common.names import is_called
from leaderboard.rankings.published import Column, PublishedBoard, UnknownChoiceError
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import About, about_systems
from ranking_engine.text.names import fold_name

SORTS_BY_NAME, SORTS_BY_MEDIAN, SORTS_BY_SCORED = "name", "median_rank", "tasks"
SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}  # 7B parameters


@dataclass(frozen=True)
class SystemSelection:
    """The systems of a view, by their places in the revision's order."""

    pinned: list[int]
    others: list[int]


def choose(
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    about: Mapping[int, About],
    *,
    reference: Column,
    medians: np.ndarray,
    query: BoardQuery,
) -> SystemSelection:
    """The systems that the query's filters leave, in the order that it asks for. Pinned ones are there in any case.

    Args:
        published: the board, as its reader may see it.
        systems: of its revision, in its order.
        about: of systems by id, what is said of them.
        reference: the reference rule's column.
        medians: of every system, its median rank over the rules; it orders equals.
        query: what was asked for.

    Raises:
        UnknownChoiceError: the query sorts by something that there is not, or bounds what has no such values.
    """
    places, nothing = list(range(len(systems))), About()
    if query.q.strip():
        places = [i for i in places if is_called(query.q, systems[i].name, systems[i].key)]
    if query.complete_only:
        n_tasks = published.facts["n_voting_tasks"]
        places = [i for i in places if published.n_scored[i] == n_tasks]
    if query.top:
        places = [i for i in places if 1 <= reference.ranks[i] <= query.top]
    if query.tags:
        tags = set(query.tags)
        places = [i for i in places if tags <= set(about.get(systems[i].id, nothing).tags)]
    for name, bounds in bounds_of(query).items():
        least, most = (measured(text) for text in bounds)
        for text, bound in zip(bounds, (least, most), strict=True):
            if text and bound is None:
                raise UnknownChoiceError(f"{text!r} is neither a number nor a date, as a bound of {name!r} must be.")
        values = {i: measured(about.get(systems[i].id, nothing).metadata.get(name)) for i in places}
        places = [
            i
            for i, value in values.items()
            if value is not None and (least is None or value >= least) and (most is None or value <= most)
        ]
    is_pinned = set(query.pins)
    pinned = [i for i, system in enumerate(systems) if system.key in is_pinned]
    others = [i for i in places if systems[i].key not in is_pinned]
    order = _Order(systems, published, reference, medians, query)
    return SystemSelection(order.sorted(pinned), order.sorted(others))


def measured(value: Any) -> float | None:  # noqa: ANN401 -- whatever stands in the metadata
    """A number, `7B`, `1,300` or an ISO date (`2024`, `2024-05`, `2024-05-31`) as a number; None for anything else.

    A year is a number as it stands, and dates are years and fractions of them, so that the two can be compared.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    text = str(value).strip().replace(",", "").lower()
    factor = SUFFIXES.get(text[-1:], 1.0)
    try:
        number = float(text[:-1] if factor > 1 else text) * factor
        return number if math.isfinite(number) else None
    except ValueError:
        parts = text.split("-")
    if len(parts) not in (2, 3) or len(parts[0]) != 4 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    year, month, day = (*(int(part) for part in parts), 1)[:3]
    try:
        past = date(year, month, day).timetuple().tm_yday - 1
    except ValueError:
        return None
    return year + past / 366


def fields_of(about: Mapping[int, About]) -> list[str]:
    """The fields of the metadata that can be bounded: those with a number or a date for some system."""
    names = {name for one in about.values() for name, value in one.metadata.items() if measured(value) is not None}
    return sorted(names)


def tags_of(about: Mapping[int, About]) -> list[str]:
    """All tags of these systems."""
    return sorted({tag for one in about.values() for tag in one.tags})


class _Order:
    """The order asked for. Equal systems stand by median rank, then by name; unranked ones last."""

    def __init__(
        self,
        systems: Sequence[BoardSystem],
        published: PublishedBoard,
        reference: Column,
        medians: np.ndarray,
        query: BoardQuery,
    ) -> None:
        self._systems = systems
        self._medians = np.where(np.isnan(medians), math.inf, medians).tolist()
        self._is_by_name, self._is_descending = query.sort_key == SORTS_BY_NAME, query.is_descending
        # What is sorted by, the least first; NaN where a system has no place.
        key = query.sort_key or reference.rule
        if key in (SORTS_BY_MEDIAN, SORTS_BY_NAME):
            values = medians
        elif key == SORTS_BY_SCORED:
            values = -published.n_scored.astype(float)
        else:
            ranks = column_of(published.columns, key).ranks
            values = np.where(ranks < 1, np.nan, ranks.astype(float))
        self._values = values.tolist()

    def sorted(self, chosen: list[int]) -> list[int]:
        """`chosen` in this order."""
        names = {i: fold_name(self._systems[i].name) for i in chosen}
        if self._is_by_name:
            return sorted(chosen, key=lambda i: names[i], reverse=self._is_descending)
        sign = -1.0 if self._is_descending else 1.0

        def place(i: int) -> tuple[bool, float, float, str]:
            value = self._values[i]
            is_unranked = value != value  # noqa: PLR0124 -- NaN
            return (is_unranked, 0.0 if is_unranked else sign * value, self._medians[i], names[i])

        return sorted(chosen, key=place)


def column_of(columns: Sequence[Column], rule: str) -> Column:
    """The column of a rule.

    Raises:
        UnknownChoiceError: there is none.
    """
    match = next((column for column in columns if column.rule == rule), None)
    if match is None:
        raise UnknownChoiceError(f"There is no rule {rule!r} on this board.")
    return match


@dataclass(frozen=True)
class Filters:
    """What is asked for; what is empty leaves all."""

    query: str = ""  # in the name or the key
    organisation: str = ""
    tag: str = ""
    is_complete: bool = False  # only systems with a score on every voting task
    top: int | None = None  # only ranks up to this one


def kept(
    systems: Sequence[BoardSystem], board: PublishedBoard, column: Column, chosen: Filters, *, knows_about: bool
) -> set[int]:
    """The places of the systems that `chosen` leaves.

    Args:
        systems: of the board, in its order, under the names that are shown.
        board: as whoever asks may see it.
        column: the rule that `top` is about.
        chosen: what is asked for.
        knows_about: whether organisations and tags may be looked at; where names are hidden they would tell them.
    """
    places = set(range(len(systems)))
    is_asked = bool(chosen.organisation or chosen.tag)
    about = about_systems([system.id for system in systems]) if knows_about and is_asked else {}
    if chosen.query:
        places = {i for i in places if is_called(chosen.query, systems[i].name, systems[i].key)}
    if chosen.organisation:
        words = chosen.organisation.casefold()
        places = {i for i in places if systems[i].id in about and words in about[systems[i].id].organisation.casefold()}
    if chosen.tag:
        places = {i for i in places if systems[i].id in about and chosen.tag in about[systems[i].id].tags}
    if chosen.is_complete:
        places = {i for i in places if board.n_scored[i] == board.facts["n_voting_tasks"]}
    if chosen.top is not None:
        places = {i for i in places if 1 <= column.ranks[i] <= chosen.top}
    return places
