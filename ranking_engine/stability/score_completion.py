"""Score completion: which missing scores can be predicted from the others, and with which error.

On each task scores are put in units of its spread. A score is predicted as a sum of products of a factor of the system
and one of the task, z_it = sum_k u_ik v_tk, fitted to the scores that are there with a penalty on large factors
(matrix completion by alternating least squares; Koren, Bell and Volinsky 2009). How many factors there are, none
included, and the penalty are chosen by held-out error.

Every observed score is held out once, in five folds. The error is that of predictions made without the score; in each
fold the model is the one that predicts the other folds best. Fits take the spread of the scores that they see; errors
are in units of the spread of all scores of the task, because a fold may leave equal ones, which have none. Intervals
take a quantile of these errors: of the task's own where it has many, else of all. Their coverage is measured, each fold
by the quantiles of the others.

Scores are held out at random. If systems leave out tasks on which they are bad, predictions are too good, and no error
here shows that. Nothing that is predicted is ranked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability.parameters import NUMBER, Parameter
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult, generator, plain

NUMBER_OF_STUDY = 15

FOLDS = 5
LEAST_SCORES = 20
MOST_CELLS = 200_000
MOST_LISTED = 100  # tasks, and predicted scores, of a summary
OWN_ERRORS = 30  # held-out scores of a task from which its intervals rest on these alone
PREDICTABLE = 0.5  # of the variance of a task's scores that predictions of held-out ones explain
MODELS = ((0, 1.0), *((factors, penalty) for factors in (1, 2, 3) for penalty in (0.1, 0.5, 2.0)))
_ROUNDS = 30


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return the predictions: `predicted`, in the tasks' units, and `held_out`, made without the score itself.

    Both of shape (n_systems, n_tasks) of the systems and tasks in `systems` and `tasks`; `predicted` is NaN where there
    is a score, `held_out` where there is none. `half_width` by task; `covered` whether each held-out score is inside
    its interval, NaN where there is none; `model`: factors and penalty.
    """
    del chunk
    systems, tasks = _taking_part(matrix)
    scores = matrix.scores[np.ix_(systems, tasks)]
    observed = ~np.isnan(scores)
    fold_of = np.full(scores.shape, -1)
    places = generator(seed, NUMBER_OF_STUDY).permutation(int(observed.sum()))
    fold_of[observed] = places % FOLDS
    predictions = np.full((len(MODELS), *scores.shape), np.nan)
    for fold in range(FOLDS):
        is_out = fold_of == fold
        z, centre, spread = _standardized(np.where(is_out, np.nan, scores))
        for m, (factors, penalty) in enumerate(MODELS):
            filled = factored(z, factors, penalty) * spread + centre
            predictions[m][is_out] = filled[is_out]
            if progress is not None:
                progress(fold * len(MODELS) + m + 1, FOLDS * len(MODELS))
    z, centre, spread = _standardized(scores)
    squares = ((predictions - scores) / spread) ** 2
    of_folds = np.array([np.nansum(squares[:, fold_of == fold], axis=1) for fold in range(FOLDS)])
    held_out = np.full(scores.shape, np.nan)
    for fold in range(FOLDS):
        chosen = int(np.argmin(of_folds.sum(axis=0) - of_folds[fold]))
        held_out[fold_of == fold] = predictions[chosen][fold_of == fold]
    best = int(np.argmin(of_folds.sum(axis=0)))
    completed = factored(z, *MODELS[best]) * spread + centre
    errors = np.abs(held_out - scores) / spread
    covered = np.full(scores.shape, np.nan)
    for fold in range(FOLDS):
        limits = _quantiles(np.where(fold_of == fold, np.nan, errors), parameters["level"])
        is_out = fold_of == fold
        covered[is_out] = (errors <= limits)[is_out]
    sign = matrix.directions[tasks].astype(np.float64)
    least = np.where(np.isnan(matrix.minimum[tasks]), -np.inf, matrix.minimum[tasks])
    most = np.where(np.isnan(matrix.maximum[tasks]), np.inf, matrix.maximum[tasks])
    return {
        "systems": systems,
        "tasks": tasks,
        "predicted": np.where(observed, np.nan, np.clip(completed * sign, least, most)),
        "held_out": held_out * sign,
        "half_width": _quantiles(errors, parameters["level"]) * spread,
        "spread": spread,
        "errors": errors,
        "covered": covered,
        "model": np.array(MODELS[best]),
    }


def factored(z: FloatArray, n_factors: int, penalty: float) -> FloatArray:
    """Return the sums of products of factors nearest to the scores of `z`, with a penalty on large factors.

        minimise  sum over observed cells (z_it - sum_k u_ik v_tk)^2 + penalty (sum u_ik^2 + sum v_tk^2)

    by turns in u and v. The first factor starts from the means of the systems, the others from what these leave: no
    step is random. Without factors the prediction is 0, the mean of the task.

    Args:
        z: shape (n_systems, n_tasks), NaN where there is no score.
        n_factors: at most the number of systems and of tasks.
        penalty: above 0.
    """
    if n_factors == 0:
        return np.zeros(z.shape)
    present = (~np.isnan(z)).astype(np.float64)
    there = np.where(present > 0, z, 0.0)
    means = there.sum(axis=1) / (present.sum(axis=1) + penalty)
    left = np.where(present > 0, there - means[:, None], 0.0)
    _, sizes, directions = np.linalg.svd(left, full_matrices=False)
    # A factor of equal entries, and the strongest patterns of what it leaves, each up to its sign.
    of_tasks = np.vstack([np.ones(z.shape[1]), np.sqrt(sizes[: n_factors - 1, None]) * directions[: n_factors - 1]]).T
    ridge = penalty * np.eye(of_tasks.shape[1])
    for _ in range(_ROUNDS):
        of_systems = _solved(present, there, of_tasks, ridge)
        of_tasks = _solved(present.T, there.T, of_systems, ridge)
    return np.asarray(_solved(present, there, of_tasks, ridge) @ of_tasks.T)


def _solved(present: FloatArray, there: FloatArray, factors: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the factors of each row, given those of the columns."""
    k = factors.shape[1]
    products = (factors[:, :, None] * factors[:, None, :]).reshape(len(factors), k * k)
    squares = (present @ products).reshape(-1, k, k) + ridge
    return np.asarray(np.linalg.solve(squares, (there @ factors)[:, :, None])[:, :, 0])


def _standardized(scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return scores less their task's mean over its standard deviation, these means, and these deviations."""
    present = ~np.isnan(scores)
    counts = np.maximum(present.sum(axis=0), 1)
    # Of scores as shares of the largest, since the square of a score may be beyond all floats.
    largest = np.maximum(np.where(present, np.abs(scores), 0.0).max(axis=0), 1e-300)
    shares = scores / largest
    centre = np.where(present, shares, 0.0).sum(axis=0) / counts
    spread = np.sqrt(np.where(present, (shares - centre) ** 2, 0.0).sum(axis=0) / counts)
    spread = np.where(spread > 1e-12, spread, 1.0)
    return (shares - centre) / spread, centre * largest, spread * largest


def _quantiles(errors: FloatArray, level: float) -> FloatArray:
    """Return by task the error that a share `level` of the held-out ones is within, in units of the spread.

    The k-th smallest of m errors with k = ceil((m + 1) level), at most m: of the task's own errors from OWN_ERRORS on,
    of those of all tasks below.
    """
    pooled = _quantile(errors[~np.isnan(errors)], level)
    own = [column[~np.isnan(column)] for column in errors.T]
    return np.array([_quantile(column, level) if len(column) >= OWN_ERRORS else pooled for column in own])


def _quantile(errors: FloatArray, level: float) -> float:
    ordered = np.sort(errors)
    return float(ordered[min(len(ordered), math.ceil((len(ordered) + 1) * level)) - 1])


def _taking_part(matrix: ScoreMatrix) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the scored systems and the voting tasks with two different scores, both in the order of names."""
    scores = np.where(matrix.votes, matrix.scores, np.nan)
    with_two = [t for t in range(matrix.n_tasks) if len(np.unique(scores[~np.isnan(scores[:, t]), t])) > 1]
    tasks = sorted(with_two, key=matrix.task_names.__getitem__)
    has_score = ~np.isnan(scores[:, tasks]).all(axis=1)
    systems = sorted(np.flatnonzero(has_score).tolist(), key=matrix.system_names.__getitem__)
    return np.array(systems, dtype=np.intp), np.array(tasks, dtype=np.intp)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return the held-out error, in all and by task, and the predictions with their intervals.

    `explained` is 1 - the squared errors over those of the task's mean. Tasks and predictions beyond MOST_LISTED are
    in the arrays alone: tasks are listed from the most missing scores on, predictions by task and system.
    """
    del seed
    arrays = partials[0]
    tasks, predicted, errors = arrays["tasks"], arrays["predicted"], arrays["errors"]
    names, missing = matrix.task_names, ~np.isnan(predicted)
    scores = matrix.values[np.ix_(arrays["systems"], tasks)]
    of_task = {t: _explained(errors[:, [t]], scores[:, [t]]) for t in range(len(tasks))}
    listed = sorted(range(len(tasks)), key=lambda t: (-int(missing[:, t].sum()), names[tasks[t]]))[:MOST_LISTED]
    cells = [(i, t) for t in listed for i in np.flatnonzero(missing[:, t]).tolist()][:MOST_LISTED]
    width = arrays["half_width"]
    summary: dict[str, Any] = {
        "level": parameters["level"],
        "n_systems": len(arrays["systems"]),
        "n_tasks": len(tasks),
        "n_observed": int((~np.isnan(errors)).sum()),
        "n_missing": int(missing.sum()),
        "n_predictable": sum(int(missing[:, t].sum()) for t in of_task if of_task[t] >= PREDICTABLE),
        "factors": int(arrays["model"][0]),
        "penalty": float(arrays["model"][1]),
        "error": plain(math.sqrt(float(np.nanmean(errors**2)))),
        "explained": plain(_explained(errors, scores)),
        "coverage": plain(float(np.nanmean(arrays["covered"]))),
        "tasks": [names[tasks[t]] for t in listed],
        "missing": [int(missing[:, t].sum()) for t in listed],
        "task_error": [plain(float(np.sqrt(np.nanmean(errors[:, t] ** 2)) * arrays["spread"][t])) for t in listed],
        "task_explained": [plain(of_task[t]) for t in listed],
        "task_half_width": [plain(float(width[t])) for t in listed],
        "task_coverage": [plain(float(np.nanmean(arrays["covered"][:, t]))) for t in listed],
        "cells": {
            "systems": [matrix.system_names[arrays["systems"][i]] for i, _ in cells],
            "tasks": [names[tasks[t]] for _, t in cells],
            "predicted": [plain(float(predicted[i, t])) for i, t in cells],
            "low": [plain(float(predicted[i, t] - width[t])) for i, t in cells],
            "high": [plain(float(predicted[i, t] + width[t])) for i, t in cells],
        },
    }
    return StudyResult(summary, dict(arrays))


def _explained(errors: FloatArray, scores: FloatArray) -> float:
    """Return 1 - the squared errors over the squared distances of the scores from their task's mean."""
    z, _, _ = _standardized(scores)
    present: BoolArray = ~np.isnan(errors)
    return 1.0 - float((errors[present] ** 2).sum() / (z[present] ** 2).sum())


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why no score is predicted."""
    if matrix.values.size > MOST_CELLS:
        return f"scores are predicted for up to {MOST_CELLS:,} cells"
    systems, tasks = _taking_part(matrix)
    n_scores = int((~np.isnan(matrix.scores[np.ix_(systems, tasks)])).sum())
    if len(tasks) < 2 or len(systems) < 3 or n_scores < LEAST_SCORES:
        return f"fewer than {LEAST_SCORES} scores on two tasks or more, each with two different ones"
    return ""


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="score_completion",
    name="Score completion",
    question="Which missing scores can be predicted from the others, and with which error?",
    source="Koren, Bell and Volinsky 2009; folds and intervals are ours",
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
    n_chunks=lambda matrix, parameters: 1,
    estimate=lambda matrix, parameters: 0.2 + 2e-4 * matrix.values.size,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    axes=("tasks",),
    runs_with_boards=False,
)
