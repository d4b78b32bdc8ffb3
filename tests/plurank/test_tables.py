"""Results as notebooks and files show them."""

import csv
import io

import pandas as pd
import pytest

import plurank
from plurank import frames
from plurank.tables import MAX_ROWS, ResultTable

TABLE = ResultTable("A <title>", {"system": ["A & B", "C"], "rank": [1, None], "share": [0.25, None]}, ["a <note>"])


def test_a_table_is_html_without_meaning_of_its_own():
    text = TABLE._repr_html_()
    assert "A &lt;title&gt;" in text
    assert ">A &amp; B</th>" in text
    assert ">0.25</td>" in text
    assert text.count("–") == 2
    assert "<p>a &lt;note&gt;</p>" in text


def test_a_long_table_is_cut_in_a_notebook_and_says_so():
    table = ResultTable("long", {"n": list(range(MAX_ROWS + 5))}, [])
    assert table._repr_html_().count("<tr>") == MAX_ROWS + 1
    assert "and 5 more rows" in table._repr_html_()
    assert "and 5 more rows" in repr(table)
    assert len(table.rows()) == MAX_ROWS + 5


def test_a_table_is_csv_markdown_and_latex():
    assert list(csv.reader(io.StringIO(TABLE.to_csv()))) == [
        ["system", "rank", "share"],
        ["A & B", "1", "0.25"],
        ["C", "", ""],
    ]
    assert TABLE.to_markdown().splitlines()[0] == "| system | rank | share |"
    assert r"A \& B & 1 & 0.25 \\" in TABLE.to_latex()


def test_a_frame_has_the_types_of_its_columns():
    frame = TABLE.to_frame()
    assert frame.index.tolist() == ["A & B", "C"]
    assert frame.dtypes.map(str).to_dict() == {"rank": "Int64", "share": "Float64"}
    assert frame.isna().to_dict() == {"rank": {"A & B": False, "C": True}, "share": {"A & B": False, "C": True}}


def test_an_unknown_library_or_column_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="expected one of pandas, polars, pyarrow"):
        TABLE.to_frame("dask")
    with pytest.raises(KeyError, match="there are system, rank, share"):
        TABLE["ranks"]


def test_what_is_not_installed_is_named_with_the_extra_that_has_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"this needs narwhals: install plurank with its extra `frames`"):
        plurank.Board(pd.DataFrame({"system": ["A"], "x": [1]}))


def test_a_frame_of_another_library_is_none():
    assert not frames.is_frame([[1, 2]])
    assert not frames.is_frame({"A": {"x": 1}})
