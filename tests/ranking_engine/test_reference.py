"""The peers' answers on published leaderboards."""

from __future__ import annotations

import numpy as np
import pytest

from ranking_engine import Pairwise, ScoreMatrix, condorcet_winner, rank, smith_set, weak_condorcet_winners
from ranking_engine.core.comparison import agreement_rate, compare_ranks, kendall_tau, kendall_w, task_ranks
from ranking_engine.files.tables import read_table, write_table
from tests.reference import (
    reference_answers,
    reference_folder,
    reference_leaderboards,
    reference_matrix,
)

VOTENRANK_RULES = {
    "mean_arithmetic": ("mean", {}),
    "plurality": ("plurality", {}),
    "borda": ("borda", {}),
    "dowdall": ("dowdall", {}),
    "optimality_gap_95": ("optimality_gap", {}),
    **{f"copeland_{v}": ("copeland", {"variant": v}) for v in ("difference", "lower", "upper", "lower_with_ties")},
    **{f"minimax_{v}": ("minimax", {"variant": v}) for v in ("winning_votes", "margins", "pairwise_opposition")},
}
VOTENRANK_FILES = [
    ("votenrank-superglue", "votenrank-superglue"),
    ("votenrank-value-nohuman", "votenrank-value"),
    ("votenrank-value-missing", "votenrank-value"),
]
NATIVE = {name for name in VOTENRANK_RULES if name.startswith(("copeland", "minimax"))}
MEDIAN = {"mean_arithmetic", "optimality_gap_95"}  # it imputes the task's median under these

# Its tie number counts scores that differ by a rounding error as two: ERNIE 3.0 and DeBERTa both have -5.45625.
ROUNDING = {("votenrank-superglue", "optimality_gap_95"): 1}


def matrix_of(answers, leaderboard: str) -> ScoreMatrix:
    matrix = reference_matrix(leaderboard)
    rows = [matrix.system_names.index(name) for name in answers["models"]]
    return matrix.subset(rows)


def scores_by_name(matrix, ranking):
    return dict(zip(matrix.system_names, ranking.scores.tolist(), strict=True))


def assert_same_scores(matrix, ranking, expected):
    got = scores_by_name(matrix, ranking)
    assert set(got) == set(expected)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES)
@pytest.mark.parametrize("name", list(VOTENRANK_RULES))
def test_scores_winners_and_ties_are_those_of_votenrank(file, leaderboard, name):
    answers = reference_answers(file)
    matrix = matrix_of(answers, leaderboard).with_gamma(95)
    rule, options = VOTENRANK_RULES[name]
    if answers["is_partial"] and name not in NATIVE | MEDIAN:  # it gives a missing task no points
        ranking = rank(matrix, rule, missing="undefined", **options)
        assert (ranking.status, ranking.reason) == (
            "undefined",
            "5 missing scores (1 of 7 systems lacks at least one)",
        )
        return
    ranking = rank(matrix, rule, missing="median", **options)
    assert_same_scores(matrix, ranking, answers["rankings"][name]["scores"])
    assert ranking.n_tied - ROUNDING.get((file, name), 0) == answers["rankings"][name]["ties"]
    assert {matrix.system_names[i] for i in ranking.winners} == set(answers["winners"][name])


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES)
def test_geometric_means_are_those_of_votenrank(file, leaderboard):
    """Its NaN stand for systems with a score <= 0, be it on a task of weight 0; they are left out here."""
    answers = reference_answers(file)
    expected = {
        name: score for name, score in answers["rankings"]["mean_geometric"]["scores"].items() if score is not None
    }
    matrix = matrix_of({"models": list(expected)}, leaderboard)
    missing = "median" if answers["is_partial"] else "undefined"
    assert_same_scores(matrix, rank(matrix, "geometric_mean", missing=missing), expected)


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES[:2])
@pytest.mark.parametrize("rule", ["threshold", "baldwin"])
def test_winners_of_rules_without_scores_are_those_of_votenrank(file, leaderboard, rule):
    """Not VALUE with missing scores: there its Baldwin fails, and its threshold takes a gap for never last."""
    answers = reference_answers(file)
    matrix = matrix_of(answers, leaderboard)
    assert {matrix.system_names[i] for i in rank(matrix, rule).winners} == set(answers["winners"][rule])


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES)
def test_the_majority_relation_and_the_condorcet_winner_are_those_of_votenrank(file, leaderboard):
    answers = reference_answers(file)
    matrix = matrix_of(answers, leaderboard)
    pairwise, names = Pairwise.of(matrix), matrix.system_names
    value = np.where(pairwise.beats, 1.0, np.where(pairwise.beats.T, 0.0, 0.5))
    np.fill_diagonal(value, 1.0)
    assert {a: dict(zip(names, value[i], strict=True)) for i, a in enumerate(names)} == answers["majority_graph"]
    winner = condorcet_winner(pairwise)
    assert ([] if winner is None else [names[winner]]) == answers["winners"]["condorcet"]


def unweighted(leaderboard: str, systems: list[str]) -> ScoreMatrix:
    matrix = reference_matrix(leaderboard)
    return matrix.subset([matrix.system_names.index(name) for name in systems]).with_weights([1] * matrix.n_tasks)


PREFVOTING = [("prefvoting-superglue22", "votenrank-superglue"), ("prefvoting-vtab", "bb-vtab")]


@pytest.mark.parametrize(("file", "leaderboard"), PREFVOTING)
def test_scores_are_those_of_pref_voting(file, leaderboard):
    answers = reference_answers(file)
    matrix = unweighted(leaderboard, answers["systems"])
    ties = answers["ties"]
    assert_same_scores(matrix, rank(matrix, "borda"), ties["domination_borda_scores"])
    weak = {name: score - matrix.n_tasks for name, score in ties["weak_domination_borda_scores"].items()}
    assert_same_scores(matrix, rank(matrix, "borda", ties="best"), weak)
    middle = (matrix.n_systems - 1) * matrix.n_tasks / 2
    average = {name: middle + score / 2 for name, score in ties["symmetric_borda_scores"].items()}
    assert_same_scores(matrix, rank(matrix, "borda", ties="average"), average)
    assert_same_scores(matrix, rank(matrix, "copeland"), ties["copeland_scores"])
    assert_same_scores(matrix, rank(matrix, "minimax"), ties["minimax_scores_winning"])
    opposition = rank(matrix, "minimax", variant="pairwise_opposition")
    assert_same_scores(matrix, opposition, ties["minimax_scores_pairwise_opposition"])


@pytest.mark.parametrize(("file", "leaderboard"), PREFVOTING)
def test_minimax_margins_are_those_of_pref_voting_where_no_system_beats_all(file, leaderboard):
    answers = reference_answers(file)
    matrix = unweighted(leaderboard, answers["systems"])
    got = scores_by_name(matrix, rank(matrix, "minimax", variant="margins"))
    floored = {name: min(score, 0.0) for name, score in got.items()}  # it floors a Condorcet winner at 0
    assert floored == answers["ties"]["minimax_scores_margins"]


@pytest.mark.parametrize(("file", "leaderboard"), PREFVOTING)
def test_choice_sets_are_those_of_pref_voting(file, leaderboard):
    answers = reference_answers(file)
    matrix = unweighted(leaderboard, answers["systems"])
    assert {matrix.system_names[i] for i in smith_set(matrix)} == set(answers["ties"]["smith_top_cycle"])
    weak = {matrix.system_names[i] for i in weak_condorcet_winners(matrix)}
    assert weak == set(answers["ties"]["weak_condorcet"])


STRICT_RULES = {
    "plurality": "plurality",
    "anti_plurality": "veto",
    "dowdall": "dowdall",
    "borda": "borda",
    "baldwin": "baldwin",
    "strict_nanson": "nanson",
    "instant_runoff": "instant_runoff",
    "coombs": "coombs",  # it stops at a majority of first places; here the winners are the same
    "copeland": "copeland",
}


@pytest.mark.parametrize(("file", "leaderboard"), PREFVOTING)
@pytest.mark.parametrize("name", list(STRICT_RULES))
def test_winners_without_ties_within_tasks_are_those_of_pref_voting(file, leaderboard, name):
    """Its answers on strict profiles, which break the ties within a task by the order of the systems."""
    answers = reference_answers(file)
    matrix = unweighted(leaderboard, answers["systems"])
    position = np.argsort(np.argsort(-matrix.values, axis=0, kind="stable"), axis=0, kind="stable")
    ranking = rank(matrix.with_values(-position), STRICT_RULES[name])
    assert {matrix.system_names[i] for i in ranking.winners} == set(answers["strict"][name])


@pytest.mark.parametrize(
    ("file", "leaderboard"), [("ranky-superglue22", "votenrank-superglue"), ("ranky-vtab", "bb-vtab")]
)
def test_scores_are_those_of_ranky(file, leaderboard):
    answers = reference_answers(file)
    matrix, rules = unweighted(leaderboard, answers["systems"]), answers["rules"]
    assert_same_scores(matrix, rank(matrix, "mean"), rules["score_mean"]["values"])
    copeland = rank(matrix, "copeland", variant="lower_with_ties")
    assert_same_scores(matrix, copeland, rules["copeland"]["values"])
    mean_rank = rules["borda_mean_rank_lower_better"]["values"]
    average = {name: matrix.n_tasks * (matrix.n_systems - value) for name, value in mean_rank.items()}
    assert_same_scores(matrix, rank(matrix, "borda", ties="average"), average)
    negated = {name: -value for name, value in mean_rank.items()}
    assert_same_scores(matrix, rank(matrix, "average_rank"), negated)
    assert_same_scores(matrix, rank(matrix, "median"), rules["majority_median"]["values"])
    assert_same_scores(matrix, rank(matrix, "plurality"), rules["uninominal"]["values"])


@pytest.mark.parametrize(
    ("file", "leaderboard"), [("ranky-superglue22", "votenrank-superglue"), ("ranky-vtab", "bb-vtab")]
)
def test_concordance_is_that_of_ranky(file, leaderboard):
    answers = reference_answers(file)
    ranks, metrics = task_ranks(unweighted(leaderboard, answers["systems"])), answers["metrics"]
    assert kendall_w(ranks) == pytest.approx(metrics["kendall_w"], abs=1e-12)
    assert kendall_w(ranks, is_tie_corrected=True) == pytest.approx(metrics["kendall_w_ties"], abs=1e-12)
    comparison = compare_ranks(ranks)
    pairs = np.triu_indices(len(ranks), 1)
    assert comparison.kendall_tau[pairs].mean() == pytest.approx(metrics["concordance_kendalltau"], abs=1e-12)
    assert comparison.spearman[pairs].mean() == pytest.approx(metrics["concordance_spearman"], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "leaderboard"),
    [
        ("SuperGLUE", "bb-superglue8"),
        ("OpenLLM", "bb-openllm"),
        ("BigBenchHard", "bb-bbh"),
        ("VTAB", "bb-vtab"),
    ],
)
def test_diversity_of_complete_leaderboards_is_that_of_benchbench_with_average_ranks(name, leaderboard):
    """Its own figure truncates average ranks to integers; the reference holds both, and W stands for 1 - W."""
    expected = reference_answers("benchbench-checks")[name]
    matrix = reference_matrix(leaderboard)
    ranks = task_ranks(matrix.with_values(np.round(matrix.values, 9)))  # SuperGLUE has 75.69999999999999 and 75.7
    assert 1 - kendall_w(ranks) == pytest.approx(expected["W_average_ranks"], abs=1e-12)
    assert 1 - kendall_w(ranks, is_tie_corrected=True) == pytest.approx(expected["W_tie_corrected"], abs=1e-12)
    changes = compare_ranks(ranks).max_rank_change[np.triu_indices(len(ranks), 1)]
    assert changes.mean() == pytest.approx(expected["MRC_mean_what_the_code_returns"], abs=1e-12)
    assert changes.max() == pytest.approx(expected["MRC_max_what_the_docstring_says"], abs=1e-12)


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES)
def test_tau_with_the_mean_is_that_of_the_scores_of_votenrank(file, leaderboard):
    """Its own taus correlate names in alphabetical order; the reference holds tau-b of its scores too.

    Left out: the geometric mean, which is NaN for some, positional rules on VALUE with missing scores, and the
    optimality gap on SuperGLUE, in which a rounding error breaks a tie.
    """
    answers = reference_answers(file)
    matrix = matrix_of(answers, leaderboard).with_gamma(95)
    expected = answers["agreement"]["kendall_tau_b_scores_vs_mean"]
    mean = rank(matrix, "mean", missing="median")
    names = NATIVE | MEDIAN if answers["is_partial"] else set(VOTENRANK_RULES)
    for name in names - {"mean_arithmetic"} - {name for at, name in ROUNDING if at == file}:
        rule, options = VOTENRANK_RULES[name]
        tau = kendall_tau(mean, rank(matrix, rule, missing="median", **options))
        assert tau == pytest.approx(expected[name], abs=1e-12), name


@pytest.mark.parametrize(("file", "leaderboard"), VOTENRANK_FILES[:2])
def test_agreement_with_the_mean_is_that_of_votenrank_for_rules_without_ties(file, leaderboard):
    """With ties its rates depend on the order of rows, so that rules with ties are left out."""
    answers = reference_answers(file)
    matrix, agreement = matrix_of(answers, leaderboard).with_gamma(95), answers["agreement"]
    columns = {"OG": "optimality_gap", "Dowdall": "dowdall", "Borda": "borda", "Copeland": "copeland"}
    mean = rank(matrix, "mean")
    compared = 0
    for column, rule in columns.items():
        if not agreement["tie_numbers_rank_all"][column]:
            for key, least in (("agreement_top", False), ("agreement_least", True)):
                for k, rates in agreement[key].items():
                    rate = agreement_rate(mean, rank(matrix, rule), int(k), least=least)
                    assert rate == pytest.approx(rates[column], abs=0.005), (column, k)
                    compared += 1
    assert compared >= 12


def test_open_llm_has_no_condorcet_winner_and_a_smith_set_of_all():
    matrix = reference_matrix("bb-openllm")
    assert condorcet_winner(matrix) is None
    assert len(smith_set(matrix)) == matrix.n_systems == 100


def test_most_of_helm_efficiency_has_no_score_and_is_unranked_by_every_rule():
    matrix = reference_matrix("bb-helm-efficiency")
    unscored = np.flatnonzero(~matrix.has_score)
    assert len(unscored) == 41
    for rule in ("copeland", "minimax"):
        ranking = rank(matrix, rule)
        assert {ranking.unranked_reasons[i] for i in unscored} == {"no score on any task of weight above 0"}
        assert set(ranking.unranked_reasons) == set(unscored.tolist())


def test_every_published_table_is_read_and_written_without_losing_a_bit():
    names = reference_leaderboards()
    assert len(names) >= 40
    for name in names:
        original = read_table(reference_folder() / "data" / name / "scores.csv")
        matrix = reference_matrix(name)
        again = read_table(write_table(matrix).encode())
        np.testing.assert_array_equal(again.values, original.values)
        assert (again.system_names, again.task_names) == (original.system_names, original.task_names)
