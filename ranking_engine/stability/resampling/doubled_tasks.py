"""A board with its tasks twice, so that a resample takes each task as it is or as a perturbation made it."""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.resampling.resampled_scores import has_fast_way


def doubled(matrix: ScoreMatrix, corrupted: FloatArray) -> ScoreMatrix:
    """Return the matrix with its tasks twice, the second time with other oriented scores.

    Neither states a precision: the scores are rounded to it already, and the others may be on another scale.
    """
    return ScoreMatrix(
        np.hstack([matrix.values, corrupted * matrix.directions]),
        system_names=matrix.system_names,
        directions=np.tile(matrix.directions, 2),
        weights=matrix.weights * 2,
        gamma=matrix.gamma,
        minimum=np.tile(matrix.minimum, 2),
        maximum=np.tile(matrix.maximum, 2),
        chance=np.tile(matrix.chance, 2),
    )


def is_fast_doubled(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether the rule ranks many resamples at once of a board with its tasks twice."""
    twice = doubled(matrix, matrix.scores)
    return has_fast_way(rule, twice, np.repeat([[1, 0]], matrix.n_tasks, axis=1))
