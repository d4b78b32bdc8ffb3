"""Manipulated tasks on made-up scores, against the ranking of every such board by itself."""

import itertools
import tracemalloc

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import estimate_study, run_study
from ranking_engine.stability.studies.manipulated_tasks import NUMBER_OF_STUDY, made_up_scores
from ranking_engine.stability.study import generator

RULES = ["mean", "borda", "copeland", "plurality", "median", "minimax"]


def distance(ranks):
    """Kendall's distance to 1, 2, 3, ... by its definition: opposed pairs and half of the tied ones, over all."""
    pairs = list(itertools.combinations(range(len(ranks)), 2))
    return sum(1.0 if ranks[i] > ranks[j] else 0.5 if ranks[i] == ranks[j] else 0.0 for i, j in pairs) / len(pairs)


@pytest.mark.parametrize("manipulation", ["fixed", "reversed"])
def test_the_curve_is_that_of_ranking_each_made_up_board_alone(manipulation):
    board = ScoreMatrix(random_matrix(6, 4, seed=3).values, weights=[1, 2, 1, 1])
    own = {"n_repeats": 5, "strength": 0.4, "n_instances": 3, "manipulation": manipulation, "rules": RULES}
    result = run_study("manipulated_tasks", board, own, seed=9)
    assert result.summary["n_manipulated"] == [0, 1, 2, 3, 4]
    for repeat in range(5):
        random = generator(9, NUMBER_OF_STUDY, repeat)
        honest, manipulated = made_up_scores(6, 4, own, random)
        order = random.permutation(4)
        for r in range(5):
            values = honest.copy()
            values[:, order[:r]] = manipulated[:, order[:r]]
            for rule in RULES:
                ranks = rank(ScoreMatrix(values, weights=[1, 2, 1, 1]), rule).ranks
                assert result.arrays[f"{rule}.distance"][repeat, r] == pytest.approx(distance(ranks)), (rule, r)
    for rule in RULES:
        means = result.arrays[f"{rule}.distance"].mean(axis=0)
        assert result.summary["rules"][rule]["distance"] == pytest.approx(means.tolist(), abs=1e-6)
        first = next((r for r in range(5) if means[r] > 0.5), None)
        assert result.summary["rules"][rule]["first_beyond"] == first


def test_scores_are_utilities_with_the_noise_of_gumbel():
    drawn = made_up_scores(3, 2, {"strength": 2.0, "n_instances": 1, "manipulation": "fixed"}, generator(1, 2))
    noise = generator(1, 2).gumbel(size=(3, 2, 1))[:, :, 0]
    assert np.allclose(drawn[0], noise - 2.0 * np.arange(3)[:, None])
    assert drawn[1].tolist() == [[0, 0], [1, 1], [2, 2]]
    own = {"strength": 2.0, "n_instances": 400_000, "manipulation": "reversed"}
    assert np.allclose(made_up_scores(2, 1, own, generator(3, 4))[1].ravel(), [0.5772, 2.5772], atol=0.02)


def test_one_task_with_large_gaps_decides_the_mean_and_not_borda():
    board = random_matrix(10, 11, seed=1)
    rules = run_study(
        "manipulated_tasks", board, {"strength": 0.01, "n_repeats": 20, "rules": ["mean", "borda"]}
    ).summary
    firsts = {rule: of_rule["first_beyond"] for rule, of_rule in rules["rules"].items()}
    assert firsts["mean"] == 1
    assert rules["rules"]["mean"]["distance"][1] > rules["rules"]["borda"]["distance"][1]


def test_a_board_with_gaps_gives_the_number_of_its_systems_and_voting_tasks():
    board = ScoreMatrix([[1.0, np.nan, 3.0], [2.0, 1.0, np.nan], [np.nan] * 3], weights=[1, 1, 0])
    summary = run_study("manipulated_tasks", board, {"n_repeats": 2, "rules": ["borda"]}).summary
    assert (summary["n_systems"], summary["n_tasks"], summary["n_manipulated"]) == (2, 2, [0, 1, 2])


def test_more_scores_than_there_may_be_are_refused_before_any_is_drawn():
    reason, seconds = estimate_study("manipulated_tasks", random_matrix(300, 30, seed=1), {"n_instances": 10_000})
    assert (reason, seconds) == ("300 systems, 30 tasks and 10,000 instances make more than 20,000,000 scores", 0.0)


def test_planning_draws_one_number_a_score_however_many_instances_there_are():
    board = random_matrix(40, 10, seed=1)
    tracemalloc.start()
    reason, seconds = estimate_study("manipulated_tasks", board, {"n_instances": 10_000, "rules": ["borda"]})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (reason, seconds > 0) == ("", True)
    assert peak < 40 * 10 * 10_000  # bytes: the noise of all instances takes eight times as many
