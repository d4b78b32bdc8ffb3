"""What happens on one board: does the interval hold the true rank, does a test claim what is not so?

Each function draws one board and returns figures that are averaged over many; a rate is the share of boards, or the
mean over boards of the share of systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from performance.calibration.populations import Population, draw_board
from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.clusters import clusters_of
from ranking_engine.core.instances import InstanceScores, paired_differences
from ranking_engine.core.ranking import ranks_of
from ranking_engine.stability.bootstrap import rank_intervals
from ranking_engine.stability.resampling.measured_ranks import measured_rank_intervals
from ranking_engine.stability.separability.pair_tests import CONTRADICTED, SEPARABLE
from ranking_engine.stability.separability.significance import significance
from ranking_engine.stability.separability.task_dependence import task_dependence

RULES = ("mean", "borda", "copeland")
LEVEL = 0.05
TESTED_RULES = ("mean", "borda")

Figures = dict[str, float]


def intervals_of_ranks(population: Population, n_resamples: int, random: np.random.Generator) -> Figures:
    """Whether rank intervals hold the true ranks, under three rules.

    Figures by rule: `covered`, the share of systems whose interval holds the true rank; `winner`, the same of those in
    first place; `together`, whether all simultaneous intervals hold theirs; `best`, whether the truly best system is
    among the possibly best; `n_best`, how many these are; `width` and `width_together`, the ranks in an interval.
    """
    matrix, abilities = draw_board(population, random)
    truth = ranks_of(abilities[None])[0]
    intervals = rank_intervals(
        matrix, RULES, n_resamples=n_resamples, seed=int(random.integers(2**31)), simultaneous=True
    )
    figures: Figures = {}
    for rule in RULES:
        lower, upper, together = intervals.lower[rule], intervals.upper[rule], intervals.simultaneous[rule]
        is_covered = (lower <= truth) & (truth <= upper)
        first = rank(matrix, rule).ranks == 1
        figures |= {
            f"{rule} covered": float(is_covered.mean()),
            f"{rule} winner": float(is_covered[first].mean()),
            f"{rule} together": float(((together.lower <= truth) & (truth <= together.upper)).all()),
            f"{rule} best": float(together.possibly_best[int(abilities.argmax())]),
            f"{rule} n_best": float(together.possibly_best.sum()),
            f"{rule} width": float((upper - lower + 1).mean()),
            f"{rule} width_together": float((together.upper - together.lower + 1).mean()),
        }
    return figures


def intervals_of_measured_ranks(spread: float, shared: float, random: np.random.Generator) -> Figures:
    """Whether rank intervals from standard errors hold the true ranks of 20 systems on 4 tasks.

    Args:
        spread: the standard deviation of abilities, in standard errors of the mean over tasks.
        shared: the part of the variance of an error that all systems have in common.
        random: the random numbers.

    Figures by rule: `covered`, `winner` and `width` as `intervals_of_ranks` has them.
    """
    abilities = spread * random.normal(size=20)
    errors = np.full((20, 4), 2.0)  # of the mean over four tasks: 1
    common, own = random.normal(size=(1, 4)), random.normal(size=(20, 4))
    noise = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    matrix = ScoreMatrix(abilities[:, None] + errors * noise)
    truth = ranks_of(abilities[None])[0]
    seed = int(random.integers(2**31))
    figures: Figures = {}
    for rule, intervals in measured_rank_intervals(matrix, errors, TESTED_RULES, n_draws=1000, seed=seed).items():
        is_covered = (intervals.lower <= truth) & (truth <= intervals.upper)
        figures |= {
            f"{rule} covered": float(is_covered.mean()),
            f"{rule} winner": float(is_covered[intervals.ranks == 1].mean()),
            f"{rule} width": float((intervals.upper - intervals.lower + 1).mean()),
        }
    return figures


def false_claims(population: Population, random: np.random.Generator) -> Figures:
    """Whether tests claim differences at 5 % where all systems are equally good.

    Figures: by rule, whether any pair is told apart, either way, among the `neighbours`, the `top` 10 and `every`
    pair, and whether the pair of the first two systems of the table, which was chosen before the scores were there,
    is. `friedman` and `nemenyi` where that test applies.
    """
    matrix, _ = draw_board(population, random)
    figures: Figures = {}
    for rule in TESTED_RULES:
        result = significance(matrix, rank(matrix, rule), level=LEVEL)
        families = {"neighbours": result.neighbours, "top": result.top, "every": result.every_pair}
        claims = (SEPARABLE, CONTRADICTED)
        figures |= {f"{rule} {name}": float(np.isin(tests.verdicts, claims).any()) for name, tests in families.items()}
        is_chosen = (np.sort(result.every_pair.pairs, axis=1) == [0, 1]).all(axis=1)
        figures[f"{rule} pair"] = float(result.every_pair.p_values[is_chosen][0] <= LEVEL)
        if not result.friedman.reason:
            ranks = result.friedman.average_ranks
            figures["friedman"] = float(result.friedman.p_value <= LEVEL)
            figures["nemenyi"] = float(ranks.max() - ranks.min() > result.friedman.critical_difference)
    return figures


def strengths(n_systems: int, n_sets: int, n_metrics: int, is_declared: bool, random: np.random.Generator) -> Figures:
    """Whether 95 % intervals of Bradley-Terry's strengths hold the true ones; empty where there are no strengths.

    Each data set orders the systems by strength plus Gumbel noise, which makes the model true; its metrics agree.
    """
    truth = random.normal(size=n_systems)
    truth -= truth.mean()
    scores = np.repeat(truth[:, None] + random.gumbel(size=(n_systems, n_sets)), n_metrics, axis=1)
    clusters = [f"data set {t // n_metrics}" for t in range(n_sets * n_metrics)]
    matrix = ScoreMatrix(scores, clusters=clusters if is_declared and n_metrics > 1 else None)
    ranking = rank(matrix, "bradley_terry")
    if ranking.status != "ranked":
        return {}
    details: dict[str, Any] = dict(ranking.details)
    errors = np.array([details["standard_errors"][name] for name in matrix.system_names])
    off = np.abs(ranking.scores - truth)
    return {
        "covered": float((off <= details["t_quantile"] * errors).mean()),
        "normal": float((off <= 1.959964 * errors).mean()),
        "n_clusters": float(len(clusters_of(matrix))),
    }


def overlap(n_systems: int, noise: Sequence[float], families: Sequence[int], random: np.random.Generator) -> Figures:
    """Whether tasks are said to depend on each other.

    Args:
        n_systems: their abilities have a standard deviation of 1.
        noise: the standard deviation of each task's own noise.
        families: the sizes of families of tasks, the first ones; each shares something of a standard deviation of 1.
        random: the random numbers.

    Figures: `pair`, whether any pair is flagged; `overlap`, whether the effective number is below two thirds, so that
    the board says that the tasks overlap; `share`, the effective number per task.
    """
    scores = random.normal(size=(n_systems, 1)) + random.normal(size=(n_systems, len(noise))) * noise
    start = 0
    for size in families:
        scores[:, start : start + size] += random.normal(size=(n_systems, 1))
        start += size
    result = task_dependence(ScoreMatrix(scores))
    share = result.effective_number / len(noise)
    return {"pair": float(bool(result.pairs)), "overlap": float(share < 2 / 3), "share": share}


def differences(n_instances: int, is_binary: bool, random: np.random.Generator) -> Figures:
    """Whether the paired interval of the difference of two systems on one task holds the true difference."""
    difficulty = random.normal(size=n_instances)
    if is_binary:
        chances = 1 / (1 + np.exp(-(difficulty + np.array([[0.5], [0.0]]))))
        scores = (random.random((2, n_instances)) < chances).astype(float)
        truth = _logistic_normal_mean(0.5) - _logistic_normal_mean(0.0)
    else:
        scores, truth = difficulty + np.array([[0.5], [0.0]]) + random.normal(size=(2, n_instances)), 0.5
    estimate = paired_differences(InstanceScores(("a", "b"), ("task",), (scores,)), seed=int(random.integers(2**31)))
    return {"covered": float(estimate.lower[0] <= truth <= estimate.upper[0])}


def _logistic_normal_mean(shift: float) -> float:
    """Return the mean of 1 / (1 + exp(-(z + shift))) over a standard normal z."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float((weights / (1 + np.exp(-(nodes + shift)))).sum() / weights.sum())
