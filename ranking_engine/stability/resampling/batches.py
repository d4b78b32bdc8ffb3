"""Rule scores of many matrices of the same systems and tasks at once, whose scores differ.

Scores have shape (n_matrices, n_systems), NaN where a system is not ranked, and are those of the rule up to rounding,
except the rules that are ranked one by one, which give minus their ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.decimals import as_scores
from ranking_engine.core.missing import halfway
from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability.resampling.alone import Alone

IMPUTING = ("median", "worst")

_BLOCK_CELLS = 1 << 21


def completed(batch: MatrixBatch, policy: str) -> MatrixBatch:
    """Fill the gaps of every matrix with the `median` or the `worst` of the scores that the task has in it.

    Systems without any score stay out; a task without any score counts nothing.
    """
    scores = batch.scores.copy()
    has_task = ~np.isnan(scores).all(axis=1)
    gaps = np.isnan(scores) & batch.present[:, :, None]
    if gaps.any():
        if policy == "median":
            ascending, count = np.sort(scores, axis=1), (~np.isnan(scores)).sum(axis=1)
            low, high = (np.maximum(middle, 0)[:, None, :] for middle in ((count - 1) // 2, count // 2))
            low, high = np.take_along_axis(ascending, low, axis=1), np.take_along_axis(ascending, high, axis=1)
            substitute = as_scores(halfway(low, high)[:, 0], batch.matrix.precision)
        else:
            substitute = np.fmin.reduce(scores, axis=1)
        scores = np.where(gaps, np.where(has_task, substitute, 0.0)[:, None, :], scores)
    return MatrixBatch(batch.matrix, scores, batch.weights * has_task, batch.present)


def is_batched(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether `rule` is scored for a whole batch of matrices of this size at once."""
    weights = matrix.integer_weights
    if weights.dtype == object or int(weights.sum()) * 2 * matrix.n_systems >= EXACT_FLOAT:
        return False
    kernels = get_rule(rule).kernels
    return kernels.tables is not None and kernels.fit(matrix.n_systems)


def batch_scores(
    batch: MatrixBatch, rules: Sequence[str], policy: str, alone: Alone | None = None
) -> dict[str, FloatArray]:
    """Return the scores of every rule of every matrix; `policy` is `median` or `worst`, for rules that need all scores.

    Rules that the whole matrix leaves undefined for other reasons than its scores, such as a task without a scale,
    must not be among them. `alone` ranks those that are ranked one by one.
    """
    whole = batch if not np.isnan(batch.scores).any() else completed(batch, policy)
    scores: dict[str, FloatArray] = {}
    for rule in map(get_rule, rules):
        if rule.kernels.tables is not None and is_batched(rule.key, batch.matrix):
            scores[rule.key] = rule.kernels.tables(whole if rule.needs_complete else batch)
    slow = [key for key in rules if key not in scores]
    scores |= {rule: np.full(batch.present.shape, np.nan) for rule in slow}
    for r, values in enumerate(batch.scores * batch.matrix.directions if slow else ()):
        for key, row in (alone or Alone()).scores(batch.matrix.with_values(values), slow, policy).items():
            scores[key][r] = row
    return scores


def scores_with_copies(
    matrix: ScoreMatrix, systems: NDArray[np.intp], rules: Sequence[str], alone: Alone
) -> dict[str, FloatArray]:
    """Return the scores of the systems of each row, which are ranked as often as they are there, under `rules`."""
    tables = {rule: np.full(systems.shape, np.nan) for rule in rules}
    height = max(1, _BLOCK_CELLS // (matrix.n_systems * max(matrix.n_systems, matrix.n_tasks)))
    for start in range(0, len(systems), height):
        drawn = systems[start : start + height]
        # No policy fills anything: rules that need all scores have them.
        for rule, scores in batch_scores(MatrixBatch(matrix, matrix.scores[drawn]), rules, "median", alone).items():
            np.put_along_axis(tables[rule][start : start + height], drawn, scores, axis=1)
    return tables
