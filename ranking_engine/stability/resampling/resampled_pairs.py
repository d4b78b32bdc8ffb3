"""Rules on pairwise comparisons, of many resamples of the tasks at once.

One matrix product of how often each task counts with who is above whom on it makes the wins of a block of resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.rule import PairKernel
from ranking_engine.core.score_matrix import EXACT_FLOAT32, BoolArray, FloatArray, ScoreMatrix
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.rules.rates import order_of_names

Counts = NDArray[np.int64]

_BLOCK_CELLS = 1 << 23  # of the wins that are held at a time
_MAX_COMPARISONS = 1 << 25  # of all pairs on all tasks, held for all blocks


def fits(rule: str, matrix: ScoreMatrix) -> bool:
    """Whether the resamples of `rule` are scored in blocks, at this number of systems and tasks."""
    kernels, n = get_rule(rule).kernels, matrix.n_systems
    return kernels.pairs is not None and n * n * matrix.n_tasks <= _MAX_COMPARISONS and kernels.fit(n)


def resampled_pair_rules(
    matrix: ScoreMatrix, task_counts: Counts, rules: Collection[str], step: Callable[[float], None]
) -> dict[str, FloatArray]:
    """Return the scores of the `rules`, each of which `fits`, shape (n_resamples, n_systems)."""
    scores = {rule: np.empty((len(task_counts), matrix.n_systems)) for rule in rules}
    kernels = pair_kernels(rules)
    for rows, pairs in resampled_pairs(matrix, task_counts, with_common=need_common(kernels)):
        for rule, kernel in kernels.items():
            scores[rule][rows] = kernel.scores(pairs)
        step(rows.stop / len(task_counts))
    return scores


def pair_kernels(rules: Iterable[str]) -> dict[str, PairKernel]:
    """Return the kernels on comparisons of those of the rules that have one."""
    return {rule: kernel for rule in rules if (kernel := get_rule(rule).kernels.pairs) is not None}


def need_common(kernels: Mapping[str, PairKernel]) -> bool:
    """Whether one of the kernels needs the common weight of each two systems."""
    return any(kernel.needs_common for kernel in kernels.values())


def has_score_drawn(matrix: ScoreMatrix, task_counts: Counts) -> BoolArray:
    """Whether each system has a score on a task that a resample counts, shape (n_resamples, n_systems)."""
    has = ~np.isnan(matrix.scores)
    with np.errstate(invalid="ignore"):  # kernels of OpenBLAS may set the flag for what they read beside the operands
        return np.asarray((task_counts > 0).astype(np.float32) @ has.T.astype(np.float32) > 0, dtype=bool)


def resampled_pairs(
    matrix: ScoreMatrix, task_counts: Counts, present: BoolArray | None = None, *, with_common: bool = False
) -> Iterator[tuple[slice, Pairs]]:
    """Yield blocks of resamples with their pairs, which know the common weight of each two systems if asked for.

    `present[r, i]`: system i takes part in resample r, by default if it has a score on a task drawn.
    Integers, exact in float32 below 2^24 and in float64 below 2^53.
    """
    weights = task_counts * matrix.integer_weights
    n = matrix.n_systems
    dtype = np.dtype(np.float32 if weights.sum(axis=1).max(initial=0) < EXACT_FLOAT32 else np.float64)
    has = ~np.isnan(matrix.scores)
    drawn = has_score_drawn(matrix, task_counts)
    taking_part = drawn if present is None else drawn & present
    # For each task, a row, who is below whom: the wins reversed, as rules in rounds need them.
    by_task = matrix.scores.T
    below = (by_task[:, :, None] < by_task[:, None, :]).reshape(len(by_task), -1).astype(dtype)
    both = (has.T[:, :, None] & has.T[:, None, :]).reshape(matrix.n_tasks, -1).astype(dtype) if with_common else None
    height = max(1, _BLOCK_CELLS // (n * n))
    for start in range(0, len(weights), height):
        rows = slice(start, min(start + height, len(weights)))
        mine = taking_part[rows]
        drawn_weights = weights[rows].astype(dtype)
        gained = (drawn_weights @ below).reshape(-1, n, n)
        common = None if both is None else (drawn_weights @ both).reshape(-1, n, n).astype(np.float64)
        if present is not None:
            is_pair = mine[:, :, None] & mine[:, None, :]
            gained *= is_pair
            common = None if common is None else common * is_pair
        totals = weights[rows].sum(axis=1)
        yield rows, Pairs(gained.transpose(0, 2, 1), mine, totals, common, order_of_names(matrix.system_names))
