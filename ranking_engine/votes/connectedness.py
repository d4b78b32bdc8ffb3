"""Which systems votes can compare.

There is an edge from the winner of a vote to the loser, and both ways for a tie. Where edges lead from every system to
every other, strengths are finite (Ford 1957). Otherwise the strong components of that graph can be rated by themselves
only: of two components, either one has only ever won, so that no number says by how much it is better, or no chain of
votes leads from one to the other, and no vote says which of them is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray
from ranking_engine.rules.choice_sets import strong_components, topological_order
from ranking_engine.text.names import listed
from ranking_engine.votes.data import LOST, TIED, WON, Comparisons

SHOWN_COMPONENTS = 4


@dataclass(frozen=True, eq=False)
class Connectedness:
    """The components of systems that votes can compare.

    Attributes:
        labels: the component of each system, from 0; each before those that it has only won from.
        is_above: (n_components, n_components), whether a chain of wins leads from one component to another.
    """

    labels: NDArray[np.intp]
    is_above: BoolArray

    @classmethod
    def of(cls, comparisons: Comparisons) -> Connectedness:
        """Find the components of counts. O(n_systems^2), and O(n_components^2) a component."""
        edges = _win_edges(comparisons)
        tied = comparisons.table(comparisons.counts[TIED]) > 0
        edges |= tied | tied.T
        raw = strong_components(edges)
        n = int(raw.max(initial=-1)) + 1
        member = np.zeros((n, len(raw)), dtype=np.float32)
        member[raw, np.arange(len(raw))] = 1
        between = member @ edges.astype(np.float32) @ member.T > 0
        np.fill_diagonal(between, val=False)
        order = topological_order(between) if n else np.zeros(0, dtype=np.intp)
        number = np.empty(n, dtype=np.intp)
        number[order] = np.arange(n)
        above = between[np.ix_(order, order)]
        for k in range(n - 1, -1, -1):
            above[k] |= above[above[k]].any(axis=0)
        return cls(number[raw], above)

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.is_above)

    @property
    def largest(self) -> int:
        """The component with the most systems, the first of several."""
        return int(np.bincount(self.labels, minlength=1).argmax())

    @property
    def n_unordered(self) -> int:
        """The number of pairs of systems between which no chain of wins or ties leads, in neither direction."""
        sizes = np.bincount(self.labels, minlength=self.n_components)
        is_unordered = ~(self.is_above | self.is_above.T)
        np.fill_diagonal(is_unordered, val=False)
        return int(sizes @ is_unordered @ sizes) // 2

    def members(self, component: int) -> NDArray[np.intp]:
        """Return the systems of a component."""
        return np.flatnonzero(self.labels == component)

    def sentence(self, names: tuple[str, ...]) -> str:
        """Say what cannot be compared; empty where everything can."""
        if self.n_components < 2:
            return ""
        parts = [listed([names[i] for i in self.members(k)]) for k in range(min(self.n_components, SHOWN_COMPONENTS))]
        more = f"; and {self.n_components - SHOWN_COMPONENTS} more" if self.n_components > SHOWN_COMPONENTS else ""
        text = (
            f"the votes connect {self.n_components} groups of systems, not one: {'; '.join(parts)}{more}. Ratings "
            "compare systems of one group only: between groups, one side has won every vote, or there are none"
        )
        n = self.n_unordered
        return f"{text}. For {n:,} pairs of systems no chain of votes says which is better" if n else text


def _win_edges(comparisons: Comparisons) -> BoolArray:
    """Return (n_systems, n_systems), whether [i, j]: i has won a vote of positive weight from j."""
    won, lost = comparisons.counts[WON] > 0, comparisons.counts[LOST] > 0
    edges = np.zeros((comparisons.n_systems,) * 2, dtype=bool)
    edges[comparisons.first[won], comparisons.second[won]] = True
    edges[comparisons.second[lost], comparisons.first[lost]] = True
    return edges


def within_components(comparisons: Comparisons, connectedness: Connectedness) -> Comparisons:
    """Return the counts of pairs in one component, 0 for the others: these say nothing of finite strengths."""
    is_inside = connectedness.labels[comparisons.first] == connectedness.labels[comparisons.second]
    return comparisons.with_counts(comparisons.counts * is_inside)


def tie_problem(comparisons: Comparisons) -> str:
    """Say why a model with ties has no finite estimate on connected votes; empty where it has one.

    Strengths grow without end together with the tie parameter if and only if some strengths are such that every win is
    by at least 1 and every tie by at most 1, that is, unless a closed walk has more wins, all in its direction, than
    ties. A cycle of wins is one; otherwise longest walks decide, in O(n_systems^3) at most.
    """
    if not comparisons.counts.any():
        return "no vote is between two systems of one group"
    if not comparisons.counts[[WON, LOST]].any():
        return "all votes are ties"
    wins = _win_edges(comparisons)
    n = comparisons.n_systems
    if len(np.unique(strong_components(wins))) < n:
        return ""
    tied = comparisons.table(comparisons.counts[TIED]) > 0
    gains = np.where(wins, 1, np.where(tied | tied.T, -1, -(n + 1)))
    walks = np.zeros(n, dtype=np.int64)
    for _ in range(n + 1):
        longer = np.maximum(walks, (walks[:, None] + gains).max(axis=0))
        if (longer == walks).all():
            return "no circle of systems has more wins than ties, so that gaps and ties could grow without end together"
        walks = longer
    return ""
