from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kendalltau, spearmanr

from ranking_engine import RULES, UNRANKED, ScoreMatrix, rank
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.studies.missing_scores import filled_levels, with_gaps
from tests.ranking_engine.strategies import matrices
from tests.reference import reference_answers, reference_matrix

STUDY = STUDIES["missing_scores"]
PAPER = {"AM": "mean", "Minimax": "minimax", "Copeland": "copeland", "OG": "optimality_gap"}


OF_TWO = {"spearman": spearmanr, "kendall": kendalltau}


def naive_correlation(reference, noisy, top, fixed_top, correlation):
    """Correlate two rankings on the systems of the first `top` ranks of one of them."""
    leading = reference if fixed_top else noisy
    chosen = [
        i
        for i, place in enumerate(leading.ranks)
        if UNRANKED < place <= top and noisy.ranks[i] != UNRANKED and reference.ranks[i] != UNRANKED
    ]
    first, second = reference.ranks[chosen], noisy.ranks[chosen]
    if len(set(first)) < 2 or len(set(second)) < 2:
        return np.nan
    return OF_TWO[correlation](first, second).statistic


def assert_same_as_naive(matrix, **parameters):
    result = run_study("missing_scores", matrix, parameters, seed=3)
    options = STUDY.with_defaults(parameters)
    part = scored_part(matrix).matrix
    for name, values in result.arrays.items():
        if name.endswith(".proven"):
            assert values.all()
            continue
        rule, _, figure = name.partition(".")
        if figure.startswith("filled_"):
            assert_filled_as_naive(part, rule, figure.removeprefix("filled_"), values, options)
            continue
        reference = rank(part, rule, missing=options["missing"])
        for (repeat, level), value in np.ndenumerate(values):
            gaps = with_gaps(part, options["levels"][level], 3, repeat, level)
            noisy = rank(part.with_values(gaps * part.directions), rule, missing=options["missing"])
            expected = naive_correlation(reference, noisy, options["top"], options["fixed_top"], figure)
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (rule, repeat, level)
    return result


def assert_filled_as_naive(part, rule, policy, values, parameters):
    """Every rule, also one that needs no policy, on tables whose gaps are filled."""

    def ranked(matrix):
        kept = complete(matrix, policy)
        ranking = rank(kept.matrix, rule)
        scores = np.full(matrix.n_systems, np.nan)
        scores[kept.systems] = ranking.scores
        return Ranking.from_scores(rule, scores)

    reference = ranked(part)
    places = filled_levels(parameters["levels"])
    for (repeat, k), value in np.ndenumerate(values):
        gaps = with_gaps(part, parameters["levels"][places[k]], 3, repeat, places[k])
        noisy = ranked(part.with_values(gaps * part.directions))
        expected = naive_correlation(
            reference, noisy, parameters["top"], parameters["fixed_top"], parameters["correlation"]
        )
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (rule, policy, repeat, k)


def test_borda_and_win_rate_differ_by_how_gaps_are_filled_and_by_nothing_else():
    """On complete tables without ties both give one order, so that on tables filled alike their figures are equal."""
    matrix = random_matrix(30, 9, seed=4, noise=1.0)
    rules = run_study("missing_scores", matrix, {"n_repeats": 30, "levels": [0, 10]}, seed=1).summary["rules"]
    borda, win_rate = rules["borda"], rules["win_rate"]
    assert win_rate["mean"][1] > borda["mean"][1] + 0.02
    assert borda["filled"]["median"]["mean"][0] == borda["mean"][1]
    assert borda["filled"]["median"] == {"levels": [10], "mean": [borda["mean"][1]]}
    average_rank = rules["average_rank"]["filled"]["median"]["mean"][0]
    assert win_rate["filled"]["median"]["mean"][0] == pytest.approx(average_rank, abs=1e-12)
    assert set(win_rate["filled"]) == {"median", "worst"}


@settings(max_examples=8, deadline=None)
@given(
    matrices(max_systems=6, scales=True),
    st.booleans(),
    st.sampled_from(["median", "worst"]),
    st.sampled_from([*OF_TWO]),
)
def test_every_rule_correlates_as_when_ranked_one_by_one(matrix, fixed_top, missing, correlation):
    parameters = {"n_repeats": 2, "levels": [0, 30, 70], "top": 3, "fixed_top": fixed_top, "missing": missing}
    parameters["correlation"] = correlation
    if STUDY.why_not(matrix, STUDY.with_defaults(parameters)):
        return
    result = assert_same_as_naive(matrix, **parameters)
    assert {name.partition(".")[0] for name in result.arrays} | set(result.summary["not_studied"]) == {
        key for key, rule in RULES.items() if not rule.parameters
    }


@pytest.mark.parametrize(
    "options",
    [{}, {"n_levels": 4}, {"missing": 0.3}, {"weights": [2, 1, "1/3", "1/7", 1, 1]}],
    ids=["strict", "ties", "gaps", "fractions"],
)
def test_larger_matrices_correlate_as_when_ranked_one_by_one(options):
    base = random_matrix(12, 6, seed=3, **options)
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, gamma=2.0, maximum=[9] * 6, chance=[0.1] * 6)
    result = assert_same_as_naive(matrix, n_repeats=2, levels=[0, 5, 25])
    assert set(result.summary["not_studied"]) == {"condorcet"} | (
        {"bradley_terry"} & set(result.summary["not_studied"])
    )


def test_weights_beyond_exact_floats_are_ranked_one_by_one():
    matrix = ScoreMatrix(random_matrix(5, 4, seed=1).values, weights=[2**60 + 1, 2**60, 1, 1])
    assert_same_as_naive(matrix, n_repeats=2, levels=[0, 20], rules=["borda", "copeland", "baldwin"])


def test_a_slow_rule_ranks_tables_with_gaps_and_filled_ones_of_the_same_fewer_repeats():
    matrix = random_matrix(12, 4, seed=2, noise=1.0)
    parameters = {"rules": ["soft_condorcet", "borda"], "n_repeats": 9, "levels": [5, 20], "top": 5}
    every_repeat = run_study("missing_scores", matrix, parameters | {"budget": 1e6, "more_repeats": 1.0}, seed=1)
    fewer = run_study("missing_scores", matrix, parameters | {"budget": 0.01, "more_repeats": 1.0}, seed=1)
    slow = fewer.summary["slow_rules"]["soft_condorcet"]
    assert 2 <= slow["n_repeats"] < 9
    step = -(-9 // slow["n_repeats"])
    assert fewer.arrays.keys() == every_repeat.arrays.keys()
    assert {"soft_condorcet.filled_median", "borda.filled_worst"} < fewer.arrays.keys()
    for name, values in every_repeat.arrays.items():
        ranked = values[::step] if name.startswith("soft_condorcet.") else values
        assert np.array_equal(fewer.arrays[name], ranked, equal_nan=True), name


def test_the_share_of_observed_voting_scores_is_deleted_and_nothing_else():
    matrix = random_matrix(10, 5, seed=0, missing=0.2)
    gaps = with_gaps(matrix, 25, 0, 0, 0)
    assert np.isnan(matrix.scores).sum() == 10
    assert np.isnan(gaps).sum() == 20
    assert np.isnan(gaps[np.isnan(matrix.scores)]).all()
    assert not np.array_equal(gaps, with_gaps(matrix, 25, 0, 0, 1), equal_nan=True)


def test_the_summary_holds_the_curves_and_why_rules_are_left_out():
    matrix = random_matrix(8, 4, seed=2)
    parameters = {"n_repeats": 5, "levels": [0, 10], "rules": ["borda", "optimality_gap", "kemeny"], "budget": 0}
    summary = run_study("missing_scores", matrix, parameters).summary
    assert summary["rules"]["borda"]["mean"][0] == 1.0
    assert summary["rules"]["borda"]["deviation"][0] == 0.0
    assert summary["rules"]["borda"]["n_undefined"] == [0, 0]
    assert set(summary["rules"]) == {"borda"}
    assert summary["not_studied"]["optimality_gap"].startswith("no optimality threshold")
    assert summary["not_studied"]["kemeny"].startswith("ranking 2 of 5 repeats would take about")


def test_a_correlation_that_does_not_exist_is_counted_apart():
    matrix = ScoreMatrix(np.arange(12.0).reshape(6, 2))
    summary = run_study("missing_scores", matrix, {"n_repeats": 3, "levels": [0], "top": 5, "rules": ["veto"]}).summary
    nothing = {"levels": [0], "mean": [None]}
    assert summary["rules"]["veto"] == {
        "mean": [None],
        "deviation": [None],
        "n_undefined": [3],
        "filled": {"median": nothing, "worst": nothing},
    }


@pytest.mark.parametrize("name", ["votenrank-value", "votenrank-superglue"])
def test_the_curves_are_those_of_the_paper_within_sampling_error(name):
    """The peer's 20 repeats have other random numbers, and break ties at place 7 by an unstable sort.

    The mean over the 20 levels with gaps of its and our curves is compared. Levels and repeats are independent, so
    its standard error is known; ours may differ by 4 of them (chance alone passes that once in 16,000 figures, there
    are 8) and by 0.01 for the peer's ties.
    """
    matrix = reference_matrix(name).with_gamma(95)
    matrix = matrix.subset(systems=np.flatnonzero(matrix.is_complete))
    answers = reference_answers("votenrank-nan-stability")[name.removeprefix("votenrank-")]["repeats"]
    result = run_study("missing_scores", matrix, {"rules": list(PAPER.values())})
    for their_name, rule in PAPER.items():
        theirs = np.array([repeat[their_name] for repeat in answers])[:, 1:]
        ours = result.arrays[f"{rule}.spearman"][:, 1:]
        error = np.sqrt((np.nanvar(theirs, axis=0) / len(theirs) + np.nanvar(ours, axis=0) / len(ours)).sum()) / 20
        difference = abs(np.nanmean(theirs, axis=0).mean() - np.nanmean(ours, axis=0).mean())
        assert difference < 4 * error + 0.01, rule


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"missing": "drop_systems"}, "`missing` is 'drop_systems'; this study expects one of median, worst"),
        ({"n_repeats": 0}, "`n_repeats` is 0"),
        ({"levels": [100]}, "`levels` is"),
        ({"top": 1}, "`top` is 1"),
        ({"rules": ["bordo"]}, "`rule` is 'bordo'"),
        ({"rules": ["positional"]}, "`rules` names 'positional', which needs vector"),
        ({"tops": 1}, "`tops` is no parameter of the study missing_scores"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        run_study("missing_scores", random_matrix(4, 4, seed=0), parameters)


def test_a_task_that_loses_all_its_scores_leaves_the_geometric_mean_defined():
    """As where one matrix is ranked, whose empty task is left out; only scores that count have to be positive."""
    nan = float("nan")
    matrix = ScoreMatrix([[3, 2, nan], [2, 3, nan], [1, 1, 5], [5, 1.5, nan]])
    parameters = {"rules": ["geometric_mean", "mean"], "levels": [0, 10, 20]}
    rules = run_study("missing_scores", matrix, parameters).summary["rules"]
    assert [rules[rule]["n_undefined"] for rule in parameters["rules"]] == [[0, 0, 0]] * 2
