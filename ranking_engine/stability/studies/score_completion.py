"""Score completion: which missing scores can be predicted from the others, and with which error.

How they are predicted, and how the error is found, `completion.predictions` says; the missing-score policy `predicted`
takes the same predictions. Here the coverage of the intervals is measured, each fold by the quantiles of the others.

Scores are held out as if they were missing by chance. If systems leave out tasks on which they are bad, predictions are
too good, and no error here shows that. Nor does it show how large errors are for systems with few scores, as most
scores that are held out are of systems with many: scores of systems without three scores or without one on half of the
tasks are not predicted, as under the policy. Nothing that is predicted here is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.completion.predictions import (
    FOLDS,
    PREDICTABLE,
    error_quantiles,
    predict,
    predictable_tasks,
    why_not_predicted,
)
from ranking_engine.core.missing import has_enough_scores
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.parameters import NUMBER, Parameter
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult, in_unit, plain
from ranking_engine.text.names import name_order_key

NUMBER_OF_STUDY = 15

MOST_LISTED = 100  # tasks, and predicted scores, of a summary


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return the predictions: `predicted`, in the tasks' units, and `held_out`, made without the score itself.

    Both of shape (n_systems, n_tasks) of the systems and tasks in `systems` and `tasks`; `predicted` is NaN where there
    is a score, and for systems with too few scores of their own, `held_out` where there is none. `is_missing`: where
    there is no score, of the same shape. `half_width`, `spread` and `explained` by task; `covered` whether each
    held-out score is inside its interval, NaN where there is none; `model`: factors and penalty. Nothing is drawn, so
    the seed makes no difference.
    """
    del seed, chunk
    systems, tasks = taking_part(matrix)
    scores = matrix.scores[np.ix_(systems, tasks)]
    predictions = predict(scores, progress)
    covered = np.full(scores.shape, np.nan)
    for fold in range(FOLDS):
        is_out = predictions.fold_of == fold
        limits = error_quantiles(np.where(is_out, np.nan, predictions.errors), parameters["level"])
        covered[is_out] = (predictions.errors <= limits)[is_out]
    sign = matrix.directions[tasks].astype(np.float64)
    least = np.where(np.isnan(matrix.minimum[tasks]), -np.inf, matrix.minimum[tasks])
    most = np.where(np.isnan(matrix.maximum[tasks]), np.inf, matrix.maximum[tasks])
    is_missing = np.isnan(scores)
    is_known = has_enough_scores(matrix.scores[np.ix_(systems, np.flatnonzero(matrix.votes))])
    is_predicted = is_missing & is_known[:, np.newaxis]
    return {
        "systems": systems,
        "tasks": tasks,
        "predicted": np.where(is_predicted, np.clip(predictions.predicted * sign, least, most), np.nan),
        "is_missing": is_missing,
        "held_out": predictions.held_out * sign,
        "half_width": predictions.half_width(parameters["level"]),
        "spread": predictions.spread,
        "errors": predictions.errors,
        "explained": np.array([*predictions.explained, predictions.explained_in_all]),
        "covered": covered,
        "model": np.array([predictions.factors, predictions.penalty]),
    }


def taking_part(matrix: ScoreMatrix) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the scored systems and the voting tasks with two different scores, both in the order of names."""
    scores = np.where(matrix.votes, matrix.scores, np.nan)
    tasks = sorted(predictable_tasks(scores).tolist(), key=lambda t: name_order_key(matrix.task_names[t]))
    has_score = ~np.isnan(scores[:, tasks]).all(axis=1)
    systems = sorted(np.flatnonzero(has_score).tolist(), key=lambda i: name_order_key(matrix.system_names[i]))
    return np.array(systems, dtype=np.intp), np.array(tasks, dtype=np.intp)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return the held-out error, in all and by task, and the predictions with their intervals.

    `n_with_few_scores` counts the missing scores of systems with too few of their own, which are not predicted.
    `explained` is 1 - the squared errors over those of the task's mean. Tasks and predictions beyond MOST_LISTED are
    in the arrays alone: tasks are listed from the most missing scores on, predictions by task and system.
    """
    del seed
    arrays = partials[0]
    tasks, predicted, errors = arrays["tasks"], arrays["predicted"], arrays["errors"]
    names, missing, is_predicted = matrix.task_names, arrays["is_missing"], ~np.isnan(predicted)
    of_task = arrays["explained"].tolist()
    by_gaps = sorted(range(len(tasks)), key=lambda t: (-int(missing[:, t].sum()), name_order_key(names[tasks[t]])))
    listed = by_gaps[:MOST_LISTED]
    cells = [(i, t) for t in listed for i in np.flatnonzero(is_predicted[:, t]).tolist()][:MOST_LISTED]
    width = arrays["half_width"]
    least, most = matrix.minimum[tasks], matrix.maximum[tasks]  # NaN where none is stated
    summary: dict[str, Any] = {
        "level": parameters["level"],
        "n_systems": len(arrays["systems"]),
        "n_tasks": len(tasks),
        "n_observed": int((~np.isnan(errors)).sum()),
        "n_missing": int(missing.sum()),
        "n_predictable": int(is_predicted[:, arrays["explained"][:-1] >= PREDICTABLE].sum()),
        "n_with_few_scores": int((missing & ~is_predicted).sum()),
        "factors": int(arrays["model"][0]),
        "penalty": float(arrays["model"][1]),
        "error": plain(float(np.sqrt(np.nanmean(errors**2)))),
        "explained": plain(of_task[-1]),
        "coverage": plain(float(np.nanmean(arrays["covered"]))),
        "tasks": [names[tasks[t]] for t in listed],
        "missing": [int(missing[:, t].sum()) for t in listed],
        "task_error": [in_unit(float(np.sqrt(np.nanmean(errors[:, t] ** 2)) * arrays["spread"][t])) for t in listed],
        "task_explained": [plain(of_task[t]) for t in listed],
        "task_half_width": [in_unit(float(width[t])) for t in listed],
        "task_coverage": [plain(float(np.nanmean(arrays["covered"][:, t]))) for t in listed],
        "cells": {
            "systems": [matrix.system_names[arrays["systems"][i]] for i, _ in cells],
            "tasks": [names[tasks[t]] for _, t in cells],
            "predicted": [in_unit(float(predicted[i, t])) for i, t in cells],
            "low": [in_unit(float(np.fmax(predicted[i, t] - width[t], least[t]))) for i, t in cells],
            "high": [in_unit(float(np.fmin(predicted[i, t] + width[t], most[t]))) for i, t in cells],
        },
    }
    return StudyResult(summary, dict(arrays))


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why no score is predicted."""
    return why_not_predicted(np.where(matrix.votes, matrix.scores, np.nan))


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="score_completion",
    name="Score completion",
    question="Which missing scores can be predicted from the others, and with which error?",
    source="Koren, Bell and Volinsky 2009; Zhang, Dorner and Hardt 2025 on its limits; folds and intervals are ours",
    declared=(
        Parameter(
            "level",
            0.9,
            NUMBER,
            "Level",
            "The share of scores that should be inside their intervals.",
            least=0.5,
            most=0.99,
        ),
    ),
    estimate=lambda matrix, parameters: 0.1 + 2e-5 * matrix.values.size,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    axes=("tasks",),
    runs_with_boards=False,
)
