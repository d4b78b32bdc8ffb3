"""Linear equations solved exactly, in integers: Gauss-Jordan elimination on rows of coprime integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

Equation = tuple[Sequence[Fraction | int], Fraction | int]  # coefficients of the unknowns, right-hand side

_MAX_UNKNOWNS = 200  # of a system of equations: its time grows with the cube, its numbers with their count
_MAX_EQUATIONS = 400


def solve_equations(equations: Sequence[Equation], approximate: Sequence[float]) -> list[Fraction] | None:
    """Solve linear equations exactly, near an approximate solution; None where they contradict each other.

    Unknowns that the equations leave free take their approximate value, rounded.

    Args:
        equations: the coefficients of each, one an unknown, and the right-hand side.
        approximate: a solution in floats.
    """
    n = len(approximate)
    if n > _MAX_UNKNOWNS or len(equations) > _MAX_EQUATIONS:
        return None
    rows = []
    for coefficients, right in equations:
        entries = [*coefficients, right]
        denominator = math.lcm(*(Fraction(entry).denominator for entry in entries))
        rows.append([int(entry * denominator) for entry in entries])
    pivots = _reduced(rows, n, key=lambda k: abs(approximate[k]))
    if pivots is None:
        return None
    free = [k for k in range(n) if k not in pivots]
    values = {k: Fraction(approximate[k]).limit_denominator(10**6) for k in free}
    for k, row in pivots.items():
        known = sum((row[f] * values[f] for f in free if row[f]), Fraction(0))
        values[k] = (row[n] - known) / row[k]
    return [values[k] for k in range(n)]


def kernel(rows: Iterable[Sequence[int]], n: int) -> list[list[int]]:
    """Return a basis of all x with row @ x = 0 for every row of `n` integers; empty where only 0 is one."""
    pivots = _reduced([[*row, 0] for row in rows], n, key=lambda k: -k) or {}
    basis = []
    for free in (k for k in range(n) if k not in pivots):
        scale = math.lcm(*(row[k] for k, row in pivots.items()))
        vector = [0] * n
        vector[free] = scale
        for k, row in pivots.items():
            vector[k] = -row[free] * scale // row[k]
        basis.append(_divided(vector))
    return basis


def _reduced(rows: Iterable[list[int]], n: int, key: Callable[[int], float]) -> dict[int, list[int]] | None:
    """Return the rows, of `n` coefficients and a right-hand side, by pivot; None where they contradict each other.

    No row has an entry at the pivot of another one. Of the places where a row has an entry, the one of the highest
    `key` becomes its pivot.
    """
    pivots: dict[int, list[int]] = {}
    for given in rows:
        row = _divided(given)
        for k, other in pivots.items():
            if row[k]:
                row = _eliminated(row, other, k)
        candidates = [k for k in range(n) if row[k]]
        if not candidates:
            if row[n]:
                return None
            continue
        pivot = max(candidates, key=key)
        for k, other in pivots.items():
            if other[pivot]:
                pivots[k] = _eliminated(other, row, pivot)
        pivots[pivot] = row
    return pivots


def _divided(row: list[int]) -> list[int]:
    divisor = math.gcd(*row)
    return [entry // divisor for entry in row] if divisor > 1 else row


def _eliminated(row: list[int], by: list[int], k: int) -> list[int]:
    a, b = by[k], row[k]
    return _divided([a * x - b * y for x, y in zip(row, by, strict=True)])
