"""Rule scores of many matrices at once, from their pairwise comparisons.

`wins[r, i, j]` is the weight of the tasks on which matrix r places i above j: integers, exact in their dtype.
Systems that are not on a board have no wins and no losses there; `present[r, i]` says who is. Scores have shape
(n_matrices, n_systems), NaN where absent, and only their order is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import EXACT_FLOAT32, BoolArray, FloatArray

Wins = NDArray[Any]
Scores = NDArray[np.floating[Any]]

_CACHED_CELLS = 1 << 17  # so that two tables of them stay in a processor's cache


def cached_blocks(n_boards: int, n_systems: int) -> Iterator[slice]:
    """Yield the boards, few enough at a time that tables of their pairs stay in a processor's cache."""
    height = max(1, _CACHED_CELLS // max(1, n_systems**2))
    for start in range(0, n_boards, height):
        yield slice(start, start + height)


class Pairs:
    """The comparisons of many matrices, with what several rules make of them.

    Attributes:
        wins: shape (n_matrices, n_systems, n_systems).
        present: shape (n_matrices, n_systems).
        totals: the weight of all tasks of each matrix, which no two systems share more than; None if unknown.
        common: `common[r, i, j]`: the weight of the tasks on which both have a score; None where it is not asked for.
        name_order: the systems in the order of their names, in which rules take what is equal; as they are by default.
    """

    def __init__(
        self,
        wins: Wins,
        present: BoolArray,
        totals: NDArray[Any] | None = None,
        common: FloatArray | None = None,
        name_order: NDArray[np.intp] | None = None,
    ) -> None:
        self.wins, self.present, self.totals, self.common = wins, present, totals, common
        self.name_order = np.arange(present.shape[1]) if name_order is None else name_order

    @cached_property
    def beats(self) -> BoolArray:
        """`beats[r, i, j]`: more weight of matrix r prefers i to j than j to i."""
        return np.asarray(self.wins > self.wins.transpose(0, 2, 1), dtype=bool)

    @cached_property
    def strongest_paths(self) -> Wins:
        """`strongest_paths[r, i, j]`: the weakest margin of the strongest path (Floyd 1962, Warshall 1962)."""
        path = np.maximum(self.wins - self.wins.transpose(0, 2, 1), 0)
        largest = path.max(initial=0)
        if largest < 2**31:  # the narrower the numbers, the more of them at once
            path = path.astype(np.min_scalar_type(int(largest)))
        for rows in cached_blocks(*path.shape[:2]):
            boards = path[rows]
            through = np.empty_like(boards)
            for k in range(path.shape[1]):
                np.minimum(boards[:, :, k, None], boards[:, None, k, :], out=through)
                np.maximum(boards, through, out=boards)
        return path

    @cached_property
    def has_stronger_path(self) -> BoolArray:
        """`has_stronger_path[r, i, j]`: i beats j by Schulze's paths of margins."""
        return np.asarray(self.strongest_paths > self.strongest_paths.transpose(0, 2, 1), dtype=bool)

    def only(self, boards: NDArray[np.intp]) -> Pairs:
        """Return some of the boards."""
        totals, common = (None if part is None else part[boards] for part in (self.totals, self.common))
        return Pairs(self.wins[boards], self.present[boards], totals, common, self.name_order)

    def only_present(self, scores: FloatArray) -> FloatArray:
        """Unrank the systems that are not on the board."""
        return np.where(self.present, scores, np.nan)


def copeland(pairs: Pairs) -> FloatArray:
    """Systems beaten minus systems that beat."""
    return pairs.only_present(_beaten_minus_beating(pairs.beats))


def minimax(pairs: Pairs) -> FloatArray:
    """Minus the largest weight by which a rival beats the system (`winning_votes`)."""
    largest = pairs.wins.max(axis=1, initial=0).astype(np.float64)
    # More than half of all weight against a system is a defeat whatever the rest says; only the others need a look.
    if pairs.totals is None:
        in_doubt = largest > 0
    else:
        in_doubt = (largest > 0) & (2 * largest <= pairs.totals[:, None])
    if 4 * np.count_nonzero(in_doubt) > in_doubt.size:
        return pairs.only_present(-(pairs.wins * pairs.beats).max(axis=1).astype(np.float64))
    boards, systems = np.nonzero(in_doubt)
    lost, won = pairs.wins[boards, :, systems], pairs.wins[boards, systems, :]
    largest[boards, systems] = np.where(lost > won, lost, 0).max(axis=1, initial=0)
    return pairs.only_present(-largest)


def schulze(pairs: Pairs) -> FloatArray:
    """Systems beaten minus systems that beat, by the strongest paths of margins."""
    return pairs.only_present(_beaten_minus_beating(pairs.has_stronger_path))


def schulze_winners(pairs: Pairs) -> BoolArray:
    """The systems that no one beats by the strongest paths of margins: who wins, whatever the scores."""
    return pairs.present & ~pairs.has_stronger_path.any(axis=1)


def _beaten_minus_beating(beats: BoolArray) -> FloatArray:
    ones = beats.view(np.uint8)
    beaten, beating = (np.add.reduce(ones, axis=axis, dtype=np.uint16) for axis in (2, 1))  # fewer than 2^16 systems
    return np.subtract(beaten, beating, dtype=np.float64)


def baldwin(pairs: Pairs) -> FloatArray:
    """The round in which each system leaves when those with the least Borda score do (ties: average)."""
    return _by_rounds(pairs, _least)


def nanson(pairs: Pairs) -> FloatArray:
    """The round in which each system leaves when those below the average Borda score do (ties: average)."""
    return _by_rounds(pairs, _below_average)


def condorcet(pairs: Pairs) -> FloatArray:
    """The number of systems beaten, of the one that beats every other; no one else is ranked."""
    beaten = pairs.beats.sum(axis=2).astype(np.float64)
    is_winner = pairs.present & (beaten == pairs.present.sum(axis=1, keepdims=True) - 1)
    return np.where(is_winner, beaten, np.nan)


def win_rate(wins: Wins, common: Wins) -> FloatArray:
    """The mean over rivals of the share of common weight won, ties one half (`rivals`).

    `common[r, i, j]` is the weight of the tasks on which both have a score. A system without a rival has no score,
    unless it is alone on its board; that is the caller's to see.
    """
    rates = np.empty(wins.shape[:2])
    systems = np.arange(wins.shape[1])
    for rows in cached_blocks(*wins.shape[:2]):
        rated = common[rows].astype(np.float64)
        rated[:, systems, systems] = 0
        is_rival = rated > 0
        shares = np.zeros(rated.shape)
        np.divide(wins[rows] - wins[rows].transpose(0, 2, 1), rated, out=shares, where=is_rival)
        with np.errstate(invalid="ignore"):
            rates[rows] = ((shares + is_rival) / 2).sum(axis=2) / is_rival.sum(axis=2)
    return rates


def win_rate_of_block(pairs: Pairs) -> FloatArray:
    """The win rate, of pairs that know the common weights; 0 for a system that is alone on its board."""
    if pairs.common is None:
        raise ValueError("`pairs` lacks the common weights")
    is_alone = pairs.present & (pairs.present.sum(axis=1, keepdims=True) == 1)
    return np.where(is_alone, 0.0, win_rate(pairs.wins, pairs.common))


def _least(scores: Scores, remaining: NDArray[np.int64]) -> BoolArray:
    return np.asarray(scores == scores.min(axis=1, keepdims=True), dtype=bool)


def _below_average(scores: Scores, remaining: NDArray[np.int64]) -> BoolArray:
    total = np.where(np.isinf(scores), 0.0, scores).sum(axis=1, keepdims=True)
    return np.asarray(scores * remaining[:, None] < total, dtype=bool)


def _by_rounds(pairs: Pairs, leaving: Callable[[Scores, NDArray[np.int64]], BoolArray]) -> FloatArray:
    """Drop in rounds the systems for which `leaving` holds, until it holds for all that remain or for none.

    `scores` are the sums of margins over those that remain, infinite for the others; exact, as sums of integers. They
    are twice the Borda scores where tied systems share points, less what all have in common.
    """
    gained = pairs.wins.transpose(0, 2, 1) - pairs.wins  # gained[r, j]: what j's presence gives each system
    left = np.full(pairs.present.shape, np.nan)
    n = pairs.present.shape[1]
    remaining = pairs.present.sum(axis=1)
    rows = np.flatnonzero(remaining)
    # In the narrower type where it holds the sums, and their sum, exactly.
    sums: Scores
    if gained.dtype == np.float32 and gained.max(initial=0) * n < EXACT_FLOAT32:
        sums = (np.ones((1, n), dtype=np.float32) @ gained)[:, 0]
    else:
        sums = gained.sum(axis=1, dtype=np.float64)
    is_narrow = sums.max(initial=0) * n < EXACT_FLOAT32
    scores = np.where(pairs.present, sums.astype(np.float32 if is_narrow else np.float64), np.inf)[rows]
    number = 0
    while rows.size:
        number += 1
        where = np.flatnonzero(leaving(scores, remaining[rows]))  # few of many: faster than counting along rows
        some = where // n
        n_leaving = np.bincount(some, minlength=len(rows))
        is_last = (n_leaving == 0) | (n_leaving == remaining[rows])
        if is_last.any():
            ending, systems = np.nonzero(np.isfinite(scores) & is_last[:, None])
            left[rows[ending], systems] = number
            where = where[~is_last[some]] - n * np.cumsum(is_last)[some[~is_last[some]]]
            rows, scores, n_leaving = (x[~is_last] for x in (rows, scores, n_leaving))
            some = where // n
        remaining[rows] -= n_leaving
        away = where - some * n
        left[rows[some], away] = number
        for few in _one_a_row(some):
            if len(few) == len(rows):
                scores -= gained[rows, away[few]]
            else:
                scores[some[few]] -= gained[rows[some[few]], away[few]]
        scores.reshape(-1)[where] = np.inf
    return left


def _one_a_row(rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield positions in `rows`, which ascends, that hold every row at most once, until all have been yielded."""
    rest = np.arange(len(rows))
    while rest.size:
        is_first = np.ones(len(rest), dtype=bool)
        is_first[1:] = rows[rest[1:]] != rows[rest[:-1]]
        yield rest[is_first]
        rest = rest[~is_first]
