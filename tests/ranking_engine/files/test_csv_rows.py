from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, strategies as st

from ranking_engine.files.csv_rows import csv_line, csv_text

CELLS = st.text(alphabet='ab,;\t"\r\n=é ', max_size=8)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=4))
def test_what_is_written_reads_back_the_same(rows):
    assert list(csv.reader(io.StringIO(csv_text(rows), newline=""), strict=True)) == rows


@given(st.lists(st.lists(st.text(alphabet='ab,"\né ', max_size=8), min_size=1, max_size=4), max_size=4))
def test_without_other_separators_rows_are_written_as_the_standard_library_writes_them(rows):
    expected = io.StringIO(newline="")
    csv.writer(expected, lineterminator="\n").writerows(rows)
    assert csv_text(rows) == expected.getvalue()


@pytest.mark.parametrize("name", ["a;=1+1", "a\t=1+1"])
def test_a_cell_in_which_another_program_would_see_two_is_quoted(name):
    assert csv_line([name, 1.5, None, 3]) == f'"{name}",1.5,,3'
