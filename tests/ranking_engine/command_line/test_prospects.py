from __future__ import annotations

import csv
import io
import json

import pytest

from ranking_engine.command_line import main

TOY = """\
system,x,y,z
A,3,1,1
B,1,3,1
C,2,2,3
D,0,2,2
E,,,
"""
BENCHMARK = """\
[[task]]
name = "x"
direction = "higher"
weight = 2
group = "g"

[[task]]
name = "y"
direction = "higher"
group = "g"

[[task]]
name = "z"
direction = "higher"
weight = 0
"""


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TOY)
    return path


def run(capsys, *arguments):
    status = main(["prospects", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def run_json(capsys, *arguments):
    status, out, _ = run(capsys, *arguments, "--format", "json")
    assert status == 0
    return json.loads(out)


def test_json_holds_every_verdict_with_its_evidence(toy, capsys):
    report = run_json(capsys, toy, "--draws", 1000)
    assert list(report["systems"]) == ["A", "B", "C", "D", "E"]
    assert report["tasks"] == ["x", "y", "z"]
    assert report["verdicts"] == {"strict": 3, "tie_only": 0, "none": 1, "no_scores": 1, "undecided": 0}
    assert (report["rule"], report["n_draws"], report["seed"], report["is_complete"]) == ("majority", 1000, 0, True)
    a = report["systems"]["A"]
    assert (a["prospective"], a["verdict"]) == (True, "strict")
    assert (a["weights"], a["weights_exact"]) == ({"x": 1.0}, {"x": "1"})
    assert (a["margin"], a["needed_tasks"]) == (1.0, ["x"])
    assert a["nearest"]["equal"]["total"]["change"] == pytest.approx(1 / 6)
    assert 0 < a["share"] < 0.5
    d = report["systems"]["D"]
    # D is below C on x and z and level on y, below B on x and y and above on z: -1, -1/3, -1/3
    assert (d["prospective"], d["certificate_exact"], d["share"]) == (False, {"B": "1/3", "C": "2/3"}, 0)
    assert d["margin"] == pytest.approx(-1 / 3)
    assert report["systems"]["E"] == {
        "prospective": False,
        "verdict": "no_scores",
        "reason": "no score on any task of weight above 0",
    }


def test_the_table_says_who_can_win_and_how(toy, capsys):
    status, out, _ = run(capsys, toy, "--draws", 0)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "system"
    assert lines[1].split() == ["A", "can", "win", "-", "+1.000", "0.167", "0.167", "1", "x"]
    assert lines[4].split()[:7] == ["D", "cannot", "win", "-", "-0.333", "-", "-"]
    assert lines[4].endswith("2/3 C + 1/3 B")
    assert "Rule: majority; 3 can win, 1 cannot win, 1 no scores" in lines
    assert "A cannot win without x" in lines
    assert "E: no score on any task of weight above 0" in lines


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_tables_for_papers_hold_a_row_for_each_system(toy, capsys, form):
    _, out, _ = run(capsys, toy, "--draws", 0, "--format", form)
    assert sum(line.startswith(("| A ", "A & ")) for line in out.splitlines()) == 1


def test_csv_holds_exact_weights(toy, capsys):
    _, out, _ = run(capsys, toy, "--draws", 0, "--format", "csv")
    rows = {row["system"]: row for row in csv.DictReader(io.StringIO(out))}
    assert (rows["A"]["verdict"], rows["A"]["weight x"], rows["A"]["weight y"]) == ("strict", "1", "0")
    assert (rows["D"]["certificate"], rows["D"]["weight x"]) == ("2/3 C + 1/3 B", "")


def test_conditions_narrow_the_choice_of_weights(toy, capsys):
    report = run_json(capsys, toy, "--draws", 0, "--condition", "z >= 0.6", "--condition", "minimise y")
    assert report["conditions"] == ["z >= 3/5", "minimise y"]
    assert [report["systems"][name]["verdict"] for name in "ABC"] == ["none", "none", "strict"]
    assert (report["systems"]["C"]["objective"], report["systems"]["C"]["prospective"]) == (0, True)
    impossible = run_json(capsys, toy, "--condition", "x + y + z <= 0.9")
    assert impossible["conditions_reason"] == "no weights satisfy the conditions"
    _, out, _ = run(capsys, toy, "--condition", "x + y + z <= 0.9")
    assert "Conditions: no weights satisfy the conditions\n" in out


def test_a_pair_is_asked_for_by_name(toy, capsys):
    report = run_json(capsys, toy, "--pair", "a", "C", "--rule", "mean", "--missing", "drop_systems")
    assert (report["pair"], list(report["systems"])) == (["a", "C"], ["A"])
    # x must weigh as much as y and twice z together: 5/9, 1/3, 1/9
    nearest = report["systems"]["A"]["nearest"]["equal"]
    assert nearest["total"]["change"] == pytest.approx(2 / 9)
    _, out, _ = run(capsys, toy, "--pair", "A", "C", "--draws", 0)
    assert "Rule: majority for A above C; 1 can win\n" in out


def test_weights_groups_and_silent_tasks_come_from_the_benchmark_file(toy, capsys):
    path = toy.with_name("benchmark.toml")
    path.write_text(BENCHMARK)
    assert run_json(capsys, toy, "--draws", 0)["tasks"] == ["x", "y"]
    assert run_json(capsys, toy, "--draws", 0, "--all-tasks")["tasks"] == ["x", "y", "z"]
    grouped = run_json(capsys, toy, "--draws", 0, "--all-tasks", "--by-group")
    assert grouped["tasks"] == ["group g", "z"]
    assert (grouped["by_group"], grouped["systems"]["B"]["prospective"]) == (True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--condition", "w >= 1"], "error: unknown task 'w'; there are x, y, z\n"),
        (["--condition", "x"], "error: 'x' is no condition; expected something like"),
        (["--pair", "A", "F"], "error: --pair: unknown system 'F'; there are A, B, C, D, E\n"),
        (["--pair", "A", "A"], "error: `rival` is 'A', which is the system itself\n"),
    ],
)
def test_bad_arguments_are_told_on_one_line(toy, capsys, arguments, message):
    status, out, err = run(capsys, toy, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_a_negative_count_is_refused(toy, capsys):
    with pytest.raises(SystemExit):
        main(["prospects", str(toy), "--draws", "-1"])
    assert "-1 is negative" in capsys.readouterr().err
