from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ranking_engine.text.names import check_name, clean_name, fold_name, name_problem


def test_names_are_trimmed_and_composed():
    assert clean_name("  Turing NLR v5 ") == "Turing NLR v5"
    assert clean_name("Cafe\u0301") == "Caf\u00e9"


def test_names_that_differ_in_case_or_in_composition_are_the_same():
    assert fold_name("STRASSE") == fold_name("straße")
    assert fold_name("Cafe\u0301 ") == fold_name("CAF\u00c9")
    assert fold_name("T5") != fold_name("T6")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        (" \u00a0 ", "is empty"),
        ("a\tb", "holds the invisible or control character U+0009; leave it out"),
        ("a\u0000b", "holds the invisible or control character U+0000; leave it out"),
        ("a\u200bb", "holds the invisible or control character U+200B (zero width space); leave it out"),
        ("a\u202eb", "holds the invisible or control character U+202E (right-to-left override); leave it out"),
        ("a\ufe0fb", "holds the invisible or control character U+FE0F (variation selector-16); leave it out"),
        ("=1+1", "begins with '=', which spreadsheets take for a formula"),
        ("@me", "begins with '@', which spreadsheets take for a formula"),
        ("x" * 201, "has 201 characters; at most 200 are allowed"),
    ],
)
def test_bad_names_are_told_what_is_wrong(text, problem):
    assert name_problem(text) == problem
    with pytest.raises(ValueError, match="the task name"):
        check_name(text, "task")


@pytest.mark.parametrize(
    "code",
    [
        *range(32), 0x7F, 0x85, 0xAD, 0x34F, 0x378, 0x61C, 0x115F, 0x180E, *range(0x200B, 0x2010), 0x2028, 0x2029,
        *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x2800, 0x3164, 0xE000, 0xFE00, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFE,
        0xE0041, 0xE0100, 0x10FFFF,
    ],
)  # fmt: skip
def test_names_that_look_like_others_by_what_cannot_be_seen_are_refused(code):
    assert f"U+{code:04X}" in name_problem(f"GPT{chr(code)}-4")


def test_a_good_name_comes_back_clean():
    assert check_name(" GPT-4o (2024-08-06) ") == "GPT-4o (2024-08-06)"
    assert check_name("名前 🙂") == "名前 🙂"
    assert check_name("-Best", allow_formula=True) == "-Best"


@pytest.mark.parametrize(
    "name",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: I want, with its non-joiner
        "\u0645\u06cc\u064e\u200c\u062e",  # with a vowel mark before it
        "\u0915\u094d\u200d\u0937",  # Hindi: a half letter
        "\u0915\u094d\u200c\u0937",  # Hindi: a visible virama
        "Coder \U0001f469\u200d\U0001f4bb",
        "\U0001f469\U0001f3fd\u200d\U0001f4bb",  # with a skin tone
        "\u2764\ufe0f\u200d\U0001f525",  # a heart on fire
        "\U0001f3f4\u200d\u2620\ufe0f",  # the pirate flag
    ],
)
def test_joiners_are_taken_where_words_and_emoji_need_them(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "GPT\u200c4", "GPT\u200d4", "\u200dGPT", "GPT\u200c", "\U0001f469\u200d", "\u200d\U0001f4bb",
        "a\u200d\U0001f4bb",
        "\U0001f4bb\u200da", "\U0001f469\u200d\u200d\U0001f4bb", "\u0627\u200c\u0628", "\u0628\u200c",
        "\u0628\u200d\u0628",
        "\u0628\u200ca", "\u0628\u200c\u200c\u0628", "4\ufe0f", "\ufe0f", "\U0001f600\ufe0f\ufe0f",
    ],
)  # fmt: skip
def test_joiners_that_change_nothing_are_refused(name):
    assert "invisible or control character" in name_problem(name)


def test_names_never_differ_by_joiners_alone():
    assert fold_name("\u0645\u06cc\u200c\u062e") == fold_name("\u0645\u06cc\u062e")
    assert fold_name("\u2764\ufe0f") == fold_name("\u2764")
    assert fold_name("\U0001f469\u200d\U0001f4bb") == fold_name("\U0001f469\U0001f4bb")


def test_the_letters_that_join_are_those_of_unicode():
    """Which letters join what is told by their shapes: a letter that joins both ways has a medial form."""
    medial = {
        ord(unicodedata.normalize("NFKC", chr(code)))
        for code in [*range(0xFB50, 0xFDFF), *range(0xFE70, 0xFEFD)]
        if "MEDIAL FORM" in unicodedata.name(chr(code), "") and len(unicodedata.normalize("NFKC", chr(code))) == 1
    }
    final_only = {
        ord(unicodedata.normalize("NFKC", chr(code)))
        for code in [*range(0xFB50, 0xFDFF), *range(0xFE70, 0xFEFD)]
        if "FINAL FORM" in unicodedata.name(chr(code), "") and len(unicodedata.normalize("NFKC", chr(code))) == 1
    } - medial
    final_only -= {0x6BA}  # noon ghunna joins both ways; only its final shape is encoded
    assert len(medial) > 30
    for code in medial:
        assert name_problem(f"{chr(code)}\u200c\u0628") is None, hex(code)
    for code in final_only:
        assert name_problem(f"{chr(code)}\u200c\u0628") is not None, hex(code)
        assert name_problem(f"\u0628\u200c{chr(code)}") is None, hex(code)


@pytest.mark.parametrize("use", [clean_name, fold_name, name_problem])
@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301" * 100_000 + "\u0323" * 100_000,
        "a" + "\u0323\u0301" * 100_000,
        "\u0344" * 100_000,
        ("a" + "\u0301" * 400 + "\u0323" * 399) * 100,
    ],
)
def test_marks_without_end_are_never_put_in_order(use, text):
    """Which takes minutes for one of these: the time grows with the square of their number, in one call."""
    before = time.process_time()
    use(text)
    assert time.process_time() - before < 1


def test_a_name_has_few_marks_on_one_letter():
    assert name_problem("a\u0301\u0323\u0302\u0303") is None
    assert name_problem("e" + "\u0316" * 5) == "has more than 4 marks on one letter"
    assert name_problem("e" + "\u0316" * 700) == "has 701 characters; at most 200 are allowed"
    assert name_problem("e" + "\u0316" * 100_000) == "has 100001 characters; at most 200 are allowed"


@given(st.text(alphabet="ae\u0301\u0323\u0316\u1100\u1161\u11a8 \u0345\u03b1\u0313\u0300", max_size=30))
def test_names_of_common_length_are_normalised_as_unicode_says(text):
    assert clean_name(text) == unicodedata.normalize("NFC", text).strip()
    assert fold_name(text) == unicodedata.normalize("NFC", clean_name(text).casefold())


def test_the_longest_name_is_found_to_be_the_same_however_it_is_composed():
    composed = "\u1f82" * 200
    decomposed = unicodedata.normalize("NFD", composed)
    assert len(decomposed) == 800
    assert clean_name(decomposed) == composed
    assert name_problem(decomposed) is None


@pytest.mark.parametrize("name", ["a;=1+1", "a; @x", "BLEU;-1", "a;\uff1d1"])
def test_a_formula_behind_a_semicolon_is_refused(name):
    assert "which spreadsheets that split cells at semicolons take for a formula" in name_problem(name)
    assert name_problem(name, allow_formula=True) is None
    assert name_problem(name.replace(";", ",")) is None


def test_every_normal_form_is_made_in_one_place():
    """Elsewhere only of single characters, and of what a browser draws in charts."""
    root = Path(__file__).parents[3]
    files = [path for folder in ("ranking_engine", "leaderboard", "jobs") for path in (root / folder).rglob("*.py")]
    using = {path.name for path in files if "unicodedata.normalize(" in path.read_text("utf-8")}
    assert using == {"normal_forms.py", "text_width.py"}
