"""Rule scores of many resamples of the tasks at once, from the scores themselves or from blocks of rivals.

`task_counts[r, t]` is how often resample r counts task t. Scores have shape (n_resamples, n_systems), NaN where a
resample leaves the system without a score, and may differ from the rule's by a positive factor for each resample: only
ranks are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.kernels.tables import Transform
from ranking_engine.rules.cardinal import inverted
from ranking_engine.rules.positional import average_rank_vector, points
from ranking_engine.rules.rates import snapped

Counts = NDArray[np.int64]
Resampled = Callable[[Profile, Counts], FloatArray]

_SHRINK = 2.0**-4  # so that sums of two huge scores stay finite; the quotients are the same
_BLOCK_CELLS = 1 << 21  # entries of a block of resampled weights


def mean_of(terms_of: Callable[[Profile], FloatArray]) -> Resampled:
    """Return the resamples of a rule that is a weighted mean of one term a task: one matrix product.

    Args:
        terms_of: the terms of a profile, shape (n_systems, n_tasks).
    """

    def scores(profile: Profile, task_counts: Counts) -> FloatArray:
        terms = terms_of(profile)
        return _shares(profile, task_counts) @ (terms / (np.abs(terms).max() or 1.0)).T

    return scores


def _shares(profile: Profile, task_counts: Counts) -> FloatArray:
    weights = task_counts * (profile.weights / profile.weights.max())
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def geometric_mean(profile: Profile, task_counts: Counts) -> FloatArray:
    """The exponential of the mean logarithm."""
    return _of_positive_scores(profile, task_counts, np.log, np.exp)


def harmonic_mean(profile: Profile, task_counts: Counts) -> FloatArray:
    """The inverse of the mean inverse."""
    return _of_positive_scores(profile, task_counts, inverted, np.reciprocal)


def _of_positive_scores(profile: Profile, task_counts: Counts, term: Transform, mean_of_terms: Transform) -> FloatArray:
    """A mean that a system with a score <= 0 on a task drawn has not."""
    is_low = profile.scores <= 0
    means = mean_of_terms(_shares(profile, task_counts) @ term(np.where(is_low, 1.0, profile.scores)).T)
    return np.where((task_counts > 0).astype(np.float32) @ is_low.T.astype(np.float32) > 0, np.nan, means)


def worst_task(profile: Profile, task_counts: Counts) -> FloatArray:
    """The least score on the tasks drawn."""
    least = np.full((len(task_counts), profile.n_systems), np.inf)
    for t, is_drawn in enumerate(task_counts.T > 0):
        np.minimum(least, profile.scores[:, t], out=least, where=is_drawn[:, None])
    return least


def of_vector(vector_of: Callable[[int], FloatArray], ties: str) -> Resampled:
    """Return the resamples of a rule with a scoring vector: one matrix product.

    Args:
        vector_of: the points by position, of the number of systems.
        ties: the rule's own convention for ties within a task.
    """

    def scores(profile: Profile, task_counts: Counts) -> FloatArray:
        given = points(profile.order, vector_of(profile.n_systems), ties)
        return task_counts * profile.weights @ given.T

    return scores


def median(profile: Profile, task_counts: Counts) -> FloatArray:
    """The weighted median: weights added up in the order of each system's scores, a block of resamples at a time."""
    order = np.argsort(profile.scores, axis=1, kind="stable")
    ascending = np.take_along_axis(profile.scores, order, axis=1)
    weights = (task_counts * profile.matrix.integer_weights).astype(np.float64)
    systems = np.arange(profile.n_systems)
    medians = np.empty((len(weights), profile.n_systems))
    height = max(1, _BLOCK_CELLS // profile.scores.size)
    for start in range(0, len(weights), height):
        rows = slice(start, start + height)
        up_to = 2 * np.cumsum(weights[rows][:, order], axis=2)
        total = up_to[:, :, -1:] / 2
        low = ascending[systems, np.argmax(up_to >= total, axis=2)]
        high = ascending[systems, np.argmax(up_to > total, axis=2)]
        medians[rows] = np.where(low == high, low, low / 2 + high / 2)
    return medians


def relative_difference(profile: Profile, task_counts: Counts) -> FloatArray:
    """Without gaps a weighted mean over tasks of the mean difference to the rivals there."""
    n = profile.n_systems
    if n == 1:
        return np.zeros((len(task_counts), 1))
    terms = np.empty(profile.scores.shape)
    for t, column in enumerate((profile.scores * _SHRINK).T):
        whole = np.abs(column)[:, None] + np.abs(column)
        whole[whole == 0] = 1.0
        terms[:, t] = ((column[:, None] - column) / whole).sum(axis=1) / (n - 1)
    return snapped(_shares(profile, task_counts) @ terms.T)


def win_rate(profile: Profile, task_counts: Counts) -> FloatArray:
    """Without gaps the order of average ranks: both count the systems below, and half of those tied."""
    return of_vector(average_rank_vector, "average")(profile, task_counts)


def beaten(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Systems beaten."""
    return np.count_nonzero(wins > losses, axis=2).astype(np.float64)


def only_unrivalled(n_beaten: FloatArray) -> FloatArray:
    """Unrank all but the system that beats every other one of its resample."""
    n_present = (~np.isnan(n_beaten)).sum(axis=1, keepdims=True)
    return np.where(n_beaten == n_present - 1, n_beaten, np.nan)


def copeland(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Systems beaten minus systems that beat."""
    return np.subtract(np.count_nonzero(wins > losses, axis=2), np.count_nonzero(wins < losses, axis=2), dtype=float)


def minimax(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Minus the largest weight by which a rival beats the system."""
    return -(losses * (losses > wins)).max(axis=2)
