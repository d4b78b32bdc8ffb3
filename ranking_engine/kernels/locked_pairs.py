"""Ranked pairs on many boards at once: each step takes the next victory of every board.

Who is above whom along locked victories is kept as bits, a row of words for each system of each board.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.rules.ranked_pairs_winners import winners_over_orders

Words = NDArray[np.uint64]

_WORD = 64
_CHUNK = 64  # victories that a board looks at before those that are settled by then are left out


def ranked_pairs(pairs: Pairs) -> FloatArray:
    """Systems below minus systems above once the victories are locked in (`margins`)."""
    below, above = _locked(pairs)
    return pairs.only_present((_n_bits(below) - _n_bits(above)).astype(np.float64))


def ranked_pairs_winners(pairs: Pairs) -> BoolArray:
    """The systems that no locked victory is against in some order of equal ones.

    A system that beats all others wins alone; for the other boards the orders are searched one by one.
    """
    n_rivals = pairs.present.sum(axis=1, keepdims=True) - 1
    is_winner = pairs.present & (pairs.beats.sum(axis=2) == n_rivals)
    rows = np.flatnonzero(~is_winner.any(axis=1) & pairs.present.any(axis=1))
    if not rows.size:
        return is_winner
    open_boards = pairs.only(rows)
    n_above = _n_bits(_locked(open_boards)[1])
    # Only a system that answers each victory over it by a chain of its own can win. Whether it does depends on the
    # systems that are in circles with it: often a few of many.
    reaches = open_boards.strongest_paths > 0
    can_win = open_boards.present & (reaches | ~open_boards.beats.transpose(0, 2, 1)).all(axis=2)
    is_in_circle: BoolArray = np.any(reaches & reaches.transpose(0, 2, 1) & can_win[:, None, :], axis=2)
    for r, locked_above, able, in_circle in zip(rows, n_above, can_win, is_in_circle, strict=True):
        systems = pairs.name_order[(able | in_circle)[pairs.name_order]]
        wins = pairs.wins[r][np.ix_(systems, systems)]
        margins = np.maximum(wins - wins.T, 0)
        levels = np.searchsorted(np.unique(margins[margins > 0]), margins, side="right").astype(np.uint32)
        known = np.flatnonzero((locked_above[systems] == 0) & able[systems])
        winners, _ = winners_over_orders(levels, known.tolist(), can_win=able[systems])
        is_winner[r, systems[winners]] = True
    return is_winner


def _locked(pairs: Pairs) -> tuple[Words, Words]:
    """Return whom each system is above and below, as bits of shape (n_boards, n_systems, n_words).

    Victories stronger than the weakest of every circle close none, so that they are locked in all at once: i is above j
    where its strongest path to j is stronger than that. The others, few, are taken one after the other, equal ones in
    the order of names. A victory is locked in unless its loser is above its winner.
    """
    paths = pairs.strongest_paths
    b, n, _ = paths.shape
    strongest_circle = np.minimum(paths, paths.transpose(0, 2, 1)).reshape(b, n * n).max(axis=1, initial=0)
    is_above = paths > strongest_circle[:, None, None]
    below, above = _as_bits(is_above), _as_bits(is_above.transpose(0, 2, 1))
    bit = _as_bits(np.eye(n, dtype=bool)[None])[0]
    # The victories that are not settled yet, shape (n_victories, n_boards), and how many there are on each board.
    order = pairs.name_order
    place = np.empty_like(order)
    place[order] = np.arange(n)
    board, i, j = np.nonzero(pairs.beats & ~is_above & ~is_above.transpose(0, 2, 1))
    margin = pairs.wins[board, i, j] - pairs.wins[board, j, i]
    first = np.lexsort([place[j], place[i], -margin, board])
    board, i, j = board[first], i[first], j[first]
    n_waiting = np.bincount(board, minlength=b)
    number = np.arange(len(board)) - (np.cumsum(n_waiting) - n_waiting)[board]
    winners, losers = np.zeros((2, int(n_waiting.max(initial=0)), b), dtype=np.intp)
    winners[number, board], losers[number, board] = i, j
    everybody = np.arange(b)
    for start in range(0, len(winners), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        # What is settled before the chunk stays settled.
        is_open = (np.arange(len(winners))[chunk, None] < n_waiting) & ~(
            _has(below, everybody, winners[chunk], losers[chunk])
            | _has(above, everybody, winners[chunk], losers[chunk])
        )
        for step in np.flatnonzero(is_open.any(axis=1)):
            boards = np.flatnonzero(is_open[step])
            i, j = winners[start + step, boards], losers[start + step, boards]
            is_possible = ~(_has(below, boards, i, j) | _has(above, boards, i, j))
            boards, i, j = boards[is_possible], i[is_possible], j[is_possible]
            upper, lower = above[boards, i] | bit[i], below[boards, j] | bit[j]
            new_upper, new_lower = upper & ~above[boards, j], lower & ~below[boards, i]
            line, system = _set_bits(new_upper, n)
            below[boards[line], system] |= lower[line]
            line, system = _set_bits(new_lower, n)
            above[boards[line], system] |= upper[line]
    return below, above


def _as_bits(is_set: BoolArray) -> Words:
    """Pack the last axis into words."""
    b, n, _ = is_set.shape
    packed = np.zeros((b, n, (n + _WORD - 1) // _WORD * _WORD // 8), dtype=np.uint8)
    packed[:, :, : (n + 7) // 8] = np.packbits(is_set, axis=2, bitorder="little")
    return packed.view(np.uint64)


def _has(bits: Words, boards: NDArray[np.intp], i: NDArray[np.intp], j: NDArray[np.intp]) -> BoolArray:
    """Whether j is among the bits of i."""
    bit_of = np.left_shift(np.uint64(1), (j % _WORD).astype(np.uint64))
    return np.asarray(bits[boards, i, j // _WORD] & bit_of != 0, dtype=bool)


def _set_bits(words: Words, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows and the numbers of the bits that are set."""
    rows = np.unpackbits(words.view(np.uint8), axis=1, count=n, bitorder="little")
    line, system = np.nonzero(rows)
    return line, system


def _n_bits(words: Words) -> NDArray[np.int64]:
    return np.bitwise_count(words).sum(axis=2, dtype=np.int64)


__all__ = ["ranked_pairs", "ranked_pairs_winners"]
