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
def matrices(draw, max_systems=5, min_tasks=1, max_tasks=5, gaps=True, huge_weights=False, groups=False):
    n = draw(st.integers(1, max_systems))
    T = draw(st.integers(min_tasks, max_tasks))
    cells = st.sampled_from([*VALUES, np.nan, np.nan] if gaps else VALUES)
    values = draw(st.lists(st.lists(cells, min_size=T, max_size=T), min_size=n, max_size=n))
    choices = [Fraction(2**60 + 1), Fraction(2**60), Fraction(1, 7), Fraction(0)] if huge_weights else WEIGHTS
    weights = draw(st.lists(st.sampled_from(choices), min_size=T, max_size=T).filter(any))
    directions = draw(st.lists(st.sampled_from([1, 1, 1, -1, -1, 0]), min_size=T, max_size=T))
    names = (
        draw(st.lists(st.sampled_from([None, None, "g", "h"]), min_size=T, max_size=T)) if groups else None
    )
    return ScoreMatrix(values, weights=weights, directions=directions, groups=names)
