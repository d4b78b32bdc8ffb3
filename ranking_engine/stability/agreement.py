"""How far many rankings agree with one, a row a ranking.

Ranks are average ranks (1, 2.5, 2.5, 4), NaN where a system is unranked; two rankings are compared on the systems
that both rank, ranked anew among these. A figure that does not exist is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.ranking import UNRANKED, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray

_BLOCK_CELLS = 1 << 22


def average_ranks(scores: FloatArray) -> FloatArray:
    """Return the average ranks of each row of `scores`, higher is better, NaN = unranked."""
    return averaged(ranks_of(scores)) if scores.size else np.empty(scores.shape)


def averaged(ranks: NDArray[np.int32]) -> FloatArray:
    """Return average ranks from ranks 1, 2, 2, 4, UNRANKED where there is none."""
    rows, n = ranks.shape
    cells = np.where(ranks == UNRANKED, 0, ranks) + (n + 1) * np.arange(rows)[:, None]
    sizes = np.bincount(cells.ravel(), minlength=rows * (n + 1))[cells]
    return np.where(ranks == UNRANKED, np.nan, ranks + (sizes - 1) / 2)


def anew(ranks: FloatArray, among: BoolArray) -> FloatArray:
    """Rank each row of `ranks` anew among the systems that `among` marks in it; NaN for the others."""
    return average_ranks(np.where(among, -ranks, np.nan))


def spearman(first: FloatArray, second: FloatArray, among: BoolArray | None = None) -> FloatArray:
    """Return the correlation of average ranks of each row of `first` with the same row of `second`.

    Both have shape (n_rankings, n_systems), or broadcast to it; only the systems that both rank and that `among` marks
    are compared.
    """
    first, second = np.broadcast_arrays(first, second)
    common = ~np.isnan(first) & ~np.isnan(second)
    if among is not None:
        common &= among
    if not common.all():
        first, second = anew(first, common), anew(second, common)
    centre = (common.sum(axis=1, keepdims=True) + 1) / 2
    first, second = np.where(common, first - centre, 0.0), np.where(common, second - centre, 0.0)
    squares = (first**2).sum(axis=1) * (second**2).sum(axis=1)
    return _ratio((first * second).sum(axis=1), np.sqrt(squares))


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
        x, y = (_pair_signs(ranks[rows], common[rows]) for ranks in (first, second))
        untied = [np.abs(signs).sum(axis=(1, 2), dtype=np.float64) for signs in (x, y)]
        taus[rows] = _ratio((x * y).sum(axis=(1, 2), dtype=np.float64), np.sqrt(untied[0] * untied[1]))
    return taus


def _pair_signs(ranks: FloatArray, common: BoolArray) -> NDArray[np.int8]:
    """Return which of two systems is ranked higher, for every row and pair; 0 where they tie or one is missing."""
    known = np.where(common, ranks, 0.0)
    signs = np.sign(known[:, :, None] - known[:, None, :]).astype(np.int8)
    return signs * (common[:, :, None] & common[:, None, :])


CORRELATIONS = {"spearman": spearman, "kendall": tau_b}


def kendall(reference: FloatArray, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Kendall's tau-b and normalised distance of each row of `ranks` to `reference`.

    The distance is pairs strictly opposed plus half those tied in exactly one of the two, over all pairs.
    """
    tau, distance = np.full(len(ranks), np.nan), np.full(len(ranks), np.nan)
    masks, kind = np.unique(~np.isnan(ranks) & ~np.isnan(reference), axis=0, return_inverse=True)
    for k, common in enumerate(masks):
        rows = np.flatnonzero(kind == k)
        tau[rows], distance[rows] = _kendall_of_complete(reference[common], ranks[np.ix_(rows, common)])
    return tau, distance


def _kendall_of_complete(reference: FloatArray, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With the systems sorted by `reference`, count what each row orders likewise and contrariwise."""
    order = np.argsort(reference, kind="stable")
    ascending = reference[order]
    doubled = np.ascontiguousarray((2 * ranks[:, order]).T).astype(np.int32)
    n, rows = doubled.shape
    concordant, opposed, only_reference = (np.zeros(rows, dtype=np.int64) for _ in range(3))
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
    tied_in_row = _tied_pairs(doubled)
    untied_in_row = pairs - tied_in_row
    only_row = untied_in_row - (concordant + opposed)  # tied in the reference alone
    tau = _ratio((concordant - opposed).astype(np.float64), np.sqrt(untied * untied_in_row))
    return tau, _ratio(opposed + (only_row + only_reference) / 2, np.full(rows, pairs))


def _tied_pairs(doubled: NDArray[np.int32]) -> FloatArray:
    rows = doubled.shape[1]
    cells = doubled.T + (int(doubled.max(initial=0)) + 1) * np.arange(rows)[:, None]
    sizes = np.bincount(cells.ravel(), minlength=1)[cells]
    return (sizes - 1).sum(axis=1) / 2


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=np.asarray(denominator > 0))
