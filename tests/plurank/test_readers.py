"""Files as boards: every format of the site, tables with their description, workbooks and Parquet."""

import io
import json
import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

import plurank
from plurank.command_line import main as run_command
from ranking_engine.importers import FORMATS, read_results
from tests.ranking_engine.importers.examples import EXAMPLES

TEXT_CELL = '<c t="inlineStr"><is><t>{}</t></is></c>'
TABLE = "system,QA,Loss\nA,90,1.5\nB,80,\n"
LM_EVAL = {
    "results": {"arc": {"alias": "arc", "acc,none": 0.5, "acc_norm,none": 0.6}},
    "higher_is_better": {"arc": {"acc": True, "acc_norm": True}},
    "model_name": "some/model",
    "versions": {"arc": 1},
}


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_a_table_is_read_as_it_is(tmp_path):
    board = plurank.read(write(tmp_path, {"scores.csv": TABLE}) / "scores.csv", lower_is_better=["Loss"])
    assert (board.systems, board.tasks) == (("A", "B"), ("QA", "Loss"))
    assert np.array_equal(board.matrix.values, [[90, 1.5], [80, np.nan]], equal_nan=True)
    assert board.matrix.directions.tolist() == [1, -1]


def test_the_description_beside_a_table_counts_and_what_is_stated_comes_first(tmp_path):
    toml = 'policy = "median"\n[[task]]\nname = "QA"\n[[task]]\nname = "Loss"\ndirection = "lower"\nweight = 2\n'
    folder = write(tmp_path, {"scores.csv": TABLE, "benchmark.toml": toml})
    board = plurank.read(folder / "scores.csv")
    assert (board.missing, board.matrix.directions.tolist(), board.matrix.weights) == ("median", [1, -1], (1, 2))
    assert "benchmark.toml" in board.notes[-1]
    other = plurank.read(folder / "scores.csv", missing="drop_systems", weights={"QA": 5})
    assert (other.missing, other.matrix.weights) == ("drop_systems", (5, 2))


def test_a_folder_its_two_files_and_an_archive_of_them_are_described_by_their_benchmark_toml(tmp_path, capsys):
    toml = 'gamma = 2\npolicy = "median"\n[[task]]\nname = "QA"\nweight = 3\n[[task]]\nname = "NLI"\nweight = 0\n'
    folder = write(tmp_path / "wf", {"scores.csv": "system,QA,NLI\na,1,9\nb,2,2\n", "benchmark.toml": toml})
    with zipfile.ZipFile(tmp_path / "wf.zip", "w") as archive:
        for name in ("scores.csv", "benchmark.toml"):
            archive.write(folder / name, f"wf/{name}")
    for paths in (
        [folder],
        [folder / "scores.csv"],
        [folder / "scores.csv", folder / "benchmark.toml"],
        [f"{folder}.zip"],
    ):
        board = plurank.read(*paths)
        assert (board.matrix.weights, board.matrix.gamma, board.missing) == ((3, 0), 2, "median")
        assert board.rank("borda").ranks == {"a": 2, "b": 1}
        assert run_command(["rank", *map(str, paths), "--rule", "mean", "--format", "csv"]) == 0
        printed = capsys.readouterr()
        assert printed.out.splitlines()[1].startswith("b,1")
        assert "left out" not in printed.err


def test_variants_gamma_and_odd_directions_of_files_reach_the_board(tmp_path):
    toml = 'variants = ["copeland[variant=lower]"]\n' + "".join(
        f'[[task]]\nname = "{name}"\nmaximum = 100\n' for name in ("QA", "Loss")
    )
    folder = write(tmp_path, {"scores.csv": TABLE, "benchmark.toml": toml})
    board = plurank.read(folder)
    assert (board.variants, board.matrix.gamma) == (("copeland[variant=lower]",), 95)
    assert any(
        note.startswith("Loss counts as higher is better, though its name says 'Loss'; ") for note in board.notes
    )
    assert not any("Loss counts" in note for note in plurank.read(folder, lower_is_better={"Loss": False}).notes)
    assert "lm-eval" in plurank.FORMATS


def test_another_description_of_a_folder_comes_before_its_own(tmp_path):
    folder = write(tmp_path, {"f/scores.csv": TABLE, "f/benchmark.toml": "gamma = [", "other.toml": "gamma = 80\n"})
    assert plurank.read(folder / "f", benchmark=folder / "other.toml").matrix.gamma == 80


@pytest.mark.parametrize("name", ["scores.xlsx", "scores.parquet"])
def test_workbooks_and_parquet_files_are_tables(tmp_path, name):
    frame = pd.DataFrame({"system": ["A", "B"], "QA": [90.0, 80.0], "Loss": [1.5, None]})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        path.write_bytes(workbook([["system", "QA", "Loss"], ["A", 90, 1.5], ["B", 80, None]]))
    board = plurank.read(path)
    assert (board.systems, board.tasks) == (("A", "B"), ("QA", "Loss"))
    assert np.array_equal(board.matrix.values, [[90, 1.5], [80, np.nan]], equal_nan=True)


def workbook(rows):
    """The smallest .xlsx that holds these rows."""

    def cell(value):
        if value is None:
            return "<c/>"
        return f"<c><v>{value}</v></c>" if isinstance(value, int | float) else TEXT_CELL.format(value)

    cells = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType='
        '"application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type='
        f'"{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="s" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type='
        f'"{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.mark.parametrize("key", [one.key for one in FORMATS])
def test_every_format_of_the_site_is_read_with_the_figures_of_its_importer(tmp_path, key):
    files = EXAMPLES[key]
    folder = write(tmp_path, {file.name: file.data for file in files})
    paths = [folder / file.name for file in files]
    board = plurank.read(*paths, format=key, system="ours")
    records = [record for record in read_results(files, key).records if not record.aside]
    expected = sorted(record.value for record in records if record.value is not None)
    values = board.matrix.values
    assert sorted(values[~np.isnan(values)].tolist()) == expected
    assert board.notes[0].startswith("read as ")


def test_one_metric_of_several_is_chosen_by_its_name_and_then_names_the_task_alone(tmp_path):
    path = write(tmp_path, {"results.json": json.dumps(LM_EVAL)}) / "results.json"
    assert plurank.read(path).tasks == ("arc, acc", "arc, acc_norm")
    chosen = plurank.read(path, metric="ACC_NORM")
    assert (chosen.tasks, chosen.matrix.values.tolist()) == (("arc",), [[0.6]])
    with pytest.raises(ValueError, match="there is no metric 'acc_nrm'; did you mean 'acc_norm'"):
        plurank.read(path, metric="acc_nrm")


def test_a_broken_description_is_refused_and_not_passed_over(tmp_path):
    folder = write(tmp_path, {"scores.csv": TABLE, "benchmark.toml": '[[task]]\nname = "Loss"\nweigth = 2\n'})
    with pytest.raises(ValueError, match=r"benchmark\.toml.*did you mean 'weight'"):
        plurank.read(folder / "scores.csv")


def test_folders_and_patterns_name_their_files(tmp_path, monkeypatch):
    write(tmp_path, {"a/one.json": json.dumps(LM_EVAL), "a/two.json": json.dumps(LM_EVAL | {"model_name": "other"})})
    monkeypatch.chdir(tmp_path)
    assert plurank.read("a").systems == plurank.read("a/*.json").systems == ("some/model", "other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("system,QA\nA,ninety\n", "scores.csv, line 2, column 2 (QA): 'ninety' is n"),
        ("system,QA\nA,1\nA,2\n", "line 3, column 1 (system): the system 'A' "),
        ("", "the file is empty"),
        ("{", "not valid JSON"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_line_and_column(tmp_path, content, message):
    path = write(tmp_path, {"scores.csv" if content != "{" else "r.json": content})
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 -- the message is compared below
        plurank.read(next(path.iterdir()))
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("One,QA,1\nOne,QA,2\n", "scores.csv, line 3: a second score of One on QA; the first is in "),
        ("One,QA,1\nTwo,QA,x2\n", "scores.csv, line 3, column 'score': 'x2' is not a number"),
    ],
)
def test_what_is_wrong_with_a_row_per_score_is_not_what_is_wrong_with_a_row_per_system(tmp_path, rows, message):
    path = write(tmp_path, {"scores.csv": f"system,task,score\n{rows}"}) / "scores.csv"
    with pytest.raises(ValueError, match=re.escape(message)):
        plurank.read(path)


def test_no_file_and_too_large_ones_are_refused_before_they_are_read(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        plurank.read(str(tmp_path / "*.json"))
    with pytest.raises(FileNotFoundError):
        plurank.read(tmp_path / "none.csv")
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(11 * 2**20)
    with pytest.raises(ValueError, match="more than 10 MB"):
        plurank.read(large)


def test_without_pyyaml_only_yaml_is_refused_and_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "ranking_engine.importers.plain_yaml", raising=False)
    folder = write(tmp_path, {"r.yaml": "- a: 1\n", "scores.csv": TABLE})
    assert plurank.read(folder / "scores.csv").tasks == ("QA", "Loss")
    with pytest.raises(ImportError, match=r"reading YAML needs PyYAML: install plurank with its extra `files`"):
        plurank.read(folder / "r.yaml")
