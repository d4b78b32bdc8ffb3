"""What a step of soft Condorcet's descent needs to know of many boards; see `soft_condorcet.descended`.

Ratings have shape (n_boards, n_systems), in temperatures above the middle; `present` says which systems are on each
board.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.rates import snapped

_SAME = 1e-9  # temperatures: ratings that differ by less are equal in each step
_APART = 1e-6  # temperatures: farther ratings never change places in a step with momentum


def steepest(ratings: FloatArray, slopes: FloatArray, bound: float) -> FloatArray:
    """Return the largest slope of each board's loss, without those that point out of the bounds."""
    points_out = (ratings >= bound) & (slopes < 0) | (ratings <= -bound) & (slopes > 0)
    return np.abs(np.where(points_out, 0.0, slopes)).max(axis=-1, initial=0.0)


def keeps_places(now: FloatArray, tried: FloatArray, present: BoolArray) -> BoolArray:
    """Whether no two systems of a board with ratings more than _APART from each other change places or meet."""
    order = np.argsort(np.where(present, now, np.inf), axis=-1, kind="stable")
    here = np.take_along_axis(present, order, axis=-1)
    was, goes = np.take_along_axis(now, order, axis=-1), np.take_along_axis(tried, order, axis=-1)
    highest_below = np.maximum.accumulate(np.where(here, goes, -np.inf), axis=-1)[:, :-1]
    lowest_above = np.minimum.accumulate(np.where(here, goes, np.inf)[:, ::-1], axis=-1)[:, ::-1][:, 1:]
    return np.asarray(~((np.diff(was, axis=-1) > _APART) & here[:, 1:] & (highest_below >= lowest_above)).any(axis=-1))


def make_equal(ratings: FloatArray, present: BoolArray) -> None:
    """Make ratings of a board equal, in place, that differ from each other or from 0 by rounding alone."""
    ascending = np.sort(np.where(present, ratings, np.inf), axis=-1)
    with np.errstate(invalid="ignore"):
        apart = np.diff(ascending, axis=-1)
    sizes = np.abs(ratings)
    is_dusty = ((apart > 0) & (apart <= _SAME)).any(axis=-1) | ((sizes > 0) & (sizes <= _SAME)).any(axis=-1)
    dusty = np.flatnonzero(is_dusty)
    if dusty.size:
        # Systems that are not on the board must not be taken for others in the middle.
        equal = snapped(np.where(present[dusty], ratings[dusty], np.nan), _SAME)
        ratings[dusty] = np.where(present[dusty], equal, 0.0)


def loss_slope_bend(
    margins: FloatArray, sizes: FloatArray, ratings: FloatArray, scratch: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the losses of boards, up to a constant, their slopes, and how much these bend: no less than they do.

    The loss is half the sum of m_ij sigma(r_j - r_i). With e_i = exp(r_i) the difference of sigma from one half is half
    of (e_i - e_j) / (e_i + e_j): an exponential a system instead of one a pair.

    Args:
        margins: as in `descended`.
        sizes: their absolute values.
        ratings: of the systems of each board, in temperatures above the middle.
        scratch: two arrays like `margins`, which are written over: new ones would cost more than what is computed.
    """
    powers = np.exp(ratings)
    upper, lower = powers[..., :, None], powers[..., None, :]
    apart, total = scratch
    np.subtract(upper, lower, out=apart)
    np.add(upper, lower, out=total)
    apart /= total
    losses = np.einsum("...ij,...ij->...i", margins, apart).sum(axis=-1) / -4
    np.multiply(apart, apart, out=total)
    np.subtract(1.0, total, out=total)
    slopes = -np.einsum("...ij,...ij->...i", margins, total) / 4
    return losses, slopes, np.einsum("...ij,...ij->...i", sizes, total) / 4
