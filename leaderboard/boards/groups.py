"""Systems in groups by what one field says of them: the sections of a board, and the marks that tell kinds apart.

A mark is a shape and a colour, so that it can be read without colours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from leaderboard.rankings.published import UnknownChoiceError
from leaderboard.rankings.systems import About
from ranking_engine.files.metadata import MetadataField
from ranking_engine.text.names import fold_name

MAX_MARKS = 6  # groups with a mark of their own; all others share one
OTHERS = MAX_MARKS + 1  # the number of that one
KIND = "kind"  # the key of the field that marks rows unless a reader chooses another
NO_MARKS = "none"  # in place of a field
NOT_STATED = gettext_noop("not stated")


@dataclass(frozen=True)
class Group:
    """Systems of which a field says the same."""

    field_name: str
    text: str
    n_systems: int  # of the board
    is_stated: bool  # whether the field says anything of them
    mark: int  # 1 to MAX_MARKS, OTHERS, or 0 where nothing is stated


@dataclass(frozen=True)
class Grouping:
    """The groups of a board in their order, and the one of each of its systems."""

    field: MetadataField
    groups: list[Group]
    of: list[int]  # of each system, the place of its group

    def group(self, i: int) -> Group:
        """The group of the system `i`."""
        return self.groups[self.of[i]]

    @property
    def legend(self) -> list[Group]:
        """A group for each mark; what shares a mark is one entry."""
        entries = [one for one in self.groups if one.is_stated and one.mark <= MAX_MARKS]
        others = [one for one in self.groups if one.mark == OTHERS]
        if len(others) == 1:
            entries += others
        elif others:
            n_systems = sum(one.n_systems for one in others)
            entries.append(
                Group(
                    self.field.name,
                    gettext("%(n)s others") % {"n": len(others)},
                    n_systems,
                    is_stated=True,
                    mark=OTHERS,
                )
            )
        return entries + [one for one in self.groups if not one.is_stated]


def groupable(fields: Sequence[MetadataField]) -> list[MetadataField]:
    """The fields by which systems can be grouped: all but addresses."""
    return [field for field in fields if field.kind != "link"]


def field_of(fields: Sequence[MetadataField], key: str) -> MetadataField:
    """The field that someone chose to group or mark systems by.

    Raises:
        UnknownChoiceError: there is no such field here, or its values are addresses.
    """
    field = next((field for field in groupable(fields) if field.key == key), None)
    if field is None:
        raise UnknownChoiceError(
            gettext("There is no field %(key)s here by which systems can be grouped.") % {"key": repr(key[:60])}
        )
    return field


def marking_field(fields: Sequence[MetadataField], about: Sequence[About], key: str) -> MetadataField | None:
    """The field whose groups are marked; None for no marks.

    Args:
        fields: of the board.
        about: what is said of each of its systems.
        key: what a reader chose: a field or NO_MARKS; where empty, a field KIND of which two systems say different.

    Raises:
        UnknownChoiceError: there is no such field.
    """
    if key == NO_MARKS:
        return None
    if key:
        return field_of(fields, key)
    kind = next((field for field in fields if field.key == KIND and field.kind in ("choice", "text")), None)
    texts = {value_key(kind, one) for one in about} if kind else set()
    return kind if len(texts) > 1 else None


@dataclass(frozen=True)
class MarkOption:
    """A choice of what is marked. The one that counts without a choice has no value, so that addresses stay short."""

    value: str
    name: str
    is_chosen: bool


def mark_options(fields: Sequence[MetadataField], about: Sequence[About], marked_by: str) -> list[MarkOption]:
    """What a reader may choose to mark.

    Args:
        fields: of the board.
        about: what is said of each of its systems.
        marked_by: the key of the field that is marked now; empty where none is.
    """
    default = marking_field(fields, about, "")
    of_default, chosen = default.key if default else NO_MARKS, marked_by or NO_MARKS
    choices = [(NO_MARKS, gettext("nothing")), *((field.key, field.name) for field in groupable(fields))]
    return [MarkOption("" if key == of_default else key, name, key == chosen) for key, name in choices]


def value_key(field: MetadataField, about: About) -> tuple[float, str]:
    """What a field says of a system, as a group: its place in the order of groups, and its text.

    Numbers are in groups by powers of ten, dates by their year, texts by themselves, in whatever case.

    Returns:
        infinity and NOT_STATED where it says nothing.
    """
    value = about.metadata.get(field.key)
    if value is None:
        return math.inf, gettext(NOT_STATED)
    if field.kind == "number":
        number = field.number(value)
        if number is None:
            return math.inf, gettext(NOT_STATED)
        if number <= 0:
            return -math.inf, gettext("0 or less")
        power = math.floor(math.log10(number))
        power += (10.0 ** (power + 1) <= number) - (10.0**power > number)  # the logarithm of 1000 may be just below 3
        unit = f" {field.unit}" if field.unit else ""
        ends = {"low": field.text(10.0**power), "high": field.text(10.0 ** (power + 1)), "unit": unit}
        return float(power), gettext("%(low)s to under %(high)s%(unit)s") % ends
    if field.kind == "date":
        first = field.first_day(value)
        return (math.inf, gettext(NOT_STATED)) if first is None else (-float(first.year), str(first.year))
    if field.kind == "yes_no":
        return (0.0 if value is True else 1.0), field.text(value)
    text = str(value)
    if field.kind == "choice":
        return float(field.choices.index(text) if text in field.choices else len(field.choices)), text
    return 0.0, text


def grouping_of(field: MetadataField, about: Sequence[About]) -> Grouping:
    """The systems of a board by what a field says of them.

    Args:
        field: one of `groupable`.
        about: what is said of each system, in the order of the board.
    """
    keys = [value_key(field, one) for one in about]
    folded = [(place, fold_name(text)) for place, text in keys]
    texts: dict[tuple[float, str], str] = {}
    counts: dict[tuple[float, str], int] = {}
    for key, (_, text) in zip(folded, keys, strict=True):
        texts.setdefault(key, text)
        counts[key] = counts.get(key, 0) + 1
    order = sorted(texts)
    with_values = [key for key in order if key[0] != math.inf]
    own = sorted(with_values, key=lambda key: -counts[key])[:MAX_MARKS] if len(with_values) > MAX_MARKS else with_values
    own = [key for key in with_values if key in set(own)]
    marks = dict.fromkeys(with_values, OTHERS) | {key: number for number, key in enumerate(own, start=1)}
    groups = [
        Group(field.name, texts[key], counts[key], is_stated=key[0] != math.inf, mark=marks.get(key, 0))
        for key in order
    ]
    place_of = {key: place for place, key in enumerate(order)}
    return Grouping(field, groups, [place_of[key] for key in folded])
