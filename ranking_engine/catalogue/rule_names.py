"""Rules as people name them: by key or name, in any case."""

from __future__ import annotations

import re

from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.text.close_names import CloseNames
from ranking_engine.text.names import shorten


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
