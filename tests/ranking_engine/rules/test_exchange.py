"""Dynascore: scores in the unit of one task, against the mean of quotients of neighbours, one by one."""

import math
from itertools import pairwise

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.exchange import exchange_rates
from ranking_engine.stability.catalogue import run_study


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_divided_by_the_mean_quotient_of_neighbours(seed):
    values = np.abs(random_matrix(6, 3, seed=seed).values) * [1.0, 50.0, 0.1]
    directions, weights = [1, -1, 1], [1, 2, 1]
    matrix = ScoreMatrix(values, task_names=["accuracy", "time", "size"], directions=directions, weights=weights)
    order = sorted(range(6), key=lambda i: values[i, 0])
    rates = [
        sum(abs(values[b, t] - values[a, t]) / abs(values[b, 0] - values[a, 0]) for a, b in pairwise(order)) / 5
        for t in range(3)
    ]
    expected = [
        sum(w * d * x / rate for w, d, x, rate in zip(weights, directions, row, rates, strict=True)) / 4
        for row in values.tolist()
    ]
    ranking = rank(matrix, "mean[unit=accuracy]")
    assert ranking.scores.tolist() == pytest.approx(expected)
    assert list(ranking.details["exchange_rates"].values()) == pytest.approx(rates)
    assert rates[0] == pytest.approx(1)


def test_systems_that_tie_on_the_unit_are_one_step_and_small_steps_are_none():
    scores = np.array([[1.0, 10.0], [1.0, 20.0], [2.0, 25.0], [2.0001, 90.0]])
    assert exchange_rates(scores, 0).tolist() == [1.0, 10.0]


def test_another_unit_of_a_task_changes_nothing():
    matrix = random_matrix(6, 3, seed=8)
    names = matrix.task_names
    other = ScoreMatrix(matrix.values * [1.0, 1000.0, 0.01])
    rule = f"mean[unit={names[0]}]"
    assert rank(matrix, rule).scores.tolist() == pytest.approx(rank(other, rule).scores.tolist())
    assert rank(matrix, "mean").ranks.tolist() != rank(other, "mean").ranks.tolist()


def test_a_task_on_which_all_are_equal_adds_nothing_and_cannot_be_the_unit():
    matrix = ScoreMatrix([[1.0, 5.0], [2.0, 5.0]], task_names=["a", "flat"])
    assert rank(matrix, "mean[unit=a]").scores.tolist() == [0.5, 1.0]
    flat, nowhere = rank(matrix, "mean[unit=flat]"), rank(matrix, "mean[unit=b]")
    assert (flat.status, flat.reason) == (
        "undefined",
        "no two neighbours on flat differ by more than 0.01% of its largest score",
    )
    assert (nowhere.status, nowhere.reason) == (
        "undefined",
        "there is no task 'b' of weight above 0 whose unit could be taken",
    )


def test_it_has_a_name_needs_all_scores_and_is_studied():
    rule = get_rule("mean[unit=accuracy]")
    assert (rule.name, rule.needs_complete) == ("Mean (in the unit of accuracy)", True)
    gaps = ScoreMatrix([[1.0, math.nan], [2.0, 3.0], [1.0, 1.0]], task_names=["a", "b"])
    assert rank(gaps, "mean[unit=a]").ranks.tolist() == [-1, 1, 2]
    matrix = random_matrix(6, 4, seed=1)
    rules = ["mean", f"mean[unit={matrix.task_names[1]}]"]
    summary = run_study("task_subsets", matrix, {"rules": rules, "n_repeats": 3, "n_best": 3}).summary
    assert list(summary["rules"]) == rules


def test_a_task_on_which_only_systems_differ_that_tie_on_the_unit_has_no_rate():
    matrix = ScoreMatrix([[0.0, 1.0], [0.0, 3.0], [1.0, 2.0]], task_names=["a", "b"])
    ranking = rank(matrix, "mean[unit=a]")
    assert (ranking.status, ranking.reason) == (
        "undefined",
        "systems that differ on b do not differ enough on a for a rate",
    )
