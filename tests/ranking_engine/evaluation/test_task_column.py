"""One file for several tasks: each gets its own rows, and every line keeps its number."""

import csv
import io
import json

import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.evaluation import task_column
from ranking_engine.evaluation.task_column import split_by_task
from ranking_engine.files.problems import InputError

KEYS = {"a": "a", "Task A": "a", "b": "b"}


def parts_of(data: str) -> dict[str, bytes]:
    return {key: part.data for key, part in split_by_task(data.encode(), KEYS.get).items()}


def problems_of(data: bytes) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as refusal:
        split_by_task(data, KEYS.get)
    return [(problem.line, problem.message) for problem in refusal.value.problems.listed]


@pytest.mark.parametrize(
    "data",
    [
        "task,id,prediction\na,1,x\nb,1,y\na,2,z\n",
        "id,task,prediction\n1,a,x\n1,b,y\n2,Task A,z\n",
        "id;prediction; TASK \r\n1;x;a\r\n1;y; b \r\n2;z;a\r\n",
        "\ufeffid\tprediction\ttask\n1\tx\ta\n\n1\ty\tb\n\n2\tz\ta",
    ],
    ids=["first column", "another name of the task", "semicolons", "tabs, a mark and empty lines"],
)
def test_each_task_gets_its_rows_in_order_without_the_column(data):
    assert parts_of(data) == {"a": b"id,prediction\n1,x\n2,z\n", "b": b"id,prediction\n1,y\n"}


def test_lines_of_json_go_to_their_tasks_as_they_are():
    lines = ['{"task": "a", "id": 1, "prediction": [1.50]}', '{"id": 1, "task": "b"}', '{"id":2,"task":"Task A"}']
    assert parts_of("\n".join(lines)) == {
        "a": f"{lines[0]}\n{lines[2]}\n".encode(),
        "b": f"{lines[1]}\n".encode(),
    }


def test_quotes_line_breaks_and_separators_of_a_value_are_kept():
    values = ['say "no"', "two\nlines", "a,b;c\td", "", " spaces ", "ünï"]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["id", "prediction", "task"])
    writer.writerows([k, value, "ab"[k % 2]] for k, value in enumerate(values))
    for key, data in parts_of(buffer.getvalue()).items():
        rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
        assert rows[0] == ["id", "prediction"]
        assert rows[1:] == [[str(k), value] for k, value in enumerate(values) if "ab"[k % 2] == key]


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.text(st.sampled_from('x",\n;'), min_size=1, max_size=4), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=200, deadline=None)
def test_every_row_is_at_the_line_on_which_it_began_in_the_whole_file(rows):
    """With line breaks within values and empty lines between rows, against counting the breaks before each row."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["id", "prediction", "task"])
    began: dict[str, list[int]] = {}
    for k, (task, value, has_gap) in enumerate(rows):
        if has_gap:
            buffer.write("\n")
        began.setdefault(task, []).append(buffer.getvalue().count("\n") + 1)
        writer.writerow([f"i{k}", value, task])
    parts = split_by_task(buffer.getvalue().encode(), KEYS.get)
    assert {key: part.lines for key, part in parts.items()} == began
    for key, part in parts.items():
        own = [
            k for k, line in enumerate(part.data.decode().split("\n"), 1) if line.startswith("i") and line[1].isdigit()
        ]
        assert [part.line_of(line) for line in own] == began[key]
        assert part.line_of(None) is None
        assert part.line_of(own[-1] + 1000) == began[key][-1]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"", [(None, "the file is empty")]),
        (b"\n\n", [(None, "the file is empty")]),
        (b"task,id\n", [(None, "the file is empty")]),
        (b"id,prediction\n1,x\n", [(1, "a file for several tasks needs one column called 'task'")]),
        (b"task,Task,id\na,a,1\n", [(1, "a file for several tasks needs one column called 'task'")]),
        (b"id,task\n1,a\n2\n", [(3, "1 cells, none of them in the column 'task'")]),
        (b"id,task\n1,a\n2,c\n3,\n", [(3, "no task is called 'c'"), (4, "no task is named")]),
        (b'{"task": "a"}\n{"task": 1}\n{"id": 2\n', [(2, "no task is named"), (3, "this line is not JSON")]),
        (b'{"task": "a"}\n[1]\n', [(2, "no task is named")]),
        (b"PAR1" + bytes(20), [(None, "of Parquet, send one file for each task")]),
    ],
)
def test_what_is_wrong_is_named_with_its_line(data, problems):
    assert problems_of(data) == problems


def test_a_quote_that_does_not_end_is_named():
    (line, message), *others = problems_of(b'id,task\n1,a\n"2,a\n3,a\n')
    assert others == []
    assert message.startswith("this is not CSV: ")
    assert line in (3, 4)


def test_what_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(task_column, "MAX_BYTES", 100)
    assert problems_of(b"x" * 101) == [(None, "the file has 101 bytes; at most 100 are read")]
    monkeypatch.setattr(task_column, "MAX_BYTES", 10**6)
    monkeypatch.setattr(task_column, "MAX_TASKS", 3)
    rows = "".join(f"{k},t{k}\n" for k in range(10))
    assert problems_of(f"id,task\n{rows}".encode()) == [(5, "more than 3 different tasks")]
    monkeypatch.setattr(task_column, "MAX_LINE", 50)
    line = json.dumps({"task": "a", "prediction": "x" * 50})
    assert problems_of(f'{{"task": "a"}}\n{line}\n'.encode()) == [(2, "a row of more than 50 characters")]
    nested = b'{"task": ' + b"[" * 40 + b"\n"
    assert problems_of(nested) == [(1, "this line is not JSON")]


def test_a_file_of_200_000_rows_is_split_in_seconds():
    """The time grows with the number of rows, not with its square."""
    rows = "".join(f"i{k},x,{'ab'[k % 2]}\n" for k in range(200_000))
    parts = split_by_task(f"id,prediction,task\n{rows}".encode(), KEYS.get)
    assert [len(part.lines) for part in parts.values()] == [100_000, 100_000]
    assert parts["b"].line_of(100_001) == 200_001
