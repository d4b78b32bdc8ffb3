"""How a table is written: what separates its columns, and what marks the decimals of its numbers.

Spreadsheets write commas, semicolons or tabs by the language they are set to, and tabs when cells are copied. The mark
is read from the whole table at once (`number_forms.decimal_mark`), and never guessed: where it could be read in two
ways, the table is refused.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


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
