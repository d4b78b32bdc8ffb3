"""Keys for names, and names that look alike. What a name may be is the engine's to say (`ranking_engine.names`)."""

import difflib
from collections.abc import Container, Iterable

from django.utils.text import slugify

from leaderboard.models.benchmarks import KEY_LENGTH
from ranking_engine.names import fold_name

UNNAMED = "unnamed"  # the slug of a name without ASCII letters and digits


def make_key(name: str, taken: Container[str]) -> str:
    """A key for `name` that is not in `taken`: its ASCII slug, numbered from 2 where the slug is taken."""
    words = slugify(name).replace("_", "-").split("-")
    slug = "-".join(word for word in words if word)[: KEY_LENGTH - 6].strip("-") or UNNAMED
    key, number = slug, 2
    while key in taken:
        key, number = f"{slug}-{number}", number + 1
    return key


def near_misses(name: str, known: Iterable[str]) -> list[str]:
    """Known names that `name` may be a slip of the pen for, nearest first, at most three.

    Names of the same slug (`GPT-4`, `GPT 4`) are near however short they are.
    """
    by_fold = {fold_name(other): other for other in known}
    slug = make_key(name, ())
    same = [other for other in by_fold.values() if slug != UNNAMED and make_key(other, ()) == slug]
    close = difflib.get_close_matches(fold_name(name), by_fold, n=3, cutoff=0.85)
    return list(dict.fromkeys([*same, *(by_fold[key] for key in close)]))[:3]
