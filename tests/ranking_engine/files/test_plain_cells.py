from __future__ import annotations

import io

import numpy as np
import pytest

from ranking_engine.files import instance_tables
from ranking_engine.files.instance_tables import read_instance_table
from ranking_engine.files.plain_cells import numbers, plain_columns
from ranking_engine.files.tables import TableError

ROWS = [
    f"{system},{u},{(7 * u + k) % 5 / 4},{'' if (u + k) % 6 == 0 else u - k}"
    for k, system in enumerate("XYZ")
    for u in range(20)
]
HEADER = "system,instance,a,b"


def with_care(text: str) -> str:
    """The same table with its first cell in quotes, so that it is read row by row."""
    header, _, rest = text.partition("\n")
    first, comma, others = rest.partition(",")
    return f'{header}\n"{first}"{comma}{others}'


def outcome(text: str):
    try:
        table = read_instance_table(io.StringIO(text, newline=""))
    except TableError as error:
        return error.one_line()
    lines = (table.system_lines, table.task_lines, table.instance_lines)
    return table.scores.system_names, table.scores.instance_names, lines, np.array(table.scores.blocks).tobytes()


@pytest.mark.parametrize("part", [1, 7, 60, 500])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_tables_are_read_as_they_are_row_by_row_in_parts_of_any_length(part, end, monkeypatch):
    monkeypatch.setattr(instance_tables, "_PART_LINES", part)
    text = end.join([HEADER, *ROWS]) + end
    result = outcome(text)
    assert result == outcome(with_care(text))
    assert result[0] == ("X", "Y", "Z")
    assert result[2][0] == (2, 22, 42)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Y,3,1_0,2", "column 3 (a): '1_0' is not a number"),
        ("Y,3,nan,2", "column 3 (a): 'nan' is not a number"),
        ("Y,3,1,inf", "column 4 (b): 'inf' is not a number"),
        ("Y,3,1,\N{ARABIC-INDIC DIGIT ONE}", "is not a number"),
        ("Y,3,1", "3 cells; the header has 4"),
        ("X,3,1,2", "system 'X' has instance '3' twice"),
        (",3,1,2", "the system name '' is empty"),
        ('Y,3,1,"2', "not CSV"),
    ],
)
@pytest.mark.parametrize("part", [5, 500])
def test_an_error_far_down_a_plain_table_is_told_with_its_line(row, message, part, monkeypatch):
    monkeypatch.setattr(instance_tables, "_PART_LINES", part)
    text = "\n".join([HEADER, *ROWS[:23], row, *ROWS[24:]])
    result = outcome(text)
    assert result == outcome(with_care(text))
    assert message in result
    assert "line 25" in result or message == "not CSV"


def test_a_table_that_is_plain_at_first_may_have_quotes_gaps_and_blank_lines_later(monkeypatch):
    monkeypatch.setattr(instance_tables, "_PART_LINES", 9)
    text = "\n".join([HEADER, *ROWS[:30], "", '"Y, the second",0, 1.5 ,  ', *ROWS[30:]])
    result = outcome(text)
    assert result == outcome(with_care(text))
    assert result[0] == ("X", "Y", "Y, the second", "Z")
    assert result[2][0] == (2, 22, 33, 44)


def test_columns_and_numbers_of_what_is_plain_and_nothing_else():
    assert plain_columns(["a,1\r\n", "b,2\n"], 2) == [["a", "b"], ["1", "2"]]
    assert plain_columns(["a,1\n", "\n", "b,2\n"], 2) is None
    assert plain_columns(['a,"1"\n'], 2) is None
    assert plain_columns(["a,1\r", "b,2"], 2) is None
    np.testing.assert_array_equal(numbers(["1", "", "-2e3"]), [1.0, np.nan, -2000.0])
    assert numbers(["1", "x"]) is None
    assert numbers(["1_0"]) is None
    assert numbers(["infinity"]) is None
