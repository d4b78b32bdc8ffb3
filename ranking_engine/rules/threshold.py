"""The threshold rule: the best system is the one that is least often placed low.

Aleskerov, Chistyakov and Kalyagin 2010, The threshold aggregation; Rofin et al. 2023, Vote'n'Rank, section 2.2.2.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile

_INT64_SAFE = 2**62
DETAILED_SYSTEMS = 300  # the vectors of more systems are not listed


class _Cells(NamedTuple):
    """The entries other than 0 of a table (systems, positions 0 to n), sorted by system, then position."""

    system: NDArray[np.int64]
    position: NDArray[np.int64]
    amount: NDArray[Any]  # integers over `denominator`
    denominator: int


def threshold(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Rank by the weights at positions n, n - 1, ..., 2, compared lexicographically, less is better.

    The score is minus the rank. `details` holds each system's weights by position, the last position first
    and those other than 0 only, for up to 300 systems. O(n_systems n_tasks log) and exact.
    """
    order, weights, n = profile.order, profile.matrix.integer_weights, profile.n_systems
    if ties == "average":
        # The weight at each position minus that at the next one, where tied systems share positions: such steps have
        # the lexicographic order of the weights, and a tie block of any size makes but two.
        size = order.last - order.first + 1
        common = math.lcm(*np.unique(size).tolist())
        is_small = common * int(weights.sum()) < 2**62
        shares = weights.astype(np.int64 if is_small else object) * (common // size.astype(weights.dtype))
        cells = _summed(np.hstack([order.last + 1, order.first]), np.hstack([shares, -shares]), common)
    else:
        positions = (order.first if ties == "best" else order.last) + 1
        cells = _summed(positions, np.broadcast_to(weights, positions.shape), 1)
    details: dict[str, Any] = {}
    if n <= DETAILED_SYSTEMS:
        unit = cells.denominator * profile.matrix.weight_denominator
        details["weights_by_position"] = _listed(profile, cells, unit, is_steps=ties == "average")
    # Rows of integers, one per system, in the same lexicographic order as the rows of the table. Reading from the last
    # position on, the next entry of a row is compared with 0 wherever the other row has its own further on: a positive
    # one is worse the further back it is, a negative one better.
    size = np.abs(cells.amount)
    if (n + 1) * (int(size.max()) + 1) >= _INT64_SAFE:  # only the order of the sizes matters
        size = np.unique(size, return_inverse=True)[1] + 1
    sign = np.where(np.asarray(cells.amount > 0, dtype=bool), 1, -1)
    counts = np.bincount(cells.system, minlength=n)
    column = (np.cumsum(counts) - 1)[cells.system] - np.arange(len(cells.system))
    keys = np.zeros((n, int(counts.max())), dtype=np.int64)
    keys[cells.system, column] = sign * (cells.position * (int(size.max()) + 1) + size)
    by_keys = np.lexsort(keys.T[::-1])
    ascending = keys[by_keys]
    opens = np.ones(n, dtype=bool)
    opens[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    scores = np.empty(n)
    scores[by_keys] = -np.maximum.accumulate(np.where(opens, np.arange(1, n + 1), 0))
    return Outcome(scores, details=details)


def _summed(positions: NDArray[Any], amounts: NDArray[Any], denominator: int) -> _Cells:
    """Add up the amounts of each system (row) at equal positions."""
    n, width = positions.shape
    order = np.argsort(positions, axis=1) + np.arange(n)[:, None] * width
    position, amount = positions.ravel()[order], amounts.ravel()[order]
    opens = np.ones((n, width), dtype=bool)
    opens[:, 1:] = position[:, 1:] != position[:, :-1]
    sums = np.add.reduceat(amount.ravel(), opens.ravel().nonzero()[0])
    kept = np.asarray(sums != 0, dtype=bool)
    system = opens.nonzero()[0][kept]
    return _Cells(system, position[opens][kept].astype(np.int64), sums[kept], denominator)


def _listed(profile: Profile, cells: _Cells, unit: int, *, is_steps: bool) -> dict[str, dict[int, float]]:
    """Return each system's weights at the positions n to 2, without zeros."""
    n = profile.n_systems
    system, position, amount = cells.system, cells.position, cells.amount
    if is_steps:
        table = np.zeros((n, n + 1), dtype=amount.dtype)
        table[system, position] = amount
        table = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
        system, position = np.nonzero(table)
        amount = table[system, position]
    kept = (position > 1).nonzero()[0][::-1]  # backwards, so that each system's last position comes first
    positions, amount = position[kept].tolist(), amount[kept]
    weights = [int(w) / unit for w in amount] if amount.dtype == object else (amount / unit).tolist()
    ends = np.cumsum(np.bincount(system[kept], minlength=n)[::-1]).tolist()
    given = [
        dict(zip(positions[begin:end], weights[begin:end], strict=True))
        for begin, end in itertools.pairwise([0, *ends])
    ]
    return dict(zip(profile.matrix.system_names, reversed(given), strict=True))
