from __future__ import annotations

import json

import numpy as np
import pytest

from ranking_engine.catalogue.registry import RULES
from ranking_engine.command_line import main
from ranking_engine.command_line.stability import LAYOUT, slow_rule_notes
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import EXPERIMENTS, STUDIES, run_study
from ranking_engine.stability.items.task_items import task_items

SCORES = "system,a,b,c,d\nX,9,8,7,1\nY,7,9,5,2\nZ,1,2,6,3\nW,2,1,1,9\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json_holds_parameters_seed_summary_and_distribution(table, capsys):
    arguments = ["--study", "missing_scores", "--rule", "borda", "--rule", "veto", "--param", "levels=0,25"]
    options = ["--param", "n_repeats=3", "--seed", 5, "--format", "json"]
    status, out, _ = run(capsys, "stability", table, *arguments, *options)
    report = json.loads(out)
    assert status == 0
    assert list(report) == ["study", "parameters", "seed", "summary", "distribution"]
    assert (report["study"], report["seed"]) == ("missing_scores", 5)
    assert report["parameters"]["rules"] == ["borda", "veto"]
    assert report["parameters"]["levels"] == [0, 25]
    assert report["parameters"]["top"] == 7
    assert [len(row) for row in report["distribution"]["borda.spearman"]] == [2, 2, 2]
    assert report["distribution"]["borda.spearman"][0][0] == 1.0
    assert report["summary"]["rules"]["borda"]["mean"][0] == 1.0


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
@pytest.mark.parametrize("study", list(STUDIES))
def test_every_study_prints_in_every_format(study, form, table, capsys):
    small = {"n_repeats": 2, "n_best": 3, "n_trials": 5, "n_resamples": 3, "n_rounds": 1, "n_orders": 3}
    known = STUDIES[study].parameters
    arguments = [x for name, value in small.items() if name in known for x in ("--param", f"{name}={value}")]
    rules = ["--rule", "borda"] if "rules" in known else []
    status, out, err = run(capsys, "stability", table, "--study", study, "--format", form, *arguments, *rules)
    if status:  # a study may say nothing about so small a table; then it says why, on one line
        assert err.startswith("error: ")
        assert err.count("\n") == 1
    else:
        assert out.strip()


def test_the_list_says_what_each_study_asks(capsys):
    status, out, _ = run(capsys, "stability", "--study", "list")
    assert status == 0
    assert all(key in out and study.question in out for key, study in EXPERIMENTS.items())
    assert list(json.loads(run(capsys, "stability", "--study", "list", "--format", "json")[1])) == list(EXPERIMENTS)


def test_the_table_says_what_was_left_out(table, capsys):
    options = ["--rule", "borda", "--rule", "condorcet", "--param", "n_orders=2"]
    out = run(capsys, "stability", table, "--study", "system_additions", *options)[1]
    assert "Condorcet is left out: it names a winner and does not rank\n" in out
    assert "\nrule   any change  reversals  n newcomers\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--study", "significance", "--param", "rule=bordo"], "`rule` is 'bordo'; expected one of mean, "),
        (["--study", "significance", "--param", "rule=borda,mean"], "`rule` is 'borda,mean'; expected one of mean, "),
        (["--study", "significance", "--param", "rule=[1,2]"], '`rule` is [1, 2]: expected a value like "borda"'),
        (["--study", "significance", "--rule", "borda", "--rule", "mean"], "of one rule: give --rule once"),
        (["--study", "diversity", "--rule", "borda"], "diversity is not about single rules: leave out --rule"),
        (["--study", "missing_scores", "--param", "rules=3"], 'expected a value like ["borda"]'),
        (["--study", "missing_scores", "--param", "levels=[[1]]"], "expected numbers, such as [0, 1"),
        (["--study", "missing_scores", "--param", 'levels={"a":1}'], "expected numbers, such as [0, 1"),
        (["--study", "missing_scores", "--param", f"n_repeats={10**21}"], "expected a whole number from 1 to 10,000"),
        (["--study", "missing_scores", "--param", "levels=" + "[" * 100_000], "expected numbers, such as [0, 1"),
        (["--study", "corrupted_tasks", "--param", "n_reversed=one"], "expected numbers, such as [1, 2]"),
        (["--study", "ordinal_sensitivity", "--param", "n_top=few"], '`n_top` is "few": expected a value like 5'),
        (["--study", "missing_scores", "--param", "n_repeats"], "--param n_repeats: expected NAME=VALUE"),
        (["--study", "missing_scores", "--param", "n=1"], "--param n=1: the study missing_scores has the parameters"),
        (["--study", "missing_scores", "--param", "n_repeats=many"], "expected a value like 100"),
        (["--study", "missing_scores", "--param", "n_repeats=1.5"], "expected a value like 100"),
        (["--study", "missing_scores", "--param", "levels=a,b"], "expected numbers, such as [0, 1"),
        (["--study", "missing_scores", "--param", "levels=[NaN]"], "expected finite numbers"),
        (["--study", "missing_scores", "--param", "fixed_top=1"], "expected a value like false"),
        (
            ["--study", "missing_scores", "--missing", "drop_tasks"],
            "`missing` is 'drop_tasks'; expected one of median, worst",
        ),
        (["--study", "missing_scores", "--rule", "positional"], "`rules` names 'positional', which needs vector"),
        (
            ["--study", "missing_scores", "--option", "copeland.variant=up"],
            "expected one of difference, lower_with_ties",
        ),
        (["--study", "missing_scores", "--option", "kemeny.seconds=9"], "a time limit makes no variant of a rule"),
        (
            ["--study", "worst_case", "--option", "copeland.variant=lower"],
            "--option is about copeland, and --rule names",
        ),
        (["--study", "diversity", "--option", "copeland.variant=lower"], "not about single rules: leave out --option"),
        (["--study", "missing_scores", "--rule", "borda", "--option", "copeland.variant=lower"], "does not name"),
        (["--study", "missing_scores", "--first", "1"], "`first` is 1; expected a whole number from 2"),
        (["--study", "missing_scores", "--first", "2", "--first-by", "kemeny"], "expected a rule that ranks fast"),
        (["--study", "diversity", "--param", "copied_tasks=z"], "`copied_tasks` names 'z'; there is no such task"),
    ],
)
def test_bad_arguments_end_with_status_2_and_one_line(arguments, message, table, capsys):
    status, out, err = run(capsys, "stability", table, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_the_curve_over_epsilon_and_both_rankings_have_tables_of_their_own(table, capsys):
    weights = ["--param", "least_weights=0.01,1"]
    out = run(capsys, "stability", table, "--study", "cardinal_sensitivity", *weights)[1]
    title = "Share of pairs that weights reverse, by the smallest share that noise preserves (ε)"
    head = "ε     the code's set (scaled), at least  the code's set (scaled), at most  the paper's set (box), at least"
    assert f"\n\n{title}\n{head}" in out
    assert "\n\nRanks before and after, the paper's set (box)\nsystem  before  after\nX " in out
    assert not any(sign in out for sign in ("{", "before 1", "curve"))
    form = ["--format", "csv"]
    lines = run(capsys, "stability", table, "--study", "cardinal_sensitivity", *weights, *form)[1].splitlines()
    ranks = [line for line in lines if line.startswith(",feasible.box.side_by_side.")]
    assert [line.split(",")[1:3] for line in ranks] == [
        [f"feasible.box.side_by_side.{when}", name] for when in ("before", "after") for name in "XYWZ"
    ]
    curve = [line.split(",")[2] for line in lines if line.startswith(",curve.box.discordant_share.lower,")]
    assert curve == ["0.01", "1"]
    assert not any("{" in line for line in lines)


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_formats_have_these_tables_too(form, table, capsys):
    option = ["--param", "least_weights=0.01,1", "--format", form]
    out = run(capsys, "stability", table, "--study", "cardinal_sensitivity", *option)[1]
    assert out.count("before") == 4  # a title and a head for either set
    assert "paper's set (box), at least" in out


def test_a_study_of_one_rule_takes_points_of_ones_own_and_names_whom_it_is_about(table, capsys):
    points = ["--rule", "positional", "--option", "positional.vector=3,1"]
    status, out, _ = run(capsys, "stability", table, "--study", "worst_case", "--param", "change=weights", *points)
    assert status == 0
    assert "\nRanks before and after\nsystem  before  after\nX " in out
    assert "\nChosen: " in out


def test_on_few_systems_the_first_two_are_studied_and_the_table_says_so(table, capsys):
    out = run(capsys, "stability", table, "--study", "ordinal_sensitivity")[1]
    assert "\nThe first fifth of 4 systems has no pair: the first 2 are studied\nTop: X, Y\n" in out


def test_both_readings_of_a_system_drawn_twice_are_side_by_side(table, capsys):
    few = ["--rule", "borda", "--param", "n_trials=5", "--param", "n_resamples=3", "--param", "n_rounds=1"]
    out = run(capsys, "stability", table, "--study", "judge_bootstrap", *few)[1]
    assert "  candidate stability.mean  candidate stability.n undefined  candidate stability copies.mean" in out or (
        "  candidate stability.mean  candidate stability copies.mean" in out
    )


def test_a_study_without_a_file_says_so(capsys):
    assert run(capsys, "stability", "--study", "missing_scores")[2] == (
        "error: stability needs a FILE; --study list alone does without\n"
    )


def test_the_command_finds_what_the_engine_finds(tmp_path, capsys):
    matrix = random_matrix(5, 4, seed=1)
    rows = zip(matrix.system_names, matrix.values.tolist(), strict=True)
    lines = [",".join([name, *map(repr, row)]) for name, row in rows]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["system,t1,t2,t3,t4", *lines]))
    options = ["--param", "n_repeats=2", "--param", "rules=borda,copeland", "--seed", 3, "--format", "json"]
    report = json.loads(run(capsys, "stability", path, "--study", "corrupted_tasks", *options)[1])
    result = run_study("corrupted_tasks", matrix, {"n_repeats": 2, "rules": ["borda", "copeland"]}, seed=3)
    assert report["summary"] == result.summary
    assert report["distribution"]["borda.reversed"] == result.arrays["borda.reversed"].tolist()


INSTANCES = "system,instance,a,b\nX,1,3,1\nX,2,2,1\nY,1,1,2\nY,2,2,0\nZ,1,,\nZ,2,,\n"


def test_instances_prints_three_rankings(tmp_path, capsys):
    path = tmp_path / "instances.csv"
    path.write_text(INSTANCES)
    status, out, _ = run(capsys, "instances", path, "--format", "json")
    report = json.loads(out)
    assert status == 0
    assert list(report) == ["two_level", "one_level", "mean", "first_places", "task_subsets"]
    assert report["one_level"] == {"scores": {"X": 2.5, "Y": 1.5, "Z": None}, "ranks": {"X": 1, "Y": 2, "Z": None}}
    assert report["two_level"]["scores"] == {"X": 1.5, "Y": 0.5, "Z": None}
    assert report["mean"]["scores"]["X"] == 1.75
    assert run(capsys, "instances", path)[1].splitlines()[:8] == [
        "system  Two levels  One level  Mean",
        "X                1          1     1",
        "Y                2          2     2",
        "Z                -          -     -",
        "",
        "Two levels and one level  k = 1  k = 2  k = 3",
        "same systems               1.00   1.00      -",
        "tau-b on these                -   1.00      -",
    ]


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_instances_prints_intervals_in_every_format(form, tmp_path, capsys):
    path = tmp_path / "instances.csv"
    path.write_text("system,instance,a\n" + "".join(f"{s},{u},{u % 3 + (s == 'X')}\n" for s in "XY" for u in range(12)))
    status, out, _ = run(capsys, "instances", path, "--intervals", "--resamples", 20, "--format", form)
    assert status == 0
    if form == "json":
        entry = {"tasks": None, "both": None, "instance_share": None}
        ranks = {"X": {"rank": 1, "instances": [1, 1], **entry}, "Y": {"rank": 2, "instances": [2, 2], **entry}}
        assert json.loads(out)["rank_intervals"] == {"mean": ranks, "places": ranks}
        assert json.loads(out)["differences"] == [
            {
                "systems": ["X", "Y"], "difference": 1.0, "interval": [1.0, 1.0], "n_common": 12,
                "standard_error": None,
                "unpaired_error": pytest.approx((2 * 8 / 11 / 12) ** 0.5), "detectable": None, "task_error": None,
                "instance_share": None,
            }
        ]  # fmt: skip
    elif form != "csv":
        assert "X - Y" in out.replace("\\", "")


def test_instances_says_which_items_separate_systems_and_which_stand_for_all(tmp_path, capsys):
    random = np.random.default_rng(1)
    block = (random.random((12, 40)) < np.linspace(0.2, 0.8, 12)[:, None]).astype(int)
    block[:, 0] = 1
    block[:, 7] = np.arange(12) < 5  # turned: right for the worst systems alone
    path = tmp_path / "instances.csv"
    lines = [f"s{i:02},q{u:02},{block[i, u]}" for i in range(12) for u in range(40)]
    path.write_text("\n".join(["system,instance,a", *lines, ""]))
    report = json.loads(run(capsys, "instances", path, "--items", "--format", "json")[1])["items"]["a"]
    items = task_items(block.astype(float))
    assert (report["n_items"], report["n_all_right"], report["difficulty"][0]) == (40, 1, None)
    assert report["discrimination"][1:] == pytest.approx(items.model.discrimination[1:].tolist(), nan_ok=True)
    assert report["instances"] == [f"q{u:02}" for u in range(40)]
    assert report["anchors"] == [f"q{u:02}" for u in items.anchors.items]
    assert report["suspects"][0] == "q07"
    assert report["n_suspects"] == items.n_suspects
    assert [cost["error"] for cost in report["costs"]] == [one.error for one in items.errors]
    table = run(capsys, "instances", path, "--items")[1]
    lines = [line.split() for line in table.splitlines()]
    counts = lines[next(k for k, line in enumerate(lines) if line[:2] == ["items", "of"]) + 1]
    assert counts[:5] == ["a", "40", "1", "0", str(items.n_suspects)]
    first = lines[next(k for k, line in enumerate(lines) if line[:5] == ["to", "look", "at", "on", "a"]) + 1]
    assert first[:2] == ["q07", f"{items.model.discrimination[7]:.2f}"]


def test_bad_instances_end_with_status_2_and_one_line(tmp_path, capsys):
    path = tmp_path / "instances.csv"
    path.write_text("system,instance,a\nX,1,one\n")
    status, out, err = run(capsys, "instances", path)
    assert (status, out) == (2, "")
    assert err == f"error: {path}, line 2, column 3 (a): 'one' is not a number\n"


def test_a_rule_may_be_given_as_a_bare_word_or_by_its_own_argument(table, capsys):
    """JSON in quotes, a word without quotes, and --rule are the same."""
    reports = []
    for named in (["--param", 'rule="borda"'], ["--param", "rule=borda"], ["--rule", "borda"]):
        status, out, _ = run(capsys, "stability", table, "--study", "significance", *named, "--format", "json")
        assert status == 0
        reports.append(json.loads(out))
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["parameters"]["rule"] == "borda"


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        (["--rule", "copeland", "--option", "copeland.variant=lower"], ["copeland[variant=lower]"]),
        (["--rule", "copeland", "--rule", "copeland[variant=lower]"], ["copeland", "copeland[variant=lower]"]),
        (["--rule", "positional", "--option", "positional.vector=12,10,8"], ["positional[vector=12,10,8]"]),
    ],
)
def test_variants_of_rules_are_studied_under_their_own_names(arguments, rules, table, capsys):
    options = ["--study", "system_additions", "--param", "n_orders=2", "--format", "json"]
    status, out, _ = run(capsys, "stability", table, *options, *arguments)
    assert status == 0
    assert list(json.loads(out)["summary"]["rules"]) == rules


def test_an_option_without_rules_changes_that_rule_among_all(table, capsys):
    options = ["--study", "system_additions", "--param", "n_orders=2", "--option", "copeland.variant=lower"]
    report = json.loads(run(capsys, "stability", table, *options, "--format", "json")[1])
    every = [key for key, rule in RULES.items() if not rule.parameters]
    assert report["parameters"]["rules"] == ["copeland[variant=lower]" if key == "copeland" else key for key in every]


def test_an_experiment_can_be_about_the_first_systems_with_a_task_copied(table, capsys):
    options = ["--study", "task_subsets", "--rule", "borda", "--first", "2", "--param", "copied_tasks=a"]
    report = json.loads(run(capsys, "stability", table, *options, "--format", "json")[1])
    scope = {name: report["parameters"][name] for name in ("first", "copied_tasks")}
    assert scope == {"first": 2, "copied_tasks": ["a"]}
    assert len(report["distribution"]["borda.tau"]) == 5  # sizes, of four tasks and a copy


def test_a_share_of_proven_orders_is_never_rounded_up_to_all():
    entry = {"n_repeats": 2, "of": 100, "n_tables": 2_500, "proven": 0.9996}
    assert slow_rule_notes({"slow_rules": {"kemeny": entry}}) == [
        "Kemeny ranked 2 of 100 repeats; orders proven to be the best: 99.9 % of 2,500"
    ]
    rounds = {"n_resamples": 2, "of_resamples": 20, **entry}
    (note,) = slow_rule_notes({"slow_rules": {"kemeny": rounds}})
    assert note.startswith("Kemeny ranked 2 of 100 repeats, and 2 of 20 resamples in each round; orders proven")


def test_the_lines_of_a_csv_end_with_how_slow_rules_took_part():
    entry = {"n_repeats": 2, "of": 100, "n_tables": 2_500, "proven": 0.9996}
    summary = {"rules": {"kemeny": {"mean": [0.5]}}, "slow_rules": {"kemeny": entry}, "levels": [0]}
    lines = LAYOUT.written({"study": "missing_scores", "summary": summary}, "csv").splitlines()
    assert lines[1] == "kemeny,mean,0,0.5"
    assert lines[2:] == [
        "kemeny,slow_rules.n_repeats,,2", "kemeny,slow_rules.of,,100", "kemeny,slow_rules.n_tables,,2500",
        "kemeny,slow_rules.proven,,0.9996",
    ]  # fmt: skip


def test_score_completion_lists_every_task_and_every_prediction(tmp_path, capsys):
    """Places that are tasks are no curve, of which some places would do."""
    values = random_matrix(12, 8, seed=1, noise=0.2).values.copy()
    values[0, 3] = np.nan
    rows = [["" if np.isnan(value) else f"{value:.6f}" for value in row] for row in values.tolist()]
    names = [f"task {t}" for t in range(8)]
    lines = [["system", *names], *([f"s{i}", *row] for i, row in enumerate(rows))]
    (tmp_path / "scores.csv").write_text("\n".join(map(",".join, lines)))
    out = run(capsys, "stability", tmp_path / "scores.csv", "--study", "score_completion")[1]
    starts = [line.split("  ")[0] for line in out.splitlines()]
    assert [name for name in names if name in starts] == names
    (prediction,) = [line for line in out.splitlines() if line.startswith("s0 ")]
    assert len(prediction.split("  ")) >= 5
    assert "task 3" in prediction
