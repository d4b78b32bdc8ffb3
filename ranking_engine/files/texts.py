"""Bytes of a table as text: UTF-8, UTF-16 and UTF-32 by their first bytes, else Windows-1252."""

from __future__ import annotations

import codecs

from ranking_engine.files.cell_messages import line_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WINDOWS = "the file is not UTF-8 and was read as Windows-1252; check names with accents"


class NotTextError(ValueError):
    """Bytes that are no text; `line` is where, from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def decoded(data: bytes, *, guesses: bool = True) -> tuple[str, str]:
    """Return the text of a file, and what to say of how it was read (mostly nothing).

    Args:
        data: its bytes.
        guesses: whether bytes that are no UTF-8 are read as Windows-1252, as spreadsheets save.

    Raises:
        NotTextError: it is no text.
    """
    remark = ""
    encoding, start = next(((name, len(mark)) for mark, name in _MARKS if data.startswith(mark)), ("utf-8", 0))
    try:
        text = data[start:].decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or start:
            raise NotTextError(f"this is not {encoding[:6].upper().rstrip('-')}", 1) from error
        line, byte = line_of(data[: error.start]), data[error.start]
        try:
            text = data.decode("cp1252") if guesses else ""
        except UnicodeDecodeError:
            text = ""
        if not text or "\0" in text:
            raise NotTextError(f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8", line) from error
        remark = WINDOWS
    if "\0" in text:
        raise NotTextError("a NUL byte; this is not a text file", text[: text.index("\0")].count("\n") + 1)
    return text, remark
