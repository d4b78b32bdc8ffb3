"""Rule scores of every board that grows by one system at a time: one cumulative sum for all boards together.

A board k holds the first k + 1 systems of a profile. Scores have shape (n_boards, n_systems); `scores[k, i]` belongs to
system i on board k and means nothing where i > k. Only their order is meant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.rules.rates import common_weight, name_order, snapped

_BLOCK_CELLS = 1 << 22


def copeland(profile: Profile) -> FloatArray:
    """Systems beaten minus systems that beat."""
    return np.cumsum(np.sign(profile.pairwise.margins), axis=1).T.astype(np.float64)


def minimax(profile: Profile) -> FloatArray:
    """Minus the largest weight by which a rival beats the system."""
    losses = profile.pairwise.wins.T
    defeats = np.where(losses > profile.pairwise.wins, losses, 0)
    return -np.maximum.accumulate(defeats, axis=1).T.astype(np.float64)


def borda(profile: Profile) -> FloatArray:
    """Each system below gives a point (ties: worst)."""
    return np.cumsum(profile.pairwise.wins, axis=1, dtype=np.int64).T.astype(np.float64)


def average_rank(profile: Profile) -> FloatArray:
    """Average positions rise by one for each system above, less those below, and half of that is common to all."""
    return np.cumsum(profile.pairwise.margins, axis=1, dtype=np.int64).T.astype(np.float64)


def _positional(profile: Profile, points: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """`points(at, last)`: what `at` systems strictly above and a last position `last` of the tie block are worth."""
    n = profile.n_systems
    scores = np.zeros((n, n))
    for column, weight in zip(profile.scores.T, profile.weights, strict=True):
        above = np.cumsum(column[None, :] > column[:, None], axis=1, dtype=np.float64)
        last = np.cumsum(column[None, :] >= column[:, None], axis=1, dtype=np.float64) - 1
        scores += weight * points(above, last)
    return scores.T


def plurality(profile: Profile) -> FloatArray:
    """A point for a system that is first alone."""
    return _positional(profile, lambda above, last: (last == 0).astype(np.float64))


def dowdall(profile: Profile) -> FloatArray:
    """1 over the position."""
    return _positional(profile, lambda above, last: 1 / (above + 1))


def veto(profile: Profile) -> FloatArray:
    """Minus a point for the last system."""
    size = np.arange(profile.n_systems)
    return _positional(profile, lambda above, last: -(last == size).astype(np.float64))


def compatible_borda(profile: Profile) -> FloatArray:
    """The expected number of systems below, whatever is missing."""
    n = profile.n_systems
    scores = np.zeros((n, n))
    size = np.arange(1, n + 1)
    for column, weight in zip(profile.scores.T, profile.weights, strict=True):
        has = ~np.isnan(column)
        m = np.cumsum(has)
        above = np.cumsum(column[None, :] > column[:, None], axis=1, dtype=np.float64)
        tied = np.cumsum(column[None, :] == column[:, None], axis=1, dtype=np.float64)
        known = (size + 1) * (m - above - (tied - 1) / 2) / (m + 1) - 1
        scores += weight * np.where(has[:, None], known, (size - 1) / 2)
    return scores.T


def schulze(profile: Profile) -> FloatArray:
    """Strongest paths, each newcomer at first as an end and then as a station of others' paths."""
    margins = np.maximum(profile.pairwise.margins, 0)
    n = profile.n_systems
    path, scores = np.zeros_like(margins), np.full((n, n), np.nan)
    for k in range(n):
        old = path[:k, :k]
        path[:k, k] = margins[:k, k]
        path[k, :k] = margins[k, :k]
        if k:
            path[:k, k] = np.maximum(path[:k, k], np.minimum(old, margins[None, :k, k]).max(axis=1))
            path[k, :k] = np.maximum(path[k, :k], np.minimum(margins[k, :k, None], old).max(axis=0))
            np.maximum(old, np.minimum(path[:k, k, None], path[None, k, :k]), out=old)
        board = path[: k + 1, : k + 1]
        scores[k, : k + 1] = (board > board.T).sum(axis=1) - (board < board.T).sum(axis=1)
    return scores


def by_rounds(score: Callable[[Pairs], FloatArray]) -> Callable[[Profile], FloatArray]:
    """Return the boards of a rule that drops systems in rounds, a block at a time.

    Args:
        score: what the rule makes of the comparisons of many boards.
    """

    def scores_of(profile: Profile) -> FloatArray:
        n = profile.n_systems
        wins, on_board = profile.pairwise.wins, np.tri(n, dtype=bool)
        height = max(1, _BLOCK_CELLS // (n * n))
        scores = []
        for start in range(0, n, height):
            present = on_board[start : start + height]
            boards = np.where(present[:, :, None] & present[:, None, :], wins, 0)
            scores.append(score(Pairs(boards, present, name_order=name_order(profile))))
        return np.concatenate(scores)

    return scores_of


def win_rate(profile: Profile) -> FloatArray:
    """The mean over rivals of the share of common weight won."""
    wins, common = profile.pairwise.wins, common_weight(profile).astype(np.float64)
    shares = np.divide(wins - wins.T, common, out=np.zeros(wins.shape), where=common > 0)
    return _mean_over_rivals((shares + 1) / 2, common)


def relative_difference(profile: Profile) -> FloatArray:
    """The mean over rivals of the mean relative difference over common tasks."""
    n = profile.n_systems
    total, common = np.zeros((n, n)), common_weight(profile).astype(np.float64)
    for column, weight in zip(profile.scores.T, profile.weights, strict=True):
        whole = np.abs(column)[:, None] + np.abs(column)
        whole[whole == 0] = 1.0
        total += np.nan_to_num((column[:, None] - column) / whole) * weight
    means = np.divide(total, common, out=np.zeros((n, n)), where=common > 0)
    return snapped(np.where(np.tri(n, dtype=bool), _mean_over_rivals(means, common), np.nan))


def _mean_over_rivals(shares: FloatArray, common: FloatArray) -> FloatArray:
    is_rival = common > 0
    np.fill_diagonal(is_rival, val=False)
    with np.errstate(invalid="ignore"):
        means = np.cumsum(np.where(is_rival, shares, 0.0), axis=1) / np.cumsum(is_rival, axis=1)
    means[0, 0] = 0.0  # alone on its board
    return means.T
