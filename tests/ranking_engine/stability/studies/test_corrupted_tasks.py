from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix, rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.comparison import kendall_distance
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.studies.corrupted_tasks import reversed_scores, sizes
from ranking_engine.stability.study import generator
from tests.ranking_engine.strategies import matrices

STUDY = STUDIES["corrupted_tasks"]


def naive_distance(part, rule, corrupted, tasks):
    scores = part.scores.copy()
    scores[:, tasks] = corrupted[:, tasks]
    before, after = rank(part, rule), rank(part.with_values(scores * part.directions), rule, missing="undefined")
    return kendall_distance(before, after, normalized=True)


def assert_same_as_naive(matrix, parameters):
    result = run_study("corrupted_tasks", matrix, parameters, seed=2)
    numbers = sizes(matrix, STUDY.with_defaults(parameters))
    for rule in result.summary["rules"]:
        part = (complete(matrix, "drop_systems") if get_rule(rule).needs_complete else scored_part(matrix)).matrix
        turned = reversed_scores(part)
        for (repeat, k), value in np.ndenumerate(result.arrays[f"{rule}.reversed"]):
            tasks = generator(2, 4, repeat, numbers[k]).permutation(part.n_tasks)[: numbers[k]]
            expected = naive_distance(part, rule, turned, tasks)
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (rule, tasks)
        for (k, t), value in np.ndenumerate(result.arrays[f"{rule}.scaled"]):
            expected = naive_distance(part, rule, part.scores * parameters["factors"][k], [t])
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (rule, k, t)
    return result


@settings(max_examples=10, deadline=None)
@given(matrices(max_systems=5, max_tasks=3, scales=True))
def test_every_rule_moves_as_when_matrices_are_ranked_one_by_one(matrix):
    parameters = {"n_repeats": 1, "factors": [0.5, 100.0]}
    if not STUDY.why_not(matrix, STUDY.with_defaults(parameters)):
        assert_same_as_naive(matrix, parameters)


@pytest.mark.parametrize(
    "options",
    [{"n_levels": 4}, {"missing": 0.3}, {"weights": [2, 1, "1/3", "1/7", 1, 1]}],
    ids=["ties", "gaps", "fractions"],
)
def test_larger_matrices_move_as_when_ranked_one_by_one(options):
    base = random_matrix(11, 6, seed=3, **options)
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, gamma=2.0, maximum=[9] * 6, chance=[0.1] * 6)
    assert_same_as_naive(matrix, {"n_repeats": 1, "factors": [10.0]})


def test_reversing_every_task_turns_a_ranking_round_and_none_is_half_way():
    matrix = ScoreMatrix([[3, 30], [2, 20], [1, 10], [0, 0]])
    summary = run_study("corrupted_tasks", matrix, {"rules": ["borda", "mean"], "factors": [1.0]}).summary
    assert summary["n_reversed"] == [1, 2]
    assert summary["rules"]["borda"]["reversed"] == [0.5, 1.0]  # all tie, or all are opposed
    assert summary["rules"]["mean"]["reversed"][1] == 1.0
    assert summary["rules"]["mean"]["scaled"] == [0.0]


def test_multiplying_a_task_moves_the_mean_and_never_an_order():
    matrix = random_matrix(8, 5, seed=1)
    rules = run_study("corrupted_tasks", matrix, {"rules": ["mean", "borda", "copeland", "threshold"]}).summary["rules"]
    assert rules["mean"]["scaled_largest"][-1] > 0
    for rule in ("borda", "copeland", "threshold"):
        assert rules[rule]["scaled_largest"] == [0.0] * 6


def test_reversal_keeps_the_extremes_the_ties_and_the_gaps():
    matrix = ScoreMatrix([[0.1, np.nan], [0.3, 2.0], [0.3, 2.0], [0.7, 5.0]], directions=[1, -1])
    np.testing.assert_allclose(reversed_scores(matrix).T, [[0.7, 0.5, 0.5, 0.1], [np.nan, -5, -5, -2]], atol=1e-15)


def test_the_numbers_of_reversed_tasks_are_few_and_evenly_spread():
    parameters = STUDY.with_defaults({})
    assert sizes(random_matrix(3, 5, seed=0), parameters) == [1, 2, 3, 4, 5]
    spread = sizes(random_matrix(3, 100, seed=0), parameters)
    assert (len(spread), spread[0], spread[-1]) == (20, 1, 100)
    assert sizes(random_matrix(3, 5, seed=0), {**parameters, "n_reversed": [2, 9]}) == [2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_repeats": 0}, "`n_repeats` is 0; expected a whole number from 1 to 10,000"),
        ({"factors": [0]}, "`factors` is 0; expected a number from 1e-12 to 1e+12"),
        ({"factors": [1, 1e13]}, "`factors` is 10000000000000.0; expected a number from 1e-12 to 1e+12"),
        ({"n_reversed": [0]}, "`n_reversed` is 0; expected a whole number from 1 to 1,000,000"),
    ],
)
def test_bad_parameters_are_named_with_their_bounds(parameters, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        run_study("corrupted_tasks", random_matrix(4, 4, seed=0), parameters)
