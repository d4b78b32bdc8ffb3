"""Rule scores of many resamples at once.

A matrix here holds scored systems and voting tasks; `task_counts[r, t]` is how often resample r counts task
t. Scores have shape (n_resamples, n_systems), NaN where a resample leaves the system without a score, and may
differ from the rule's by a positive factor for each resample: only ranks are made of them. `step` is called
with the share of the work done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import EXACT_FLOAT, EXACT_FLOAT32, FloatArray, ScoreMatrix
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.resampled_pairs import fits, has_score_drawn, resampled_pair_rules

Counts = NDArray[np.int64]
Step = Callable[[float], None]

_BLOCK_CELLS = 1 << 21  # entries of a block of resampled wins, or of the comparisons that make them


def _resampled_rival_rules(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Step
) -> dict[str, FloatArray]:
    """Return the scores of rules that need each system's comparisons with all others, a block of systems at a time."""
    kernels = {rule: kernel for rule in rules if (kernel := get_rule(rule).kernels.rivals) is not None}
    scores = {rule: np.zeros((len(task_counts), matrix.n_systems)) for rule in kernels}
    # wins[r, i, j] and losses[r, i, j] of each system of a block against all, in every resample: integers, exact in
    # float32 below 2^24 and in float64 below 2^53; see `has_exact_weights`.
    weights = task_counts * matrix.integer_weights
    totals = weights.sum(axis=1)
    dtype = np.float32 if totals.max() < EXACT_FLOAT32 else np.float64
    resampled, n, T = weights.astype(dtype), matrix.n_systems, matrix.n_tasks
    ordered = np.sort(matrix.scores, axis=0)
    is_strict = not np.isnan(ordered[-1]).any() and bool((ordered[1:] > ordered[:-1]).all())  # on every task
    height = max(1, _BLOCK_CELLS // (n * max(len(task_counts), T)))
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        mine, theirs = matrix.scores.T[:, rows, None], matrix.scores.T[:, None, :]
        shape = (len(task_counts), rows.stop - start, n)
        wins = (resampled @ (mine > theirs).reshape(T, -1).astype(dtype)).reshape(shape)
        if is_strict:  # what is not won is lost, except the system itself
            losses = totals.astype(dtype)[:, None, None] - wins
            losses[:, np.arange(shape[1]), np.arange(start, rows.stop)] = 0
        else:
            losses = (resampled @ (mine < theirs).reshape(T, -1).astype(dtype)).reshape(shape)
        for rule, kernel in kernels.items():
            scores[rule][:, rows] = kernel.scores(wins, losses)
        step(rows.stop / matrix.n_systems)
    # Systems without a score on the tasks drawn are unranked; having no margins, they are no one's rivals.
    if np.isnan(matrix.scores).any():
        is_present = has_score_drawn(matrix, task_counts)
        for table in scores.values():
            table[~is_present] = np.nan
    return {rule: kernel.finish(scores[rule]) if kernel.finish else scores[rule] for rule, kernel in kernels.items()}


def _resampled_draw_rules(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Step
) -> dict[str, FloatArray]:
    """Return the scores of rules that score boards of the same scores, gaps and all, whose tasks count differently."""
    batch = MatrixBatch.of_counts(Profile(matrix), task_counts, has_score_drawn(matrix, task_counts))
    tables = {rule: draws(batch) for rule in rules if (draws := get_rule(rule).kernels.draws) is not None}
    step(1.0)
    return tables


def has_exact_weights(matrix: ScoreMatrix, task_counts: Counts, factor: int = 1) -> bool:
    """Whether float64 holds every resample's sum of integer weights exactly, and `factor` times it."""
    integers = [int(weight) for weight in matrix.integer_weights]
    return factor * max(integers) * int(task_counts.sum(axis=1).max(initial=0)) < EXACT_FLOAT


def one_by_one(
    matrix: ScoreMatrix, task_counts: Counts, rules: Sequence[str], step: Step, alone: Alone | None = None
) -> dict[str, FloatArray]:
    """Minus the ranks of each resample, ranked as a matrix of its own: for rules without a faster way."""
    scores = {rule: np.full((len(task_counts), matrix.n_systems), np.nan) for rule in rules}
    for r, counts in enumerate(task_counts):
        for rule, row in (alone or Alone()).scores(reweighted(matrix, counts), rules, "undefined").items():
            scores[rule][r] = row
        step((r + 1) / len(task_counts))
    return scores


def reweighted(matrix: ScoreMatrix, counts: Counts) -> ScoreMatrix:
    """Return the matrix in which task t counts `counts[t]` times its weight."""
    return matrix.with_weights([weight * int(k) for weight, k in zip(matrix.weights, counts, strict=True)])


def has_fast_way(rule: str, matrix: ScoreMatrix, task_counts: Counts) -> bool:
    """Whether the resamples of `rule` are scored all at once."""
    return _way(rule, matrix, task_counts) is not Way.ONE_BY_ONE


def resampled_scores(
    matrix: ScoreMatrix, task_counts: Counts, rules: Sequence[str], step: Step, alone: Alone | None = None
) -> dict[str, FloatArray]:
    """Return the scores of all `rules`, each the fastest way there is; `alone` ranks those that have none."""
    ways = {key: _way(key, matrix, task_counts) for key in rules}
    profile = Profile(matrix)
    scores: dict[str, FloatArray] = {}
    for key in rules:
        kernel = get_rule(key).kernels.resamples
        if ways[key] is Way.SINGLE and kernel is not None:
            scores[key] = kernel.scores(profile, task_counts)
            step(len(scores) / len(rules))
    for way, function in _TOGETHER.items():
        keys = [key for key in rules if ways[key] is way]
        if keys:
            scores.update(function(matrix, task_counts, keys, part_of_steps(step, len(scores), len(keys), len(rules))))
    if slow := [key for key in rules if key not in scores]:
        within = part_of_steps(step, len(scores), len(slow), len(rules))
        scores.update(one_by_one(matrix, task_counts, slow, within, alone))
    return scores


def on_one_scale(rule: str, matrix: ScoreMatrix, task_counts: Counts, scores: FloatArray) -> FloatArray:
    """Return the scores that `resampled_scores` gives, so that those of two resamples can be subtracted.

    Scores that add up over the tasks drawn are divided by the weight of these.
    """
    kernels, way = get_rule(rule).kernels, _way(rule, matrix, task_counts)
    kernel = {Way.SINGLE: kernels.resamples, Way.PAIRS: kernels.pairs, Way.RIVALS: kernels.pairs}.get(way)
    if kernel is None or not kernel.adds_up:
        return scores
    return scores / (task_counts @ np.array([float(weight) for weight in matrix.weights]))[:, None]


class Way(Enum):
    """How the resamples of a rule are scored."""

    SINGLE = "rule by rule, from the scores"
    DRAWS = "rule by rule, from the scores with their gaps"
    PAIRS = "with others, from the comparisons of all systems"
    RIVALS = "with others, a block of systems against all others at a time"
    ONE_BY_ONE = "resample by resample"


def _way(rule: str, matrix: ScoreMatrix, task_counts: Counts) -> Way:
    record = get_rule(rule)
    kernels = record.kernels
    # What a rule that needs every score ranks has been completed before.
    if kernels.resamples is not None and (record.needs_complete or matrix.is_complete.all()):
        needs_exact = kernels.resamples.needs_exact_weights
        return Way.ONE_BY_ONE if needs_exact and not has_exact_weights(matrix, task_counts) else Way.SINGLE
    if kernels.rivals is not None and has_exact_weights(matrix, task_counts):
        return Way.PAIRS if fits(rule, matrix) else Way.RIVALS
    if kernels.rivals is None and fits(rule, matrix):
        is_exact = has_exact_weights(matrix, task_counts, factor=2 * matrix.n_systems)
        return Way.PAIRS if is_exact else Way.ONE_BY_ONE
    fits_draws = kernels.draws is not None and kernels.fit(matrix.n_systems)
    if fits_draws and has_exact_weights(matrix, task_counts, factor=2 * matrix.n_systems):
        return Way.DRAWS
    return Way.ONE_BY_ONE


_TOGETHER: Mapping[Way, Callable[[ScoreMatrix, Counts, Sequence[str], Step], dict[str, FloatArray]]] = {
    Way.DRAWS: _resampled_draw_rules,
    Way.PAIRS: resampled_pair_rules,
    Way.RIVALS: _resampled_rival_rules,
}


def part_of_steps(step: Step, done: int, length: int, total: int) -> Step:
    """Return the callback for `length` of `total` rules after the first `done`."""
    return lambda share: step((done + length * share) / total)
