"""Mallows' model: each task's order is the consensus with noise, the less likely the more pairs it contradicts.

An order at Kendall distance d from the consensus has the probability exp(-theta d) / Z(theta), where
Z(theta) is the product over j = 1 .. n of (1 - exp(-j theta)) / (1 - exp(-theta)). For every theta above 0 the most
likely consensus is Kemeny's order, since the log-likelihood is -theta times its distance to all tasks, plus what no
order changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ranking_engine.core.clusters import cluster_key, clusters_of
from ranking_engine.core.profile import Profile

_NEAR_ZERO = 1e-6  # below it the mean distance is a straight line in theta, to the precision of floats
_HALVINGS = 200  # more than floats have bits


@dataclass(frozen=True)
class MallowsFit:
    """The most likely dispersion, given a consensus.

    Attributes:
        theta: 0 = every order is as likely as any other; the greater, the closer tasks are to the consensus. None where
            there is none.
        log_likelihood: of the tasks' orders, natural logarithm; a task of weight w counts as w tasks.
        standard_error: of theta, by the model and for independent clusters of tasks whose tasks agree, as if the
            consensus were known; None where there is no theta, or it is 0, the least possible.
        reason: why there is none; otherwise empty.
    """

    theta: float | None
    log_likelihood: float | None
    standard_error: float | None
    reason: str = ""


def fitted(profile: Profile, distance: float) -> MallowsFit:
    """Return the most likely dispersion of a profile whose tasks are at the weighted distance `distance` in all."""
    n, weight = profile.n_systems, float(profile.matrix.total_weight)
    ordered = np.sort(profile.scores, axis=0)
    if n < 2:
        return MallowsFit(None, None, None, "one system has one order only")
    if np.isnan(ordered).any():
        return MallowsFit(None, None, None, "some scores are missing: the model is about complete orders")
    if (ordered[1:] == ordered[:-1]).any():
        return MallowsFit(None, None, None, "some tasks have ties: the model is about orders without ties")
    theta = dispersion(n, distance / weight)
    if math.isinf(theta):
        return MallowsFit(None, 0.0, None, "all tasks have the same order: the greater the dispersion, the likelier")
    # The score of a task of weight w is w (mean distance - its distance), of variance w^2 v, and its slope is w v. The
    # tasks of a cluster count as one of their weight in all, as if they had the same order.
    clusters = clusters_of(profile.matrix)
    of_clusters = np.zeros(len(clusters))
    for t in np.flatnonzero(profile.matrix.votes).tolist():
        of_clusters[clusters[cluster_key(profile.matrix, t)]] += float(profile.matrix.weights[t])
    squares = float((of_clusters**2).sum())
    error = math.sqrt(squares / distance_variance(theta, n)) / weight if theta > 0 else None
    return MallowsFit(theta, log_likelihood(theta, n, distance, weight), error)


def dispersion(n: int, mean: float) -> float:
    """Return the theta at which orders of n systems have the mean distance `mean`; 0 beyond that of random orders."""
    most = n * (n - 1) / 4
    if mean <= 0:
        return math.inf
    if mean >= mean_distance(_NEAR_ZERO, n):
        return max(0.0, (most - mean) / distance_variance(0.0, n))
    low, high = _NEAR_ZERO, 1.0
    while mean_distance(high, n) > mean:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if mean_distance(middle, n) > mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def mean_distance(theta: float, n: int) -> float:
    """Return the mean Kendall distance of orders of n systems from the consensus, for a theta above 0."""
    j = np.arange(1, n + 1)
    # with t = theta j: j / (exp(t) - 1), written so that a large t gives 0 and no overflow
    parts = j * np.exp(-theta * j) / -np.expm1(-theta * j)
    return float((parts[0] - parts).sum())


def distance_variance(theta: float, n: int) -> float:
    """Return the variance of that distance, minus the slope of its mean in theta; at 0 that of random orders."""
    if theta < _NEAR_ZERO:
        return n * (n - 1) * (2 * n + 5) / 72
    j = np.arange(1, n + 1)
    # with t = theta j: j^2 exp(t) / (exp(t) - 1)^2, of half of t so that nothing overflows
    parts = (j / (2 * np.sinh(np.minimum(theta * j, 1400.0) / 2))) ** 2
    return float((parts[0] - parts).sum())


def log_likelihood(theta: float, n: int, distance: float, weight: float) -> float:
    """Return the log-likelihood of orders of total weight `weight` at the weighted distance `distance` in all."""
    j = np.arange(1, n + 1)
    terms = np.log(j) if theta == 0 else np.log(np.expm1(-theta * j) / math.expm1(-theta))
    return float(-theta * distance - weight * terms.sum())
