"""The rules that drop systems by first or last places, and the threshold rule, on many tables at once.

Scores have shape (n_matrices, n_systems), NaN where a system is not on the board; only their order is meant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.tables import MatrixBatch

_BLOCK_CELLS = 1 << 18  # places of the tables that are looked at together: few enough for a processor's cache
_KEY_BITS = 62


def instant_runoff(batch: MatrixBatch) -> FloatArray:
    """The round in which each system leaves when those with the least weight of first places do (ties: worst)."""
    return _by_votes(batch, _places(batch), is_dropped_by_fewest=True)


def coombs(batch: MatrixBatch) -> FloatArray:
    """The round in which each system leaves when those with the most weight of last places do (ties: worst)."""
    places = _places(batch)
    return _by_votes(batch, places.max(initial=0) - places, is_dropped_by_fewest=False)


def _places(batch: MatrixBatch) -> NDArray[np.int32]:
    """Return the dense places from the best on, shape (n_matrices, n_tasks, n_systems)."""
    return np.ascontiguousarray(batch.place.transpose(1, 0, 2))


def _by_votes(batch: MatrixBatch, places: NDArray[np.int32], *, is_dropped_by_fewest: bool) -> FloatArray:
    """Drop systems in rounds by votes, a block of tables at a time; a task's vote goes to the least place.

    Under the convention `worst` a first place counts for a system that is first alone, a last one for all that are
    last.
    """
    b, T, n = places.shape
    left = np.full((b, n), np.nan)
    gone = np.int32(places.max(initial=0) + 1)
    compact = np.where(batch.present[:, None, :], places, gone).astype(np.min_scalar_type(int(gone)))
    height = max(1, _BLOCK_CELLS // (n * T))
    for start in range(0, b, height):
        rows = slice(start, start + height)
        left[rows] = _rounds(compact[rows], batch.weights[rows], batch.present[rows], is_dropped_by_fewest)
    return left


def _rounds(
    places: NDArray[np.unsignedinteger],
    weights: FloatArray,
    present: BoolArray,
    is_dropped_by_fewest: bool,
) -> FloatArray:
    """Return the rounds in which the systems leave; who is not on a board has the place `gone`, the greatest.

    A round looks again only at the tasks on which someone in front has left.
    """
    b, T, n = places.shape
    gone = np.iinfo(places.dtype).max
    places = np.where(present[:, None, :], places, gone).reshape(b * T, n)
    task_weights = weights.reshape(-1)
    is_front = np.zeros((b * T, n), dtype=bool)
    given = np.zeros(b * T)  # what a task gives each system in front
    votes = np.zeros(b * n)
    is_present, left = present.copy(), np.full((b, n), np.nan)
    boards, touched, number = np.flatnonzero(present.any(axis=1)), np.arange(b * T), 0
    while boards.size:
        number += 1
        tasks, systems = np.nonzero(is_front[touched])
        votes -= np.bincount(touched[tasks] // T * n + systems, weights=given[touched[tasks]], minlength=b * n)
        open_places = places[touched]
        is_front[touched] = front = open_places == open_places.min(axis=1, keepdims=True)
        is_alone = front.sum(axis=1) == 1
        given[touched] = task_weights[touched] * is_alone if is_dropped_by_fewest else task_weights[touched]
        tasks, systems = np.nonzero(front)
        votes += np.bincount(touched[tasks] // T * n + systems, weights=given[touched[tasks]], minlength=b * n)

        remaining, table = is_present[boards], votes.reshape(b, n)[boards]
        left[boards] = np.where(remaining, number, left[boards])
        if is_dropped_by_fewest:
            is_leaving = remaining & (table == np.where(remaining, table, np.inf).min(axis=1, keepdims=True))
        else:
            is_leaving = remaining & (table == np.where(remaining, table, -np.inf).max(axis=1, keepdims=True))
        goes_on = (remaining & ~is_leaving).any(axis=1)
        boards, is_leaving = boards[goes_on], is_leaving[goes_on]
        is_present[boards] &= ~is_leaving
        rows, systems = np.nonzero(is_leaving)
        lines = boards[rows][:, None] * T + np.arange(T)
        places[lines, systems[:, None]] = gone
        touched = np.unique(lines[is_front[lines, systems[:, None]]])
    return left


def threshold(batch: MatrixBatch) -> FloatArray:
    """Minus the weight at positions n, n - 1, ..., 2, compared lexicographically (ties: worst).

    Each system's positions are sorted, the last first, and packed with the weights there into as few numbers as hold
    them; the least row is the best.
    """
    b, n, T = batch.scores.shape
    weights = np.broadcast_to(batch.weights[:, None, :], (b, n, T)).astype(np.int64)
    positions = np.where(weights > 0, batch.last + 1, 0).reshape(b * n, T)
    order = np.argsort(-positions, axis=1, kind="stable")
    positions = np.take_along_axis(positions, order, axis=1)
    weights = np.take_along_axis(weights.reshape(b * n, T), order, axis=1)
    # Weights at equal positions are added up; what is left empty comes last, as 0.
    opens = np.ones(positions.shape, dtype=bool)
    opens[:, 1:] = positions[:, 1:] != positions[:, :-1]
    column = np.cumsum(opens, axis=1) - 1
    rows = np.arange(b * n)[:, None]
    amounts = np.bincount((rows * T + column).ravel(), weights=weights.ravel(), minlength=b * n * T)
    size = int(amounts.max(initial=0)) + 1
    keys = np.zeros((b * n, T), dtype=np.int64)
    keys[rows, column] = positions * size
    keys += np.where(keys > 0, amounts.reshape(b * n, T), 0).astype(np.int64)
    base = (n + 1) * size
    packed = _packed(keys, base)
    board = np.repeat(np.arange(b), n)
    lines = np.lexsort([*packed.T[::-1], board])
    ascending = packed[lines]
    is_better = np.ones(b * n, dtype=bool)
    is_better[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    scores = np.empty(b * n)
    scores[lines] = -np.cumsum(is_better)
    return np.where(batch.present, scores.reshape(b, n), np.nan)


def _packed(keys: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """Put the columns of each row, numbers below `base`, into fewer of the same lexicographic order."""
    together = max(1, int(_KEY_BITS // np.log2(max(base, 2))))
    columns = []
    for start in range(0, keys.shape[1], together):
        number = np.zeros(len(keys), dtype=np.int64)
        for column in keys[:, start : start + together].T:
            number = number * base + column
        columns.append(number)
    return np.column_stack(columns)


def resampled(score: Callable[[MatrixBatch], FloatArray]) -> Callable[[Profile, NDArray[np.int64]], FloatArray]:
    """Return the resamples of the tasks, as a batch of tables in which these count several times or not at all.

    Args:
        score: what the rule makes of many tables.
    """

    def scores_of(profile: Profile, task_counts: NDArray[np.int64]) -> FloatArray:
        height = max(1, 16 * _BLOCK_CELLS // profile.scores.size)
        blocks = [task_counts[start : start + height] for start in range(0, len(task_counts), height)]
        return np.concatenate([score(MatrixBatch.of_counts(profile, counts)) for counts in blocks])

    return scores_of


def growing(score: Callable[[MatrixBatch], FloatArray]) -> Callable[[Profile], FloatArray]:
    """Return the boards that grow by one system at a time, as a batch of tables in which the others are missing.

    Args:
        score: what the rule makes of many tables.
    """

    def scores_of(profile: Profile) -> FloatArray:
        n, T = profile.scores.shape
        on_board = np.tri(n, dtype=bool)
        height = max(1, 16 * _BLOCK_CELLS // (n * T))
        blocks = [on_board[start : start + height] for start in range(0, n, height)]
        return np.concatenate(
            [
                score(
                    MatrixBatch(profile.matrix, np.where(present[:, :, None], profile.scores, np.nan), present=present)
                )
                for present in blocks
            ]
        )

    return scores_of
