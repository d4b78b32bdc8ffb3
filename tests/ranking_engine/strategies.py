"""Hypothesis strategies: small matrices with everything that can go wrong in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from ranking_engine import ScoreMatrix

WEIGHTS = [
    Fraction(1),
    Fraction(1),
    Fraction(0),
    Fraction(2),
    Fraction(1, 13),
    Fraction(1, 3),
    Fraction(1, 10),
]
VALUES = [0.0, 1.0, 2.0, 3.0, -1.5, -0.0]


def drawn(draw, choices, size):
    """A list of so many of the choices, six at a time as the digits of one number: each by itself takes much longer."""
    picked = []
    while len(picked) < size:
        n_digits = min(6, size - len(picked))
        number = draw(st.integers(0, len(choices) ** n_digits - 1))
        picked += [choices[number // len(choices) ** k % len(choices)] for k in range(n_digits)]
    return picked


@st.composite
def matrices(
    draw,
    max_systems=5,
    min_tasks=1,
    max_tasks=5,
    gaps=True,
    huge_weights=False,
    groups=False,
    cells=VALUES,
    scales=False,
):
    n = draw(st.integers(1, max_systems))
    T = draw(st.integers(min_tasks, max_tasks))
    values = [drawn(draw, [*cells, np.nan, np.nan] if gaps else cells, T) for _ in range(n)]
    choices = [Fraction(2**60 + 1), Fraction(2**60), Fraction(1, 7), Fraction(0)] if huge_weights else WEIGHTS
    weights = drawn(draw, choices, T)
    if not any(weights):
        weights[0] = choices[0]
    directions = drawn(draw, [1, 1, 1, -1, -1, 0], T)
    names = drawn(draw, [None, None, "g", "h"], T) if groups else None
    scale = draw(_scales(T)) if scales else {}
    return ScoreMatrix(values, weights=weights, directions=directions, groups=names, **scale)


@st.composite
def _scales(draw, T):
    bounds = [0.0, 1.0, 4.0, 4.0, None]
    has_scales = draw(st.booleans())  # every scale makes sense
    minimum, maximum = ([0.0] * T, [4.0] * T) if has_scales else (drawn(draw, bounds, T), drawn(draw, bounds, T))
    return {
        "minimum": minimum,
        "maximum": maximum,
        "chance": drawn(draw, [0.5, 1.0, 2.0], T),
        "gamma": draw(st.sampled_from([None, 1.5, 3.0])),
    }
