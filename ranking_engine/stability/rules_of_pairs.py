"""Rule scores of many matrices at once, from their pairwise comparisons.

`wins[r, i, j]` is the weight of the tasks on which matrix r places i above j: integers, exact in their dtype.
Systems that are not on a board have no wins and no losses there; `present[r, i]` says who is. Scores have shape
(n_matrices, n_systems), NaN where absent, and only their order is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.rules.rates import snapped
from ranking_engine.score_matrix import BoolArray, FloatArray

Wins = NDArray[Any]
PairRule = Callable[[Wins, BoolArray], FloatArray]


def copeland(wins: Wins, present: BoolArray) -> FloatArray:
    """Systems beaten minus systems that beat."""
    beats = wins > wins.transpose(0, 2, 1)
    return _only(np.subtract(np.count_nonzero(beats, axis=2), np.count_nonzero(beats, axis=1), dtype=float), present)


def minimax(wins: Wins, present: BoolArray) -> FloatArray:
    """Minus the largest weight by which a rival beats the system (`winning_votes`)."""
    losses = wins.transpose(0, 2, 1)
    return _only(-np.where(losses > wins, losses, 0).max(axis=2).astype(np.float64), present)


def schulze(wins: Wins, present: BoolArray) -> FloatArray:
    """Systems beaten minus systems that beat, by the strongest paths of margins (Floyd 1962, Warshall 1962)."""
    path = np.maximum(wins - wins.transpose(0, 2, 1), 0)
    through = np.empty_like(path)
    for k in range(path.shape[1]):
        np.minimum(path[:, :, k, None], path[:, None, k, :], out=through)
        np.maximum(path, through, out=path)
    return copeland(path, present)


def baldwin(wins: Wins, present: BoolArray) -> FloatArray:
    """The round in which each system leaves when those with the least Borda score do (ties: worst)."""
    return _by_rounds(wins, present, _least)


def nanson(wins: Wins, present: BoolArray) -> FloatArray:
    """The round in which each system leaves when those below the average Borda score do (ties: worst)."""
    return _by_rounds(wins, present, _below_average)


PAIR_RULES: Mapping[str, PairRule] = {
    "copeland": copeland,
    "minimax": minimax,
    "schulze": schulze,
    "baldwin": baldwin,
    "nanson": nanson,
}


def win_rate(wins: Wins, common: Wins) -> FloatArray:
    """The mean over rivals of the share of common weight won, ties one half (`rivals`).

    `common[r, i, j]` is the weight of the tasks on which both have a score. A system without a rival has no score,
    unless it is alone on its board; that is the caller's to see.
    """
    rated = common.astype(np.float64)
    rated[:, np.arange(rated.shape[1]), np.arange(rated.shape[1])] = 0
    is_rival = rated > 0
    shares = np.zeros(rated.shape)
    np.divide(wins - wins.transpose(0, 2, 1), rated, out=shares, where=is_rival)
    with np.errstate(invalid="ignore"):
        return ((shares + is_rival) / 2).sum(axis=2) / is_rival.sum(axis=2)


def snapped_rows(scores: FloatArray) -> FloatArray:
    """Make the scores of each row equal that differ by no more than rounding; see `rates.snapped`."""
    return np.array([snapped(row) for row in scores]).reshape(scores.shape)


def _only(scores: FloatArray, present: BoolArray) -> FloatArray:
    return np.where(present, scores, np.nan)


def _least(scores: FloatArray, remaining: NDArray[np.int64]) -> BoolArray:
    return np.asarray(scores == scores.min(axis=1, keepdims=True), dtype=bool)


def _below_average(scores: FloatArray, remaining: NDArray[np.int64]) -> BoolArray:
    total = np.where(np.isinf(scores), 0.0, scores).sum(axis=1, keepdims=True)
    return np.asarray(scores * remaining[:, None] < total, dtype=bool)


def _by_rounds(
    wins: Wins, present: BoolArray, leaving: Callable[[FloatArray, NDArray[np.int64]], BoolArray]
) -> FloatArray:
    """Drop in rounds the systems for which `leaving` holds, until it holds for all that remain or for none.

    `scores` are Borda scores among those that remain, infinite for the others; exact, as sums of integers.
    """
    gained = np.ascontiguousarray(wins.transpose(0, 2, 1))  # gained[r, j]: what j's presence gives each system
    left = np.full(present.shape, np.nan)
    scores = np.where(present, gained.sum(axis=1, dtype=np.float64), np.inf)
    remaining = present.sum(axis=1)
    rows = np.flatnonzero(remaining)
    number = 0
    while rows.size:
        number += 1
        mine = scores[rows]
        is_leaving = leaving(mine, remaining[rows])
        n_leaving = is_leaving.sum(axis=1)
        is_last = (n_leaving == 0) | (n_leaving == remaining[rows])
        if is_last.any():
            ending = rows[is_last]
            left[ending] = np.where(np.isfinite(scores[ending]), number, left[ending])
            rows, is_leaving, n_leaving = rows[~is_last], is_leaving[~is_last], n_leaving[~is_last]
        remaining[rows] -= n_leaving
        left[rows] = np.where(is_leaving, number, left[rows])
        _drop(scores, gained, rows, is_leaving)
    return left


def _drop(scores: FloatArray, gained: Wins, rows: NDArray[np.intp], is_leaving: BoolArray) -> None:
    """Let go the systems that `is_leaving` marks: at first one in every row, then the others of rows with ties."""
    while rows.size:
        gone = is_leaving.argmax(axis=1)
        scores[rows] -= gained[rows, gone]
        scores[rows, gone] = np.inf
        is_leaving[np.arange(len(rows)), gone] = False
        more = is_leaving.any(axis=1)
        rows, is_leaving = rows[more], is_leaving[more]
