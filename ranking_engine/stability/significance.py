"""Significance: which systems of a board can be told apart, and which cannot.

Two systems are separable where a sign-flip test over tasks (`sign_flips`) is significant after Holm's adjustment
over the pairs of its family. Three families are adjusted each by itself: neighbours on the board, all pairs of
the top, and all pairs, which decide the runs. Tasks of one cluster (a stated one; else a group; else a task by
itself) are not independent, so their differences are added up and change sign together. Where even the least
p-value that so many clusters allow would not be significant, the verdict is that there are too few tasks to
tell: that is not the same as a tie.

The statistic of a pair is sum_t weight_t (score_i - score_j)_t / scale_t over common tasks, scores oriented so
that higher is better. `scale="sd"`, the default, divides by the task's standard deviation over the systems: else
a task in large units would decide alone. The test is exact under any such scale, because exchanging two systems'
scores on a task leaves the deviation of the task as it is. `scale="none"` takes the scores as they are, as the
`mean` rule does. That systems are neighbours, or at the top, is itself taken from the data.

Demšar 2006; Benavoli et al. 2016. The papers on benchmarks (Rofin et al. 2023, Colombo et al. 2022, Zhang and
Hardt 2024) test nothing of the kind. `bootstrap` gives rank intervals, which answer another question: what if the
tasks were drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.missing import scored_part
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.score_matrix import ScoreMatrix
from ranking_engine.stability.friedman import Friedman, friedman
from ranking_engine.stability.pair_tests import (
    LEVEL,
    NOT_SEPARABLE,
    SEPARABLE,
    TOO_FEW,
    PairTable,
    PairTests,
    Scale,
    cluster_differences,
    task_clusters,
)

TOP = 10


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive places of the board with no separable pair among them.

    `systems` in the order of the board, at least two; `is_told`: enough tasks for every pair of them.
    """

    systems: tuple[int, ...]
    is_told: bool


@dataclass(frozen=True, eq=False)
class Significance:
    """What can be told apart on a board.

    Attributes:
        level, seed, scale: the parameters.
        n_clusters: the independent groups of tasks.
        order: the ranked systems, best first, those of one rank by name.
        neighbours: consecutive systems of `order`.
        top: all pairs of the first `TOP` places, with all systems that share the last of them.
        every_pair: all pairs; `runs` rest on them, and so may hold neighbours that the smaller family separates.
        runs: maximal runs of ranks without a separable pair; they may overlap. A rank whose own systems are
            separable belongs to none.
        friedman: Friedman's test and the critical difference, or why they are not valid here.
    """

    level: float
    seed: int
    scale: str
    n_clusters: int
    order: tuple[int, ...]
    neighbours: PairTests
    top: PairTests
    every_pair: PairTests
    runs: tuple[Run, ...]
    friedman: Friedman

    @property
    def no_neighbours_separable(self) -> bool:
        """Whether not a single pair of neighbours can be told apart, for whatever reason."""
        return self.neighbours.verdict != "some"

    def summary(self) -> dict[str, Any]:
        """Return what a page says, as JSON; the systems of runs by index."""
        return {
            "level": self.level,
            "scale": self.scale,
            "n_clusters": self.n_clusters,
            "no_neighbours_separable": self.no_neighbours_separable,
            "neighbours": self.neighbours.summary(),
            "top": self.top.summary(),
            "every_pair": self.every_pair.summary(),
            "runs": [{"systems": list(run.systems), "is_told": run.is_told} for run in self.runs],
            "friedman": _friedman_summary(self.friedman),
        }


def _friedman_summary(test: Friedman) -> dict[str, Any]:
    known = test.critical_difference == test.critical_difference
    found = {"reason": test.reason, "critical_difference": test.critical_difference if known else None}
    if test.reason:
        return found
    return {
        **found,
        "systems": list(test.systems),
        "average_ranks": test.average_ranks.tolist(),
        "statistic": test.statistic if np.isfinite(test.statistic) else None,
        "p_value": test.p_value,
        "runs": [list(run) for run in test.runs],
        "note": test.note,
    }


def significance(
    matrix: ScoreMatrix,
    ranking: Ranking,
    *,
    top: int = TOP,
    level: float = LEVEL,
    scale: Scale = "sd",
    pool: Sequence[str] | None = None,
    seed: int = 0,
) -> Significance:
    """Say which systems of the board that `ranking` makes of `matrix` can be told apart.

    Args:
        matrix: the scores; `clusters_of` tells its clusters.
        ranking: of the systems of `matrix`, by whatever rule the board goes by.
        top: all pairs of so many first places are a family.
        level: of significance, as 0.05.
        scale: what differences are divided by.
        pool: names of the systems chosen in advance for Friedman's test; by default all, if they are few enough.
        seed: of the sign vectors drawn where a pair has more than 28 clusters.

    O(n^2) tests of a millisecond at most, but for those that draw.

    Raises:
        ValueError: a parameter out of its range, or a name in `pool` that is no system's.
    """
    found = significance_of_rankings(
        matrix, {"": ranking}, top=top, level=level, scale=scale, pool=pool, seed=seed
    )
    return found[""]


def significance_of_rankings(
    matrix: ScoreMatrix,
    rankings: Mapping[str, Ranking],
    *,
    top: int = TOP,
    level: float = LEVEL,
    scale: Scale = "sd",
    pool: Sequence[str] | None = None,
    seed: int = 0,
) -> dict[str, Significance]:
    """Say the same of several rankings of one matrix, each pair of systems being tested once for all of them.

    Args:
        matrix: the scores; `clusters_of` tells its clusters.
        rankings: of the systems of `matrix`, by key, such as one a rule.
        top, level, scale, pool, seed: as for `significance`.

    Returns:
        One answer a ranking, under its key.

    Raises:
        ValueError: as `significance`.
    """
    for ranking in rankings.values():
        _check_parameters(matrix, ranking, level, scale, pool)
    orders = {key: _board_order(matrix, ranking) for key, ranking in rankings.items()}
    units, shares = cluster_differences(matrix, scale)
    table = PairTable(units, shares, sorted(set().union(*orders.values())), level, seed)
    of_pool = _friedman_of(matrix, pool, level)
    found = {}
    for key, order in orders.items():
        every = [(a, b) for a in range(len(order)) for b in range(a + 1, len(order))]
        places = rankings[key].ranks[list(order)]
        n_top = int((places <= top).sum())
        every_pair = table.family(order, every)
        found[key] = Significance(
            level,
            seed,
            scale,
            units.shape[1],
            order,
            table.family(order, [(a, a + 1) for a in range(len(order) - 1)]),
            table.family(order, [(a, b) for a, b in every if b < n_top]),
            every_pair,
            _runs(order, places, every_pair),
            of_pool,
        )
    return found


def _board_order(matrix: ScoreMatrix, ranking: Ranking) -> tuple[int, ...]:
    ranked = np.flatnonzero((ranking.ranks != UNRANKED) & matrix.has_score).tolist()
    return tuple(sorted(ranked, key=lambda i: (int(ranking.ranks[i]), matrix.system_names[i])))


def _runs(order: tuple[int, ...], places: NDArray[np.int32], tests: PairTests) -> tuple[Run, ...]:
    """Return the maximal runs of whole ranks without a separable pair, of at least two systems."""
    n = len(order)
    verdicts = np.full((n, n), NOT_SEPARABLE, dtype=np.int8)
    verdicts[np.triu_indices(n, 1)] = tests.verdicts
    starts = np.flatnonzero(np.diff(places, prepend=0)).tolist()
    ends = [*starts[1:], n]
    runs: list[Run] = []
    covered = 0
    for first in starts:
        last = first
        for end in ends:
            if end > first and not (verdicts[first:end, first:end] == SEPARABLE).any():
                last = end
            elif end > first:
                break
        if last - first > 1 and last > covered:
            inside = verdicts[first:last, first:last]
            runs.append(Run(order[first:last], is_told=not (inside == TOO_FEW).any()))
            covered = last
    return tuple(runs)


def _friedman_of(matrix: ScoreMatrix, pool: Sequence[str] | None, level: float) -> Friedman:
    part = scored_part(matrix).matrix
    if part is None:
        return Friedman("there are fewer than two systems to compare")
    if pool is not None:
        part = part.subset([part.system_names.index(name) for name in pool if name in part.system_names])
    return friedman(part, task_clusters(part), level)


def _check_parameters(
    matrix: ScoreMatrix, ranking: Ranking, level: float, scale: str, pool: Sequence[str] | None
) -> None:
    if ranking.n_systems != matrix.n_systems:
        raise ValueError(f"`ranking` is of {ranking.n_systems} systems, `matrix` of {matrix.n_systems}")
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a share between 0 and 1, such as 0.05")
    if scale not in ("sd", "none"):
        raise ValueError(f"`scale` is {scale!r}; expected 'sd' or 'none'")
    unknown = sorted(set(pool or ()) - set(matrix.system_names))
    if unknown:
        raise ValueError(f"`pool` names {unknown[0]!r}, which is no system of the board")

