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
    cell = st.sampled_from([*cells, np.nan, np.nan] if gaps else cells)
    values = draw(st.lists(st.lists(cell, min_size=T, max_size=T), min_size=n, max_size=n))
    choices = [Fraction(2**60 + 1), Fraction(2**60), Fraction(1, 7), Fraction(0)] if huge_weights else WEIGHTS
    weights = draw(st.lists(st.sampled_from(choices), min_size=T, max_size=T).filter(any))
    directions = draw(st.lists(st.sampled_from([1, 1, 1, -1, -1, 0]), min_size=T, max_size=T))
    names = draw(st.lists(st.sampled_from([None, None, "g", "h"]), min_size=T, max_size=T)) if groups else None
    scale = draw(_scales(T)) if scales else {}
    return ScoreMatrix(values, weights=weights, directions=directions, groups=names, **scale)


@st.composite
def _scales(draw, T):
    bounds = st.lists(st.sampled_from([0.0, 1.0, 4.0, 4.0, None]), min_size=T, max_size=T)
    chance = st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=T, max_size=T)
    if draw(st.booleans()):  # every scale makes sense
        bounds = st.just([0.0] * T), st.just([4.0] * T)
    else:
        bounds = bounds, bounds
    return {
        "minimum": draw(bounds[0]),
        "maximum": draw(bounds[1]),
        "chance": draw(chance),
        "gamma": draw(st.sampled_from([None, 1.5, 3.0])),
    }
