"""The sign-flip test: could the difference between two systems be the luck of which was ahead on which task?

The null hypothesis is that two systems are exchangeable on every task (or data set, or instance): each difference
is as likely with either sign. The p-value is the share of all sign vectors under which the absolute sum of the
differences is at least the observed one. Fisher 1935, The Design of Experiments, section 21; Benavoli, Corani and
Mangili 2016, Should We Really Use Post-Hoc Tests Based on Mean-Ranks?, on why pairs are compared by themselves.

Differences that are 0 are left out, which changes no p-value. Up to 28 others all sign vectors are counted,
without listing them: the sums of one half are sorted, and looked up for each sum of the other. Beyond, sign
vectors are drawn; where hardly any is as large as the observed one, they are drawn in favour of large sums, each
counting as much less as it is more likely (importance sampling). Sums tie where they differ by less than 1e-9 of
the sum of |differences|, and ties count as at least as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray

MAX_EXACT = 28  # an exact p-value of 28 differences takes 1 ms, of one more half as much again
CHEAP_EXACT = 20  # up to these an exact p-value takes 0.05 ms
MIN_DRAWS = 9_999
NULL_HYPOTHESIS = (
    "on each task, or cluster of tasks, the difference of the two systems is as likely with either sign. Systems of "
    "equal means do not satisfy it where one of them is skewed, and are then called different more often than the "
    "level says: in simulations of very skewed scores up to 15 % of the time instead of 5 %"
)

TOLERANCE = 1e-9
_STOP_AFTER = 100  # drawn sums as large as the observed one, after which a p-value is known well enough
_DRAWN_AT_ONCE = 1_024
_BLOCK_CELLS = 1 << 20  # sums held at a time
_STREAM = 0x5F11  # keeps the draws apart from those of other studies with the same seed
_RARE = 5  # a p-value that rests on fewer drawn sums as large as the observed one is drawn again, tilted
_TILTED_DRAWS = 512
_TILTED_STREAM = 0x711E
_NEWTON_STEPS = 8
_FLAT = 1e-9  # a slope below which every sign is decided
_LIKELY = 2.5  # standard deviations from which a bound may be small enough to decide
_MARGIN = 2  # standard errors that are added to a tilted p-value

EXACT, DRAWN, TILTED, BOUND = 0, 1, 2, 3

Sums = Callable[[FloatArray], Callable[[NDArray[np.intp]], FloatArray]]


@dataclass(frozen=True, eq=False)
class SignFlips:
    """p-values of many pairs, in the order given.

    Attributes:
        p_values: two-sided, never below the truth by more than chance: counted ones are exact, drawn ones are
            (1 + sums as large) / (1 + draws), tilted ones are estimates plus two standard errors (of 10 % or so),
            bounds are upper bounds.
        least: the least p-value that the number of differences allows: 2^(1 - number), 1 for none.
        methods: EXACT, DRAWN, TILTED, or BOUND (see `chernoff_bounds`).
        n_draws: how many sign vectors were drawn; 0 where none were.
    """

    p_values: FloatArray
    least: FloatArray
    methods: NDArray[np.int8]
    n_draws: int


def sign_flips(
    differences: FloatArray,
    *,
    n_draws: int = MIN_DRAWS,
    seed: int = 0,
    max_exact: int = MAX_EXACT,
    certain: float = 0.0,
    sums: Sums | None = None,
) -> SignFlips:
    """Test pairs of systems.

    Args:
        differences: shape (n_pairs, n_units), a row a pair; NaN where the pair lacks a common score.
        n_draws: the sign vectors drawn for a pair that is not counted; drawing ends with the 100th sum as large as
            the observed one, and the p-value is then 100 / draws made (Besag and Clifford 1991).
        seed: of these draws.
        max_exact: pairs with so many differences other than 0 are counted, at most 28.
        certain: a pair that is not counted and whose bound is no larger than this keeps the bound: its p-value would
            change no decision.
        sums: a faster way to the drawn sums: of sign vectors, shape (n_draws, n_units), a function that gives of
            rows of `differences` their sums, shape (n_rows, n_draws).
    """
    n_pairs = len(differences)
    known: FloatArray = np.where(np.isnan(differences), 0.0, differences)
    least = np.minimum(1.0, 2.0 ** (1.0 - (~np.isnan(differences)).sum(axis=1)))
    n_other = np.count_nonzero(known, axis=1)
    p_values, methods = np.ones(n_pairs), np.full(n_pairs, EXACT, dtype=np.int8)
    for count in range(int(min(max_exact, CHEAP_EXACT, n_other.max(initial=0))) + 1):
        rows = np.flatnonzero(n_other == count)
        p_values[rows] = _counted_together(known[rows], count)
    for pair in np.flatnonzero((n_other > CHEAP_EXACT) & (n_other <= max_exact)).tolist():
        p_values[pair] = exact_p_value(known[pair])
    long = np.flatnonzero(n_other > max_exact)
    likely = long[known[long].sum(axis=1) ** 2 > _LIKELY**2 * (known[long] ** 2).sum(axis=1)]
    bounds = chernoff_bounds(known[likely])[1]
    certain_ones = likely[bounds <= certain]
    p_values[certain_ones], methods[certain_ones] = bounds[bounds <= certain], BOUND
    drawn = long[methods[long] != BOUND]
    if sums is None:
        sums = lambda signs: lambda rows: known[rows] @ signs.T  # noqa: E731
    p_values[drawn], n_large = _drawn(known, drawn, sums, n_draws, seed)
    methods[drawn] = DRAWN
    rare = drawn[n_large < _RARE]
    p_values[rare], methods[rare] = _tilted(known[rare], seed), TILTED
    return SignFlips(p_values, least, methods, n_draws if long.size else 0)


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


def _counted_together(differences: FloatArray, count: int) -> FloatArray:
    """Return `exact_p_value` of each row, all with `count` differences other than 0, at most 20.

    The sums of all rows are sorted and looked up in one go: each row is divided by its sum of |differences|, so that
    its sums lie between -1 and 1, and then moved by 4 from the row before.
    """
    if not count:
        return np.ones(len(differences))
    largest_first: FloatArray = -np.sort(-np.abs(differences), axis=1)[:, :count]
    whole = largest_first.sum(axis=1)
    shares, observed = largest_first / whole[:, None], np.abs(differences.sum(axis=1)) / whole
    half = (count + 1) // 2
    left_signs, right_signs = _sign_vectors(half - 1), _sign_vectors(count - half)
    n_right = len(right_signs)
    p_values = np.empty(len(differences))
    height = max(1, min(1_024, _BLOCK_CELLS // 8 // n_right))
    for start in range(0, len(differences), height):
        block = slice(start, start + height)
        moved = 4.0 * np.arange(len(shares[block]))[:, None]
        left = np.sort(shares[block, :1] + shares[block, 1:half] @ left_signs.T, axis=1)
        right = (np.sort(shares[block, half:] @ right_signs.T, axis=1) + moved).ravel()
        at_least = observed[block, None] - TOLERANCE
        first = n_right * np.arange(len(left))[:, None]
        above = first + n_right - np.searchsorted(right, at_least - left + moved, side="left")
        below = np.searchsorted(right, -at_least - left + moved, side="right") - first
        p_values[block] = np.where(at_least[:, 0] > 0, (above + below).sum(axis=1) / 2.0 ** (count - 1), 1.0)
    return p_values


def _sign_vectors(n: int) -> FloatArray:
    """Return all vectors of n signs, shape (2^n, n)."""
    bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    return (1 - 2 * bits).astype(np.float64)


def _signed_sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def chernoff_bounds(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for each row a tilt z near the best one, and the upper bound on the exact p-value that it gives.

    P(sum of signed a_t >= s) <= prod_t cosh(z a_t) / exp(z s) for every z >= 0 (Chernoff 1952), here twice that. The
    least is where sum_t a_t tanh(z a_t) = s, which Newton's steps approach from below.
    """
    sizes = np.abs(differences)
    scaled = sizes / np.maximum(sizes.max(axis=1, initial=0.0), np.finfo(float).tiny)[:, None]
    whole = np.divide(np.abs(differences.sum(axis=1)), sizes.sum(axis=1), out=np.zeros(len(sizes)),
                      where=sizes.any(axis=1))  # fmt: skip
    observed = whole * scaled.sum(axis=1)
    squares = np.maximum((scaled**2).sum(axis=1), np.finfo(float).tiny)
    tilts = observed / squares
    for _ in range(_NEWTON_STEPS):
        pull = np.tanh(tilts[:, None] * scaled)
        slope = (scaled**2 * (1 - pull**2)).sum(axis=1)
        tilts = tilts + np.maximum(0.0, observed - (scaled * pull).sum(axis=1)) / np.maximum(slope, _FLAT)
    exponents = tilts[:, None] * scaled
    logs = (exponents + np.log1p(np.exp(-2 * exponents)) - math.log(2)).sum(axis=1) - tilts * observed
    return tilts, np.minimum(1.0, 2 * np.exp(np.minimum(0.0, logs)))


def _tilted(differences: FloatArray, seed: int) -> FloatArray:
    """Return the p-value of each row by importance sampling, plus two standard errors.

    Signs are drawn so that their mean sum is the observed one. No p-value is above its bound, or below the least one.
    """
    tilts, bounds = chernoff_bounds(differences)
    generator = np.random.default_rng([seed, _TILTED_STREAM])
    draws = generator.random((_TILTED_DRAWS, differences.shape[1]))
    p_values = bounds.copy()
    for row, (own, tilt) in enumerate(zip(np.abs(differences), tilts.tolist(), strict=True)):
        scaled = own / own.max()
        observed = abs(float(differences[row].sum())) / own.max()
        sums = (draws < (1 + np.tanh(tilt * scaled)) / 2) @ (2 * scaled) - scaled.sum()
        is_large = sums >= observed - TOLERANCE * scaled.sum()
        if np.count_nonzero(is_large) >= _RARE:
            weights = np.where(is_large, np.exp(np.minimum(50.0, tilt * (observed - sums))), 0.0)
            share = weights.mean() + _MARGIN * weights.std() / math.sqrt(_TILTED_DRAWS)
            p_values[row] = bounds[row] * min(1.0, share)
    return np.maximum(p_values, 2.0 ** (1.0 - np.count_nonzero(differences, axis=1)))


def _drawn(
    differences: FloatArray, pairs: NDArray[np.intp], sums: Sums, n_draws: int, seed: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return p-values of these rows by drawn sign vectors, and how many sums were as large as the observed one."""
    n_units = differences.shape[1]
    own = differences[pairs]
    at_least = np.abs(own.sum(axis=1)) - TOLERANCE * np.abs(own).sum(axis=1)
    n_large = np.zeros(len(pairs), dtype=np.int64)
    p_values = np.full(len(pairs), np.nan)
    for start in range(0, n_draws, _DRAWN_AT_ONCE):
        open_pairs = np.flatnonzero(np.isnan(p_values))
        if not open_pairs.size:
            break
        n_now = min(_DRAWN_AT_ONCE, n_draws - start)
        generator = np.random.default_rng([seed, _STREAM, start])
        signs = generator.integers(0, 2, size=(n_now, n_units), dtype=np.int8) * 2 - 1
        sums_of_rows = sums(signs.astype(np.float64))
        for first in range(0, len(open_pairs), _BLOCK_CELLS // _DRAWN_AT_ONCE):
            rows = open_pairs[first : first + _BLOCK_CELLS // _DRAWN_AT_ONCE]
            is_large = np.abs(sums_of_rows(pairs[rows])) >= at_least[rows, None]
            counts = n_large[rows] + np.count_nonzero(is_large, axis=1)
            done = counts >= _STOP_AFTER
            so_far = n_large[rows[done], None] + np.cumsum(is_large[done], axis=1)
            p_values[rows[done]] = _STOP_AFTER / (start + 1 + (so_far >= _STOP_AFTER).argmax(axis=1))
            n_large[rows] = counts
    is_open = np.isnan(p_values)
    p_values[is_open] = (1 + n_large[is_open]) / (1 + n_draws)
    return p_values, n_large


def holm(p_values: FloatArray) -> FloatArray:
    """Return Holm's adjusted p-values (Holm 1979): sorted, the k-th of m times m - k + 1, never decreasing."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)
