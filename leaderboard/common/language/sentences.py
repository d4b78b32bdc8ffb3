"""Sentences that are stored as data: in English with their values apart, and put together when someone reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Union

from django.utils.translation import gettext, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import in_words

Value = Union[str, int, datetime, "Sentence", Sequence["Value"]]  # a sequence is a list in words


@dataclass(frozen=True)
class Sentence:
    """A sentence with values; `str` says it in the language that is in force.

    `Sentence("…")` marks its texts for translation, as `gettext` does, so they are literals.

    Attributes:
        text: the sentence in English, with a place such as `%(system)s` for each value.
        plural: the same for several, where the value `n` decides; empty without a plural.
        values: what is in the places: names, numbers, moments, other sentences, or a list of these.
    """

    text: str
    plural: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)

    def of(self, **values: Value) -> "Sentence":
        """The same sentence with these values."""
        return replace(self, values=values)

    def __str__(self) -> str:
        n = self.values.get("n", 0)
        text = ngettext(self.text, self.plural, n) if self.plural and isinstance(n, int) else gettext(self.text)
        return text % {name: _in_words(value) for name, value in self.values.items()} if self.values else text

    def as_data(self) -> dict[str, Any]:
        """What JSON keeps of it."""
        values = {name: _value_as_data(value) for name, value in self.values.items()}
        return {"text": self.text, "plural": self.plural, "values": values}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Sentence":
        """The sentence that `as_data` made this of."""
        values = {name: _value_from_data(value) for name, value in data["values"].items()}
        return cls(data["text"], data["plural"], values)


def engine_text(text: str) -> Sentence:
    """A name or sentence of the engine, as a value: the catalogue lists those by itself."""
    return Sentence(text)


def listed(items: Sequence[Value], most: int, total: int | None = None) -> list[Value]:
    """The first items, and how many more there are, as `in_words` writes them.

    Args:
        items: the things, or the first of them.
        most: how many are named.
        total: how many there are, where `items` are only the first.
    """
    named = list(items[:most])
    n_more = (len(items) if total is None else total) - len(named)
    return [*named, Sentence("%(n)s more").of(n=n_more)] if n_more > 0 else named


def _in_words(value: Value) -> str:
    if isinstance(value, datetime):
        return moment_in_words(value)
    if isinstance(value, int):
        return localise(value, ",")
    if isinstance(value, str | Sentence):
        return str(value)
    return in_words([_in_words(item) for item in value], most=len(value))


def _value_as_data(value: Value) -> object:
    if isinstance(value, datetime):
        return {"moment": value.isoformat()}
    if isinstance(value, Sentence):
        return value.as_data()
    if isinstance(value, str | int):
        return value
    return [_value_as_data(item) for item in value]


def _value_from_data(data: Any) -> Value:  # noqa: ANN401 -- of JSON
    if isinstance(data, list):
        return [_value_from_data(item) for item in data]
    if isinstance(data, dict):
        return datetime.fromisoformat(data["moment"]) if "moment" in data else Sentence.from_data(data)
    if isinstance(data, str | int):
        return data
    raise TypeError(f"no value of a sentence: {data!r}")
