import itertools

import numpy as np
import pytest

from ranking_engine import rank
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
        ({"rule": "condorcet"}, "it elects and does not rank"),
        ({"rule": "optimality_gap"}, "no optimality threshold"),
    ],
)
def test_it_says_why_there_is_nothing_to_search(parameters, reason):
    with pytest.raises(ValueError, match=reason):
        run_study("worst_case", random_matrix(5, 3, seed=1), parameters)
