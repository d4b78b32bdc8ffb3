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
Equation = tuple[Sequence[Fraction | int], Fraction | int]  # coefficients of the unknowns, right-hand side

SUPPORT = 1e-8  # shares below it are taken for zero
_SIMPLE = np.arange(1, 1001, dtype=np.float64)  # denominators at which a vertex is looked for
_SIMPLE_ERROR = 1e-7
FINE = 10**9  # the denominator of a plain rounding
_MAX_UNKNOWNS = 200  # of a system of equations: its time grows with the cube, its numbers with their count
_MAX_EQUATIONS = 400


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


def solve_equations(equations: Sequence[Equation], approximate: Sequence[float]) -> list[Fraction] | None:
    """Solve linear equations exactly, near an approximate solution; None where they contradict each other.

    Unknowns that the equations leave free take their approximate value, rounded. Gauss-Jordan elimination on rows
    of coprime integers.

    Args:
        equations: the coefficients of each, one an unknown, and the right-hand side.
        approximate: a solution in floats.
    """
    n = len(approximate)
    if n > _MAX_UNKNOWNS or len(equations) > _MAX_EQUATIONS:
        return None
    pivots: dict[int, list[int]] = {}
    for coefficients, right in equations:
        entries = [*coefficients, right]
        denominator = math.lcm(*(Fraction(entry).denominator for entry in entries))
        row = _divided([int(entry * denominator) for entry in entries])
        for k, other in pivots.items():
            if row[k]:
                row = _eliminated(row, other, k)
        candidates = [k for k in range(n) if row[k]]
        if not candidates:
            if row[n]:
                return None
            continue
        pivot = max(candidates, key=lambda k: abs(approximate[k]))
        for k, other in pivots.items():
            if other[pivot]:
                pivots[k] = _eliminated(other, row, pivot)
        pivots[pivot] = row
    free = [k for k in range(n) if k not in pivots]
    values = {k: Fraction(approximate[k]).limit_denominator(10**6) for k in free}
    for k, row in pivots.items():
        known = sum((row[f] * values[f] for f in free if row[f]), Fraction(0))
        values[k] = (row[n] - known) / row[k]
    return [values[k] for k in range(n)]


def _divided(row: list[int]) -> list[int]:
    divisor = math.gcd(*row)
    return [entry // divisor for entry in row] if divisor > 1 else row


def _eliminated(row: list[int], by: list[int], k: int) -> list[int]:
    a, b = by[k], row[k]
    return _divided([a * x - b * y for x, y in zip(row, by, strict=True)])
