"""Systems held against each other: weighted margins, in integers."""

from typing import Any

import numpy as np

from ranking_engine import ScoreMatrix


def margins_of(matrix: ScoreMatrix, rows: np.ndarray, columns: np.ndarray) -> dict[str, Any]:
    """All of `Margins`: the rows are compared with every system, task by task, in integers."""
    scores, weights = matrix.scores[:, matrix.votes], matrix.integer_weights[matrix.votes]
    total = sum(int(weight) for weight in weights) or 1
    above = np.zeros((len(rows), matrix.n_systems), weights.dtype)
    below, common = above.copy(), np.zeros(above.shape, bool)
    is_scored = ~np.isnan(scores)
    for t, weight in enumerate(weights):
        mine, theirs = scores[rows, t][:, None], scores[None, :, t]
        above += (mine > theirs) * weight
        below += (mine < theirs) * weight
        common |= is_scored[rows, t][:, None] & is_scored[None, :, t]
    common[np.arange(len(rows)), rows] = False
    sign = np.sign((above - below).astype(np.float64) if weights.dtype != object else _signs(above - below))
    return {
        "ahead": (above[:, columns] / total).astype(np.float64),
        "behind": (below[:, columns] / total).astype(np.float64),
        "sign": sign[:, columns].astype(np.int8),
        "is_compared": common[:, columns],
        "n_beaten": (sign > 0).sum(axis=1),
        "n_lost": (sign < 0).sum(axis=1),
        "n_level": (common & (sign == 0)).sum(axis=1),
    }


def _signs(differences: np.ndarray) -> np.ndarray:
    """Signs of integers of any size."""
    return (differences > 0).astype(np.float64) - (differences < 0)
