"""The order that each task makes of the systems: positions, tie blocks and dense places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class TaskOrder:
    """How task t orders the systems; every array has shape (n_systems, n_tasks).

    Attributes:
        first: `first[i, t]` is the first position, from 0, that the tie block of i occupies: the number
            of systems strictly above i. -1 where the score is missing.
        last: the last position of that block; -1 where the score is missing.
        place: the number of distinct scores above i's, plus 1: equal for tied systems, without gaps;
            0 where the score is missing.
        systems: `systems[k, t]` is the system at position k, those without a score last.
    """

    first: IntArray
    last: IntArray
    place: IntArray
    systems: NDArray[np.intp]


def task_order(scores: FloatArray) -> TaskOrder:
    """Order the systems by each column of `scores` (oriented; NaN = missing); equal scores tie."""
    by_task = np.ascontiguousarray(scores.T)
    T, n = by_task.shape
    systems = np.argsort(-by_task, axis=1, kind="stable")
    order = systems + np.arange(0, T * n, n)[:, None]  # indices of the flat array
    descending = by_task.ravel()[order]
    opens = np.ones(by_task.shape, dtype=bool)  # the sorted entry opens a tie block
    opens[:, 1:] = descending[:, 1:] != descending[:, :-1]
    closes = np.ones(by_task.shape, dtype=bool)
    closes[:, :-1] = opens[:, 1:]
    index = np.arange(n, dtype=np.int32)
    first = np.maximum.accumulate(np.where(opens, index, 0), axis=1)
    last = np.minimum.accumulate(np.where(closes, index, n - 1)[:, ::-1], axis=1)[:, ::-1]
    place = np.cumsum(opens, axis=1, dtype=np.int32)
    missing = np.isnan(descending)
    return TaskOrder(
        first=_scattered(np.where(missing, -1, first), order),
        last=_scattered(np.where(missing, -1, last), order),
        place=_scattered(np.where(missing, 0, place), order),
        systems=systems.T,
    )


def average_task_ranks(scores: FloatArray) -> FloatArray:
    """Return the rank of each system on each task, 1 = best; tied ones share the average of their places.

    Args:
        scores: oriented, shape (n_systems, n_tasks), NaN = missing; equal scores tie.

    Returns:
        Shape (n_tasks, n_systems), NaN where the score is missing.
    """
    order = task_order(scores)
    ranks = np.where(np.isnan(scores), np.nan, (order.first + order.last) / 2 + 1)
    return np.ascontiguousarray(ranks.T)


def _scattered(by_position: NDArray, order: NDArray) -> IntArray:
    by_system = np.empty(by_position.size, dtype=np.int32)
    by_system[order] = by_position
    return by_system.reshape(by_position.shape).T
