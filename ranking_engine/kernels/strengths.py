"""Bradley and Terry's strengths on many boards at once; see `ranking_engine.rules.bradley_terry`.

`won[r, i, j]` is the weight of the tasks of board r on which i is ahead of j, plus half that of ties. Systems that are
not on a board have played no one there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.pairs import Pairs, Wins
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.rules.bradley_terry import SAME_STRENGTH, fitted
from ranking_engine.rules.rates import snapped

_BLOCK_CELLS = 1 << 17  # so that a few tables of them stay in a processor's cache
_NEWTON_STEPS = 12
_EXACT = 1e-7  # the last step: what it leaves is about its square, and a few millionths of it for single precision
_MAX_STRENGTH = 300.0  # the exponential of twice as much is still a float


def bradley_terry(batch: MatrixBatch) -> FloatArray:
    """Return the log-strengths of maximum likelihood."""
    return _strengths(batch.pairs.wins, batch.common, batch.present, batch.pairs.name_order)


def bradley_terry_of_pairs(pairs: Pairs) -> FloatArray:
    """Return the log-strengths of maximum likelihood, of pairs that know the common weights."""
    if pairs.common is None:
        raise ValueError("`pairs` lacks the common weights")
    return _strengths(pairs.wins, pairs.common, pairs.present, pairs.name_order)


def _strengths(wins: Wins, common: FloatArray, present: BoolArray, order: NDArray[np.intp]) -> FloatArray:
    """Return strengths of shape (n_boards, n_systems); NaN on boards where no finite ones exist.

    Sums are taken in the order of names, so that the order of the rows changes no bit.
    """
    b, n = present.shape
    strengths, start = np.full((b, n), np.nan), np.zeros(n)
    height = max(1, _BLOCK_CELLS // (n * n))
    for first in range(0, b, height):
        rows = slice(first, first + height)
        is_used = np.asarray(present[rows].any(axis=0), dtype=bool)
        systems = order[is_used[order]]
        table = wins[rows][:, systems[:, None], systems].astype(np.float64)
        shared = common[rows][:, systems[:, None], systems].astype(np.float64)
        won = (table - table.transpose(0, 2, 1) + shared) / 2
        won[:, np.arange(len(systems)), np.arange(len(systems))] = 0
        on_board = present[rows][:, systems]
        fits = np.flatnonzero(is_connected(won > 0, on_board))
        if not fits.size:
            continue
        if len(systems) > 1:
            # Neighbouring boards are much alike: what fits all of a block is close to what fits each of them.
            together = won[fits].sum(axis=0)
            if not start[systems].any() and is_connected(together[None] > 0, np.ones((1, len(systems)), bool))[0]:
                start[systems] = np.nan_to_num(fitted(together)[0])
        strengths[(first + fits)[:, None], systems] = _fitted(won[fits], on_board[fits], start[systems])
    return strengths


def is_connected(edges: BoolArray, present: BoolArray) -> BoolArray:
    """Whether chains of wins or ties lead from every system on the board to every other (Ford 1957)."""
    first = present.argmax(axis=1)
    has_chains = present.any(axis=1)
    for table in (edges.astype(np.float32), edges.transpose(0, 2, 1).astype(np.float32)):
        reached = np.zeros(present.shape, dtype=bool)
        reached[np.arange(len(first)), first] = present.any(axis=1)
        while True:
            wider = reached | ((reached.astype(np.float32)[:, None, :] @ table)[:, 0] > 0)
            if (wider == reached).all():
                break
            reached = wider
        has_chains &= (reached | ~present).all(axis=1)
    return np.asarray(has_chains)


def _fitted(won: FloatArray, present: BoolArray, start: FloatArray) -> FloatArray:
    """Return the strengths of boards on which they exist.

    Newton's method with factors in single precision: each step corrects what the last one left, so that the strengths
    are as exact as their gradient.
    """
    b, n = present.shape
    played, total = won + won.transpose(0, 2, 1), won.sum(axis=2)
    n_present = present.sum(axis=1, keepdims=True)
    strengths = centred(np.broadcast_to(start, (b, n)), present, n_present)
    is_solved = n_present[:, 0] == 1
    for _ in range(_NEWTON_STEPS):
        rows = np.flatnonzero(~is_solved)
        if not rows.size:
            break
        here = present[rows]
        power = np.exp(strengths[rows])
        chance = power[:, :, None] / (power[:, :, None] + power[:, None, :])
        expected = played[rows] * chance
        gradient = np.where(here, total[rows] - expected.sum(axis=2), 0.0)
        weights = np.multiply(expected, chance.transpose(0, 2, 1), dtype=np.float32, casting="same_kind")
        try:
            step, largest = newton_step(weights, gradient, here, n_present[rows])
        except np.linalg.LinAlgError:  # a board far apart: the loop below sees to all that are left
            break
        strengths[rows] += step
        is_far = ~(np.abs(strengths[rows]).max(axis=1) <= _MAX_STRENGTH)
        strengths[rows[is_far]] = 0.0
        is_solved[rows] = (largest < _EXACT) & ~is_far
    for r in np.flatnonzero(~is_solved):  # far apart, or slow: as a board of its own
        systems = np.flatnonzero(present[r])
        strengths[r, systems] = fitted(won[r][np.ix_(systems, systems)])[0]
    strengths = np.where(present, centred(strengths, present, n_present), np.nan)
    return snapped(strengths, SAME_STRENGTH)


def newton_step(
    common: NDArray[np.float32], gradient: FloatArray, present: BoolArray, n_present: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return a step of Newton's method on each board, at most 2 long, and its greatest part before it was shortened.

    Args:
        common: what each two systems share of the second derivative, shape (n_boards, n_systems, n_systems); it is
            solved in single precision.
        gradient: of each system.
        present: who is on the board.
        n_present: how many these are, shape (n_boards, 1).

    Raises:
        numpy.linalg.LinAlgError: a board is too far apart for single precision.
    """
    information = -common
    diagonal = np.arange(present.shape[1])
    information[:, diagonal, diagonal] += common.sum(axis=2)
    # Regular, and the same at mean 0: a constant between those on the board, one for each of the others.
    constant = (common.max(axis=(1, 2)) / n_present[:, 0]).astype(np.float32)
    information += constant[:, None, None] * (present[:, :, None] & present[:, None, :])
    information[:, diagonal, diagonal] += ~present
    step = np.linalg.solve(information, gradient.astype(np.float32)[:, :, None])[:, :, 0].astype(np.float64)
    step = centred(step, present, n_present)
    largest = np.abs(step).max(axis=1)
    step *= np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))[:, None]  # far away the quadratic model overshoots
    return step, largest


def centred(values: FloatArray, present: BoolArray, n_present: NDArray[np.int64]) -> FloatArray:
    """Return the values less their mean over the systems on the board, 0 for the others."""
    means = np.where(present, values, 0.0).sum(axis=1, keepdims=True) / n_present
    return np.where(present, values - means, 0.0)
