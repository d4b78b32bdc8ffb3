"""One rule's ranking, system by system: what the API answers and files hold."""

import math
from typing import Any

import numpy as np

from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.columns import Column
from leaderboard.services.significance import Separability


def number(value: float) -> float | None:
    """A figure; None where it is none."""
    return float(value) if math.isfinite(value) else None


def rank_rows(
    column: Column, systems: list[BoardSystem], told_apart: Separability | None = None
) -> list[dict[str, Any]]:
    """Every system under a rule: best first, equals by key, unranked ones last.

    With `told_apart` each says between which ranks it cannot be told apart from others.
    """
    order = sorted(
        range(len(systems)), key=lambda i: (column.ranks[i] < 1, int(column.ranks[i]), systems[i].key)
    )
    rows = [rank_row(column, i, systems[i]) for i in order]
    if told_apart is None:
        return rows
    return [row | {"inseparable": told_apart.ranks_of(i)} for i, row in zip(order, rows, strict=True)]


def rank_row(column: Column, i: int, system: BoardSystem) -> dict[str, Any]:
    """One system under a rule; `reason` says why it has no rank."""
    rank = int(column.ranks[i]) if column.ranks[i] >= 1 else None
    return {
        "system": system.key,
        "name": system.name,
        "rank": rank,
        "score": number(column.scores[i]),
        "interval": _interval(column.lower, column.upper, i) if rank else None,
        "simultaneous_interval": _interval(column.simultaneous_lower, column.simultaneous_upper, i) if rank else None,
        "possibly_best": bool(column.possibly_best[i]) if rank and column.possibly_best is not None else None,
        "reason": None if rank else column.reason_of(i),
    }


def _interval(lower: np.ndarray | None, upper: np.ndarray | None, i: int) -> list[int] | None:
    if lower is None or upper is None or lower[i] < 1:
        return None
    return [int(lower[i]), int(upper[i])]
