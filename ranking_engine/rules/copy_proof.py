"""Ratings that copies of tasks and of systems cannot move: the equilibrium of a game of systems against tasks.

One player names a system, the other a task, and the first gets the system's score on it, from 0 (the worst on the task)
to 1 (the best): the game of systems against tasks of Balduzzi et al. 2018, Re-evaluating evaluation (arXiv:1806.02643).
The second player mixes tasks so that the best system gets as little as possible. Where several mixtures do that, they
take the one at which the next best get as little as possible, and so on. So ratings are unique. Marris et al. 2025,
Deviation ratings (arXiv:2502.11645), select an equilibrium by a sequence of linear programs as well; this game and this
scale are ours, and only complete systems are rated.

A copy of a task adds a column that the others have already, a copy of a system a row: neither changes what can be got.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix

MAX_SYSTEMS = 1_000
MAX_TASKS = 200
ERROR = 1e-6  # of a rating, from the tolerances of the linear programs
_TIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class CopyProofRatings:
    """Ratings, and the mixture of tasks behind them.

    Attributes:
        reason: why there are none; otherwise empty.
        ratings: of each system, 0 to 1, higher is better, within ERROR; NaN for systems without a score on some task.
        task_weights: shares of all tasks of the matrix; several mixtures may give the same ratings.
    """

    reason: str
    ratings: FloatArray
    task_weights: FloatArray


def copy_proof_ratings(matrix: ScoreMatrix) -> CopyProofRatings:
    """Rate the systems that have a score on every voting task.

        y_it = (x_it - worst_t) / (best_t - worst_t)        over these systems, higher is better
        r = Y w, with w >= 0, sum w = 1, and r sorted from the highest on lexicographically least

    Tasks on which all tie are left out. Weights of tasks do not matter, except whether a task votes: a mixture is
    chosen. At most as many linear programs as there are tasks.
    """
    ratings, weights = np.full(matrix.n_systems, np.nan), np.zeros(matrix.n_tasks)
    voting = np.flatnonzero(matrix.votes)
    scores = matrix.scores[:, voting]
    complete = np.flatnonzero(~np.isnan(scores).any(axis=1)) if len(voting) else np.empty(0, dtype=np.intp)
    if len(complete) > MAX_SYSTEMS or len(voting) > MAX_TASKS:
        return CopyProofRatings(f"not computed beyond {MAX_SYSTEMS:,} systems and {MAX_TASKS} tasks", ratings, weights)
    if not len(complete):
        return CopyProofRatings("no system has a score on every task of weight above 0", ratings, weights)
    scores = scores[complete]
    worst, best = scores.min(axis=0), scores.max(axis=0)
    varied = np.flatnonzero(best > worst)
    if not len(varied):
        return CopyProofRatings("all systems tie on every task", ratings, weights)
    # Halves, since the difference of two scores may be beyond all floats.
    half_worst, half_best = worst[varied] / 2, best[varied] / 2
    game = (scores[:, varied] / 2 - half_worst) / (half_best - half_worst)
    mixture = least_mixture(np.unique(game, axis=0))
    ratings[complete] = game @ mixture
    weights[voting[varied]] = mixture
    return CopyProofRatings("", ratings, weights)


def least_mixture(game: FloatArray) -> FloatArray:
    """Return shares of the columns at which the rows, sorted from the highest on, are lexicographically least.

    Each linear program makes the highest of the rows that are still free as low as possible. Those with a price above 0
    have that value in every solution (complementary slackness), and so have rows that are sums of such rows; they are
    free no more.

    Args:
        game: shape (n_rows, n_columns), entries from 0 to 1.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 -- slow import

    n, T = game.shape
    is_free: BoolArray = np.ones(n, dtype=bool)
    limits = np.full(n, np.nan)
    shares = np.full(T, 1 / T)
    while is_free.any():
        rows = np.column_stack([game, -is_free.astype(np.float64)])
        solution = linprog(
            np.append(np.zeros(T), 1.0),
            A_ub=rows,
            b_ub=np.where(is_free, 0.0, limits + _TIGHT),
            A_eq=np.append(np.ones(T), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * T + [(None, None)],
            method="highs",
        )
        if solution.x is None:  # the rows that are fixed leave no room to the precision of floats: these are the shares
            break
        shares, highest = np.maximum(solution.x[:T], 0.0), float(solution.x[T])
        shares /= shares.sum()
        tight = is_free & (-solution.ineqlin.marginals > _TIGHT)
        limits[tight] = highest
        is_free &= ~tight
        if not tight.any():
            break
        # What is the same for all shares that keep the fixed rows is fixed, too.
        fixed = np.vstack([np.ones(T), game[~is_free]])
        _, sizes, directions = np.linalg.svd(fixed)
        rank = int((sizes > _TIGHT * max(1.0, sizes[0])).sum())
        if rank == T:
            break
        moves = np.abs(game @ directions[rank:].T).max(axis=1)
        known = is_free & (moves < _TIGHT)
        limits[known] = game[known] @ shares
        is_free &= ~known
    return shares
