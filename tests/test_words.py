"""What people read has none of the words that `docs/words.md` replaces."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("leaderboard", "ranking_engine", "plurank", "jobs", "config")
WORDS = (
    "whoever", "nobody", "somebody", "everybody", "anybody", "anew", "stand", "stands", "stood",
    "hang on", "hangs on", "hung on", "turn round", "turns round", "turned round",
    "of yours", "of theirs", "of mine", "of ours", "begin again", "begins again", "in the main", "weighed otherwise",
    "hold no more", "holds no more", "told no more", "shall", "upon", "thereby", "wherein", "whereby", "hence", "thus",
    "e-mail", "told apart", "tell apart", "tells apart", "held against", "hold against", "holds against", "one's own",
    "come again", "comes again", "taken back", "take it back", "takes it back", "level with", "what there is",
    "what is there", "a row a system", "one a system", "one a task", "one a line", "but for", "speak against",
    "speaks against",
)  # fmt: skip
# A phrase that may have such a word, and why.
ALLOWED = {
    "stands for": "what a symbol or abbreviation means",
    "stand for": "what a symbol or abbreviation means",
    "stood for": "what a symbol or abbreviation means",
    "run as nobody": "the user of a container",
}
# Documents that are not read, and why.
SKIPPED = {
    "docs/papers.md": "generated from the figures of the papers by `make papers`",
    "docs/words.md": "the list itself",
}
_SPACED = "|".join(WORDS).replace(" ", r"\s+")
FORBIDDEN = re.compile(rf"(?<![\w`.@/-])(?:{_SPACED})(?![\w`@/-])", re.IGNORECASE)
EXCUSED = re.compile(r"\s+".join("|".join(ALLOWED).split(" ")), re.IGNORECASE)
NO_PROSE = {
    ".html": re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL),
    ".md": re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL),
}


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with spaces in place of what the pattern matches, each line at its place."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """What people read in a file of this name, in pieces with their first lines: of code, strings with a space."""
    if not name.endswith(".py"):
        yield 1, blanked(text, NO_PROSE[".md" if name.endswith(".md") else ".html"])
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, blanked(node.value, NO_PROSE[".md"])


def literary(name: str, text: str) -> list[str]:
    """File, line and word of each word that `docs/words.md` replaces."""
    return [
        f"{name}:{line + piece[: match.start()].count(chr(10))}: {match.group()}"
        for line, piece in prose(name, text)
        for match in FORBIDDEN.finditer(blanked(piece, EXCUSED))
    ]


def read_by_people() -> Iterator[Path]:
    """Templates, documents and code, without migrations."""
    yield from (path for kind in ("html", "txt") for path in (ROOT / "templates").rglob(f"*.{kind}"))
    yield from [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    yield from (path for folder in CODE for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts)


def test_everything_that_people_read_is_in_plain_words():
    names = {path.relative_to(ROOT).as_posix(): path for path in read_by_people()}
    words = [word for name in sorted(names.keys() - SKIPPED.keys()) for word in literary(name, names[name].read_text())]
    assert not words, "docs/words.md says what to write instead:\n" + "\n".join(words)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("page.html", "<p>\nNobody beats it.</p>", ["page.html:2: Nobody"]),
        ("page.html", "<p>A rank that hangs\n on the rule</p>", ["page.html:1: hangs\n on"]),
        ("page.html", '{# whoever #}<a class="stand" href="{% url "anew" %}">Go</a>', []),
        ("page.md", "One\n\nHere stands the proof.", ["page.md:3: stands"]),
        ("page.md", "`stands` and [a page](stand.md); W stands for Kendall's coefficient", []),
        (
            "page.md",
            "Rules can be told\napart, and ties taken back.",
            ["page.md:1: told\napart", "page.md:2: taken back"],
        ),
        ("page.md", "A task told them; apart from that, a row has a line for one task.", []),
        ("page.md", "A standard error and a holdout set stay outstanding.", []),
        ("code.py", '"""What a reader\nof theirs sees."""', ["code.py:2: of theirs"]),
        ("code.py", 'def nobody(stands): return f"{stands} is drawn anew"', ["code.py:1: anew"]),
        ("code.py", 'KEY = "nobody"', []),
    ],
)
def test_a_word_is_seen_in_what_people_read_and_nowhere_else(name, text, words):
    assert literary(name, text) == words


def test_every_word_is_explained():
    table = (ROOT / "docs" / "words.md").read_text().lower()
    assert [word for word in WORDS if word not in table] == []
