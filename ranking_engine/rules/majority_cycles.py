"""Cycles of the majority relation: systems each of which beats the next one, and the last one the first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.score_matrix import ScoreMatrix

Cycle = tuple[int, ...]


def shortest_cycles(source: ScoreMatrix | Pairwise, most: int | None = None) -> tuple[Cycle, ...]:
    """Return for every system that is on a cycle of the majority relation a shortest one.

    Of several shortest ones it is the first in the order of indices. A cycle begins with its least index; one that is
    the shortest of several systems is listed once. Short ones come first, then by index.

    Args:
        source: the scores, or the comparison of their systems. Pairs without a common task are drawn.
        most: how many cycles at most; all by default.

    A search in layers from every system: O(n_systems^3), in practice O(n_systems^2) each.
    """
    pairwise = source if isinstance(source, Pairwise) else Pairwise.of(source)
    beats = pairwise.beats
    cycles = set()
    for start in np.flatnonzero(beats.any(axis=0) & beats.any(axis=1)).tolist():
        cycle = _shortest_cycle_through(beats, start)
        if cycle:
            first = cycle.index(min(cycle))
            cycles.add((*cycle[first:], *cycle[:first]))
    return tuple(sorted(cycles, key=lambda cycle: (len(cycle), cycle))[:most])


def _shortest_cycle_through(beats: NDArray[np.bool_], start: int) -> Cycle:
    """Return a shortest cycle through a system, from it onwards; nothing where there is none."""
    before = np.full(len(beats), -1)
    before[start] = start
    layer = np.array([start])
    while layer.size:
        closing = layer[beats[layer, start]]
        if closing.size:
            place, backwards = int(closing[0]), []
            while place != start:
                backwards.append(place)
                place = int(before[place])
            return (start, *reversed(backwards))
        new = np.flatnonzero(beats[layer].any(axis=0) & (before < 0))
        before[new] = layer[beats[np.ix_(layer, new)].argmax(axis=0)]
        layer = new
    return ()
