"""Rule scores of every board that grows by one system at a time.

A board k holds the first k + 1 systems of an order. Scores have shape (n_boards, n_systems), `scores[k, i]` belongs to
the i-th system of the order on board k, NaN where i > k or where the board does not rank it; only their order is meant.
Most rules need one cumulative sum over pairs or positions for all boards together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.profile import Profile
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray, ScoreMatrix
from ranking_engine.stability.resampling.alone import Alone


def grows_fast(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether all boards of one order are scored at once."""
    kernels = get_rule(rule).kernels
    if kernels.judges_alone:
        return True
    weights = matrix.integer_weights
    is_exact = weights.dtype != object and int(weights.sum()) * 2 * matrix.n_systems < EXACT_FLOAT
    return kernels.growing is not None and is_exact


def growing_scores(
    matrix: ScoreMatrix, rules: Sequence[str], reference: Mapping[str, Ranking], alone: Alone | None = None
) -> dict[str, FloatArray]:
    """Return the scores of all boards of `matrix`, whose rows are in the order of their coming.

    `reference` holds the rankings of the whole matrix, its scores those of the rules that judge each system alone.
    `alone` ranks the boards of rules without a faster way.
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
        board = matrix.subset(systems=np.arange(k + 1))
        for rule, row in (alone or Alone()).scores(board, slow, "drop_systems").items():
            scores[rule][k, : k + 1] = row
    return scores
