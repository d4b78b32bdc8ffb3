from __future__ import annotations

import csv
import io
import json

import pytest

from ranking_engine import ScoreMatrix, listed_rules
from ranking_engine.command_line import main
from ranking_engine.stability.separability.task_likeness import task_likeness

TOY = "system,1,2,3,4,5\nA,4,4,1,1,1\nB,3,1,4,3,3\nC,2,3,2,4,2\nD,1,2,3,2,4\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TOY)
    return path


def run(capsys, *arguments):
    status = main(["compare", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def run_json(capsys, *arguments):
    status, out, _ = run(capsys, *arguments, "--format", "json")
    assert status == 0
    return json.loads(out)


TWO = ("--rule", "borda", "--rule", "plurality")


def test_json_holds_every_measure_rule_by_rule(toy, capsys):
    report = run_json(capsys, toy, *TWO, "--rule", "condorcet")
    assert list(report) == [
        "aggregation", "missing", "condorcet_winner", "smith_set", "choice_sets", "reference", "systems",
        "rules", "not_compared", "n_common", "kendall_tau", "spearman", "normalized_distance",
        "max_rank_change", "kendall_distance", "agreement_top", "agreement_least", "rank_changes", "map", "tasks",
    ]  # fmt: skip
    assert (report["aggregation"], report["missing"], report["reference"]) == ("basic", "undefined", "borda")
    assert report["rules"]["plurality"] == {
        "name": "Plurality",
        "n_ranked": 4,
        "n_tied": 2,
        "n_in_ties": 3,
        "dispersion_to": 3.3,
        "weighted_distance": 16.5,
        "kemeny_excess": None,
        "kemeny_excess_share": None,
        "options": {"ties": "worst"},
    }
    assert report["not_compared"] == {"condorcet": "it names a winner and does not rank"}
    assert report["n_common"]["borda"] == {"borda": 4, "plurality": 4}
    assert report["kendall_tau"]["borda"] == pytest.approx({"borda": 1, "plurality": -(0.5**0.5)})
    assert report["kendall_distance"]["plurality"] == {"borda": 4.5, "plurality": 0}
    assert report["normalized_distance"]["plurality"] == {"borda": 0.75, "plurality": 0}
    assert report["max_rank_change"]["borda"]["plurality"] == 1
    assert list(report["agreement_top"]) == ["1", "3", "5", "7"]
    assert report["agreement_top"]["1"]["borda"] == {"borda": 1, "plurality": 0}
    assert report["agreement_top"]["7"]["borda"] == {"borda": None, "plurality": None}
    assert report["rank_changes"]["plurality"] == {"A": 3, "B": -2, "C": -1, "D": 0}
    assert [member["name"] for member in report["map"]["members"]] == ["borda", "plurality", *"12345"]
    assert (report["map"]["share"], report["map"]["left_out"]) == (pytest.approx(0.86, abs=0.01), [])
    likeness = report["tasks"].pop("likeness")
    assert report["tasks"].pop("groups") == {"groups": [], "pairs": []}
    assert likeness["tasks"] == list("12345")
    columns = [[float(cell) for cell in line.split(",")[1:]] for line in TOY.splitlines()[1:]]
    engine = task_likeness(ScoreMatrix(columns))
    assert likeness["effective_number"] == pytest.approx(engine.effective_number)
    assert [merge[3] for merge in likeness["merges"]] == [merge.size for merge in engine.merges]
    assert report["tasks"] == pytest.approx(
        {
            "n_complete": 4,
            "kendall_w": 0.04,
            "kendall_w_tie_corrected": 0.04,
            "diversity": 0.96,
            "dispersion": 3.6,
        }
    )


def test_all_rules_are_compared_or_say_why_not(toy, capsys):
    report = run_json(capsys, toy)
    assert sorted([*report["rules"], *report["not_compared"]]) == sorted(listed_rules())
    assert report["not_compared"]["optimality_gap"].startswith("no optimality threshold")


def test_rank_changes_count_from_the_reference(toy, capsys):
    report = run_json(capsys, toy, *TWO, "--reference", "plurality")
    assert report["rank_changes"]["borda"] == {"A": -3, "B": 2, "C": 1, "D": 0}


def test_csv_has_a_row_for_each_pair(toy, capsys):
    _, out, _ = run(capsys, toy, *TWO, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["rule"], row["other"]) for row in rows] == [
        ("borda", "borda"),
        ("borda", "plurality"),
        ("plurality", "borda"),
        ("plurality", "plurality"),
    ]
    assert rows[1] == {
        "rule": "borda", "other": "plurality", "n_common": "4", "kendall_tau": "-0.7071067811865476",
        "spearman": "-0.7745966692414834", "normalized_distance": "0.75", "max_rank_change": "1.0",
        "kendall_distance": "4.5", "agreement_top_1": "0.0", "agreement_top_3": "0.6666666666666666",
        "agreement_top_5": "", "agreement_top_7": "", "agreement_least_3": "0.6666666666666666",
        "agreement_least_7": "", "n_ranked": "4", "n_tied": "0", "n_in_ties": "0", "dispersion_to": "2.4",
        "weighted_distance": "12.0", "kemeny_excess": "", "kemeny_excess_share": "",
    }  # fmt: skip


def test_the_table_shows_matrices_rates_and_changes(toy, capsys):
    _, out, _ = run(capsys, toy, *TWO)
    assert out.splitlines()[:5] == [
        "Kendall's tau-b",
        "",
        "            Borda  Plurality",
        "Borda       1.000     -0.707",
        "Plurality  -0.707      1.000",
    ]
    assert "Agreement with Borda; ties; mean Kendall distance to the tasks; weight of tasks against it\n" in out
    row = "Plurality  -0.707  0.000  0.667      -      -    0.667        -     2        3              3.300"
    assert f"\n{row}{'16.500':>16}{'-':>18}{'-':>12}\n" in out
    assert "system  Plurality\nA              +3\nB              -2\nC              -1\nD               0\n" in out
    assert out.endswith(
        "mean Kendall distance of two tasks 3.600\nEffective number of tasks: 2.0 of 5\nMissing scores: undefined\n"
    )


def test_markdown_and_latex_have_the_same_tables(toy, capsys):
    _, markdown, _ = run(capsys, toy, *TWO, "--format", "markdown")
    assert "### Spearman's correlation\n\n|  | Borda | Plurality |\n| --- | ---: | ---: |\n" in markdown
    _, latex, _ = run(capsys, toy, *TWO, "--format", "latex")
    assert latex.count("\\begin{tabular}{lrr}") == 5  # four matrices and the map
    assert "Borda & 1.000 & -0.707 \\\\\n" in latex


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_where_no_rule_ranks_there_is_a_reason_and_no_matrix(toy, capsys, form):
    toy.write_text("system,a,b\nA,1,\nB,,3\n")
    status, out, _ = run(capsys, toy, "--rule", "mean", "--format", form)
    assert status == 0
    assert ("2 missing scores" in out) == (form != "csv")
    assert "tabular" not in out


def test_a_reference_that_gives_no_ranking_ends_with_status_2(toy, capsys):
    status, out, err = run(capsys, toy, "--rule", "borda", "--rule", "optimality_gap", "--reference", "optimality_gap")
    assert (status, out) == (2, "")
    assert err.startswith("error: --reference optimality_gap gives no ranking to compare with: no optimality")
    status, _, err = run(capsys, toy, "--rule", "borda", "--reference", "mean")
    assert (status, err) == (2, "error: --reference mean gives no ranking to compare with; name it with --rule\n")


def test_beside_kemeny_every_rule_says_how_far_it_is_from_the_optimum(toy, capsys):
    report = run_json(capsys, toy, *TWO, "--rule", "kemeny")
    excess = {key: (entry["kemeny_excess"], entry["kemeny_excess_share"]) for key, entry in report["rules"].items()}
    assert excess == {"borda": (0, 0), "plurality": (4.5, 4.5 / 12), "kemeny": (0, 0)}
    details = report["rules"]["kemeny"]["details"]
    assert (details["distance"], details["lower_bound"], details["proven"], details["unique"]) == (12, 12, True, True)
    _, out, _ = run(capsys, toy, *TWO, "--rule", "kemeny")
    assert "Kemeny: distance 12 to the tasks, proven the least; no other order has it\n" in out
    stepped = run_json(capsys, toy, *TWO, "--rule", "kemeny", "--aggregation", "two_step")
    assert stepped["rules"]["borda"]["kemeny_excess"] is None


def test_choice_sets_are_told_beside_the_measures(toy, capsys):
    toy.write_text("system,a,b,c\nA,3,1,2\nB,2,3,1\nC,1,2,3\nD,0,0,0\n")
    _, out, _ = run(capsys, toy, *TWO)
    assert out.endswith(
        "Smith set: A, B, C\nCondorcet loser: D\nSchwartz set: A, B, C\nUncovered set: A, B, C\n"
        "Essential set: A, B, C\nCycle: A beats B beats C beats A\n"
        "Tasks: Kendall's W 0.600 (corrected for ties 0.600) over 4 complete systems; "
        "mean Kendall distance of two tasks 2.000\nEffective number of tasks: 2.3 of 3\nMissing scores: undefined\n"
    )


def test_agreement_is_told_for_the_places_asked_for(toy, capsys):
    report = run_json(capsys, toy, *TWO, "--top", "2", "--top", "1", "--least", "4")
    assert (list(report["agreement_top"]), list(report["agreement_least"])) == (["1", "2"], ["4"])
    with pytest.raises(SystemExit) as caught:
        run(capsys, toy, "--top", "0")
    assert caught.value.code == 2
    assert "argument --top: '0' is not a number of places; expected 1, 2, 3, ..." in capsys.readouterr().err
