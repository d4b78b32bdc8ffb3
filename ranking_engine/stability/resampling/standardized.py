"""All scores of a matrix less their mean, over their deviation: the global z-score of Pavao et al. 2021."""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix


def standardized(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return the matrix with the same shift and factor for every voting score: their mean is 0, their deviation 1.

    Scales and the threshold γ move along; scores that are all equal only move.
    """
    voting = matrix.values[:, matrix.votes]
    if np.isnan(voting).all():
        return matrix
    centre, spread = float(np.nanmean(voting)), float(np.nanstd(voting)) or 1.0

    def moved(values: FloatArray) -> FloatArray:
        return (values - centre) / spread

    return ScoreMatrix(
        moved(matrix.values),
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=matrix.weights,
        groups=matrix.groups,
        group_weights=matrix.group_weights,
        gamma=None if matrix.gamma is None else (matrix.gamma - centre) / spread,
        minimum=moved(matrix.minimum),
        maximum=moved(matrix.maximum),
        chance=moved(matrix.chance),
        clusters=matrix.clusters,
    )
