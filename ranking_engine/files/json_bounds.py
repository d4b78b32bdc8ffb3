"""How much a JSON text holds, told before it is parsed: every value becomes an object of some hundred bytes."""

import re

MAX_DEPTH = 50  # of lists and mappings in each other, of YAML too

# Texts are passed over as a whole; possessive, so that nothing is looked at twice. An unclosed one ends the counting.
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
_MARKS = (",", ":", "[", "{")


def n_values(text: str, *, enough: int) -> int:
    """How many values and keys a JSON text holds at most: each follows a comma, a colon or an opening bracket.

    Args:
        text: JSON, or what is meant to be.
        enough: where there cannot be more than so many, the count may be too high: marks inside of texts count, too.
    """
    count = _n_marks(text)
    return count if count <= enough else _n_marks(_TEXT.sub("", text))


def _n_marks(text: str) -> int:
    return 1 + sum(map(text.count, _MARKS))
