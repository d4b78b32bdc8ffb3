import itertools
from fractions import Fraction

import numpy as np
import pytest

from ranking_engine import rank
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import run_study
from ranking_engine.stability.sensitivity.ordinal import ordinal_sensitivity


def reversals(before, after):
    return sum(
        (before[i] - before[j]) * (after[i] - after[j]) < 0 for i, j in itertools.combinations(range(len(before)), 2)
    )


@pytest.mark.parametrize("rule", ["borda", "copeland", "plurality", "win_rate[variant=benchbench]", "threshold"])
def test_the_search_finds_the_worst_of_all_sets_of_added_systems(rule):
    matrix = random_matrix(9, 5, seed=8)
    summary = run_study("worst_case", matrix, {"rule": rule, "n_top": 4}).summary
    top = [matrix.system_names.index(name) for name in summary["systems"]]
    others = [i for i in range(9) if i not in top]
    reference = rank(matrix.subset(systems=top), rule).average_ranks
    worst = 0
    for size in range(len(others) + 1):
        for added in itertools.combinations(others, size):
            ranks = rank(matrix.subset(systems=[*top, *added]), rule).average_ranks[: len(top)]
            worst = max(worst, reversals(reference, ranks))
    assert summary["before"] == reference.tolist()
    assert round(summary["discordant_share"] * 6) == worst


def test_what_is_told_is_what_the_rule_gives_with_the_systems_named():
    matrix = random_matrix(20, 7, seed=5)
    summary = run_study("worst_case", matrix, {"rule": "borda", "n_top": 6}).summary
    rows = [matrix.system_names.index(name) for name in [*summary["systems"], *summary["chosen"]]]
    ranks = rank(matrix.subset(systems=rows), "borda").scores[:6]
    assert reversals(summary["before"], summary["after"]) / 15 == pytest.approx(summary["discordant_share"], abs=1e-6)
    assert summary["after"] == [float((ranks > x).sum() + 1 + ((ranks == x).sum() - 1) / 2) for x in ranks]


def test_weights_move_a_ranking_as_far_as_the_proof_for_the_mean_allows():
    matrix = random_matrix(8, 4, seed=2)
    summary = run_study("worst_case", matrix, {"rule": "mean", "change": "weights"}).summary
    proven = run_study("cardinal_sensitivity", matrix, {"feasible": ["box"]}).summary["feasible"]["box"]
    assert 0 < summary["discordant_share"] <= proven["discordant_share"]["upper"] + 1e-6


def test_it_is_no_better_than_the_proven_worst_case_of_the_win_rate():
    matrix = random_matrix(15, 6, seed=3)
    summary = run_study("worst_case", matrix, {"rule": "win_rate[variant=benchbench]", "n_top": 5}).summary
    proven = ordinal_sensitivity(matrix, n_top=5).discordant_share
    assert proven.lower <= summary["discordant_share"] + 1e-6 <= proven.upper + 2e-6


def test_the_same_seed_gives_the_same_and_the_budget_counts_boards():
    matrix = random_matrix(12, 5, seed=6)
    first, again = (run_study("worst_case", matrix, {"rule": "borda", "n_boards": 30}, seed=2) for _ in range(2))
    assert first.summary == again.summary
    assert first.summary["rankings"] <= 30
    assert np.array_equal(first.arrays["chosen"], again.arrays["chosen"])


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"rule": "borda", "n_top": 5}, "5 systems are ranked and 5 are the first"),
        ({"rule": "condorcet"}, "it names a winner and does not rank"),
        ({"rule": "optimality_gap"}, "no optimality threshold"),
    ],
)
def test_it_says_why_there_is_nothing_to_search(parameters, reason):
    with pytest.raises(ValueError, match=reason):
        run_study("worst_case", random_matrix(5, 3, seed=1), parameters)


def worst_of_all(matrix, rule, change, share=Fraction(1, 10)):
    """The most pairs that any choice reverses, and how many some choice does; of 4 systems, and for an ε."""
    ranks = rank(matrix, rule).average_ranks
    names = matrix.system_names
    top = sorted(sorted(range(matrix.n_systems), key=lambda i: (ranks[i], names[i]))[:4])
    others = [i for i in range(matrix.n_systems) if i not in top]
    reference = rank(matrix.subset(systems=top), rule).average_ranks if change == "systems" else ranks[top]
    boards = []
    if change == "systems":
        for size in range(len(others) + 1):
            boards += [matrix.subset(systems=[*top, *added]) for added in itertools.combinations(others, size)]
        rows = [rank(board, rule).average_ranks[:4] for board in boards]
    else:
        for chosen in itertools.product([1, share], repeat=matrix.n_tasks):
            weights = [weight * factor for weight, factor in zip(matrix.weights, chosen, strict=True)]
            boards.append(matrix.with_weights(weights))
        reference, rows = ranks, [rank(board, rule).average_ranks for board in boards]
    pairs = list(itertools.combinations(range(len(reference)), 2))
    turned = {(i, j) for row in rows for i, j in pairs if (reference[i] - reference[j]) * (row[i] - row[j]) < 0}
    return max(reversals(reference, row) for row in rows), len(turned), len(pairs)


EXACT = ["borda", "borda[ties=average]", "copeland", "win_rate", "win_rate[variant=benchbench]", "average_rank", "mean"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", [*EXACT, "plurality", "dowdall", "positional[vector=5,3,1]"])
def test_no_set_of_added_systems_reverses_more_pairs_than_is_proven(rule, seed):
    matrix = random_matrix(8, 4, seed=seed, n_levels=7, weights=[1, 2, 1, 1])
    worst, n_turned, n_pairs = worst_of_all(matrix, rule, "systems")
    summary = run_study("worst_case", matrix, {"rule": rule, "n_top": 4}).summary
    upper = round(summary["discordant_upper"] * n_pairs)
    assert round(summary["discordant_share"] * n_pairs) == worst <= n_turned <= upper
    if rule in EXACT:  # a pair is counted if and only if some choice reverses it
        assert upper == n_turned


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", ["mean", "borda", "dowdall", "plurality", "win_rate", "optimality_gap"])
def test_no_weights_reverse_more_pairs_than_is_proven(rule, seed):
    matrix = random_matrix(6, 5, seed=seed, n_levels=9).with_gamma(95.0)
    share = (Fraction(1, 10), Fraction(2, 5), Fraction(7, 10))[seed]
    worst, n_turned, n_pairs = worst_of_all(matrix, rule, "weights", share)
    parameters = {"rule": rule, "change": "weights", "least_weight": float(share)}
    summary = run_study("worst_case", matrix, parameters).summary
    assert summary["least_weight"] == float(share)
    upper = round(summary["discordant_upper"] * n_pairs)
    assert round(summary["discordant_share"] * n_pairs) == worst <= n_turned == upper


@pytest.mark.parametrize(
    ("rule", "change", "reason"),
    [
        ("minimax", "systems", "none is known for Minimax"),
        ("dowdall[ties=average]", "systems", "tied systems share points"),
        ("median", "weights", "scores under Median are no sums over the tasks of this board"),
    ],
)
def test_where_nothing_is_proven_the_study_says_why(rule, change, reason):
    summary = run_study("worst_case", random_matrix(8, 4, seed=1), {"rule": rule, "change": change, "n_top": 4}).summary
    assert (summary["discordant_upper"], summary["no_upper"]) == (None, reason)


@pytest.mark.parametrize(("share", "expected"), [(0.4, 1.0), (0.6, 0.0), (1.0, 0.0), (0.3333, 1.0), (0.001, 1.0)])
def test_a_task_keeps_the_very_share_that_is_stated(share, expected):
    """A leads by 2.2 on the first task and B by 1 on the second: they change places below 1 / 2.2."""
    parameters = {"rule": "mean", "change": "weights", "least_weight": share}
    summary = run_study("worst_case", ScoreMatrix([[2.2, 0.0], [0.0, 1.0]]), parameters).summary
    assert (summary["discordant_share"], summary["discordant_upper"]) == (expected, expected)
    assert summary["least_weight"] == pytest.approx(share, abs=1e-4)
