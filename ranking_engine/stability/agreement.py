"""How far many rankings agree with one, a row a ranking.

Ranks are average ranks (1, 2.5, 2.5, 4), NaN where a system is unranked; two rankings are compared on the systems
that both rank, ranked again among these. A figure that does not exist is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray

FloatArray32 = NDArray[np.float32]

_BLOCK_CELLS = 1 << 22
_PAIR_CELLS = 1 << 24  # of the tables of all pairs of rankings


def spearman(first: FloatArray, second: FloatArray, among: BoolArray | None = None) -> FloatArray:
    """Return the correlation of average ranks of each row of `first` with the same row of `second`.

    Both have shape (n_rankings, n_systems), or broadcast to it; only the systems that both rank and that `among` marks
    are compared.
    """
    first, second = np.broadcast_arrays(first, second)
    common = ~np.isnan(first) & ~np.isnan(second)
    if among is not None:
        common &= among
    first, second = _anew(first, common), _anew(second, common)
    centre = (common.sum(axis=1, keepdims=True) + 1) / 2
    first, second = np.where(common, first - centre, 0.0), np.where(common, second - centre, 0.0)
    squares = (first**2).sum(axis=1) * (second**2).sum(axis=1)
    return _ratio((first * second).sum(axis=1), np.sqrt(squares))


def _anew(ranks: FloatArray, common: BoolArray) -> FloatArray:
    """Rank each row again among the systems that `common` marks in it, where it ranks others too."""
    ranks_others = (~np.isnan(ranks) & ~common).any(axis=1)
    if not ranks_others.any():
        return ranks
    ranks = ranks.copy()
    ranks[ranks_others] = average_ranks(ranks_of(np.where(common[ranks_others], -ranks[ranks_others], np.nan)))
    return ranks


def tau_b(first: FloatArray, second: FloatArray, among: BoolArray | None = None) -> FloatArray:
    """Return Kendall's tau-b of each row of `first` with the same row of `second`; arguments as for `spearman`.

    O(n_systems^2) a row. Agresti 2010, Analysis of ordinal categorical data, section 7.1.
    """
    first, second = np.broadcast_arrays(first, second)
    common = ~np.isnan(first) & ~np.isnan(second)
    if among is not None:
        common &= among
    taus = np.empty(len(first))
    height = max(1, _BLOCK_CELLS // max(1, first.shape[1]) ** 2)
    for start in range(0, len(first), height):
        rows = slice(start, start + height)
        # Which of two systems is ranked higher, for every row and pair; 0 where they tie or one is missing.
        is_known = common[rows, :, None] & common[rows, None, :]
        known = (np.where(common[rows], ranks[rows], 0.0) for ranks in (first, second))
        x, y = (np.sign(row[:, :, None] - row[:, None, :]).astype(np.int8) * is_known for row in known)
        untied = [np.abs(signs).sum(axis=(1, 2), dtype=np.float64) for signs in (x, y)]
        taus[rows] = _ratio((x * y).sum(axis=(1, 2), dtype=np.float64), np.sqrt(untied[0] * untied[1]))
    return taus


CORRELATIONS = {"spearman": spearman, "kendall": tau_b}


def kendall(reference: FloatArray, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Kendall's tau-b and normalised distance of each row of `ranks` to `reference`.

    The distance is pairs strictly opposed plus half those tied in exactly one of the two, over all pairs.
    """
    tau, distance = np.full(len(ranks), np.nan), np.full(len(ranks), np.nan)
    is_known = ~np.isnan(ranks) & ~np.isnan(reference)
    if (is_known == is_known[:1]).all():
        masks, kind = is_known[:1], np.zeros(len(ranks), dtype=np.intp)
    else:
        masks, kind = np.unique(is_known, axis=0, return_inverse=True)
    for k, common in enumerate(masks):
        rows = np.flatnonzero(kind == k)
        # With the systems sorted by `reference`, count what each row orders likewise and contrariwise.
        order = np.flatnonzero(common)[np.argsort(reference[common], kind="stable")]
        ascending = reference[order]
        doubled = np.ascontiguousarray((2 * ranks[np.ix_(rows, order)]).T).astype(np.int32)
        n = len(order)
        concordant, opposed, only_reference = (np.zeros(len(rows), dtype=np.int64) for _ in range(3))
        ends = np.searchsorted(ascending, ascending, side="right").tolist()
        for i in range(n):
            below = doubled[ends[i] :]
            above = np.count_nonzero(below > doubled[i], axis=0)
            under = np.count_nonzero(below < doubled[i], axis=0)
            concordant += above
            opposed += under
            only_reference += len(below) - above - under  # tied in the row alone
        untied = int(sum(n - end for end in ends))
        pairs = n * (n - 1) / 2
        cells = doubled.T + (int(doubled.max(initial=0)) + 1) * np.arange(len(rows))[:, None]
        tied_in_row = (np.bincount(cells.ravel(), minlength=1)[cells] - 1).sum(axis=1) / 2
        untied_in_row = pairs - tied_in_row
        only_row = untied_in_row - (concordant + opposed)  # tied in the reference alone
        tau[rows] = _ratio((concordant - opposed).astype(np.float64), np.sqrt(untied * untied_in_row))
        distance[rows] = _ratio(opposed + (only_row + only_reference) / 2, np.full(len(rows), pairs))
    return tau, distance


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=np.asarray(denominator > 0))


def _spearman_of_pairs(ranks: FloatArray) -> FloatArray:
    """Return `spearman` of every two rows, shape (n_rankings, n_rankings).

    A system's average rank among those that both rows rank, less the mean rank, is half the number of them above it
    minus half of those below: one product of a row's order with the systems that each other row ranks.
    """
    q, n = ranks.shape
    if not _is_small(q, n):
        return np.array([spearman(row[None], ranks) for row in ranks])
    if not np.isnan(ranks).any():  # then all rows rank the same systems, and one product does
        centred = 2.0 * ranks - (n + 1)
        products = centred @ centred.T
        squares = np.diagonal(products)
        return _ratio(products / 4, np.sqrt((squares[:, None] / 4) * (squares / 4)))
    is_ranked, orders = _orders(ranks)
    # `twice[k, l]`: twice the centred ranks of row k among the systems that row l ranks too.
    twice = np.empty((q, q, n), dtype=np.float32)
    for k, order in enumerate(orders):
        np.multiply(is_ranked @ order.T, is_ranked, out=twice[k])
    squares = np.einsum("kli,kli->kl", twice, twice, dtype=np.float64)
    products = np.einsum("kli,lki->kl", twice, twice, dtype=np.float64)
    return _ratio(products / 4, np.sqrt((squares / 4) * (squares.T / 4)))


def _tau_b_of_pairs(ranks: FloatArray) -> FloatArray:
    """Return `tau_b` of every two rows, shape (n_rankings, n_rankings)."""
    q, n = ranks.shape
    if not _is_small(q, n):
        return np.array([tau_b(row[None], ranks) for row in ranks])
    is_ranked, orders = _orders(ranks)
    both = (is_ranked[:, :, None] * is_ranked[:, None, :]).reshape(q, -1)
    signs = np.array(list(orders)).reshape(q, -1)
    products, untied = (signs @ signs.T).astype(np.float64), (np.abs(signs) @ both.T).astype(np.float64)
    return _ratio(products, np.sqrt(untied * untied.T))


def _is_small(n_rankings: int, n_systems: int) -> bool:
    """Whether all pairs of rows are compared at once: sums are exact in float32, and the tables are not too large."""
    return n_systems**2 < 2**24 and n_rankings * n_systems * max(n_rankings, n_systems) <= _PAIR_CELLS


def _orders(ranks: FloatArray) -> tuple[FloatArray32, Iterator[FloatArray32]]:
    """Return which systems each row ranks, and for each row `order[i, j]`: 1 where i is below j, -1 above, else 0."""
    is_ranked = (~np.isnan(ranks)).astype(np.float32)
    known = np.where(is_ranked > 0, ranks, 0.0)
    return is_ranked, (
        np.sign(row[:, None] - row).astype(np.float32) * has[:, None] * has
        for row, has in zip(known, is_ranked, strict=True)
    )


OF_PAIRS = {"spearman": _spearman_of_pairs, "kendall": _tau_b_of_pairs}
