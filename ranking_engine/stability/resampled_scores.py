"""Rule scores of many resamples at once.

A matrix here holds scored systems and voting tasks; `task_counts[r, t]` is how often resample r counts task
t. Scores have shape (n_resamples, n_systems), NaN where a resample leaves the system without a score, and may
differ from the rule's by a positive factor for each resample: only ranks are made of them. `step` is called
with the share of the work done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.dispatch import rank_all
from ranking_engine.profile import Profile
from ranking_engine.ranking import UNRANKED
from ranking_engine.registry import get_rule
from ranking_engine.rules.cardinal import minus_gaps, normalized
from ranking_engine.rules.positional import (
    average_rank_vector,
    borda_vector,
    dowdall_vector,
    plurality_vector,
    points,
    veto_vector,
)
from ranking_engine.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix
from ranking_engine.stability.resampled_pairs import fits, resampled_pair_rules
from ranking_engine.stability.rules_of_pairs import snapped_rows

Counts = NDArray[np.int64]
Step = Callable[[float], None]

_EXACT_FLOAT32 = 2**24
_SHRINK = 2.0**-4  # so that sums of two huge scores stay finite; the quotients are the same
_BLOCK_CELLS = 1 << 21  # entries of a block of resampled wins, or of the comparisons that make them


def resampled_mean(profile: Profile, task_counts: Counts, rule: str) -> FloatArray:
    """Rules that are a weighted mean of a term a task: one matrix product."""
    weights = task_counts * (profile.weights / profile.weights.max())
    shares = weights / weights.sum(axis=1, keepdims=True)
    if rule == "geometric_mean":
        is_low = profile.scores <= 0  # who has such a score on a task drawn has no geometric mean there
        means = np.exp(shares @ np.log(np.where(is_low, 1.0, profile.scores)).T)
        return np.where((task_counts > 0).astype(np.float32) @ is_low.T.astype(np.float32) > 0, np.nan, means)
    terms = _TERMS[rule](profile)
    return shares @ (terms / (np.abs(terms).max() or 1.0)).T


def resampled_positional(profile: Profile, task_counts: Counts, rule: str) -> FloatArray:
    """Rules with a scoring vector, under their own convention for ties within a task: one matrix product."""
    given = points(profile.order, _VECTORS[rule](profile.n_systems), get_rule(rule).tie_convention or "worst")
    return task_counts * profile.weights @ given.T


_TERMS: Mapping[str, Callable[[Profile], FloatArray]] = {
    "mean": lambda profile: profile.scores,
    "normalized_mean": normalized,
    "optimality_gap": minus_gaps,
}
_VECTORS: Mapping[str, Callable[[int], FloatArray]] = {
    "plurality": plurality_vector,
    "borda": borda_vector,
    "dowdall": dowdall_vector,
    "average_rank": average_rank_vector,
    "veto": veto_vector,
}
_LINEAR: Mapping[str, Callable[[Profile, Counts, str], FloatArray]] = {
    **dict.fromkeys([*_TERMS, "geometric_mean"], resampled_mean),
    **dict.fromkeys(_VECTORS, resampled_positional),
}


def resampled_median(profile: Profile, task_counts: Counts, rule: str) -> FloatArray:
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


def resampled_relative_difference(profile: Profile, task_counts: Counts, rule: str) -> FloatArray:
    """Without gaps a weighted mean over tasks of the mean difference to the rivals there."""
    n = profile.n_systems
    if n == 1:
        return np.zeros((len(task_counts), 1))
    terms = np.empty(profile.scores.shape)
    for t, column in enumerate((profile.scores * _SHRINK).T):
        whole = np.abs(column)[:, None] + np.abs(column)
        whole[whole == 0] = 1.0
        terms[:, t] = ((column[:, None] - column) / whole).sum(axis=1) / (n - 1)
    weights = task_counts * (profile.weights / profile.weights.max())
    return snapped_rows(weights / weights.sum(axis=1, keepdims=True) @ terms.T)


def resampled_win_rate(profile: Profile, task_counts: Counts, rule: str) -> FloatArray:
    """Without gaps the order of average ranks: both count the systems below, and half of those tied."""
    return resampled_positional(profile, task_counts, "average_rank")


_LINEAR_IF_COMPLETE: Mapping[str, Callable[[Profile, Counts, str], FloatArray]] = {
    "relative_difference": resampled_relative_difference,
    "win_rate": resampled_win_rate,
}


def resampled_majority(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Step
) -> dict[str, FloatArray]:
    """Condorcet, Copeland (`difference`) and minimax (`winning_votes`), those that `rules` name, at once."""
    score = {key: function for key, function in _MAJORITY.items() if key in rules}
    scores = {key: np.zeros((len(task_counts), matrix.n_systems)) for key in score}
    for rows, wins, losses in _resampled_pairs(matrix, task_counts):
        for key, function in score.items():
            scores[key][:, rows] = function(wins, losses)
        step(rows.stop / matrix.n_systems)
    scores = {key: _only_present(table, matrix, task_counts) for key, table in scores.items()}
    if "condorcet" in scores:
        scores["condorcet"] = _only_unrivalled(scores["condorcet"])
    return scores


def _beaten(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Systems beaten."""
    return np.count_nonzero(wins > losses, axis=2).astype(np.float64)


def _only_unrivalled(beaten: FloatArray) -> FloatArray:
    """Unrank all but the system that beats every other one of its resample."""
    n_present = (~np.isnan(beaten)).sum(axis=1, keepdims=True)
    return np.where(beaten == n_present - 1, beaten, np.nan)


def _copeland(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Systems beaten minus systems that beat."""
    return np.subtract(
        np.count_nonzero(wins > losses, axis=2), np.count_nonzero(wins < losses, axis=2), dtype=float
    )


def _minimax(wins: NDArray[Any], losses: NDArray[Any]) -> FloatArray:
    """Minus the largest weight by which a rival beats the system."""
    return -(losses * (losses > wins)).max(axis=2)


_MAJORITY: Mapping[str, Callable[[NDArray[Any], NDArray[Any]], FloatArray]] = {
    "condorcet": _beaten,
    "copeland": _copeland,
    "minimax": _minimax,
}


def _resampled_pairs(
    matrix: ScoreMatrix, task_counts: Counts
) -> Iterator[tuple[slice, NDArray[Any], NDArray[Any]]]:
    """Yield blocks of systems with wins[r, i, j] and losses[r, i, j] of each against all, in every resample.

    Integers, exact in float32 below 2^24 and in float64 below 2^53; see `has_exact_weights`.
    """
    weights = task_counts * matrix.integer_weights
    totals = weights.sum(axis=1)
    dtype = np.float32 if totals.max() < _EXACT_FLOAT32 else np.float64
    resampled, n, T = weights.astype(dtype), matrix.n_systems, matrix.n_tasks
    is_strict = _is_strict(matrix)
    height = max(1, _BLOCK_CELLS // (n * max(len(task_counts), T)))
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        mine, theirs = matrix.scores.T[:, rows, None], matrix.scores.T[:, None, :]
        shape = (len(task_counts), rows.stop - start, n)
        wins = (resampled @ (mine > theirs).reshape(T, -1).astype(dtype)).reshape(shape)
        if is_strict:  # what is not won is lost, but for the system itself
            losses = totals.astype(dtype)[:, None, None] - wins
            losses[:, np.arange(shape[1]), np.arange(start, rows.stop)] = 0
        else:
            losses = (resampled @ (mine < theirs).reshape(T, -1).astype(dtype)).reshape(shape)
        yield rows, wins, losses


def _is_strict(matrix: ScoreMatrix) -> bool:
    """Whether every task puts all systems in a strict order."""
    ordered = np.sort(matrix.scores, axis=0)
    return not np.isnan(ordered[-1]).any() and bool((ordered[1:] > ordered[:-1]).all())


def has_exact_weights(matrix: ScoreMatrix, task_counts: Counts, factor: int = 1) -> bool:
    """Whether float64 holds every resample's sum of integer weights exactly, and `factor` times it."""
    integers = [int(weight) for weight in matrix.integer_weights]
    return factor * max(integers) * int(task_counts.sum(axis=1).max(initial=0)) < EXACT_FLOAT


def _only_present(scores: FloatArray, matrix: ScoreMatrix, task_counts: Counts) -> FloatArray:
    """Unrank the systems without a score on the tasks drawn; having no margins, they are nobody's rivals."""
    has = ~np.isnan(matrix.scores)
    if not has.all():
        is_present = (task_counts > 0).astype(np.float32) @ has.T.astype(np.float32) > 0
        scores[~is_present] = np.nan
    return scores


def one_by_one(
    matrix: ScoreMatrix, task_counts: Counts, rules: Sequence[str], step: Step
) -> dict[str, FloatArray]:
    """Minus the ranks of each resample, ranked as a matrix of its own: for rules without a faster way."""
    scores = {rule: np.full((len(task_counts), matrix.n_systems), np.nan) for rule in rules}
    for r, counts in enumerate(task_counts):
        for rule, ranking in rank_all(reweighted(matrix, counts), rules, missing="undefined").items():
            is_ranked = ranking.ranks != UNRANKED
            scores[rule][r, is_ranked] = -ranking.ranks[is_ranked]
        step((r + 1) / len(task_counts))
    return scores


def reweighted(matrix: ScoreMatrix, counts: Counts) -> ScoreMatrix:
    """Return the matrix in which task t counts `counts[t]` times its weight."""
    return matrix.with_weights([weight * int(k) for weight, k in zip(matrix.weights, counts, strict=True)])


def has_fast_way(rule: str, matrix: ScoreMatrix, task_counts: Counts) -> bool:
    """Whether the resamples of `rule` are scored all at once."""
    if rule in _LINEAR or (rule in _LINEAR_IF_COMPLETE and matrix.is_complete.all()):
        return True
    if rule in _MAJORITY or rule == "median":
        return has_exact_weights(matrix, task_counts)
    return fits(rule, matrix) and has_exact_weights(matrix, task_counts, factor=2 * matrix.n_systems)


def resampled_scores(
    matrix: ScoreMatrix, task_counts: Counts, rules: Sequence[str], step: Step
) -> dict[str, FloatArray]:
    """Return the scores of all `rules`, each the fastest way there is."""
    ways = {key: _way(key, matrix, task_counts) for key in rules}
    profile = Profile(matrix)
    scores: dict[str, FloatArray] = {}
    for done, key in enumerate(key for key in rules if ways[key] == "single"):
        scores[key] = _SINGLE[key](profile, task_counts, key)
        step((done + 1) / len(rules))
    for way, function in _TOGETHER.items():
        keys = [key for key in rules if ways[key] == way]
        if keys:
            scores.update(function(matrix, task_counts, keys, _part(step, len(scores), len(rules), len(keys))))
    return scores


def on_one_scale(rule: str, matrix: ScoreMatrix, task_counts: Counts, scores: FloatArray) -> FloatArray:
    """Return the scores that `resampled_scores` gives, so that those of two resamples can be subtracted.

    Scores that add up over the tasks drawn are divided by the weight of these.
    """
    adds_up = rule in _VECTORS or rule == "minimax" or (rule == "win_rate" and bool(matrix.is_complete.all()))
    if not adds_up or _way(rule, matrix, task_counts) == "one by one":
        return scores
    return scores / (task_counts @ np.array([float(weight) for weight in matrix.weights]))[:, None]


def _way(rule: str, matrix: ScoreMatrix, task_counts: Counts) -> str:
    """Return how the resamples of a rule are scored."""
    if not has_fast_way(rule, matrix, task_counts):
        return "one by one"
    if rule in _SINGLE and (rule not in _LINEAR_IF_COMPLETE or matrix.is_complete.all()):
        return "single"
    return "pairs" if fits(rule, matrix) else "majority"


_SINGLE: Mapping[str, Callable[[Profile, Counts, str], FloatArray]] = {
    **_LINEAR,
    **_LINEAR_IF_COMPLETE,
    "median": resampled_median,
}
_TOGETHER: Mapping[str, Callable[[ScoreMatrix, Counts, Sequence[str], Step], dict[str, FloatArray]]] = {
    "pairs": resampled_pair_rules,
    "majority": resampled_majority,
    "one by one": one_by_one,
}


def _part(step: Step, k: int, total: int, length: int) -> Step:
    """Return the callback for the steps k to k + length of `total`."""
    return lambda share: step((k + length * share) / total)
