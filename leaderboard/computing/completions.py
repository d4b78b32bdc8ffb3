"""Predicted scores: which of the missing ones can be predicted, and with which error."""

from typing import Any

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.core.missing import filled_in


def predicted_scores(matrix: ScoreMatrix) -> dict[str, Any]:
    """The missing scores on voting tasks that can be predicted; the fields of `rankings.predictions.PredictedScores`.

    Args:
        matrix: the scores.
    """
    filled = filled_in(matrix)
    if filled is None:
        figures = dict.fromkeys(("error", "explained"), np.nan)
        return {"cells": {}, "half_widths": {}, "task_errors": {}, "n_missing": 0, **figures, "reason": ""}
    systems, tasks = filled.part.systems.tolist(), np.flatnonzero(matrix.votes).tolist()
    places = np.argwhere(filled.is_predicted).tolist()
    return {
        "cells": {(systems[i], tasks[t]): float(filled.matrix.values[i, t]) for i, t in places},
        "half_widths": {tasks[t]: float(width) for t, width in enumerate(filled.half_width) if np.isfinite(width)},
        "task_errors": {tasks[t]: float(error) for t, error in enumerate(filled.task_error) if np.isfinite(error)},
        "n_missing": int(filled.is_predicted.sum() + np.isnan(filled.matrix.values).sum()),
        "error": filled.error,
        "explained": filled.explained,
        "reason": filled.reason,
    }
