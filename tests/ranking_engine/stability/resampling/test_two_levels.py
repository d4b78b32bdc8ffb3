from __future__ import annotations

import random
import statistics

import numpy as np
import pytest

from ranking_engine.core.instances import InstanceScores
from ranking_engine.stability.resampling.two_levels import DESIGNS, LEAST_TASKS, two_level_intervals

NAMES = tuple("ABCDE")


def some_scores(seed, n_tasks=9, n_instances=25, n_systems=4, missing=0.0):
    drawn = np.random.default_rng(seed)
    blocks = []
    for t in range(n_tasks):
        skill = drawn.normal(0.5, 0.1, n_systems)
        block = (drawn.random((n_systems, n_instances + t % 3)) < skill[:, None]).astype(float)
        block[drawn.random(block.shape) < missing] = np.nan
        blocks.append(block)
    directions = tuple(1 if t % 2 else -1 for t in range(n_tasks))
    return InstanceScores(NAMES[:n_systems], tuple(f"t{t}" for t in range(n_tasks)), tuple(blocks), directions)


def drawn_again(scores, design, chance):
    """The tasks of one draw in plain loops: lists of columns, each with the scores of all systems."""
    tasks = [[list(column) for column in block.T] for block in scores.oriented()]
    if design in ("tasks", "both"):
        tasks = [chance.choice(tasks) for _ in tasks]
    if design in ("instances", "both"):
        tasks = [[chance.choice(columns) for _ in columns] for columns in tasks]
    return tasks


def by_definition(tasks, n_systems):
    """By statistic the value of each system."""
    means, places = [[] for _ in range(n_systems)], [[] for _ in range(n_systems)]
    for columns in tasks:
        of_task = {}
        for i in range(n_systems):
            values = [column[i] for column in columns if column[i] == column[i]]
            if values:
                of_task[i] = sum(values) / len(values)
        for i, mean in of_task.items():
            rivals = [other for j, other in of_task.items() if j != i]
            ahead = sum((mean > other + 1e-12) + (abs(mean - other) <= 1e-12) / 2 for other in rivals)
            means[i].append(mean)
            places[i].append(ahead / max(1, len(rivals)))
    return {"mean": [statistics.mean(row) for row in means], "places": [statistics.mean(row) for row in places]}


def rank_of(values, i):
    return 1 + sum(other > values[i] + 1e-11 for other in values)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_ranks_intervals_and_shares_are_those_of_plain_loops(missing):
    scores = some_scores(3, n_tasks=8, n_systems=3, missing=missing, n_instances=12)
    n, chance = scores.n_systems, random.Random(4)
    fast = two_level_intervals(scores, n_resamples=1000, seed=2)
    once = by_definition([[list(column) for column in block.T] for block in scores.oriented()], n)
    draws = {design: [by_definition(drawn_again(scores, design, chance), n) for _ in range(200)] for design in DESIGNS}
    for statistic, intervals in fast.items():
        assert intervals.ranks.tolist() == [rank_of(once[statistic], i) for i in range(n)]
        variance = {}
        for design in DESIGNS:
            values = [draw[statistic] for draw in draws[design]]
            for i in range(n):
                ranks = sorted(rank_of(draw, i) for draw in values)
                assert abs(intervals.lower[design][i] - ranks[5]) <= 1
                assert abs(intervals.upper[design][i] - ranks[195]) <= 1
            leads = [[value - statistics.mean(draw) for value in draw] for draw in values]
            variance[design] = [statistics.pvariance([lead[i] for lead in leads]) for i in range(n)]
        n_tasks = len(scores.task_names)
        pairs = zip(variance["instances"], variance["tasks"], strict=True)
        shares = [min(1.0, a / (b * n_tasks / (n_tasks - 1))) for a, b in pairs]
        assert intervals.instance_share == pytest.approx(shares, abs=0.15)


def test_shares_of_the_mean_are_those_of_the_exact_variances():
    scores = some_scores(5, n_tasks=12, n_instances=40)
    leads = [block - block.mean(axis=0) for block in scores.oriented()]
    of_instances = sum(lead.var(axis=1) / lead.shape[1] for lead in leads) / len(leads) ** 2
    of_tasks = np.var([lead.mean(axis=1) for lead in leads], axis=0, ddof=1) / len(leads)
    shares = two_level_intervals(scores, n_resamples=2000)["mean"].instance_share
    assert shares == pytest.approx(np.minimum(1.0, of_instances / of_tasks), abs=0.08)


def test_a_system_that_is_always_ahead_is_always_first_and_one_without_scores_has_no_rank():
    scores = some_scores(1, n_systems=5)
    blocks = [block.copy() for block in scores.blocks]
    for block, direction in zip(blocks, scores.directions, strict=True):
        block[0] = 2 * direction
        block[4] = np.nan
    board = InstanceScores(scores.system_names, scores.task_names, tuple(blocks), scores.directions)
    for intervals in two_level_intervals(board, n_resamples=50).values():
        for design in DESIGNS:
            assert (intervals.lower[design][0], intervals.upper[design][0]) == (1, 1)
            assert (intervals.lower[design][4], intervals.upper[design][4]) == (0, 0)
        assert intervals.ranks[4] == 0
        assert np.isnan(intervals.instance_share[4])


def test_few_tasks_are_not_drawn_and_few_instances_neither():
    few_tasks = two_level_intervals(some_scores(1, n_tasks=LEAST_TASKS - 1), n_resamples=20)["mean"]
    assert (few_tasks.lower["tasks"].any(), few_tasks.lower["both"].any()) == (False, False)
    assert few_tasks.lower["instances"].all()
    few_instances = two_level_intervals(some_scores(1, n_instances=9), n_resamples=20)["mean"]
    assert (few_instances.lower["instances"].any(), few_instances.lower["both"].any()) == (False, False)
    assert few_instances.lower["tasks"].all()
    assert np.isnan(few_tasks.instance_share).all()
    assert np.isnan(few_instances.instance_share).all()


def test_instances_of_a_cluster_are_drawn_together():
    scores = some_scores(2, n_instances=12)
    doubled = InstanceScores(
        scores.system_names, scores.task_names, tuple(np.repeat(b, 2, axis=1) for b in scores.blocks), scores.directions
    )
    clusters = [100 * t + np.repeat(np.arange(block.shape[1]), 2) for t, block in enumerate(scores.blocks)]
    alone = two_level_intervals(scores, n_resamples=200, seed=1)
    together = two_level_intervals(doubled, clusters=clusters, n_resamples=200, seed=1)
    for statistic, intervals in alone.items():
        assert together[statistic].instance_share == pytest.approx(intervals.instance_share)
        for design in DESIGNS:
            assert together[statistic].upper[design].tolist() == intervals.upper[design].tolist()


@pytest.mark.parametrize("wrong", [{"level": 1}, {"n_resamples": 1}, {"seed": -1}, {"clusters": []}])
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        two_level_intervals(some_scores(1), **wrong)
