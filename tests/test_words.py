"""What people read has none of the words that `docs/words.md` replaces."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("leaderboard", "ranking_engine", "plurank", "jobs", "config", "reproduction")
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
# Further words of pages, documents and messages; docstrings may have them.
PUBLISHED = (
    "told", "lies", "lay", "lest", "whilst", "amongst", "ought", "elect", "elects", "elected", "voter", "voters",
    "taken for", "left alone", "to be had", "no winner here", "look again", "nothing was sent",
)  # fmt: skip
# A phrase that may have such a word, and why.
ALLOWED = {
    "stands for": "what a symbol or abbreviation means",
    "stand for": "what a symbol or abbreviation means",
    "stood for": "what a symbol or abbreviation means",
    "run as nobody": "the user of a container",
    "cluster voter": "the option of votes on pairs of systems, which people cast",
    "tasks are the voters": "the term of voting theory, said to be one",
    "a *voter* in voting theory": "the term of voting theory, said to be one",
    "numbers? of voters": "the line of a PrefLib file",
    "as many voters": "the line of a PrefLib file",
    "voters; at most": "the line of a PrefLib file",
    "NUMBER VOTERS": "the line of a PrefLib file",
}
# Documents that are not read, and why.
SKIPPED = {"docs/words.md": "the list itself"}
# What speaks of the papers, in their terms: elections and voters.
IN_TERMS_OF_PAPERS = ("docs/papers.md", "reproduction/")


def pattern_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """The words as such, in any case and over the ends of lines."""
    spaced = "|".join(words).replace(" ", r"\s+")
    return re.compile(rf"(?<![\w`.@/-])(?:{spaced})(?![\w`@/-])", re.IGNORECASE)


FORBIDDEN, UNPUBLISHED = pattern_of(WORDS), pattern_of(WORDS + PUBLISHED)
EXCUSED = re.compile(r"\s+".join("|".join(ALLOWED).replace("*", r"\*").split(" ")), re.IGNORECASE)
NO_PROSE = {
    ".html": re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL),
    ".md": re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL),
}
# What is read of a tag all the same: texts of attributes, and strings that a template puts in place of a value.
READ_IN_TAG = re.compile(
    r"""(?<!class=)"[^"]*\s[^"]*"|(?<=default:)"[^"]*"|(?<=yesno:)"[^"]*"|(?<=\s)"[a-z]+"(?=\s%})"""
)
NEVER_READ = re.compile(r"\{#.*?#\}|\{%\s*(?:url|load|extends)\b.*?%\}", re.DOTALL)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with spaces in place of what the pattern matches, each line at its place."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def without_tags(html: str) -> str:
    """A template with spaces in place of its tags, except for the texts in them."""

    def texts_of(tag: re.Match[str]) -> str:
        kept = {place for match in READ_IN_TAG.finditer(tag.group()) for place in range(*match.span())}
        return "".join(letter if place in kept or letter == "\n" else " " for place, letter in enumerate(tag.group()))

    return NO_PROSE[".html"].sub(texts_of, blanked(html, NEVER_READ))


def docstrings(tree: ast.Module) -> set[int]:
    """The identities of the nodes that are docstrings."""
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, DOCUMENTED)]
    firsts = [body[0] for body in bodies if body]
    return {id(first.value) for first in firsts if isinstance(first, ast.Expr)}


def prose(name: str, text: str) -> Iterator[tuple[int, str, bool]]:
    """What people read in a file of this name, in pieces with their first lines, and whether users read them.

    Of code these are the strings with a space; users do not read docstrings.
    """
    if not name.endswith(".py"):
        yield 1, blanked(text, NO_PROSE[".md"]) if name.endswith(".md") else without_tags(text), True
        return
    tree = ast.parse(text)
    documentation = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, blanked(node.value, NO_PROSE[".md"]), id(node) not in documentation


def literary(name: str, text: str) -> list[str]:
    """File, line and word of each word that `docs/words.md` replaces."""
    is_of_papers = name.startswith(IN_TERMS_OF_PAPERS)
    return [
        f"{name}:{line + piece[: match.start()].count(chr(10))}: {match.group()}"
        for line, piece, is_published in prose(name, text)
        for match in (UNPUBLISHED if is_published and not is_of_papers else FORBIDDEN).finditer(blanked(piece, EXCUSED))
    ]


def read_by_people() -> Iterator[Path]:
    """Templates, documents and code, without migrations."""
    yield from (path for kind in ("html", "txt") for path in (ROOT / "templates").rglob(f"*.{kind}"))
    yield from [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
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
        (
            "page.html",
            '<p title="It hangs on it">{{ name|default:"nobody" }}</p>',
            ["page.html:1: hangs on", "page.html:1: nobody"],
        ),
        (
            "page.html",
            '{% with what="it stands" %}{% firstof name "nobody" %}',
            ["page.html:1: stands", "page.html:1: nobody"],
        ),
        ("page.md", "One\n\nHere stands the proof.", ["page.md:3: stands"]),
        ("page.md", "`stands` and [a page](stand.md); W stands for Kendall's coefficient", []),
        (
            "page.md",
            "Rules can be told\napart, and ties taken back.",
            ["page.md:1: told\napart", "page.md:2: taken back"],
        ),
        ("page.md", "A task says so; apart from that, a row has a line for one task.", []),
        ("page.md", "A standard error and a holdout set stay outstanding.", []),
        ("code.py", '"""What a reader\nof theirs sees."""', ["code.py:2: of theirs"]),
        ("code.py", 'def nobody(stands): return f"{stands} is drawn anew"', ["code.py:1: anew"]),
        ("code.py", 'KEY = "nobody"', []),
        ("code.py", '"""Who is told."""\nTEXT = "You are told."', ["code.py:2: told"]),
    ],
)
def test_a_word_is_seen_in_what_people_read_and_nowhere_else(name, text, words):
    assert literary(name, text) == words


def test_every_word_is_explained():
    table = (ROOT / "docs" / "words.md").read_text().lower()
    assert [word for word in WORDS + PUBLISHED if word not in table] == []
