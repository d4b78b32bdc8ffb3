from __future__ import annotations

import statistics

import numpy as np
import pytest
import scipy.stats

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.separability.group_agreement import group_agreement

NAN = float("nan")


def tau_of(first, second):
    both = ~np.isnan(first + second)
    return scipy.stats.kendalltau(first[both], second[both]).statistic


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_groups_and_columns_of_one_cluster_agree_as_far_as_their_rankings(seed, missing):
    scores = random_matrix(9, 7, seed=seed, kind="skill", missing=missing).scores
    settings = ["direct", "direct", "direct", "tuned", "tuned", "tuned", None]
    clusters = ["a", "b", None, "a", "b", "c", "a"]
    matrix = ScoreMatrix(scores, groups=settings, clusters=clusters)
    agreement = group_agreement(matrix)
    assert [(group.name, group.tasks) for group in agreement.groups] == [("direct", (0, 1, 2)), ("tuned", (3, 4, 5))]
    for group in agreement.groups:
        taus = [tau_of(scores[:, i], scores[:, j]) for i in group.tasks for j in group.tasks if i < j]
        assert group.mean_tau == pytest.approx(statistics.mean(taus))
    [pair] = agreement.pairs
    ranks = [rank(ScoreMatrix(scores[:, columns]), "win_rate").ranks for columns in ([0, 1, 2], [3, 4, 5])]
    assert pair.tau == pytest.approx(scipy.stats.kendalltau(*ranks).statistic)
    assert [(one.first, one.second) for one in pair.columns] == [(0, 3), (1, 4)]
    expected = [tau_of(scores[:, one.first], scores[:, one.second]) for one in pair.columns]
    assert [one.tau for one in pair.columns] == pytest.approx(expected)
    assert pair.mean_column_tau == pytest.approx(statistics.mean(expected))


def test_tuning_that_makes_tasks_agree_is_seen_within_the_groups():
    random = np.random.default_rng(1)
    skill = random.random(20)
    direct = random.random((20, 5))
    tuned = skill[:, None] + random.normal(0, 0.01, (20, 5))
    matrix = ScoreMatrix(np.hstack([direct, tuned]), groups=["direct"] * 5 + ["tuned"] * 5, clusters=list("abcde") * 2)
    first, second = group_agreement(matrix).groups
    assert first.mean_tau < 0.3 < 0.9 < second.mean_tau
    assert len(group_agreement(matrix).pairs[0].columns) == 5


def test_one_group_or_columns_that_are_not_one_to_one_have_no_pairs():
    scores = random_matrix(5, 3, seed=1, kind="uniform").scores
    assert group_agreement(ScoreMatrix(scores, groups=["a", "a", "a"])).pairs == ()
    assert group_agreement(ScoreMatrix(scores)).groups == ()
    twice = group_agreement(ScoreMatrix(scores, groups=["a", "b", "b"], clusters=["x", "x", "x"]))
    assert (twice.pairs[0].columns, np.isnan(twice.pairs[0].mean_column_tau)) == ((), True)
    assert np.isnan(twice.groups[0].mean_tau)
