"""Diversity: how much the tasks of a benchmark disagree about its systems.

Zhang and Hardt 2024, Inherent Trade-Offs between Diversity and Stability in Multi-Task Benchmarks, section
4.1 (diversity is 1 - Kendall's W); Colombo et al. 2022, eq. 3 (dispersion).

Departures from the released code (benchbench 1.0.1): average ranks stay halves, which it truncates to integers;
W is also given corrected for ties; both the mean and the largest max rank change of two tasks are given, where
it returns the mean under the name of the largest; scores tie where they are equal as stored, not within 1e-8;
systems without any score are left out, where it gives them the means of the tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ranking_engine.core.comparison import compare_ranks, kendall_w, task_ranks
from ranking_engine.core.decimals import exact_mean
from ranking_engine.core.missing import scored_part
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.core.task_distances import dispersion

N_NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class Diversity:
    """How much tasks disagree; every voting task counts once, whatever its weight.

    Attributes:
        reason: why there are no figures; otherwise empty.
        n_systems, n_tasks: those that counted: scored systems, voting tasks with a score.
        n_imputed: the missing scores that were filled in from the nearest systems.
        diversity: 1 - Kendall's W on average ranks; 0 where all tasks agree, near 1 where none do.
        diversity_tie_corrected: 1 - W corrected for ties.
        mean_max_rank_change, largest_max_rank_change: over all pairs of tasks, of the largest change of a
            system's rank from one to the other, over n - 1. NaN for a single task or system.
        dispersion: mean Kendall distance over ordered pairs of tasks, on the scores as they are, gaps and all.
        dispersion_normalized: the same, each distance over the number of pairs of systems.
        tasks: the names of the tasks that counted.
        max_rank_changes: of each pair of tasks, shape (n_tasks, n_tasks).
        kendall_tau: tau-b of each pair of tasks, same shape.
    """

    reason: str
    n_systems: int
    n_tasks: int
    n_imputed: int
    diversity: float
    diversity_tie_corrected: float
    mean_max_rank_change: float
    largest_max_rank_change: float
    dispersion: float
    dispersion_normalized: float
    tasks: tuple[str, ...]
    max_rank_changes: FloatArray
    kendall_tau: FloatArray

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON; None for one that does not exist."""
        counts = {"n_systems": self.n_systems, "n_tasks": self.n_tasks, "n_imputed": self.n_imputed}
        figures = {key: getattr(self, key) for key in _FIGURES}
        known = {key: None if math.isnan(figure) else figure for key, figure in figures.items()}
        return {"reason": self.reason, **counts, **known}


_FIGURES = (
    "diversity",
    "diversity_tie_corrected",
    "mean_max_rank_change",
    "largest_max_rank_change",
    "dispersion",
    "dispersion_normalized",
)


def diversity(matrix: ScoreMatrix) -> Diversity:
    """Measure how much the voting tasks of `matrix` disagree; O(n^2 T + n T^2) and the imputation.

    Missing scores are filled in from the nearest systems (`impute_from_nearest`) for W and the max rank changes;
    dispersion compares each pair of tasks on the systems that both score.
    """
    part = scored_part(matrix).matrix
    if part is None or part.n_systems < 2:
        nan, none = math.nan, np.zeros((0, 0))
        reason = "fewer than two systems have a score on a task of weight above 0"
        return Diversity(reason, 0, 0, 0, nan, nan, nan, nan, nan, nan, (), none, none)
    part = part.subset(tasks=~np.isnan(part.values).all(axis=0))
    n_imputed = int(np.isnan(part.values).sum())
    full = part.with_values(impute_from_nearest(part.values)) if n_imputed else part
    ranks = task_ranks(full)
    compared = compare_ranks(ranks)
    changes = compared.max_rank_change[np.triu_indices(part.n_tasks, 1)]
    return Diversity(
        "",
        part.n_systems,
        part.n_tasks,
        n_imputed,
        1 - kendall_w(ranks),
        1 - kendall_w(ranks, is_tie_corrected=True),
        float(changes.mean()) if changes.size else math.nan,
        float(changes.max()) if changes.size else math.nan,
        dispersion(part),
        dispersion(part, normalized=True),
        part.task_names,
        compared.max_rank_change,
        compared.kendall_tau,
    )


def impute_from_nearest(values: FloatArray, n_neighbours: int = N_NEIGHBOURS) -> FloatArray:
    """Fill each gap with the mean of its task over the nearest systems that have a score there.

    Args:
        values: shape (n_systems, n_tasks), NaN = missing; scores are taken as they are, tasks with large ones
            weigh more in the distance.
        n_neighbours: how many; fewer where fewer systems have a score there. Systems exactly as near as the
            last of them share the places left, so that the order of rows does not matter.

    The distance of two systems is the root of the sum of squared differences over common tasks times n_tasks
    over their number; a system without a common task is no neighbour. Where there is none, the task's mean;
    where the task has no score, NaN. Troyanskaya et al. 2001, as in KNNImputer of scikit-learn, whose ties are
    broken by row. O(n^2 T).
    """
    filled = values.copy()
    present = ~np.isnan(values)
    for i in np.flatnonzero(~present.all(axis=1)).tolist():
        # Squared, in proportion to all tasks, infinite without a common one.
        common = present & present[i]
        n_common = common.sum(axis=1)
        squares = np.where(common, (values - values[i]) ** 2, 0.0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(n_common > 0, squares / n_common * values.shape[1], np.inf)
        for t in np.flatnonzero(~present[i]).tolist():
            donors = np.flatnonzero(present[:, t])
            if not donors.size:
                continue
            near = donors[np.isfinite(distances[donors])]
            chosen = near if near.size else donors
            counted, k = np.ones(len(chosen)), min(n_neighbours, len(donors))
            if len(near) > k:  # all tied with the k-th share the places left
                last = np.partition(distances[near], k - 1)[k - 1]
                is_tied = np.abs(distances[near] - last) <= 1e-12 * last
                is_nearer = (distances[near] < last) & ~is_tied
                counted = np.where(is_tied, (k - is_nearer.sum()) / is_tied.sum(), is_nearer.astype(np.float64))
            # Exact, so that equal means tie and the order of the rows does not show.
            filled[i, t] = exact_mean(values[chosen, t].tolist(), [Fraction(count) for count in counted.tolist()])
    return filled
