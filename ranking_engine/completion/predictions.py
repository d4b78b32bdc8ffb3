"""Scores predicted from the other scores, each with the error of predictions that were made without the score itself.

On each task scores are put in units of its spread. A score is predicted as a sum of products of a factor of the system
and one of the task, z_it = sum_k u_ik v_tk; see `factors`. How many factors there are, none included, and the penalty
on large ones are chosen by held-out error. A prediction is never beyond the best and the worst score that it is made
from: Zhang, Dorner and Hardt 2025 (arXiv 2506.07673) find that methods of this kind fail where a system is better than
all that they have seen.

Every score is held out once, in five folds. The error is that of predictions made without the score. Only the number of
factors and the penalty have seen it: in each fold they are those that predict the other folds best, by fits that use
this fold. Fits take the spread of the scores that they see; errors are in units of the spread of all scores of the
task, because a fold may leave equal ones, which have none. Intervals take a quantile of these errors: of the task's
own where it has many, else of all.

Nothing here is random: a fold takes every fifth score of a task, each task from a fold of its own on. So a task with
two scores or more never loses all of them. The scores alone decide the order of systems and tasks, so that no one gets
other predictions by another name or place in the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.completion.factors import FloatArray, factored

FOLDS = 5
LEAST_SCORES = 20
LEAST_SYSTEMS = 3
MOST_CELLS = 200_000
OWN_ERRORS = 30  # held-out scores of a task from which its intervals rest on these alone
PREDICTABLE = 0.5  # of the variance of a task's scores that predictions of held-out ones explain
PENALTIES = (0.1, 0.5, 2.0)
MOST_FACTORS = 3
_REFINEMENTS = 3  # of the order of systems and tasks
_MANY_CELLS = 20_000  # beyond them there is one penalty: with so many scores others make no difference

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class ScorePredictions:
    """ScorePredictions of the scores of some tasks; arrays have shape (n_systems, n_tasks) or (n_tasks,).

    Attributes:
        predicted: of every cell, from all scores.
        held_out: of every score, made without it; NaN where there is none.
        errors: how far `held_out` is from the scores, in units of the task's spread.
        spread: the standard deviation of each task's scores.
        explained: by task 1 - the squared errors over those of the task's mean.
        explained_in_all: the same over all tasks.
        fold_of: the fold of every score; -1 where there is none.
        factors, penalty: of the model that `predicted` is of.
    """

    predicted: FloatArray
    held_out: FloatArray
    errors: FloatArray
    spread: FloatArray
    explained: FloatArray
    explained_in_all: float
    fold_of: NDArray[np.intp]
    factors: int
    penalty: float

    @property
    def error(self) -> float:
        """The root of the mean squared error of held-out scores, in units of their task's spread."""
        return float(np.sqrt(np.nanmean(self.errors**2)))

    @property
    def task_error(self) -> FloatArray:
        """The same by task, in its own units."""
        return np.asarray(np.sqrt(np.nanmean(self.errors**2, axis=0)) * self.spread)

    def half_width(self, level: float) -> FloatArray:
        """By task, how far predictions are from the score at most with probability `level`, in the task's units."""
        return error_quantiles(self.errors, level) * self.spread


def predict(scores: FloatArray, progress: Progress | None = None) -> ScorePredictions:
    """Predict every score from the others.

    Args:
        scores: shape (n_systems, n_tasks), NaN where there is none; each task with two different ones.
        progress: is called with the steps done, and all.
    """
    # Folds follow the order of rows and columns, which depends on nothing but the scores.
    rows, tasks = content_order(scores)
    row_places, task_places = np.argsort(rows), np.argsort(tasks)
    cells = np.ix_(row_places, task_places)
    scores = scores[np.ix_(rows, tasks)]
    observed = ~np.isnan(scores)
    place_in_task = np.cumsum(observed, axis=0) - 1
    fold_of = np.where(observed, (place_in_task + np.arange(scores.shape[1])) % FOLDS, -1)
    seen = np.stack([*(np.where(fold_of == fold, np.nan, scores) for fold in range(FOLDS)), scores])
    z, centre, spread = (np.stack(part) for part in zip(*map(standardized, seen), strict=True))
    is_shown = np.isnan(z)
    least = np.where(is_shown, np.inf, z).min(axis=1, keepdims=True)
    most = np.where(is_shown, -np.inf, z).max(axis=1, keepdims=True)
    penalties = PENALTIES if scores.size <= _MANY_CELLS else PENALTIES[1:2]
    models = [(0, 1.0), *((k, penalty) for k in range(1, MOST_FACTORS + 1) for penalty in penalties)]
    # Per model the predictions of all scores, each in the fold without it, and the squared errors of each fold.
    held_out_of: list[FloatArray] = []
    of_folds = np.empty((len(models), FOLDS))
    whole: list[FloatArray] = []
    for k in range(MOST_FACTORS + 1):
        fits = factored(z, k, penalties if k else [1.0])
        for m in range(fits.shape[1]):
            back = np.clip(fits[:, m], least, most) * spread[:, None] + centre[:, None]
            held_out = np.choose(np.maximum(fold_of, 0), back[:FOLDS])
            squares = np.where(observed, ((held_out - scores) / spread[-1]) ** 2, 0.0)
            of_folds[len(held_out_of)] = [squares[fold_of == fold].sum() for fold in range(FOLDS)]
            held_out_of.append(held_out)
            whole.append(back[-1])
        if progress is not None:
            progress(k + 1, MOST_FACTORS + 1)
    in_all = of_folds.sum(axis=1)
    held_out = np.full(scores.shape, np.nan)
    for fold in range(FOLDS):
        chosen = int(np.argmin(in_all - of_folds[:, fold]))
        held_out[fold_of == fold] = held_out_of[chosen][fold_of == fold]
    best = int(np.argmin(in_all))
    errors = np.abs(held_out - scores) / spread[-1]
    squares, variances = np.nansum(errors**2, axis=0), np.nansum(z[-1] ** 2, axis=0)
    return ScorePredictions(
        predicted=whole[best][cells],
        held_out=held_out[cells],
        errors=errors[cells],
        spread=spread[-1][task_places],
        explained=(1.0 - squares / variances)[task_places],
        explained_in_all=1.0 - float(squares.sum() / variances.sum()),
        fold_of=fold_of[cells],
        factors=models[best][0],
        penalty=models[best][1],
    )


def content_order(scores: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the systems and one of the tasks that do not depend on the order they are given in.

    Systems are sorted by their scores, tasks by theirs, each score with the class of its system or task so far, as
    nodes of a graph are by those around them (Weisfeiler and Leman 1968). Those of one class, such as equal rows, stay
    in the order given.
    """
    values = np.unique(scores, return_inverse=True)[1].reshape(scores.shape)
    rows, tasks = np.zeros(scores.shape[0], dtype=np.int64), np.zeros(scores.shape[1], dtype=np.int64)
    for _ in range(_REFINEMENTS):
        rows = _classes(values * len(tasks) + tasks)
        tasks = _classes((values * len(rows) + rows[:, None]).T)
    return np.argsort(rows, kind="stable"), np.argsort(tasks, kind="stable")


def _classes(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each row a number that rows of the same keys share, in the order of the sorted keys."""
    return np.asarray(np.unique(np.sort(keys, axis=1), axis=0, return_inverse=True)[1].reshape(-1))


def standardized(scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
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


def error_quantiles(errors: FloatArray, level: float) -> FloatArray:
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


def predictable_tasks(scores: FloatArray) -> NDArray[np.intp]:
    """Return the tasks with two different scores: no other has a spread to measure errors in."""
    return np.flatnonzero(np.fmax.reduce(scores, axis=0) > np.fmin.reduce(scores, axis=0))


def why_not_predicted(scores: FloatArray) -> str:
    """Return why no score of a table is predicted; empty where some may be."""
    if scores.size > MOST_CELLS:
        return f"scores are predicted for up to {MOST_CELLS:,} cells"
    present = ~np.isnan(scores[:, predictable_tasks(scores)])
    if present.shape[1] < 2 or present.any(axis=1).sum() < LEAST_SYSTEMS or present.sum() < LEAST_SCORES:
        return f"fewer than {LEAST_SCORES} scores on two tasks or more, each with two different ones"
    return ""
