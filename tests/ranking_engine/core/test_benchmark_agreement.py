"""Benchmark agreement against scipy, subset by subset, and against BenchBench's own way where both mean the same."""

import math
import statistics

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from ranking_engine.core.benchmark_agreement import benchmark_agreement


def table(seed: int, n: int = 17, n_benchmarks: int = 5, missing: float = 0.2) -> np.ndarray:
    """Systems of different strength on benchmarks with noise, on a grid coarse enough for ties, with gaps."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n, 1)) + rng.normal(size=(n, n_benchmarks)), 1)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def naive(values, b, *, n_subsets, subset_size, seed):
    """Of one benchmark, subset by subset: the number of systems, and (whole, subsets) of each measure."""
    pairs = []
    for row in values:
        others = [x for c, x in enumerate(row) if c != b and not math.isnan(x)]
        if others and not math.isnan(row[b]):
            pairs.append((row[b], float(f"{sum(others) / len(others):.12g}")))
    rng = np.random.default_rng([seed, b])
    n_drawn = 1 if len(pairs) <= subset_size else n_subsets
    orders = rng.permuted(np.tile(np.arange(len(pairs)), (n_drawn, 1)), axis=1)
    subsets = [[pairs[i] for i in order[:subset_size]] for order in orders]
    return len(pairs), [
        (measure(*zip(*pairs, strict=True)).statistic,
         [measure(*zip(*subset, strict=True)).statistic for subset in subsets])
        for measure in (kendalltau, pearsonr)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("subset_size", [4, 10, 50])
def test_every_figure_is_that_of_the_naive_way(seed, subset_size):
    values = table(seed)
    asked = {"n_subsets": 30, "subset_size": subset_size, "seed": seed}
    expected = [naive(values, b, **asked) for b in range(values.shape[1])]
    found = benchmark_agreement(values, **asked)
    for k, name in enumerate(("kendall", "pearson")):
        means = [statistics.fmean(measures[k][1]) for _, measures in expected]
        middle, spread = statistics.fmean(means), statistics.stdev(means)
        for one, (n, measures), mean in zip(found, expected, means, strict=True):
            whole, subsets = measures[k]
            correlation = getattr(one, name)
            assert (one.n_systems, one.n_subsets, correlation.n_undefined) == (n, len(subsets), 0)
            assert [correlation.whole, correlation.mean, correlation.z] == pytest.approx(
                [whole, mean, (mean - middle) / spread], abs=1e-12
            )
            if len(subsets) > 1:
                assert correlation.deviation == pytest.approx(statistics.stdev(subsets), abs=1e-12)


def test_the_same_seed_gives_the_same_figures_and_another_one_others():
    values = table(3)
    assert benchmark_agreement(values, seed=1) == benchmark_agreement(values, seed=1)
    first, second = (benchmark_agreement(values, seed=seed)[0].kendall.mean for seed in (1, 2))
    assert first != second


def test_a_benchmark_that_reverses_the_others_is_far_below_them():
    order = np.arange(12.0)
    found = benchmark_agreement(np.column_stack([order, order, order, -order]))
    assert [one.kendall.whole for one in found] == [1.0, 1.0, 1.0, -1.0]
    assert [round(one.kendall.z, 12) for one in found] == [0.5, 0.5, 0.5, -1.5]


def test_what_is_not_defined_has_no_figure():
    order = np.arange(12.0)
    level = np.zeros(12)
    two = benchmark_agreement(np.column_stack([order, order]))
    assert [(one.kendall.mean, math.isnan(one.kendall.z)) for one in two] == [(1.0, True)] * 2
    tied = benchmark_agreement(np.column_stack([order, order, level]))[2]
    assert (tied.n_systems, tied.kendall.n_undefined) == (12, 100)
    assert math.isnan(tied.kendall.mean)
    few = np.full((12, 3), np.nan)
    few[:2] = 1.0
    assert [(one.n_systems, one.n_subsets) for one in benchmark_agreement(few)] == [(2, 0)] * 3
    assert [one.n_systems for one in benchmark_agreement(np.empty((0, 2)))] == [0, 0]


@pytest.mark.parametrize(("values", "asked"), [([1.0], {}), ([[1.0]], {"n_subsets": 0}), ([[1.0]], {"subset_size": 2})])
def test_what_cannot_be_computed_is_refused(values, asked):
    with pytest.raises(ValueError, match=r"dimensions|at least 1 and 3"):
        benchmark_agreement(values, **asked)
