"""Pavao's criteria as the authors resample: a system that is drawn k times takes part k times.

Our engine lets it take part once (see `ranking_engine.stability.studies.judge_bootstrap`), so that this is the other
reading, straight from the definitions of Pavao et al. 2021, sections 2.1 to 2.3. Copies tie with each other on every
task. The scores are as published, higher is better, and the relative difference is (u - v) / (u + v), 0 where both are
0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ranking_engine.core.score_matrix import FloatArray

RULES = ("mean", "median", "average_rank", "success_rate", "relative_difference", "copeland")
CRITERIA = ("winner_rank", "condorcet", "generalization", "judge_stability", "candidate_stability")
_LEAST_COMMON = 3  # systems that two drawn boards must share to be compared


@dataclass(frozen=True)
class Comparisons:
    """Every pair of systems on every task, shapes (n_systems, n_systems, n_tasks).

    Attributes:
        scores: as published, shape (n_systems, n_tasks).
        wins: 1 where the first system's score is higher, else 0.
        differences: the relative difference.
    """

    scores: FloatArray
    wins: FloatArray
    differences: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, *, of_ranks: bool = False) -> Comparisons:
        """Compare all pairs; with `of_ranks`, the relative difference is of ranks on a task, the best having 1."""
        wins = (scores[:, None, :] > scores[None, :, :]).astype(float)
        sizes = -rankdata(-scores, axis=0) if of_ranks else scores
        u, v = sizes[:, None, :], sizes[None, :, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            differences = (u - v) / np.abs(u + v) if of_ranks else (u - v) / (u + v)
        return cls(scores, wins, np.where(np.isfinite(differences), differences, 0.0))


def totals(pairs: Comparisons, copies: FloatArray, draws: FloatArray) -> dict[str, FloatArray]:
    """Return the score of every system under the six rules.

    Args:
        pairs: of all systems.
        copies: how often each system was drawn; those with 0 get a score too, as if they joined.
        draws: how often each task was drawn.
    """
    n, T = copies.sum(), draws.sum()
    ahead = pairs.wins @ draws / T
    behind = ahead.T
    tied = 1 - ahead - behind
    beats = np.where(ahead - behind > 1e-12, 1.0, np.where(behind - ahead > 1e-12, 0.0, 0.5))
    scores = {
        "mean": pairs.scores @ draws / T,
        "median": np.median(np.repeat(pairs.scores, draws.astype(int), axis=1), axis=1),
        "average_rank": -(1 + behind @ copies + (tied @ copies - 1) / 2),
        "success_rate": ahead @ copies / (n - 1),
        "relative_difference": (pairs.differences @ draws / T) @ copies / (n - 1),
        "copeland": (beats @ copies - 0.5) / (n - 1),
    }
    return {rule: np.round(values, 12) for rule, values in scores.items()}


def criteria(
    scores: FloatArray, n_trials: int, n_rounds: int, n_resamples: int = 100, *, of_ranks: bool = False
) -> dict[str, list[float | None]]:
    """Return the means of the five criteria for each rule, None where a criterion never exists.

    Args:
        scores: shape (n_systems, n_tasks), higher is better.
        n_trials: boards with systems and tasks drawn, for the first three criteria.
        n_rounds: of each stability.
        n_resamples: boards of a round.
        of_ranks: take the relative difference of ranks on a task in place of scores.
    """
    pairs = Comparisons.of(scores, of_ranks=of_ranks)
    random = np.random.default_rng(0)
    values: dict[str, dict[str, list[float]]] = {rule: {name: [] for name in CRITERIA} for rule in RULES}
    for _ in range(n_trials):
        for rule, name, value in _trial(pairs, _drawn(random, len(scores)), _drawn(random, scores.shape[1])):
            values[rule][name].append(value)
    for name, is_of_tasks in (("judge_stability", True), ("candidate_stability", False)):
        for _ in range(n_rounds):
            for rule, value in _concordance(pairs, random, n_resamples, is_of_tasks=is_of_tasks):
                values[rule][name].append(value)
    means = {rule: [mean_of_known(values[rule][name]) for name in CRITERIA] for rule in RULES}
    return {rule: [mean if mean == mean else None for mean in of_rule] for rule, of_rule in means.items()}


def mean_of_known(values: list[float]) -> float:
    """Return the mean of what is not NaN, NaN of nothing."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def _drawn(random: np.random.Generator, n: int) -> FloatArray:
    return np.bincount(random.integers(n, size=n), minlength=n).astype(float)


def _trial(pairs: Comparisons, copies: FloatArray, draws: FloatArray) -> Iterator[tuple[str, str, float]]:
    """Yield the criteria of one drawn board."""
    n = copies.sum()
    above = np.tensordot(copies, pairs.wins, axes=(0, 0))  # systems above, by system and task
    below = np.tensordot(pairs.wins, copies, axes=(1, 0))
    task_ranks = 1 + above + (n - above - below - 1) / 2
    average_ranks = task_ranks @ draws / draws.sum()
    is_in = copies > 0
    margins = (pairs.wins @ draws) - (pairs.wins @ draws).T
    condorcet = [a for a in np.flatnonzero(is_in) if (margins[a, is_in] > 0).sum() == is_in.sum() - 1]
    for rule, scores in totals(pairs, copies, draws).items():
        winners = np.flatnonzero(is_in & (scores == scores[is_in].max()))
        yield rule, "winner_rank", float(np.mean(1 - (average_ranks[winners] - 1) / (n - 1)))
        if condorcet:
            yield rule, "condorcet", float(condorcet[0] in winners) / len(winners)
        entries = np.repeat(np.arange(len(copies)), copies.astype(int))
        ranks = rankdata(-scores[entries])
        unseen = [_pearson(ranks, task_ranks[entries, t]) for t in np.flatnonzero(draws == 0)]
        yield rule, "generalization", mean_of_known(unseen)


def _concordance(
    pairs: Comparisons, random: np.random.Generator, n_resamples: int, *, is_of_tasks: bool
) -> Iterator[tuple[str, float]]:
    """Yield for each rule the mean Spearman correlation over all pairs of one round of drawn boards."""
    n, T = pairs.scores.shape
    drawn = [
        (np.ones(n), _drawn(random, T)) if is_of_tasks else (_drawn(random, n), np.ones(T)) for _ in range(n_resamples)
    ]
    boards = [(copies > 0, totals(pairs, copies, draws)) for copies, draws in drawn]
    for rule in RULES:
        correlations = []
        for i, (first_in, first) in enumerate(boards):
            for second_in, second in boards[:i]:
                common = first_in & second_in
                if common.sum() >= _LEAST_COMMON:
                    correlations.append(_pearson(rankdata(first[rule][common]), rankdata(second[rule][common])))
        yield rule, mean_of_known(correlations)


def _pearson(x: FloatArray, y: FloatArray) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / size if size > 0 else float("nan")
