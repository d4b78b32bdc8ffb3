"""Which systems a view of a board shows, and in which order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from leaderboard.boards.query import BoardQuery, bounds_of
from leaderboard.rankings.published import Column, PublishedBoard, UnknownChoiceError
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import about_systems
from ranking_engine.text.names import fold_name

SORTS_BY_NAME, SORTS_BY_MEDIAN, SORTS_BY_SCORED = "name", "median_rank", "tasks"
SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}  # 7B parameters


@dataclass(frozen=True)
class About:
    """What is said of a system beside its scores, as far as filters look at it."""

    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chosen:
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
) -> Chosen:
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
    is_pinned = set(query.pins)
    kept = _filtered(published, systems, about, reference=reference, query=query)
    pinned = [i for i, system in enumerate(systems) if system.key in is_pinned]
    others = [i for i in kept if systems[i].key not in is_pinned]
    order = _Order(systems, published, reference, medians, query)
    return Chosen(order.sorted(pinned), order.sorted(others))


def _filtered(
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    about: Mapping[int, About],
    *,
    reference: Column,
    query: BoardQuery,
) -> list[int]:
    chosen = list(range(len(systems)))
    if query.q.strip():
        chosen = [i for i in chosen if is_called(systems[i], query.q)]
    if query.complete_only:
        n_tasks = published.facts["n_voting_tasks"]
        chosen = [i for i in chosen if published.n_scored[i] == n_tasks]
    if query.top:
        chosen = [i for i in chosen if 1 <= reference.ranks[i] <= query.top]
    if query.tags:
        wanted_tags, nothing = set(query.tags), About()
        chosen = [i for i in chosen if wanted_tags <= set(about.get(systems[i].id, nothing).tags)]
    for name, (least, most) in bounds_of(query).items():
        bounds = _bound(name, least), _bound(name, most)
        chosen = [i for i in chosen if _is_between(about.get(systems[i].id), name, bounds)]
    return chosen


def _bound(name: str, text: str) -> float | None:
    if not text:
        return None
    value = measured(text)
    if value is None:
        raise UnknownChoiceError(f"{text!r} is neither a number nor a date, as a bound of {name!r} must be.")
    return value


def _is_between(about: About | None, name: str, bounds: tuple[float | None, float | None]) -> bool:
    value = measured(about.metadata.get(name)) if about else None
    least, most = bounds
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


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
    except ValueError:
        return _date(text)
    return number if math.isfinite(number) else None


def _date(text: str) -> float | None:
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
        self._values = _sort_values(published, query.sort_key or reference.rule, medians)

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


def _sort_values(published: PublishedBoard, key: str, medians: np.ndarray) -> list[float]:
    """Of every system what is sorted by, the least first; NaN where it has no place."""
    if key in (SORTS_BY_MEDIAN, SORTS_BY_NAME):
        return medians.tolist()
    if key == SORTS_BY_SCORED:
        return (-published.n_scored.astype(float)).tolist()
    ranks = column_of(published.columns, key).ranks
    return np.where(ranks < 1, np.nan, ranks.astype(float)).tolist()


def column_of(columns: Sequence[Column], rule: str) -> Column:
    """The column of a rule.

    Raises:
        UnknownChoiceError: there is none.
    """
    found = next((column for column in columns if column.rule == rule), None)
    if found is None:
        raise UnknownChoiceError(f"There is no rule {rule!r} on this board.")
    return found


@dataclass(frozen=True)
class Filters:
    """What is asked for; what is empty leaves all."""

    query: str = ""  # in the name or the key
    organisation: str = ""
    tag: str = ""
    is_complete: bool = False  # only systems with a score on every voting task
    top: int | None = None  # only ranks up to this one


def is_called(system: BoardSystem, text: str) -> bool:
    """Whether a system's name or key has `text` in it: what `q` asks everywhere."""
    return fold_name(text) in fold_name(system.name) or text.strip().casefold() in system.key


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
    found = set(range(len(systems)))
    is_asked = bool(chosen.organisation or chosen.tag)
    about = about_systems([system.id for system in systems]) if knows_about and is_asked else {}
    if chosen.query:
        found = {i for i in found if is_called(systems[i], chosen.query)}
    if chosen.organisation:
        words = chosen.organisation.casefold()
        found = {i for i in found if systems[i].id in about and words in about[systems[i].id].organisation.casefold()}
    if chosen.tag:
        found = {i for i in found if systems[i].id in about and chosen.tag in about[systems[i].id].tags}
    if chosen.is_complete:
        found = {i for i in found if board.n_scored[i] == board.facts["n_voting_tasks"]}
    if chosen.top is not None:
        found = {i for i in found if 1 <= column.ranks[i] <= chosen.top}
    return found
