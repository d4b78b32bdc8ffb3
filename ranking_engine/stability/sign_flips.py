"""The sign-flip test: could the difference between two systems be the luck of which was ahead on which task?

Under the null hypothesis two systems are exchangeable on every task (or data set, or instance), so that each
difference is as likely with either sign. The p-value is the share of all sign vectors under which the absolute
sum of the differences is at least the observed one. Fisher 1935, The Design of Experiments, section 21; Benavoli,
Corani and Mangili 2016, Should We Really Use Post-Hoc Tests Based on Mean-Ranks?, on why pairs are compared by
themselves.

Differences that are 0 are left out, which changes no p-value. Up to 28 others all sign vectors are counted,
without listing them: the sums of one half are sorted, and looked up for each sum of the other, in 2 ms at worst.
Beyond, sign vectors are drawn. Sums tie where they differ by less than 1e-9 of the sum of |differences|, and ties
count as at least as large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.score_matrix import FloatArray

MAX_EXACT = 28
MIN_DRAWS = 9_999

TOLERANCE = 1e-9
_STOP_AFTER = 100  # drawn sums as large as the observed one, after which a p-value is known well enough
_BLOCK_CELLS = 1 << 18  # signs drawn at a time
_STREAM = 0x5F11  # keeps the draws apart from those of other studies with the same seed

EXACT, DRAWN, BOUND = 0, 1, 2


@dataclass(frozen=True, eq=False)
class SignFlips:
    """p-values of many pairs, in the order given.

    Attributes:
        p_values: two-sided, never below the truth by more than chance: counted ones are exact, drawn ones are
            (1 + sums as large) / (1 + draws), bounds are upper bounds.
        least: the least p-value that the number of differences allows: 2^(1 - number), 1 for none.
        methods: EXACT, DRAWN, or BOUND: 2 exp(-sum^2 / 2 sum of squares), where that is less than any drawn one.
        n_draws: how many sign vectors were drawn; 0 where none were.
    """

    p_values: FloatArray
    least: FloatArray
    methods: NDArray[np.int8]
    n_draws: int


def sign_flips(differences: FloatArray, *, n_draws: int = MIN_DRAWS, seed: int = 0) -> SignFlips:
    """Test pairs of systems.

    Args:
        differences: shape (n_pairs, n_units), a row a pair; NaN where the pair lacks a common score.
        n_draws: the sign vectors drawn for pairs with more than 28 differences other than 0; drawing for a pair
            ends with the 100th sum as large as the observed one, and its p-value is then 100 / draws made
            (Besag and Clifford 1991).
        seed: of these draws.
    """
    n_pairs = len(differences)
    known = np.where(np.isnan(differences), 0.0, differences)
    n_units = (~np.isnan(differences)).sum(axis=1)
    least = np.minimum(1.0, 2.0 ** (1.0 - n_units))
    p_values, methods = np.ones(n_pairs), np.full(n_pairs, EXACT, dtype=np.int8)
    is_long = np.count_nonzero(known, axis=1) > MAX_EXACT
    for pair in np.flatnonzero(~is_long):
        p_values[pair] = exact_p_value(known[pair])
    bounds = _hoeffding(known)
    methods[is_long] = np.where(bounds[is_long] < 1 / (1 + n_draws), BOUND, DRAWN)
    p_values[methods == BOUND] = bounds[methods == BOUND]
    drawn = np.flatnonzero(methods == DRAWN)
    p_values[drawn] = _drawn(known[drawn], n_draws, seed)
    return SignFlips(p_values, least, methods, n_draws if drawn.size else 0)


def exact_p_value(differences: FloatArray) -> float:
    """Count the sign vectors of one pair with at least the observed absolute sum; O(2^(n/2)).

    The first difference keeps its sign: a sign vector and its opposite have the same absolute sum.
    """
    sizes = np.abs(differences[differences != 0])
    if not sizes.size:
        return 1.0
    at_least = abs(float(differences.sum())) - TOLERANCE * float(sizes.sum())
    if at_least <= 0:
        return 1.0
    half = (len(sizes) + 1) // 2
    left = np.sort(sizes[0] + _signed_sums(sizes[1:half]))  # sorted ones are looked up faster
    right = np.sort(_signed_sums(sizes[half:]))
    above = len(right) - np.searchsorted(right, at_least - left, side="left")
    below = np.searchsorted(right, -at_least - left, side="right")
    return float(above.sum() + below.sum()) / 2.0 ** (len(sizes) - 1)


def _signed_sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _hoeffding(differences: FloatArray) -> FloatArray:
    """Return an upper bound on the exact p-value of each row (Hoeffding 1963, theorem 2)."""
    sums, squares = differences.sum(axis=1), (differences**2).sum(axis=1)
    ratio = np.divide(sums**2, squares, out=np.zeros(len(sums)), where=squares > 0)
    return np.minimum(1.0, 2 * np.exp(-ratio / 2))


def _drawn(differences: FloatArray, n_draws: int, seed: int) -> FloatArray:
    n_pairs, n_units = differences.shape
    at_least = np.abs(differences.sum(axis=1)) - TOLERANCE * np.abs(differences).sum(axis=1)
    n_large = np.zeros(n_pairs, dtype=np.int64)
    p_values = np.full(n_pairs, np.nan)
    height = max(1, min(n_draws, _BLOCK_CELLS // max(1, n_units)))
    for block, start in enumerate(range(0, n_draws, height)):
        open_pairs = np.flatnonzero(np.isnan(p_values))
        if not open_pairs.size:
            break
        generator = np.random.default_rng([seed, _STREAM, block])
        signs = generator.integers(0, 2, size=(min(height, n_draws - start), n_units), dtype=np.int8) * 2.0 - 1
        is_large = np.abs(differences[open_pairs] @ signs.T) >= at_least[open_pairs, None]
        counts = n_large[open_pairs] + np.count_nonzero(is_large, axis=1)
        done = counts >= _STOP_AFTER
        so_far = n_large[open_pairs[done], None] + np.cumsum(is_large[done], axis=1)
        p_values[open_pairs[done]] = _STOP_AFTER / (start + 1 + (so_far >= _STOP_AFTER).argmax(axis=1))
        n_large[open_pairs] = counts
    is_open = np.isnan(p_values)
    p_values[is_open] = (1 + n_large[is_open]) / (1 + n_draws)
    return p_values


def holm(p_values: FloatArray) -> FloatArray:
    """Return Holm's adjusted p-values (Holm 1979): sorted, the k-th of m times m - k + 1, never decreasing."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


def draws_for(n_pairs: int, level: float) -> int:
    """Return how many draws let one pair of `n_pairs` be significant at `level` after Holm, twice over."""
    return max(MIN_DRAWS, math.ceil(2 * n_pairs / level))
