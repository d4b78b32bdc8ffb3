"""Choice sets of the majority relation. Only systems with a score on a voting task are members or rivals.

A pair without a common voting task has margin 0: neither beats the other. A weak title may rest on such
pairs; `Pairwise.rivals_without_common_task` counts them for each system.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.pairwise import Pairwise
from ranking_engine.score_matrix import ScoreMatrix


def condorcet_winner(source: ScoreMatrix | Pairwise) -> int | None:
    """Return the system that beats every other, if there is one."""
    beats, systems = _majority(source)
    full = np.flatnonzero(beats.sum(axis=1) == len(systems) - 1)
    return int(systems[full[0]]) if full.size else None


def condorcet_loser(source: ScoreMatrix | Pairwise) -> int | None:
    """Return the system that every other beats, if there is one (and there is another)."""
    beats, systems = _majority(source)
    full = np.flatnonzero(beats.sum(axis=0) == len(systems) - 1)
    return int(systems[full[0]]) if full.size and len(systems) > 1 else None


def weak_condorcet_winners(source: ScoreMatrix | Pairwise) -> tuple[int, ...]:
    """Return the systems that no other beats."""
    beats, systems = _majority(source)
    return tuple(int(i) for i in systems[~beats.any(axis=0)])


def smith_set(source: ScoreMatrix | Pairwise) -> tuple[int, ...]:
    """Return the smallest set of systems each of which beats every system outside it.

    Its members have strictly larger Copeland scores than the others, so it is a prefix of the systems
    sorted by Copeland score: the shortest one that beats everything after it. O(n^2).
    """
    beats, systems = _majority(source)
    n = len(systems)
    if not n:
        return ()
    copeland = beats.sum(axis=1) - beats.sum(axis=0)
    order = np.argsort(-copeland, kind="stable")
    unbeaten = ~beats[np.ix_(order, order)]
    last_unbeaten = n - 1 - unbeaten[:, ::-1].argmax(axis=1)  # at least i itself, on the diagonal
    reach = np.maximum.accumulate(last_unbeaten)
    size = int(np.flatnonzero(reach == np.arange(n))[0]) + 1
    return tuple(sorted(int(i) for i in systems[order[:size]]))


def _majority(source: ScoreMatrix | Pairwise) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    pairwise = source if isinstance(source, Pairwise) else Pairwise.of(source)
    systems = np.flatnonzero(pairwise.scored)
    beats = pairwise.beats
    return (beats if len(systems) == len(beats) else beats[np.ix_(systems, systems)]), systems
