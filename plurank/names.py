"""Names as people type them: rules by key or name in any case, tasks and systems with "did you mean"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import fold_name, listed, shorten


def rule_key(text: str) -> str:
    """Return the key of the rule that `text` names: a key, a name or a variant, in any case.

    Args:
        text: such as "Borda", "bradley-terry", "Ranked pairs" or "copeland[variant=lower]".

    Raises:
        ValueError: there is no such rule; the message says which comes closest.
    """
    if not isinstance(text, str):
        raise TypeError(f"a rule is named by a text, such as 'borda'; this is {type(text).__name__}")
    base, bracket, options = text.strip().partition("[")
    key = _RULES_BY_WORD.get(_word(base))
    if key is None:
        names = [name for rule in RULES.values() for name in (rule.key, rule.name)]
        hint = CloseNames(names).suggestion(text) or f"; there are {', '.join(RULES)}"
        raise ValueError(f"there is no rule {shorten(text)!r}{hint}")
    return get_rule(key + bracket + options).key


def _word(text: str) -> str:
    """Letters and digits alone: `Bradley-Terry`, `bradley_terry` and `bradley terry` are one word."""
    return re.sub(r"[\W_]+", "", text.casefold())


_RULES_BY_WORD = {_word(text): rule.key for rule in RULES.values() for text in (rule.name, rule.key)}


class NameIndex:
    """The places of names, found as people type them.

    Args:
        names: of tasks or systems.
        kind: what they are names of, in the singular.
    """

    def __init__(self, names: Sequence[str], kind: str) -> None:
        self.names, self.kind = names, kind
        self._exact = {name: k for k, name in enumerate(names)}
        self._folded = {fold_name(name): k for k, name in enumerate(names)}

    def of(self, name: str, argument: str) -> int:
        """Return the place of a name, from 0.

        Raises:
            ValueError: there is none of this name; with `argument`, and the name that comes closest.
        """
        place = self._exact.get(name)
        if place is None and isinstance(name, str):
            place = self._folded.get(fold_name(name))
        if place is None:
            text = str(name)
            close = CloseNames(self.names).suggestion(text) or f"; there are {listed(self.names, limit=10)}"
            raise ValueError(f"`{argument}`: there is no {self.kind} {shorten(text)!r}{close}")
        return place

    def spread(self, values: Mapping[str, Any] | Iterable[Any], argument: str, own: Sequence[Any]) -> list[Any]:
        """Return one value for each name: of a mapping by name, else its own; or those of a sequence.

        Raises:
            ValueError: an unknown name, or a sequence of another length.
        """
        if isinstance(values, str):
            raise TypeError(f"`{argument}` is a text; expected a mapping by {self.kind}, or one value for each")
        if not isinstance(values, Mapping):
            in_order = list(values)
            if len(in_order) != len(self.names):
                raise ValueError(f"`{argument}` has {len(in_order)} values; there are {len(self.names)} {self.kind}s")
            return in_order
        spread = list(own)
        for name, value in values.items():
            spread[self.of(name, argument)] = value
        return spread
