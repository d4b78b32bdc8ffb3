"""What a text may be made of: one line, several lines, and what every format of file can carry."""

from __future__ import annotations

import re
import unicodedata

from ranking_engine.text.unicode_joiners import is_at_home

# Controls, format characters (of zero width, or turning the order of the letters round), private and unassigned ones,
# surrogates, line and paragraph separators: two lines may differ in them and look the same.
_REFUSED_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_VARIATION_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # they show nothing
_UNSEEN = _BLANK_LETTERS | _VARIATION_SELECTORS
# What XML cannot carry, not even as a reference, and the other controls that terminals and LaTeX obey.
_NOWHERE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# What messages and pages do not show, and PostgreSQL or UTF-8 does not take, of the texts in files of strangers.
UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def refused_in_line(text: str) -> str | None:
    """Return the first character that one line may not have, as messages call it, or None.

    Line breaks and tabs are control characters too, and invisible ones are refused as in names.
    """
    if text.isprintable() and _UNSEEN.isdisjoint(text):  # what is printable has no character of those categories
        return None
    for i, character in enumerate(text):
        is_refused = character in _UNSEEN or unicodedata.category(character) in _REFUSED_CATEGORIES
        if is_refused and not is_at_home(text, i):
            return _called(character)
    return None


def refused_in_lines(text: str) -> str | None:
    """As `refused_in_line`, for a text of several lines: tabs, line breaks and invisible characters may be in it."""
    match = _NOWHERE.search(text)
    return _called(match[0]) if match else None


def line_problem(text: str) -> str | None:
    """Return what is wrong with the characters of one line, as the end of a sentence that begins with it, or None."""
    character = refused_in_line(text)
    return f"holds the invisible or control character {character}; leave it out" if character else None


def lines_problem(text: str) -> str | None:
    """As `line_problem`, for a text of several lines."""
    character = refused_in_lines(text)
    return f"holds the control character {character}; leave it out" if character else None


def writable(text: str) -> str:
    """Return `text` without the characters that lines may not hold, for files whose format cannot carry them."""
    return _NOWHERE.sub("", text)


def _called(character: str) -> str:
    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X}{name and f' ({name})'}"
