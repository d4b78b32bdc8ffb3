"""The first places of two rankings: how many systems they share, and whether they order these alike.

Colombo et al. 2022, figures 7 and 39, compare so the mean with Borda on one level and on two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ranking_engine.core.comparison import agreement_rates, compare_ranks
from ranking_engine.core.ranking import Ranking

FIRST_PLACES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20)
MAX_COMMON = 200  # systems at rank k or better in both rankings; beyond, ties say nothing, and pairs take long


@dataclass(frozen=True)
class SharedFirstPlaces:
    """Two rankings at some numbers of first places.

    Attributes:
        first, second: the keys of the rankings.
        places: the numbers k.
        agreement: by k, the share of the first k places that both give to the same systems; ties that straddle place k
            share the places left. NaN where fewer than k systems are ranked by both.
        n_common: by k, how many systems are at rank k or better in both.
        tau: by k, Kendall's tau-b on these systems; NaN for fewer than two, or where fewer than k are ranked.
    """

    first: str
    second: str
    places: tuple[int, ...]
    agreement: list[float]
    n_common: list[int]
    tau: list[float]


def shared_first_places(
    rankings: Mapping[str, Ranking], places: Sequence[int] = FIRST_PLACES
) -> list[SharedFirstPlaces]:
    """Compare the first places of every two rankings, in their order.

    Args:
        rankings: of the same systems, by key.
        places: the numbers k; those beyond the number of systems are left out.
    """
    n_systems = max((ranking.n_systems for ranking in rankings.values()), default=0)
    kept = tuple(k for k in sorted(set(places)) if 1 <= k <= n_systems)
    shared = []
    for one, other in itertools.combinations(rankings, 2):
        a, b = rankings[one], rankings[other]
        n_common = [int((is_first(a, k) & is_first(b, k)).sum()) for k in kept]
        rates, taus = agreement_rates(a, b, kept), [tau_on_common_first(a, b, k) for k in kept]
        shared.append(SharedFirstPlaces(one, other, kept, rates, n_common, taus))
    return shared


def is_first(ranking: Ranking, k: int) -> np.ndarray:
    """Return of each system whether it is at rank k or better."""
    return np.asarray((ranking.ranks >= 1) & (ranking.ranks <= k))


def tau_on_common_first(first: Ranking, second: Ranking, k: int) -> float:
    """Return tau-b on the systems at rank k or better in both.

    NaN for fewer than two, or than k systems in all; and for more than MAX_COMMON, which only ties bring there.
    """
    common = is_first(first, k) & is_first(second, k)
    if first.n_ranked < k or not 2 <= common.sum() <= MAX_COMMON:
        return math.nan
    ranks = np.array([ranking.average_ranks[common] for ranking in (first, second)])
    return float(compare_ranks(ranks).kendall_tau[0, 1])
