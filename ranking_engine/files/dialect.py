"""How a table is written: what separates its columns, and what marks the decimals of its numbers.

Spreadsheets write commas, semicolons or tabs by the language they are set to, and tabs when cells are copied. The mark
is told from the whole table at once, and never guessed: where it could be read in two ways, the table is refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}

_LIKE_A_NUMBER = re.compile(r"[+-]?[.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+", re.ASCII)  # 1,234 may be 1.234 or 1234


@dataclass(frozen=True)
class Dialect:
    """How a table is written.

    Attributes:
        delimiter: the character between two columns, one of `DELIMITERS`.
        decimal: the character before the decimals of a number, `.` or `,`.
    """

    delimiter: str = ","
    decimal: str = "."

    @property
    def description(self) -> str:
        """What is unusual about it, for people: `separated by semicolons, with decimal commas`; else empty."""
        if self.delimiter == ",":
            return ""
        marked = ", with decimal commas" if self.decimal == "," else ""
        return f"separated by {DELIMITERS[self.delimiter]}{marked}"


PLAIN = Dialect()


@dataclass(frozen=True)
class UnclearMarkError(Exception):
    """The decimal mark cannot be told.

    Attributes:
        place: of the number that shows it, counted from 0 among those that were given.
        message: what is unclear.
    """

    place: int
    message: str


def delimiter_of(text: str) -> str:
    """The first comma, semicolon or tab of the header that is outside quotation marks; a comma where none does.

    Args:
        text: of the file; its first line that is not blank is the header.
    """
    header = next((line for line in io.StringIO(text, newline="") if line.strip()), "")
    is_quoted = False
    for character in header:
        if character == '"':
            is_quoted = not is_quoted
        elif character in DELIMITERS and not is_quoted:
            return character
    return ","


def decimal_mark(numbers: Iterable[str]) -> str:
    """The decimal mark of a table whose columns are not separated by commas: `.` or `,`.

    Args:
        numbers: the cells of its scores, as they are in the file.

    Raises:
        UnclearMarkError: some numbers have a point and others a comma, or every comma might as well group digits.
    """
    first_of: dict[str, int] = {}
    is_decimal, example = False, ""
    for place, cell in enumerate(numbers):
        text = cell.strip()
        marks = [mark for mark in ".," if mark in text]
        if not marks or not _LIKE_A_NUMBER.fullmatch(text):
            continue  # a whole number, or none at all, of which the reader says so
        if len(marks) == 2 or (first_of and marks[0] not in first_of):
            raise UnclearMarkError(place, "the table mixes decimal points and commas; use only one")
        first_of.setdefault(marks[0], place)
        if marks == [","]:
            example = example or text
            is_decimal = is_decimal or not _GROUPED.fullmatch(text)
    if "," not in first_of:
        return "."
    if not is_decimal:
        raise UnclearMarkError(
            first_of[","], f"{example!r} may be a decimal number or a large one; write decimal points"
        )
    return ","
