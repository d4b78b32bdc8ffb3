"""Tests of pairs of systems: are their differences, task by task, more than chance?

A sign-flip test (`sign_flips`) of the differences on units: clusters of tasks, or instances of one task, taken as
independent. A family of pairs is adjusted by itself (Holm). A pair whose difference is significant is separable if
the system ranked higher is the one ahead, and contradicted if it is the other one; two systems that share a rank are
tied, whatever their difference. Where even the least p-value that so many units allow would not be significant, there
are too few to tell, which is not the same as a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.clusters import cluster_key, clusters_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability.separability.sign_flips import CHEAP_EXACT, MAX_EXACT, Sums, holm, sign_flips

TOO_FEW, NOT_SEPARABLE, SEPARABLE, CONTRADICTED, TIED = 0, 1, 2, 3, 4
VERDICTS = ("too few tasks to tell", "not separable", "separable", "contradicted", "tied")
LEVEL = 0.05

_FEW_PAIRS = 2_000  # so many are counted exactly up to 28 differences, of more pairs those of up to 20

Scale = Literal["sd", "none"]


@dataclass(frozen=True, eq=False)
class PairTests:
    """The tests of a family of pairs; arrays have one entry a pair.

    Attributes:
        pairs: shape (n_pairs, 2): the systems, the one placed higher first.
        differences: mean difference over common tasks, weighted and scaled; NaN where there is no common task.
        n_units: the independent differences: clusters, or instances, that both have a score on.
        p_values: of the sign-flip test.
        adjusted: after Holm, over this family.
        least_adjusted: the least adjusted p-value that the numbers of units allow.
        verdicts: an index of VERDICTS.
        n_draws: sign vectors drawn, where not all were counted; 0 where all were.
    """

    pairs: NDArray[np.intp]
    differences: FloatArray
    n_units: NDArray[np.int64]
    p_values: FloatArray
    adjusted: FloatArray
    least_adjusted: FloatArray
    verdicts: NDArray[np.int8]
    n_draws: int

    @property
    def verdict(self) -> str:
        """`some` pairs are separable, `none` are, or there are `too_few_tasks` to tell for every pair not tied."""
        if (self.verdicts == SEPARABLE).any():
            return "some"
        untied = self.verdicts[self.verdicts != TIED]
        return "too_few_tasks" if len(untied) and (untied == TOO_FEW).all() else "none"

    def summary(self) -> dict[str, Any]:
        """Return the counts of verdicts as JSON."""
        counts = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return {
            "verdict": self.verdict,
            "n_pairs": len(self.pairs),
            "n_separable": counts[SEPARABLE],
            "n_contradicted": counts[CONTRADICTED],
            "n_tied": counts[TIED],
            "n_not_separable": counts[NOT_SEPARABLE],
            "n_too_few_tasks": counts[TOO_FEW],
            "least_adjusted": float(self.least_adjusted.min()) if len(self.pairs) else None,
            "n_draws": self.n_draws,
        }


class PairTable:
    """Every pair of `systems` tested once: a p-value depends on no ranking, only its adjustment does."""

    def __init__(self, units: FloatArray, shares: FloatArray, systems: Sequence[int], level: float, seed: int) -> None:
        self.level = level
        self.places = {system: place for place, system in enumerate(systems)}
        first, second = np.triu_indices(len(systems), 1)
        chosen = np.array(systems, dtype=np.intp)
        pairs = np.column_stack([chosen[first], chosen[second]])
        self.tests = _test_pairs(units, shares, pairs, level, seed)
        self.least = np.minimum(1.0, 2.0 ** (1.0 - self.tests.n_units))

    def family(
        self, order: Sequence[int], pairs: NDArray[np.intp], is_tied: BoolArray, factor: float = 1.0
    ) -> PairTests:
        """Return the tests of a family of pairs, adjusted among themselves.

        Args:
            order: systems, best first.
            pairs: shape (n_pairs, 2), places of `order`, the better one first.
            is_tied: for each pair, whether the two share a rank.
            factor: what differences are multiplied by.
        """
        places = np.array([self.places[system] for system in order], dtype=np.intp)
        systems = np.array(order, dtype=np.intp)
        a, b = pairs.T
        low, high = np.minimum(places[a], places[b]), np.maximum(places[a], places[b])
        rows = low * (2 * len(self.places) - low - 1) // 2 + high - low - 1
        sign = np.where(places[a] < places[b], factor, -factor)
        return _judged(
            np.column_stack([systems[a], systems[b]]),
            differences=self.tests.differences[rows] * sign,
            n_units=self.tests.n_units[rows],
            p_values=self.tests.p_values[rows],
            least=self.least[rows],
            n_draws=self.tests.n_draws,
            level=self.level,
            is_tied=is_tied,
        )


def instance_separability(
    scores: FloatArray,
    pairs: NDArray[np.intp],
    *,
    clusters: NDArray[np.int64] | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> PairTests:
    """Test pairs of systems over the instances of a task, one score each: the same test with one unit an instance.

    With clusters a unit is the sum over the instances of one that both systems have a score on.

    Args:
        scores: shape (n_systems, n_instances), higher is better, NaN = missing.
        pairs: the family, shape (n_pairs, 2), indices of systems, the one ranked higher first.
        clusters: of the instances, integers from 0; each instance is one by itself where None.
        level: of significance.
        seed: of the sign vectors drawn where a pair differs on more than 28 instances.

    It tells whether the systems differ on instances such as these, not on tasks such as this one.
    """
    chosen = np.asarray(pairs, dtype=np.intp)
    if clusters is None:
        shares = np.where(np.isnan(scores), np.nan, 1.0)
        return _test_pairs(scores[:, :, None], shares[:, :, None], chosen, level, seed)
    n_clusters = int(clusters.max(initial=-1)) + 1
    sums, counts = np.full((2 * len(chosen), n_clusters), np.nan), np.full((2 * len(chosen), n_clusters), np.nan)
    for k, pair in enumerate(chosen.tolist()):  # both systems of pair k are rows 2 k and 2 k + 1
        common = ~np.isnan(scores[pair]).any(axis=0)
        sizes = np.bincount(clusters[common], minlength=n_clusters)
        counts[2 * k : 2 * k + 2] = np.where(sizes > 0, sizes, np.nan)
        for row, system in zip((2 * k, 2 * k + 1), pair, strict=True):
            of_clusters = np.bincount(clusters[common], scores[system, common], minlength=n_clusters)
            sums[row] = np.where(sizes > 0, of_clusters, np.nan)
    rows = np.arange(2 * len(chosen), dtype=np.intp).reshape(-1, 2)
    return replace(_test_pairs(sums[:, :, None], counts[:, :, None], rows, level, seed), pairs=chosen)


def pair_test(
    matrix: ScoreMatrix, i: int, j: int, *, level: float = LEVEL, scale: Scale = "sd", seed: int = 0
) -> PairTests:
    """Test one pair of systems over the clusters of tasks, as a family of its own.

    Args:
        matrix: the scores; `clusters_of` tells its clusters.
        i, j: the systems; the differences are those of `i` over `j`.
        level: of significance, as 0.05.
        scale: what differences are divided by.
        seed: of the sign vectors drawn where the pair differs on more than 28 clusters.

    No ranking is tested, so that nothing is contradicted: the sign of the difference says who is ahead. A pair that
    was picked because it looked far apart was picked from all pairs: `significance` adjusts for that.
    """
    units, shares = cluster_differences(matrix, scale)
    tests = _test_pairs(units, shares, np.array([[i, j]], dtype=np.intp), level, seed)
    return replace(tests, verdicts=np.where(tests.verdicts == CONTRADICTED, SEPARABLE, tests.verdicts))


def cluster_differences(matrix: ScoreMatrix, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Return the scaled, weighted scores by cluster, and their weights.

    Both have shape (n_systems, n_clusters, largest cluster), NaN where there is no score or no task: a pair's
    difference on a cluster is the sum over the tasks on which both have a score.
    """
    if not matrix.votes.any():
        nothing = np.empty((matrix.n_systems, 0, 0))
        return nothing, nothing
    part = matrix.subset(tasks=matrix.votes)
    heaviest = max((float(weight) for weight in part.weights), default=1.0)
    deviations = [1.0] * part.n_tasks  # of a task on which all scores are the same as well
    for t, column in enumerate(part.scores.T if scale == "sd" else ()):
        present = column[~np.isnan(column)]
        size = float(np.abs(present).max(initial=0.0))
        if size:
            deviations[t] = float((present / size).std()) * size or 1.0  # squares of large numbers are beyond floats
    weights = [float(weight) / heaviest for weight in part.weights]
    columns = [column / deviations[t] * weights[t] for t, column in enumerate(part.scores.T)]
    return by_cluster(np.column_stack(columns), weights, task_clusters(part))


def by_cluster(values: FloatArray, weights: Sequence[float], clusters: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return what tasks add to scores, and the tasks' weights, by cluster: see `cluster_differences`.

    Args:
        values: shape (n_systems, n_tasks), weights included; NaN where a task is not to count for a system.
        weights: of the tasks.
        clusters: the number of the cluster of each task, from 0.
    """
    members: list[list[int]] = [[] for _ in range(max(clusters) + 1)]
    for t, number in enumerate(clusters):
        members[number].append(t)
    shape = (len(values), len(members), max(map(len, members)))
    units, shares = np.full(shape, np.nan), np.full(shape, np.nan)
    for number, tasks in enumerate(members):
        for position, t in enumerate(tasks):
            units[:, number, position] = values[:, t]
            shares[:, number, position] = np.where(np.isnan(values[:, t]), np.nan, weights[t])
    return units, shares


def task_clusters(matrix: ScoreMatrix) -> list[int]:
    """Return the number of the cluster of each task of a matrix whose tasks all vote."""
    clusters = clusters_of(matrix)
    return [clusters[cluster_key(matrix, t)] for t in range(matrix.n_tasks)]


def _test_pairs(units: FloatArray, shares: FloatArray, pairs: NDArray[np.intp], level: float, seed: int) -> PairTests:
    first, second = pairs[:, 0], pairs[:, 1]
    sums: Sums | None = None
    tested = np.unique(pairs)
    is_there = ~np.isnan(units[tested])
    if (is_there == is_there[:1]).all():  # so that all pairs have the same tasks in common
        values = np.zeros(units.shape[:2])
        values[tested] = np.where(is_there, units[tested], 0.0).sum(axis=2)
        differences = np.where(is_there[:1].any(axis=2), values[first] - values[second], np.nan)
        weight = np.full(len(pairs), np.nansum(shares[tested[:1]]))

        # As differences of the systems' own: far fewer products than pair by pair.
        def sums(signs: FloatArray) -> Callable[[NDArray[np.intp]], FloatArray]:
            of_systems = values @ signs.T
            return lambda rows: of_systems[first[rows]] - of_systems[second[rows]]

    else:
        apart = units[first] - units[second]
        is_common = ~np.isnan(apart)
        differences = np.where(is_common.any(axis=2), np.where(is_common, apart, 0.0).sum(axis=2), np.nan)
        weight = np.where(is_common, shares[first], 0.0).sum(axis=(1, 2))
    total = np.nansum(differences, axis=1)
    is_few = len(pairs) <= _FEW_PAIRS
    flips = sign_flips(
        differences,
        seed=seed,
        max_exact=MAX_EXACT if is_few else CHEAP_EXACT,
        certain=level / max(1, len(pairs)),
        sums=sums,
    )
    return _judged(
        pairs,
        differences=np.divide(total, weight, out=np.full(len(pairs), np.nan), where=weight > 0),
        n_units=(~np.isnan(differences)).sum(axis=1),
        p_values=flips.p_values,
        least=flips.least,
        n_draws=flips.n_draws,
        level=level,
        is_tied=np.zeros(len(pairs), dtype=bool),
    )


def _judged(
    pairs: NDArray[np.intp],
    *,
    differences: FloatArray,
    n_units: NDArray[np.int64],
    p_values: FloatArray,
    least: FloatArray,
    n_draws: int,
    level: float,
    is_tied: BoolArray,
) -> PairTests:
    adjusted, least_adjusted = holm(p_values), holm(least)
    by_sign = np.where(differences > 0, SEPARABLE, CONTRADICTED)
    verdicts = np.where(adjusted <= level, by_sign, np.where(least_adjusted > level, TOO_FEW, NOT_SEPARABLE))
    verdicts[is_tied] = TIED
    return PairTests(pairs, differences, n_units, p_values, adjusted, least_adjusted, verdicts.astype(np.int8), n_draws)
