"""When to stop drawing pairs of tasks: the dispersion of Colombo et al. 2022, appendix C.2, to a stated error.

The appendix names stopping rules by bounds of Hoeffding and of Bernstein, after Mnih et al. 2008. Both draw pairs of
different tasks with replacement and stop when the mean of the distances drawn is within the error of the mean of all
pairs, except for the probability stated. Hoeffding's bound fixes the number beforehand. The empirical Bernstein bound
looks at the variance met so far and shares the probability out over all numbers of draws.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.core.comparison import compare_ranks, task_ranks

ERROR, FAILURE = 0.05, 0.05  # of the share of pairs of systems, and the probability that it is larger
EXPONENT = 1.1  # how fast the probability is shared out: d_t = FAILURE (p - 1) / p t^-p, which sum to less than FAILURE


class Drawn(NamedTuple):
    """Where drawing stopped: the mean distance of the pairs drawn, and how many these are."""

    mean: float
    n_draws: int


def hoeffding_draws(error: float = ERROR, failure: float = FAILURE) -> int:
    """Return how many draws of numbers from 0 to 1 suffice: ln(2 / failure) / (2 error^2)."""
    return math.ceil(math.log(2 / failure) / (2 * error**2))


def bernstein_radius(n_draws: int, variance: float, failure: float = FAILURE) -> float:
    """Return how far the mean of so many draws of numbers from 0 to 1 may be off (Audibert et al. 2007).

    Args:
        n_draws: t, from 1.
        variance: of the draws, over t.
        failure: the probability that the mean is further off after any number of draws.
    """
    share = failure * (EXPONENT - 1) / EXPONENT * n_draws**-EXPONENT
    logarithm = math.log(3 / share)
    return math.sqrt(2 * variance * logarithm / n_draws) + 3 * logarithm / n_draws


def bernstein_drawn(matrix: ScoreMatrix, seed: int = 0, error: float = ERROR) -> Drawn:
    """Draw pairs of tasks until the empirical Bernstein bound is within the error.

    Args:
        matrix: complete scores of 2 systems or more, on 2 tasks or more.
        seed: of the draws.
        error: of the mean normalised Kendall distance.
    """
    distances = compare_ranks(task_ranks(matrix)).normalized_distance  # all of them: a draw looks one up
    random = np.random.default_rng(seed)
    total = squares = 0.0
    n_draws = 0
    while True:
        first, second = random.choice(len(distances), 2, replace=False)
        distance = float(distances[first, second])
        total, squares, n_draws = total + distance, squares + distance**2, n_draws + 1
        variance = max(0.0, squares / n_draws - (total / n_draws) ** 2)
        if bernstein_radius(n_draws, variance) <= error:
            return Drawn(total / n_draws, n_draws)
