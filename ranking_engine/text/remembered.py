"""Answers about names that are kept while a process goes on, because an upload asks for each several times."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

MAX_NAMES = 1 << 14  # more than an upload has
LONGEST = 800  # characters: a longer text is no name, and thousands of them would fill the memory

P = ParamSpec("P")
T = TypeVar("T")


def remembered(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Keep what a function returns for short texts.

    Args:
        function: of a text, and of options that can be hashed.
    """
    kept = cast("Callable[Concatenate[str, P], T]", lru_cache(maxsize=MAX_NAMES)(function))

    @wraps(function)
    def answer(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return kept(text, *args, **kwargs) if len(text) <= LONGEST else function(text, *args, **kwargs)

    return answer
