"""Scores of single instances: how systems rank when every instance of a task is a voter.

`scores[i, u, t]` is the score of system i on instance u of task t, NaN where missing; higher is better, as stored times
the task's direction. Tied systems get the mean of the places they share.

- `two_level`: on each task the systems are ranked on every instance and their points added up; the tasks' rankings are
  then added up in the same way.
- `one_level`: the points of all instances of all tasks are added up.
- `mean`: the mean over tasks of the mean over instances.

Points are Borda's: the number of systems below, and half of those tied. A missing score gets no points and gives none
to others, so that every instance counts with the systems that have a score on it.

Colombo et al. 2022, What are the best systems? New perspectives on NLP benchmarking, sections 3.2 and 3.3. Departures:
ties share places instead of being broken by a sort; missing scores are allowed; tasks have directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.decimals import rounded
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.core.task_order import task_order

Aggregation = Literal["two_level", "one_level", "mean"]

AGGREGATIONS: tuple[Aggregation, ...] = ("two_level", "one_level", "mean")

_BLOCK_CELLS = 1 << 20  # scores that are compared with each other at a time
_FEW_SYSTEMS = 8  # up to which comparing all pairs is faster than sorting
_LEAST_INSTANCES = 6  # below, an interval from redrawn instances means nothing


@dataclass(frozen=True, eq=False)
class InstanceScores:
    """Scores of systems on the instances of several tasks.

    Attributes:
        system_names: of the rows.
        task_names: of the blocks.
        blocks: for each task the scores of shape (n_systems, n_instances), rounded to 12 significant digits as all
            scores are; NaN where missing. Tasks may have different instances, and different numbers of them.
        directions: of the tasks, +1 or -1.
        clusters: for each task the cluster of each instance, an integer from 0: instances about the same text, for
            example, which errors treat as one. The same integer on two tasks is the same cluster. Empty where every
            instance is a cluster by itself.
        instance_names: for each task those of its instances; empty where they are not known.
    """

    system_names: tuple[str, ...]
    task_names: tuple[str, ...]
    blocks: tuple[FloatArray, ...]
    directions: tuple[int, ...] = field(default=())
    clusters: tuple[NDArray[np.int64], ...] = field(default=())
    instance_names: tuple[tuple[str, ...], ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(rounded(block) for block in self.blocks))
        if not self.directions:
            object.__setattr__(self, "directions", (1,) * len(self.blocks))
        n = len(self.system_names)
        if not n or not self.blocks:
            raise ValueError("`blocks` must hold at least one task, and `system_names` one system")
        if len(self.task_names) != len(self.blocks) or len(self.directions) != len(self.blocks):
            raise ValueError("`task_names`, `blocks` and `directions` must have the same length")
        for name, block in zip(self.task_names, self.blocks, strict=True):
            if block.ndim != 2 or len(block) != n:
                raise ValueError(f"the scores of task {name} have shape {block.shape}; expected ({n}, n_instances)")
            if np.isinf(block).any():
                raise ValueError(f"task {name} has an infinite score")
        if any(direction not in (1, -1) for direction in self.directions):
            raise ValueError(f"`directions` is {self.directions}; expected +1 or -1 for each task")
        if self.clusters and [len(codes) for codes in self.clusters] != [block.shape[1] for block in self.blocks]:
            raise ValueError("`clusters` must have an entry for each instance of each task")
        if self.instance_names and list(map(len, self.instance_names)) != [block.shape[1] for block in self.blocks]:
            raise ValueError("`instance_names` must have an entry for each instance of each task")

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        return len(self.system_names)

    def oriented(self) -> Iterator[FloatArray]:
        """Yield the scores of each task, higher is better."""
        for block, direction in zip(self.blocks, self.directions, strict=True):
            yield block * direction if direction < 0 else block

    @cached_property
    def task_points(self) -> FloatArray:
        """The points of each system on each task, shape (n_systems, n_tasks); NaN where it has no score there."""
        blocks = list(self.oriented())
        shapes = {block.shape for block in blocks}
        if self.n_systems <= _FEW_SYSTEMS and len(shapes) == 1 and sum(block.size for block in blocks) <= _BLOCK_CELLS:
            scores = np.stack(blocks, axis=1)  # systems x tasks x instances
            return np.where(np.isnan(scores).all(axis=2), np.nan, _points_by_pairs(scores) / 2)
        return np.column_stack([_points(block) for block in blocks])

    @property
    def has_score(self) -> NDArray[np.bool_]:
        """`has_score[i]`: system i has a score on some instance."""
        return np.asarray(~np.isnan(self.task_points).all(axis=1), dtype=bool)


def aggregate(scores: InstanceScores, aggregation: Aggregation) -> Ranking:
    """Rank the systems by one of AGGREGATIONS; systems without any score are unranked.

    O(n_systems^2) comparisons an instance for few systems, else a sort of the systems on each.
    """
    if aggregation == "mean":
        totals = _row_means(np.column_stack([_row_means(block) for block in scores.oriented()]))
    elif aggregation == "one_level":
        totals = np.where(scores.has_score, np.nansum(scores.task_points, axis=1), np.nan)
    elif aggregation == "two_level":
        totals = _points(scores.task_points)
    else:
        raise ValueError(f"`aggregation` is {aggregation!r}; expected one of {', '.join(AGGREGATIONS)}")
    reasons = dict.fromkeys(np.flatnonzero(np.isnan(totals)).tolist(), "no score on any instance")
    return Ranking.from_scores(aggregation, totals, unranked_reasons=reasons)


def aggregate_all(scores: InstanceScores) -> dict[Aggregation, Ranking]:
    """Rank the systems by all AGGREGATIONS."""
    return {aggregation: aggregate(scores, aggregation) for aggregation in AGGREGATIONS}


def _row_means(rows: FloatArray) -> FloatArray:
    has = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(has, rows, 0.0).sum(axis=1) / has.sum(axis=1), dtype=np.float64)


def _points(scores: FloatArray) -> FloatArray:
    """Return for each row the number of others below it, plus half of those tied with it, over all columns.

    Sums of halves of integers, exact. NaN for a row without any score.
    """
    n, U = scores.shape
    total = np.zeros(n)
    height = max(1, _BLOCK_CELLS // max(1, n))
    for start in range(0, U, height):
        columns = scores[:, start : start + height]
        if n <= _FEW_SYSTEMS:
            total += _points_by_pairs(columns)
        else:
            # Twice those below and once those tied, from the first and the last place of each system's block of ties.
            order, is_scored = task_order(columns), ~np.isnan(columns)
            twice = 2 * (is_scored.sum(axis=0) - 1) - order.first - order.last
            total += np.where(is_scored, twice, 0).sum(axis=1)
    return np.where(np.isnan(scores).all(axis=1), np.nan, total / 2)


def _points_by_pairs(scores: FloatArray) -> FloatArray:
    """Twice the points over the last axis: 2 for each system below, 1 for each tied."""
    total = np.zeros(scores.shape[:-1])
    for i in range(len(scores)):
        for j in range(i + 1, len(scores)):
            above = np.count_nonzero(scores[i] > scores[j], axis=-1)
            below = np.count_nonzero(scores[i] < scores[j], axis=-1)
            tied = np.count_nonzero(scores[i] == scores[j], axis=-1)
            total[i] += 2 * above + tied
            total[j] += 2 * below + tied
    return total


def tasks_drawn_together(clusters: Sequence[NDArray[np.int64]]) -> list[list[int]]:
    """Return the tasks in parts that share no cluster with each other, each part and all in the order of the tasks.

    Args:
        clusters: for each task the cluster of each instance; the same integer on two tasks is the same cluster.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 -- slow import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 -- slow import

    n_tasks = len(clusters)
    task = np.repeat(np.arange(n_tasks), [len(codes) for codes in clusters])
    names, cluster = np.unique(np.concatenate([*clusters, np.zeros(0, np.int64)]), return_inverse=True)
    size = n_tasks + len(names)  # tasks and clusters are the nodes, instances the edges
    edges = coo_array((np.ones(len(task)), (task, n_tasks + cluster)), shape=(size, size))
    labels = connected_components(edges, directed=False)[1][:n_tasks].tolist()
    parts: dict[int, list[int]] = {}
    for t, label in enumerate(labels):
        parts.setdefault(label, []).append(t)
    return list(parts.values())


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """Mean differences between systems on common instances, with bootstrap intervals.

    Attributes:
        pairs: shape (n_pairs, 2), the systems i < j.
        difference: the mean over tasks of the mean of i's minus j's score on common instances; NaN without any.
        lower, upper: the interval's ends; NaN where a task has fewer than 6 common instances, or clusters of them.
        n_common: the number of common instances over all tasks.
    """

    pairs: NDArray[np.int64]
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_common: NDArray[np.int64]


def paired_differences(
    scores: InstanceScores,
    pairs: Iterable[Sequence[int]] | None = None,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PairedDifferences:
    """Bootstrap the differences between pairs of systems over the instances of each task.

    A resample draws as many instances of a task as two systems share, with replacement; both systems keep their scores
    on the instances drawn (Efron and Tibshirani 1993, section 16.2). Ends are the quantiles (1 ± level) / 2. Where
    instances have clusters, as many of these are drawn as there are, each with all its instances; tasks that share
    clusters are drawn together. A task of which a resample has no instance does not count in it.

    Args:
        scores: of the instances.
        pairs: the systems to compare; by default all pairs.
        n_resamples: how often instances are redrawn; each pair has its own random numbers.
        level: of the intervals.
        seed: 0 or more.
    """
    if not 0 < level < 1 or n_resamples < 1 or seed < 0:
        raise ValueError("`level` must lie between 0 and 1, `n_resamples` be 1 or more and `seed` 0 or more")
    n = scores.n_systems
    chosen = [(i, j) for i in range(n) for j in range(i + 1, n)] if pairs is None else [(p[0], p[1]) for p in pairs]
    tails = ((1 - level) / 2, (1 + level) / 2)
    observed, lower, upper = (np.full(len(chosen), np.nan) for _ in range(3))
    n_common = np.zeros(len(chosen), dtype=np.int64)
    for k, (i, j) in enumerate(chosen):
        common, clusters = [], []  # of each task the differences on common instances, and the clusters of these
        for t, block in enumerate(scores.oriented()):
            difference = block[i] - block[j]
            both = ~np.isnan(difference)
            if both.any():
                common.append(difference[both])
                clusters.append(scores.clusters[t][both] if scores.clusters else np.arange(both.sum()))
        if not common:
            continue
        observed[k] = np.mean([row.mean() for row in common])
        n_common[k] = sum(row.size for row in common)
        if min(len(np.unique(codes)) for codes in clusters) < _LEAST_INSTANCES:
            continue
        random = np.random.default_rng([seed, i, j])
        resampled, n_tasks = np.zeros(n_resamples), np.zeros(n_resamples)
        parts = tasks_drawn_together(clusters) if scores.clusters else [[t] for t in range(len(common))]
        for part in parts:
            names = np.unique(np.concatenate([clusters[t] for t in part]))
            codes = [np.searchsorted(names, clusters[t]) for t in part]
            sums = [np.bincount(at, common[t], len(names)) for at, t in zip(codes, part, strict=True)]
            sizes = [np.bincount(at, minlength=len(names)) for at in codes]
            height = max(1, _BLOCK_CELLS // len(names))
            for start in range(0, n_resamples, height):
                rows = slice(start, min(start + height, n_resamples))
                drawn = random.integers(len(names), size=(rows.stop - start, len(names)))
                for of_clusters, size in zip(sums, sizes, strict=True):
                    n_drawn = size[drawn].sum(axis=1) if scores.clusters else np.full(len(drawn), len(names))
                    resampled[rows] += of_clusters[drawn].sum(axis=1) / np.maximum(n_drawn, 1)
                    n_tasks[rows] += n_drawn > 0
        lower[k], upper[k] = np.quantile(resampled / n_tasks, tails)
    return PairedDifferences(np.array(chosen, dtype=np.int64).reshape(-1, 2), observed, lower, upper, n_common)
