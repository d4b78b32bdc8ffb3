"""The Bayesian comparison of two systems, against integrals and against counting."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import comb

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.separability.bayesian_sign import probability_ahead, units_ahead


@pytest.mark.parametrize(("n_ahead", "n_behind"), list(itertools.product([0, 1, 2, 5, 9], repeat=2)))
def test_the_probability_is_the_integral_of_the_posterior(n_ahead, n_behind):
    density = (n_ahead + n_behind + 1) * comb(n_ahead + n_behind, n_ahead)
    expected, _ = quad(lambda x: density * x**n_ahead * (1 - x) ** n_behind, 0.5, 1)
    assert probability_ahead(n_ahead, n_behind) == pytest.approx(expected, rel=1e-9)
    assert probability_ahead(n_ahead, n_behind) + probability_ahead(n_behind, n_ahead) == pytest.approx(1.0)


def test_without_a_difference_it_is_one_half_and_many_units_are_computed():
    assert probability_ahead(0, 0) == 0.5
    assert probability_ahead(3_000, 2_900) == pytest.approx(0.9034, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_units_are_clusters_on_which_the_sum_of_differences_in_units_of_spread_decides(seed):
    matrix = random_matrix(5, 6, seed=seed, n_levels=3, weights=[1, 2, 1, 1, 0, 1])
    clustered = ScoreMatrix(matrix.values, weights=matrix.weights, clusters=["a", "a", "b", "c", "c", "d"])
    for i, j in itertools.combinations(range(5), 2):
        signs = []
        for tasks in ([0, 1], [2], [3], [5]):
            parts = [
                matrix.weights[t] * (matrix.values[i, t] - matrix.values[j, t]) / (np.std(matrix.values[:, t]) or 1.0)
                for t in tasks
            ]
            signs.append(0 if abs(sum(parts)) < 1e-9 else np.sign(float(sum(parts))))
        assert units_ahead(clustered, i, j) == (signs.count(1), signs.count(-1))
