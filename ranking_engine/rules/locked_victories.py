"""Victories locked one after another, and the systems above and below each system along them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray

Levels = NDArray[np.unsignedinteger[Any]]
Victory = tuple[int, int]  # winner and loser

FEW_SYSTEMS = 500  # up to which paths through one more system at a time are found faster than in other ways


class Reach:
    """Who is above whom along locked victories: the bits of `below[i]` are the systems below i."""

    def __init__(self, n: int) -> None:
        self.below, self.above = [0] * n, [0] * n

    @classmethod
    def of(cls, is_above: BoolArray) -> Reach:
        """Return what a transitive relation says, `is_above[i, j]`: i is above j."""
        reach = cls(0)
        reach.below, reach.above = _row_bits(is_above), _row_bits(is_above.T)
        return reach

    def copy(self) -> Reach:
        """Return another one to go on from here."""
        other = Reach(0)
        other.below, other.above = self.below.copy(), self.above.copy()
        return other

    def add(self, i: int, j: int) -> None:
        """Put i above j: all at or above i are now above all at or below j."""
        upper, lower = self.above[i] | 1 << i, self.below[j] | 1 << j
        new_upper, new_lower = upper & ~self.above[j], lower & ~self.below[i]
        while new_upper:
            k = new_upper.bit_length() - 1
            self.below[k] |= lower
            new_upper ^= 1 << k
        while new_lower:
            k = new_lower.bit_length() - 1
            self.above[k] |= upper
            new_lower ^= 1 << k

    def open_victories(self, victories: Iterable[Victory]) -> list[Victory]:
        """Return the victories between systems of which neither is above the other yet."""
        below = self.below
        return [(i, j) for i, j in victories if not (below[i] >> j | below[j] >> i) & 1]

    def lock(self, victories: Iterable[Victory]) -> int:
        """Lock in, in this order, the victories that close no circle; return how many changed who is above whom."""
        below, n_locked = self.below, 0
        for i, j in victories:
            if not (below[i] >> j | below[j] >> i) & 1:
                self.add(i, j)
                n_locked += 1
        return n_locked

    def as_matrix(self) -> BoolArray:
        """`as_matrix()[i, j]`: i is above j."""
        n = len(self.below)
        rows = b"".join(bits.to_bytes((n + 7) // 8, "little") for bits in self.below)
        packed = np.frombuffer(rows, dtype=np.uint8).reshape(n, -1)
        return np.unpackbits(packed, axis=1, count=n, bitorder="little").view(bool)


def _row_bits(is_set: BoolArray) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(is_set, axis=1, bitorder="little")]


def locked_by_name(levels: Levels) -> tuple[BoolArray, bool]:
    """Return `below[i, j]`: i is above j, and whether the order of equal victories mattered.

    Systems are in the order of their names, in which equal victories are taken. That order mattered if and only if a
    victory that was possible before its level came is not when its turn comes, that is, if the possible victories of
    a level close a circle with those locked before.

    Victories stronger than the weakest of every circle close none: all of them are locked in at once, so that i is
    above j where its strongest path to j is stronger than that. The others are taken one after the other.
    """
    reach, decided_by_name, strongest_circle = Reach(len(levels)), False, int(levels.max(initial=0))
    if len(levels) <= FEW_SYSTEMS:
        path = strongest_paths(levels)
        strongest_circle = int(np.minimum(path, path.T).max(initial=0))
        reach = Reach.of(path > strongest_circle)
    below = reach.below
    for equal in victories_by_level(np.where(levels <= strongest_circle, levels, 0)):
        for i, j in reach.open_victories(equal):
            if below[j] >> i & 1:
                decided_by_name = True
            elif not below[i] >> j & 1:
                reach.add(i, j)
    return reach.as_matrix(), decided_by_name


def strongest_paths(levels: Levels) -> Levels:
    """Return the weakest level on the strongest path from i to j, 0 where none leads there: O(n^3).

    A path is a chain of victories. Paths pass through one more system at a time (Floyd 1962, Warshall 1962).

    Args:
        levels: the level of the victory of i over j, shape (n, n); 0 where i does not beat j.
    """
    path = levels.copy()
    through = np.empty_like(path)
    for k in range(len(path)):
        np.minimum(path[:, k, None], path[k], out=through)
        np.maximum(path, through, out=path)
    return path


def victories_by_level(levels: Levels) -> Iterator[list[Victory]]:
    """Yield the victories, winner and loser, of each level, the strongest level first, in the order of rows."""
    winner, loser = np.nonzero(levels)
    level = levels[winner, loser].astype(np.int64)
    order = np.argsort(-level, kind="stable")
    winner, loser, ends = winner[order], loser[order], np.flatnonzero(np.diff(level[order], append=0)) + 1
    start = 0
    for stop in ends.tolist():
        yield list(zip(winner[start:stop].tolist(), loser[start:stop].tolist(), strict=True))
        start = stop
