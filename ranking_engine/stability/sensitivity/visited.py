"""The best of all perturbed rankings met: by discordant pairs, by tau-b and by the largest change of a rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray


@dataclass(frozen=True, eq=False)
class Met:
    """A perturbed ranking: its figures, what reached it, and its average ranks."""

    discordant: int
    tau_b_distance: float
    max_rank_change: float
    solution: NDArray[Any]
    ranks: FloatArray


@dataclass
class Visited:
    """The best rankings met, compared with `reference`, average ranks of n systems.

    discordant: the number of pairs strictly reversed; of equal ones the first met is kept, likewise below.
    tau_b_distance: (1 - tau-b) / 2; 0 where a ranking has no untied pair.
    max_rank_change: largest change of an average rank over n - 1.
    """

    reference: FloatArray
    most_discordant: Met = field(init=False)
    farthest: Met = field(init=False)
    most_moved: Met = field(init=False)
    n_visited: int = 0

    def __post_init__(self) -> None:
        self._order = np.sign(self.reference[:, None] - self.reference[None, :])
        self._untied = float(np.abs(self._order).sum())
        unmoved = Met(0, 0.0, 0.0, np.zeros(0), self.reference)
        self.most_discordant = self.farthest = self.most_moved = unmoved

    @property
    def n_pairs(self) -> int:
        """n (n - 1) / 2."""
        return len(self.reference) * (len(self.reference) - 1) // 2

    def visit(self, scores: FloatArray, solution: NDArray[Any]) -> Met:
        """Compare the ranking by `scores`, which `solution` gives, with the reference."""
        self.n_visited += 1
        ranks = average_ranks(ranks_of(scores[None])[0])
        order = np.sign(ranks[:, None] - ranks[None, :])
        balance = float((order * self._order).sum())
        both = float(np.abs(order * self._order).sum())
        scale = (self._untied * float(np.abs(order).sum())) ** 0.5
        moved = np.abs(ranks - self.reference).max(initial=0.0) / max(1, len(ranks) - 1)
        tau_b_distance = (1 - balance / scale) / 2 if scale else 0.0
        met = Met(round((both - balance) / 4), tau_b_distance, float(moved), solution, ranks)
        if met.discordant > self.most_discordant.discordant or not self.most_discordant.solution.size:
            self.most_discordant = met
        if met.tau_b_distance > self.farthest.tau_b_distance or not self.farthest.solution.size:
            self.farthest = met
        if met.max_rank_change > self.most_moved.max_rank_change or not self.most_moved.solution.size:
            self.most_moved = met
        return met

    def tau_b_distances(self, scores: FloatArray) -> FloatArray:
        """Return the `tau_b_distance` of every row of `scores`, shape (n_rankings, n); none of them is kept."""
        ranks = ranks_of(scores)
        order = np.sign(ranks[:, :, None] - ranks[:, None, :])
        balance = (order * self._order).sum(axis=(1, 2))
        scale = np.sqrt(self._untied * np.abs(order).sum(axis=(1, 2)))
        self.n_visited += len(scores)
        return np.where(scale > 0, (1 - balance / np.where(scale > 0, scale, 1.0)) / 2, 0.0)
