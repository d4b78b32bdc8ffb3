from __future__ import annotations

import statistics

import numpy as np
import pytest
from scipy.special import stdtrit

from ranking_engine.core.clusters import effective_number
from ranking_engine.core.instances import InstanceScores, paired_differences
from ranking_engine.stability.separability.instance_errors import LEAST_UNITS, paired_errors

Z = statistics.NormalDist().inv_cdf

# Clusters of the instances of three tasks: of each task its own, some of them or all the same ones.
CLUSTERED = {
    "none": None,
    "own": [np.arange(30) // 2, 100 + np.arange(50) // 3, 200 + np.arange(40) // 3],
    "some shared": [np.arange(30) // 2, 10 + np.arange(50) // 3, 200 + np.arange(40) // 3],
    "all shared": [np.arange(size) % 15 for size in (30, 50, 40)],
}


def some_scores(seed, sizes=(30, 50), n_systems=3, missing=0.1, directions=()):
    random = np.random.default_rng(seed)
    blocks = [random.integers(0, 4, (n_systems, size)).astype(float) for size in sizes]
    for block in blocks:
        block[random.random(block.shape) < missing] = np.nan
    names = tuple("ABCDEF"[:n_systems])
    return InstanceScores(names, tuple(f"t{k}" for k in range(len(sizes))), tuple(blocks), directions)


def by_definition(scores, i, j, clusters=None):
    """The mean and the number of instances of each task, the variance of the mean of these, the degrees of freedom."""
    tasks, residuals, weights = [], {}, {}
    for t, block in enumerate(scores.oriented()):
        pairs = [(k, block[i, k] - block[j, k]) for k in range(block.shape[1]) if block[i, k] == block[i, k]]
        pairs = [(k, d) for k, d in pairs if d == d]
        mean = sum(d for _, d in pairs) / len(pairs)
        units = [(t, k) if clusters is None else int(clusters[t][k]) for k, _ in pairs]
        G = len(set(units))
        without = {
            unit: statistics.fmean([d for other, (_, d) in zip(units, pairs, strict=True) if other != unit])
            for unit in set(units)
        }
        for unit, moved in without.items():
            move = (moved - statistics.fmean(without.values())) * ((G - 1) / G) ** 0.5 / len(scores.blocks)
            residuals[unit] = residuals.get(unit, 0.0) + move
            weights[unit] = weights.get(unit, 0.0) + units.count(unit) / len(pairs)
        tasks.append((mean, len(pairs)))
    degrees = sum(weights.values()) ** 2 / sum(w**2 for w in weights.values()) - 1
    return tasks, sum(r**2 for r in residuals.values()), degrees


@pytest.mark.parametrize("clustered", list(CLUSTERED))
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_as_defined(seed, clustered):
    scores = some_scores(seed, sizes=(30, 50, 40), directions=(1, -1, 1))
    clusters = CLUSTERED[clustered]
    errors = paired_errors(scores, [(0, 1), (2, 0)], clusters=clusters, level=0.1, power=0.9)
    for k, (i, j) in enumerate([(0, 1), (2, 0)]):
        tasks, variance, degrees = by_definition(scores, i, j, clusters)
        means, error = [mean for mean, _ in tasks], variance**0.5
        between = statistics.stdev(means) / 3**0.5
        assert errors.difference[k] == pytest.approx(statistics.mean(means))
        assert errors.standard_error[k] == pytest.approx(error)
        assert errors.degrees[k] == pytest.approx(degrees)
        assert errors.detectable[k] == pytest.approx((stdtrit(degrees, 0.95) + stdtrit(degrees, 0.9)) * error)
        assert errors.task_error[k] == pytest.approx(between)
        assert np.isnan(errors.instance_share[k])  # of three tasks it would be chance
        assert errors.n_common[k] == sum(n for _, n in tasks)


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


def test_the_same_clusters_on_five_tasks_are_as_good_as_one_task_of_their_means():
    random = np.random.default_rng(5)
    one = random.normal(size=(2, 30))
    five = InstanceScores(("A", "B"), tuple("abcde"), tuple(one + t for t in range(5)), clusters=(np.arange(30),) * 5)
    errors = paired_errors(five, [(0, 1)])
    alone = paired_errors(InstanceScores(("A", "B"), ("a",), (one,)), [(0, 1)])
    assert errors.standard_error[0] == pytest.approx(alone.standard_error[0])
    assert errors.unpaired_error[0] == pytest.approx(alone.unpaired_error[0])
    assert errors.degrees.tolist() == pytest.approx([29])


def test_tasks_that_share_clusters_have_no_share_of_the_uncertainty():
    scores = some_scores(3, sizes=(20,) * 10, directions=(1,) * 10)
    errors = paired_errors(scores, [(0, 1)], clusters=[np.arange(20)] * 10)
    assert np.isnan(errors.instance_share[0])


def test_clusters_of_very_different_sizes_count_as_fewer():
    """Twelve clusters, one with half of the instances, are as good as three and a half of equal size."""
    scores = some_scores(4, sizes=(44,), missing=0)
    sizes = [22, *[2] * 11]
    clusters = [np.repeat(np.arange(12), sizes)]
    assert effective_number(sizes) == pytest.approx(44**2 / (22**2 + 11 * 4))
    assert np.isnan(paired_errors(scores, [(0, 1)], clusters=clusters).standard_error[0])
    even = paired_errors(scores, [(0, 1)], clusters=[np.arange(44) // 4])
    assert even.degrees.tolist() == pytest.approx([10])


def test_systems_without_a_common_instance_have_no_figure():
    block = np.array([[1.0, np.nan], [np.nan, 1.0]])
    errors = paired_errors(InstanceScores(("A", "B"), ("t",), (block,)), [(0, 1)])
    assert errors.n_common.tolist() == [0]
    assert np.isnan([errors.difference[0], errors.standard_error[0]]).all()


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"power": 0.0}, {"clusters": [np.zeros(3, int)]}])
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        paired_errors(some_scores(0), [(0, 1)], **wrong)
