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

from ranking_engine.core.instances import InstanceScores
from ranking_engine.core.score_matrix import FloatArray

LEAST_UNITS = 10  # instances, or clusters of them, of a task: below, a standard error means little
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
        unpaired_error: the same if each system had been scored on instances of its own.
        detectable: the least true difference that a test at the level finds with the power asked for.
        task_error: the standard error if tasks were drawn again, and instances with them; NaN with fewer than 2 tasks.
        instance_share: the part of the square of `task_error` that comes from instances, at most 1; NaN where either is
            not known, and with fewer than LEAST_UNITS tasks: of so few it is mostly chance.
        n_common: the number of common instances over all tasks.
    """

    pairs: NDArray[np.int64]
    difference: FloatArray
    standard_error: FloatArray
    unpaired_error: FloatArray
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

    With d_tk the difference on instance k of task t, n_t common instances, T tasks with any, and r_tk = d_tk - mean_t:

        variance_t = Σ_clusters (Σ_k in cluster r_tk)² / n_t² * G_t / (G_t - 1)        G_t clusters of task t
        standard_error² = Σ_t variance_t / T²
        detectable = (z(1 - level / 2) + z(power)) * standard_error
        task_error² = Σ_t (mean_t - mean)² / (T (T - 1))
        instance_share = standard_error² / task_error²

    Standard errors, clusters, pairs and power after Miller 2024, with the usual factor G / (G - 1), for the instances
    that are there; the shares are ours. Without clusters an instance is one by itself.

    Args:
        scores: of the instances.
        pairs: the systems to compare, by index.
        clusters: for each task the cluster of each instance, an integer; those of `scores` by default.
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
    times = times_detectable(level, power)
    chosen = np.array([(pair[0], pair[1]) for pair in pairs], dtype=np.int64).reshape(-1, 2)
    figures = np.full((5, len(chosen)), np.nan)
    n_common = np.zeros(len(chosen), dtype=np.int64)
    for k, (i, j) in enumerate(chosen.tolist()):
        means, variances, unpaired = [], [], []
        for t, block in enumerate(blocks):
            both = ~np.isnan(block[i] + block[j])
            n = int(both.sum())
            if not n:
                continue
            n_common[k] += n
            units = np.arange(n) if clusters is None else np.unique(clusters[t][both], return_inverse=True)[1]
            difference = block[i, both] - block[j, both]
            means.append(math.fsum(difference.tolist()) / n)
            variances.append(_variance(difference, units))
            unpaired.append(_variance(block[i, both], units) + _variance(block[j, both], units))
        if not means:
            continue
        T = len(means)
        figures[:3, k] = np.mean(means), math.sqrt(sum(variances)) / T, math.sqrt(sum(unpaired)) / T
        if T > 1:
            figures[3, k] = np.std(means, ddof=1) / math.sqrt(T)
            # Of fewer tasks the share is mostly chance; where all differences are equal it is not known.
            if T >= LEAST_UNITS and figures[3, k] > 0 and not is_rounding(figures[1, k], blocks):
                figures[4, k] = np.minimum(1.0, (figures[1, k] / figures[3, k]) ** 2)
    difference, error, unpaired_error, task_error, share = figures
    error[is_rounding(error, blocks)] = np.nan  # all differences are equal: how far others may differ is not known
    return PairedErrors(chosen, difference, error, unpaired_error, times * error, task_error, share, n_common)


def is_rounding(errors: FloatArray, blocks: Sequence[FloatArray]) -> NDArray[np.bool_]:
    """Whether errors are only what arithmetic left behind of 0, compared with the largest score in these blocks."""
    largest = max((float(np.nanmax(np.abs(block), initial=0.0)) for block in blocks), default=0.0)
    return np.asarray(errors <= 1e-12 * largest)


def times_detectable(level: float = 0.05, power: float = POWER) -> float:
    """Return how many standard errors a true difference must have to be found by a test with this power.

    Args:
        level: of the two-sided test, between 0 and 1.
        power: between 0 and 1.
    """
    from scipy.special import ndtri  # noqa: PLC0415 -- slow import

    return float(ndtri(1 - level / 2) + ndtri(power))


def _variance(values: FloatArray, units: NDArray[np.int64]) -> float:
    """Return the variance of the mean of values, clustered; NaN with fewer than LEAST_UNITS clusters."""
    n_units = int(units.max()) + 1
    if n_units < LEAST_UNITS:
        return math.nan
    sums = np.bincount(units, weights=values - values.mean(), minlength=n_units)
    return float((sums**2).sum()) / len(values) ** 2 * n_units / (n_units - 1)
