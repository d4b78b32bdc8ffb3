"""Files of votes, in published shapes and plain ones, and what is said of bad ones."""

import contextlib
import json
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ranking_engine.files.problems import InputError
from ranking_engine.votes import reading
from ranking_engine.votes.data import Votes
from ranking_engine.votes.reading import read_votes

ARENA = [
    {
        "question_id": "q1", "model_a": "vicuna", "model_b": "alpaca", "winner": "model_a", "judge": "u1",
        "language": "English", "tstamp": 1682351591.1,
        "conv_metadata": {
            "sum_assistant_a_tokens": 30, "sum_assistant_b_tokens": 10,
            "header_count_a": {"h1": 1, "h2": 2}, "header_count_b": {"h1": 0, "h2": 0},
        },
    },
    {
        "question_id": "q2", "model_a": "koala", "model_b": "vicuna", "winner": "tie (bothbad)", "judge": "u2",
        "language": "German", "tstamp": 1682351592.0,
        "conv_metadata": {
            "sum_assistant_a_tokens": 0, "sum_assistant_b_tokens": 0,
            "header_count_a": {"h1": 0}, "header_count_b": {"h1": 1},
        },
    },
    {
        "question_id": "q2", "model_a": "alpaca", "model_b": "koala", "winner": "tie", "judge": None,
        "language": "German", "tstamp": 1682351593.0,
        "conv_metadata": {
            "sum_assistant_a_tokens": 5, "sum_assistant_b_tokens": 15, "header_count_a": {}, "header_count_b": {},
        },
    },
]  # fmt: skip


def jsonl(rows):
    return "\n".join(map(json.dumps, rows)).encode()


def problems_of(data, **arguments):
    with pytest.raises(InputError) as error:
        read_votes(data, **arguments)
    return [str(problem) for problem in error.value.problems.listed]


@pytest.mark.parametrize("data", [jsonl(ARENA), json.dumps(ARENA).encode()], ids=["lines", "list"])
def test_the_shape_of_chatbot_arena_is_read(data):
    votes = read_votes(data, covariates=["length", "headers"])
    assert votes.system_names == ("alpaca", "koala", "vicuna")
    assert votes.first.tolist() == [2, 1, 0]
    assert votes.second.tolist() == [0, 2, 1]
    assert votes.outcomes.tolist() == [0, 3, 2]
    assert votes.category_names == ("English", "German")
    assert votes.categories.tolist() == [0, 1, 1]
    assert votes.voters.tolist() == [0, 1, -1]
    assert votes.prompts.tolist() == [0, 1, 1]
    assert votes.times.tolist() == [1682351591.1, 1682351592.0, 1682351593.0]
    assert votes.covariate_names == ("length", "headers")
    assert votes.covariates.tolist() == [[0.5, 1.0], [0.0, -1.0], [-0.5, 0.0]]
    assert votes.weights.tolist() == [1.0, 1.0, 1.0]


def test_parquet_has_the_same_votes(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "battles.parquet"
    keys = ("sum_assistant_a_tokens", "sum_assistant_b_tokens")
    rows = [{**row, "conv_metadata": {key: row["conv_metadata"][key] for key in keys}} for row in ARENA]
    parquet.write_table(arrow.Table.from_pylist(rows), path)
    for source in (path, path.read_bytes()):
        votes = read_votes(source, covariates=["length"])
        others = read_votes(jsonl(ARENA), covariates=["length"])
        assert_same(votes, others)
    assert problems_of(path.read_bytes(), max_votes=2) == ["votes: 3 votes; at most 2 are read"]
    assert problems_of(b"PAR1 and nothing of it")[0].startswith("votes: not readable as Parquet")


@pytest.mark.parametrize("compression", ["snappy", "none", "gzip"])
def test_parquet_with_broken_pages_is_refused(tmp_path, compression):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "battles.parquet"
    rows = [{"model_a": f"A{k % 7}", "model_b": f"B{k % 5}", "winner": "model_a"} for k in range(2_000)]
    parquet.write_table(arrow.Table.from_pylist(rows), path, compression=compression)
    sound = path.read_bytes()
    for start in range(4, 84, 10):  # of the first pages; what describes them all is at the end
        path.write_bytes(sound[:start] + b"\xee" * 10 + sound[start + 10 :])
        for source in (path, path.read_bytes()):
            assert "not readable as Parquet: " in problems_of(source)[0]
    with pytest.raises(FileNotFoundError):
        read_votes(tmp_path / "none.parquet")


def assert_same(votes: Votes, others: Votes):
    for name in ("system_names", "category_names", "covariate_names"):
        assert getattr(votes, name) == getattr(others, name)
    for name in ("first", "second", "outcomes", "weights", "categories", "voters", "prompts", "times", "covariates"):
        np.testing.assert_array_equal(getattr(votes, name), getattr(others, name))


def test_plain_tables_are_read_with_stated_columns():
    header = b"left;right;better;annotator id;w;when;words_a;words_b\n"
    data = header + b"X;y;X;7;2;2024-05-01;10;30\nY;x;draw;7;0.5;2024-05-02;1;1\n"
    columns = {"left": "a", "Right": "b", "better": "winner", "annotator id": "voter", "w": "weight", "when": "time"}
    votes = read_votes(data, columns=columns, covariates=["words"])
    assert votes.system_names == ("X", "y")
    assert (votes.first.tolist(), votes.second.tolist(), votes.outcomes.tolist()) == ([0, 1], [1, 0], [0, 2])
    assert votes.weights.tolist() == [2.0, 0.5]
    assert votes.voters.tolist() == [0, 0]
    assert votes.covariates.tolist() == [[-0.5], [0.0]]
    assert votes.times[1] - votes.times[0] == 86_400
    assert datetime.fromtimestamp(votes.times[0]).year == 2024  # noqa: DTZ006


def test_one_column_per_outcome_is_read():
    header = b"model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    votes = read_votes(header + b"A,B,1,0,0\nB,C,0,1,0\nC,A,0,0,1\n")
    assert votes.outcomes.tolist() == [0, 1, 2]
    assert problems_of(header + b"A,B,1,1,0\n") == [
        "votes, line 2, column 'winner_model_a': none of the three columns alone is 1"
    ]


def test_every_problem_has_its_line():
    data = b"model_a,model_b,winner,weight\nA,B,model_a,1\nA,A,tie,1\nA,B,maybe,1\nA,,tie,1\nA,B,tie,-1\nA,B,tie,nan\n"
    assert problems_of(data, name="battles.csv") == [
        "battles.csv, line 3, column 'model_b': 'A' is compared with itself",
        "battles.csv, line 4, column 'winner': 'maybe' is no outcome; expected model_a, model_b, tie or tie (bothbad)",
        "battles.csv, line 5, column 'model_b': the name of the system '' is empty",
        "battles.csv, line 6, column 'weight': '-1' is no weight",
        "battles.csv, line 7, column 'weight': 'nan' is no weight",
    ]


def test_only_texts_and_finite_numbers_are_names():
    lines = [f'{{"model_a": {cell}, "model_b": 7, "winner": "tie"}}' for cell in ("NaN", "1e999", "true", '{"x": 1}')]
    assert problems_of("\n".join(lines).encode()) == [
        "votes, line 1, column 'model_a': nan is no name of a system",
        "votes, line 2, column 'model_a': inf is no name of a system",
        "votes, line 3, column 'model_a': True is no name of a system",
        "votes, line 4, column 'model_a': {'x': 1} is no name of a system",
    ]


@pytest.mark.parametrize(
    ("data", "arguments", "message"),
    [
        (b"", {}, "the file is empty"),
        (b"model_a,model_b,winner\n", {}, "there are no votes"),
        (b"model_a,winner\nA,tie\n", {}, "no column is b (b: one of model_b, system_b, b, second)"),
        (b"model_a,model_b,winner\nA,B\n", {}, "line 2: 2 cells for 3 columns"),
        (b'model_a,model_b,winner\n"A,B,tie\n', {}, "not readable as CSV"),
        (b"\xff\xfe\xfa", {}, "votes"),
        (b'{"model_a": "A"', {}, "line 1: not valid JSON"),
        (b"[1]", {}, "expected an object"),
        (b"[" * 5_000, {}, "not valid JSON"),
        (b"[]", {}, "there are no votes"),
        (b'{"model_a": {"x": 1}, "model_b": "B", "winner": "tie"}', {}, "line 1, column 'model_a'"),
        (b"model_a,model_b,winner\nA,B,tie\n", {"columns": {"x": "a"}}, "there is no column 'x'"),
        (b"model_a,model_b,winner\nA,B,tie\n", {"columns": {"model_a": "x"}}, "'x' is no role of a column"),
        (b"model_a,model_b,winner\nA,B,tie\n", {"covariates": ["length"]}, "no column has the covariate 'length'"),
        (b"model_a,model_b,winner\nA,B,tie\n", {"covariates": ["x"] * 21}, "21 covariates; at most 20"),
        (b"model_a,model_b,winner\nA,B,tie\n", {"max_bytes": 10}, "the file has 31 bytes; at most 10 are read"),
        (b"model_a,model_b,winner\nA,B,tie\nA,B,tie\n", {"max_votes": 1}, "more than 1 votes"),
        (b"[]", {"formats": ("csv",)}, "this is json; expected one of csv"),
    ],
)
def test_files_that_cannot_be_read_say_why(data, arguments, message):
    assert message in " ".join(problems_of(data, **arguments))


def test_names_are_bounded_in_length_and_number(monkeypatch):
    header = b"model_a,model_b,winner\n"
    assert "has 201 characters; at most 200 are allowed" in problems_of(header + b"A" * 201 + b",B,tie\n")[0]
    monkeypatch.setattr(reading, "MAX_SYSTEMS", 3)
    rows = b"".join(b"s%d,t%d,tie\n" % (k, k) for k in range(3))
    assert problems_of(header + rows) == ["votes: more than 3 different names of the system"]
    voter = b"model_a,model_b,winner,voter\nA,B,tie," + b"v" * 1_001 + b"\n"
    assert "1,001 characters; at most 1,000 are allowed" in problems_of(voter)[0]


def test_after_a_thousand_wrong_lines_the_rest_is_not_read():
    data = b"model_a,model_b,winner\n" + b"A,B,maybe\n" * 3_000
    assert len(problems_of(data)) == 1_000


@given(
    st.sampled_from(
        [b"", b"model_a,model_b,winner,weight,tstamp\n", b'{"model_a": "A", "model_b": "B", "winner": ', b"[{", b"PAR1"]
    ),
    st.binary(max_size=80) | st.text(alphabet='AB,;"\n\t{}[]:tie0.1-', max_size=80).map(str.encode),
)
def test_whatever_is_in_a_file_is_read_or_refused(start, rest):
    with contextlib.suppress(InputError):
        read_votes(start + rest).check()


def test_names_that_differ_in_case_alone_are_one_system():
    votes = read_votes(b"model_a,model_b,winner\nGPT,llama,a\ngpt,Llama,b\n")
    assert votes.system_names == ("GPT", "llama")
    assert votes.first.tolist() == [0, 0]
