"""Rank intervals from standard errors alone: between which ranks a system is if every score were measured again.

Where scores have standard errors but no instances, each score is drawn from a normal distribution around it, all
independently, and every table that is drawn is ranked. Systems that were measured on the same instances do well or
badly on them together; their differences vary less than that, and the intervals may be wider than they need be. The
tasks stay: what other tasks would change is not in these intervals (see `stability.bootstrap`).

They say where draws around the scores lie, and this is not where the true rank lies: scores vary more than what is
true, because they have their errors, and a draw adds these once more. Where systems are closer than their errors, the
true rank is outside more often than 1 - level, most of all for those shown first (docs/calibration.md).

A predicted score is drawn around its prediction, with the error that held-out scores of its task have. Predictions of
one system are off together, which independent draws do not have: its intervals are too narrow where several are
predicted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.decimals import as_scores
from ranking_engine.core.missing import PREDICTED, complete, filled_in, scored_part
from ranking_engine.core.ranking import UNRANKED, Ranking, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.batches import IMPUTING, batch_scores, is_batched

NUMBER = 101  # of the stream of random numbers
MAX_RANKS = 50_000_000  # systems times draws
LEAST_DRAWS = 100  # of a rule for which the budget has not all draws
BATCHED_SHARE = 0.25  # of what a rule costs by itself, where it ranks many tables at once: measured, 0.1 to 0.4

_BLOCK_CELLS = 1 << 20  # scores that are drawn at a time
_LARGEST = 1e300  # of a score that is drawn, unless one is larger: sums of them are finite


@dataclass(frozen=True, eq=False)
class MeasuredRanks:
    """The intervals of one rule.

    Attributes:
        reason: why there are none; otherwise empty.
        ranks: under the scores as they are; -1 = unranked.
        lower, upper: the ends, -1 for systems without a rank; the rank under the scores as they are is always between.
        n_draws: tables in which the rule ranks: draws that leave it undefined do not count.
    """

    reason: str
    ranks: NDArray[np.int32]
    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    n_draws: int

    @classmethod
    def of_draws(cls, ranking: Ranking, ranks: NDArray[np.int32], level: float) -> MeasuredRanks:
        """Return the intervals from the ranks of the systems in each table, shape (n_tables, n_systems).

        A system that has no rank in a table where others have one comes after these: it did worst there.
        """
        drawn = ranks[(ranks != UNRANKED).any(axis=1)]
        none = np.full(ranks.shape[1], UNRANKED, dtype=np.int32)
        if not len(drawn):
            return cls("no table is ranked", ranking.ranks, none, none, 0)
        is_ranked = drawn != UNRANKED
        ordered = np.sort(np.where(is_ranked, drawn, 1 + is_ranked.sum(axis=1, keepdims=True)), axis=0)
        below = math.floor((1 - level) / 2 * (len(drawn) - 1) + 1e-9)
        # A rule that punishes noise ranks worse in every draw, and a score without an error stays where it is.
        now, has_ends = ranking.ranks, is_ranked.any(axis=0)
        lower = np.where(now == UNRANKED, ordered[below], np.minimum(ordered[below], now))
        upper = np.maximum(ordered[len(drawn) - 1 - below], now)
        lower, upper = (np.where(has_ends, end, none).astype(np.int32) for end in (lower, upper))
        return cls("", now, lower, upper, len(drawn))


def measured_rank_intervals(
    matrix: ScoreMatrix,
    errors: ArrayLike,
    rules: Sequence[str] = ("borda",),
    *,
    n_draws: int = 1_000,
    level: float = 0.95,
    seed: int = 0,
    missing: str = "drop_systems",
    centres: ArrayLike | None = None,
    budget: float = math.inf,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, MeasuredRanks]:
    """Return by rule the intervals whose ends are the quantiles (1 - level) / 2 and (1 + level) / 2, outwards.

    They are extended to the rank under the scores as they are, where it lies outside.

    Args:
        matrix: the scores.
        errors: their standard errors, shape (n_systems, n_tasks), 0 or more; NaN is as good as 0: the score is exact.
        rules: keys.
        n_draws: tables that are drawn; each is ranked by each rule.
        level: of the intervals, each system by itself.
        seed: 0 or more; the same seed gives the same intervals.
        missing: what becomes of missing scores under rules that need all. Predicted scores are predicted once, from
            the scores as they are, and drawn with the error that held-out scores of their task have.
        centres: the scores before they were rounded to the precisions of tasks, of the same shape: these are what draws
            lie around, and a draw is rounded. By default those of the matrix.
        budget: the seconds for all rules together, as their costs are estimated. Each gets an equal share, and what the
            cheaper ones do not need. A rule whose share is too small for all tables ranks the first of them. The
            dearest rules rank none as long as one would get fewer than LEAST_DRAWS.
        progress: is called with the draws done, and all.

    Raises:
        ValueError: an argument is out of range, or no score that counts has an error above 0.
    """
    spread = np.nan_to_num(np.asarray(errors, dtype=np.float64), nan=0.0, posinf=np.inf)
    centre = matrix.values if centres is None else np.asarray(centres, dtype=np.float64)
    if not spread.shape == centre.shape == matrix.values.shape:
        raise ValueError(
            f"`errors` has shape {spread.shape}, `centres` has shape {centre.shape}; expected that of the scores, "
            f"{matrix.values.shape}"
        )
    if (spread < 0).any() or np.isinf(spread).any():
        raise ValueError("`errors` has a negative or infinite number; a standard error is 0 or more")
    if not (spread[:, matrix.votes] * ~np.isnan(matrix.values[:, matrix.votes]) > 0).any():
        raise ValueError("no score on a task of weight above 0 has a standard error above 0")
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a number between 0 and 1")
    if n_draws < 1 or n_draws * matrix.n_systems > MAX_RANKS:
        raise ValueError(f"`n_draws` is {n_draws}; expected 1 to {MAX_RANKS // matrix.n_systems} for these systems")
    filled = filled_in(matrix) if missing == PREDICTED else None
    if filled is not None:
        centre = np.where(np.isnan(matrix.values), filled.placed_in(matrix).values, centre)
        spread = np.where(np.isnan(matrix.values), filled.errors_in(matrix), spread)
    rankings = rank_all(matrix, rules, missing=missing)
    affordable = _affordable_draws(matrix, rankings, n_draws, budget)
    redrawn = {rule: np.full((n, matrix.n_systems), UNRANKED, dtype=np.int32) for rule, n in affordable.items() if n}
    largest = max(_LARGEST, float(np.nanmax(np.abs(matrix.values))))
    generator, done = np.random.default_rng([seed, NUMBER]), 0
    height = max(1, _BLOCK_CELLS // spread.size)
    for n in sorted({len(ranks) for ranks in redrawn.values()}):
        together = [rule for rule, ranks in redrawn.items() if len(ranks) >= n]
        for start in range(done, n, height):
            rows = slice(start, min(start + height, n))
            noise = generator.standard_normal((rows.stop - start, *spread.shape))
            with np.errstate(over="ignore", invalid="ignore"):  # of scores near the largest float
                again = np.clip(centre + spread * noise, -largest, largest)
                for rule, ranks in _ranks_of_tables(matrix, again, together, missing).items():
                    redrawn[rule][rows] = ranks
            if progress is not None:
                progress(rows.stop, n_draws)
        done = n
    intervals = {}
    for rule, ranking in rankings.items():
        if rule in redrawn:
            intervals[rule] = MeasuredRanks.of_draws(ranking, redrawn[rule], level)
            continue
        reason = ranking.reason or "it names a winner and does not rank"
        if rule in affordable:
            reason = "it takes too long to rank again for every draw"
        none = np.full(matrix.n_systems, UNRANKED, dtype=np.int32)
        intervals[rule] = MeasuredRanks(reason, ranking.ranks, none, none, 0)
    return intervals


def _affordable_draws(
    matrix: ScoreMatrix, rankings: Mapping[str, Ranking], n_draws: int, budget: float
) -> dict[str, int]:
    """Return for each rule that ranks how many tables it can rank, 0 where it takes too long."""
    size, seconds = (matrix.n_systems, matrix.n_tasks), dict[str, float]()
    for rule, ranking in rankings.items():
        if ranking.status == "ranked":
            alone = max(get_rule(rule).cost(*size), float(ranking.details.get("seconds", 0.0)))
            seconds[rule] = alone * (BATCHED_SHARE if is_batched(rule, matrix) else 1.0)
    cheapest_first = sorted(seconds, key=lambda rule: seconds[rule])
    while cheapest_first:
        left, affordable = budget, dict.fromkeys(seconds, 0)
        for k, rule in enumerate(cheapest_first):
            share = left / (len(cheapest_first) - k)
            affordable[rule] = n_draws if seconds[rule] * n_draws <= share else int(share / seconds[rule])
            left -= affordable[rule] * seconds[rule]
        if affordable[cheapest_first[-1]] >= min(n_draws, LEAST_DRAWS):
            return affordable
        cheapest_first.pop()
    return dict.fromkeys(seconds, 0)


def _ranks_of_tables(
    matrix: ScoreMatrix, values: FloatArray, rules: Sequence[str], missing: str
) -> dict[str, NDArray[np.int32]]:
    """Return the ranks of the systems with these scores, shape (n_tables, n_systems, n_tasks), under each rule.

    Where `missing` is `predicted`, the scores contain predicted ones, too, of which native rules see none.
    """
    native = scored_part(matrix)
    whole = native if missing in IMPUTING else complete(matrix, missing)
    ranks: dict[str, NDArray[np.int32]] = {}
    for part, needs_complete in ((native, False), (whole, True)):
        keys = [rule for rule in rules if get_rule(rule).needs_complete == needs_complete]
        if part.matrix is None or not keys:
            continue
        place = {name: t for t, name in enumerate(matrix.task_names)}
        tasks = [place[name] for name in part.matrix.task_names]
        drawn = values[:, part.systems][:, :, tasks]
        drawn = np.where(np.isnan(part.matrix.values), np.nan, drawn)  # predicted scores are not for native rules
        oriented = as_scores(drawn, part.matrix.precision) * part.matrix.directions
        policy = missing if missing in IMPUTING else "median"  # there is nothing to fill where it is another one
        for rule, scores in batch_scores(MatrixBatch(part.matrix, oriented + 0.0), keys, policy, Alone()).items():
            ranks[rule] = np.full(values.shape[:2], UNRANKED, dtype=np.int32)
            ranks[rule][:, part.systems] = ranks_of(scores)
    return ranks
