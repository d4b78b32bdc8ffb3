"""A Bayesian comparison: the probability that one of two systems is ahead on most tasks like these.

Each independent unit, a cluster of tasks, on which one of the two is ahead is a draw; those that are level say nothing.
Before, every share of units on which the first is ahead is as likely as any other (a uniform prior). Benavoli et al.
2017, Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis, section 4.1, with this
prior and no region of practical equivalence.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.separability.pair_tests import cluster_differences


def probability_ahead(n_ahead: int, n_behind: int) -> float:
    """Return the probability that the share of units on which the first is ahead is above one half.

    The share has the Beta distribution with parameters n_ahead + 1 and n_behind + 1; that it is above one half is as
    likely as at most n_ahead heads in n_ahead + n_behind + 1 throws of a coin.

    Args:
        n_ahead, n_behind: units on which the first, or the second, is ahead; 0 or more.
    """
    n = n_ahead + n_behind + 1
    heads = total = 1
    for k in range(1, n_ahead + 1):
        heads = heads * (n - k + 1) // k
        total += heads
    return float(Fraction(total, 1 << n))


def units_ahead(matrix: ScoreMatrix, i: int, j: int) -> tuple[int, int]:
    """Return on how many clusters of tasks system i is ahead of j, and behind: by the sum of their differences there.

    Differences are in units of each task's spread over the systems, times its weight, as in the sign-flip test.
    """
    units, _ = cluster_differences(matrix, "sd")
    differences = np.nan_to_num(units[i] - units[j])
    sums = np.array([math.fsum(row) for row in differences.tolist()])
    is_apart = np.abs(sums) > 1e-12 * np.abs(differences).sum(axis=1)
    return int((is_apart & (sums > 0)).sum()), int((is_apart & (sums < 0)).sum())
