"""The commands `metrics` and `score`: what they print, write and refuse."""

import csv
import io
import json

import pytest

from ranking_engine.command_line import main
from ranking_engine.evaluation.metrics import METRICS

REFERENCES = "id,label,split,category,cluster\n1,cat,dev,x,a\n2,dog,test,x,a\n3,cat,test,y,b\n4,dog,test,y,c\n"
PREDICTIONS = "id,prediction\n4,dog\n3,dog\n2,dog\n1,cat\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "labels.csv").write_text(REFERENCES)
    (tmp_path / "mine.csv").write_text(PREDICTIONS)
    return ["--references", tmp_path / "labels.csv", "--predictions", tmp_path / "mine.csv"]


def run(capsys, *arguments):
    status = main([*map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_score_is_told_with_its_error_and_its_parts(capsys, files):
    status, out, err = run(capsys, "score", "--metric", "accuracy", *files)
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines() if line]
    assert lines[0] == "instances Accuracy standard error n"
    assert [line for line in lines if line.startswith(("all", "split", "category"))] == [
        "all 0.75 - 4",
        "split dev 1 - 1",
        "split test 0.666667 - 3",
        "category x 1 - 2",
        "category y 0.5 - 2",
    ]
    version = METRICS["accuracy"].library.distribution
    assert lines[-2].startswith(f"Computed by {version} ")
    assert lines[-2].endswith("; standard error of a mean, in 3 clusters.")
    assert lines[-1].startswith("No standard error (-): fewer than ten instances or clusters, in all or of a label")


def test_predictions_of_other_labels_are_told_in_a_note(capsys, files):
    files[3].write_text("id,prediction\n4,Dog\n3,Dog\n2,Dog\n1,Cat\n")
    status, out, err = run(capsys, "score", "--metric", "accuracy", *files)
    assert (status, err) == (0, "note: no predicted label is a label of the references, such as 'Cat' and 'cat'\n")
    assert out


def test_every_format_has_the_same_figures(capsys, tmp_path):
    labels = "".join(f"i{k},{'ab'[k % 2]}\n" for k in range(12))
    (tmp_path / "labels.csv").write_text(f"id,reference\n{labels}")
    (tmp_path / "mine.csv").write_text(f"id,prediction\n{labels.replace('i2,a', 'i2,b').replace('i5,b', 'i5,a')}")
    files = ["--references", tmp_path / "labels.csv", "--predictions", tmp_path / "mine.csv"]
    _, out, _ = run(capsys, "score", "--metric", "f1_macro", *files, "--format", "json")
    report = json.loads(out)
    assert (report["value"], report["error_method"]) == (pytest.approx(5 / 6), "jackknife")
    _, out, _ = run(capsys, "score", "--metric", "f1_macro", *files, "--format", "csv")
    first = next(csv.DictReader(io.StringIO(out)))
    assert float(first["f1_macro"]) == report["value"]
    assert float(first["standard_error"]) == report["standard_error"]
    _, out, _ = run(capsys, "score", "--metric", "f1_macro", *files, "--format", "markdown")
    assert out.startswith("| instances |")
    assert "No standard error" not in out


def test_splits_options_and_values_of_instances(capsys, files, tmp_path):
    target = tmp_path / "instances.csv"
    status, out, _ = run(
        capsys, "score", "--metric", "accuracy", *files, "--split", "test", "--instances", target, "--format", "json"
    )
    assert (status, json.loads(out)["n_instances"]) == (0, 3)
    assert target.read_text() == "id,value\n2,1.0\n3,0.0\n4,1.0\n"
    status, out, _ = run(capsys, "score", "--metric", "f1", "--option", "positive=cat", *files, "--format", "json")
    assert (status, json.loads(out)["value"]) == (0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "acc"], "no metric is called 'acc'; the command `metrics` lists them"),
        (["--metric", "f1"], "column 'positive': positive is needed: the label that is to be found"),
        (["--metric", "accuracy", "--split", "x"], "no instance has the split 'x'; the splits are dev, test"),
        (["--metric", "accuracy", "--option", "x"], "'x': expected NAME=VALUE, such as positive=spam"),
        (["--metric", "f1_macro", "--instances", "x.csv"], "F1, macro average is no mean of values of instances"),
        (["--metric", "rmse"], "column 'reference': 4 cells are no number that can be read; first on lines 2, 3, 4"),
    ],
)
def test_what_cannot_be_scored_is_told_on_one_line(capsys, files, arguments, message):
    try:
        status, _, err = run(capsys, "score", *arguments, *files)
    except SystemExit as error:
        status, err = error.code, capsys.readouterr().err
    assert status == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_every_metric_is_listed(capsys):
    _, out, _ = run(capsys, "metrics", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["key"] for row in rows] == list(METRICS)
    assert rows[2]["options"] == "positive="
    _, out, _ = run(capsys, "metrics", "--format", "json")
    records = json.loads(out)
    assert [record["key"] for record in records] == list(METRICS)
    assert all(record["citation"] for record in records)
    for form in ("table", "markdown"):
        _, out, _ = run(capsys, "metrics", "--format", form)
        assert "Balanced accuracy" in out
