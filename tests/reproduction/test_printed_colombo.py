"""What is typed of Colombo et al. 2022 is what the paper prints, and every table and figure of it has a place."""

from __future__ import annotations

import re

import pytest

from reproduction.colombo.sources import PAPER, TEXT
from tests.reference import reference_folder

BOARD_NAMES = {"XT.": "XTREME", "EXT.": "XTREME", "XTREM": "XTREME", "GLUE": "GLUE", "SGLUE": "SuperGLUE"}
FILE_NAMES = {
    "PC": "DIALOG_pc", "TC": "DIALOG_tc", "FLICKR": "FLICKR", "FLI.": "FLICKR", "MLQE": "MLQE", "RSUM": "REAL_SUM",
    "SEVAL": "SUM_EVAL", "TAC08": "TAC_08", "TAC09": "TAC_09", "TAC11": "TAC_11",
}  # fmt: skip


@pytest.fixture(scope="module")
def text():
    """The paper's text; the test is skipped where it is not."""
    return (reference_folder() / "papers" / "colombo-2022-best-systems.txt").read_text(encoding="utf-8")


def lines_of_table(text, number, first):
    """Return the lines of a table, from the one that begins with `first` to the caption."""
    lines = text.splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    begin = max(i for i in range(end) if lines[i].startswith(first))
    return lines[begin:end]


def test_table_1(text):
    header, *lines = lines_of_table(text, 1, "Task1")
    assert header.split() == ["Task1", "Task2", "Task3", "Task4", "Task5", "Task6", "SUM"]
    assert {line.split()[0]: line.split()[1:] for line in lines} == PAPER["table_1"]


def test_table_2(text):
    lines = lines_of_table(text, 2, "Dataset Top")
    assert [lines[0], lines[4]] == ["Dataset Top 1 Top 3 Top 5 Top 10", "Dataset Last 3 Last 5 Last 10"]
    first, last = ({BOARD_NAMES[cells[0]]: cells[1:] for cells in map(str.split, lines[i : i + 3])} for i in (1, 5))
    assert {name: [first[name], last[name][:3], last[name][3:]] for name in first} == PAPER["table_2"]


def ranked_teams(lines, n_boards):
    """Return (place, team, other place) of each board, from lines that have one place of every board."""
    place = r"(\d+) (\D[\w -]*?) (\d+)"
    matches = [re.fullmatch(" ".join([place] * n_boards), line) for line in lines]
    return [[match.groups()[3 * k : 3 * k + 3] for match in matches] for k in range(n_boards)]


@pytest.mark.parametrize(("number", "boards"), [(3, ["GLUE", "XTREME"]), (7, ["GLUE", "SuperGLUE", "XTREME"])])
def test_tables_3_and_7(text, number, boards):
    header, teams, *lines = lines_of_table(text, number, "GLUE ")
    assert [BOARD_NAMES[name] for name in header.split()] == boards
    assert teams == " ".join(["Team"] * len(boards))
    printed = dict(zip(boards, ranked_teams(lines, len(boards)), strict=True))
    typed = {**PAPER["table_3"], **PAPER["table_7"]}
    assert printed == {
        name: [(str(place), team, other) for place, (team, other, _) in enumerate(typed[name])] for name in boards
    }


def test_table_4(text):
    lines = [line.split() for line in lines_of_table(text, 4, "PC TC")]
    columns = [*zip(*lines[:4], strict=True), *zip(*lines[4:], strict=True)]
    assert {FILE_NAMES[name]: values for name, *values in columns} == PAPER["table_4"]


@pytest.mark.parametrize(
    ("number", "names", "total"),
    [
        (5, BOARD_NAMES, "Overall the total number of the score is over {}."),
        (6, FILE_NAMES, "Overall this benchmark is composed of over {} scores."),
    ],
)
def test_tables_5_and_6(text, number, names, total):
    header, *lines = lines_of_table(text, number, "# of tasks")
    assert header == "# of tasks # of instance"
    sizes = {names[name]: [value.rstrip(",") for value in values] for name, *values in map(str.split, lines)}
    typed = dict(PAPER[f"table_{number}"])
    assert total.format(typed.pop("total")) in text
    assert sizes == typed


def test_table_8(text):
    lines = [line.split() for line in lines_of_table(text, 8, "GLUE ")]
    assert {BOARD_NAMES[name]: values for name, *values in lines} == PAPER["table_8"]


IN_WORDS = {"6": "sixth", "5": "five", "0": "never", "8": "8 datasets", "9": "all datasets"}


@pytest.mark.parametrize("key", TEXT)
def test_passages_have_their_numbers_in_these_words(text, key):
    numbers, words = TEXT[key]
    assert words in text
    for number in [numbers] if isinstance(numbers, str) else numbers:
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", words) or IN_WORDS[number] in words


def test_every_table_and_figure_has_a_place(text):
    captions = {f"{kind.lower()} {n}" for kind, n in re.findall(r"^(Table|Figure) (\d+):", text, re.MULTILINE)}
    places = {place for place in PAPER["places"] if re.match(r"(table|figure) ", place)}
    assert captions == places
    assert len(captions) == 18


def test_the_places_of_tables_have_as_many_numbers_as_the_tables(text):
    def numbers_in(number, first):
        return sum(len(re.findall(r"(?<![\w.-])-?\d[\d.]*", line)) for line in lines_of_table(text, number, first))

    tables = {
        1: numbers_in(1, "A 0.3"),
        2: numbers_in(2, "XT. 1") - 3,  # Last 3, 5 and 10 of the second header
        3: numbers_in(3, "0 Ms"),
        4: numbers_in(4, "-0.08"),
        5: numbers_in(5, "GLUE 105") + 1,  # of the caption
        6: numbers_in(6, "PC 19") + 1,
        7: numbers_in(7, "0 Ms"),
        8: numbers_in(8, "GLUE 793"),
    }
    assert tables == {number: PAPER["places"][f"table {number}"]["numbers"] for number in tables}
