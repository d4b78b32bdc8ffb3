"""Rules on the scores themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.decimals import exact_mean
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.core.threshold import why_no_gamma
from ranking_engine.text.names import listed

_OVERFLOW = 1e290  # products with weights and their sums stay finite below
_SHRINK = 2.0**-100
_CANCELLED = 1e-6  # a mean that is so much smaller than what it is of has lost digits that decide ties


def mean(profile: Profile) -> Outcome:
    """Return the weighted arithmetic mean of the oriented scores.

    Sums are correctly rounded (Shewchuk 1997), so the order of the tasks cannot matter. If they cancel out except for
    what rounding leaves, as centred scores do, scores are taken for the decimals that denote them and added exactly.
    """
    means = weighted_mean(profile.scores, profile.weights)
    with np.errstate(over="ignore"):
        sizes = np.abs(profile.scores) @ (profile.weights / profile.weights.sum())
    for i in np.flatnonzero(np.abs(means) < _CANCELLED * sizes).tolist():
        means[i] = exact_mean(profile.scores[i].tolist(), profile.matrix.integer_weights.tolist())
    return Outcome(means)


def geometric_mean(profile: Profile) -> Outcome:
    """Return exp(sum_t w_t log x_it / sum_t w_t); undefined with a lower-is-better task.

    A system with a score <= 0 has no geometric mean and is unranked; the others are ranked without it. The rule is
    undefined where no system has one.
    """

    def means(scores: FloatArray) -> FloatArray:
        return np.exp(weighted_mean(np.log(scores), profile.weights))

    return _of_positive_scores(profile, means)


def harmonic_mean(profile: Profile) -> Outcome:
    """Return sum_t w_t / sum_t (w_t / x_it); undefined, and systems unranked, as under the geometric mean."""

    def means(scores: FloatArray) -> FloatArray:
        least = scores.min(axis=1)  # the inverses of shares of it are at most 1
        return least / weighted_mean(least[:, None] / scores, profile.weights)

    return _of_positive_scores(profile, means)


def worst_task(profile: Profile) -> Outcome:
    """Return the least oriented score of each system: how well it does on the task on which it does worst."""
    return Outcome(profile.scores.min(axis=1))


def _of_positive_scores(profile: Profile, means_of: Callable[[FloatArray], FloatArray]) -> Outcome:
    """Return a mean that only scores above 0 have, of the systems that have nothing else."""
    if reason := _why_lower(profile):
        return _undefined(reason)
    scores = profile.scores
    is_positive = (scores > 0).all(axis=1)
    reasons = {}
    for i in np.flatnonzero(~is_positive).tolist():
        names = [profile.matrix.task_names[t] for t in np.flatnonzero(scores[i] <= 0)]
        reasons[i] = f"a score <= 0 on {len(names)} of {profile.n_tasks} tasks of weight above 0: {listed(names)}"
    if not is_positive.any():
        nobody = "no system has scores above 0 on every task of weight above 0"
        everywhere = _reason(profile, np.asarray((scores <= 0).all(axis=0)), "scores <= 0")
        return Outcome(None, "undefined", everywhere or nobody, reasons=reasons)
    means = np.full(profile.n_systems, np.nan)
    own = scores[is_positive]
    means[is_positive] = np.clip(means_of(own), own.min(axis=1), own.max(axis=1))
    return Outcome(means, reasons=reasons)


def median(profile: Profile) -> Outcome:
    """Return the weighted median of the oriented scores, the plain one at equal weights.

    The midpoint of the lower median (the least score such that scores up to it weigh at least half) and the
    upper one (the least such that they weigh more than half).
    """
    return Outcome(weighted_median(profile.scores, profile.matrix.integer_weights))


def normalized_mean(profile: Profile) -> Outcome:
    """Return the weighted mean of (x - chance) / (best - chance), on scores as stored.

    The best is the maximum of the task's scale, or the minimum if lower is better. Undefined unless every
    voting task states both and the best is better than chance.
    """
    span = _span(profile.matrix)
    reason = _reason(profile, np.isnan(span), "no stated chance level or best score")
    reason = reason or _reason(profile, np.isinf(span), "a scale too wide for a 64-bit number")
    if not reason:
        backwards = span * profile.matrix.directions <= 0
        reason = _reason(profile, backwards, "a best score no better than chance")
    return _undefined(reason) if reason else Outcome(weighted_mean(normalized(profile), profile.weights))


def optimality_gap(profile: Profile) -> Outcome:
    """Return minus the weighted mean of γ - min(s, γ): how far, on average, a system stays below γ.

    Undefined without a threshold γ, in the tasks' unit, and with a lower-is-better task.
    Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical precipice.
    """
    if reason := _why_lower(profile):
        return _undefined(reason)
    if profile.matrix.gamma is None:
        return _undefined(why_no_gamma(profile.matrix))
    return Outcome(weighted_mean(minus_gaps(profile), profile.weights))


def mean_contributions(profile: Profile) -> FloatArray:
    """Return what each task adds to the mean."""
    return profile.scores * _weight_shares(profile)


def log_contributions(profile: Profile) -> FloatArray:
    """Return what each task adds to the logarithm of the geometric mean; NaN for scores <= 0."""
    logarithms = np.log(np.where(profile.scores > 0, profile.scores, np.nan))
    return np.asarray(logarithms * _weight_shares(profile))


def inverse_contributions(profile: Profile) -> FloatArray:
    """Return what each task adds to minus the inverse of the harmonic mean; NaN for scores <= 0."""
    inverses = inverted(np.where(profile.scores > 0, profile.scores, np.nan))
    return np.asarray(-inverses * _weight_shares(profile))


def inverted(scores: FloatArray) -> FloatArray:
    """Return 1 / score of positive scores, at most 1e300: those too small for it would otherwise be infinite."""
    return 1 / np.maximum(scores, 1e-300)


def of_inverses(sums: FloatArray) -> FloatArray:
    """Return the harmonic means of sums of `inverse_contributions`."""
    return -1 / sums


def normalized_contributions(profile: Profile) -> FloatArray:
    """Return what each task adds to the normalised mean."""
    return normalized(profile) * _weight_shares(profile)


def gap_contributions(profile: Profile) -> FloatArray:
    """Return what each task adds to minus the optimality gap."""
    return minus_gaps(profile) * _weight_shares(profile)


def _weight_shares(profile: Profile) -> FloatArray:
    return profile.weights / math.fsum(profile.weights.tolist())


def normalized(profile: Profile) -> FloatArray:
    """Return how far each score, as stored, has come from chance (0) to the best possible score (1)."""
    return (profile.matrix.values - profile.matrix.chance) / _span(profile.matrix)


def minus_gaps(profile: Profile) -> FloatArray:
    """Return how far each score stays below γ, negated: 0 where it does not."""
    gamma = profile.matrix.gamma or 0.0
    return np.minimum(profile.scores, gamma) - gamma


def _span(matrix: ScoreMatrix) -> FloatArray:
    """Return the best score of each task minus its chance level."""
    with np.errstate(over="ignore"):
        return np.where(matrix.directions > 0, matrix.maximum, matrix.minimum) - matrix.chance


def weighted_mean(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_t weights[t] scores[i, t] / sum_t weights[t] for each row i of complete `scores`."""
    is_huge = bool(np.abs(scores).max() * weights.max() > _OVERFLOW)
    terms = (scores * _SHRINK if is_huge else scores) * weights
    means = np.array([math.fsum(row) for row in terms.tolist()]) / math.fsum(weights.tolist())
    means = means / _SHRINK if is_huge else means
    return np.minimum(np.maximum(means, scores.min(axis=1)), scores.max(axis=1))


def weighted_median(scores: FloatArray, integers: NDArray[Any]) -> FloatArray:
    """Return the median of each row of complete `scores`, whose columns weigh `integers`."""
    order = np.argsort(scores, axis=1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=1)
    weight_up_to = 2 * np.cumsum(integers[order], axis=1)
    total = integers.sum()
    lower = np.asarray(weight_up_to >= total, dtype=bool).argmax(axis=1)[:, None]
    upper = np.asarray(weight_up_to > total, dtype=bool).argmax(axis=1)[:, None]
    low, high = np.take_along_axis(ascending, lower, axis=1), np.take_along_axis(ascending, upper, axis=1)
    return np.where(low == high, low, low / 2 + high / 2)[:, 0]


def _why_lower(profile: Profile) -> str:
    return _reason(profile, profile.matrix.directions < 0, "lower-is-better scores")


def _reason(profile: Profile, tasks: BoolArray, what: str) -> str:
    """Return that `tasks` have `what`, or an empty text where no task does."""
    names = [profile.matrix.task_names[t] for t in np.flatnonzero(tasks)]
    if not names:
        return ""
    return f"task {names[0]} has {what}" if len(names) == 1 else f"tasks {listed(names)} have {what}"


def _undefined(reason: str) -> Outcome:
    return Outcome(None, "undefined", reason)
