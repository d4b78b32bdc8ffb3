"""The commands on every kind of file that `plurank.read` takes."""

import json

import numpy as np
import pandas as pd
import pytest

import plurank
from plurank.command_line import main
from ranking_engine.importers import FORMATS
from tests.plurank.test_readers import LM_EVAL, TABLE, workbook, write
from tests.ranking_engine.importers.examples import EXAMPLES
from tests.ranking_engine.importers.test_samples import sample, samples_of

COMMANDS = [["rank"], ["compare"], ["prospects", "--draws", "10"], ["stability", "--study", "diversity"]]
SYSTEMS = {"A": [90.0, 60.0], "B": [80.0, 70.0], "C": [70.0, 50.0]}


def run(capsys, *arguments):
    status = main(list(map(str, arguments)))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.fixture
def files(tmp_path):
    """The same scores of three systems on two tasks as a workbook, as a Parquet file and as files of lm-eval."""
    frame = pd.DataFrame(SYSTEMS, index=["QA", "NLI"]).T.rename_axis("model")
    frame.to_parquet(tmp_path / "scores.parquet")
    rows = [["system", "QA", "NLI"], *([name, *scores] for name, scores in SYSTEMS.items())]
    (tmp_path / "scores.xlsx").write_bytes(workbook(rows))
    results = []
    for name, scores in SYSTEMS.items():
        of_tasks = {t: {"alias": t, "acc,none": score} for t, score in zip(["QA", "NLI"], scores, strict=True)}
        results.append(tmp_path / f"{name}.json")
        results[-1].write_text(json.dumps({"results": of_tasks, "model_name": name, "config": {}}))
    return {"workbook": [tmp_path / "scores.xlsx"], "parquet": [tmp_path / "scores.parquet"], "lm-eval": results}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("kind", ["workbook", "parquet", "lm-eval"])
def test_every_command_says_of_any_kind_of_file_what_it_says_of_a_table(tmp_path, capsys, files, command, kind):
    (tmp_path / "own").mkdir()
    table = write(tmp_path / "own", {"scores.csv": plurank.Board(
        {name: dict(zip(["QA", "NLI"], scores, strict=True)) for name, scores in SYSTEMS.items()}
    ).to_frame().to_csv()}) / "scores.csv"  # fmt: skip
    status, expected, _ = run(capsys, *command, table, "--format", "json")
    assert status == 0
    assert run(capsys, *command, *files[kind], "--format", "json")[:2] == (0, expected)


@pytest.mark.parametrize("key", [one.key for one in FORMATS])
def test_every_format_is_ranked_as_the_board_that_python_reads(tmp_path, capsys, key):
    write(tmp_path, {file.name: file.data for file in EXAMPLES[key]})
    paths = [tmp_path / file.name for file in EXAMPLES[key]]
    board = plurank.read(*paths, format=key, system="ours")
    status, out, notes = run(
        capsys, "rank", *paths, "--importer", key, "--system-name", "ours", "--rule", "copeland", "--format", "json"
    )
    assert status == 0, notes
    answer = json.loads(out)
    assert (answer["systems"], answer["tasks"]) == (list(board.systems), list(board.tasks))
    assert answer["rules"]["copeland"]["ranks"] == board.rank("copeland").ranks
    assert f"note: {board.notes[0]}" in notes


def test_one_metric_is_ranked_and_a_description_counts_for_result_files_too(tmp_path, capsys):
    toml = '[[task]]\nname = "arc"\ndirection = "lower"\n'
    files = {"a.json": json.dumps(LM_EVAL), "b.json": json.dumps(LM_EVAL | {"model_name": "b", "results": {
        "arc": {"alias": "arc", "acc,none": 0.4, "acc_norm,none": 0.9}}}), "tasks.toml": toml}  # fmt: skip
    folder = write(tmp_path, files)
    paths = [folder / "a.json", folder / "b.json"]
    for metric, winner in (("acc", "some/model"), ("acc_norm", "b")):
        status, out, _ = run(capsys, "rank", *paths, "--metric", metric, "--rule", "mean", "--format", "csv")
        assert (status, out.splitlines()[1].split(",")[:2]) == (0, [winner, "1"])
    described = [*paths, "--metric", "acc", "--benchmark", folder / "tasks.toml"]
    status, out, _ = run(capsys, "rank", *described, "--rule", "mean", "--format", "csv")
    assert (status, out.splitlines()[1].split(",")[0]) == (0, "b")
    board = plurank.read(*paths, metric="acc", benchmark=folder / "tasks.toml")
    assert board.matrix.directions.tolist() == [-1]


def test_what_a_file_says_of_a_direction_counts_until_a_description_says_otherwise(tmp_path):
    results = LM_EVAL | {"higher_is_better": {"arc": {"acc": False, "acc_norm": True}}}
    toml = '[[task]]\nname = "arc, acc"\n{}[[task]]\nname = "arc, acc_norm"\n'
    direction = 'direction = "higher"\n'
    folder = write(
        tmp_path, {"r.json": json.dumps(results), "a.toml": toml.format(""), "b.toml": toml.format(direction)}
    )
    directions = [
        plurank.read(folder / "r.json", benchmark=description).matrix.directions.tolist()
        for description in (None, folder / "a.toml", folder / "b.toml")
    ]
    assert directions == [[-1, 1], [-1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.json", "{", "r.json, line 1: not valid JSON"),
        ("r.json", '{"a": 1}', "the format of these files is not supported"),
        ("s.csv", "system,QA\nA,high\n", "s.csv, line 2, column 2 (QA): 'high' is not a number"),
        ("s.xlsx", b"none", "s.xlsx: no workbook that can be read"),
        ("s.parquet", b"none", "s.parquet: no Parquet file that can be read"),
        ("s.xlsx", [["system", "QA"], ["A", 1], ["B", "high"]], "line 3, column 'QA': 'high' is not a number"),
        ("s.xlsx", [["system", "QA"], ["A", 1], ["A", 2]], "a second score of A on QA; the first is in"),
        ("s.parquet", {"system": ["A", "A"], "QA": [1, 2]}, "a second score of A on QA; the first is in"),
        ("s.parquet", {"system": ["A"], "QA": [True]},
         "s.parquet: 1 column may have scores or not: 'QA' (line 2: 'true' is not a number)"),
        ("s.parquet", {"QA": [1.0]}, "s.parquet: a table needs a column that names the systems and one with scores"),
        ("s.parquet", {"system": ["A"], "QA": [np.inf]},
         "s.parquet: 1 column may have scores or not: 'QA' (line 2: 'inf' is infinite; a score must be finite)"),
    ],
)  # fmt: skip
def test_a_bad_file_ends_every_command_with_status_2_and_one_line(tmp_path, capsys, name, content, message):
    path = tmp_path / name
    if isinstance(content, dict):
        pd.DataFrame(content).to_parquet(path, index=False)
    elif isinstance(content, list):
        path.write_bytes(workbook(content))
    else:
        write(tmp_path, {name: content})
    for command in COMMANDS:
        status, out, error = run(capsys, *command, path)
        assert (status, out, error.count("\n")) == (2, "", 1)
        assert error.startswith("error: ")
        assert message in error


def test_files_that_are_missing_or_do_not_go_together_end_with_status_2(tmp_path, capsys):
    write(tmp_path, {"r.json": json.dumps(LM_EVAL), "s.csv": TABLE})
    for arguments, message in (
        (["none.csv"], "none.csv: No such file"),
        (["-", tmp_path / "s.csv"], "- is standard input, which is read alone"),
        ([tmp_path / "r.json", tmp_path / "s.csv"], "several formats"),
        ([tmp_path / "r.json", "--metric", "ac"], "there is no metric 'ac'; did you mean 'acc'"),
        ([tmp_path / "r.json", "--importer", "lm_evil"], "there is no importer 'lm_evil'"),
    ):
        status, out, error = run(capsys, "rank", *arguments)
        assert (status, out) == (2, "")
        assert message in error


def test_instances_ranks_what_programs_wrote_of_single_instances(capsys, tmp_path):
    """Of two models: one has more instances right, and the other fewer."""
    for model, scores in {"lab__one": [1, 1, 0], "lab__two": [1, 0, 0]}.items():
        file = samples_of([sample(n, acc=score, f1=0.5) for n, score in enumerate(scores)], folder=model)
        (tmp_path / model).mkdir()
        (tmp_path / file.name).write_bytes(file.data)
    status, printed, _ = run(capsys, "instances", tmp_path, "--metric", "acc", "--format", "json")
    ranks = {key: json.loads(printed)[key]["ranks"] for key in ("two_level", "one_level", "mean")}
    assert (status, ranks) == (0, {key: {"lab/one": 1, "lab/two": 2} for key in ranks})
    status, _, error = run(capsys, "instances", tmp_path, "--metric", "em")
    assert (status, "there is no metric 'em'" in error) == (2, True)
