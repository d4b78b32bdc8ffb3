"""Drawing pairs of tasks until a bound says that it is enough, against the mean of all pairs."""

import itertools
import math

import numpy as np
import pytest

from ranking_engine import ScoreMatrix
from ranking_engine.core.task_distances import dispersion
from reproduction.colombo.stopping import FAILURE, bernstein_drawn, bernstein_radius, hoeffding_draws


def test_hoeffdings_bound_leaves_the_probability_that_is_asked_for():
    n = hoeffding_draws(0.05, 0.05)
    assert 2 * math.exp(-2 * n * 0.05**2) <= 0.05 < 2 * math.exp(-2 * (n - 1) * 0.05**2)


def test_the_probabilities_of_all_numbers_of_draws_sum_to_no_more_than_is_asked_for():
    """The share of each number of draws, taken back out of the radius without variance: 3 ln(3 / d) / t."""
    shares = (3 * math.exp(-bernstein_radius(t, 0.0) * t / 3) for t in range(1, 200_000))
    assert 0.6 * FAILURE < sum(shares) <= FAILURE


def test_more_variance_needs_more_draws():
    assert bernstein_radius(1000, 0.02) < bernstein_radius(1000, 0.2) < bernstein_radius(500, 0.2)


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_of_the_pairs_drawn_is_within_the_error_of_the_mean_of_all(seed):
    random = np.random.default_rng(seed)
    board = ScoreMatrix(np.argsort(random.random((8, 12)), axis=0).astype(float))
    pairs = [
        np.mean([
            (board.values[i, s] - board.values[j, s]) * (board.values[i, t] - board.values[j, t]) < 0
            for i, j in itertools.combinations(range(8), 2)
        ])
        for s, t in itertools.combinations(range(12), 2)
    ]  # fmt: skip
    assert np.mean(pairs) == pytest.approx(dispersion(board, normalized=True))
    drawn = bernstein_drawn(board, seed, error=0.1)
    assert abs(drawn.mean - np.mean(pairs)) <= 0.1
    assert drawn.n_draws > len(pairs)
