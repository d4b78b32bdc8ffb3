"""Rank intervals from standard errors alone: between which ranks a system is if every score were measured again.

Where scores have standard errors but no instances, each score is drawn from a normal distribution around it, all
independently, and every table that is drawn is ranked. The tasks stay: what other tasks would change is not in these
intervals (see `stability.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import ScoreMatrix

NUMBER = 101  # of the stream of random numbers
MAX_RANKS = 50_000_000  # systems times draws


@dataclass(frozen=True, eq=False)
class MeasuredRanks:
    """The intervals of one rule.

    Attributes:
        reason: why there are none; otherwise empty.
        ranks: under the scores as they are; -1 = unranked.
        lower, upper: the ends, -1 for systems without a rank.
        n_draws: tables in which the rule ranks: draws that leave it undefined do not count.
    """

    reason: str
    ranks: NDArray[np.int32]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    n_draws: int


def measured_rank_intervals(
    matrix: ScoreMatrix,
    errors: ArrayLike,
    rules: Sequence[str] = ("borda",),
    *,
    n_draws: int = 1_000,
    level: float = 0.95,
    seed: int = 0,
    missing: str = "drop_systems",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, MeasuredRanks]:
    """Return by rule the intervals whose ends are the quantiles (1 - level) / 2 and (1 + level) / 2, outwards.

    Args:
        matrix: the scores.
        errors: their standard errors, shape (n_systems, n_tasks), 0 or more; NaN is as good as 0: the score is exact.
        rules: keys.
        n_draws: tables that are drawn; each is ranked by each rule.
        level: of the intervals, each system by itself.
        seed: 0 or more; the same seed gives the same intervals.
        missing: what becomes of missing scores under rules that need all.
        progress: is called with the draws done, and all.

    Raises:
        ValueError: an argument is out of range, or no score that counts has an error above 0.
    """
    spread = np.nan_to_num(np.asarray(errors, dtype=np.float64), nan=0.0, posinf=np.inf)
    if spread.shape != matrix.values.shape:
        raise ValueError(f"`errors` has shape {spread.shape}; expected that of the scores, {matrix.values.shape}")
    if (spread < 0).any() or np.isinf(spread).any():
        raise ValueError("`errors` has a negative or infinite number; a standard error is 0 or more")
    if not (spread[:, matrix.votes] * ~np.isnan(matrix.values[:, matrix.votes]) > 0).any():
        raise ValueError("no score on a voting task has a standard error above 0")
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a number between 0 and 1")
    if n_draws < 1 or n_draws * matrix.n_systems > MAX_RANKS:
        raise ValueError(f"`n_draws` is {n_draws}; expected 1 to {MAX_RANKS // matrix.n_systems} for these systems")
    generator = np.random.default_rng([seed, NUMBER])
    drawn: dict[str, list[NDArray[np.int32]]] = {rule: [] for rule in rules}
    for draw in range(n_draws):
        again = matrix.with_values(matrix.values + spread * generator.standard_normal(spread.shape))
        for rule, ranking in rank_all(again, rules, missing=missing).items():
            if ranking.status == "ranked":
                drawn[rule].append(ranking.ranks)
        if progress is not None:
            progress(draw + 1, n_draws)
    intervals = {}
    for rule, ranking in rank_all(matrix, rules, missing=missing).items():
        lower = np.full(matrix.n_systems, UNRANKED, dtype=np.int32)
        upper, reason = lower.copy(), ranking.reason
        if ranking.status == "ranked" and drawn[rule]:
            table = np.sort(np.array(drawn[rule]), axis=0)
            below = int(np.floor((1 - level) / 2 * (len(table) - 1) + 1e-9))
            lower, upper = table[below], table[len(table) - 1 - below]
        elif not reason:
            reason = "it names a winner and does not rank" if ranking.status != "ranked" else "no table is ranked"
        intervals[rule] = MeasuredRanks(reason, ranking.ranks, lower, upper, len(drawn[rule]))
    return intervals
