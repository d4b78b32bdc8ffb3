"""Scores of single instances that programs write beside their results: whose they are, and which are read."""

import io
import json
import math
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from ranking_engine.files.problems import InputError
from ranking_engine.importers import SourceFile, read_results, samples
from ranking_engine.importers.results_table import table_of
from ranking_engine.importers.score_files import read_instance_files
from tests.ranking_engine.importers.examples import FILES

DATE, LATER = "2026-01-31T12-00-00.123456", "2026-02-01T12-00-00.123456"


def sample(doc_id, of_filter="none", **scores):
    about = {"doc": {"q": "\u2028"}, "target": "x", "arguments": {}, "resps": [["y"]], "filtered_resps": ["y"]}
    return {"doc_id": doc_id, **about, "filter": of_filter, "metrics": list(scores), "doc_hash": "h", **scores}


def samples_of(lines, *, task="quiz", date=DATE, folder="lab__one"):
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return SourceFile(f"{folder}/samples_{task}_{date}.jsonl", text.encode())


def results_of(scores, *, model="lab/one", date=DATE, folder="lab__one", shots=None):
    document = {"results": {task: {f"{name},none": value for name, value in of_task.items()}
                            for task, of_task in scores.items()}, "model_name": model, "config": {},
                "n-shot": shots or {}}  # fmt: skip
    return SourceFile(f"{folder}/results_{date}.json", json.dumps(document).encode())


def details_of(rows, *, task="quiz:law|5", date=DATE, folder=f"details/lab/one/{DATE}"):
    table = pa.Table.from_pylist(rows)
    written = io.BytesIO()
    parquet.write_table(table, written)
    return SourceFile(f"{folder}/details_{task}_{date}.parquet", written.getvalue())


def detail(doc_id, **scores):
    return {"doc": {"id": doc_id, "query": "q", "choices": ["a"]}, "metric": scores,
            "model_response": {"text": ["a"], "input_tokens": [1]}}  # fmt: skip


def instances_in(files):
    """By system and column, the score, its error and the scores of its instances."""
    table = table_of(read_results(files))
    cells = {(s, c): (value, error) for s, c, value, error, _ in table.cells}
    return {
        (table.systems[s][0], table.columns[c].name): (
            *cells[s, c], dict(zip(one.names, one.values.tolist(), strict=True)),
        )
        for (s, c), one in table.instances.items()
    }  # fmt: skip


RIGHT = [sample(0, acc=1.0), sample(1, acc=0), sample(2, acc=True)]
EXACT = {"0": 1.0, "1": 0.0, "2": 1.0}


def test_samples_beside_results_are_the_instances_of_the_score_that_the_results_state():
    files = [results_of({"quiz": {"acc": 2 / 3, "acc_stderr": 0.1, "sample_len": 3}}), samples_of(RIGHT)]
    assert instances_in(files) == {("lab/one", "quiz, acc"): (0.666666666667, 0.1, EXACT)}
    assert "scores of single instances of 1 column are read" in read_results(files).notes


def test_samples_alone_give_their_mean_for_the_model_that_their_folder_names():
    assert instances_in([samples_of(RIGHT)]) == {("lab/one", "quiz, acc"): (0.666666666667, None, EXACT)}
    (unnamed,) = read_results([samples_of(RIGHT, folder="Downloads")]).records
    assert (unnamed.system, unnamed.n) == ("", 3)


def test_every_filter_and_metric_is_a_column_and_no_metric_is_read_that_is_no_mean_of_numbers():
    lines = [
        sample(0, "strict", acc=1.0, f1=[0, 1], word_perplexity=-3.5),
        sample(0, "flexible", acc=0.0, f1=[0, 1], word_perplexity=-3.5),
    ]
    read = read_results([samples_of(lines)])
    assert [record.column for record in read.records] == [
        ("quiz", "", "strict", "acc"),
        ("quiz", "", "flexible", "acc"),
    ]
    notes = " ".join(read.notes)
    assert "f1: it is no number of every instance" in notes
    assert "instances of word_perplexity, whose score is no mean over them" in notes


def test_instances_whose_mean_is_not_the_stated_score_are_left_out_and_said_so():
    files = [results_of({"quiz": {"acc": 0.5, "f1": 0.2}}), samples_of([sample(0, acc=1, f1=0.2, em=1)])]
    read = read_results(files)
    assert {record.metric: record.instances is not None for record in read.records} == {"acc": False, "f1": True}
    assert [note for note in read.notes if "left out" in note] == [
        "left out: instances of quiz, acc: their mean is not the score that the results state",
        "left out: instances of quiz, em, of which the results state no score",
    ]


def test_runs_of_two_models_in_one_folder_are_told_apart_by_their_dates():
    files = [
        results_of({"quiz": {"acc": 2 / 3}}, folder="runs"),
        results_of({"quiz": {"acc": 0.0}}, model="lab/two", date=LATER, folder="runs"),
        samples_of(RIGHT, folder="runs"),
        samples_of([sample(0, acc=0.0)], date=LATER, folder="runs"),
    ]
    instances = instances_in(files)
    assert instances[("lab/one", "quiz, acc")][2] == EXACT
    assert instances[("lab/two", "quiz, acc")] == (0.0, None, {"0": 0.0})
    nameless = SourceFile("elsewhere/samples_quiz.jsonl", samples_of(RIGHT).data)
    with pytest.raises(InputError, match="not clear which model this is of"):
        read_results([*files[:2], nameless])


def test_runs_with_other_numbers_of_examples_keep_their_instances():
    files = [
        results_of({"quiz": {"acc": 1.0}}, shots={"quiz": 0}),
        results_of({"quiz": {"acc": 0.0}}, date=LATER, shots={"quiz": 5}),
        samples_of([sample(0, acc=1.0)]),
        samples_of([sample(0, acc=0.0)], date=LATER),
    ]
    assert {name: one[2] for (_, name), one in instances_in(files).items()} == {
        "quiz, 0-shot, acc": {"0": 1.0}, "quiz, 5-shot, acc": {"0": 0.0}
    }  # fmt: skip


def test_details_of_lighteval_are_read_beside_results_and_alone():
    rows = [detail("a", acc=1, em=True, bleu=[1.0]), detail("b", acc=0, em=False, bleu=[0.0])]
    results = {
        "config_general": {"model_name": "lab/one"},
        "results": {"quiz:law|5": {"acc": 0.5, "acc_stderr": 0.5}, "all": {"acc": 0.5}},
    }
    beside = [SourceFile(f"results/lab/one/results_{DATE}.json", json.dumps(results).encode()), details_of(rows)]
    both = {"a": 1.0, "b": 0.0}
    assert instances_in(beside) == {("lab/one", "quiz, law, 5-shot, acc"): (0.5, 0.5, both)}
    assert instances_in([details_of(rows)]) == {
        ("lab/one", "quiz, law, 5-shot, acc"): (0.5, None, both),
        ("lab/one", "quiz, law, 5-shot, em"): (0.5, None, both),
    }
    renamed = SourceFile("x.parquet", details_of([detail("a", acc=1), detail("a", acc=0)]).data)
    assert list(instances_in([renamed]).values()) == [(0.5, None, {"0": 1.0, "1": 0.0})]


def test_what_the_programs_wrote_themselves_is_read():
    """A folder of lm-evaluation-harness and details of lighteval, by the versions in their names."""
    exact, normed = {"0": 1.0, "1": 0.0, "2": 1.0}, {"0": 0.0, "1": 0.0, "2": 1.0}
    assert instances_in([FILES["lm_eval-0.4.13.zip"]]) == {
        ("lab/one", "quiz, acc"): (0.666666666667, 0.333333333333, exact),
        ("lab/one", "quiz, acc_norm"): (0.333333333333, 0.333333333333, normed),
    }
    assert instances_in([FILES["lighteval-0.13.0.parquet"]]) == {
        ("", "quiz, law, 0-shot, acc"): (0.666666666667, None, exact),
        ("", "quiz, law, 0-shot, em"): (0.666666666667, None, exact),
    }


def test_a_folder_in_an_archive_is_read_as_its_files():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in (results_of({"quiz": {"acc": 2 / 3}}), samples_of(RIGHT)):
            archive.writestr(file.name, file.data)
    assert [one[2] for one in instances_in([SourceFile("runs.zip", packed.getvalue())]).values()] == [EXACT]


TWICE = [sample(0, acc=1), sample(0, acc=0)]
CUT_OFF = b'{"doc_id": 0, "doc": 1, "acc": 1}\n{"doc_id"'
DETAILS = details_of([detail("a", acc=1)])
REFUSED = {
    "an instance twice": ([samples_of(TWICE)], "line 2: the instance '0' has a second acc"),
    "no instance": ([samples_of([sample(0, acc=1), {"doc_id": None, "acc": 1}])], "line 2: expected an instance"),
    "not JSON": ([SourceFile("samples_q.jsonl", CUT_OFF)], "line 2: not valid JSON"),
    "two programs": ([samples_of(RIGHT), DETAILS], "lm-evaluation-harness and lighteval"),
    "two files of one task": (
        [results_of({"quiz": {"acc": 2 / 3}}), samples_of(RIGHT), samples_of(RIGHT)],
        "a second file with instances of quiz, acc",
    ),
    "no scores": ([samples_of([sample(0, text="x")])], "these files contain no scores"),
    "broken details": (
        [SourceFile("details_q.parquet", DETAILS.data[:4] + b"x" * 40 + DETAILS.data[44:])],
        "not readable as a Parquet file",
    ),
    "a number of no end": ([samples_of([sample(0, acc=1e308), sample(1, acc=1e308)])], "must be a finite number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(name):
    files, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        read_results(files)


def test_more_scores_than_are_read_are_refused_and_a_large_file_is_read_line_by_line(monkeypatch):
    long = [sample(n, acc=n % 2) | {"resps": ["x" * 4_000]} for n in range(3_000)]  # 12 MB
    (record,) = read_results([samples_of(long)]).records
    assert (record.value, record.n) == (0.5, 3_000)
    monkeypatch.setattr(samples, "MAX_SCORES", 2_999)
    with pytest.raises(InputError, match=r"more than 2,999 scores of instances"):
        read_results([samples_of(long)])


def test_scores_and_metrics_are_counted_while_they_are_read(monkeypatch):
    new_metrics = [{"doc_id": 0, "doc": 1} | {f"m{k * 50 + j}": 1 for j in range(50)} for k in range(30)]
    with pytest.raises(InputError, match=r"more than 1,000 metrics of a task"):
        read_results([samples_of(new_metrics)])
    monkeypatch.setattr(samples, "MAX_SCORES", 99)
    with pytest.raises(InputError, match=r"more than 99 scores of instances"):
        read_results([samples_of(new_metrics)])


SCORES = st.one_of(st.none(), st.sampled_from([0, 1, 0.5, True, math.nan]))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 8), st.tuples(SCORES, SCORES), min_size=1))
def test_the_score_is_the_mean_over_the_instances_by_definition(given_scores):
    """A metric is read where every instance has a finite number of it."""
    lines = [sample(doc_id, a=a, b=b) for doc_id, (a, b) in given_scores.items()]
    expected = {}
    for place, metric in enumerate("ab"):
        values = {str(doc_id): pair[place] for doc_id, pair in given_scores.items()}
        if all(value is not None and math.isfinite(value) for value in values.values()):
            expected["lab/one", f"quiz, {metric}"] = (pytest.approx(np.mean(list(values.values()))), None, values)
    if expected:
        assert instances_in([samples_of(lines)]) == expected
    else:
        with pytest.raises(InputError, match="no scores"):
            read_results([samples_of(lines)])


def test_instances_of_several_runs_are_one_board_of_instances(tmp_path):
    for model, scores in {"lab__one": [1, 0], "lab__two": [0, 1, 1]}.items():
        (tmp_path / model).mkdir()
        file = samples_of([sample(n, acc=score, f1=0.5) for n, score in enumerate(scores)], folder=model)
        (tmp_path / file.name).write_bytes(file.data)
    scores = read_instance_files([tmp_path], metric="acc", lower=["quiz"])
    assert (scores.system_names, scores.task_names, scores.directions) == (("lab/one", "lab/two"), ("quiz",), (-1,))
    assert np.array_equal(scores.blocks[0], [[1, 0, np.nan], [0, 1, 1]], equal_nan=True)
    assert len(read_instance_files([tmp_path]).task_names) == 2
    with pytest.raises(InputError, match="no task is called 'x'"):
        read_instance_files([tmp_path], lower=["x"])
