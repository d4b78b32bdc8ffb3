"""Orders of the systems of one component: all of them where there are few, good ones where there are many.

`margins[i, j]` is how much more weight prefers i to j than j to i, an integer. The excess of an order is the
sum of the margins that it contradicts: of margins[j, i] over the pairs in which i is placed above j although
j beats i. An order has the least Kendall distance if and only if it has the least excess.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Margins = NDArray[Any]
Order = NDArray[np.intp]

MAX_EXACT = 13  # systems whose 2^n subsets are gone through
MOST_ADDED = 2.0**62
_RESTARTS = 24
_MOVED_SHARE = 0.1


def addable(integers: Margins) -> Margins:
    """Return `integers`, as Python's own where the sum of their sizes may be beyond 64 bits."""
    is_small = integers.dtype == object or np.abs(integers).sum(dtype=np.float64) < MOST_ADDED
    return integers if is_small else integers.astype(object)


def excess_of(margins: Margins, order: Order) -> int:
    """Return the sum of the margins that `order` contradicts."""
    sorted_margins = margins[np.ix_(order, order)]
    contradicted = np.triu(sorted_margins < 0, 1)
    return -sum(sorted_margins[contradicted].tolist())


@dataclass(frozen=True, eq=False)
class AllOrders:
    """The best of all orders.

    Attributes:
        order: of the orders with the least excess, the first by index.
        excess: the least excess.
        n_best: how many orders have it.
        firsts: the systems that are first in one of these.
    """

    order: Order
    excess: int
    n_best: int
    firsts: tuple[int, ...]


def best_of_all(margins: Margins) -> AllOrders:
    """Find the least excess of every subset, smallest subsets first (Betzler et al. 2009): O(2^n n).

    least[S] = min over v in S of least[S - v] + the margins by which members of S - v beat v.
    """
    k = len(margins)
    dtype = margins.dtype if margins.dtype == object else np.int64
    lost = np.where(margins.T > 0, margins.T, 0).astype(dtype)  # lost[v, u]: by how much u beats v
    above_all = np.zeros((k, 1 << k), dtype=dtype)  # [v, S]: the cost of v above all of S
    for u in range(k):
        above_all[:, 1 << u : 2 << u] = above_all[:, : 1 << u] + lost[:, u, None]
    least = np.zeros(1 << k, dtype=dtype)
    n_best = np.zeros(1 << k, dtype=np.int64)
    n_best[0] = 1
    for subsets, members, rests in _layers(k):
        excess = least[rests] + above_all[members, rests]
        least[subsets] = excess.min(axis=1)
        n_best[subsets] = np.where(excess == least[subsets][:, None], n_best[rests], 0).sum(axis=1)
    firsts = _best_firsts((1 << k) - 1, above_all, least)
    order, subset = [], len(least) - 1
    while subset:
        order.append(_best_firsts(subset, above_all, least)[0])
        subset ^= 1 << order[-1]
    return AllOrders(np.array(order, dtype=np.intp), int(least[-1]), int(n_best[-1]), tuple(firsts))


@lru_cache(maxsize=MAX_EXACT + 1)
def _layers(k: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Return the subsets of k systems by size, from 1 on: each with its members, and what is left without each."""
    every = np.arange(1 << k)
    has = (every[:, None] >> np.arange(k)) & 1 == 1
    sizes = has.sum(axis=1)
    layers = []
    for size in range(1, k + 1):
        subsets = np.flatnonzero(sizes == size)
        members = np.nonzero(has[subsets])[1].reshape(-1, size)
        layers.append((subsets, members, subsets[:, None] ^ (1 << members)))
    return layers


def _best_firsts(subset: int, above_all: Margins, least: Margins) -> list[int]:
    members = [v for v in range(len(above_all)) if subset >> v & 1]
    rests = [subset ^ (1 << v) for v in members]
    return [v for v, rest in zip(members, rests, strict=True) if least[rest] + above_all[v, rest] == least[subset]]


def improved(margins: Margins, order: Order) -> tuple[Order, int]:
    """Move one system at a time to its best place until none gains; return the order and the passes made.

    A pass goes through the systems as `order` names them. What v gains by leaving its place for another is a difference
    of sums of its margins over the systems in the order; all systems' sums are taken at once, O(n^2) a move, and those
    before the next one that gains are passed over.
    """
    n = len(order)
    current, every = order.copy(), np.arange(n)
    of_named = margins[order]
    sums = np.zeros((n, n + 1), dtype=margins.dtype)
    n_passes, has_moved, start = 0, True, n
    while has_moved or start < n:
        if start == n:
            start, has_moved, n_passes = 0, False, n_passes + 1
        np.cumsum(of_named[:, current], axis=1, out=sums[:, 1:])
        place = np.empty(n, dtype=np.intp)
        place[current] = every
        target = sums[start:].argmin(axis=1)
        gains = sums[start + every[: n - start], target] < sums[start + every[: n - start], place[order[start:]]]
        k = int(gains.argmax())
        if not gains[k]:
            start = n
            continue
        v, has_moved = order[start + k], True
        current = _moved(current, place[v], target[k] - (target[k] > place[v]))
        start += k + 1
    return current, n_passes


def _moved(order: Order, source: int, target: int) -> Order:
    """Take the system at `source` out, and put it in where it has the place `target`."""
    moved = order.copy()
    if source < target:
        moved[source:target] = order[source + 1 : target + 1]
    else:
        moved[target + 1 : source + 1] = order[target:source]
    moved[target] = order[source]
    return moved


def searched(margins: Margins, order: Order, floor: int) -> tuple[Order, int]:
    """Improve `order`, then shaken copies of the best, until the excess is `floor` or the restarts are used up.

    The shaking is seeded, so that the result depends on margins and order alone.
    """
    best, n_passes = improved(margins, order)
    least = excess_of(margins, best)
    generator = np.random.default_rng(0)
    for _ in range(_RESTARTS):
        if least <= floor:
            break
        n = len(best)
        places = best.copy()
        for _ in range(max(3, round(_MOVED_SHARE * n))):
            source, target = generator.integers(n, size=2)
            places = _moved(places, source, target)
        shaken, more = improved(margins, places)
        n_passes += more
        excess = excess_of(margins, shaken)
        if excess <= least:
            best, least = shaken, excess
    return best, n_passes
