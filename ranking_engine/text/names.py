"""Names of systems and tasks: how they are normalised, when two are the same, and which are refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ranking_engine.text.characters import line_problem
from ranking_engine.text.confusables import foreign_letters, mixed_word
from ranking_engine.text.normal_forms import normal_form
from ranking_engine.text.remembered import remembered
from ranking_engine.text.unicode_joiners import without_joiners

MAX_NAME_LENGTH = 200
MAX_MARKS = 4  # on one letter, as UTS 39 (section 5.4) advises
# The last four are the same signs in full width: spreadsheets of East Asia take them for the same.
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Where semicolons separate cells, what follows one begins a cell. Tabs are refused in any place.
_NOT_IN_WORDS, _BETWEEN_WORDS = re.compile(r"[^a-z0-9_\s-]"), re.compile(r"[_\s-]+")
FORMULA_INSIDE = re.compile(rf";\s*[{re.escape(''.join(FORMULA_PREFIXES))}]")


def clean_name(text: str) -> str:
    """Return `text` in Unicode normal form C, without leading and trailing white space.

    A text that cannot be a name, which `name_problem` says of it, may be returned as it is.
    """
    return normal_form(text).strip()


@remembered
def fold_name(name: str) -> str:
    """Return what two names have in common when they count as the same: case and joiners do not matter."""
    if name.isascii():  # most names are, and thousands of them are folded for one upload: it has no joiners
        return name.strip().casefold()
    return normal_form(without_joiners(clean_name(name)).casefold())


@remembered
def name_order_key(name: str) -> tuple[str, str]:
    """Return by what names are sorted where a figure depends on an order, as among equals.

    A site knows systems and tasks by keys that it makes of their names: lower-case ASCII words with hyphens between
    them. The same board in a file has the names alone, and must give the same figures: so names are sorted as their
    keys are, and those of the same key by themselves. Names whose keys the site numbers or cuts may come in another
    order there: those beyond 74 characters, and those without an ASCII letter or digit.
    """
    letters = normal_form(name, "NFKD").encode("ascii", "ignore").decode().lower()
    return _BETWEEN_WORDS.sub("-", _NOT_IN_WORDS.sub("", letters)).strip("-"), name


@remembered
def name_problem(text: str, *, allow_formula: bool = False) -> str | None:
    """Return what is wrong with `text` as a name, as the end of a sentence that begins with it, or None.

    A name that begins with = + - @ is read as a formula by spreadsheets; `allow_formula` accepts it.
    """
    name = clean_name(text)
    if not name:
        return "is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"has {len(name)} characters; at most {MAX_NAME_LENGTH} are allowed"
    if problem := line_problem(name):
        return problem
    if not name.isascii():
        marks = {character for character in set(name) if unicodedata.category(character) in ("Mn", "Me")}
        if marks and "m" * (MAX_MARKS + 1) in "".join("m" if character in marks else " " for character in name):
            return f"has more than {MAX_MARKS} marks on one letter"
    if not allow_formula and name.startswith(FORMULA_PREFIXES):
        return f"begins with {name[0]!r}, which spreadsheets take for a formula"
    if not allow_formula and (formula := FORMULA_INSIDE.search(name)):
        return f"holds {formula[0]!r}, which spreadsheets that split cells at semicolons take for a formula"
    if word := mixed_word(name):
        foreign = listed(foreign_letters(word))
        return f"mixes alphabets in {shorten(word)!r}, which could pass as Latin; write {foreign} as a word of its own"
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


def counted(n: int, thing: str) -> str:
    """Return a number with what it counts: "1 system", "3 systems"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"
