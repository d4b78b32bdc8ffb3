"""Closest orders against every order there is, and distances against their definitions, pair by pair."""

import itertools

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.closest_orders import (
    MEASURES,
    closest_order,
    largest_distance,
    mean_distance,
    task_shares,
)
from ranking_engine.core.comparison import task_ranks


def distance(measure: str, first: list[float], second: list[float]) -> float:
    """One distance between two rows of ranks, by its definition; not yet a share."""
    n = len(first)
    moves = [abs(a - b) for a, b in zip(first, second, strict=True)]
    if measure == "kendall":
        total = 0.0
        for i, j in itertools.combinations(range(n), 2):
            a, b = first[i] - first[j], second[i] - second[j]
            total += 1 if a * b < 0 else 0.5 if (a == 0) != (b == 0) else 0
        return total
    if measure == "spearman":
        is_flat = len(set(first)) == 1 or len(set(second)) == 1
        return 0.5 if is_flat else (1 - float(np.corrcoef(first, second)[0, 1])) / 2
    return float({"footrule": sum(moves), "squares": sum(m * m for m in moves), "places": sum(m > 0 for m in moves)}[
        measure
    ])  # fmt: skip


def boards():
    """Small boards with ties within tasks and weights, one with a task that ties all."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        values = random.integers(0, 4, size=(5, 4)).astype(float)
        if seed == 0:
            values[:, 1] = 2
        yield ScoreMatrix(values, weights=random.integers(1, 4, size=4).tolist())


@pytest.mark.parametrize("measure", MEASURES)
def test_the_largest_distance_is_that_of_the_two_orders_furthest_apart(measure):
    for n in (2, 3, 4, 5):
        start = [float(place) for place in range(1, n + 1)]
        furthest = max(distance(measure, start, list(order)) for order in itertools.permutations(start))
        assert largest_distance(measure, n) == pytest.approx(furthest)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_mean_distance_is_the_weighted_mean_of_the_definitions(measure):
    for board in boards():
        of_tasks = task_ranks(board).tolist()
        weights = [float(weight) for weight in board.weights]
        for ranks in ([1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 1.5, 4.0, 4.0, 4.0]):
            each = [distance(measure, ranks, row) for row in of_tasks]
            mean = sum(w * d for w, d in zip(weights, each, strict=True)) / sum(weights)
            mine = mean_distance(measure, np.array(ranks), task_ranks(board), task_shares(board))
            assert mine == pytest.approx(mean / largest_distance(measure, 5))


@pytest.mark.parametrize("measure", [measure for measure in MEASURES if measure != "kendall"])
def test_no_order_is_closer_than_the_closest(measure):
    for board in boards():
        of_tasks, shares = task_ranks(board), task_shares(board)
        places = closest_order(measure, of_tasks, shares)
        assert sorted(places.tolist()) == [1, 2, 3, 4, 5]
        mine = mean_distance(measure, places.astype(float), of_tasks, shares)
        orders = (np.array(order, dtype=float) for order in itertools.permutations(range(1, 6)))
        assert mine == pytest.approx(min(mean_distance(measure, order, of_tasks, shares) for order in orders))


def test_without_ties_the_closest_order_by_squares_is_that_of_the_average_ranks():
    board = ScoreMatrix(np.argsort(np.random.default_rng(4).random((7, 9)), axis=0))
    ranks = rank(board, "average_rank").average_ranks
    assert len(set(ranks.tolist())) == 7
    for measure in ("squares", "spearman"):
        assert closest_order(measure, task_ranks(board), task_shares(board)).tolist() == ranks.tolist()


def test_kendalls_distance_is_left_to_kemenys_rule():
    board = next(boards())
    with pytest.raises(ValueError, match="the rule kemeny gives the closest order"):
        closest_order("kendall", task_ranks(board), task_shares(board))
