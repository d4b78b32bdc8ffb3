"""Names of systems and tasks: how they are normalised, when two are the same, and which are refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

MAX_NAME_LENGTH = 200
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")

_INVISIBLE_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
_REORDERING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # make a name read as another


def clean_name(text: str) -> str:
    """Return `text` in Unicode normal form C, without leading and trailing white space."""
    return unicodedata.normalize("NFC", text).strip()


def fold_name(name: str) -> str:
    """Return what two names have in common when they count as the same."""
    return unicodedata.normalize("NFC", clean_name(name).casefold())


def name_problem(text: str, *, allow_formula: bool = False) -> str | None:
    """Return what is wrong with `text` as a name, as the end of a sentence that begins with it, or None.

    A name that begins with = + - @ is read as a formula by spreadsheets; `allow_formula` accepts it.
    """
    name = clean_name(text)
    if not name:
        return "is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"has {len(name)} characters; at most {MAX_NAME_LENGTH} are allowed"
    for character in name:
        if unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in _REORDERING:
            return f"holds the control character U+{ord(character):04X}"
    if not allow_formula and name.startswith(FORMULA_PREFIXES):
        return f"begins with {name[0]!r}, which spreadsheets take for a formula"
    return None


def check_name(text: str, kind: str = "system", *, allow_formula: bool = False) -> str:
    """Return `text` as a clean name, or raise a ValueError; `kind` says what it would be the name of."""
    problem = name_problem(text, allow_formula=allow_formula)
    if problem:
        raise ValueError(f"the {kind} name {shorten(text)!r} {problem}")
    return clean_name(text)


def listed(names: Sequence[str], limit: int = 3) -> str:
    """Return the first `limit` of `names`, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def shorten(text: str, limit: int = 60) -> str:
    """Return `text`, cut to `limit` characters, for an error message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
