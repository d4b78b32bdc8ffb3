"""A bootstrap on two levels: tasks are drawn again, and the instances within them.

How sure is a rank? That depends on what is drawn again: other instances of the same tasks, other tasks, or both. All
three are drawn here, and the variance of the first two says what each contributes. A draw gives all systems the same
tasks and instances, as they were all scored on the same ones (paired, as in Miller 2024, arXiv:2411.00640). The
bootstrap of both levels is that of Davison and Hinkley 1997, section 3.8, with replacement on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import are_enough
from ranking_engine.core.decimals import rounded
from ranking_engine.core.instances import InstanceScores, tasks_drawn_together
from ranking_engine.core.score_matrix import FloatArray

Design = Literal["instances", "tasks", "both"]

DESIGNS: tuple[Design, ...] = ("instances", "tasks", "both")
STATISTICS = ("mean", "places")
LEAST_TASKS = 8  # below, tasks that are drawn again say little of others

_BLOCK_CELLS = 1 << 22  # draws times instances that are held at a time


@dataclass(frozen=True, eq=False)
class TwoLevelIntervals:
    """Ranks under a statistic, and between which ranks each system is if something is drawn again.

    Attributes:
        ranks: 1 is the best, ties share the better rank; 0 for a system without any score.
        lower, upper: for each design the ends of the interval of the rank; 0 where there is none.
        instance_share: of the variance of a system's lead over the average system if tasks are drawn again, the part
            that instances alone explain; the rest is how tasks differ. At most 1. NaN where either is not known or the
            tasks do not vary, or share clusters.
    """

    ranks: NDArray[np.int64]
    lower: Mapping[Design, NDArray[np.int64]]
    upper: Mapping[Design, NDArray[np.int64]]
    instance_share: FloatArray


def two_level_intervals(
    scores: InstanceScores,
    *,
    clusters: Sequence[NDArray[np.int64]] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, TwoLevelIntervals]:
    """Return the rank intervals of all systems under each of STATISTICS.

    `mean` is the mean over tasks of the mean over instances. `places` is the mean over tasks of the share of the other
    systems that a system is ahead of on the task's mean, ties one half: on complete boards the order of Borda. Both
    take the tasks on which a system has a score. All tasks count alike.

        instances: of each task as many instances are drawn as it has, with replacement; all tasks stay
        tasks:     as many tasks are drawn as there are; their means stay as they are
        both:      tasks are drawn, and instances for each task that was drawn, again where one was drawn twice

    Tasks that share clusters draw these together, and a task of them that was drawn twice has the same ones twice (the
    pigeonhole bootstrap of Owen 2007, doi:10.1214/07-AOAS122). What they share is no part of V(tasks) below, so there
    are no shares.

    instance_share = V(instances) / V(tasks), at most 1, V the variance over draws of a system's statistic less the
    average of all systems. V(tasks) contains the instances' part, because the means that are drawn vary by their
    instances. On complete boards the mean's variance under `both` is the sum of the two, in expectation.

    Args:
        scores: of the instances.
        clusters: for each task the cluster of each instance, an integer, the same on two tasks for the same cluster;
            clusters are then drawn whole. Those of `scores` by default.
        n_resamples: draws of each design.
        level: of the intervals, whose ends are the quantiles (1 ± level) / 2 of the ranks, outwards.
        seed: 0 or more.

    Raises:
        ValueError: an argument is out of range, or clusters do not fit the instances.
    """
    if not 0 < level < 1 or n_resamples < 2 or seed < 0:
        raise ValueError("`level` must lie between 0 and 1, `n_resamples` be 2 or more and `seed` 0 or more")
    blocks = list(scores.oriented())
    if clusters is None and scores.clusters:
        clusters = scores.clusters
    if clusters is not None and [len(of_task) for of_task in clusters] != [block.shape[1] for block in blocks]:
        raise ValueError("`clusters` must have an entry for each instance of each task")
    units = [np.arange(block.shape[1]) for block in blocks] if clusters is None else list(clusters)
    parts = [[t] for t in range(len(blocks))] if clusters is None else tasks_drawn_together(units)
    T, has_units = len(blocks), all(are_enough(np.unique(of_task, return_counts=True)[1]) for of_task in units)
    random = np.random.default_rng([seed, n_resamples])
    drawn_tasks = random.integers(T, size=(n_resamples, T))
    observed = [_task_means(block, np.ones((1, block.shape[1]))) for block in blocks]
    totals: dict[Design, _Totals] = {}
    together = [([blocks[t] for t in part], [units[t] for t in part]) for part in parts]
    if has_units:
        totals["instances"] = _Totals(scores.n_systems, n_resamples)
        for part in together:
            totals["instances"].add_redrawn(*part, np.arange(n_resamples), random)
    if T >= LEAST_TASKS:
        totals["tasks"] = _Totals(scores.n_systems, n_resamples)
        for t in range(T):
            times = (drawn_tasks == t).sum(axis=1)
            draws = np.flatnonzero(times)
            totals["tasks"].add(np.repeat(observed[t], len(draws), axis=1), draws, times[draws])
    if has_units and T >= LEAST_TASKS:
        totals["both"] = _Totals(scores.n_systems, n_resamples)
        for tasks, part in zip(parts, together, strict=True):
            if len(tasks) == 1:
                draws = np.nonzero(drawn_tasks == tasks[0])[0]  # a draw as often as it has the task
                totals["both"].add_redrawn(*part, draws, random)
            else:
                times = np.array([(drawn_tasks == t).sum(axis=1) for t in tasks])
                totals["both"].add_redrawn(*part, np.arange(n_resamples), random, times)
    once = _Totals(scores.n_systems, 1)
    for means in observed:
        once.add(means, np.zeros(1, dtype=np.int64))
    intervals = {statistic: _intervals_of_draws(statistic, once, totals, level, T) for statistic in STATISTICS}
    if len(parts) < T:
        unknown = np.full(scores.n_systems, np.nan)
        return {statistic: replace(of_draws, instance_share=unknown) for statistic, of_draws in intervals.items()}
    return intervals


class _Totals:
    """Sums over the tasks of each draw, by statistic, and how many of them a system has a score on."""

    def __init__(self, n_systems: int, n_draws: int) -> None:
        self._sums = {statistic: np.zeros((n_draws, n_systems)) for statistic in STATISTICS}
        self._n_tasks = np.zeros((n_draws, n_systems))

    def add(self, means: FloatArray, draws: NDArray[np.int64], times: NDArray[np.int64] | None = None) -> None:
        """Add one task: its means, shape (n_systems, n), of these draws; a draw may come several times."""
        from scipy.stats import rankdata  # noqa: PLC0415 -- slow import

        is_there = ~np.isnan(means)
        n_others = np.maximum(is_there.sum(axis=0) - 1, 1)
        # Counted from the worst; the average of tied places gives one half for each tie.
        places = (rankdata(rounded(means), axis=0, nan_policy="omit") - 1) / n_others
        weights = np.ones(len(draws)) if times is None else times.astype(np.float64)
        for values, total in ((means, self._sums["mean"]), (places, self._sums["places"])):
            np.add.at(total, draws, (np.where(is_there, values, 0.0) * weights).T)
        np.add.at(self._n_tasks, draws, (is_there * weights).T)

    def add_redrawn(
        self,
        blocks: Sequence[FloatArray],
        clusters: Sequence[NDArray[np.int64]],
        draws: NDArray[np.int64],
        random: np.random.Generator,
        times: NDArray[np.int64] | None = None,
    ) -> None:
        """Add tasks whose clusters are drawn together, again for each of these draws; `times[k]` as `add` has it."""
        names = np.unique(np.concatenate(clusters))
        n_units, labels = len(names), [np.searchsorted(names, codes) for codes in clusters]
        height = max(1, _BLOCK_CELLS // max(1, n_units, *(block.shape[1] for block in blocks)))
        for start in range(0, len(draws), height):
            here = draws[start : start + height]
            drawn = random.integers(n_units, size=(len(here), n_units)) + n_units * np.arange(len(here))[:, None]
            counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
            for k, block in enumerate(blocks):
                means = _task_means(block, counts[:, labels[k]].astype(np.float64))
                self.add(means, here, None if times is None else times[k, here])

    def of(self, statistic: str) -> FloatArray:
        """The statistic of each system in each draw; NaN where it has no score."""
        n = self._n_tasks
        return np.divide(self._sums[statistic], n, out=np.full(n.shape, np.nan), where=n > 0).T


def _task_means(block: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the means of the systems over instances that count so often, shape (n_systems, n_draws)."""
    is_there = ~np.isnan(block)
    n = is_there.astype(np.float64) @ counts.T
    return np.divide(np.where(is_there, block, 0.0) @ counts.T, n, out=np.full(n.shape, np.nan), where=n > 0)


def _ranks(statistic: FloatArray) -> NDArray[np.int64]:
    """Return the ranks of each column, 1 for the highest; 0 for NaN."""
    from scipy.stats import rankdata  # noqa: PLC0415 -- slow import

    ranks = rankdata(-rounded(statistic), method="min", axis=0, nan_policy="omit")
    return np.where(np.isnan(statistic), 0, np.nan_to_num(ranks)).astype(np.int64)


def _intervals_of_draws(
    statistic: str, once: _Totals, totals: Mapping[Design, _Totals], level: float, n_tasks: int
) -> TwoLevelIntervals:
    """Return the intervals of one statistic.

    Args:
        statistic: one of STATISTICS.
        once: of the scores as they are.
        totals: of the draws of each design.
        level: of the intervals.
        n_tasks: that can be drawn.
    """
    ranks = _ranks(once.of(statistic))[:, 0]
    lower: dict[Design, NDArray[np.int64]] = {design: np.zeros(len(ranks), dtype=np.int64) for design in DESIGNS}
    upper = {design: ends.copy() for design, ends in lower.items()}
    variances: dict[Design, FloatArray] = {}
    for design, total in totals.items():
        values = total.of(statistic)
        of_draws = _ranks(values).astype(np.float64)
        of_draws[of_draws == 0] = np.nan
        known = np.flatnonzero(~np.isnan(of_draws).all(axis=1))
        tails = (1 - level) / 2, (1 + level) / 2
        lower[design][known] = np.nanquantile(of_draws[known], tails[0], axis=1, method="lower")
        upper[design][known] = np.nanquantile(of_draws[known], tails[1], axis=1, method="higher")
        lead = values - np.nanmean(values, axis=0)
        variances[design] = np.full(len(ranks), np.nan)
        variances[design][known] = np.nanvar(lead[known], axis=1)
    share = np.full(len(ranks), np.nan)
    if "instances" in variances and "tasks" in variances:
        # With T tasks the bootstrap's variance is T - 1 of T parts of the unbiased one.
        of_tasks = variances["tasks"] * n_tasks / (n_tasks - 1)
        np.divide(variances["instances"], of_tasks, out=share, where=of_tasks > 0)
        share = np.minimum(share, 1.0)
    return TwoLevelIntervals(ranks, lower, upper, share)
