"""Tasks added and removed, from single instances: how far a ranking on some tasks agrees with the one on all of them.

Colombo et al. 2022, section 5.3.2, figures 18 and 33: tasks, there metrics, are drawn one after the other, and each of
the three aggregations of `core.instances` is compared with its own ranking on all tasks, by Kendall's tau-b.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.instances import Aggregation, InstanceScores
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.agreement import kendall

N_DRAWS = 100
MAX_STEPS = 1_000_000_000  # pairs of systems x tasks x draws; beyond, fewer draws are made
LEAST_DRAWS = 10


def shown_sizes(n_tasks: int, most: int = 10) -> list[int]:
    """Return up to `most` numbers of tasks, evenly spread from 1 to all, for a table."""
    return sorted({round(k) for k in np.linspace(1, n_tasks, min(n_tasks, most)).tolist()})


def task_subset_curves(
    scores: InstanceScores, *, n_draws: int = N_DRAWS, seed: int = 0
) -> tuple[int, dict[Aggregation, FloatArray]]:
    """Return how many orders of the tasks were drawn, and by aggregation the mean tau-b on the first k tasks of each.

    Entry k - 1 is of k tasks, the last of all tasks. A system without a score on the tasks drawn is left out there; a
    mean is over the tau-b that exist, NaN where none does. Nothing is drawn, and there are no curves, for fewer than
    two tasks, and where fewer than `LEAST_DRAWS` would be within `MAX_STEPS`.

    Args:
        scores: of the instances.
        n_draws: random orders of the tasks.
        seed: 0 or more.
    """
    n, T = scores.n_systems, len(scores.blocks)
    n_draws = min(n_draws, MAX_STEPS // (n * n * T))
    if T < 2 or n < 2 or n_draws < LEAST_DRAWS:
        return 0, {}
    points = scores.task_points
    # Twice the systems below and once those tied, for each system and task.
    higher, equal = (
        np.sum([relation(points, other) for other in points], axis=0) for relation in (np.greater, np.equal)
    )
    has = ~np.isnan(points)
    means = [np.nansum(block, axis=1) / np.maximum(1, (~np.isnan(block)).sum(axis=1)) for block in scores.oriented()]
    adds: dict[Aggregation, FloatArray] = {
        "two_level": np.where(has, higher + (equal - 1) / 2, 0.0),
        "one_level": np.where(has, points, 0.0),
        "mean": np.where(has, np.column_stack(means), 0.0),
    }
    orders = [np.random.default_rng([seed, draw]).permutation(T) for draw in range(n_draws)]
    curves: dict[Aggregation, FloatArray] = {}
    for key, terms in adds.items():
        taus = np.empty((n_draws, T))
        for draw, order in enumerate(orders):
            totals, n_scored = np.cumsum(terms[:, order], axis=1), np.cumsum(has[:, order], axis=1)
            if key == "mean":
                totals = totals / np.maximum(1, n_scored)
            ranks = average_ranks(ranks_of(np.where(n_scored > 0, totals, np.nan).T))
            taus[draw] = kendall(ranks[-1], ranks)[0]
        there = ~np.isnan(taus)
        with np.errstate(invalid="ignore"):
            curves[key] = np.where(there, taus, 0.0).sum(axis=0) / there.sum(axis=0)
    return n_draws, curves
