from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from ranking_engine import AGGREGATIONS, ScoreMatrix, copy_proof_ratings, listed_rules
from ranking_engine.command_line import main

TOY = """\
system,1,2,3,4,5
A,4,4,1,1,1
B,3,1,4,3,3
C,2,3,2,4,2
D,1,2,3,2,4
"""


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TOY)
    return path


def run(capsys, *arguments):
    status = main(["rank", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def run_json(capsys, *arguments):
    status, out, _ = run(capsys, *arguments, "--format", "json")
    assert status == 0
    return json.loads(out)


def test_json_holds_every_leaderboard(toy, capsys):
    board = run_json(capsys, toy)
    assert list(board) == [
        "systems",
        "tasks",
        "aggregation",
        "missing",
        "gamma",
        "derived_gamma",
        "condorcet_winner",
        "smith_set",
        "choice_sets",
        "rules",
    ]
    assert (board["systems"], board["tasks"]) == (["A", "B", "C", "D"], ["1", "2", "3", "4", "5"])
    assert (board["aggregation"], board["missing"]) == ("basic", "undefined")
    assert (board["condorcet_winner"], board["smith_set"]) == ("B", ["B"])
    columns = [[float(cell) for cell in line.split(",")[1:]] for line in TOY.splitlines()[1:]]
    rated = copy_proof_ratings(ScoreMatrix(columns)).ratings.tolist()
    assert board["choice_sets"] == {
        "weak_condorcet_winners": ["B"],
        "condorcet_loser": "A",
        "schwartz_set": ["B"],
        "uncovered_set": ["B"],
        "essential_set": ["B"],
        "cycles": [],
        "copy_proof_ratings": pytest.approx(dict(zip("ABCD", rated, strict=True))),
    }
    assert list(board["rules"]) == listed_rules()
    assert board["rules"]["borda"] == {
        "name": "Borda",
        "family": "positional",
        "status": "ranked",
        "options": {"ties": "worst"},
        "scores": {"A": 6.0, "B": 9.0, "C": 8.0, "D": 7.0},
        "ranks": {"A": 4, "B": 1, "C": 2, "D": 3},
        "winners": ["B"],
        "n_tied": 0,
    }
    assert board["rules"]["condorcet"]["ranks"] == {"A": None, "B": 1, "C": None, "D": None}


def test_an_undefined_rule_has_a_reason_instead_of_scores(toy, capsys):
    toy.write_text("system,a,b\nA,1,\nB,2,3\n")
    assert run_json(capsys, toy)["rules"]["mean"] == {
        "name": "Mean",
        "family": "cardinal",
        "status": "undefined",
        "reason": "1 missing score (1 of 2 systems lacks at least one)",
    }


def test_an_unranked_system_has_rank_null_and_a_reason(toy, capsys):
    toy.write_text("system,a,b\nA,1,\nB,2,3\n")
    mean = run_json(capsys, toy, "--missing", "drop_systems", "--rule", "mean")["rules"]["mean"]
    assert (mean["ranks"], mean["scores"]) == ({"A": None, "B": 1}, {"A": None, "B": 2.5})
    assert mean["unranked"] == {"A": "no score on 1 of 2 tasks of weight above 0: b"}


def test_csv_has_a_row_for_each_system_sorted_by_the_first_rule(toy, capsys):
    _, out, _ = run(capsys, toy, "--rule", "borda", "--rule", "condorcet", "--format", "csv")
    assert list(csv.reader(io.StringIO(out))) == [
        ["system", "borda_rank", "borda_score", "condorcet_rank", "condorcet_score"],
        ["B", "1", "9.0", "1", "3.0"],
        ["C", "2", "8.0", "", ""],
        ["D", "3", "7.0", "", ""],
        ["A", "4", "6.0", "", ""],
    ]


def test_the_table_is_aligned_and_says_what_ranks_do_not(toy, capsys):
    _, out, _ = run(capsys, toy, "--rule", "borda", "--rule", "plurality")
    assert out == (
        "system  Borda  Plurality\n"
        "B           1          2\n"
        "C           2          2\n"
        "D           3          2\n"
        "A           4          1\n"
        "\n"
        "Condorcet winner: B\n"
        "Missing scores: undefined\n"
    )


def test_markdown_and_latex_escape_names(toy, capsys):
    toy.write_text("system,a\nx|y_1 & z%,1\nB,2\n")
    _, out, _ = run(capsys, toy, "--rule", "mean", "--format", "markdown")
    assert out.startswith(
        "| system | Mean |\n| --- | ---: |\n| B | 1 |\n| x\\|y\\_1 \\& z% | 2 |\n\n- Condorcet winner: B\n"
    )
    _, out, _ = run(capsys, toy, "--rule", "mean", "--format", "latex")
    assert out == (
        "% Condorcet winner: B\n"
        "% Missing scores: undefined\n"
        "\\begin{tabular}{lr}\n\\toprule\nsystem & Mean \\\\\n\\midrule\n"
        "B & 1 \\\\\nx\\textbar{}y\\_1 \\& z\\% & 2 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
    )


def test_a_benchmark_file_beside_the_table_is_used_and_mentioned(toy, capsys):
    beside = toy.with_name("benchmark.toml")
    beside.write_text(
        "policy = 'worst'\n" + "".join(f"[[task]]\nname = '{t}'\ndirection = 'lower'\n" for t in range(1, 6))
    )
    status, out, err = run(capsys, toy, "--rule", "borda", "--format", "json")
    assert (status, err) == (0, f"note: using {beside}\n")
    assert json.loads(out)["missing"] == "worst"
    assert json.loads(out)["rules"]["borda"]["scores"] == {"A": 9.0, "B": 6.0, "C": 7.0, "D": 8.0}
    assert run_json(capsys, toy, "--missing", "median")["missing"] == "median"


def test_weights_change_the_tasks_they_name(toy, capsys, tmp_path):
    weights = tmp_path / "w.json"
    weights.write_text('{"1": 10, "2": "1/3"}')
    board = run_json(capsys, toy, "--rule", "plurality", "--weights", weights)
    assert board["rules"]["plurality"]["scores"] == pytest.approx({"A": 10 + 1 / 3, "B": 1, "C": 1, "D": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "w.json, line 1: not valid JSON"),
        ('{"1": 1' + "0" * 5000 + "}", "w.json: not valid JSON"),
        ("[1]", "w.json: expected a JSON object"),
        ('{"6": 1}', "w.json: unknown task '6': the table has none"),
        ('{"1": -1}', "w.json: the weight of '1' is -1; a weight is never negative"),
        ('{"1": NaN}', "w.json: the weight of '1' is nan; expected a number"),
        ('{"1": 0, "2": 0, "3": 0, "4": 0, "5": 0}', "w.json: the weights of all tasks are zero"),
    ],
)
def test_bad_weights_are_told(toy, capsys, tmp_path, text, message):
    weights = tmp_path / "w.json"
    weights.write_text(text)
    status, out, err = run(capsys, toy, "--weights", weights)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,a\nA,1\nA,2\n", "line 3, column 1 (system): the system 'A' is already on line 2"),
        ("system,a\nA,x\n", "line 2, column 2 (a): 'x' is not a number"),
        ("system,a\nA,inf\n", "line 2, column 2 (a): 'inf' is infinite; a score must be finite"),
        ("system,a\nA\n", "line 2, column 1 (system): the row has 1 columns, the header has 2"),
        ("", "the file is empty; expected a header"),
    ],
)
def test_bad_input_ends_with_status_2_and_one_line_that_names_the_place(toy, capsys, text, message):
    toy.write_text(text)
    status, out, err = run(capsys, toy)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {toy}")
    assert message in err


def test_an_unknown_task_of_the_benchmark_file_names_that_file(toy, capsys):
    beside = toy.with_name("benchmark.toml")
    beside.write_text("[[task]]\nname = '7'\n")
    status, _, err = run(capsys, toy)
    assert (status, err.splitlines()[-1]) == (
        2,
        f"error: {beside}, line 2: unknown task '7': the table has none",
    )


def test_a_file_that_is_not_there_is_told(tmp_path, capsys):
    status, _, err = run(capsys, tmp_path / "none.csv")
    assert (status, err) == (2, f"error: {tmp_path / 'none.csv'}: No such file or directory\n")


def test_an_unknown_rule_ends_with_status_2(toy, capsys):
    with pytest.raises(SystemExit) as caught:
        run(capsys, toy, "--rule", "bordo")
    assert caught.value.code == 2
    assert "there is no rule 'bordo'; did you mean 'Borda'?" in capsys.readouterr().err


def test_points_of_ones_own_make_a_further_column(toy, capsys):
    board = run_json(capsys, toy, "--vector", "12,10,8")
    assert list(board["rules"]) == [*listed_rules(), "positional"]
    assert board["rules"]["positional"]["scores"] == {"A": 24.0, "B": 42.0, "C": 46.0, "D": 38.0}
    alone = run_json(capsys, toy, "--rule", "positional", "--vector", "1")
    assert alone["rules"]["positional"]["scores"] == {"A": 2.0, "B": 1.0, "C": 1.0, "D": 1.0}


def test_variants_are_columns_beside_their_rules(toy, capsys):
    lower, points = "copeland[variant=lower]", "positional[vector=12,10,8]"
    named = run_json(capsys, toy, "--rule", "copeland", "--rule", lower, "--rule", "positional[ vector = 12,10,8.0]")
    assert list(named["rules"]) == ["copeland", lower, points]
    assert named["rules"][points]["scores"] == {"A": 24.0, "B": 42.0, "C": 46.0, "D": 38.0}
    option = run_json(capsys, toy, "--option", "copeland.variant=lower", "--rule", "copeland")["rules"]["copeland"]
    assert named["rules"][lower]["scores"] == option["scores"] != named["rules"]["copeland"]["scores"]
    assert named["rules"][lower]["options"] == option["options"] == {"variant": "lower"}


def test_the_variants_of_a_benchmark_file_are_ranked_where_no_rule_is_named(toy, capsys):
    toy.with_name("benchmark.toml").write_text('variants = ["copeland[variant=lower]"]\n')
    rules = list(run_json(capsys, toy)["rules"])
    assert rules[rules.index("copeland") + 1] == "copeland[variant=lower]"
    assert list(run_json(capsys, toy, "--rule", "borda")["rules"]) == ["borda"]


@pytest.mark.parametrize("rule", ["copeland[variant=most]", "copeland[", "positional[vector=" + "1," * 10**5 + "1]"])
def test_what_is_no_variant_ends_with_status_2(toy, capsys, rule):
    with pytest.raises(SystemExit) as caught:
        run(capsys, toy, "--rule", rule)
    assert caught.value.code == 2
    assert len(capsys.readouterr().err) < 2000


def test_the_optimality_threshold_can_be_stated(toy, capsys):
    gap = run_json(capsys, toy, "--gamma", "3", "--rule", "optimality_gap")["rules"]["optimality_gap"]
    assert gap["scores"] == {"A": -1.2, "B": -0.4, "C": -0.6, "D": -0.8}


def with_groups(toy, weights="a = 3\nb = 1"):
    tasks = "".join(f"[[task]]\nname = '{t}'\ngroup = '{'a' if t < 3 else 'b'}'\n" for t in range(1, 6))
    weights = [line.split(" = ") for line in weights.splitlines()]
    groups = "".join(f"[[group]]\nname = '{name}'\nweight = {weight}\n" for name, weight in weights)
    toy.with_name("benchmark.toml").write_text(tasks + groups)


def test_groups_of_tasks_count_as_asked_for(toy, capsys):
    with_groups(toy)
    scores = {}
    for aggregation in AGGREGATIONS:
        board = run_json(capsys, toy, "--rule", "plurality", "--aggregation", aggregation)
        assert board["aggregation"] == aggregation
        scores[aggregation] = list(board["rules"]["plurality"]["scores"].values())
    assert scores["basic"] == [2, 1, 1, 1]
    assert scores["weighted"] == scores["balanced"] == pytest.approx([3, 1 / 3, 1 / 3, 1 / 3])
    assert scores["two_step"] == [3, 0, 0, 0]


def test_two_steps_have_no_one_majority(toy, capsys):
    with_groups(toy)
    board = run_json(capsys, toy, "--rule", "borda", "--aggregation", "two_step")
    assert (board["condorcet_winner"], board["smith_set"]) == (None, None)
    _, out, _ = run(capsys, toy, "--rule", "borda", "--aggregation", "two_step")
    assert out.endswith("\n\nAggregation: two_step\nMissing scores: undefined\n")


def test_groups_without_any_weight_are_told(toy, capsys):
    with_groups(toy, "a = 0\nb = 0")
    status, out, err = run(capsys, toy, "--aggregation", "weighted")
    message = "error: --aggregation weighted: `group_weights` leave no task a positive weight"
    assert (status, out, err.splitlines()[-1]) == (2, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rule", "positional"), "--rule positional needs --vector, such as --vector 12,10,8"),
        (
            ("--vector", "1,2"),
            "--option positional.vector=1,2: `vector` is '1,2'; expected numbers that do not rise, such as 12,10,8",
        ),
        (("--vector", "2,1", "--option", "positional.vector=3"), "--option positional.vector is stated twice"),
        (("--gamma", "inf"), "--gamma is inf; expected a finite number, such as 95"),
    ],
)
def test_arguments_that_do_not_go_together_end_with_status_2(toy, capsys, arguments, message):
    assert run(capsys, toy, *arguments) == (2, "", f"error: {message}\n")


def test_it_runs_as_a_module_and_reads_standard_input():
    command = [sys.executable, "-m", "ranking_engine", "rank", "-", "--format", "json", "--rule", "borda"]
    done = subprocess.run(command, input=TOY, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rules"]["borda"]["winners"] == ["B"]
    assert done.stderr == ""


def test_names_that_look_like_formulas_are_the_researchers_own(toy, capsys):
    toy.write_text("system,a\n=A,1\nB,2\n")
    assert run_json(capsys, toy)["systems"] == ["=A", "B"]


def test_no_winner_shows_the_smith_set(toy, capsys):
    toy.write_text("system,a,b,c\nA,3,1,2\nB,2,3,1\nC,1,2,3\n")
    _, out, _ = run(capsys, toy, "--rule", "condorcet")
    assert "No Condorcet winner; Smith set: A, B, C\n" in out
    toy.write_text("system,a\nA,\nB,\n")
    _, out, _ = run(capsys, toy, "--rule", "condorcet")
    assert "No Condorcet winner\n" in out


def test_pairs_without_a_common_task_are_counted(toy, capsys):
    toy.write_text("system,a,b\nA,3,\nB,,3\n")
    _, out, _ = run(capsys, toy, "--rule", "copeland")
    assert "Pairs of systems without a common task: 1\n" in out


def test_tied_systems_are_listed_by_name_whatever_their_order_in_the_file(toy, capsys):
    toy.write_text("system,a\nC,1\nA,1\nB,2\n")
    _, out, _ = run(capsys, toy, "--rule", "mean", "--format", "csv")
    assert [line.split(",")[0] for line in out.splitlines()] == ["system", "B", "A", "C"]
    board = run_json(capsys, toy, "--rule", "mean", "--ties", "best")
    assert (board["systems"], board["rules"]["mean"]["winners"]) == (["C", "A", "B"], ["B"])


def test_json_says_which_threshold_is_in_force_and_whether_somebody_stated_it(tmp_path, toy, capsys):
    assert [run_json(capsys, toy)[name] for name in ("gamma", "derived_gamma")] == [None, None]
    tasks = "".join(f'[[task]]\nname = "{t}"\nmaximum = 20\n' for t in range(1, 6))
    for gamma, expected in (("", [None, 19.0]), ("gamma = 3\n", [3.0, None])):
        (tmp_path / "benchmark.toml").write_text(gamma + tasks)
        assert [run_json(capsys, toy)[name] for name in ("gamma", "derived_gamma")] == expected
    assert run_json(capsys, toy, "--gamma", "4")["gamma"] == 4.0


def test_the_shares_of_a_maximal_lottery_are_told(tmp_path, capsys):
    (tmp_path / "circle.csv").write_text("system,a,b,c\nA,3,1,2\nB,2,3,1\nC,1,2,3\n", encoding="utf-8")
    assert main(["rank", str(tmp_path / "circle.csv"), "--rule", "maximal_lotteries"]) == 0
    assert "Maximal lotteries: shares A 1/3, B 1/3, C 1/3\n" in capsys.readouterr().out


def test_ranks_that_rest_on_predicted_scores_say_so(tmp_path, capsys):
    rows = [[str(10 * i + t + (i * t) % 3) for t in range(5)] for i in range(7)]
    rows[5][3] = ""
    path = tmp_path / "scores.csv"
    path.write_text("system,a,b,c,d,e\n" + "".join(f"S{i},{','.join(row)}\n" for i, row in enumerate(rows)))
    status, out, _ = run(capsys, path, "--missing", "predicted", "--rule", "mean", "--rule", "copeland")
    assert status == 0
    assert "Mean: 1 score is predicted from the other scores and not measured, of 1 system." in out
    assert "Copeland: 1 score" not in out
    details = run_json(capsys, path, "--missing", "predicted", "--rule", "mean")["rules"]["mean"]["details"]
    assert details["predicted"] == {"S5": 1}
