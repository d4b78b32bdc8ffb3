"""What a rule ranks: scored systems and voting tasks, with shared intermediate results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.ranking import Status
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.core.task_order import TaskOrder, task_order


class Profile:
    """A matrix of scored systems and voting tasks; rules that share a profile share its cached parts.

    `weights` are the tasks' weights, float64 of shape (n_tasks,): integers over `denominator` where
    these are exact in float64, else the weights themselves with `denominator` 1. `pairwise` is the matrix's
    comparison, where already known.
    """

    def __init__(self, matrix: ScoreMatrix, pairwise: Pairwise | None = None) -> None:
        if not (matrix.votes.all() and matrix.has_score.all()):
            raise ValueError("`matrix` must hold scored systems and voting tasks only; see ScoreMatrix.subset")
        self.matrix = matrix
        self._pairwise = pairwise
        self.scores: FloatArray = matrix.scores
        self.n_systems = matrix.n_systems
        self.n_tasks = matrix.n_tasks
        is_exact = matrix.integer_weights.dtype != object
        self.denominator = matrix.weight_denominator if is_exact else 1
        self.weights: FloatArray = (
            matrix.integer_weights.astype(np.float64) if is_exact else np.array([float(w) for w in matrix.weights])
        )

    @cached_property
    def order(self) -> TaskOrder:
        """The order that each task makes of the systems."""
        known = None if self._pairwise is None else self._pairwise.order
        return known or task_order(self.scores)

    @cached_property
    def pairwise(self) -> Pairwise:
        """Wins, margins and the majority relation."""
        return self._pairwise or Pairwise.of(self.matrix, self.order)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a rule returns: `scores` of the profile's systems (NaN = unranked), or why there are none.

    `winners` are stated by a rule that has others than the systems of the highest score; `reasons` say of single
    systems, by index, why they are unranked, where `reason` does not.
    """

    scores: FloatArray | None
    status: Status = "ranked"
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    winners: tuple[int, ...] | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskSum:
    """How the scores of a rule are sums over tasks.

    Attributes:
        contributions: of a Profile and the rule's options: what each task adds to each system's sum, weights included,
            shape (n_systems, n_tasks). Called where the rule gives a score. None where scores are missing and what a
            task adds to one system depends on which others its rivals have.
        name: what the sum is of a system.
        score: the rule's scores of the sums.
    """

    contributions: Callable[..., FloatArray | None]
    name: str = "score"
    score: Callable[[FloatArray], FloatArray] = np.array
