"""The parameters of studies: each once, with its kind, its bounds and what it means.

The command line, the API and the pages all read parameters from here, so that the same values are refused everywhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import shorten

FLAG, INTEGER, NUMBER, CHOICE, RULE, TEXT = "flag", "integer", "number", "choice", "rule", "text"
INTEGERS, NUMBERS, CHOICES, RULES, TEXTS = "integers", "numbers", "choices", "rules", "texts"
ITEM_OF: Mapping[str, str] = {INTEGERS: INTEGER, NUMBERS: NUMBER, CHOICES: CHOICE, RULES: RULE, TEXTS: TEXT}
MAX_ITEMS = 50
MAX_TEXT = 200
FIFTH = 5  # the first systems are so large a share of a board, by default
_EXAMPLES: Mapping[str, object] = {
    RULES: ["borda"],
    RULE: "borda",
    INTEGERS: [1, 2],
    NUMBERS: [0.5, 1.0],
    TEXTS: ["GPT-4", "T5"],
    INTEGER: 5,
    NUMBER: 0.5,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a study.

    Attributes:
        name: its key.
        default: its value if none is given; None if the study then decides, which `null` says as well.
        kind: FLAG, INTEGER, NUMBER, CHOICE, RULE or TEXT, or a list of these.
        label: its name for readers.
        help: what it does, as one sentence.
        least, most: the bounds of each number, both included.
        choices: of a CHOICE or CHOICES, what it may be.
        most_items: of a list.
    """

    name: str
    default: Any
    kind: str
    label: str
    help: str = ""
    least: float = 0
    most: float = 10**6
    choices: tuple[str, ...] = ()
    most_items: int = MAX_ITEMS

    @property
    def is_list(self) -> bool:
        """Whether it has several values."""
        return self.kind in ITEM_OF

    @property
    def is_numeric(self) -> bool:
        """Whether `least` and `most` bound it."""
        return ITEM_OF.get(self.kind, self.kind) in (INTEGER, NUMBER)

    @property
    def example(self) -> object:
        """A value that it could have."""
        return _EXAMPLES[self.kind] if self.default is None else self.default

    def checked(self, value: object) -> Any:  # noqa: ANN401 -- each parameter has its own type
        """Return a value as the study takes it.

        Raises:
            ValueError: it is of another kind, beyond the bounds, or names no such rule or choice.
        """
        if value is None and self.default is None:
            return None
        if not self.is_list:
            return self._checked_item(value, self.kind)
        if not isinstance(value, (list, tuple)):
            raise self._refusal(value)
        if len(value) > self.most_items:
            raise ValueError(f"`{self.name}` has {len(value)} values; at most {self.most_items} are taken")
        return [self._checked_item(item, ITEM_OF[self.kind]) for item in value]

    def read(self, text: str) -> Any:  # noqa: ANN401 -- each parameter has its own type
        """Return the value that a text states: as JSON, or as plain words and numbers with commas.

        Raises:
            ValueError: as `checked`.
        """
        value = _read(text)
        if self.is_list and isinstance(value, str):
            # Cut it at its commas, but not at those within brackets, as in `positional[vector=12,10],borda`.
            items, depth = [""], 0
            for letter in value:
                depth += (letter == "[") - (letter == "]")
                if letter == "," and depth <= 0:
                    items.append("")
                else:
                    items[-1] += letter
            value = [_read(item.strip()) for item in items if item.strip()]
        elif self.is_list and value is not None and not isinstance(value, list):
            value = [value]
        return self.checked(value)

    def _checked_item(self, value: object, kind: str) -> Any:  # noqa: ANN401
        if kind == FLAG and isinstance(value, bool):
            return value
        if kind in (INTEGER, NUMBER):
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"`{self.name}`: expected finite numbers")
            if isinstance(value, bool) or not isinstance(value, int if kind == INTEGER else (int, float)):
                raise self._refusal(value)
            if not self.least <= value <= self.most:
                bounds = f"{'a whole' if kind == INTEGER else 'a'} number from {self.least:,g} to {self.most:,.12g}"
                raise ValueError(f"`{self.name}` is {shorten(str(value))}; expected {bounds}")
            return value
        if kind not in (RULE, TEXT, CHOICE) or not isinstance(value, str) or len(value) > MAX_TEXT:
            raise self._refusal(value)
        if problem := line_problem(value):
            raise ValueError(f"`{self.name}` {problem}")
        if kind == CHOICE and value not in self.choices:
            named = ", ".join(choice or "''" for choice in self.choices)
            raise ValueError(f"`{self.name}` is {shorten(value)!r}; expected one of {named}")
        if kind != RULE:
            return value
        try:
            rule = get_rule(value)
        except ValueError as error:
            raise ValueError(str(error).replace("`rule`", f"`{self.name}`", 1)) from error
        if rule.parameters:
            raise ValueError(f"`{self.name}` names {value!r}, which needs {', '.join(rule.parameters)}")
        return rule.key

    def _refusal(self, value: object) -> ValueError:
        what = "numbers, such as" if self.kind in (NUMBERS, INTEGERS) else "a value like"
        excerpt = shorten(json.dumps(value, ensure_ascii=False, default=str))
        return ValueError(f"`{self.name}` is {excerpt}: expected {what} {json.dumps(self.example)}")


def _read(text: str) -> Any:  # noqa: ANN401 -- a value as in JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


# --- Parameters that several studies have -----------------------------------------------------------------------------


def rules() -> Parameter:
    """Return the parameter that says which rules are studied."""
    meaning = "The rules to study; all of them by default."
    return Parameter("rules", None, RULES, "Rules", meaning, most_items=40)


def repeats(name: str, default: int, label: str = "Repeats", most: int = 10_000) -> Parameter:
    """Return the parameter that counts random trials."""
    return Parameter(name, default, INTEGER, label, "How many random draws to make.", least=1, most=most)


def missing(default: str = "drop_systems", policies: tuple[str, ...] = tuple(MISSING_POLICIES)) -> Parameter:
    """Return the parameter that says what becomes of missing scores."""
    meaning = "What happens with missing scores, for rules that need every score."
    return Parameter("missing", default, CHOICE, "Missing scores", meaning, choices=policies)


def budget() -> tuple[Parameter, Parameter]:
    """Return the parameters that decide which slow rules take part, and in how many repeats."""
    seconds = "Estimated seconds for all rules that rank one table at a time; the cheapest take part first."
    share = "Slow rules together spend at most this share of the seconds, 0 to 1, or the minimum if that costs more."
    return (
        Parameter("budget", 60.0, NUMBER, "Seconds for slow rules", seconds, most=86_400),
        Parameter("more_repeats", 1.0, NUMBER, "Share for more repeats", share, most=1),
    )


def correlation(choices: tuple[str, ...]) -> Parameter:
    """Return the parameter that says how two rankings are compared."""
    meaning = "Two rankings are compared by Spearman’s correlation or by Kendall’s tau-b."
    return Parameter("correlation", "spearman", CHOICE, "Correlation", meaning, choices=choices)
