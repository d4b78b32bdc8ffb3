"""The orders that are closest to the tasks' own, under several measures of distance.

A measure that is a sum over systems of what each place costs is minimised exactly, as an assignment of systems to
places; Dwork et al. 2001 do so for the footrule. Kendall's distance is no such sum: Kemeny's rule minimises it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix

KENDALL, FOOTRULE, SQUARES, SPEARMAN, PLACES = "kendall", "footrule", "squares", "spearman", "places"
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        KENDALL: "Kendall’s distance: pairs in the opposite order, and half of those that only one of two ties",
        FOOTRULE: "Spearman’s footrule: the sum of how many places each system is off",
        SQUARES: "Spearman’s distance: the sum of the squares of how many places each system is off",
        SPEARMAN: "Spearman’s correlation, as (1 − ρ) / 2",
        PLACES: "systems that are at another place, by any number",
    }
)
_BLOCK = 1 << 24  # costs that are computed at once


def task_shares(matrix: ScoreMatrix) -> FloatArray:
    """Return the share of the weight that each voting task has, in the order of `task_ranks`."""
    weights = np.array([float(weight) for weight in matrix.weights])[matrix.votes]
    return np.asarray(weights / weights.sum())


def largest_distance(measure: str, n_systems: int) -> float:
    """Return the largest distance between two orders without ties of 2 systems or more."""
    n = n_systems
    return {
        KENDALL: n * (n - 1) / 2,
        FOOTRULE: float(n * n // 2),
        SQUARES: n * (n * n - 1) / 3,
        SPEARMAN: 1.0,
        PLACES: float(n),
    }[measure]


def mean_distance(measure: str, ranks: FloatArray, of_tasks: FloatArray, shares: FloatArray) -> float:
    """Return the mean over tasks of their distance to a ranking, as a share of `largest_distance`.

    Args:
        measure: a key of MEASURES.
        ranks: average ranks of all systems, 2 or more, NaN of those that are unranked.
        of_tasks: those that the tasks give, one row per task, without gaps.
        shares: the tasks' shares of the weight, see `task_shares`. Under `spearman` a task, or a ranking, that ties
            all systems has no correlation and counts as one of 0.

    Returns:
        NaN for a ranking that leaves systems unranked.
    """
    if np.isnan(ranks).any():
        return float("nan")
    if measure == KENDALL:
        first, second = np.triu_indices(len(ranks), 1)
        mine = np.sign(ranks[first] - ranks[second])
        each = [float(np.abs(mine - np.sign(row[first] - row[second])).sum()) / 2 for row in of_tasks]
    elif measure == SPEARMAN:
        mine, theirs = ranks - ranks.mean(), of_tasks - of_tasks.mean(axis=1, keepdims=True)
        sizes = np.sqrt((mine**2).sum() * (theirs**2).sum(axis=1))
        each = (0.5 - np.divide(theirs @ mine, 2 * sizes, out=np.zeros_like(sizes), where=sizes > 0)).tolist()
    else:
        each = [float(_displacement(measure, ranks - row).sum()) for row in of_tasks]
    return float(np.dot(each, shares)) / largest_distance(measure, len(ranks))


def closest_order(measure: str, of_tasks: FloatArray, shares: FloatArray) -> NDArray[np.intp]:
    """Return the places, from 1, of an order without ties that no other is closer to the tasks than.

    It is exact, by linear assignment, to the rounding of floating-point sums. Others may be as close.

    Args:
        measure: a key of MEASURES other than `kendall`.
        of_tasks, shares: as for `mean_distance`.

    Raises:
        ValueError: `measure` is `kendall`, which is no sum over systems.
    """
    if measure == KENDALL:
        raise ValueError("`measure` is 'kendall'; the rule kemeny gives the closest order by Kendall's distance")
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 -- slow import

    # What each place costs each system: the sum over an order is its mean distance, up to a constant and a factor.
    n = of_tasks.shape[1]
    places = np.arange(1.0, n + 1)
    if measure == SPEARMAN:
        centred = of_tasks - (n + 1) / 2
        sizes = np.sqrt((centred**2).sum(axis=1))
        per_task = np.divide(shares, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        costs = -(per_task @ centred)[:, None] * (places - (n + 1) / 2)
    else:
        costs = np.zeros((n, n))
        height = max(1, _BLOCK // (n * len(of_tasks)))
        for start in range(0, n, height):
            rows = slice(start, start + height)
            costs[rows] = np.einsum("t,tip->ip", shares, _displacement(measure, places - of_tasks[:, rows, None]))
    return np.asarray(linear_sum_assignment(costs)[1] + 1, dtype=np.intp)


def _displacement(measure: str, change: FloatArray) -> FloatArray:
    """Return what it costs each system to be so many places off."""
    if measure == FOOTRULE:
        return np.abs(change)
    return np.asarray(change**2 if measure == SQUARES else change != 0, dtype=np.float64)
