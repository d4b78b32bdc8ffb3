"""Benchmark agreement testing: how far each benchmark agrees with all the others together.

After Perlitz et al. 2024 (arXiv 2407.13696) and their package BenchBench: the reference is an aggregate of many
benchmarks and not a single one, correlations are averaged over random subsets of the systems, and each benchmark is
placed among the others by the z-score of its mean. Three things differ: the aggregate for a benchmark leaves that one
out, a win rate counts a tie as one half, and all benchmarks share the draws. BenchBench's `add_aggregate` has every
benchmark in it by default, and counts a tie as lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ranking_engine.core.decimals import rounded
from ranking_engine.core.score_matrix import FloatArray

N_SUBSETS = 100
SUBSET_SIZE = 10
LEAST_SYSTEMS = 3  # below, a correlation says nothing
LEAST_BENCHMARKS = 3  # two agree with one another equally well
LEAST_WITH_Z = 5  # of k benchmarks no |z| is above (k - 1) / sqrt(k): 1.15 of three, 1.79 of five


@dataclass(frozen=True)
class AgreementMeasure:
    """One measure of agreement between a benchmark and the aggregate of the others; NaN where there is none.

    Attributes:
        whole: over all systems that both have.
        mean: of the subsets in which it is defined.
        deviation: their standard deviation (n - 1); NaN where there is one subset.
        n_undefined: subsets in which it is not, such as those whose systems are all tied.
        z: (mean - mean of the benchmarks' means) / standard deviation of these (n - 1); NaN where fewer than
            `LEAST_WITH_Z` benchmarks have a mean.
    """

    whole: float
    mean: float
    deviation: float
    n_undefined: int
    z: float


@dataclass(frozen=True)
class BenchmarkAgreement:
    """How far one benchmark agrees with the aggregate of the others.

    Attributes:
        n_systems: that have a value on it and on one of the others at least.
        subset_size: systems in a subset.
        n_subsets: how many were drawn; one where it is all systems, none where there are fewer than
            `LEAST_BENCHMARKS` benchmarks or `LEAST_SYSTEMS` systems.
        kendall: tau-b.
        pearson: Pearson's correlation.
    """

    n_systems: int
    subset_size: int
    n_subsets: int
    kendall: AgreementMeasure
    pearson: AgreementMeasure


def benchmark_agreement(
    values: ArrayLike, *, n_subsets: int = N_SUBSETS, subset_size: int = SUBSET_SIZE, seed: int = 0
) -> list[BenchmarkAgreement]:
    """Hold each benchmark against the mean of the others.

    O(n_systems^2 + n_subsets (n_systems + subset_size^2)) time and memory a benchmark.

    Args:
        values: shape (n_systems, n_benchmarks), how good each system is on each, higher is better and on one scale,
            such as the share of rivals beaten; NaN where it was not ranked. The aggregate for benchmark b is each
            system's mean over the other benchmarks that have it, rounded as scores are.
        n_subsets: how many are drawn. All benchmarks share them, so that no figure depends on the order of the columns.
        subset_size: systems in each; all where there are fewer.
        seed: subset k is the first systems of `default_rng([seed, k]).permutation(n_systems)` that the benchmark and
            one of the others have.

    Raises:
        ValueError: `values` is no table, or a size is below 1 or below 3.
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"`values` has {table.ndim} dimensions; expected systems by benchmarks")
    if n_subsets < 1 or subset_size < LEAST_SYSTEMS:
        raise ValueError(f"`n_subsets` is {n_subsets} and `subset_size` {subset_size}; at least 1 and {LEAST_SYSTEMS}")
    n_orders = n_subsets if table.shape[1] >= LEAST_BENCHMARKS else 0
    orders = np.empty((n_orders, len(table)), dtype=np.intp)
    for k in range(n_orders):
        orders[k] = np.random.default_rng([seed, k]).permutation(len(table))
    sizes: list[tuple[int, int]] = []  # of each benchmark the number of systems, and that of subsets
    kendall: list[Drawn] = []
    pearson: list[Drawn] = []
    for b in range(table.shape[1]):
        is_other = np.arange(table.shape[1]) != b
        n_others = (~np.isnan(table[:, is_other])).sum(axis=1)
        is_common = ~np.isnan(table[:, b]) & (n_others > 0)
        n = int(is_common.sum())
        if n < LEAST_SYSTEMS:
            sizes.append((n, 0))
            kendall.append((np.nan, np.empty(0)))
            pearson.append((np.nan, np.empty(0)))
            continue
        own, others = rounded(table[:, b]), np.full(len(table), np.nan)
        others[is_common] = rounded(np.nansum(table[is_common][:, is_other], axis=1) / n_others[is_common])
        subsets = orders[is_common[orders]].reshape(len(orders), n)[: 1 if n <= subset_size else None, :subset_size]
        sizes.append((n, len(subsets)))
        for drawn, measure in ((kendall, _tau_b_rows), (pearson, _pearson_rows)):
            whole = float(measure(own[None, is_common], others[None, is_common])[0])
            drawn.append((whole, measure(own[subsets], others[subsets])))
    return [
        BenchmarkAgreement(n, min(subset_size, n), n_used, tau, r)
        for (n, n_used), tau, r in zip(sizes, _placed(kendall), _placed(pearson), strict=True)
    ]


@dataclass(frozen=True)
class PairAgreement:
    """How far two benchmarks agree over the systems that both have; NaN where that is not defined.

    Attributes:
        first, second: the columns of the benchmarks, the first before the second.
        n_systems: that both have.
        kendall: tau-b; NaN below `LEAST_SYSTEMS` systems, or where all are equal on one of the two.
        pearson: Pearson's correlation.
    """

    first: int
    second: int
    n_systems: int
    kendall: float
    pearson: float


def benchmark_pairs(values: ArrayLike) -> list[PairAgreement]:
    """Hold each benchmark against each other one: no aggregate, no subsets, all systems that both have.

    O(n_systems^2) time and memory for each pair.

    Args:
        values: as of `benchmark_agreement`.

    Raises:
        ValueError: `values` is no table.
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"`values` has {table.ndim} dimensions; expected systems by benchmarks")
    pairs = []
    for first, second in combinations(range(table.shape[1]), 2):
        both = table[~np.isnan(table[:, first]) & ~np.isnan(table[:, second])]
        kendall = pearson = np.nan
        if len(both) >= LEAST_SYSTEMS:
            rows = rounded(both[:, first])[None], rounded(both[:, second])[None]
            kendall, pearson = float(_tau_b_rows(*rows)[0]), float(_pearson_rows(*rows)[0])
        pairs.append(PairAgreement(first, second, len(both), kendall, pearson))
    return pairs


Drawn = tuple[float, FloatArray]  # a correlation over all systems, and in every subset


def _tau_b_rows(first: FloatArray, second: FloatArray) -> FloatArray:
    """Kendall's tau-b of each two rows; NaN where all of one row are equal.

    Args:
        first, second: shape (n_rows, n), without NaN.
    """
    signs = [np.sign(rows[:, :, None] - rows[:, None, :]).astype(np.int8) for rows in (first, second)]
    concordance = np.einsum("rij,rij->r", *signs, dtype=np.int64)
    untied = [np.count_nonzero(sign, axis=(1, 2)) for sign in signs]
    return _ratio(concordance, np.sqrt(untied[0] * untied[1].astype(float)))


def _pearson_rows(first: FloatArray, second: FloatArray) -> FloatArray:
    """Pearson's correlation of each two rows; NaN where all of one row are equal.

    Args:
        first, second: shape (n_rows, n), without NaN.
    """
    centred = [rows - rows.mean(axis=1, keepdims=True) for rows in (first, second)]
    is_level = [(rows == rows[:, :1]).all(axis=1) for rows in (first, second)]
    size = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    return _ratio((centred[0] * centred[1]).sum(axis=1), np.where(is_level[0] | is_level[1], 0.0, size))


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.full(len(denominator), np.nan), where=denominator > 0)


def _placed(drawn: list[Drawn]) -> list[AgreementMeasure]:
    """Every benchmark's correlation, placed among all."""
    defined = [subsets[~np.isnan(subsets)] for _, subsets in drawn]
    means = np.array([subsets.mean() if len(subsets) else np.nan for subsets in defined])
    known = means[~np.isnan(means)]
    middle, spread = (known.mean(), known.std(ddof=1)) if len(known) >= LEAST_WITH_Z else (np.nan, np.nan)
    has_spread = spread > 1e-12
    return [
        AgreementMeasure(
            whole=whole,
            mean=float(mean),
            deviation=float(subsets.std(ddof=1)) if len(subsets) > 1 else np.nan,
            n_undefined=len(every) - len(subsets),
            z=float((mean - middle) / spread) if has_spread else np.nan,
        )
        for (whole, every), subsets, mean in zip(drawn, defined, means, strict=True)
    ]
