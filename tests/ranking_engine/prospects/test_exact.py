from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.prospects import exact

SMALL = st.integers(-3, 3)
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=6).filter(lambda shares: sum(shares) > 1e-3)


@pytest.mark.parametrize(
    ("shares", "numerators"),
    [
        ([1.0, 0.0], (1, 0)),
        ([1 / 3, 2 / 3], (1, 2)),
        ([0.1, 0.2, 0.7], (1, 2, 7)),
        ([1e-12, 1.0], (0, 1)),
        ([0.5**0.5, 1 - 0.5**0.5], None),
    ],
)
def test_simple_fractions_are_recognised(shares, numerators):
    assert exact.simple_fractions(np.array(shares)) == numerators


@settings(max_examples=50, deadline=None)
@given(SHARES, st.sampled_from([1, 7, 10**9]))
def test_rounded_shares_sum_to_the_denominator(shares, denominator):
    numerators = exact.rounded(np.array(shares), denominator)
    total = sum(share for share in shares if share > exact.SUPPORT)
    assert sum(numerators) == denominator
    for numerator, share in zip(numerators, shares, strict=True):
        assert abs(numerator - denominator * (share if share > exact.SUPPORT else 0) / total) < 1 + 1e-6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(SMALL, st.integers(0, 5)), min_size=1, max_size=5), st.sampled_from([1, 2**40, 2**70]))
def test_products_are_exact_whatever_their_size(pairs, factor):
    entries, vector = [a * factor for a, _ in pairs], [b for _, b in pairs]
    rows = np.array([entries], dtype=object if factor > 2**60 else np.int64)
    (number,) = exact.product(rows, vector, 3 * factor)
    assert int(number) == sum(a * b for a, b in zip(entries, vector, strict=True))
