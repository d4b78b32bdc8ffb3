"""Names of rules and columns as people type them, and outputs that cannot be written."""

import json
import subprocess
import sys

import pytest

from ranking_engine.command_line import main, rank

COMMAND = [sys.executable, "-m", "ranking_engine", "rank"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,x,y\nA,3,1\nB,2,3\nC,1,2\n")
    return path


def test_rules_are_named_in_any_case_and_the_closest_is_suggested(table, capsys):
    assert main(["rank", str(table), "--rule", "Ranked pairs", "--rule", "BORDA", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "system,ranked_pairs_rank,ranked_pairs_score,borda_rank,borda_score"
    )
    with pytest.raises(SystemExit):
        main(["rank", str(table), "--rule", "bordaa"])
    assert "argument --rule: there is no rule 'bordaa'; did you mean 'Borda'?" in capsys.readouterr().err


def test_cycles_are_searched_for_json_alone_which_shows_them(table, capsys, monkeypatch):
    assert main(["rank", str(table), "--rule", "borda", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["choice_sets"]["cycles"] == []
    monkeypatch.delattr(rank, "shortest_cycles")
    for name in ("table", "csv", "markdown", "latex"):
        assert main(["rank", str(table), "--rule", "borda", "--format", name]) == 0
    assert "No Condorcet winner; Smith set: A, B, C" in capsys.readouterr().out


def test_an_output_that_cannot_be_written_is_no_bad_input(table):
    with open("/dev/full", "w") as full:  # noqa: PTH123 -- a device
        answer = subprocess.run([*COMMAND, table], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (1, "error: standard output: No space left on device\n")
    closed = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMAND, table],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (1, "error: standard output: it is closed\n")


def test_weights_of_a_name_that_two_tasks_have_in_another_case_are_refused(tmp_path, capsys):
    table, weights = tmp_path / "scores.csv", tmp_path / "w.json"
    table.write_text("system,qa,QA\nA,3,1\nB,2,3\n")
    rank_weighted = ["rank", str(table), "--rule", "mean", "--format", "csv", "--weights", str(weights)]
    weights.write_text('{"Qa": 5}')
    assert main(rank_weighted) == 2
    assert capsys.readouterr().err.endswith("w.json: the task 'Qa' could be 'qa' or 'QA'; write it as it is there\n")
    weights.write_text('{"qa": 5}')
    assert main(rank_weighted) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("A,1,")


def test_unclear_columns_are_refused_with_the_argument_that_makes_them_clear(tmp_path, capsys):
    table = tmp_path / "scores.csv"
    table.write_text("name,x,y\na,1,2\nb,2,1\n")
    assert main(["rank", str(table)]) == 2
    assert capsys.readouterr().err.endswith(
        "In a command --column 'name=system' says so, in Python columns={'name': 'system'}\n"
    )
    assert main(["rank", str(table), "--column", "name=system"]) == 0


def test_roles_of_columns_are_refused_for_files_that_are_no_table(tmp_path, capsys):
    results = tmp_path / "results.json"
    results.write_text(
        '{"results": {"arc": {"alias": "arc", "acc,none": 0.5}}, "model_name": "m", "versions": {"arc": 1}}'
    )
    assert main(["rank", str(results), "--column", "foo=score"]) == 2
    assert capsys.readouterr().err == (
        "error: roles of columns are for tables; these files are read as lm-evaluation-harness results\n"
    )


@pytest.mark.parametrize("command", [["prospects"], ["stability", "--study", "missing_scores"]])
@pytest.mark.parametrize(("text", "problem"), [("x", "'x' is no whole number"), ("-1", "-1 is negative")])
def test_a_seed_is_a_number_of_0_or_more(table, capsys, command, text, problem):
    with pytest.raises(SystemExit):
        main([*command, str(table), f"--seed={text}"])
    assert f"argument --seed: {problem}" in capsys.readouterr().err
