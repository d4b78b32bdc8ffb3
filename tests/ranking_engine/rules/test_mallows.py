"""Mallows' likelihood of Kemeny's order, against all orders and their probabilities one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.command_line.rank import rule_notes
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.mallows import dispersion, distance_variance, mean_distance

GRID = np.linspace(0, 6, 601)


def distance(order, other):
    """Pairs that two orders, best first, put differently."""
    return sum(other.index(i) > other.index(j) for i, j in itertools.combinations(order, 2))


def likelihoods(matrix, consensus, thetas):
    """The log-likelihood of all tasks at each theta, with the sum over all orders in the denominator."""
    orders = [tuple(np.argsort(-column).tolist()) for column in matrix.scores.T]
    apart = np.array([distance(order, consensus) for order in orders])
    weights = np.array([float(w) for w in matrix.weights])
    all_apart = [distance(order, consensus) for order in itertools.permutations(consensus)]
    totals = np.log([sum(math.exp(-theta * d) for d in all_apart) for theta in thetas])
    return -thetas * (weights * apart).sum() - weights.sum() * totals


@pytest.mark.parametrize("kind", ["skill", "uniform"])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("weights", [None, [1, 3, "1/2", 2, 1]], ids=["equal", "unequal"])
def test_no_order_and_no_dispersion_make_the_tasks_likelier(n, kind, weights):
    matrix = random_matrix(n, 5, seed=n + 1, kind=kind, weights=weights)
    ranking = rank(matrix, "kemeny")
    fit = ranking.details["mallows"]
    best = tuple(np.argsort(ranking.ranks).tolist())
    if fit["theta"] is None:
        assert ranking.details["distance"] == 0
        return
    here = likelihoods(matrix, best, np.array([fit["theta"]]))[0]
    assert fit["log_likelihood"] == pytest.approx(here, rel=1e-9)
    elsewhere = [likelihoods(matrix, order, GRID).max() for order in itertools.permutations(range(n))]
    assert max(elsewhere) <= here + 1e-9
    assert max(elsewhere) == pytest.approx(here, abs=0.01)  # the grid comes that close


def test_at_the_fitted_dispersion_the_mean_distance_is_that_of_the_tasks():
    for n, mean in [(2, 0.1), (5, 3.0), (5, 4.9999999), (30, 40.0), (1000, 200_000.0), (1000, 1.0)]:
        theta = dispersion(n, mean)
        assert mean_distance(theta, n) == pytest.approx(mean, rel=1e-6)
    assert dispersion(5, 5.0) == 0.0
    assert math.isinf(dispersion(5, 0.0))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[1, 2]], "one system has one order only"),
        ([[1, 2], [2, np.nan]], "some scores are missing: the model is about complete orders"),
        ([[1, 2], [2, 2]], "some tasks have ties: the model is about orders without ties"),
    ],
)
def test_without_complete_orders_there_is_a_reason_instead(values, reason):
    fit = rank(ScoreMatrix(values), "kemeny").details["mallows"]
    assert fit == {"theta": None, "log_likelihood": None, "standard_error": None, "reason": reason}


def test_tasks_that_agree_fit_the_better_the_greater_the_dispersion():
    fit = rank(ScoreMatrix([[1, 2], [2, 3]]), "kemeny").details["mallows"]
    assert (fit["theta"], fit["log_likelihood"]) == (None, 0.0)
    assert fit["reason"].startswith("all tasks have the same order")


def test_the_command_line_says_the_dispersion_or_why_there_is_none():
    details = {"mallows": {"theta": 0.25, "log_likelihood": -12.5, "standard_error": 0.0312, "reason": ""}}
    assert rule_notes("kemeny", {"name": "Kemeny", "details": details}) == [
        "Kemeny: Mallows' model fits with dispersion 0.25 ± 0.031 (standard error), log-likelihood -12.5"
    ]
    details = {"mallows": {"theta": None, "log_likelihood": None, "reason": "some scores are missing"}}
    assert rule_notes("kemeny", {"name": "Kemeny", "details": details}) == [
        "Kemeny: no dispersion of Mallows' model is fitted: some scores are missing"
    ]


@pytest.mark.parametrize("theta", [0.0, 0.02, 0.5, 3.0])
def test_the_variance_is_that_of_all_orders_by_their_probabilities(theta):
    apart = np.array([distance(order, tuple(range(5))) for order in itertools.permutations(range(5))])
    chance = np.exp(-theta * apart) / np.exp(-theta * apart).sum()
    variance = (chance * apart**2).sum() - (chance * apart).sum() ** 2
    assert distance_variance(theta, 5) == pytest.approx(variance, rel=1e-6)
    assert distance_variance(50.0, 1000) == pytest.approx(999 * math.exp(-50.0), rel=1e-6)


def mallows_orders(theta, n, n_tasks, generator):
    """Orders from the model by repeated insertion: item j goes up by k places with probability exp(-theta k) / Z."""
    sums = [np.cumsum(np.exp(-theta * np.arange(j + 1))) for j in range(n)]
    columns = []
    for _ in range(n_tasks):
        order = []
        for j in range(n):
            order.insert(j - int(sums[j].searchsorted(generator.random() * sums[j][-1], side="right")), j)
        columns.append([n - order.index(j) for j in range(n)])
    return np.array(columns).T


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4, 5] * 8], ids=["equal", "unequal"])
def test_errors_are_the_spread_of_fits_over_boards_of_the_model(weights):
    """200 boards of 40 tasks: estimates are at most one in fifty above the truth, and errors within an eighth."""
    generator = np.random.default_rng(0)
    fits = [
        rank(ScoreMatrix(mallows_orders(0.6, 5, 40, generator), weights=weights), "kemeny").details["mallows"]
        for _ in range(200)
    ]
    thetas = np.array([fit["theta"] for fit in fits])
    assert 0 <= thetas.mean() / 0.6 - 1 < 0.02
    assert np.mean([fit["standard_error"] for fit in fits]) == pytest.approx(thetas.std(), rel=0.125)


def test_the_copies_of_a_task_in_its_cluster_make_theta_no_more_certain():
    orders = mallows_orders(0.6, 5, 4, np.random.default_rng(1))
    names = ["a", "b", "c", "d"]
    alone, copied, in_groups, independent = (
        rank(board, "kemeny").details["mallows"]
        for board in (
            ScoreMatrix(orders),
            ScoreMatrix(np.tile(orders, 4), clusters=names * 4),
            ScoreMatrix(np.tile(orders, 4), groups=names * 4),
            ScoreMatrix(np.tile(orders, 4)),
        )
    )
    assert copied["theta"] == in_groups["theta"] == independent["theta"] == pytest.approx(alone["theta"])
    expected = pytest.approx(alone["standard_error"])
    assert copied["standard_error"] == in_groups["standard_error"] == expected
    assert 2 * independent["standard_error"] == expected


def test_random_orders_have_a_dispersion_above_0_if_there_are_few_tasks():
    """The manual says so: 0.28 of 8 systems on 6 tasks, 2.5 times the standard error."""
    generator = np.random.default_rng(0)
    fits = [
        rank(ScoreMatrix(np.array([generator.permutation(8) for _ in range(6)]).T), "kemeny").details["mallows"]
        for _ in range(100)
    ]
    assert np.mean([fit["theta"] for fit in fits]) == pytest.approx(0.28, abs=0.02)
    assert np.mean([fit["theta"] / fit["standard_error"] for fit in fits]) == pytest.approx(2.5, abs=0.2)


def test_at_dispersion_0_there_is_no_error():
    orders = np.array(list(itertools.permutations(range(4)))).T
    fit = rank(ScoreMatrix(orders), "kemeny").details["mallows"]
    assert (fit["theta"], fit["standard_error"]) == (0.0, None)
