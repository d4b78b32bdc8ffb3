"""Which systems a view of a board shows, and in which order."""

import calendar
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext

from leaderboard.boards.query import META, BoardQuery, bounds_of
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.names import is_called
from leaderboard.rankings.published import Column, PublishedBoard, UnknownChoiceError
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.systems import About
from ranking_engine.files.metadata import MetadataField
from ranking_engine.text.names import fold_name

SORTS_BY_NAME, SORTS_BY_MEDIAN, SORTS_BY_SCORED = "name", "median_rank", "tasks"


@dataclass(frozen=True)
class SystemSelection:
    """The systems of a view, by their places in the revision's order."""

    pinned: list[int]
    others: list[int]


def left_by(
    query: BoardQuery,
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    about: Mapping[int, About],
    *,
    reference: Column,
    fields: Sequence[MetadataField] = (),
) -> list[int]:
    """The places of the systems that the filters of a query leave.

    Args:
        query: what was asked for.
        published: the board, as its reader may see it.
        systems: of its revision, in its order.
        about: of systems by id, what is said of them as far as the reader may know it.
        reference: the column of the rule that `top` is about.
        fields: of the systems' metadata. What is asked of another field no system has.

    Raises:
        UnknownChoiceError: the query bounds what has no such values.
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
    by_key = {field.key: field for field in fields}
    for name, text in query.meta:
        field = by_key.get(name)
        said = {i: about.get(systems[i].id, nothing).metadata.get(name) for i in places}
        places = [i for i, value in said.items() if field and says(field, value, text)]
    for name, bounds in bounds_of(query).items():
        field = by_key.get(name)
        if field is None:
            return []
        least, most = (_bound_of(field, text, is_most=k == 1) if text else None for k, text in enumerate(bounds))
        values = {i: field.number(about.get(systems[i].id, nothing).metadata.get(name)) for i in places}
        places = [
            i
            for i, value in values.items()
            if value is not None and (least is None or value >= least) and (most is None or value <= most)
        ]
    return places


def choose(
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    about: Mapping[int, About],
    *,
    reference: Column,
    medians: np.ndarray,
    query: BoardQuery,
    fields: Sequence[MetadataField] = (),
) -> SystemSelection:
    """The systems that the query's filters leave, in the order that it asks for. Pinned ones are there in any case.

    Args:
        published, systems, about, reference, query, fields: as `left_by` takes them.
        medians: of every system, its median rank over the rules; it orders equals.

    Raises:
        UnknownChoiceError: the query sorts by something that there is not, or bounds what has no such values.
    """
    places = left_by(query, published, systems, about, reference=reference, fields=fields)
    is_pinned = set(query.pins)
    pinned = [i for i, system in enumerate(systems) if system.key in is_pinned]
    others = [i for i in places if systems[i].key not in is_pinned]
    order = _Order(systems, published, reference, medians, query)
    if query.sort_key.startswith(META):
        field = next((field for field in fields if field.key == query.sort_key.removeprefix(META)), None)
        if field is None:
            raise UnknownChoiceError(
                gettext("There is no field %(removeprefix)s of the systems here.")
                % {"removeprefix": repr(query.sort_key.removeprefix(META))}
            )
        said = [about.get(system.id, About()).metadata.get(field.key) for system in systems]
        if field.kind in ("number", "date"):
            numbers = [field.number(value) for value in said]
            order.take([math.nan if number is None else number for number in numbers])
        else:  # texts by their place in the alphabet, no before yes
            texts = ["" if value is None else fold_name(field.text(value)) for value in said]
            place_of = {text: float(place) for place, text in enumerate(sorted({*texts}))}
            order.take([place_of[text] if text else math.nan for text in texts])
    return SystemSelection(order.sorted(pinned), order.sorted(others))


def _bound_of(field: MetadataField, text: str, *, is_most: bool) -> float:
    """A bound of numbers or dates; the greatest date of a year or a month is its last day.

    Raises:
        UnknownChoiceError: the text is none.
    """
    try:
        value = field.read(text)
    except ValueError as error:
        raise UnknownChoiceError(
            gettext("A bound of %(field)s: %(error)s.") % {"field": field.name, "error": in_page_language(str(error))}
        ) from error
    if is_most and field.kind == "date":
        year, month, _ = (int(part) for part in f"{value}-12-31".split("-")[:3])
        last = calendar.monthrange(year, month)[1]
        value = str(value) if len(str(value)) > len("2024-05") else f"{year:04}-{month:02}-{last:02}"
    number = field.number(value)
    if number is None:
        raise UnknownChoiceError(
            gettext("%(field)s is %(allowed)s, and has no bounds.")
            % {"field": field.name, "allowed": in_page_language(field.allowed)}
        )
    return number


def says(field: MetadataField, value: Any, text: str) -> bool:  # noqa: ANN401 -- whatever is stored
    """Whether a value is what someone asks for: the same choice or truth, else with that text in it, in any case."""
    if value is None:
        return False
    if field.kind in ("choice", "yes_no"):
        return fold_name(field.text(value)) == fold_name(text)
    return fold_name(text) in fold_name(field.written(value))


def tags_of(about: Mapping[int, About]) -> list[str]:
    """All tags of these systems."""
    return sorted({tag for one in about.values() for tag in one.tags})


class _Order:
    """The order asked for. Equal systems are by median rank, then by name; unranked ones last."""

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
        if key in (SORTS_BY_MEDIAN, SORTS_BY_NAME) or key.startswith(META):
            values = medians
        elif key == SORTS_BY_SCORED:
            values = -published.n_scored.astype(float)
        else:
            ranks = column_of(published.columns, key).ranks
            values = np.where(ranks < 1, np.nan, ranks.astype(float))
        self._values = values.tolist()

    def take(self, values: Sequence[float]) -> None:
        """Sort by these values of the systems in place of ranks; NaN where one has none."""
        self._values = list(values)

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
        raise UnknownChoiceError(gettext("There is no rule %(rule)s on this board.") % {"rule": repr(rule)})
    return match
