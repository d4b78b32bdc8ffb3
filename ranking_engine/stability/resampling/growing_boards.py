"""Rule scores of every board that grows by one system at a time.

A board k holds the first k + 1 systems of an order. Scores have shape (n_boards, n_systems), `scores[k, i]` belongs to
the i-th system of the order on board k, NaN where i > k or where the board does not rank it; only their order is meant.
Most rules need one cumulative sum over pairs or positions for all boards together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.profile import Profile
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix


def grows_fast(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether all boards of one order are scored at once."""
    kernels = get_rule(rule).kernels
    if kernels.judges_alone:
        return True
    weights = matrix.integer_weights
    is_exact = weights.dtype != object and int(weights.sum()) * 2 * matrix.n_systems < EXACT_FLOAT
    return kernels.growing is not None and is_exact


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
    for record in map(get_rule, rules):
        if record.kernels.judges_alone:
            scores[record.key] = np.where(on_board, reference[record.key].scores, np.nan)
        elif record.kernels.growing is not None and grows_fast(record.key, matrix):
            scores[record.key] = np.where(on_board, record.kernels.growing(profile), np.nan)
    slow = [key for key in rules if key not in scores]
    scores |= {rule: np.full((n, n), np.nan) for rule in slow}
    for k in range(n) if slow else ():
        for rule, ranking in rank_all(matrix.subset(systems=np.arange(k + 1)), slow).items():
            is_ranked = ranking.ranks != UNRANKED
            scores[rule][k, : k + 1][is_ranked] = -ranking.ranks[is_ranked]
    return scores


def board_seconds(rule: str, matrix: ScoreMatrix) -> float:
    """Return the seconds that all boards of one order take when ranked one by one."""
    sizes = range(1, matrix.n_systems + 1)
    return sum(get_rule(rule).cost(size, matrix.n_tasks) for size in sizes)
