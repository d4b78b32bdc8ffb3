"""Consistency and participation of whole rankings: boards worked by hand, and what the search says of them."""

import itertools
import statistics

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from reproduction.order_properties import CONSISTENCY, PARTICIPATION, loses_ground, violation


def order_by(score, rows):
    """Ranks 1, 2, 2, 4 by a score of each row, higher being better."""
    values = [score(row) for row in rows]
    return [1 + sum(other > value for other in values) for value in values]


def test_a_median_is_not_consistent_where_two_parts_agree_and_their_union_does_not():
    counterexample = violation("median", {}, CONSISTENCY)
    rows = counterexample.board.values.tolist()
    rest = [t for t in range(counterexample.board.n_tasks) if t not in counterexample.tasks]
    orders = [
        order_by(statistics.median, [[row[t] for t in tasks] for row in rows])
        for tasks in (counterexample.tasks, rest, range(counterexample.board.n_tasks))
    ]
    assert orders[0] == orders[1] != orders[2]


def test_a_task_that_leaves_can_cost_a_system_below_by_the_median():
    counterexample = violation("median", {}, PARTICIPATION)
    rows, (gone,) = counterexample.board.values.tolist(), counterexample.tasks
    before = order_by(statistics.median, rows)
    after = order_by(statistics.median, [[x for t, x in enumerate(row) if t != gone] for row in rows])
    worse = [
        (u, v)
        for u, v in itertools.permutations(range(len(rows)), 2)
        if rows[u][gone] > rows[v][gone] and np.sign(after[v] - after[u]) > np.sign(before[v] - before[u])
    ]
    assert worse


def test_ground_is_lost_by_a_system_that_was_level_or_ahead():
    task = np.array([2.0, 1.0])
    ahead, level, behind = ([2, 1], [1, 1], [1, 2])
    for before, after, is_lost in [
        (ahead, level, True), (level, behind, True), (ahead, behind, True), (behind, level, False),
        (level, level, False), (behind, behind, False),
    ]:  # fmt: skip
        assert loses_ground(task, np.array(before, np.int32), np.array(after, np.int32)) is is_lost


@pytest.mark.parametrize("prop", [CONSISTENCY, PARTICIPATION])
def test_copeland_violates_both_and_the_average_rank_neither(prop):
    assert violation("copeland", {}, prop) is not None
    assert violation("average_rank", {}, prop) is None


def test_sums_are_consistent_on_every_board_of_three_systems_and_strict_orders():
    orders = list(itertools.permutations([1.0, 2.0, 3.0]))
    for tasks in itertools.product(orders, repeat=4):
        values = np.array(tasks).T
        first, second, whole = (
            rank(ScoreMatrix(part), "borda").ranks for part in (values[:, :2], values[:, 2:], values)
        )
        assert (first != second).any() or (whole == first).all()
