"""Standard errors of figures over instances, of which those in one cluster are drawn together."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ranking_engine.core.clusters import LEAST_CLUSTERS, are_enough, effective_number, error_parts
from ranking_engine.evaluation.metric import AdditiveFigure, Cases, CodeArray, FloatArray

N_RESAMPLES = 200
MAX_FAILED = 0.01  # of the resamples, in which the figure may be undefined
ROUNDING = 1e-10  # of the figure: an error up to this is none, only sums that do not cancel
_CELLS_AT_ONCE = 2_000_000


def stated_error(error: float | None, value: float) -> float | None:
    """Return a standard error, or None where there is none to state: not finite, or 0 apart from rounding.

    An error of 0 says that all clusters are alike, as five right answers of five are, not that the figure is exact.
    """
    is_known = error is not None and math.isfinite(error) and error > ROUNDING * abs(value)
    return error if is_known else None


def error_of_mean(values: FloatArray, weights: FloatArray | None, clusters: CodeArray) -> float | None:
    """Return the standard error of a (weighted) mean by the jackknife over clusters; None of too few (`are_enough`).

    Without weights and clusters this is the standard deviation (n - 1) over the square root of n. See Miller (2024),
    Adding Error Bars to Evals, arXiv 2411.00640, whose clustered error is the sandwich.

    Args:
        values: of the instances, shape (n,).
        weights: of the instances, shape (n,), or None.
        clusters: their numbers from 0, none left out.
    """
    w = np.ones(len(values)) if weights is None else weights
    sizes = np.bincount(clusters, w)
    if not are_enough(sizes):
        return None
    residuals = w * (values - float(w @ values) / float(w.sum()))
    return float(np.linalg.norm(error_parts(np.bincount(clusters, residuals), sizes)))


def has_enough_clusters(classes: CodeArray, clusters: CodeArray, weights: FloatArray | None = None) -> bool:
    """Return whether a figure that all classes count alike in depends on enough clusters for a standard error.

    They have to give as many degrees of freedom as a mean of `LEAST_CLUSTERS`, by Satterthwaite (1946), doi
    10.2307/3002019, for means of G_c clusters that vary alike: (sum of 1 / G_c)^2 / sum of 1 / (G_c^2 (G_c - 1)), G_c
    being the `effective_number` of the clusters of class c, as a whole number. So one class needs `LEAST_CLUSTERS`, the
    rarer of two about as many, each of many classes a few. None may be in one cluster alone.

    Args:
        classes: of the instances, shape (n,); negative for those of no class.
        clusters: of the instances, their numbers from 0.
        weights: of the instances, shape (n,), or None.
    """
    width, is_in = int(clusters.max()) + 1, classes >= 0
    pairs, place = np.unique((classes * width + clusters)[is_in], return_inverse=True)
    sizes = np.bincount(place, None if weights is None else weights[is_in])
    firsts = np.flatnonzero(np.diff(pairs // width, prepend=-1))
    numbers = np.rint([effective_number(of_class) for of_class in np.split(sizes, firsts[1:])])
    if not len(pairs) or numbers.min() < 2:
        return False
    freedom = (1 / numbers).sum() ** 2 / (1 / (numbers**2 * (numbers - 1))).sum()
    return bool(freedom > LEAST_CLUSTERS - 1 - ROUNDING)


def jackknife_error(sums: AdditiveFigure, weights: FloatArray | None, clusters: CodeArray) -> float | None:
    """Return the standard error of a figure by leaving out one cluster after the other.

    sqrt((G - 1) / G * sum of (figure without g - mean of them)^2), Efron and Stein (1981), doi 10.1214/aos/1176345462.
    None of too few clusters (`are_enough`; by the `sizes` of `sums` if it has them), and where the figure is undefined
    without one of them: without the only instance of a class, on which most of the error depends.

    Args:
        sums: the terms of each instance and the figure as a function of their sums.
        weights: of the instances, shape (n,), or None.
        clusters: their numbers from 0, none left out.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 -- only here

    n, n_clusters = len(clusters), int(clusters.max()) + 1
    w = np.ones(n) if weights is None else weights
    if not are_enough(np.bincount(clusters, w if sums.sizes is None else w * sums.sizes)):
        return None
    members = csr_array((w, (clusters, np.arange(n))), shape=(n_clusters, n))
    by_cluster = members @ sums.terms
    whole = np.asarray(by_cluster.sum(axis=0), dtype=np.float64).reshape(1, -1)
    step = max(1, _CELLS_AT_ONCE // whole.size)
    parts = []
    for start in range(0, n_clusters, step):
        block = by_cluster[start : start + step]
        left_out = block if isinstance(block, np.ndarray) else block.toarray()
        parts.append(sums.figures(whole - left_out))
    figures = np.concatenate(parts)
    if not np.isfinite(figures).all():
        return None
    G = n_clusters
    return math.sqrt((G - 1) / G * float(((figures - figures.mean()) ** 2).sum()))


def bootstrap_error(
    figure: Callable[[Cases], float],
    cases: Cases,
    clusters: CodeArray,
    seed: int,
    reweighted: Callable[[FloatArray], float] | None = None,
) -> float | None:
    """Return the standard deviation of a figure over `N_RESAMPLES` resampled sets of clusters.

    Efron (1979), doi 10.1214/aos/1176344552, times sqrt(G / (G - 1)) for G clusters, which makes the variance of a mean
    unbiased. None of too few clusters (`are_enough`), and where more than 1 % of the resamples have no figure, such as
    those with one class only: the others vary too little.

    Args:
        figure: of instances.
        cases: the instances.
        clusters: their numbers from 0, none left out.
        seed: of the random numbers.
        reweighted: the figure for weights of the instances, if there is a faster way than drawing them.
    """
    n_clusters = int(clusters.max()) + 1
    if not are_enough(np.bincount(clusters, cases.weights)):
        return None
    generator = np.random.default_rng(seed)
    figures = []
    for _ in range(N_RESAMPLES):
        times = np.bincount(generator.integers(0, n_clusters, n_clusters), minlength=n_clusters)[clusters]
        if reweighted is not None:
            weights = times.astype(np.float64)
            figures.append(reweighted(weights if cases.weights is None else weights * cases.weights))
        else:
            figures.append(figure(cases.at(np.repeat(np.arange(len(clusters)), times))))
    defined = np.array([value for value in figures if math.isfinite(value)])
    if len(defined) < N_RESAMPLES * (1 - MAX_FAILED):
        return None
    return math.sqrt(n_clusters / (n_clusters - 1)) * float(defined.std(ddof=1))
