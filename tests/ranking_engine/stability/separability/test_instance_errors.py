from __future__ import annotations

import statistics

import numpy as np
import pytest

from ranking_engine.core.instances import InstanceScores, paired_differences
from ranking_engine.stability.separability.instance_errors import LEAST_UNITS, paired_errors

Z = statistics.NormalDist().inv_cdf


def some_scores(seed, sizes=(30, 50), n_systems=3, missing=0.1, directions=()):
    random = np.random.default_rng(seed)
    blocks = [random.integers(0, 4, (n_systems, size)).astype(float) for size in sizes]
    for block in blocks:
        block[random.random(block.shape) < missing] = np.nan
    names = tuple("ABCDEF"[:n_systems])
    return InstanceScores(names, tuple(f"t{k}" for k in range(len(sizes))), tuple(blocks), directions)


def by_definition(scores, i, j, clusters=None):
    """Mean and variance of the mean of each task, in plain loops."""
    tasks = []
    for t, block in enumerate(scores.oriented()):
        pairs = [(k, block[i, k] - block[j, k]) for k in range(block.shape[1]) if block[i, k] == block[i, k]]
        pairs = [(k, d) for k, d in pairs if d == d]
        mean = sum(d for _, d in pairs) / len(pairs)
        sums = {}
        for k, d in pairs:
            unit = k if clusters is None else clusters[t][k]
            sums[unit] = sums.get(unit, 0.0) + d - mean
        variance = sum(s**2 for s in sums.values()) / len(pairs) ** 2 * len(sums) / (len(sums) - 1)
        tasks.append((mean, variance, len(pairs)))
    return tasks


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_as_defined(seed, clustered):
    scores = some_scores(seed, sizes=(30, 50, 40), directions=(1, -1, 1))
    clusters = [np.arange(block.shape[1]) // 3 for block in scores.blocks] if clustered else None
    errors = paired_errors(scores, [(0, 1), (2, 0)], clusters=clusters, level=0.1, power=0.9)
    for k, (i, j) in enumerate([(0, 1), (2, 0)]):
        tasks = by_definition(scores, i, j, clusters)
        means = [mean for mean, _, _ in tasks]
        error = sum(variance for _, variance, _ in tasks) ** 0.5 / 3
        between = statistics.stdev(means) / 3**0.5
        assert errors.difference[k] == pytest.approx(statistics.mean(means))
        assert errors.standard_error[k] == pytest.approx(error)
        assert errors.detectable[k] == pytest.approx((Z(0.95) + Z(0.9)) * error)
        assert errors.task_error[k] == pytest.approx(between)
        assert np.isnan(errors.instance_share[k])  # of three tasks it would be chance
        assert errors.n_common[k] == sum(n for _, _, n in tasks)


def test_from_ten_tasks_on_instances_have_a_share_of_the_uncertainty():
    scores = some_scores(3, sizes=(20,) * 10, directions=(1,) * 10)
    errors = paired_errors(scores, [(0, 1)])
    assert errors.instance_share[0] == pytest.approx(min(1, (errors.standard_error[0] / errors.task_error[0]) ** 2))


def test_differences_that_are_all_equal_have_no_error():
    values = np.arange(12.0)
    errors = paired_errors(InstanceScores(("A", "B"), ("t",), (np.stack([values + 1, values]),)), [(0, 1)])
    assert errors.difference.tolist() == [1.0]
    assert np.isnan([errors.standard_error[0], errors.detectable[0]]).all()


def test_without_clusters_the_error_of_a_task_is_the_spread_over_the_root_of_the_number():
    scores = some_scores(1, sizes=(40,), missing=0)
    differences = scores.blocks[0][0] - scores.blocks[0][1]
    errors = paired_errors(scores, [(0, 1)])
    assert errors.standard_error[0] == pytest.approx(statistics.stdev(differences) / 40**0.5)
    assert np.isnan(errors.task_error[0])
    assert np.isnan(errors.instance_share[0])


def test_pairs_gain_where_systems_fail_on_the_same_instances():
    random = np.random.default_rng(0)
    first = (random.random(200) < 0.6).astype(float)
    second = np.where(random.random(200) < 0.9, first, 1 - first)
    errors = paired_errors(InstanceScores(("A", "B"), ("t",), (np.stack([first, second]),)), [(0, 1)])
    assert errors.standard_error[0] < 0.6 * errors.unpaired_error[0]


def test_the_normal_interval_is_close_to_the_bootstrap_of_many_instances():
    scores = some_scores(2, sizes=(400, 300), missing=0)
    errors, bootstrap = paired_errors(scores, [(0, 1)]), paired_differences(scores, [(0, 1)], n_resamples=4000)
    assert errors.difference[0] == pytest.approx(bootstrap.difference[0])
    half = Z(0.975) * errors.standard_error[0]
    assert (bootstrap.upper[0] - bootstrap.lower[0]) / 2 == pytest.approx(half, rel=0.1)


def test_few_instances_or_clusters_have_no_error():
    scores = some_scores(0, sizes=(LEAST_UNITS - 1, 40), missing=0)
    errors = paired_errors(scores, [(0, 1)])
    assert np.isnan([errors.standard_error[0], errors.detectable[0], errors.instance_share[0]]).all()
    many = some_scores(0, sizes=(40,), missing=0)
    assert np.isnan(paired_errors(many, [(0, 1)], clusters=[np.arange(40) // 5]).standard_error[0])


def test_systems_without_a_common_instance_have_no_figure():
    block = np.array([[1.0, np.nan], [np.nan, 1.0]])
    errors = paired_errors(InstanceScores(("A", "B"), ("t",), (block,)), [(0, 1)])
    assert errors.n_common.tolist() == [0]
    assert np.isnan([errors.difference[0], errors.standard_error[0]]).all()


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"power": 0.0}, {"clusters": [np.zeros(3, int)]}])
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        paired_errors(some_scores(0), [(0, 1)], **wrong)
