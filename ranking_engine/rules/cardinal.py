"""Rules on the scores themselves."""

from __future__ import annotations

import math

import numpy as np

from ranking_engine.profile import Outcome, Profile
from ranking_engine.score_matrix import FloatArray

_OVERFLOW = 1e290  # products with weights and their sums stay finite below
_SHRINK = 2.0**-100


def mean(profile: Profile) -> Outcome:
    """Return the weighted arithmetic mean of the oriented scores.

    Sums are correctly rounded (Shewchuk 1997), so the order of the tasks cannot matter.
    """
    return Outcome(weighted_mean(profile.scores, profile.weights))


def weighted_mean(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t weights[t] scores[i, t] / sum_t weights[t] for each row i of complete `scores`."""
    is_huge = bool(np.abs(scores).max() * weights.max() > _OVERFLOW)
    terms = (scores * _SHRINK if is_huge else scores) * weights
    means = np.array([math.fsum(row) for row in terms.tolist()]) / math.fsum(weights.tolist())
    return np.clip(means / _SHRINK if is_huge else means, scores.min(axis=1), scores.max(axis=1))
