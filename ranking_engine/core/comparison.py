"""How far rankings agree: all measures compare ranks, never scores, and know about ties.

Rankings are compared on the systems that both rank, ranked again among these, with average ranks (1, 2.5, 2.5,
4). Arrays of ranks have shape (n_rankings, n_systems), NaN where a system is unranked; `a` and `b` index
rankings. A figure that does not exist, such as the tau of a ranking whose systems are all tied, is NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED, Ranking, ranks_of
from ranking_engine.core.score_matrix import EXACT_FLOAT32, FloatArray, ScoreMatrix
from ranking_engine.core.task_order import average_task_ranks

K = TypeVar("K", bound=Hashable)
TOP = (1, 3, 5, 7)  # the k of Rofin et al. 2023, Vote'n'Rank
LEAST = (3, 7)

_BLOCK_CELLS = 1 << 22  # signs that are held at a time


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measures of agreement between all pairs of rankings; arrays have shape (n_rankings, n_rankings).

    Attributes:
        names: of the rankings.
        n_common: the number of systems that both rank.
        kendall_tau: tau-b, (concordant - discordant pairs) / sqrt(pairs untied in a x pairs untied in b).
        kendall_distance: pairs strictly opposed plus half the pairs tied in exactly one of the two.
        normalized_distance: that distance over the number of pairs.
        spearman: the correlation of average ranks.
        max_rank_change: max_i |rank in a - rank in b| / (n_common - 1) (Zhang and Hardt 2024).
        top: by k, the agreement rate of the first k places; see `top_shares`.
        least: by k, that of the last k places.
    """

    names: tuple[str, ...]
    n_common: NDArray[np.int64]
    kendall_tau: FloatArray
    kendall_distance: FloatArray
    normalized_distance: FloatArray
    spearman: FloatArray
    max_rank_change: FloatArray
    top: Mapping[int, FloatArray]
    least: Mapping[int, FloatArray]


def compare(rankings: Mapping[str, Ranking], *, top: Sequence[int] = TOP, least: Sequence[int] = LEAST) -> Comparison:
    """Compare all pairs of `rankings`, which are of the same systems."""
    rows = [ranking.average_ranks for ranking in rankings.values()]
    ranks = np.array(rows) if rows else np.empty((0, 1))
    return compare_ranks(ranks, names=tuple(rankings), top=top, least=least)


def compare_ranks(
    ranks: FloatArray, *, names: Sequence[str] = (), top: Sequence[int] = (), least: Sequence[int] = ()
) -> Comparison:
    """Compare all pairs of rows of `ranks`, whose lower entries are better.

    O(n_rankings^2 n_systems^2) in all, one matrix product where every ranking ranks the same systems.
    """
    R = len(ranks)
    numbers = ("kendall_tau", "kendall_distance", "normalized_distance", "spearman", "max_rank_change")
    tables = {name: np.full((R, R), np.nan) for name in numbers}
    n_common = np.zeros((R, R), dtype=np.int64)
    tops, leasts = ({k: np.full((R, R), np.nan) for k in places} for places in (top, least))
    # Rankings of one set rank the same systems.
    masks, kind = np.unique(~np.isnan(ranks), axis=0, return_inverse=True)
    sets = [(np.flatnonzero(kind == g), mask) for g, mask in enumerate(masks)]
    for (rows, mine), (columns, theirs) in itertools.combinations_with_replacement(sets, 2):
        common = mine & theirs
        pair = _Pair(_ranked_anew(ranks[rows][:, common]), _ranked_anew(ranks[columns][:, common]))
        filled: list[tuple[NDArray, NDArray]] = [(tables[name], getattr(pair, name)()) for name in numbers]
        filled += [(table, pair.agreement(k)) for k, table in tops.items()]
        filled += [(table, pair.agreement(k, least=True)) for k, table in leasts.items()]
        filled.append((n_common, np.full((len(rows), len(columns)), pair.n)))
        for table, values in filled:
            table[np.ix_(rows, columns)] = values
            table[np.ix_(columns, rows)] = values.T
    return Comparison(tuple(names), n_common, **tables, top=tops, least=leasts)


def kendall_tau(first: Ranking, second: Ranking) -> float:
    """Return Kendall's tau-b (Kendall 1945)."""
    return _of_two(first, second).kendall_tau().item()


def kendall_distance(first: Ranking, second: Ranking, *, normalized: bool = False) -> float:
    """Return the pairs strictly opposed plus half those tied in exactly one, or their share of all pairs."""
    pair = _of_two(first, second)
    return (pair.normalized_distance() if normalized else pair.kendall_distance()).item()


def spearman(first: Ranking, second: Ranking) -> float:
    """Return Spearman's rank correlation."""
    return _of_two(first, second).spearman().item()


def agreement_rate(first: Ranking, second: Ranking, k: int, *, least: bool = False) -> float:
    """Return the share of the first (or last) k places that the rankings give to the same systems.

    Ties that straddle place k share the places left: sum_i min(share of i in first, in second) / k. NaN where
    fewer than k systems are ranked by both. Rofin et al. 2023, Vote'n'Rank.
    """
    return agreement_rates(first, second, (k,), least=least)[0]


def agreement_rates(first: Ranking, second: Ranking, places: Sequence[int], *, least: bool = False) -> list[float]:
    """Return `agreement_rate` for each k of `places`."""
    ranks = _common_anew(first.average_ranks, second.average_ranks)
    return [_agreement(ranks[:1], ranks[1:], k, least=least).item() for k in places]


def max_rank_change(first: Ranking, second: Ranking) -> float:
    """Return the largest change of rank over n - 1, the largest possible one (Zhang and Hardt 2024)."""
    return _of_two(first, second).max_rank_change().item()


def rank_changes(reference: Ranking, ranking: Ranking) -> FloatArray:
    """Return how many places `ranking` puts each system above `reference`; NaN unless both rank it."""
    ranks = np.array([reference.average_ranks, ranking.average_ranks])
    common = ~np.isnan(ranks).any(axis=0)
    before, after = _ranked_anew(ranks[:, common])
    changes = np.full(ranks.shape[1], np.nan)
    changes[common] = before - after
    return changes


@dataclass(frozen=True)
class RankMove(Generic[K]):
    """The ranks of one system before and after; None where it is unranked or not there."""

    system: K
    before: int | None
    after: int | None

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return self.before == self.after

    @property
    def places(self) -> int:
        """Places gained, below 0 where lost; 0 where one of the two ranks is not there."""
        return self.before - self.after if self.before and self.after else 0


@dataclass(frozen=True)
class RankDifference(Generic[K]):
    """What differs between two rankings, by whatever their systems are known by: a number, a key.

    Attributes:
        before: rank by system; those without one are not in it.
        after: the same, of the other ranking.
    """

    before: Mapping[K, int]
    after: Mapping[K, int]

    @staticmethod
    def between(before: Ranking | None, after: Ranking | None) -> RankDifference[int]:
        """The difference of two rankings by the systems' numbers; None is a ranking of no one."""
        return RankDifference(_ranks_by_number(before), _ranks_by_number(after))

    def move(self, system: K) -> RankMove[K]:
        """What became of one system."""
        return RankMove(system, self.before.get(system), self.after.get(system))

    def moves(self) -> list[RankMove[K]]:
        """Every system with a rank in one of the two, first those of `after`."""
        return [self.move(system) for system in dict.fromkeys([*self.after, *self.before])]

    def changed(self) -> list[RankMove[K]]:
        """The systems whose rank differs, or that are ranked in one of the two alone."""
        return [move for move in self.moves() if not move.is_same]

    def fallen(self) -> list[K]:
        """The systems with a rank in both and a worse one in `after`."""
        return [move.system for move in self.moves() if move.places < 0]

    def newly_first(self) -> list[K]:
        """The systems that are first in `after` and were not before."""
        return [system for system, rank in self.after.items() if rank == 1 and self.before.get(system) != 1]

    def overtaken_by(self, system: K) -> list[K]:
        """The others with a rank in both that were not behind the system, or ranked when it was not, and are now."""
        own = self.move(system)
        if own.after is None:
            return []
        return [
            other
            for other, rank in self.after.items()
            if rank > own.after
            and other in self.before
            and other != system
            and (own.before is None or self.before[other] <= own.before)
        ]

    def passed(self, system: K) -> list[K]:
        """The others that are ahead of a system in `after` and were not before; it has a rank in both."""
        before, after = self.before[system], self.after[system]
        return [
            other
            for other, rank in self.after.items()
            if rank < after and (other not in self.before or self.before[other] >= before)
        ]


def _ranks_by_number(ranking: Ranking | None) -> dict[int, int]:
    if ranking is None:
        return {}
    return {i: rank for i, rank in enumerate(ranking.ranks.tolist()) if rank != UNRANKED}


def task_ranks(matrix: ScoreMatrix) -> FloatArray:
    """Return the average ranks that each voting task gives, shape (n_voting_tasks, n_systems)."""
    return average_task_ranks(matrix.scores[:, matrix.votes])


def kendall_w(ranks: FloatArray, *, is_tie_corrected: bool = False) -> float:
    """Return Kendall's coefficient of concordance of m complete rankings of n systems.

    W = 12 S / (m^2 (n^3 - n)), S being the sum of squares of the rank sums about their mean. Corrected for ties,
    12 S / (m^2 (n^3 - n) - m sum over tie blocks of (size^3 - size)). Kendall and Babington Smith 1939.

    Raises:
        ValueError: a system is unranked somewhere.
    """
    if np.isnan(ranks).any():
        raise ValueError("`ranks` must be complete: every ranking ranks every system")
    m, n = ranks.shape
    centred = ranks - (n + 1) / 2
    squares = float((centred.sum(axis=0) ** 2).sum())
    most = m * float((centred**2).sum()) if is_tie_corrected else m * m * (n**3 - n) / 12
    return squares / most if most else float("nan")


def top_shares(ranks: FloatArray, k: int) -> FloatArray:
    """Return the share of each system in the first k places: 1 or 0, except for systems tied around place k.

    Complete average `ranks`, a row a ranking; a tie block of b systems with s places left gives each s / b.
    """
    size = _block_sizes(ranks)
    first = ranks - (size - 1) / 2
    return np.clip((k + 1 - first) / size, 0.0, 1.0)


class _Pair:
    """Complete average ranks of the same systems in two sets of rankings, compared each with each."""

    def __init__(self, first: FloatArray, second: FloatArray) -> None:
        self.first, self.second = first, second
        self.n = first.shape[1]
        self.untied_first, self.untied_second = _untied_pairs(first), _untied_pairs(second)
        # For all pairs of rankings the concordant minus the discordant pairs, and the pairs untied in both: sums of
        # products of signs of rank differences, one matrix product a block of systems, exact in float32.
        self.balance = np.zeros((len(first), len(second)))
        self.untied = np.zeros(self.balance.shape)
        n = self.n
        height = max(1, min(_BLOCK_CELLS // max(1, n * (len(first) + len(second))), EXACT_FLOAT32 // max(1, n)))
        for start in range(0, n, height):
            rows = slice(start, start + height)
            mine = _signs(first, rows)
            theirs = mine if second is first else _signs(second, rows)
            self.balance += mine @ theirs.T
            self.untied += np.abs(mine) @ np.abs(theirs).T
        self.balance /= 2
        self.untied /= 2

    def kendall_tau(self) -> FloatArray:
        return _ratio(self.balance, np.sqrt(np.outer(self.untied_first, self.untied_second)))

    def kendall_distance(self) -> FloatArray:
        # opposed = (untied - balance) / 2; tied in exactly one = untied_first + untied_second - 2 untied
        sums = self.untied_first[:, None] + self.untied_second[None, :]
        distance = (sums - self.untied - self.balance) / 2
        return distance if self.n else np.full(distance.shape, np.nan)

    def normalized_distance(self) -> FloatArray:
        distance = self.kendall_distance()
        return _ratio(distance, np.full(distance.shape, self.n * (self.n - 1) / 2))

    def spearman(self) -> FloatArray:
        first, second = self.first - (self.n + 1) / 2, self.second - (self.n + 1) / 2
        squares = np.outer((first**2).sum(axis=1), (second**2).sum(axis=1))
        return _ratio(first @ second.T, np.sqrt(squares))

    def max_rank_change(self) -> FloatArray:
        change = np.full((len(self.first), len(self.second)), np.nan)
        if self.n > 1:
            for a, row in enumerate(self.first):
                change[a] = np.abs(row - self.second).max(axis=1) / (self.n - 1)
        return change

    def agreement(self, k: int, *, least: bool = False) -> FloatArray:
        return _agreement(self.first, self.second, k, least=least)


def _agreement(first: FloatArray, second: FloatArray, k: int, *, least: bool) -> FloatArray:
    """Return sum_i min(share of i in the k places of a, of b) / k; NaN where there are fewer systems."""
    rate, n = np.full((len(first), len(second)), np.nan), first.shape[1]
    if 1 <= k <= n:
        first, second = (top_shares(n + 1 - ranks if least else ranks, k) for ranks in (first, second))
        for a, row in enumerate(first):
            rate[a] = np.minimum(row, second).sum(axis=1) / k
    return rate


def _signs(ranks: FloatArray, rows: slice) -> NDArray[np.float32]:
    narrow = ranks.astype(np.float32)  # halves up to 2^23 are exact
    differences = narrow[:, rows, None] - narrow[:, None, :]
    return np.sign(differences, out=differences).reshape(len(ranks), -1)


def _untied_pairs(ranks: FloatArray) -> FloatArray:
    """Return the number of pairs of systems that each ranking does not tie."""
    return (ranks.shape[1] - _block_sizes(ranks)).sum(axis=1) / 2


def _block_sizes(ranks: FloatArray) -> FloatArray:
    """Return for each system the number of systems with its rank, itself included."""
    n = ranks.shape[1]
    cells = (2 * ranks).astype(np.int64) + (2 * n + 1) * np.arange(len(ranks))[:, None]
    return np.bincount(cells.ravel(), minlength=1)[cells].astype(np.float64)


def _ranked_anew(ranks: FloatArray) -> FloatArray:
    """Return the average ranks of complete rows of ranks, lower is better, among their own systems."""
    if not ranks.shape[1]:
        return ranks
    places = ranks_of(-ranks).astype(np.float64)
    return places + (_block_sizes(places) - 1) / 2


def _of_two(first: Ranking, second: Ranking) -> _Pair:
    ranks = _common_anew(first.average_ranks, second.average_ranks)
    return _Pair(ranks[:1], ranks[1:])


def _common_anew(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the ranks of both among the systems that both rank, a row each."""
    if first.shape != second.shape:
        raise ValueError(f"the rankings are of {len(first)} and {len(second)} systems; expected the same ones")
    ranks = np.array([first, second])
    return _ranked_anew(ranks[:, ~np.isnan(ranks).any(axis=0)])


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=np.asarray(denominator != 0))


__all__ = [
    "LEAST",
    "TOP",
    "Comparison",
    "RankDifference",
    "RankMove",
    "agreement_rate",
    "agreement_rates",
    "compare",
    "compare_ranks",
    "kendall_distance",
    "kendall_tau",
    "kendall_w",
    "max_rank_change",
    "rank_changes",
    "spearman",
    "task_ranks",
    "top_shares",
]
