"""Comparing with what is printed, keeping results, and what a page says where data are not there."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from reproduction import boards, figures, store
from reproduction.__main__ import result_of
from reproduction.boards import NoDataError, board
from reproduction.render import section_text, table
from reproduction.tables import (
    AGREES,
    DIFFERS,
    OURS_ALONE,
    Grid,
    Plane,
    Plot,
    Result,
    Row,
    Section,
    cell,
    compared,
    listed,
    names_compared,
    number,
    ours_alone,
    printed_scores,
    same,
)


@pytest.mark.parametrize(
    ("printed", "ours", "is_same"),
    [
        ("0.67", 2 / 3, True),
        ("0.66", 2 / 3, False),
        ("-0.00", 0.0, True),
        ("0.13", 0.125, True),
        ("0.12", 0.125, True),
        ("50", 53.0, False),
        ("nan", math.nan, True),
        ("nan", 1.0, False),
        ("1.0", math.nan, False),
    ],
)
def test_a_figure_agrees_if_it_rounds_to_what_was_printed(printed, ours, is_same):
    assert same(printed, ours) == is_same


def test_rows_say_what_was_printed_what_is_ours_and_why_they_differ():
    assert compared("W", 0.1901, printed="0.19", because="no reason needed") == Row(
        "W", "0.19", "", "0.19", AGREES, "", 1, 1
    )
    assert compared("W", 0.2057, code="0.19", because="cut") == Row("W", "", "0.19", "0.21", DIFFERS, "cut")
    both = compared("W", 0.2057, printed="0.2", code="0.19", because="theirs cuts")
    assert both == Row("W", "0.2", "0.19", "0.2", AGREES, "theirs cuts", 1, 1)
    assert listed("top", [1, 0.5], code=["1.0", "0.4"], because="ties") == Row(
        "top", "", "1.0, 0.4", "1.0, 0.5", DIFFERS, "ties"
    )
    assert names_compared("first", ["A", "B"], printed=["B", "A"]) == Row("first", "A; B", "", "A; B", AGREES)
    assert names_compared("first", ["A"], code=[], because="ties") == Row(
        "first", "", "no system", "A", DIFFERS, "ties"
    )
    assert ours_alone("least", "5") == Row("least", "", "", "5", OURS_ALONE)


def test_numbers_have_no_minus_before_a_zero_and_grids_show_both_figures_where_they_differ():
    assert [number(-0.0), number(-0.001), number(1.5, 0), number(math.nan)] == ["0.00", "0.00", "2", "undefined"]
    assert cell("5.00", 5.0) == "5.00"
    assert cell("5.00", 6.0) == "**6.00** (theirs 5.00)"


def test_printed_scores_are_by_system_and_the_rest_share_one():
    names = ["A: large", "B", "C"]
    assert printed_scores({"lines": "2.00: A: large\n", "rest": "0.00"}, names) == {
        "A: large": "2.00", "B": "0.00", "C": "0.00",
    }  # fmt: skip
    with pytest.raises(ValueError, match="no published score of B, C, and no `rest`"):
        printed_scores({"lines": "2.00: A: large\n"}, names)
    with pytest.raises(ValueError, match="unknown systems: D"):
        printed_scores({"lines": "2.00: D\n", "rest": "0.00"}, names)


def test_a_bar_within_a_cell_does_not_end_it():
    assert table(["a"], [["x|y"]])[-1] == "| x&#124;y |"


PICTURE = Plot("curve", "One curve", "It rises.", "k", "tau-b", ["1", "2"], {"mean": [0.5, None]}, top=0.6)
PLANE = Plane("dots", "Two dots", "Apart.", "diversity", "sensitivity", [("GLUE", 0.1, 0.2, 0.3)])
ROWS = [Row("a", "1", "", "1", AGREES), Row("b", "", "", "2", OURS_ALONE)]
RESULT = Result(ROWS, [Grid("g", ["h"], [["1"]])], ["note"], [PICTURE], [PLANE], {"n": 2, "of": {"x": [1.5]}})


def counting_section(boards=()):
    calls = []

    def compute(progress):
        calls.append(1)
        return RESULT

    return Section("toy", "A toy", boards, compute, ("its source",)), calls


def test_a_result_is_read_back_until_forced(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path / "papers")
    section, calls = counting_section(("VTAB",))
    assert result_of(section) == result_of(section) == (RESULT, "")
    assert len(calls) == 1
    assert [path.suffix for path in (tmp_path / "papers").iterdir()] == [".json"]
    store.forget_all()
    assert result_of(section) == (RESULT, "")
    assert len(calls) == 2


def test_a_result_is_computed_anew_when_a_leaderboard_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path / "papers")
    monkeypatch.setenv("PLURANK_REFERENCE_DATA", str(tmp_path))
    folder = tmp_path / "data" / "votenrank-toy"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text("")
    (folder / "scores.csv").write_text("system,t\nA,1\n")
    section, calls = counting_section(("votenrank-toy",))
    result_of(section)
    (folder / "scores.csv").write_text("system,t\nA,2\n")
    result_of(section)
    assert len(calls) == 2


def test_a_section_without_its_data_says_so_and_is_not_computed(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURANK_REFERENCE_DATA", str(tmp_path))
    section, calls = counting_section(("votenrank-glue",))
    result, missing = result_of(section)
    assert result is None
    assert "**Not run:** no votenrank-glue in PLURANK_REFERENCE_DATA." in section_text(section, result, missing)
    assert not calls
    with pytest.raises(NoDataError, match="set PLURANK_REFERENCE_DATA"):
        board("votenrank-glue")


@pytest.mark.parametrize("name", list(boards.IN_REPOSITORY))
def test_every_leaderboard_said_to_be_in_the_repository_is_there(name):
    assert all(path.is_file() for path in boards.files_of(name))


def test_what_several_sections_share_is_computed_once_for_each_state_of_its_leaderboards(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path / "papers")
    monkeypatch.setenv("PLURANK_REFERENCE_DATA", str(tmp_path))
    folder = tmp_path / "data" / "votenrank-toy"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text("")
    (folder / "scores.csv").write_text("system,t\nA,1\n")
    calls = []

    def compute():
        calls.append(1)
        return {"n": len(calls)}

    assert [store.kept("count", ("votenrank-toy",), compute) for _ in range(2)] == [{"n": 1}, {"n": 1}]
    (folder / "scores.csv").write_text("system,t\nA,2\n")
    assert store.kept("count", ("votenrank-toy",), compute) == {"n": 2}
    assert store.kept("count of nothing", (), compute) == {"n": 3}


def test_a_figure_is_a_file_that_stands_alone_and_names_its_curves():
    text = figures.svg_of(PICTURE)
    root = ET.fromstring(text)
    said = " ".join(element.text or "" for element in root.iter())
    assert "One curve" in said
    assert "mean: 0.50 at 1, 0.50 at 1" in said
    assert '<text class="legend" x="50" y="318">mean</text>' in text
    dots = ET.fromstring(figures.svg_of(PLANE))
    assert "GLUE: diversity 0.10, sensitivity 0.20 to 0.30" in " ".join(element.text or "" for element in dots.iter())
