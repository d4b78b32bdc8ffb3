"""Texts in LaTeX and Markdown: how they are written without meaning to either, and how they are read back."""

from __future__ import annotations

import re
import string

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "*": "{*}",  # after the end of a row these would be its arguments
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "\N{MINUS SIGN}": r"$-$", "\N{EN DASH}": "--",
}  # fmt: skip
MARKDOWN = frozenset("\\`*_{}[]<>#|~&!$")

_DASHES = re.compile("[-\N{EN DASH}](?=[-\N{EN DASH}])")  # two hyphens would be read as a dash
_ESCAPED_MARKDOWN = re.compile(rf"\\([{re.escape(string.punctuation)}])")
_FROM_LATEX = {escape: character for character, escape in LATEX.items()}
_ESCAPED_LATEX = re.compile(
    "|".join(
        [
            r"---(?:\{\})?",
            r"--(?:\{\})?",
            r"-\{\}",
            *(
                rf"{re.escape(escape[:-2])}(?:\{{\}}|(?![A-Za-z]))" if escape.endswith("{}") else re.escape(escape)
                for escape in _FROM_LATEX
            ),
        ]
    )
)
# What was escaped is kept as characters that no text may have, one for each sign, until marks are taken away.
_SIGNS = {sign: chr(0xFDD0 + number) for number, sign in enumerate(string.punctuation)}
_KEPT = str.maketrans(_SIGNS)
_SHOWN = str.maketrans({kept: sign for sign, kept in _SIGNS.items()})


def escape_latex(text: str) -> str:
    """Return `text` without meaning to LaTeX."""
    apart = _DASHES.sub("\\g<0>\0", text.replace("\0", ""))
    return "".join(LATEX.get(character, character) for character in apart).replace("\0", "{}")


def escape_markdown(text: str) -> str:
    """Return `text` without meaning to Markdown."""
    return "".join(f"\\{character}" if character in MARKDOWN else character for character in text)


def keep_latex(text: str) -> str:
    """Return LaTeX with its escaped signs as characters that mean nothing; `show_kept` makes signs of them."""

    def kept(match: re.Match[str]) -> str:
        escape = match[0]
        if escape.startswith("-"):
            return {1: "-", 2: "\N{EN DASH}", 3: "\N{EM DASH}"}[escape.count("-")]
        return (_FROM_LATEX.get(escape) or _FROM_LATEX[f"{escape}{{}}"]).translate(_KEPT)

    return _ESCAPED_LATEX.sub(kept, text)


def keep_markdown(text: str) -> str:
    """Return Markdown with its escaped signs as characters that mean nothing; `show_kept` makes signs of them."""
    return _ESCAPED_MARKDOWN.sub(lambda match: match[1].translate(_KEPT), text)


def show_kept(text: str) -> str:
    """Return a text with the signs that were kept."""
    return text.translate(_SHOWN)
