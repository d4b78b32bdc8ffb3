"""What one line and several lines may be made of, and what is left of a text that a file's format cannot carry."""

import sys
import unicodedata
from xml.etree import ElementTree as ET

import pytest

from ranking_engine.text.characters import line_problem, lines_problem, writable

CONTROLS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cc"]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: f"U+{ord(control):04X}")
def test_every_control_character_is_refused_in_a_line_and_most_in_lines(control):
    assert line_problem(f"a{control}b") == (
        f"holds the invisible or control character U+{ord(control):04X}; leave it out"
    )
    expected = None if control in "\t\n\r" else f"holds the control character U+{ord(control):04X}; leave it out"
    assert lines_problem(f"a{control}b") == expected


@pytest.mark.parametrize("text", ["", "accuracy (%)", "µs", "Größe", "指标", "می‌خواهم", "👩‍🚀"])
def test_what_people_write_is_let_through(text):
    assert line_problem(text) is lines_problem(text) is None
    assert writable(text) == text


def test_whatever_is_left_of_a_text_can_be_written_as_xml():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    left = writable(every)
    parsed = ET.fromstring(f"<a>{left.replace('&', '&amp;').replace('<', '&lt;')}</a>").text
    assert parsed == left.replace("\r", "\n")  # as XML reads line ends
    assert {unicodedata.category(character) for character in left} & {"Cs"} == set()
    assert [character for character in left if unicodedata.category(character) == "Cc"] == ["\t", "\n", "\r"]
