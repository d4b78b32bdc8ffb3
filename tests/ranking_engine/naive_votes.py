"""Ratings from votes by their definitions: one vote after the other, slow and plain."""

import itertools
import math

import numpy as np
from scipy.optimize import minimize

FIRST, SECOND = 0, 1


def probabilities(model, d, t):
    """Win of the first, win of the second, tie, by the formulas as their authors print them; p = exp(strength)."""
    if model == "davidson":
        p, nu = math.exp(d), math.exp(t)
        whole = p + 1 + nu * math.sqrt(p)
        return p / whole, 1 / whole, nu * math.sqrt(p) / whole
    p, eta = math.exp(d), math.exp(t)
    return p / (p + eta), 1 / (1 + eta * p), (eta**2 - 1) * p / ((p + eta) * (1 + eta * p))


def log_likelihood_of(votes, v, model, values, *, estimates_tie):
    """The log-likelihood of vote v, times its weight; `values` are strengths, coefficients and the tie parameter."""
    n, k = votes.n_systems, votes.covariates.shape[1]
    d = values[votes.first[v]] - values[votes.second[v]] + float(votes.covariates[v] @ values[n : n + k])
    outcome, weight = votes.outcomes[v], votes.weights[v]
    if model == "half_wins" or not estimates_tie:
        won = 1 / (1 + math.exp(-d))
        share = {FIRST: 1.0, SECOND: 0.0}.get(int(outcome), 0.5)
        return weight * (share * math.log(won) + (1 - share) * math.log(1 - won))
    first, second, tie = probabilities(model, d, values[-1])
    return weight * math.log({FIRST: first, SECOND: second}.get(int(outcome), tie))


def total(votes, model, values, *, estimates_tie):
    return sum(
        log_likelihood_of(votes, v, model, values, estimates_tie=estimates_tie) for v in range(votes.n_votes)
    )  # fmt: skip


def fit(votes, model, *, estimates_tie):
    """Strengths with mean 0, coefficients, and the tie parameter, by a general minimiser."""
    n, k = votes.n_systems, votes.covariates.shape[1]
    start = np.zeros(n + k + estimates_tie)
    if estimates_tie:
        start[-1] = 0.3

    def loss(values):
        if model == "rao_kupper" and estimates_tie and values[-1] <= 0:
            return math.inf
        # What the mean is does not matter to the likelihood: 0.
        return -total(votes, model, values, estimates_tie=estimates_tie) + values[:n].mean() ** 2

    best = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 400})
    values = minimize(loss, best.x, method="BFGS", options={"gtol": 1e-8}).x
    values[:n] -= values[:n].mean()
    return values


def derivatives(function, values, step=1e-5):
    """The gradient by central differences."""
    sides = np.eye(len(values)) * step
    return np.array([(function(values + side) - function(values - side)) / (2 * step) for side in sides])


def sandwich(votes, model, values, clusters, *, estimates_tie):
    """The covariance of all estimates; derivatives by differences."""
    n = votes.n_systems

    def of_vote(v):
        return derivatives(
            lambda x: log_likelihood_of(votes, v, model, x, estimates_tie=estimates_tie), values
        )  # fmt: skip

    def gradient(x):
        return derivatives(lambda y: total(votes, model, y, estimates_tie=estimates_tie), x)

    bread = np.linalg.pinv(-derivatives(gradient, values, 1e-3), rcond=1e-6)
    scores = {}
    for v in range(votes.n_votes):
        label = ("vote", v) if clusters is None or clusters[v] < 0 else clusters[v]
        scores[label] = scores.get(label, 0) + of_vote(v)
    meat = sum(np.outer(u, u) for u in scores.values())
    factor = 1 if clusters is None else len(scores) / (len(scores) - 1)
    assert len(values) >= n
    return factor * bread @ meat @ bread


def reaches(votes):
    """[i][j]: whether a chain of wins and ties leads from i to j, by Warshall's algorithm."""
    n = votes.n_systems
    reach = [[i == j for j in range(n)] for i in range(n)]
    for i, j, outcome, weight in zip(votes.first, votes.second, votes.outcomes, votes.weights, strict=True):
        if weight > 0:
            if outcome != SECOND:
                reach[i][j] = True
            if outcome != FIRST:
                reach[j][i] = True
    for k, i, j in itertools.product(range(n), repeat=3):
        reach[i][j] = reach[i][j] or (reach[i][k] and reach[k][j])
    return reach


def has_winning_circle(votes):
    """Whether a closed walk has more wins than ties; longest walks between all pairs, by Floyd's algorithm."""
    n = votes.n_systems
    longest = [[-math.inf] * n for _ in range(n)]
    for i, j, outcome, weight in zip(votes.first, votes.second, votes.outcomes, votes.weights, strict=True):
        if weight > 0:
            for a, b, is_win in ((i, j, outcome == FIRST), (j, i, outcome == SECOND)):
                if is_win or outcome not in (FIRST, SECOND):
                    longest[a][b] = max(longest[a][b], 1 if is_win else -1)
    for k, i, j in itertools.product(range(n), repeat=3):
        # Longer walks than there are systems have gone round a circle already.
        longest[i][j] = max(longest[i][j], min(longest[i][k] + longest[k][j], 2 * n))
    return any(longest[i][i] > 0 for i in range(n))


def elo(votes, k=30.0, initial=1000.0, scale=400.0):
    """Elo ratings in the order given."""
    ratings = [initial] * votes.n_systems
    for i, j, outcome, weight in zip(votes.first, votes.second, votes.outcomes, votes.weights, strict=True):
        expected = 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / scale))
        result = {FIRST: 1.0, SECOND: 0.0}.get(int(outcome), 0.5)
        ratings[i] += k * weight * (result - expected)
        ratings[j] -= k * weight * (result - expected)
    return ratings
