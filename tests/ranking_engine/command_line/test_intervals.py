from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.command_line import main
from ranking_engine.stability.bootstrap import rank_intervals

VALUES = np.random.default_rng(5).normal(size=(4, 10)).round(3) + np.array([[0.0], [2.0], [0.3], [-2.0]])
NAMES = ("A", "B", "C", "D")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    lines = [",".join(["system", *(f"t{k}" for k in range(10))])]
    lines += [",".join([name, *(repr(float(x)) for x in row)]) for name, row in zip(NAMES, VALUES, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def computed(rule, **options):
    names = [f"t{k}" for k in range(10)]
    matrix = ScoreMatrix(VALUES, system_names=NAMES, task_names=names)
    return rank(matrix, rule).ranks, rank_intervals(matrix, (rule,), simultaneous=True, **options)


@pytest.mark.parametrize("rule", ["mean", "copeland"])
def test_json_holds_the_intervals_by_themselves_and_at_once(table, capsys, rule):
    options = ("--rule", rule, "--resamples", 300, "--seed", 3, "--level", 0.9, "--format", "json")
    status, out, _ = run(capsys, "intervals", table, "--simultaneous", *options)
    report, (ranks, intervals) = json.loads(out), computed(rule, n_resamples=300, seed=3, level=0.9)
    entry, together = report["rules"][rule], intervals.simultaneous[rule]
    assert (status, report["n_clusters"], report["level"], entry["n_resamples"]) == (0, 10, 0.9, 300)
    assert entry["ranks"] == dict(zip(NAMES, ranks.tolist(), strict=True))
    ends = zip(intervals.lower[rule].tolist(), intervals.upper[rule].tolist(), strict=True)
    assert entry["intervals"] == dict(zip(NAMES, [list(pair) for pair in ends], strict=True))
    ends = zip(together.lower.tolist(), together.upper.tolist(), strict=True)
    assert entry["simultaneous_intervals"] == dict(zip(NAMES, [list(pair) for pair in ends], strict=True))
    assert entry["possibly_best"] == [name for name, best in zip(NAMES, together.possibly_best, strict=True) if best]
    assert entry["largest_error"] == intervals.errors[rule].max()


def test_a_table_is_best_first_and_says_what_intervals_are(table, capsys):
    _, out, _ = run(capsys, "intervals", table)
    (ranks, intervals) = computed("borda", n_resamples=4000)
    assert out.startswith(
        "Borda: 95 % intervals if the same 10 tasks or clusters were drawn again with replacement, 4,000 times, for "
        "each system separately. Other draws of as many would move an end by at most "
    )
    rows = [line.split() for line in out.splitlines()[2:]]
    assert rows[0] == ["system", "rank", "interval"]
    order = sorted(range(4), key=lambda i: ranks[i])
    assert rows[1:] == [
        [NAMES[i], str(ranks[i]), f"{intervals.lower['borda'][i]}-{intervals.upper['borda'][i]}"] for i in order
    ]


def test_csv_has_a_row_for_each_rule_and_system(table, capsys):
    _, out, _ = run(capsys, "intervals", table, "--rule", "mean", "--rule", "borda", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    places = [(rule, str(k)) for rule in ("mean", "borda") for k in (1, 2, 3, 4)]
    assert [(row["rule"], row["rank"]) for row in rows] == places
    assert {row["simultaneous_least"] for row in rows} == {""}
    _, with_all, _ = run(capsys, "intervals", table, "--rule", "mean", "--simultaneous", "--format", "csv")
    assert {row["possibly_best"] for row in csv.DictReader(io.StringIO(with_all))} <= {"True", "False", "true", "false"}


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_papers_get_a_table(table, capsys, form):
    status, out, _ = run(capsys, "intervals", table, "--simultaneous", "--format", form)
    assert status == 0
    assert "all at once" in out
    assert all(name in out for name in NAMES)


def test_too_few_tasks_have_no_intervals_and_say_why(table, capsys, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("system,a,b\nX,1,2\nY,2,1\n")
    status, out, _ = run(capsys, "intervals", few)
    assert status == 0
    assert "no intervals: 2 tasks or clusters of tasks to draw from; with fewer than 8" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resamples", "0"], "--resamples is 0; expected 1 to 1000000"),
        (["--resamples", "99999999"], "--resamples is 99999999; expected 1 to 1000000"),
        (["--level", "1"], "`level` is 1.0"),
        (["--seed", "-1"], "`seed` is -1"),
    ],
)
def test_bad_arguments_are_named_on_one_line(table, capsys, arguments, message):
    status, _, error = run(capsys, "intervals", table, *arguments)
    assert status == 2
    (line,) = [line for line in error.splitlines() if not line.startswith("note: ")]
    assert line.startswith("error: ")
    assert message in line
