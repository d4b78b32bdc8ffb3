"""A system that is drawn k times takes part k times: the short way against a board that has it k times."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from ranking_engine import ScoreMatrix, rank
from reproduction.drawn_copies import RULES, Comparisons, criteria, totals

ENGINE_RULES = {
    "mean": ("mean", {}),
    "median": ("median", {}),
    "average_rank": ("average_rank", {}),
    "success_rate": ("win_rate", {"variant": "success_rate"}),
    "relative_difference": ("relative_difference", {}),
    "copeland": ("copeland", {}),
}


@pytest.mark.parametrize("seed", range(12))
def test_drawn_systems_rank_as_on_a_board_that_has_each_of_them_as_often(seed):
    random = np.random.default_rng(seed)
    scores = random.integers(1, 5, (5, 4)).astype(float)
    copies, draws = (np.bincount(random.integers(n, size=n), minlength=n).astype(float) for n in scores.shape)
    rows, columns = np.repeat(np.arange(5), copies.astype(int)), np.repeat(np.arange(4), draws.astype(int))
    board = ScoreMatrix(scores[np.ix_(rows, columns)])
    drawn = totals(Comparisons.of(scores), copies, draws)
    assert {rule: rankdata(-drawn[rule][rows]).tolist() for rule in RULES} == {
        rule: rank(board, key, **options).average_ranks.tolist() for rule, (key, options) in ENGINE_RULES.items()
    }


def test_the_relative_difference_of_ranks_is_that_of_a_board_of_ranks_where_lower_is_better():
    scores = np.random.default_rng(1).integers(1, 9, (6, 5)).astype(float)
    ranks = ScoreMatrix(rankdata(-scores, axis=0), directions=[-1] * 5)
    drawn = totals(Comparisons.of(scores, of_ranks=True), np.ones(6), np.ones(5))["relative_difference"]
    assert rankdata(-drawn).tolist() == rank(ranks, "relative_difference").average_ranks.tolist()


def test_rules_that_look_at_own_scores_alone_are_perfectly_stable_when_systems_are_drawn():
    scores = np.random.default_rng(2).normal(size=(7, 6))
    stability = {rule: values[-1] for rule, values in criteria(scores, 3, 1, 10).items()}
    assert (stability["mean"], stability["median"]) == (1.0, 1.0)
    assert max(stability[rule] for rule in ("average_rank", "success_rate", "relative_difference")) < 1


def test_the_condorcet_rate_of_copeland_is_one():
    assert criteria(np.random.default_rng(3).normal(size=(6, 9)), 40, 1, 4)["copeland"][1] == 1.0
