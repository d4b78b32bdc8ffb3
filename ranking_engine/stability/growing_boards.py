"""Rule scores of every board that grows by one system at a time.

A board k holds the first k + 1 systems of an order. Scores have shape (n_boards, n_systems), `scores[k, i]` belongs to
the i-th system of the order on board k, NaN where i > k or where the board does not rank it; only their order is meant.
Most rules need one cumulative sum over pairs or positions for all boards together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ranking_engine.dispatch import rank_all
from ranking_engine.profile import Profile
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.registry import get_rule
from ranking_engine.rules.rates import common_weight
from ranking_engine.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix
from ranking_engine.stability.rules_of_pairs import PAIR_RULES, Pairs, snapped_rows

_BLOCK_CELLS = 1 << 22

# Scores of a system that do not depend on the others, so that no newcomer can matter.
INDEPENDENT = ("mean", "geometric_mean", "median", "normalized_mean", "optimality_gap")


def _copeland(profile: Profile) -> FloatArray:
    return np.cumsum(np.sign(profile.pairwise.margins), axis=1).T.astype(np.float64)


def _minimax(profile: Profile) -> FloatArray:
    losses = profile.pairwise.wins.T
    defeats = np.where(losses > profile.pairwise.wins, losses, 0)
    return -np.maximum.accumulate(defeats, axis=1).T.astype(np.float64)


def _borda(profile: Profile) -> FloatArray:
    """Each system below gives a point (ties: worst)."""
    return np.cumsum(profile.pairwise.wins, axis=1, dtype=np.int64).T.astype(np.float64)


def _average_rank(profile: Profile) -> FloatArray:
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


def _plurality(profile: Profile) -> FloatArray:
    return _positional(profile, lambda above, last: (last == 0).astype(np.float64))


def _dowdall(profile: Profile) -> FloatArray:
    return _positional(profile, lambda above, last: 1 / (above + 1))


def _veto(profile: Profile) -> FloatArray:
    size = np.arange(profile.n_systems)
    return _positional(profile, lambda above, last: -(last == size).astype(np.float64))


def _schulze(profile: Profile) -> FloatArray:
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


def _by_rounds(rule: str) -> Callable[[Profile], FloatArray]:
    """Rules that drop systems in rounds, on a block of boards at a time."""

    def scores_of(profile: Profile) -> FloatArray:
        n = profile.n_systems
        wins, on_board = profile.pairwise.wins, np.tri(n, dtype=bool)
        height = max(1, _BLOCK_CELLS // (n * n))
        scores = []
        for start in range(0, n, height):
            present = on_board[start : start + height]
            boards = np.where(present[:, :, None] & present[:, None, :], wins, 0)
            scores.append(PAIR_RULES[rule](Pairs(boards, present)))
        return np.concatenate(scores)

    return scores_of


def _win_rate(profile: Profile) -> FloatArray:
    wins, common = profile.pairwise.wins, common_weight(profile).astype(np.float64)
    shares = np.divide(wins - wins.T, common, out=np.zeros(wins.shape), where=common > 0)
    return _mean_over_rivals((shares + 1) / 2, common)


def _relative_difference(profile: Profile) -> FloatArray:
    n = profile.n_systems
    total, common = np.zeros((n, n)), common_weight(profile).astype(np.float64)
    for column, weight in zip(profile.scores.T, profile.weights, strict=True):
        whole = np.abs(column)[:, None] + np.abs(column)
        whole[whole == 0] = 1.0
        total += np.nan_to_num((column[:, None] - column) / whole) * weight
    means = np.divide(total, common, out=np.zeros((n, n)), where=common > 0)
    return snapped_rows(np.where(np.tri(n, dtype=bool), _mean_over_rivals(means, common), np.nan))


def _mean_over_rivals(shares: FloatArray, common: FloatArray) -> FloatArray:
    is_rival = common > 0
    np.fill_diagonal(is_rival, val=False)
    with np.errstate(invalid="ignore"):
        means = np.cumsum(np.where(is_rival, shares, 0.0), axis=1) / np.cumsum(is_rival, axis=1)
    means[0, 0] = 0.0  # alone on its board
    return means.T


_GROWING: Mapping[str, Callable[[Profile], FloatArray]] = {
    "borda": _borda,
    "average_rank": _average_rank,
    "plurality": _plurality,
    "dowdall": _dowdall,
    "veto": _veto,
    "copeland": _copeland,
    "minimax": _minimax,
    "schulze": _schulze,
    "baldwin": _by_rounds("baldwin"),
    "nanson": _by_rounds("nanson"),
    "win_rate": _win_rate,
    "relative_difference": _relative_difference,
}


def grows_fast(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether all boards of one order are scored at once."""
    if rule in INDEPENDENT:
        return True
    weights = matrix.integer_weights
    is_exact = weights.dtype != object and int(weights.sum()) * 2 * matrix.n_systems < EXACT_FLOAT
    return rule in _GROWING and is_exact


def growing_scores(
    matrix: ScoreMatrix, rules: Sequence[str], reference: Mapping[str, Ranking]
) -> dict[str, FloatArray]:
    """Return the scores of all boards of `matrix`, whose rows are in the order of their coming.

    `reference` holds the rankings of the whole matrix, its scores those of the rules that judge each system alone.
    """
    n = matrix.n_systems
    on_board = np.tri(n, dtype=bool)
    profile = Profile(matrix)
    scores: dict[str, FloatArray] = {}
    for key in rules:
        if key in INDEPENDENT:
            scores[key] = np.where(on_board, reference[key].scores, np.nan)
        elif grows_fast(key, matrix):
            scores[key] = np.where(on_board, _GROWING[key](profile), np.nan)
    slow = [key for key in rules if key not in scores]
    return scores | (_one_by_one(matrix, slow) if slow else {})


def _one_by_one(matrix: ScoreMatrix, rules: Sequence[str]) -> dict[str, FloatArray]:
    n = matrix.n_systems
    scores = {rule: np.full((n, n), np.nan) for rule in rules}
    for k in range(n):
        for rule, ranking in rank_all(matrix.subset(systems=np.arange(k + 1)), rules).items():
            is_ranked = ranking.ranks != UNRANKED
            scores[rule][k, : k + 1][is_ranked] = -ranking.ranks[is_ranked]
    return scores


def board_seconds(rule: str, matrix: ScoreMatrix) -> float:
    """Return the seconds that all boards of one order take when ranked one by one."""
    sizes = range(1, matrix.n_systems + 1)
    return sum(get_rule(rule).cost(size, matrix.n_tasks) for size in sizes)
