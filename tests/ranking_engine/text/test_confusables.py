"""Names that look alike share a skeleton or a shape; names of one alphabet stay what they are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from ranking_engine.text import confusables
from ranking_engine.text.confusables import mixed_word, shape, skeleton, words_joined
from ranking_engine.text.names import check_name, name_problem

LOOK_ALIKES = [
    ("GPT-4o", "\u13c0PT-4o"),  # Cherokee G
    ("GPT-4o", "\ua4d6\ua4d1\ua4d4-4\ua4f3"),  # Lisu throughout
    ("GPT-4o", "\u0262\u1d18\u1d1b-4o"),  # small capitals
    ("SOTA", "\u054f\u0555TA"),  # Armenian S and O
    ("Ilama", "\u0196lama"),  # a Latin iota
    ("Llama I", "Llama \u04c0"),  # palochka
    ("Llama l", "Llama \u04c0"),
    ("Turbo", "T\u03c5rbo"),  # Greek upsilon
    ("GPT-4o", "GPT-4\u0323o"),  # a dot below
    ("GPT-4o", "G\u0326PT-4o"),  # a comma below
    ("Llama 1", "Llama l"),
    ("Llama 1", "Llama I"),
    ("Llama", "LIama"),
    ("GPT-O", "GPT-0"),
    ("GPT-4o", "GPT-4o."),
    ("Gemma", "Gernma"),
    ("Orca X", "\u041er\u0441\u0430-\u0425"),  # Cyrillic
    ("Mixtral 8x7B", "Mixtral 8\u00d77B"),
    ("Cafe", "Caf\u00e9"),
]


@pytest.mark.parametrize(("name", "like"), LOOK_ALIKES)
def test_names_that_look_alike_share_a_skeleton_or_a_shape(name, like):
    assert skeleton(name) == skeleton(like) or shape(name) == shape(like)
    assert words_joined(name) != words_joined(like)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ViT-L", "ViT-1"), ("GPT-4", "GPT-4+"), ("GPT-4", "GPT-4*"), ("GPT-4.0", "GPT-40"), ("T5", "T6"),
        ("\u304b\u304e", "\u304c\u304d"), ("\u0915\u093f", "\u0915\u0940"), ("\u6771\u4eac", "\u4eac\u90fd"),
        ("\u041c\u043e\u0434\u0435\u043b\u044c", "\u041c\u043e\u0434\u0435\u043b\u0438"),
    ],
)  # fmt: skip
def test_names_that_read_otherwise_share_neither(name, other):
    assert skeleton(name) != skeleton(other)
    assert shape(name) != shape(other)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("My p\u0430ge", "p\u0430ge"), ("G\u03a1T-4", "G\u03a1T"), ("\u13c0PT", "\u13c0PT"), ("\ua4d6PT", "\ua4d6PT"),
        ("\u054fOTA", "\u054fOTA"), ("q\u0323\u0430 x", "q\u0430"),
    ],
)  # fmt: skip
def test_a_word_that_mixes_alphabets_and_could_pass_as_latin_is_refused(name, word):
    assert mixed_word(name) == word
    assert name_problem(name).startswith(f"mixes alphabets in {word!r}, which could pass as Latin; write U+")


@pytest.mark.parametrize(
    "name",
    [
        "\u042f\u043d\u0434\u0435\u043a\u0441 GPT 2",
        "\u041e\u0440\u0441\u0430",
        "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03cc",
        "\u901a\u4e49\u5343\u95ee-7B",
        "\u540d\u524dGPT",
        "\u30ea\u30f3\u30ca 3.6b",
        "\ud55c\uad6d\uc5b4",
        "\u0394acc",
        "\u03bcTransfer",
        "\u03b1-GPT",
        "\u03b1,\u03b2-CROWN",
        "\u03b2-VAE",
        "\u0939\u093f\u0928\u094d\u0926\u0940 7B",
        "\u0645\u062f\u0644 7B",
        "\u00dcbung",
        "R\u00b2",
    ],
)
def test_names_of_other_alphabets_are_taken(name):
    assert check_name(name) == unicodedata.normalize("NFC", name)


@given(st.text(max_size=30))
def test_case_and_hyphens_never_tell_skeletons_apart(name):
    assert skeleton(f"{name}-7b x") == skeleton(f"{name} 7B_x")


@given(st.text(max_size=30))
def test_an_ascii_name_has_the_skeleton_and_the_shape_of_its_full_width_double(name):
    plain = "".join(letter for letter in name if "!" <= letter <= "~" and letter not in "\"'`,.:;!")
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in plain)
    assert (skeleton(wide), shape(wide)) == (skeleton(plain), shape(plain))


@pytest.mark.parametrize("letter", ["\uac01", "\u0410", "\u6771", "e\u0323", "\u0431\u0304"])
def test_what_a_letter_is_is_looked_up_once_however_often_it_is_in_names(letter, monkeypatch):
    """Long names of other alphabets took fifty times as long as others: letter by letter, seven times a name."""
    looked_up = []
    monkeypatch.setattr(confusables, "unicodedata", Counted(looked_up))
    for cached in (confusables._is_latin, confusables._has_marks, confusables._loses_mark):
        cached.cache_clear()
    for k in range(20):
        name = letter * 90 + str(k)
        assert name_problem(name) is None
        assert skeleton(name)
        assert shape(name)
    assert len(looked_up) <= 20


class Counted:
    """The module `unicodedata`, which notes of which letters the name was asked for."""

    combining, category = staticmethod(unicodedata.combining), staticmethod(unicodedata.category)

    def __init__(self, looked_up):
        self._looked_up = looked_up

    def name(self, letter, default):
        self._looked_up.append(letter)
        return unicodedata.name(letter, default)
