"""The texts of scripts: pages hand them over in their own language, so that scripts have none themselves."""

import json
import re

import pytest
from django.conf import settings

from leaderboard.explore.what_if_texts import TEXTS, texts_for_script
from tests.languages.pseudo import pseudo

SCRIPTS = settings.ROOT / "static" / "js"
COMMENT = re.compile(r"/\*.*?\*/|(?:^|(?<=\s))//.*?$", re.DOTALL | re.MULTILINE)
LITERAL = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")
SENTENCE = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}|^\s*[A-Z][a-z]+")  # two words, or a word with a capital
# What is shown or read out, whatever is written there.
SHOWN = re.compile(
    r"(?:textContent|innerText|title|placeholder|alt)\s*[=:]\s*[\"'`]([^\"'`]*[^\W\d_]{2,}[^\"'`]*)[\"'`]"
    r"|setAttribute\(\"(?:aria-label|aria-valuetext|title|placeholder|alt)\",\s*[\"'`]([^\"'`]*)[\"'`]"
)
SELECTOR = re.compile(r"^[.#]|\[|^<svg ")  # of elements, or a picture
NO_TEXTS = {
    "button is-small", "button is-plain is-small",  # classes
    "AbortError", "ArrowDown", "ArrowUp", "Enter", "Escape",  # names of browsers
    "mean bounds", "not positive", "what-if frame",  # keys
}  # fmt: skip


def texts_in(script: str) -> list[str]:
    """What a script says to readers in words of its own."""
    code = COMMENT.sub("", script)
    literals = ["".join(parts) for parts in LITERAL.findall(code)]
    plain = [(text, re.sub(r"\$\{[^}]*\}", "", text)) for text in literals]
    sentences = [text for text, words in plain if SENTENCE.search(words) and not SELECTOR.search(text)]
    labels = [re.sub(r"\$\{[^}]*\}", "", "".join(parts)) for parts in SHOWN.findall(code)]
    return sorted({*sentences, *(label for label in labels if re.search(r"[^\W\d_]", label))} - NO_TEXTS)


@pytest.mark.parametrize("name", sorted(file.relative_to(SCRIPTS).as_posix() for file in SCRIPTS.rglob("*.js")))
def test_a_script_has_no_texts_of_its_own(name):
    assert texts_in((SCRIPTS / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ('note.textContent = "Copied";', ["Copied"]),
        ('note.textContent = "done"; // Not this', ["done"]),
        ("say(`${n} tasks match.`);", ["${n} tasks match."]),
        ("range.setAttribute(\"aria-label\", 'share');", ["share"]),
        ("range.setAttribute(\"aria-label\", `${name}`); link.className = 'button is-small';", []),
        ('document.querySelector(".board tbody tr"); write(list.dataset.none);', []),
    ],
)
def test_a_text_of_a_script_is_seen(script, texts):
    assert texts_in(script) == texts


def test_the_texts_that_a_script_gets_are_in_the_language_of_the_page(pseudo_language):
    texts = json.loads(texts_for_script())
    assert texts["dissent"] == pseudo("The winner changes under {n} of {sum} rules.")
    assert list(texts) == list(TEXTS)
    assert all(text.startswith("⟦") and "%(" not in text for text in texts.values())
