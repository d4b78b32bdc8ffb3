"""Rules on pairwise comparisons, of many resamples of the tasks at once.

One matrix product of how often each task counts with who is above whom on it makes the wins of a block of resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from ranking_engine.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability.rules_of_pairs import PAIR_RULES, Pairs, win_rate

Counts = NDArray[np.int64]

_EXACT_FLOAT32 = 2**24
_BLOCK_CELLS = 1 << 23  # of the wins that are held at a time
_MOST_COMPARISONS = 1 << 25  # of all pairs on all tasks, held for all blocks
_SCHULZE_SYSTEMS = 100  # beyond, paths in a batch are slower than one by one

RULES = ("baldwin", "nanson", "schulze", "copeland", "minimax", "condorcet", "win_rate")


def fits(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether the resamples of `rule` are scored in blocks, at this number of systems and tasks."""
    n = matrix.n_systems
    is_small = n * n * matrix.n_tasks <= _MOST_COMPARISONS
    return rule in RULES and is_small and (rule != "schulze" or n <= _SCHULZE_SYSTEMS)


def resampled_pair_rules(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Callable[[float], None]
) -> dict[str, FloatArray]:
    """Return the scores of the `rules`, each of which `fits`, shape (n_resamples, n_systems)."""
    scores = {rule: np.empty((len(task_counts), matrix.n_systems)) for rule in rules}
    for rows, pairs, common in resampled_pairs(matrix, task_counts, with_common="win_rate" in rules):
        for rule in rules:
            scores[rule][rows] = score_pairs(rule, pairs, common)
        step(rows.stop / len(task_counts))
    return scores


def score_pairs(rule: str, pairs: Pairs, common: FloatArray) -> FloatArray:
    """Return the scores of one rule; `common` is what `resampled_pairs` gives, used by win_rate alone."""
    if rule == "condorcet":
        return _condorcet(pairs)
    if rule == "win_rate":
        is_alone = pairs.present & (pairs.present.sum(axis=1, keepdims=True) == 1)
        return np.where(is_alone, 0.0, win_rate(pairs.wins, common))
    return PAIR_RULES[rule](pairs)


def resampled_pairs(
    matrix: ScoreMatrix, task_counts: Counts, present: BoolArray | None = None, *, with_common: bool = False
) -> Iterator[tuple[slice, Pairs, FloatArray]]:
    """Yield blocks of resamples with their pairs and, if asked for, the common weight of each two systems.

    `present[r, i]`: system i takes part in resample r, by default if it has a score on a task drawn.
    Integers, exact in float32 below 2^24 and in float64 below 2^53.
    """
    weights = task_counts * matrix.integer_weights
    n = matrix.n_systems
    dtype = np.dtype(np.float32 if weights.sum(axis=1).max(initial=0) < _EXACT_FLOAT32 else np.float64)
    has = ~np.isnan(matrix.scores)
    drawn = (task_counts > 0).astype(np.float32) @ has.T.astype(np.float32) > 0
    taking_part = drawn if present is None else drawn & present
    below = _below(matrix, dtype)
    both = (has.T[:, :, None] & has.T[:, None, :]).reshape(matrix.n_tasks, -1).astype(dtype) if with_common else None
    height = max(1, _BLOCK_CELLS // (n * n))
    for start in range(0, len(weights), height):
        rows = slice(start, min(start + height, len(weights)))
        mine = taking_part[rows]
        drawn_weights = weights[rows].astype(dtype)
        gained = (drawn_weights @ below).reshape(-1, n, n)
        common = np.empty((0, 0, 0)) if both is None else (drawn_weights @ both).reshape(-1, n, n).astype(np.float64)
        if present is not None:
            is_pair = mine[:, :, None] & mine[:, None, :]
            gained *= is_pair
            common = common * is_pair if with_common else common
        yield rows, Pairs(gained.transpose(0, 2, 1), mine, weights[rows].sum(axis=1)), common


def _below(matrix: ScoreMatrix, dtype: np.dtype) -> NDArray:
    """Return for each task, a row, who is below whom: the wins turned round, as rules in rounds need them."""
    by_task = matrix.scores.T
    return (by_task[:, :, None] < by_task[:, None, :]).reshape(len(by_task), -1).astype(dtype)


def _condorcet(pairs: Pairs) -> FloatArray:
    """The number of systems beaten, of the one that beats every other; nobody else is ranked."""
    beaten = pairs.beats.sum(axis=2).astype(np.float64)
    is_winner = pairs.present & (beaten == pairs.present.sum(axis=1, keepdims=True) - 1)
    return np.where(is_winner, beaten, np.nan)
