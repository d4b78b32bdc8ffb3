from __future__ import annotations

import pytest

from ranking_engine.command_line import main
from ranking_engine.files.directions import doubtful_tasks, lower_word


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Latency (ms)", "Latency"),
        ("inference_time", "time"),
        ("evalLoss", "Loss"),
        ("WER", "WER"),
        ("CO2 per query", "CO2"),
        ("Price, $", "Price"),
        ("Params (B)", "Params"),
        ("Accuracy", ""),
        ("Timeliness", ""),
        ("Terror detection", ""),
        ("", ""),
        ("(((" * 66, ""),
    ],
)
def test_the_word_of_a_name_that_says_that_less_is_better(name, word):
    assert lower_word(name) == word


def test_only_tasks_that_count_as_higher_is_better_by_default_are_doubtful():
    names, directions = ["Latency", "Loss", "Cost", "Accuracy"], [1, -1, 1, 1]
    assert doubtful_tasks(names, directions) == [("Latency", "Latency"), ("Cost", "Cost")]
    assert doubtful_tasks(names, directions, ["COST"]) == [("Latency", "Latency")]


@pytest.mark.parametrize("command", ["rank", "compare"])
def test_the_command_line_asks_by_name_on_standard_error(command, tmp_path, capsys):
    table = tmp_path / "scores.csv"
    table.write_text("system,Accuracy,Latency (ms)\nA,1,30\nB,2,20\n")
    assert main([command, str(table), "--rule", "borda", "--rule", "mean"]) == 0
    notes = capsys.readouterr().err
    assert "note: Latency (ms) counts as higher is better, though its name says 'Latency'; is less better" in notes
    for direction, n_notes in (("lower", 0), ("higher", 0), (None, 1)):
        line = f'direction = "{direction}"\n' if direction else "weight = 2\n"
        tasks = '[[task]]\nname = "Accuracy"\n[[task]]\nname = "Latency (ms)"\n'
        (tmp_path / "benchmark.toml").write_text(tasks + line)
        main([command, str(table), "--rule", "borda", "--rule", "mean"])
        assert capsys.readouterr().err.count("counts as higher is better") == n_notes
