"""Rules on rates: how often, or by how much, a system is ahead of its rivals.

A rival is another system with a score on a common voting task. Sums of floats run in the order of names, so
that the order of rows and columns cannot change a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.majority import pair_details
from ranking_engine.text.names import name_order_key

DIVISORS = ("sizes", "sum")
WIN_RATE_VARIANTS = ("rivals", "success_rate", "helm", "benchbench")
NO_RIVAL = "no task of weight above 0 has a score of it and of another system"
NO_RIVALS = "no task of weight above 0 has scores of two systems"

_LIMB_BITS = 32  # the sum of two million weights cut to so many bits is below 2^53
_BLOCK_CELLS = 1 << 15  # differences at a time, so that their buffers stay in the processor's cache
_LEAST = 1e-200  # the size of 0, so that nothing is divided by 0; lost in any sum with a size above 1e-184
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
        order = profile.order
        scored = (~np.isnan(profile.scores)).sum(axis=0)
        shares = (scored - 1 - order.last + (order.last - order.first) / 2) / np.where(scored > 1, scored - 1, 1)
        counts = ~np.isnan(profile.scores) & (scored > 1)
        weights = np.where(counts, profile.weights, 0.0)
        won_and_whole = zip((weights * np.where(counts, shares, 0.0)).tolist(), weights.tolist(), strict=True)
        means = [math.fsum(won) / math.fsum(whole) if any(whole) else math.nan for won, whole in won_and_whole]
        return _of_rivals(np.array(means), details)
    wins, ties_count_half = profile.pairwise.wins, variant == "rivals"
    if variant != "benchbench" and not np.isnan(profile.scores).any():
        # Every rival has every task in common: the share of all comparisons.
        dtype = object if wins.dtype == object else np.float64
        won, lost = wins.sum(axis=1, dtype=dtype), wins.sum(axis=0, dtype=dtype)
        whole = (profile.n_systems - 1) * int(profile.matrix.integer_weights.sum())
        rates = (whole + won - lost) / (2 * whole) if ties_count_half else won / whole
        return Outcome(rates.astype(np.float64), details=details)
    common = common_weight(profile)
    np.fill_diagonal(common, 0)
    shares, has_common = np.zeros(wins.shape), common > 0  # of the common weight i wins from j; 0 where there is none
    if object in (wins.dtype, common.dtype):
        won, shared = (common + wins - wins.T, common * 2) if ties_count_half else (wins, common)
        shares[has_common] = (won[has_common] / shared[has_common]).astype(np.float64)
    else:
        won = wins.astype(np.float64)
        np.divide(won - won.T if ties_count_half else won, common, out=shares, where=has_common)
        if ties_count_half:
            shares += has_common
            shares /= 2
    won = shares.take(name_order(profile), axis=1).sum(axis=1)
    n_rivals = np.count_nonzero(common, axis=1)
    with np.errstate(invalid="ignore"):
        rates = won / (profile.n_systems if variant == "benchbench" else n_rivals)
    return _of_rivals(rates, details)


def _of_rivals(scores: FloatArray, details: Mapping[str, Any]) -> Outcome:
    """Return scores that a system without a rival lacks; where no one has one, the rule gives no answer."""
    return Outcome(scores, reason=NO_RIVALS if np.isnan(scores).all() else NO_RIVAL, details=details)


def win_rate_contributions(profile: Profile, *, variant: str = "rivals") -> FloatArray | None:
    """Return what each task adds to the win rate, its share of the weight times the share of rivals beaten on it.

    None where a score is missing: the rate against each rival is then over the tasks that both have, so that a task
    counts more for a system with few tasks than for its rivals.
    """
    n = profile.n_systems
    if np.isnan(profile.scores).any():
        return None
    if n == 1:
        return np.zeros((1, profile.n_tasks))
    order, weights = profile.order, profile.weights / math.fsum(profile.weights.tolist())
    beaten = (n - 1 - order.last).astype(np.float64)
    if variant in ("rivals", "helm"):
        beaten += (order.last - order.first) / 2
    return beaten * weights / (n if variant == "benchbench" else n - 1)


def relative_difference(profile: Profile, *, divisor: str = "sizes") -> Outcome:
    """Return the mean over rivals of the weighted mean over common tasks of the relative difference.

    By `sizes` it is dir_t (x_i - x_j) / (|x_i| + |x_j|) on the values as stored, 0 where both are 0, so between -1
    and 1 (Pavao et al. 2021, for non-negative scores); the oriented scores give the same. By `sum` it is
    dir_t (x_i - x_j) / (x_i + x_j), as they print it, 0 where the sum is 0; it has no bounds where scores have both
    signs. A system without a rival is unranked; one alone on its board has 0. O(n^2 T).
    """
    details = pair_details(profile.pairwise)
    if profile.n_systems == 1:
        return Outcome(np.zeros(1), details=details)
    systems, tasks = name_order(profile), order_of_names(profile.matrix.task_names)
    scores = profile.scores[np.ix_(systems, tasks)]
    if np.abs(scores[~np.isnan(scores)]).max() > _HUGE:
        scores = scores * 2.0**-4  # a power of two: the quotients stay the same
    weights = profile.weights[tasks] / profile.weights.max()
    n, present = len(scores), ~np.isnan(scores)
    directions = None if divisor == "sizes" else profile.matrix.directions[tasks].astype(np.float64)
    quotients = _Quotients.of(scores, present, weights, directions)
    # What i is ahead of j, j is behind i: each block of rows is compared with itself and the rows after it.
    sums, n_rivals = np.zeros(n), np.zeros(n)
    start = 0
    while start < n:
        stop = min(n, start + max(1, _BLOCK_CELLS // (n - start)))
        rows, height = slice(start, stop), stop - start
        total = quotients.weighted_differences(rows)
        common = (present[rows] * weights) @ present[start:].T
        np.fill_diagonal(common, 0)
        is_rival = common > 0
        means = np.divide(total, common, out=np.zeros_like(total), where=is_rival)
        sums[rows] += means.sum(axis=1)
        sums[stop:] -= means[:, height:].sum(axis=0)
        n_rivals[rows] += np.count_nonzero(is_rival, axis=1)
        n_rivals[stop:] += np.count_nonzero(is_rival[:, height:], axis=0)
        start = stop
    with np.errstate(invalid="ignore"):
        differences = sums / n_rivals
    return _of_rivals(in_first_order(snapped(differences), systems), details)


def relative_difference_contributions(profile: Profile, *, divisor: str = "sizes") -> FloatArray | None:
    """Return what each task adds to the relative difference; None where a score is missing, as under win rate."""
    n = profile.n_systems
    if np.isnan(profile.scores).any():
        return None
    if n == 1:
        return np.zeros((1, profile.n_tasks))
    scores = profile.scores * 2.0**-4 if np.abs(profile.scores).max() > _HUGE else profile.scores
    weights = profile.weights / math.fsum(profile.weights.tolist())
    contributions = np.empty(scores.shape)
    for t, column in enumerate(scores.T):
        size = np.maximum(np.abs(column), _LEAST) if divisor == "sizes" else column * profile.matrix.directions[t]
        whole = size[:, None] + size
        relative = np.divide(column[:, None] - column, whole, out=np.zeros_like(whole), where=whole != 0)
        contributions[:, t] = relative.sum(axis=1) * weights[t] / (n - 1)
    return contributions


def name_order(profile: Profile) -> NDArray[np.intp]:
    """Return the systems in the order of their names."""
    return order_of_names(profile.matrix.system_names)


def in_first_order(sorted_scores: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    """Return scores in the profile's order of systems; `sorted_scores[k]` belongs to system `order[k]`."""
    scores = np.empty(len(order))
    scores[order] = sorted_scores
    return scores


def snapped(scores: FloatArray, tolerance: float = 1e-12) -> FloatArray:
    """Make scores equal that differ by no more than rounding: neighbours within `tolerance`, chained.

    Ranks tie relative to the largest |score|, which itself may be nothing but rounding where all are near 0.

    Args:
        scores: shape (..., n_systems); what the axes before say is apart.
        tolerance: how much two neighbours may differ.
    """
    order = np.argsort(scores, axis=-1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=-1)
    opens = np.ones(scores.shape, dtype=bool)
    np.greater(np.diff(ascending, axis=-1), tolerance, out=opens[..., 1:])
    first = np.maximum.accumulate(np.where(opens, np.arange(scores.shape[-1]), 0), axis=-1)
    lowest = np.take_along_axis(ascending, first, axis=-1)
    lowest[np.abs(lowest) <= tolerance] = 0.0
    snapped_scores = np.empty(scores.shape)
    np.put_along_axis(snapped_scores, order, np.where(np.isnan(ascending), np.nan, lowest), axis=-1)
    return snapped_scores


def common_weight(profile: Profile) -> NDArray[Any]:
    """`common[i, j]`: the weight of the tasks on which i and j have scores, an integer as Pairwise.wins."""
    weights = profile.matrix.integer_weights
    present = ~np.isnan(profile.scores)
    n = profile.n_systems
    if weights.dtype == object:  # summed in pieces whose sums are exact in float64
        counted, common = present.astype(np.float64), np.zeros((n, n), dtype=object)
        for shift in range(0, max(int(weight).bit_length() for weight in weights), _LIMB_BITS):
            piece = np.array([(int(weight) >> shift) % (1 << _LIMB_BITS) for weight in weights], dtype=np.float64)
            common += ((counted * piece) @ counted.T).astype(np.int64).astype(object) << shift
        return common
    if present.all():
        return np.full((n, n), weights.sum(), dtype=np.int64)
    counted = present.astype(np.float64)
    return ((counted * weights) @ counted.T).astype(np.int64)  # exact: the weights sum to less than 2^53


def order_of_names(names: Sequence[str]) -> NDArray[np.intp]:
    """Return the indices of the names in the order of `name_order_key`."""
    keys = [name_order_key(name) for name in names]
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.intp)


@dataclass(frozen=True)
class _Quotients:
    """The scores of each task as what is added up and divided; arrays have shape (n_tasks, n_systems).

    Attributes:
        values: the scores, 0 where missing.
        size: what is added up below the line, by default their absolute values; infinite where missing, so that
            quotients are 0.
        weights: of the tasks.
        sign: 1 or -1 where all scores of a task have this sign or are 0, else 0; 0, too, where values as stored are
            added up and one is below 0.
        double: 2 x weight x score for a task with a sign; 0 where missing.
        present: shape (n_systems, n_tasks), 1.0 where there is a score.
    """

    values: FloatArray
    size: FloatArray
    weights: FloatArray
    sign: FloatArray
    double: FloatArray
    present: FloatArray

    @classmethod
    def of(
        cls, scores: FloatArray, present: BoolArray, weights: FloatArray, directions: FloatArray | None
    ) -> _Quotients:
        values = np.ascontiguousarray(np.where(present, scores, 0.0).T)
        size = np.where(present.T, np.maximum(np.abs(values), _LEAST), np.inf)
        sign = np.where(values.min(axis=1) >= 0, 1.0, np.where(values.max(axis=1) <= 0, -1.0, 0.0))
        if directions is not None:  # sums of the values as stored; where none is below 0, they are those of sizes
            sign = np.where(sign * directions > 0, sign, 0.0)
            signed = np.where(present.T, values * directions[:, None], np.inf)
            size = np.where((sign == 0)[:, None], signed, size)
        double = np.where(present.T, 2.0 * (weights * sign)[:, None] * np.where(present.T, size, 0.0), 0.0)
        return cls(values, size, weights, sign, double, present.astype(np.float64))

    def weighted_differences(self, rows: slice) -> FloatArray:
        """Return sum_t weights[t] (x_it - x_jt) / (size_it + size_jt) for i in `rows`, j from its start on.

        Among scores x, y >= 0 the quotient is 2 x / (x + y) - 1, among those <= 0 it is 1 + 2 x / (|x| + |y|).
        """
        rivals = slice(rows.start, None)
        ones = (self.present[rows] * (self.weights * self.sign)) @ self.present[rivals].T
        total = np.negative(ones, out=ones)
        whole, difference = np.empty_like(total), np.empty_like(total)
        for t, sign in enumerate(self.sign.tolist()):
            np.add(self.size[t, rows, None], self.size[t, rivals], out=whole)
            if sign:
                np.divide(self.double[t, rows, None], whole, out=whole)
            else:
                np.subtract(self.values[t, rows, None], self.values[t, rivals], out=difference)
                difference *= self.weights[t]
                whole[whole == 0] = np.inf  # of values as stored: 0 where their sum is 0
                np.divide(difference, whole, out=whole)
            total += whole
        return total
