"""Factors of systems and tasks whose products are nearest to the scores that are there.

Matrix completion by alternating least squares: Koren, Bell and Volinsky 2009, "Matrix factorization techniques for
recommender systems", the squared error with a penalty on large factors. Many fits are made at once: of several tables
of one shape, each with several penalties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ROUNDS = 8  # more of them change held-out errors by less than a hundredth; too few scores are then fitted too closely
_PENALTY_OF_START = 0.5  # on the means that the first factor starts from


def factored(z: FloatArray, n_factors: int, penalties: Sequence[float], rounds: int = ROUNDS) -> FloatArray:
    """Return the sums of products of factors nearest to the scores of each table, with a penalty on large factors.

        minimise  sum over observed cells (z_it - sum_k u_ik v_tk)^2 + penalty (sum u_ik^2 + sum v_tk^2)

    by turns in u and v. The first factor starts from the means of the systems, the others from what these leave: no
    step is random. Without factors the prediction is 0, the mean of the task.

    Args:
        z: shape (n_tables, n_systems, n_tasks), NaN where there is no score.
        n_factors: at most the number of systems and of tasks.
        penalties: each above 0.
        rounds: how often each side is solved for the other.

    Returns:
        Shape (n_tables, n_penalties, n_systems, n_tasks).
    """
    n_tables, n, n_tasks = z.shape
    if n_factors == 0:
        return np.zeros((n_tables, len(penalties), n, n_tasks))
    present = (~np.isnan(z)).astype(np.float64)
    there = np.where(present > 0, z, 0.0)
    # The first factor of the tasks has equal entries, the others are the strongest patterns of what the means leave.
    first = np.ones((n_tables, n_factors, n_tasks))
    if n_factors > 1:
        means = there.sum(axis=2) / (present.sum(axis=2) + _PENALTY_OF_START)
        left = np.where(present > 0, there - means[:, :, None], 0.0)
        is_wide = n_tasks > n
        squares = left @ left.swapaxes(1, 2) if is_wide else left.swapaxes(1, 2) @ left
        patterns = np.linalg.eigh(squares)[1][:, :, :-n_factors:-1]  # strongest first
        if is_wide:
            patterns = left.swapaxes(1, 2) @ patterns
            patterns = patterns / np.maximum(np.linalg.norm(patterns, axis=1, keepdims=True), 1e-300)
        first[:, 1 : 1 + patterns.shape[2]] = np.sqrt(n_tasks) * patterns.swapaxes(1, 2)
    of_tasks = np.repeat(first[:, None], len(penalties), axis=1)
    ridge = np.array(penalties)[:, None]
    present, there = present[:, None], there[:, None]
    turned = present.swapaxes(2, 3), there.swapaxes(2, 3)
    of_systems = _solved(*turned, of_tasks, ridge)
    for _ in range(rounds):
        of_tasks = _solved(present, there, of_systems, ridge)
        of_systems = _solved(*turned, of_tasks, ridge)
    return np.asarray(of_systems.swapaxes(2, 3) @ of_tasks)


def _solved(present: FloatArray, there: FloatArray, factors: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the factors of each column, given those of the rows: ridge regressions, one for each column.

    Args:
        present, there: shape (n_tables, 1, n_rows, n_columns), 1 where there is a score; the scores, else 0.
        factors: of the rows, shape (n_tables, n_penalties, n_factors, n_rows).
        ridge: the penalties, shape (n_penalties, 1).
    """
    k = factors.shape[2]
    pairs = [(a, b) for a in range(k) for b in range(a + 1)]
    squares = np.stack([factors[:, :, a] * factors[:, :, b] for a, b in pairs], axis=2) @ present
    matrix = {pair: squares[:, :, place] for place, pair in enumerate(pairs)}
    sides = factors @ there
    # Cholesky's root of every matrix at once, then forward and backward substitution.
    root: dict[tuple[int, int], FloatArray] = {}
    solved = np.empty_like(sides)
    for a in range(k):
        for b in range(a):
            known = sum(root[a, c] * root[b, c] for c in range(b))
            root[a, b] = (matrix[a, b] - known) / root[b, b]
        root[a, a] = np.sqrt(matrix[a, a] + ridge - sum(root[a, c] ** 2 for c in range(a)))
        solved[:, :, a] = (sides[:, :, a] - sum(root[a, c] * solved[:, :, c] for c in range(a))) / root[a, a]
    for a in reversed(range(k)):
        known = sum(root[b, a] * solved[:, :, b] for b in range(a + 1, k))
        solved[:, :, a] = (solved[:, :, a] - known) / root[a, a]
    return solved
