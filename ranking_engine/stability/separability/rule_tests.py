"""The tests of all pairs of systems by what each rule's scores are made of: contributions of tasks, or else means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.dispatch import Contributions
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.separability.pair_tests import (
    PairTable,
    PairTests,
    Scale,
    by_cluster,
    cluster_differences,
    task_clusters,
)

_ALIKE = 1e-12  # contributions that differ by no more, of the largest difference on a task, differ by rounding


@dataclass(frozen=True, eq=False)
class TestedPairs:
    """The tests of all pairs by one quantity.

    Attributes:
        table: the tests.
        n_clusters, n_tasks: the clusters of tasks that they rest on, and the tasks in these.
        factor: the differences of a rule are so many times those of the table.
    """

    table: PairTable
    n_clusters: int
    n_tasks: int
    factor: float = 1.0

    def family(self, order: Sequence[int], ranks: NDArray[np.int32], pairs: NDArray[np.intp]) -> PairTests:
        """Return the tests of a family of pairs, adjusted among themselves.

        Args:
            order: systems, best first.
            ranks: of these.
            pairs: shape (n_pairs, 2), places of `order`, the better one first.
        """
        is_tied = ranks[pairs[:, 0]] == ranks[pairs[:, 1]]
        return self.table.family(order, pairs, is_tied, self.factor)


class RuleTests:
    """What several rules of one matrix have tested, each table of tests being made once.

    Rules whose scores are no sums over tasks share the table of mean differences; those share one whose contributions
    differ by a shift and a unit only, such as the average rank's and the win rate's.
    """

    def __init__(self, matrix: ScoreMatrix, scale: Scale, level: float, seed: int) -> None:
        self.matrix, self.scale, self.level, self.seed = matrix, scale, level, seed
        self.mean_differences: TestedPairs | None = None
        self.by_contributions: list[tuple[FloatArray, Contributions, TestedPairs]] = []

    def of_mean_differences(self) -> TestedPairs:
        """Return the tests of mean differences over common tasks, in units of spread."""
        if self.mean_differences is None:
            units, shares = cluster_differences(self.matrix, self.scale)
            systems = np.flatnonzero(self.matrix.has_score).tolist()
            table = PairTable(units, shares, systems, self.level, self.seed)
            self.mean_differences = TestedPairs(table, units.shape[1], int(self.matrix.votes.sum()))
        return self.mean_differences

    def of_contributions(self, own: Contributions) -> TestedPairs:
        """Return the tests of what tasks contribute to the scores of a rule, over tasks on which both are measured."""
        quarters = own.values / 4  # of which differences are finite
        centred = quarters - np.nanmin(quarters, axis=0)
        unit = float(np.nanmax(centred)) or 1.0
        centred = centred / unit
        for other, its, tested in self.by_contributions:
            is_alike = np.array_equal(own.systems, its.systems) and own.matrix.task_names == its.matrix.task_names
            if is_alike and np.allclose(centred, other, rtol=0, atol=_ALIKE, equal_nan=True):
                return replace(tested, factor=4 * unit)
        clusters = task_clusters(own.matrix)
        measured = np.full((self.matrix.n_systems, len(clusters)), np.nan)
        measured[own.systems] = centred if own.is_predicted is None else np.where(own.is_predicted, np.nan, centred)
        # Shares of the whole, so that the difference over all tasks is that of the scores.
        total = sum(own.matrix.weights)
        units, shares = by_cluster(measured, [float(weight / total) for weight in own.matrix.weights], clusters)
        ranked = np.flatnonzero(~np.isnan(own.scores)).tolist()
        table = PairTable(units, shares, ranked, self.level, self.seed)
        tested = TestedPairs(table, units.shape[1], len(clusters), 4 * unit)
        self.by_contributions.append((centred, own, tested))
        return tested
