"""Rule scores of many boards of some of the systems, on tasks that count several times or not at all.

`task_counts[r, t]` is how often board r counts task t, `present[r, i]` whether system i is on it. Scores have shape
(n_boards, n_systems), NaN where a system is not on the board or not ranked there. Winners are those that the rule
states: most elect the systems of the highest score, Schulze's, ranked pairs and Kemeny's others beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.profile import Profile
from ranking_engine.core.ranking import UNRANKED, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.resampled_pairs import (
    fits,
    has_score_drawn,
    need_common,
    pair_kernels,
    resampled_pairs,
)
from ranking_engine.stability.resampling.resampled_scores import has_exact_weights, reweighted

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One rule's answers on many boards: scores and winners, each of shape (n_boards, n_systems)."""

    scores: FloatArray
    is_winner: BoolArray


def is_batched(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether `rule` is scored for many boards at once."""
    most = np.full((1, matrix.n_tasks), matrix.n_tasks, dtype=np.int64)  # at worst one task is drawn every time
    if not has_exact_weights(matrix, most, factor=2 * matrix.n_systems):
        return False
    kernels = get_rule(rule).kernels
    return (kernels.draws is not None and kernels.fit(matrix.n_systems)) or fits(rule, matrix)


def board_scores(
    matrix: ScoreMatrix, task_counts: Counts, present: BoolArray, rules: Sequence[str], alone: Alone | None = None
) -> dict[str, FloatArray]:
    """Return the scores of every board under every rule; rules that need all scores must have them."""
    return {rule: drawn.scores for rule, drawn in drawn_rankings(matrix, task_counts, present, rules, alone).items()}


def drawn_rankings(
    matrix: ScoreMatrix, task_counts: Counts, present: BoolArray, rules: Sequence[str], alone: Alone | None = None
) -> dict[str, Drawn]:
    """Return the scores and the winners of every board under every rule; `alone` ranks those without a faster way."""
    scores: dict[str, FloatArray] = {}
    winners: dict[str, BoolArray] = {}
    is_exact = has_exact_weights(matrix, task_counts, factor=2 * matrix.n_systems)
    batched = [rule for rule in rules if is_exact and is_batched(rule, matrix)]
    of_scores = {rule: draws for rule in batched if (draws := get_rule(rule).kernels.draws) is not None}
    if of_scores:
        weights = (task_counts * matrix.integer_weights).astype(np.float64)
        has_score = present & has_score_drawn(matrix, task_counts)
        batch = MatrixBatch(
            matrix, np.where(present[:, :, None], matrix.scores, np.nan), weights, has_score, Profile(matrix)
        )
        scores.update({rule: draws(batch) for rule, draws in of_scores.items()})
    if kernels := pair_kernels(rule for rule in batched if rule not in scores):
        tables = {rule: np.empty(present.shape) for rule in kernels}
        winners = {rule: np.zeros(present.shape, dtype=bool) for rule, kernel in kernels.items() if kernel.winners}
        for rows, pairs in resampled_pairs(matrix, task_counts, present, with_common=need_common(kernels)):
            for rule, kernel in kernels.items():
                tables[rule][rows] = kernel.scores(pairs)
                if kernel.winners:
                    winners[rule][rows] = kernel.winners(pairs)
        scores.update(tables)
    drawn = {rule: Drawn(table, winners.get(rule, ranks_of(table) == 1)) for rule, table in scores.items()}
    slow = [rule for rule in rules if rule not in scores]
    return drawn | (_one_by_one(matrix, task_counts, present, slow, alone or Alone()) if slow else {})


def condorcet_winners(matrix: ScoreMatrix, task_counts: Counts, present: BoolArray) -> NDArray[np.intp]:
    """Return the system that beats every other of its board, -1 where there is none."""
    if fits("condorcet", matrix) and is_batched("condorcet", matrix):
        scores = board_scores(matrix, task_counts, present, ["condorcet"])["condorcet"]
    else:
        scores = _one_by_one(matrix, task_counts, present, ["condorcet"], Alone())["condorcet"].scores
    is_winner = ~np.isnan(scores)
    return np.where(is_winner.any(axis=1), is_winner.argmax(axis=1), -1)


def _one_by_one(
    matrix: ScoreMatrix, task_counts: Counts, present: BoolArray, rules: Sequence[str], alone: Alone
) -> dict[str, Drawn]:
    drawn = {rule: Drawn(np.full(present.shape, np.nan), np.zeros(present.shape, dtype=bool)) for rule in rules}
    for r, (counts, on_board) in enumerate(zip(task_counts, present, strict=True)):
        systems = np.flatnonzero(on_board)
        board = reweighted(matrix, counts).subset(systems=systems)
        for rule, ranking in alone.rankings(board, rules, "undefined").items():
            is_ranked = ranking.ranks != UNRANKED
            drawn[rule].scores[r, systems[is_ranked]] = -ranking.ranks[is_ranked]
            drawn[rule].is_winner[r, systems[list(ranking.winners)]] = True
    return drawn
