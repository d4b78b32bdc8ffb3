"""What each task gives each system under a rule on points, as exact fractions: for proofs about all weights.

`scores` are oriented and complete, of shape (n_systems, n_tasks), as are the points. `ties` is the convention for ties
within a task, a key of TIES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.core.task_order import TaskOrder, task_order


def mean(scores: FloatArray, ties: str) -> NDArray[Any]:
    """Each score itself, as the shortest decimal that denotes the float."""
    del ties
    return _fractions([[Fraction(Decimal(repr(x))) for x in row] for row in scores.tolist()], scores.shape)


def borda(scores: FloatArray, ties: str) -> NDArray[Any]:
    """n minus the position."""
    n = scores.shape[0]
    return _positional(scores, [Fraction(n - position) for position in range(1, n + 1)], ties)


def plurality(scores: FloatArray, ties: str) -> NDArray[Any]:
    """1 for the first position."""
    return _positional(scores, [Fraction(1), *[Fraction(0)] * (scores.shape[0] - 1)], ties)


def dowdall(scores: FloatArray, ties: str) -> NDArray[Any]:
    """1 / position."""
    return _positional(scores, [Fraction(1, position) for position in range(1, scores.shape[0] + 1)], ties)


def _positional(scores: FloatArray, vector: list[Fraction], ties: str) -> NDArray[Any]:
    """What each task gives each system under a convention for ties within a task, a key of TIES."""
    order: TaskOrder = task_order(scores)
    first, last = order.first.tolist(), order.last.tolist()
    totals = [Fraction(0)]
    for entry in vector:
        totals.append(totals[-1] + entry)
    given: Mapping[str, Callable[[int, int], Fraction]] = {
        "best": lambda a, _: vector[a],
        "worst": lambda _, b: vector[b],
        "average": lambda a, b: (totals[b + 1] - totals[a]) / (b - a + 1),
    }
    entry_of = given[ties]
    rows = [[entry_of(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(first, last, strict=True)]
    return _fractions(rows, scores.shape)


def _fractions(rows: list[list[Fraction]], shape: tuple[int, ...]) -> NDArray[Any]:
    table = np.empty(shape, dtype=object)
    for i, row in enumerate(rows):
        table[i, :] = row
    return table
