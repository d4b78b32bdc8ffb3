"""Rank intervals from the ranks of resamples: their ends, how wide they must be, how exact so many resamples make them.

Percentiles of resampled ranks lie too close together where few clusters are drawn: deviations are sqrt((G - 1) / G) of
what they should be, and a normal quantile takes the place of Student's. Both are put right by going further out in the
same distribution: Hesterberg's expanded percentile interval (2015, section 5.3), with tail
Phi(-sqrt(G / (G - 1)) t_{G - 1, (1 + level) / 2}). docs/calibration.md has the coverage by simulation.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED

_MILLION = 10**6  # tails are whole millionths, so that the last bits of a quantile decide nothing
_NORMAL_975 = 1.959963984540054


def expanded_tail(level: float, n_clusters: int) -> Fraction:
    """Return the share of the resamples beyond each end of an interval.

    Args:
        level: of the interval, between 0 and 1, as 0.95.
        n_clusters: how many clusters a resample draws, at least 2.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415 -- slow import

    t = stdtrit(n_clusters - 1, (1 + level) / 2)
    return Fraction(round(float(ndtr(-math.sqrt(n_clusters / (n_clusters - 1)) * t)) * _MILLION), _MILLION)


def expanded_quantile(quantile: float, n_clusters: int) -> float:
    """Return what replaces a quantile of standardised deviations of resamples: as far out on Student's scale.

    Args:
        quantile: how many of its standard deviations, as resampled, a figure may lie off; below 0 counts as 0.
        n_clusters: how many clusters a resample draws, at least 2.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415 -- slow import

    tail = float(ndtr(-max(0.0, quantile)))
    if tail == 0:
        return math.inf
    return math.sqrt(n_clusters / (n_clusters - 1)) * -float(stdtrit(n_clusters - 1, tail))


def interval_bounds(counts: NDArray[np.int32], tail: Fraction) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lower and upper rank of each row of `counts`; UNRANKED where the row is empty.

    With N ranks, `lower` is the least rank r such that more than tail N ranks are at most r; `upper` the greatest such
    that more than tail N are at least r. Exact in integers.
    """
    total = counts.sum(axis=1, dtype=np.int64)
    return _ends(counts, total * tail.numerator // tail.denominator)


def end_errors(counts: NDArray[np.int32], tail: Fraction) -> NDArray[np.int32]:
    """Return how many ranks an end of each row's interval may be off, because there are only so many resamples.

    The end is an order statistic of the resamples; 95 % limits of the percentile that it estimates are the order
    statistics 1.96 sqrt(N tail (1 - tail)) places before and after it (David and Nagaraja 2003, section 7.1). The
    greater distance to them, of both ends; 0 where the row is empty.
    """
    total = counts.sum(axis=1, dtype=np.int64)
    share = float(tail)
    spread = _NORMAL_975 * np.sqrt(total * share * (1 - share))
    fewer = np.maximum(0, np.floor(total * share - spread)).astype(np.int64)
    more = np.maximum(0, np.minimum(np.floor(total * share + spread), (total - 1) // 2)).astype(np.int64)
    lower, upper = interval_bounds(counts, tail)
    off = [np.abs(end - other) for limit in (fewer, more)
           for end, other in zip((lower, upper), _ends(counts, limit), strict=True)]  # fmt: skip
    return np.max(off, axis=0).astype(np.int32)


def _ends(counts: NDArray[np.int32], n_beyond: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the narrowest interval of each row that leaves at most `n_beyond` of its ranks beyond each end."""
    from_best = np.cumsum(counts, axis=1, dtype=np.int64)
    total = from_best[:, -1:]
    from_worst = total - from_best + counts
    n = counts.shape[1]
    lower = (from_best > n_beyond[:, None]).argmax(axis=1) + 1
    upper = n - (from_worst > n_beyond[:, None])[:, ::-1].argmax(axis=1)
    has_ranks = total[:, 0] > 0
    return (
        np.where(has_ranks, lower, UNRANKED).astype(np.int32),
        np.where(has_ranks, upper, UNRANKED).astype(np.int32),
    )
