"""What to say of cells that hold no number, and of which line."""

from __future__ import annotations

from ranking_engine.core.decimals import NUMBER
from ranking_engine.text.names import shorten

NOT_REPORTED = {"nan", "na", "n/a", "none", "null", "-", "--", "?", "missing"}


def number_message(text: str) -> str:
    """Return what is wrong with a cell that holds no number, and what to write in its place where that can be told."""
    quoted = repr(shorten(text))
    if text.casefold() in NOT_REPORTED:
        return f"{quoted} is not a number; leave the cell empty where a score is missing"
    if text.casefold().lstrip("+-") in {"inf", "infinity"}:
        return f"{quoted} is infinite; a score must be finite"
    if NUMBER.fullmatch(text.replace(",", ".", 1)):
        return f"{quoted} may be a decimal number or a large one; write decimal points, and no commas"
    return f"{quoted} is not a number"


def line_of(before: bytes) -> int:
    """Return the line, from 1, of what comes after these bytes of a file."""
    return len(before.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
