"""Votes made from a recipe, the same in every process that has numpy, for peers.py and its worker."""

from functools import lru_cache

import numpy as np

TIES = 0.15


@lru_cache(maxsize=4)
def recipe_votes(n_systems, n_votes, seed):
    """The names of both systems, who won (0 the first, 1 the second, 2 a tie), and two covariates, by vote."""
    random = np.random.default_rng(seed)
    strengths = random.normal(size=n_systems)
    first = random.integers(n_systems, size=n_votes)
    second = (first + random.integers(1, n_systems, size=n_votes)) % n_systems
    covariates = random.normal(size=(n_votes, 2))
    d = strengths[first] - strengths[second] + covariates @ [0.3, -0.1]
    outcomes = np.where(random.random(n_votes) < 1 / (1 + np.exp(-d)), 0, 1)
    outcomes[random.random(n_votes) < TIES] = 2
    names = np.array([f"system {i:04d}" for i in range(n_systems)], dtype=object)
    return names[first].tolist(), names[second].tolist(), outcomes, covariates


def votes_of_recipe(scores):
    """The votes of a recipe in place of scores: systems, votes, seed."""
    n_systems, n_votes, seed = (int(value) for value in np.asarray(scores)[0])
    return recipe_votes(n_systems, n_votes, seed)
