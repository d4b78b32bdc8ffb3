from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import ScoreMatrix
from ranking_engine.files.tables import MAX_ISSUES, MAX_WRONG_CELLS, TableError, TableIssue, read_table, write_table
from ranking_engine.importers import SourceFile, read_results

NAN = float("nan")
BOTH_MARKS = "the table mixes decimal points and commas; use only one"


def read(text: str | bytes, **options):
    return read_table(text.encode() if isinstance(text, str) else text, name="x.csv", **options)


def errors(text: str | bytes, **options) -> tuple[TableIssue, ...]:
    with pytest.raises(TableError) as caught:
        read(text, **options)
    return caught.value.errors


def test_a_table_has_systems_tasks_values_and_lines():
    table = read("system,CoLA,SST-2\nA,1,2.5\nB,,-1e-3\n")
    assert table.system_names == ("A", "B")
    assert table.task_names == ("CoLA", "SST-2")
    np.testing.assert_array_equal(table.values, [[1, 2.5], [NAN, -0.001]])
    assert table.line_numbers == (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfsystem,a\r\n\"x, y\",1\r\n",
        b" SYSTEM , a \n\n \"x, y\" ,1".replace(b' "x, y" ', b'"x, y "'),
        b'system,"a"\rx\xcc\xa3,1'.replace(b"x\xcc\xa3", b'"x, y"'),
        b'system,a\n"x, y", 1 \n\n\n',
    ],
    ids=["BOM and CRLF", "blanks", "carriage returns", "blank lines"],
)  # fmt: skip
def test_usual_spellings_of_a_file_read_the_same(text):
    table = read(text)
    assert (table.system_names, table.task_names, table.values.tolist()) == (("x, y",), ("a",), [[1.0]])


def test_lines_are_counted_through_blank_lines_and_quoted_line_breaks():
    assert read("system,a\n\n\nA,1\n\nB,2\n").line_numbers == (4, 6)
    issues = errors('system,a\n"A\nA",1\nB,x\n')
    assert [(issue.line, issue.column) for issue in issues] == [(2, 1), (4, 2)]


def test_a_stream_and_a_path_are_read_too(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,a\nA,1\n")
    assert read_table(path).values.tolist() == read_table(io.BytesIO(path.read_bytes())).values.tolist() == [[1.0]]
    path.write_text("system,a\nA,x\n")
    with pytest.raises(TableError, match=rf"^{path}, line 2, column 2 \(a\): 'x' is not a number$"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (
            "",
            None,
            None,
            "the file is empty; expected a header `system,<task>,...` and a row for each system",
        ),
        (
            " \n\n",
            None,
            None,
            "the file is empty; expected a header `system,<task>,...` and a row for each system",
        ),
        ("system,a\n", 1, None, "no systems: the header is the only row"),
        ("system\nA\n", 1, None, "only one column, 'system'; expected `system` and a column for each task"),
        ("method,a\nA,1\n", 1, 1, "the first column must be called 'system' or 'model', found 'method'"),
        ("system,a,A\nx,1,2\n", 1, 3, "the task 'A' is already column 2"),
        ("system,a,\nx,1,2\n", 1, 3, "the task name '' is empty"),
        (
            "system,a,=b\nx,1,2\n",
            1,
            3,
            "the task name '=b' begins with '=', which spreadsheets take for a formula",
        ),
        ("system,a\nx,1\nX ,2\n", 3, 1, "the system 'X' is already on line 2"),
        ("system,a\n,2\n", 2, 1, "the system name '' is empty"),
        (
            "system,a\n@x,2\n",
            2,
            1,
            "the system name '@x' begins with '@', which spreadsheets take for a formula",
        ),
        ("system,a\nx,abc\n", 2, 2, "'abc' is not a number"),
        ("system,a\nx,1_000\n", 2, 2, "'1_000' is not a number"),
        ("system,a\nx,0x10\n", 2, 2, "'0x10' is not a number"),
        ("system,a\nx,\u0663\n", 2, 2, "'\u0663' is not a number"),
        ("system,a\nx,none yet\n", 2, 2, "'none yet' is not a number"),
        ("system,a\nx,-inf\n", 2, 2, "'-inf' is infinite; a score must be finite"),
        ("system,a\nx,1e999\n", 2, 2, "1e999 is too large for a 64-bit number"),
        (
            "system,a\nx,95%\ny,0.5\n",
            1,
            2,
            "some cells have a percent sign and others have none; write all of them in the same way",
        ),
        (
            'system,a\nx,"1,250"\n',
            2,
            2,
            "'1,250' may be a decimal number or a large one; write decimal points, and no commas",
        ),
        ("system,a,b\nx,1\n", 2, 2, "the row has 2 columns, the header has 3"),
        ("system,a\nx,1,2\n", 2, 3, "the row has 3 columns, the header has 2"),
        (b"system,a\nx,\x81\n", 2, None, "byte 0x81 is not UTF-8; save the file as UTF-8"),
        ("system,a\nx,1".encode("utf-16")[:-1], 1, None, "this is not UTF-16"),
        ("system,a\nx,1\0\n", 2, None, "a NUL byte; this is not a text file"),
        (
            f"system,a\nx,{'1' * 200_000}\n",
            2,
            None,
            "a cell is too long; perhaps a quotation mark is not closed",
        ),
        ('system,a\nx,1\n"y,2\n', 3, None, "the file ends inside quotation marks; perhaps one is not closed"),
        ('system,a\n"x"y,1\n', 2, None, "not readable as CSV: ',' expected after '\"'"),
    ],
)
def test_bad_input_is_told_with_its_place(text, line, column, message):
    (issue,) = errors(text)
    assert (issue.line, issue.column, issue.message) == (line, column, message)


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("system,a,b\nA,91.2,\nB,0.5,-1\n", ""),
        ("system;a;b\nA;91.2;\nB;0.5;-1\n", "separated by semicolons"),
        ("system;a;b\nA;91,2;\nB;,5;-1\n", "separated by semicolons, with decimal commas"),
        ("system\ta\tb\nA\t91,2\t\nB\t0,5\t-1\n", "separated by tabs, with decimal commas"),
        ("\ta\tb\nA\t91.2\t\nB\t0.5\t-1\n", "separated by tabs"),
        ('"system";"a";"b"\n"A";"91,2";\nB;"0,500";-1,\n', "separated by semicolons, with decimal commas"),
        ("model,a,b\nA,91.2,\nB,0.5,-1\n", ""),
        (",a,b\nA,91.2,\nB,0.5,-1\n", ""),
    ],
)
def test_semicolons_tabs_and_decimal_commas_read_the_same(text, description):
    table = read(text)
    assert (table.system_names, table.task_names, table.dialect.description) == (("A", "B"), ("a", "b"), description)
    np.testing.assert_array_equal(table.values, [[91.2, NAN], [0.5, -1]])


def test_the_first_sign_of_the_header_separates_and_others_belong_to_names():
    assert read("system;a, b;c\nA, x;1;2\n").task_names == ("a, b", "c")
    assert read("system\ta;b\tc,d\nA\t1\t2\n").task_names == ("a;b", "c,d")
    assert read('"system; model",a\nA,1\n'.replace("; model", "")).system_names == ("A",)
    assert read("system,a;b\nA;B,1\n").system_names == ("A;B",)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("system;a;b\nA;1,5;2\nB;1.5;2\n", 3, 2, BOTH_MARKS),
        ("system;a;b\nA;1.234;2\nB;1,5;2\n", 3, 2, BOTH_MARKS),
        ("system\ta\nA\t1,234.5\nB\t1,5\n", 3, 2, BOTH_MARKS),
        (
            "system\ta\nA\t1,234\nB\t12,345\n",
            2,
            2,
            "'1,234' may be a decimal number or a large one; write decimal points",
        ),
        ("system;a\nA;1,2\nB;1,234,567\n", 3, 2, BOTH_MARKS),
        ("system;a\nA;failed, sorry.\n", 2, 2, "'failed, sorry.' is not a number"),
        ('system;a\nA;1\n"B;2\n', 3, None, "the file ends inside quotation marks; perhaps one is not closed"),
    ],
)
def test_a_table_that_could_be_read_in_two_ways_is_refused(text, line, column, message):
    (issue,) = errors(text)
    assert (issue.line, issue.column, issue.message) == (line, column, message)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("numbers", "values"),
    [
        (["1,5", "1.234,5", "1.234.567,5"], [1.5, 1234.5, 1234567.5]),  # points only group
        (["1,234", "1.234,5"], [1.234, 1234.5]),
        (["1.5", "1,234.5", "1,234"], [1.5, 1234.5, 1234]),  # commas only group
        (["1,234,567", "1,234"], [1234567, 1234]),
    ],
)
def test_marks_that_only_group_digits_leave_no_doubt_and_every_reader_reads_them_alike(delimiter, numbers, values):
    text = f"system{delimiter}a\n" + "".join(f's{i}{delimiter}"{number}"\n' for i, number in enumerate(numbers))
    assert read(text).values[:, 0].tolist() == values
    imported = read_results([SourceFile("x.csv", text.encode())])
    assert [record.value for record in imported.records] == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8), st.sampled_from(";\t"))
def test_decimal_commas_read_back_to_the_same_numbers(numbers, delimiter):
    every = [0.5, *numbers]  # the first shows what commas mean
    rows = "".join(f"s{i}{delimiter}{number!r}\n".replace(".", ",") for i, number in enumerate(every))
    assert read(f"system{delimiter}a\n{rows}").values[:, 0].tolist() == [float(f"{x:.12g}") for x in every]


def test_all_problems_are_collected_in_the_order_of_the_file():
    issues = errors("system,a,b\nA,x,1\nB,1\nA,1,y\n")
    assert [(issue.line, issue.column, issue.column_name) for issue in issues] == [
        (2, 2, "a"), (3, 2, "a"), (4, 1, "system"), (4, 3, "b")
    ]  # fmt: skip


def test_the_error_is_one_line_with_the_first_problem_and_the_number_of_others():
    with pytest.raises(TableError) as caught:
        read("system,a\nA,x\nB,y\nC,z\n")
    assert str(caught.value) == "x.csv, line 2, column 2 (a): 'x' is not a number (and 2 more)"
    with pytest.raises(TableError) as caught:
        read("")
    assert str(caught.value).startswith("x.csv: the file is empty; expected")


def test_the_header_and_the_cells_are_told_together_with_what_can_be_read():
    with pytest.raises(TableError) as caught:
        read("name,a,a,b\nA,1,1,x\nB,2,2\nC,3,,4\n")
    assert [(issue.line, issue.column) for issue in caught.value.errors] == [(1, 1), (1, 3), (2, 4), (3, 3)]
    readable = caught.value.readable
    assert (readable.system_names, readable.line_numbers) == (("A", "C"), (2, 4))
    np.testing.assert_array_equal(readable.values, [[1, 1, NAN], [3, NAN, 4]])


def test_many_cells_of_a_column_that_are_no_numbers_are_one_issue_with_the_first_places():
    (issue,) = errors("system,a,mode\n" + "".join(f"s{k},1,greedy\n" for k in range(805)))
    assert (issue.line, issue.column, issue.column_name) == (2, 3, "mode")
    assert issue.message == "805 cells are not numbers, first on lines 2, 3, 4: 'greedy' is not a number"


def test_collecting_stops_at_a_limit():
    with pytest.raises(TableError) as caught:
        read("system,a\n" + "".join(f"s{k},1,2\n" for k in range(500)))
    assert len(caught.value.errors) == MAX_ISSUES
    assert str(caught.value).endswith("(and 99 or more more)")
    assert caught.value.readable is None


def test_counting_stops_at_a_limit():
    with pytest.raises(TableError) as caught:
        read("system,a,b\n" + "".join(f"s{k},x,y\n" for k in range(MAX_WRONG_CELLS)) + "\xff,1,2,3\n")
    messages = [issue.message for issue in caught.value.errors]
    assert [message.partition(" cells")[0] for message in messages] == ["5,000", "5,000"]
    assert caught.value.is_cut


def test_formula_names_are_accepted_on_request():
    assert read("system,+a\n=x,2\n", allow_formula_names=True).system_names == ("=x",)


def test_larger_tables_than_allowed_are_refused():
    assert errors("system,a,b,c\nA,1,2,3\n", max_tasks=2)[0].message == "3 tasks; at most 2 are allowed"
    issue = errors("system,a\nA,1\nB,2\n", max_systems=1)[0]
    assert (issue.line, issue.message) == (3, "too many systems; at most 1 are allowed")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=5))
def test_floats_survive_exactly(row):
    matrix = ScoreMatrix([row], system_names=['a "quoted", name'])
    table = read(write_table(matrix))
    np.testing.assert_array_equal(table.values, matrix.values)
    is_negative = np.signbit(matrix.values) & ~np.isnan(matrix.values)
    np.testing.assert_array_equal(np.signbit(table.values), is_negative)
    assert table.system_names == matrix.system_names


def test_a_written_table_has_the_shortest_decimals():
    matrix = ScoreMatrix([[1.0, 0.1, NAN], [1e22, -2.5, 3e-7]], system_names=["A", "B, C"])
    assert write_table(matrix) == 'system,t1,t2,t3\nA,1,0.1,\n"B, C",1e+22,-2.5,3e-07\n'


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet='sytem,a1.\n\r"; \t\0é', max_size=40) | st.binary(max_size=30))
def test_whatever_comes_is_read_or_refused(text):
    data = text.encode() if isinstance(text, str) else text
    try:
        table = read(b"system,a\n" + data)
    except TableError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert table.values.shape == (len(table.system_names), 1)
        assert not np.isinf(table.values).any()
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system," + "a," * 20_000, "line 1: more than 20,000 columns; perhaps the lines do not end"),
        ("system,a\nx,1\ny," + '"\n",' * 20_000, "line 20003: more than 20,000 columns; perhaps the lines do not end"),
        ("system;a\nx;1,5\ny;" + "1;" * 20_000, "line 3: more than 20,000 columns; perhaps the lines do not end"),
        (f"system,{'a' * 4001}\nx,1\n", "line 1: a cell has 4,001 characters; at most 4,000 are read"),
        (f"system,a\nx,1\n{'y' * 4001},1\n", "line 3: a cell has 4,001 characters; at most 4,000 are read"),
        ("system,a,b\nx,1,1\ny,1,1\nz,1,1\n", "line 4: more than 5 cells; bring the table in parts"),
        ("system,a,b,c\nx,1,1,1\n", "line 1: 3 tasks; at most 2 are allowed"),
    ],
)
def test_tables_without_end_are_refused_before_they_are_split(text, message):
    with pytest.raises(TableError) as refused:
        read_table(text.encode(), max_tasks=2, max_cells=5)
    assert str(refused.value) == f"table, {message}"
