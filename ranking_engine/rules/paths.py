"""Rules on paths of victories: Schulze's and Tideman's.

A victory of i over j is as strong as its margin or as the weight that prefers i (`strength`); drawn pairs have
none. Strengths enter by their order alone, as levels: 1 for the weakest, up to the number of distinct ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray
from ranking_engine.rules.choice_sets import strong_components, topological_order
from ranking_engine.rules.locked_victories import FEW_SYSTEMS, Levels, locked_by_name, strongest_paths
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.ranked_pairs_winners import winners_over_orders
from ranking_engine.rules.rates import name_order

STRENGTHS = ("margins", "winning_votes")

Sizes = NDArray[np.int64]

_LEAF = 64


def schulze(profile: Profile, *, strength: str = "margins") -> Outcome:
    """Return the systems that each beats minus those that beat it in the relation of strongest paths.

    A path is a chain of victories and as strong as its weakest; i beats j if its strongest path to j is
    stronger than j's to i (Schulze 2011). Winners are all that no one beats; the score orders systems and may put some
    of them below others. O(n^3) comparisons of bytes up to some hundred systems; beyond, by
    strong components, O(n^2 log n_levels) and the bits of an acyclic closure, at most n^3 / 8 bytes.
    """
    levels = victory_levels(profile.pairwise, strength)
    if profile.n_systems <= FEW_SYSTEMS:
        path = strongest_paths(levels)
        is_above = path > path.T
        beating, beaten = is_above.sum(axis=1), is_above.sum(axis=0)
    else:
        sizes = np.ones(profile.n_systems, dtype=np.int64)
        beating, beaten = _component_counts(levels, sizes, 0, int(levels.max(initial=0)) + 1).T
    winners = tuple(np.flatnonzero(beaten == 0).tolist())
    scores = (beating - beaten).astype(np.float64)
    return Outcome(scores, details=pair_details(profile.pairwise), winners=winners)


def ranked_pairs(profile: Profile, *, strength: str = "margins") -> Outcome:
    """Return the systems below each minus those above it once the victories are locked in.

    Victories are taken from the strongest to the weakest, equal ones in the order of the winner's and then the
    loser's name, and locked in unless those locked before lead from the loser to the winner (Tideman 1987).
    Systems that no chain of locked victories connects may tie. In `details`, `decided_by_name` says whether
    another order of equal strengths would have locked in others. Winners are all systems that no locked victory is
    against in some order of equal strengths, so that names choose no one; `winners_complete`: none is missing.
    O(n^2) victories and O(n / 8) bytes for each system and each change of what it reaches; the search for winners
    looks at up to ranked_pairs_winners.ALLOWANCE victories more.
    """
    order = name_order(profile)
    levels = victory_levels(profile.pairwise, strength)[np.ix_(order, order)]
    below, decided_by_name = locked_by_name(levels)
    scores = np.empty(profile.n_systems)
    scores[order] = below.sum(axis=1) - below.sum(axis=0, dtype=np.int64)
    winners, is_complete = np.flatnonzero(~below.any(axis=0)).tolist(), True
    if decided_by_name:
        winners, is_complete = winners_over_orders(levels, winners)
    details = {
        **pair_details(profile.pairwise),
        "decided_by_name": decided_by_name,
        "winners_complete": is_complete,
    }
    return Outcome(scores, details=details, winners=tuple(sorted(int(order[k]) for k in winners)))


def victory_levels(pairwise: Pairwise, strength: str) -> Levels:
    """Return the level of each victory, from 1 = weakest; 0 where i does not beat j."""
    strengths = pairwise.margins if strength == "margins" else pairwise.wins
    beats = pairwise.beats
    of_victories = strengths[beats]
    if of_victories.size and of_victories.dtype != object and of_victories.max() < 4 * strengths.size:
        occurs = np.bincount(of_victories) > 0  # faster than sorting n^2 strengths
        level_of = np.cumsum(occurs)
        ordered, n_levels = level_of[of_victories], int(level_of[-1])
    else:
        distinct, inverse = np.unique(of_victories, return_inverse=True)
        ordered, n_levels = inverse + 1, len(distinct)
    levels = np.zeros(beats.shape, dtype=np.min_scalar_type(n_levels + 1))
    levels[beats] = ordered
    return levels


def _component_counts(levels: Levels, sizes: Sizes, low: int, high: int) -> Sizes:
    """Return whom each beats and by whom it is beaten within one strong component of the victories from `low` on.

    Its vertices are the strong components of the victories of level `high` and above, each of `sizes` systems.
    Two systems of one component at some level, which the next level parts, are connected there in one direction,
    which decides, or in none, and then they tie at this level. The levels between are halved (Tarjan 1982).

    1. With no level between, the victories of level `high` make an acyclic graph: count who reaches whom.
    2. Else find the components at the level halfway; those of several vertices are solved above it,
    3. and below it each of them is one vertex, with the strongest victories of its members.
    """
    n = len(levels)
    if n == 1:
        return np.zeros((1, 2), dtype=np.int64)
    if high - low == 1:
        reaches = _closure(levels >= high).astype(np.float32)  # exact: fewer than 2^24 systems
        weights = sizes.astype(np.float32)
        return np.rint(np.column_stack([reaches @ weights, weights @ reaches])).astype(np.int64)
    if n <= _LEAF:
        path = strongest_paths(np.clip(levels, low, high))
        return np.column_stack([(path > path.T) @ sizes, (path < path.T) @ sizes])
    middle = (low + high) // 2
    label = strong_components(levels >= middle)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    groups = np.split(order, starts[1:])
    counts = np.zeros((n, 2), dtype=np.int64)
    for group in groups:
        if len(group) > 1:
            inside = levels if len(groups) == 1 else levels[np.ix_(group, group)]
            counts[group] = _component_counts(inside, sizes[group], middle, high)
    if len(groups) > 1:
        merged = levels[np.ix_(order, order)]
        if len(groups) < n:
            merged = np.maximum.reduceat(merged, starts, axis=0)
            merged = np.maximum.reduceat(merged, starts, axis=1)
            np.fill_diagonal(merged, 0)
        merged_sizes = np.add.reduceat(sizes[order], starts)
        counts[order] += np.repeat(
            _component_counts(merged, merged_sizes, low, middle), [len(group) for group in groups], axis=0
        )
    return counts


def _closure(edges: BoolArray) -> BoolArray:
    """Return who reaches whom along the edges of an acyclic graph: O(n^3 / 8) bytes at most.

    From the last vertex to the first, each reaches its successors and what they reach, kept as bits.
    """
    n = len(edges)
    order = topological_order(edges)
    sorted_edges = edges[np.ix_(order, order)]
    bytes_a_row = (n + 63) // 64 * 8
    reaches = np.zeros((n, bytes_a_row), dtype=np.uint8)
    reaches[:, : (n + 7) // 8] = np.packbits(sorted_edges, axis=1)
    words = reaches.view(np.uint64)
    for k in range(n - 2, -1, -1):
        successors = np.flatnonzero(sorted_edges[k])
        if successors.size:
            words[k] |= np.bitwise_or.reduce(words[successors], axis=0)
    position = np.empty_like(order)
    position[order] = np.arange(n)
    return np.unpackbits(reaches, axis=1, count=n).view(bool)[np.ix_(position, position)]
