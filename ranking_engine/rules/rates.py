"""Rules on rates: how often, or by how much, a system is ahead of its rivals.

A rival is another system with a score on a common voting task. Sums of floats run in the order of names, so
that the order of rows and columns cannot change a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.profile import Outcome, Profile
from ranking_engine.rules.majority import pair_details
from ranking_engine.score_matrix import FloatArray

WIN_RATE_VARIANTS = ("rivals", "success_rate", "helm", "benchbench")
NO_RIVAL = "no voting task has a score of it and of another system"

_BLOCK_CELLS = 1 << 15  # differences at a time, so that their buffers stay in the processor's cache
_LEAST = 5e-324  # the smallest float above 0
_HUGE = 1e300


def win_rate(profile: Profile, *, variant: str = "rivals") -> Outcome:
    """Return the share of comparisons that each system wins, by `variant`.

    `rivals`: the mean over rivals of the weighted share of common tasks won, ties one half.
    `success_rate`: the same with ties worth nothing (Pavao et al. 2021).
    `helm`: the weighted mean over own tasks of (below + tied others / 2) / (scored - 1), over the tasks on
    which another system has a score (Liang et al. 2023).
    `benchbench`: as `success_rate`, but the sum is divided by n_systems: oneself and systems without a common
    task count as rivals that are never beaten (Zhang and Hardt 2024).
    Except under `benchbench` a system without a rival is unranked; one alone on its board has rate 0.
    O(n^2 T).
    """
    details = pair_details(profile.pairwise)
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=details)
    if variant == "helm":
        return Outcome(_mean_share_below(profile), reason=NO_RIVAL, details=details)
    common = common_weight(profile)
    np.fill_diagonal(common, 0)
    shares = _shares(profile.pairwise.wins, common, ties_count_half=variant == "rivals")
    won = shares.take(name_order(profile), axis=1).sum(axis=1)
    n_rivals = np.count_nonzero(common, axis=1)
    with np.errstate(invalid="ignore"):
        rates = won / (profile.n_systems if variant == "benchbench" else n_rivals)
    return Outcome(rates, reason=NO_RIVAL, details=details)


def relative_difference(profile: Profile) -> Outcome:
    """Return the mean over rivals of the weighted mean over common tasks of the relative difference.

    It is dir_t (x_i - x_j) / (|x_i| + |x_j|) on the values as stored, 0 where both are 0, so between -1 and 1
    (Pavao et al. 2021, for non-negative scores); the oriented scores give the same. A system without a rival
    is unranked; one alone on its board has 0. O(n^2 T).
    """
    details = pair_details(profile.pairwise)
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=details)
    systems, tasks = name_order(profile), _sorted(profile.matrix.task_names)
    scores = profile.scores[np.ix_(systems, tasks)]
    if np.abs(scores[~np.isnan(scores)]).max() > _HUGE:
        scores = scores * 2.0**-4  # a power of two: the quotients stay the same
    means = _mean_differences(scores, profile.weights[tasks] / profile.weights.max())
    return Outcome(in_first_order(snapped(means), systems), reason=NO_RIVAL, details=details)


def name_order(profile: Profile) -> NDArray[np.intp]:
    """Return the systems in the order of their names."""
    return _sorted(profile.matrix.system_names)


def in_first_order(sorted_scores: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    """Return scores in the profile's order of systems; `sorted_scores[k]` belongs to system `order[k]`."""
    scores = np.empty(len(order))
    scores[order] = sorted_scores
    return scores


def snapped(scores: FloatArray, tolerance: float = 1e-12) -> FloatArray:
    """Make scores equal that differ by no more than rounding: neighbours within `tolerance`, chained.

    Ranks tie relative to the largest |score|, which itself may be nothing but rounding where all are near 0.
    """
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    opens = np.concatenate([[True], np.diff(ascending) > tolerance])
    lowest = ascending[np.maximum.accumulate(np.where(opens, np.arange(len(scores)), 0))]
    lowest[np.abs(lowest) <= tolerance] = 0.0
    snapped_scores = np.empty(len(scores))
    snapped_scores[order] = np.where(np.isnan(ascending), np.nan, lowest)
    return snapped_scores


def common_weight(profile: Profile) -> NDArray[Any]:
    """`common[i, j]`: the weight of the tasks on which i and j have scores, an integer as Pairwise.wins."""
    weights = profile.matrix.integer_weights
    present = ~np.isnan(profile.scores)
    n = profile.n_systems
    if weights.dtype == object:
        counted = present.astype(object)
        return (counted * weights) @ counted.T
    if present.all():
        return np.full((n, n), weights.sum(), dtype=np.int64)
    counted = present.astype(np.float64)
    return ((counted * weights) @ counted.T).astype(np.int64)  # exact: the weights sum to less than 2^53


def _sorted(names: Sequence[str]) -> NDArray[np.intp]:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)


def _shares(wins: NDArray[Any], common: NDArray[Any], *, ties_count_half: bool) -> FloatArray:
    """Return the share of the common weight that i wins from j; 0 where there is none."""
    shares = np.zeros(wins.shape)
    if object in (wins.dtype, common.dtype):
        won, whole = (common + wins - wins.T, common * 2) if ties_count_half else (wins, common)
        has_common = common > 0
        shares[has_common] = (won[has_common] / whole[has_common]).astype(np.float64)
        return shares
    won = wins.astype(np.float64)
    np.divide(won - won.T if ties_count_half else won, common, out=shares, where=common > 0)
    if ties_count_half:
        shares += common > 0
        shares /= 2
    return shares


def _mean_share_below(profile: Profile) -> FloatArray:
    order = profile.order
    scored = (~np.isnan(profile.scores)).sum(axis=0)
    others = np.where(scored > 1, scored - 1, 1)
    shares = (scored - 1 - order.last + (order.last - order.first) / 2) / others
    counts = ~np.isnan(profile.scores) & (scored > 1)
    weights = np.where(counts, profile.weights, 0.0)
    won, whole = (weights * np.where(counts, shares, 0.0)).tolist(), weights.tolist()
    return np.array(
        [math.fsum(w) / math.fsum(c) if any(c) else math.nan for w, c in zip(won, whole, strict=True)]
    )


def _mean_differences(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return for each system the mean over rivals of the mean relative difference over common tasks.

    What i is ahead of j, j is behind i: each block of rows is compared with itself and the rows after it.
    """
    n = len(scores)
    present = ~np.isnan(scores)
    # A missing score is 0 of infinite size, so that its quotients are 0; two zeros must not divide by 0.
    by_task = np.ascontiguousarray(np.where(present, scores, 0.0).T)
    size = np.where(present, np.maximum(np.abs(scores), _LEAST), np.inf).T.copy()
    sums, n_rivals = np.zeros(n), np.zeros(n)
    start = 0
    while start < n:
        stop = min(n, start + max(1, _BLOCK_CELLS // (n - start)))
        rows, height = slice(start, stop), stop - start
        total = _weighted_differences(by_task, size, weights, rows)
        common = (present[rows] * weights) @ present[start:].T
        np.fill_diagonal(common, 0)
        is_rival = common > 0
        means = np.divide(total, common, out=total, where=is_rival)
        sums[rows] += means.sum(axis=1)
        sums[stop:] -= means[:, height:].sum(axis=0)
        n_rivals[rows] += np.count_nonzero(is_rival, axis=1)
        n_rivals[stop:] += np.count_nonzero(is_rival[:, height:], axis=0)
        start = stop
    with np.errstate(invalid="ignore"):
        return sums / n_rivals


def _weighted_differences(
    by_task: FloatArray, size: FloatArray, weights: FloatArray, rows: slice
) -> FloatArray:
    """Return sum_t weights[t] (x_it - x_jt) / (size_it + size_jt) for i in `rows` and all j from its start on.

    `by_task` and `size` have shape (n_tasks, n_systems).
    """
    total = np.zeros((rows.stop - rows.start, by_task.shape[1] - rows.start))
    difference, whole = np.empty_like(total), np.empty_like(total)
    for values, sizes, weight in zip(by_task, size, weights.tolist(), strict=True):
        np.subtract(values[rows, None], values[rows.start :], out=difference)
        np.add(sizes[rows, None], sizes[rows.start :], out=whole)
        np.divide(difference, whole, out=difference)
        if weight != 1:
            difference *= weight
        total += difference
    return total
