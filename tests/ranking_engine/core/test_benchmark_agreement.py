"""Benchmark agreement against scipy, subset by subset, and against BenchBench's own way where both mean the same."""

import dataclasses
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau, pearsonr

from ranking_engine.core.benchmark_agreement import benchmark_agreement, benchmark_pairs


def table(seed: int, n: int = 17, n_benchmarks: int = 5, missing: float = 0.2) -> np.ndarray:
    """Systems of different strength on benchmarks with noise, on a grid coarse enough for ties, with gaps."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n, 1)) + rng.normal(size=(n, n_benchmarks)), 1)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def naive(values, b, *, n_subsets, subset_size, seed):
    """Of one benchmark, subset by subset: the number of systems, and (whole, subsets) of each measure."""
    pairs = {}
    for i, row in enumerate(values):
        others = [x for c, x in enumerate(row) if c != b and not math.isnan(x)]
        if others and not math.isnan(row[b]):
            pairs[i] = (row[b], float(f"{sum(others) / len(others):.12g}"))
    subsets = []
    for k in range(1 if len(pairs) <= subset_size else n_subsets):
        order = np.random.default_rng([seed, k]).permutation(len(values)).tolist()
        subsets.append([pairs[i] for i in order if i in pairs][:subset_size])
    return len(pairs), [
        (measure(*zip(*pairs.values(), strict=True)).statistic,
         [measure(*zip(*subset, strict=True)).statistic for subset in subsets])
        for measure in (kendalltau, pearsonr)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("subset_size", [4, 10, 50])
def test_every_figure_is_that_of_the_naive_way(seed, subset_size):
    values = table(seed)
    options = {"n_subsets": 30, "subset_size": subset_size, "seed": seed}
    expected = [naive(values, b, **options) for b in range(values.shape[1])]
    agreement = benchmark_agreement(values, **options)
    for k, name in enumerate(("kendall", "pearson")):
        means = [statistics.fmean(measures[k][1]) for _, measures in expected]
        middle, spread = statistics.fmean(means), statistics.stdev(means)
        for one, (n, measures), mean in zip(agreement, expected, means, strict=True):
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


@pytest.mark.parametrize("seed", range(4))
def test_no_figure_depends_on_the_order_of_the_benchmarks(seed):
    values = table(seed, n=30)
    order = [3, 0, 4, 2, 1]
    first, second = benchmark_agreement(values), benchmark_agreement(values[:, order])
    for one, b in zip(second, order, strict=True):
        assert flat(one) == pytest.approx(flat(first[b]), abs=1e-12)


def flat(one):
    return [one.n_systems, one.n_subsets, *dataclasses.astuple(one.kendall), *dataclasses.astuple(one.pearson)]


def test_benchmarks_that_are_the_same_agree_equally_well():
    values = table(5, n=40, n_benchmarks=3, missing=0)
    first, second, _, _ = benchmark_agreement(values[:, [0, 0, 1, 2]])
    assert flat(first) == pytest.approx(flat(second), abs=1e-12, nan_ok=True)


def test_two_benchmarks_have_one_figure_of_all_systems_and_no_subsets():
    values = table(2, n=40, n_benchmarks=2)
    first, second = benchmark_agreement(values)
    assert first.kendall.whole == second.kendall.whole
    assert (first.n_subsets, first.kendall.n_undefined) == (0, 0)
    assert all(math.isnan(x) for x in (first.kendall.mean, first.kendall.deviation, first.kendall.z))


def test_a_benchmark_that_reverses_the_others_is_as_far_below_them_as_one_of_five_can_be():
    order = np.arange(12.0)
    agreement = benchmark_agreement(np.column_stack([order, order, order, order, -order]))
    assert [one.kendall.whole for one in agreement] == [1.0, 1.0, 1.0, 1.0, -1.0]
    assert [one.kendall.z for one in agreement] == pytest.approx([1 / math.sqrt(5)] * 4 + [-4 / math.sqrt(5)])
    four = benchmark_agreement(np.column_stack([order, order, order, -order]))
    assert [one.kendall.mean for one in four] == [1.0, 1.0, 1.0, -1.0]
    assert all(math.isnan(one.kendall.z) for one in four)


def test_what_is_not_defined_has_no_figure():
    order = np.arange(12.0)
    level = np.zeros(12)
    tied = benchmark_agreement(np.column_stack([order, order, level]))[2]
    assert (tied.n_systems, tied.kendall.n_undefined) == (12, 100)
    assert math.isnan(tied.kendall.mean)
    few = np.full((12, 3), np.nan)
    few[:2] = 1.0
    assert [(one.n_systems, one.n_subsets) for one in benchmark_agreement(few)] == [(2, 0)] * 3
    assert [one.n_systems for one in benchmark_agreement(np.empty((0, 2)))] == [0, 0]


@pytest.mark.parametrize(
    ("values", "options"), [([1.0], {}), ([[1.0]], {"n_subsets": 0}), ([[1.0]], {"subset_size": 2})]
)
def test_what_cannot_be_computed_is_refused(values, options):
    with pytest.raises(ValueError, match=r"dimensions|at least 1 and 3"):
        benchmark_agreement(values, **options)


@given(
    st.lists(st.lists(st.sampled_from([math.nan, 0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=8)
)
def test_pairs_are_scipys_correlations_over_the_systems_that_both_have(rows):
    table = np.array(rows)
    pairs = benchmark_pairs(table)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1), (0, 2), (1, 2)]
    for pair in pairs:
        both = [row for row in table[:, [pair.first, pair.second]].tolist() if not any(map(math.isnan, row))]
        assert pair.n_systems == len(both)
        first, second = ([row[k] for row in both] for k in (0, 1))
        if len(both) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
            assert math.isnan(pair.kendall)
            assert math.isnan(pair.pearson)
        else:
            assert pair.kendall == pytest.approx(kendalltau(first, second).statistic)
            assert pair.pearson == pytest.approx(pearsonr(first, second).statistic)
