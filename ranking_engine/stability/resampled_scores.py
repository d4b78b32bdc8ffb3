"""Rule scores of many resamples at once.

A matrix here holds scored systems and voting tasks; `task_counts[r, t]` is how often resample r counts task
t. Scores have shape (n_resamples, n_systems), NaN where a resample leaves the system without a score, and may
differ from the rule's by a positive factor for each resample: only ranks are made of them. `step` is called
with the share of the work done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.dispatch import rank
from ranking_engine.profile import Profile
from ranking_engine.ranking import UNRANKED
from ranking_engine.rules.positional import borda_vector, plurality_vector, points
from ranking_engine.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix

Counts = NDArray[np.int64]
Step = Callable[[float], None]

_EXACT_FLOAT32 = 2**24
_BLOCK_CELLS = 1 << 21  # entries of a block of resampled wins, or of the comparisons that make them


def resampled_mean(matrix: ScoreMatrix, task_counts: Counts) -> FloatArray:
    """Weighted means: one matrix product."""
    profile = Profile(matrix)
    scale = np.abs(profile.scores).max() or 1.0
    weights = task_counts * (profile.weights / profile.weights.max())
    return weights / weights.sum(axis=1, keepdims=True) @ (profile.scores / scale).T


def resampled_plurality(matrix: ScoreMatrix, task_counts: Counts) -> FloatArray:
    """Plurality, ties within a task at the worst position."""
    profile = Profile(matrix)
    given = points(profile.order, plurality_vector(profile.n_systems), "worst")
    return task_counts * profile.weights @ given.T


def resampled_borda(matrix: ScoreMatrix, task_counts: Counts) -> FloatArray:
    """Borda, ties within a task at the worst position."""
    profile = Profile(matrix)
    given = points(profile.order, borda_vector(profile.n_systems), "worst")
    return task_counts * profile.weights @ given.T


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


def has_exact_weights(matrix: ScoreMatrix, task_counts: Counts) -> bool:
    """Whether float64 holds every resample's sum of integer weights exactly."""
    integers = [int(weight) for weight in matrix.integer_weights]
    return max(integers) * int(task_counts.sum(axis=1).max(initial=0)) < EXACT_FLOAT


def _only_present(scores: FloatArray, matrix: ScoreMatrix, task_counts: Counts) -> FloatArray:
    """Unrank the systems without a score on the tasks drawn; having no margins, they are nobody's rivals."""
    has = ~np.isnan(matrix.scores)
    if not has.all():
        is_present = (task_counts > 0).astype(np.float32) @ has.T.astype(np.float32) > 0
        scores[~is_present] = np.nan
    return scores


def one_by_one(matrix: ScoreMatrix, task_counts: Counts, rule: str, step: Step) -> FloatArray:
    """Minus the ranks of each resample, ranked as a matrix of its own: for rules without a faster way."""
    scores = np.full((len(task_counts), matrix.n_systems), np.nan)
    for r, counts in enumerate(task_counts):
        ranking = rank(reweighted(matrix, counts), rule, missing="undefined")
        is_ranked = ranking.ranks != UNRANKED
        scores[r, is_ranked] = -ranking.ranks[is_ranked]
        step((r + 1) / len(task_counts))
    return scores


def reweighted(matrix: ScoreMatrix, counts: Counts) -> ScoreMatrix:
    """Return the matrix in which task t counts `counts[t]` times its weight."""
    return matrix.with_weights([weight * int(k) for weight, k in zip(matrix.weights, counts, strict=True)])


_LINEAR: Mapping[str, Callable[[ScoreMatrix, Counts], FloatArray]] = {
    "mean": resampled_mean,
    "plurality": resampled_plurality,
    "borda": resampled_borda,
}


def resampled_scores(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Step
) -> dict[str, FloatArray]:
    """Return the scores of all `rules`, each the fastest way there is."""
    together = [key for key in rules if key in _MAJORITY and has_exact_weights(matrix, task_counts)]
    alone = [key for key in rules if key not in together]
    scores: dict[str, FloatArray] = {}
    for k, key in enumerate(alone):
        if key in _LINEAR:
            scores[key] = _LINEAR[key](matrix, task_counts)
        else:
            scores[key] = one_by_one(matrix, task_counts, key, _part(step, k, len(rules)))
        step((k + 1) / len(rules))
    if together:
        rest = _part(step, len(alone), len(rules), len(together))
        scores.update(resampled_majority(matrix, task_counts, together, rest))
    return scores


def _part(step: Step, k: int, total: int, length: int = 1) -> Step:
    """Return the callback for the steps k to k + length of `total`."""
    return lambda share: step((k + length * share) / total)
