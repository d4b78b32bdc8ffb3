"""The aggregation that a benchmark.toml states is the one by which the command line and the package rank."""

import json

import pytest

import plurank
from ranking_engine.command_line import main


def ranked(capsys, table, *arguments):
    assert main(["rank", str(table), "--rule", "mean", "--format", "json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


GROUPED = """aggregation = "balanced"
[[group]]
name = "G"
weight = 3
[[group]]
name = "H"
[[task]]
name = "a"
group = "G"
[[task]]
name = "b"
group = "H"
[[task]]
name = "c"
group = "H"
"""


def test_the_aggregation_of_the_benchmark_file_counts_unless_another_is_asked_for(capsys, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("system,a,b,c\nx,3,1,1\ny,1,3,3\nz,2,2,2\n")
    (tmp_path / "benchmark.toml").write_text(GROUPED)
    board = ranked(capsys, table)
    assert (board["aggregation"], board["rules"]["mean"]["winners"]) == ("balanced", ["x"])
    assert plurank.read(table).rank("mean").winners == ["x"]
    basic = ranked(capsys, table, "--aggregation", "basic")
    assert (basic["aggregation"], basic["rules"]["mean"]["winners"]) == ("basic", ["y"])
    assert plurank.read(table, aggregation="basic").rank("mean").winners == ["y"]


@pytest.mark.parametrize("command", ["prospects", "intervals", "stability"])
def test_a_command_that_cannot_rank_in_two_steps_says_so(capsys, tmp_path, command):
    table = tmp_path / "scores.csv"
    table.write_text("system,a,b,c\nx,3,1,1\ny,1,3,3\nz,2,2,2\n")
    (tmp_path / "benchmark.toml").write_text(GROUPED.replace("balanced", "two_step"))
    study = ["--study", "diversity"] if command == "stability" else []
    assert main([command, str(table), *study]) == 2
    assert (
        "the benchmark ranks in two steps, which this command does not: state --aggregation" in capsys.readouterr().err
    )
