"""Names and keys of systems, tasks and groups: what may stand in them, and which ones look alike."""

import difflib
import unicodedata
from collections.abc import Container, Iterable

from django.utils.text import slugify

from leaderboard.models.benchmarks import KEY_LENGTH, NAME_LENGTH

# A name that begins like this would be read as a formula by spreadsheet programs that open an export.
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")


class NameProblem(ValueError):
    """A name that cannot be stored; the message says why and never repeats control characters."""


def clean_name(raw: str) -> str:
    """A name as it is stored: NFC, trimmed.

    Raises:
        NameProblem: it is empty, too long, has control characters, or begins like a formula.
    """
    name = unicodedata.normalize("NFC", raw).strip()
    if not name:
        raise NameProblem("the name is empty")
    if len(name) > NAME_LENGTH:
        raise NameProblem(f"the name has {len(name)} characters; at most {NAME_LENGTH} are stored")
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in name):
        raise NameProblem("the name has control or invisible characters")
    if name.startswith(FORMULA_PREFIXES):
        raise NameProblem(f"the name begins with {name[0]!r}, which spreadsheets read as a formula")
    return name


def fold(name: str) -> str:
    """What two names must not share within a benchmark: the name without case and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def make_key(name: str, taken: Container[str]) -> str:
    """A key for `name` that is not in `taken`: its ASCII slug, numbered from 2 where the slug is taken."""
    slug = slugify(name).replace("_", "-").strip("-")
    slug = "-".join(part for part in slug.split("-") if part)[: KEY_LENGTH - 6].strip("-") or "unnamed"
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def near_misses(name: str, known: Iterable[str]) -> list[str]:
    """Known names that `name` may be a slip of the pen for, nearest first, at most three."""
    by_fold = {fold(other): other for other in known}
    close = difflib.get_close_matches(fold(name), by_fold, n=3, cutoff=0.85)
    return [by_fold[key] for key in close]
