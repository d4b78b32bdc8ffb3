"""Rules on positions: a scoring vector says what each position on a task is worth.

A tied system's position depends on the convention: `best` and `worst` give every member of a tie block
the entry at the block's first or last position, `average` the mean of the entries the block occupies.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ranking_engine.profile import Outcome, Profile
from ranking_engine.score_matrix import FloatArray
from ranking_engine.task_order import TaskOrder

TIES: Mapping[str, str] = MappingProxyType(
    {
        "worst": "Systems tied on a task all take the worst position of their tie block.",
        "best": "Systems tied on a task all take the best position of their tie block.",
        "average": "Systems tied on a task share the points of the positions that they occupy.",
    }
)


def plurality(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Return the weight of the tasks on which each system is first (under `worst`, first alone)."""
    return Outcome(positional_scores(profile, plurality_vector(profile.n_systems), ties))


def borda(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Return sum_t w_t (n - position of i on t)."""
    return Outcome(positional_scores(profile, borda_vector(profile.n_systems), ties))


def plurality_vector(n: int) -> FloatArray:
    """1, 0, ..., 0."""
    return np.array([1.0, *[0.0] * (n - 1)])


def borda_vector(n: int) -> FloatArray:
    """n - 1, n - 2, ..., 0."""
    return np.arange(n - 1, -1, -1, dtype=np.float64)


def positional_scores(profile: Profile, vector: FloatArray, ties: str) -> FloatArray:
    """Return sum_t w_t `vector`[position of i on t]; exact where vector and weights are integers."""
    return points(profile.order, vector, ties) @ profile.weights / profile.denominator


def points(order: TaskOrder, vector: FloatArray, ties: str) -> FloatArray:
    """Return what each task gives each system, shape (n_systems, n_tasks); `vector` has an entry a position.

    Needs complete scores.
    """
    if ties == "best":
        return vector[order.first]
    if ties == "worst":
        return vector[order.last]
    if ties == "average":
        cumulative = np.concatenate([[0.0], np.cumsum(vector)])
        return (cumulative[order.last + 1] - cumulative[order.first]) / (order.last - order.first + 1)
    raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")
