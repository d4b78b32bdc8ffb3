"""Rank intervals for all systems at once, and the systems that may be the best.

A rank follows from who is ahead of whom. System j is *clearly* ahead of i where the difference of their rule scores is
more than c of its standard deviations, as resampled. c is taken from the resamples: in `level` of them no difference of
any two systems is off by more than c deviations, after which c is put on Student's scale for few clusters. So with that
probability no clear difference is false, and each system's true rank lies between 1 + those clearly ahead of it and n -
those that it is clearly ahead of (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3; the largest standardised
deviation is that of Romano and Wolf 2005).

A system is *possibly best* where none is clearly ahead of it, c being taken for that system alone: for the truly best
one this errs in 1 - `level` of the draws, whatever is decided about the others (the same paper, section 3.3; Hsu 1984,
multiple comparisons with the best). These c are smaller, so fewer systems are left than have rank 1 in their interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.stability.rank_bounds import expanded_quantile

MAX_SYSTEMS = 400  # every resample compares all pairs
MAX_RESAMPLES = 1000  # more would hardly move c

_SAME = 1e-9  # of the largest score: what differs by less is equal
_CERTAIN = 1e300


@dataclass(frozen=True, eq=False)
class SimultaneousRanks:
    """Intervals of one rule that hold together.

    Attributes:
        lower, upper: the best and the worst rank of each system, int32 of shape (n_systems,); UNRANKED (-1) for those
            without a score.
        possibly_best: whether no system is clearly ahead, bool of shape (n_systems,).
    """

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    possibly_best: BoolArray


def simultaneous_ranks(
    observed: FloatArray, resampled: FloatArray, n_clusters: int, level: float = 0.95
) -> SimultaneousRanks:
    """Return intervals of all ranks at once, from rule scores; more is better.

    Args:
        observed: the scores on all tasks, shape (n_systems,); NaN for a system without a rank, which stays without.
        resampled: those of the resamples, on the same scale, shape (n_resamples, n_systems); NaN where a resample
            leaves a system without. Two systems with scores together in less than half of the resamples count as
            not clearly apart.
        n_clusters: how many clusters a resample draws, at least 2.
        level: of all intervals together.
    """
    ranked = np.flatnonzero(~np.isnan(observed))
    scores, deviations = observed[ranked], resampled[:, ranked] - observed[ranked]
    n, same = len(ranked), _SAME * float(np.abs(scores).max(initial=0.0))
    ahead = np.empty((n, n))  # ahead[i, j]: by how many standard deviations j is ahead of i
    largest = np.full(len(deviations), -math.inf)  # of each resample, over all pairs
    possibly_best = np.zeros(len(observed), dtype=bool)
    for i in range(n):
        off = deviations - deviations[:, i, None]
        is_common = ~np.isnan(off)
        n_common = is_common.sum(axis=0)
        off[~is_common] = 0.0
        spread = np.sqrt((off**2).sum(axis=0) / np.maximum(n_common, 1))
        moves = spread > same
        spread[~moves] = 1.0
        difference = scores - scores[i]
        difference[np.abs(difference) <= same] = 0.0
        # A difference that is the same in all resamples is as clear as can be.
        ahead[i] = np.where(moves, difference / spread, np.sign(difference) * _CERTAIN)
        ahead[i, 2 * n_common < len(deviations)] = 0.0
        of_resample = np.where(is_common & moves, off / spread, -math.inf).max(axis=1)
        largest = np.maximum(largest, of_resample)
        possibly_best[ranked[i]] = not (ahead[i] > _limit(of_resample, n_clusters, level)).any()
    is_clear = ahead > _limit(largest, n_clusters, level)
    lower = np.full(len(observed), UNRANKED, dtype=np.int32)
    upper = lower.copy()
    lower[ranked], upper[ranked] = 1 + is_clear.sum(axis=1), n - is_clear.sum(axis=0)
    return SimultaneousRanks(lower, upper, possibly_best)


def _limit(largest: FloatArray, n_clusters: int, level: float) -> float:
    """Return c: `level` of the resamples have no larger deviation, on Student's scale."""
    return expanded_quantile(float(np.sort(largest)[math.ceil(level * len(largest) - 1e-9) - 1]), n_clusters)
