"""Choice sets of the majority relation. Only systems with a score on a voting task are members or rivals.

A pair without a common voting task has margin 0: neither beats the other. A weak title may rest on such
pairs; `Pairwise.rivals_without_common_task` counts them for each system.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.score_matrix import ScoreMatrix

UNCOVERED_VARIANTS = ("mckelvey", "gillies")


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


def schwartz_set(source: ScoreMatrix | Pairwise) -> tuple[int, ...]:
    """Return the union of the smallest sets of systems that no one outside beats (Schwartz 1972).

    A system belongs to it if it can reach, along a chain of "beats", every system that can reach it. The
    smallest such sets are the strong components of the majority relation that no other component beats;
    without drawn pairs their union is the Smith set, in which it always lies. O(n^2) after a search of components.
    """
    members = np.array(smith_set(source), dtype=np.intp)
    beats, systems = _majority(source)
    inside = beats[np.ix_(*[np.searchsorted(systems, members)] * 2)]
    label = strong_components(inside)
    from_outside = inside & (label[:, None] != label)
    is_beaten = np.zeros(len(members) + 1, dtype=bool)
    is_beaten[label[from_outside.any(axis=0)]] = True
    return tuple(int(i) for i in members[~is_beaten[label]])


def uncovered_set(source: ScoreMatrix | Pairwise, *, variant: str = "mckelvey") -> tuple[int, ...]:
    """Return the systems that no other covers.

    x covers y if x beats y and, by `variant`,
    `gillies`: every system that beats x beats y as well (Gillies 1959);
    `mckelvey`: that, and x beats every system that y beats (McKelvey 1986).
    Without drawn pairs the two agree. Members of the Smith set cover everything outside it and are covered by
    members alone, so only they are compared, by one or two matrix products: O(size of the Smith set cubed).
    """
    if variant not in UNCOVERED_VARIANTS:
        raise ValueError(f"`variant` is {variant!r}; expected one of {', '.join(UNCOVERED_VARIANTS)}")
    members = np.array(smith_set(source), dtype=np.intp)
    beats, systems = _majority(source)
    inside = beats[np.ix_(*[np.searchsorted(systems, members)] * 2)]
    beaten, spared = inside.T.astype(np.float32), (~inside).astype(np.float32)
    covers = inside & (beaten @ spared == 0)  # no z beats x without beating y: exact counts, below 2^24
    if variant == "mckelvey":
        covers &= spared @ beaten == 0  # no z is beaten by y and not by x
    return tuple(int(i) for i in members[~covers.any(axis=0)])


def strong_components(edges: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the strong component of each vertex, numbered from 0; `edges[i, j]`: there is an edge from i to j."""
    if len(edges) < 2:
        return np.zeros(len(edges), dtype=np.int32)
    from scipy.sparse import csr_array  # noqa: PLC0415 -- slow import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 -- slow import

    graph: Any = csr_array(edges)
    _, label = connected_components(graph, connection="strong")
    return label


def topological_order(edges: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Order the vertices of an acyclic graph so that edges lead to later ones, by index among those then free."""
    n_before = edges.sum(axis=0)
    free = np.flatnonzero(n_before == 0)
    layers = []
    while free.size:
        layers.append(free)
        n_before[free] = -1
        n_before -= edges[free].sum(axis=0)
        free = np.flatnonzero(n_before == 0)
    return np.concatenate(layers)


def _majority(source: ScoreMatrix | Pairwise) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    pairwise = source if isinstance(source, Pairwise) else Pairwise.of(source)
    systems = np.flatnonzero(pairwise.scored)
    beats = pairwise.beats
    return (beats if len(systems) == len(beats) else beats[np.ix_(systems, systems)]), systems
