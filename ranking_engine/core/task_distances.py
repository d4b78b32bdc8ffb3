"""How far the tasks are from a ranking, and from each other.

`TaskVotes` compares all systems on the tasks once, so that many rankings of one matrix are measured quickly; the
functions below it measure one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.comparison import compare_ranks, task_ranks
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix

NAN = float("nan")
_EXACT = 2.0**52
_BLOCK_TASKS = 1024  # compared with all others at once, so that very many tasks take little memory


@dataclass(frozen=True)
class Excess:
    """How much more weight contradicts a ranking than an order by Kemeny.

    Attributes:
        weight: the difference of the two weights, 0 where the ranking is as good.
        share: `weight` as a share of what contradicts Kemeny's order; None where nothing does and the ranking is worse.
    """

    weight: float
    share: float | None


@dataclass(frozen=True, eq=False)
class TaskVotes:
    """What the voting tasks of a matrix say of every two systems.

    Attributes:
        wins: for each two systems the weight of the tasks that place i above j, as integers over `denominator`.
        denominator: of `wins`.
        above: the number of voting tasks that place i above j.
        tied: the number of those that tie the two.
        present: whether a system has a score, shape (n_systems, n_voting_tasks).
    """

    wins: NDArray[Any]
    denominator: int
    above: NDArray[Any]
    tied: NDArray[Any]
    present: BoolArray

    @classmethod
    def of(cls, matrix: ScoreMatrix) -> TaskVotes:
        """Compare all systems on the voting tasks of `matrix`, in O(n_systems^2 n_tasks)."""
        weighted = Pairwise.of(matrix)
        # Where no task votes, all weights would be 0, which no matrix has; there is nothing to count either.
        is_empty = not matrix.votes.any()
        alike = matrix if is_empty else matrix.with_weights(matrix.votes.astype(np.int64))
        by_count = Pairwise.of(alike, weighted.order)
        present = ~np.isnan(matrix.scores[:, matrix.votes])
        tied = _n_common(present.T).astype(by_count.wins.dtype) - by_count.wins - by_count.wins.T
        np.fill_diagonal(tied, 0)
        return cls(weighted.wins, weighted.denominator, by_count.wins, tied, present)

    @cached_property
    def dispersion(self) -> float:
        """The mean Kendall distance over ordered pairs of tasks that have two systems in common; NaN without any."""
        # Tasks that lack the scores of the same systems are counted together.
        alike, sizes = np.unique(self.present, axis=1, return_counts=True)
        scored = alike.astype(np.float32)
        n_pairs = -int((self.present.sum(axis=0) > 1).sum())  # a task with itself
        for start in range(0, len(sizes), _BLOCK_TASKS):
            block = slice(start, start + _BLOCK_TASKS)
            n_pairs += int(sizes[block] @ (scored[:, block].T @ scored > 1) @ sizes)
        if not n_pairs:
            return NAN
        # of the tasks' pairs, (above x below) oppose on a pair of systems, and one of the two ties it in the rest
        above = self.above.astype(np.int64)
        return int((above * above.T).sum() + (above * self.tied).sum()) / n_pairs

    @cached_property
    def _counts(self) -> _PairSums:
        # A pair placed i above j costs what places j above i, and half of what ties it; a tied pair half of both.
        return _PairSums(self.above, self.above.T - self.above + self.tied)

    @cached_property
    def _weights(self) -> _PairSums:
        return _PairSums(self.wins, self.wins.T - self.wins)

    def dispersion_to(self, ranking: Ranking) -> float:
        """The mean over tasks of their Kendall distance to `ranking`; see the function `dispersion_to`."""
        ranked = np.flatnonzero(ranking.ranks != UNRANKED)
        n_tasks = int((self.present[ranked].sum(axis=0) > 1).sum())
        return self._counts.doubled(ranking, ranked) / 2 / n_tasks if n_tasks else NAN

    def weight_against(self, ranking: Ranking) -> Fraction | None:
        """The weight of the tasks that contradict `ranking`; see `weighted_distance`. None where no one is ranked."""
        ranked = np.flatnonzero(ranking.ranks != UNRANKED)
        return Fraction(self._weights.doubled(ranking, ranked), 2 * self.denominator) if ranked.size else None

    def excess(self, ranking: Ranking, kemeny: Ranking) -> Excess | None:
        """How much more weight contradicts `ranking` than `kemeny`; None unless both rank the same systems."""
        least, weight = self.weight_against(kemeny), self.weight_against(ranking)
        is_comparable = np.array_equal(kemeny.ranks == UNRANKED, ranking.ranks == UNRANKED)
        if least is None or weight is None or not is_comparable:
            return None
        more = weight - least
        return Excess(float(more), float(more / least) if least else None if more else 0.0)


class _PairSums:
    """What a ranking costs, summed over pairs of systems: a masked sum of one table for each ranking.

    Twice the cost of all pairs tied is the sum of `base`; a pair placed i above j adds `change[i, j]` to it.
    """

    def __init__(self, base: NDArray[Any], change: NDArray[Any]) -> None:
        # Sums of integers below 2^53 are exact as floating-point numbers, and several times as fast.
        is_small = change.dtype != object and float(np.abs(change).sum(dtype=np.float64)) < _EXACT
        self.base, self.change = (
            np.ascontiguousarray(table, float if is_small else object) for table in (base, change)
        )

    @cached_property
    def _total(self) -> int:
        return int(self.base.sum())

    def doubled(self, ranking: Ranking, ranked: NDArray[np.intp]) -> int:
        """Return twice the cost of `ranking` over all pairs of the systems that it ranks."""
        base, change, ranks, total = self.base, self.change, ranking.ranks[ranked], self._total
        if len(ranked) < len(base):
            part = np.ix_(ranked, ranked)
            total, change = int(base[part].sum()), change[part]
        is_above = ranks[:, None] < ranks[None, :]
        if change.dtype == object:
            return total + int(change[is_above].sum())
        # not a dot product, for which BLAS would start threads that cost more than they save
        return total + int(np.einsum("ij,ij->", is_above.astype(float), change))


def dispersion(matrix: ScoreMatrix, *, normalized: bool = False) -> float:
    """Return the mean Kendall distance over ordered pairs of voting tasks (Colombo et al. 2022, eq. 3).

    Two tasks are compared on the systems with a score on both; pairs of tasks with fewer than two such systems
    do not count. O(n_systems^2 n_tasks), except the normalised one of a matrix with gaps.
    """
    if not normalized:
        return TaskVotes.of(matrix).dispersion
    n_common = _n_common(~np.isnan(matrix.scores[:, matrix.votes]))
    counted = (n_common > 1) & ~np.eye(len(n_common), dtype=bool)
    if not counted.any():
        return NAN
    if len(np.unique(n_common[counted])) > 1:
        return _mean(compare_ranks(task_ranks(matrix)).normalized_distance[counted])
    return TaskVotes.of(matrix).dispersion / _pairs_of(int(n_common[counted][0]))


def dispersion_to(matrix: ScoreMatrix, ranking: Ranking, *, normalized: bool = False) -> float:
    """Return the mean over voting tasks of their Kendall distance to `ranking` (Colombo et al. 2022, eq. 1).

    A task is compared on its systems that `ranking` ranks; one with fewer than two of them does not count.
    """
    if not normalized:
        return TaskVotes.of(matrix).dispersion_to(ranking)
    ranked = np.flatnonzero(ranking.ranks != UNRANKED)
    n_present = (~np.isnan(matrix.scores[np.ix_(ranked, matrix.votes)])).sum(axis=0)
    sizes = n_present[n_present > 1]
    if not sizes.size:
        return NAN
    if len(np.unique(sizes)) == 1:
        return TaskVotes.of(matrix).dispersion_to(ranking) / _pairs_of(int(sizes[0]))
    rows = task_ranks(matrix.subset(systems=ranked))[n_present > 1]
    own = ranking.average_ranks[ranked]
    return _mean(np.array([compare_ranks(np.array([own, row])).normalized_distance[0, 1] for row in rows]))


def weighted_distance(matrix: ScoreMatrix, ranking: Ranking) -> float:
    """Return the weight of the tasks that contradict `ranking`, summed over pairs of systems: Kemeny's distance.

    A pair counts the tasks that strictly prefer the lower-placed system, a pair that `ranking` ties half of those
    that strictly prefer one; a tie within a task or a missing score costs nothing. Pairs with an unranked system do
    not count. Least for the orders of the rule `kemeny`, to whose `distance` it compares; NaN where no one is ranked.
    Kemeny 1959. O(n_systems^2 n_tasks).
    """
    weight = TaskVotes.of(matrix).weight_against(ranking)
    return NAN if weight is None else float(weight)


def _n_common(present: BoolArray) -> NDArray[np.int64]:
    """Return for each pair of columns the number of rows that both have."""
    counts = present.astype(np.float32)
    return (counts.T @ counts).astype(np.int64)


def _pairs_of(n: int) -> float:
    return n * (n - 1) / 2


def _mean(numbers: FloatArray) -> float:
    return float(numbers.mean()) if numbers.size else NAN


__all__ = ["Excess", "TaskVotes", "dispersion", "dispersion_to", "weighted_distance"]
