"""TOML from anyone: what would take more time or memory than its size is refused before the parser sees it.

The parser of the standard library keeps every beginning of a dotted key, so that its memory grows with the square of
the number of dots; it recurses into arrays and tables; and it makes several objects of every value. None of the files
that are read here needs much of that.
"""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from typing import Any

from ranking_engine.files.tables import TableError, TableIssue

MAX_BYTES = 4 * 2**20
MAX_LINE = 100_000  # characters
MAX_DOTS = 10  # in a key
MAX_KEY = 200  # characters
MAX_NUMBER = 1000  # characters of a number, or of any other word outside quotation marks
MAX_DEPTH = 20  # of arrays and tables in each other
MAX_TABLES = 25_000  # two for each system of an upload, and the tasks
MAX_VALUES = 200_000

# Possessive, so that no text is looked at twice. An unclosed quotation mark runs to the end: the parser says so.
_TOKEN = re.compile(
    r"""
      (?P<text>
          \"{3}(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?
        | '{3}(?:[^']|'(?!''))*+(?:'{3,5})?
        | "(?:[^"\\\n]|\\[^\n])*+"?
        | '[^'\n]*+'?
      )
    | (?P<comment>\#[^\n]*+)
    | (?P<mark>[\n.=,\[\]{}])
    | (?P<word>[^\s.=,\[\]{}"'\#]++)
    """,
    re.VERBOSE | re.DOTALL,
)


def read_toml(data: bytes, source: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and what it says, with decimals as `Decimal`.

    Args:
        data: the file.
        source: what errors call it.

    Raises:
        TableError: it is no TOML, no UTF-8, or beyond one of the bounds of this module; it names the line.
    """

    def fail(message: str, line: int | None) -> TableError:
        return TableError([TableIssue(line, None, None, message)], source)

    if len(data) > MAX_BYTES:
        raise fail(f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read", None)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise fail("not UTF-8; save the file as UTF-8", data[: error.start].count(b"\n") + 1) from error
    if excess := _excess(text):
        raise fail(*excess)
    try:
        return text, tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        place = re.search(r"\(at line (\d+)", str(error))
        raise fail(f"not valid TOML: {error}", int(place[1]) if place else None) from error


def _excess(text: str) -> tuple[str, int] | None:
    """What of a TOML text is beyond a bound, and its line from 1; None where nothing is."""
    start, line = 0, 1
    while start <= len(text):
        end = text.find("\n", start)
        length = (len(text) if end < 0 else end) - start
        if length > MAX_LINE:
            return f"the line has {length:,} characters; at most {MAX_LINE:,} are read", line
        start, line = start + length + 1, line + 1
    line, depth, n_tables, n_values = 1, 0, 0, 0
    n_dots = key_length = 0  # of what may be a key, which ends at the next mark but a dot
    begins = True  # whether nothing but white space has come on this line
    for token in _TOKEN.finditer(text):
        piece, kind = token[0], token.lastgroup
        if kind == "mark" and piece != ".":
            if piece == "=" and key_length > MAX_KEY:
                return f"a key has {key_length:,} characters; at most {MAX_KEY} are read", line
            n_values += piece in "=,["
            n_tables += piece == "{" or (piece == "[" and begins and not depth)
            depth += (piece in "[{") - (piece in "]}")
            line += piece == "\n"
            n_dots = key_length = 0
            begins = piece == "\n"
        elif kind != "comment":
            n_dots += piece == "."
            key_length += len(piece)
            line += piece.count("\n")
            begins = False
            is_long = kind == "word" and len(piece) > MAX_NUMBER
            # A bare word that is a key, or part of one, has a longest length of its own.
            if is_long and text[token.end() : token.end() + 20].lstrip(" \t")[:1] not in {"=", "]", "."}:
                return f"{len(piece):,} characters of a number or word; at most {MAX_NUMBER} are read", line
        for count, most, what in (
            (n_dots, MAX_DOTS, "dots in a key"),
            (depth, MAX_DEPTH, "arrays and tables inside each other"),
            (n_tables, MAX_TABLES, "tables"),
            (n_values, MAX_VALUES, "values"),
        ):
            if count > most:
                return f"more than {most:,} {what}; a benchmark file needs fewer", line
    return None
