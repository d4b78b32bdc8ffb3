"""Standard errors of differences from the scores of single instances, and how small a difference they can show.

Miller 2024, Adding error bars to evals (arXiv:2411.00640): the central limit theorem, clusters of instances, paired
differences and power. Beside it the share of the uncertainty that instances and tasks contribute.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import LEAST_CLUSTERS, effective_number, error_parts
from ranking_engine.core.instances import InstanceScores
from ranking_engine.core.score_matrix import FloatArray

LEAST_UNITS = LEAST_CLUSTERS  # instances of a task, or clusters of them
POWER = 0.8


@dataclass(frozen=True, eq=False)
class PairedErrors:
    """Mean differences between systems on common instances, and how exact they are; one entry a pair.

    Attributes:
        pairs: shape (n_pairs, 2), indices of systems.
        difference: the mean over tasks of the mean of the first one's minus the second one's score on common instances,
            higher is better; NaN without any.
        standard_error: of the difference, if instances were drawn again from the same tasks. NaN where a task has fewer
            than LEAST_UNITS common instances, or clusters, and where all differences are equal.
        degrees: of freedom of Student's t for intervals and tests of the difference; NaN where it has no error.
        unpaired_error: the same if each system had been scored on instances of its own.
        detectable: the least true difference that a test at the level finds with the power asked for.
        task_error: the standard error if tasks were drawn again, and instances with them; NaN with fewer than 2 tasks.
            What tasks share, such as clusters, is not in it.
        instance_share: the part of the square of `task_error` that comes from instances, at most 1; NaN where either is
            not known, where tasks share clusters, and with fewer than LEAST_UNITS tasks: of so few it is mostly chance.
        n_common: the number of common instances over all tasks.
    """

    pairs: NDArray[np.int64]
    difference: FloatArray
    standard_error: FloatArray
    unpaired_error: FloatArray
    degrees: FloatArray
    detectable: FloatArray
    task_error: FloatArray
    instance_share: FloatArray
    n_common: NDArray[np.int64]


def paired_errors(
    scores: InstanceScores,
    pairs: Iterable[Sequence[int]],
    *,
    clusters: Sequence[NDArray[np.int64]] | None = None,
    level: float = 0.05,
    power: float = POWER,
) -> PairedErrors:
    """Return the standard errors of the differences between pairs of systems.

    With d_tk the difference on instance k of task t, n_t common instances, n_tg of them in cluster g, G_t clusters of
    task t, T tasks with any, m_tg = Σ_k in g (d_tk - mean_t) / (n_t - n_tg), which is how far the mean moves without
    the cluster, e_tg = (m_tg - their mean) √((G_t - 1) / G_t), and t the quantiles of Student's t with `degrees` of
    freedom:

        standard_error² = Σ_g (Σ_t e_tg / T)²        over the clusters of all tasks
        degrees = (Σ_g w_g)² / Σ_g w_g² - 1        w_g = Σ_t n_tg / (n_t T)
        detectable = (t(1 - level / 2) + t(power)) * standard_error
        task_error² = Σ_t (mean_t - mean)² / (T (T - 1))
        instance_share = standard_error² / task_error²

    Clusters, pairs and power after Miller 2024, for the instances that are there; the errors are the jackknife's
    (`error_parts`), the shares ours. A cluster that has instances of several tasks is one: what it adds is summed up
    over tasks before it is squared. Clusters of very different sizes are as good as fewer equal ones (Kish's
    effective number), from which the degrees of freedom come. Without clusters an instance is one by itself.

    Args:
        scores: of the instances.
        pairs: the systems to compare, by index.
        clusters: for each task the cluster of each instance, an integer, the same on two tasks for the same cluster;
            those of `scores` by default.
        level: of the two-sided test, between 0 and 1.
        power: between 0 and 1.

    Raises:
        ValueError: a level or power out of range, or clusters that do not fit the instances.
    """
    if not (0 < level < 1 and 0 < power < 1):
        raise ValueError("`level` and `power` must lie between 0 and 1")
    blocks = list(scores.oriented())
    if clusters is None and scores.clusters:
        clusters = scores.clusters
    if clusters is not None and [len(of_task) for of_task in clusters] != [block.shape[1] for block in blocks]:
        raise ValueError("`clusters` must have an entry for each instance of each task")
    sizes_of_blocks = [block.shape[1] for block in blocks]
    joined = np.arange(sum(sizes_of_blocks)) if clusters is None else np.concatenate(clusters)
    numbers = np.unique(joined, return_inverse=True)[1]  # of the clusters, from 0 over all tasks
    n_clusters = int(numbers.max(initial=-1)) + 1
    # Of each task its clusters, and which of these each instance is in.
    parts = [np.unique(codes, return_inverse=True) for codes in np.split(numbers, np.cumsum(sizes_of_blocks)[:-1])]
    is_shared = sum(len(here) for here, _ in parts) > n_clusters
    chosen = np.array([(pair[0], pair[1]) for pair in pairs], dtype=np.int64).reshape(-1, 2)
    figures = np.full((6, len(chosen)), np.nan)
    n_common = np.zeros(len(chosen), dtype=np.int64)
    for k, (i, j) in enumerate(chosen.tolist()):
        means, T = [], sum(bool((~np.isnan(block[i] + block[j])).any()) for block in blocks)
        sums, weights = np.zeros((3, n_clusters)), np.zeros(n_clusters)  # of the difference, and of both systems
        for t, block in enumerate(blocks):
            both = ~np.isnan(block[i] + block[j])
            n = int(both.sum())
            if not n:
                continue
            n_common[k] += n
            difference = block[i, both] - block[j, both]
            means.append(math.fsum(difference.tolist()) / n)
            here, codes = parts[t]
            sizes = np.bincount(codes[both], minlength=len(here))
            weights[here] += sizes / (n * T)
            for total, values in zip(sums, (difference, block[i, both], block[j, both]), strict=True):
                total[here] += residual_sums(values, codes[both], sizes) / T
        if not means:
            continue
        paired, first, second = (math.sqrt(float((total**2).sum())) for total in sums)
        figures[:3, k] = np.mean(means), paired, math.hypot(first, second)
        figures[5, k] = effective_number(weights) - 1
        if T > 1:
            figures[3, k] = np.std(means, ddof=1) / math.sqrt(T)
            # Of fewer tasks the share is mostly chance; where all differences are equal it is not known.
            if T >= LEAST_UNITS and not is_shared and figures[3, k] > 0 and not _is_rounding(figures[1, k], blocks):
                figures[4, k] = np.minimum(1.0, (figures[1, k] / figures[3, k]) ** 2)
    difference, error, unpaired_error, task_error, share, degrees = figures
    error[_is_rounding(error, blocks)] = np.nan  # all differences are equal: how far others may differ is not known
    degrees[np.isnan(error)] = np.nan
    detectable = np.array([times_detectable(level, power, of_pair) for of_pair in degrees.tolist()]) * error
    return PairedErrors(chosen, difference, error, unpaired_error, degrees, detectable, task_error, share, n_common)


def _is_rounding(errors: FloatArray, blocks: Sequence[FloatArray]) -> NDArray[np.bool_]:
    """Whether errors are only what arithmetic left behind of 0, compared with the largest score in these blocks."""
    largest = max((float(np.nanmax(np.abs(block), initial=0.0)) for block in blocks), default=0.0)
    return np.asarray(errors <= 1e-12 * largest)


def times_detectable(level: float = 0.05, power: float = POWER, degrees: float = math.inf) -> float:
    """Return how many standard errors a true difference must have to be found by a test with this power.

    Args:
        level: of the two-sided test, between 0 and 1.
        power: between 0 and 1.
        degrees: of freedom of the standard error; infinite where it is taken as exact.
    """
    return quantile_of(1 - level / 2, degrees) + quantile_of(power, degrees)


def quantile_of(share: float, degrees: float = math.inf) -> float:
    """Return the quantile of Student's t, of the normal distribution where the degrees of freedom are infinite."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 -- slow import

    return float(ndtri(share) if math.isinf(degrees) else stdtrit(degrees, share))


def residual_sums(values: FloatArray, clusters: NDArray[np.int64], sizes: NDArray[np.int64]) -> FloatArray:
    """Return what each cluster adds to the error of the mean, as `error_parts`.

    Args:
        values: of the instances of one task.
        clusters: of each, from 0 to below the number of sizes.
        sizes: how many of the instances are in each cluster; may be 0.

    Returns:
        NaN for all with fewer than LEAST_UNITS clusters.
    """
    sums = np.bincount(clusters, weights=values - values.mean(), minlength=len(sizes))
    return error_parts(sums, sizes)
