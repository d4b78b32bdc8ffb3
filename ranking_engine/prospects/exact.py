"""From a solver's floats to fractions that hold exactly.

Nothing here trusts a float: candidates are proposed by rounding, by simple fractions and by solving the equations
that seem to hold, and each is verified in integers by the person who asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import EXACT_FLOAT, FloatArray

Integers = NDArray[Any]

SUPPORT = 1e-8  # shares below it are taken for zero
_SIMPLE = np.arange(1, 1001, dtype=np.float64)  # denominators at which a vertex is looked for
_SIMPLE_ERROR = 1e-7
FINE = 10**9  # the denominator of a plain rounding


def product(rows: Integers, vector: Sequence[int], most: int) -> Integers:
    """Return rows @ vector exactly; in float64 where every partial sum is an integer below 2^53.

    No entry of `rows` is further from 0 than `most`; `vector` holds no negative number.
    """
    if rows.dtype != object and most * sum(vector) < EXACT_FLOAT:
        return rows.astype(np.float64, copy=False) @ np.array(vector, dtype=np.float64)
    support = [k for k, entry in enumerate(vector) if entry]
    if not support:
        return np.zeros(rows.shape[0], dtype=object)
    columns = rows[:, support]
    if columns.dtype != object:
        columns = columns.astype(np.int64).astype(object)
    return columns @ np.array([int(vector[k]) for k in support], dtype=object)


def simple_fractions(shares: FloatArray) -> tuple[int, ...] | None:
    """Return integers of which `shares` are the shares, if a common denominator up to 1000 explains them."""
    support = np.flatnonzero(shares > SUPPORT)
    scaled = np.multiply.outer(_SIMPLE, shares[support])
    integers = np.rint(scaled)
    fits = (np.abs(scaled - integers).max(axis=1, initial=0) <= _SIMPLE_ERROR) & (integers.sum(axis=1) == _SIMPLE)
    if not support.size or not fits.any():
        return None
    numerators = [0] * len(shares)
    for k, value in zip(support.tolist(), integers[int(np.argmax(fits))].tolist(), strict=True):
        numerators[k] = int(value)
    return tuple(numerators)


def rounded(shares: FloatArray, denominator: int) -> tuple[int, ...]:
    """Return integers that sum to `denominator` and are nearest to the shares (largest remainders)."""
    positive = np.where(shares > SUPPORT, shares, 0.0)
    scaled = positive * (denominator / (positive.sum() or 1.0))
    floors = np.floor(scaled)
    short = denominator - int(floors.sum())
    order = np.argsort(floors - scaled, kind="stable")[: max(short, 0)]
    floors[order] += 1
    return tuple(floors.astype(np.int64).tolist())


def positive_shares(names: Sequence[str], numerators: Sequence[int]) -> dict[str, Fraction]:
    """Return the positive ones of the integers divided by their sum, by name."""
    total = sum(numerators)
    return {name: Fraction(value, total) for name, value in zip(names, numerators, strict=True) if value}


def as_shares(numerators: Sequence[int]) -> list[Fraction]:
    """Return the integers divided by their sum."""
    total = sum(numerators)
    return [Fraction(value, total) for value in numerators]


def as_numerators(shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Return the shares as integers over their least common denominator."""
    denominator = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * denominator) for share in shares)
