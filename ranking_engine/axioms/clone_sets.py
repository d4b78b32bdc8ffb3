"""Clone sets of a board: systems that no other system is between, or tied with, on any task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranking_engine.core.score_matrix import FloatArray

_BOARDS_KEPT = 4
_BLOCK_CELLS = 1 << 18  # of the scores of pairs that are looked at together: few enough for a processor's cache
_KNOWN: dict[tuple[tuple[int, ...], bytes], Mapping[tuple[int, int], tuple[int, ...]]] = {}


def clone_set(scores: FloatArray, i: int, k: int) -> list[int]:
    """Return the least set with i and k such that on no task another system is between or tied with its members.

    It is everyone where there is none, and where i and k have scores on different tasks.
    """
    n = len(scores)
    if (np.isnan(scores[i]) != np.isnan(scores[k])).any():
        return list(range(n))
    inside = np.zeros(n, dtype=bool)
    inside[[i, k]] = True
    while True:
        low = np.where(inside[:, None], scores, np.inf).min(axis=0)
        high = np.where(inside[:, None], scores, -np.inf).max(axis=0)
        meets = ((scores >= low) & (scores <= high)).any(axis=1) | inside
        if (meets == inside).all():
            return [int(j) for j in np.flatnonzero(inside)]
        inside = meets


def clone_sets(scores: FloatArray) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """Return `clone_set` of all pairs (i, k) for which it is not everyone, all at once.

    The sets of the last few boards are kept: searches under one rule after the other look at the same board.
    """
    board = (scores.shape, np.ascontiguousarray(scores).tobytes())
    if board in _KNOWN:
        return _KNOWN[board]
    n, missing = len(scores), np.isnan(scores)
    first, second = np.triu_indices(n, 1)
    is_alike = (missing[first] == missing[second]).all(axis=1)
    first, second = first[is_alike], second[is_alike]
    sets: dict[tuple[int, int], tuple[int, ...]] = {}
    height = max(1, _BLOCK_CELLS // max(1, scores.size))
    for start in range(0, len(first), height):
        pairs = np.column_stack([first[start : start + height], second[start : start + height]])
        inside = np.zeros((len(pairs), n), dtype=bool)
        np.put_along_axis(inside, pairs, values=True, axis=1)
        while len(pairs):
            low = np.where(inside[:, :, None], scores, np.inf).min(axis=1)[:, None]
            high = np.where(inside[:, :, None], scores, -np.inf).max(axis=1)[:, None]
            meets = ((scores >= low) & (scores <= high)).any(axis=2) | inside
            for row in np.flatnonzero((meets == inside).all(axis=1) & ~inside.all(axis=1)):
                i, k = pairs[row].tolist()
                sets[i, k] = sets[k, i] = tuple(np.flatnonzero(inside[row]).tolist())
            grows = (meets != inside).any(axis=1) & ~meets.all(axis=1)
            pairs, inside = pairs[grows], meets[grows]
    if len(_KNOWN) >= _BOARDS_KEPT:
        _KNOWN.pop(next(iter(_KNOWN)))
    _KNOWN[board] = sets
    return sets
