"""Soft Condorcet's ratings on many boards at once; see `ranking_engine.rules.soft_condorcet`."""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.rules.rates import snapped
from ranking_engine.rules.soft_condorcet import (
    FASTER,
    FLAT,
    HIGHEST,
    LEAST_BEND,
    MAX_STEPS,
    SAME,
    SLOWER,
    has_dust,
    loss_slope_bend,
    steepest,
)

_BLOCK_CELLS = 1 << 16  # so that a few tables of them stay in a processor's cache
_TEMPERATURE = 1.0  # the rule's default
_FEWER = 0.75  # of the boards of a block: tables are copied so that the others are left behind


def soft_condorcet(batch: MatrixBatch) -> FloatArray:
    """Return the ratings of tables."""
    return soft_condorcet_of_pairs(batch.pairs)


def soft_condorcet_of_pairs(pairs: Pairs) -> FloatArray:
    """Return the ratings, which take the same steps as those of each board by itself.

    Sums are taken in the order of names, so that the order of the rows changes no bit.
    """
    b, n = pairs.present.shape
    ratings, order = np.full((b, n), np.nan), pairs.name_order
    height = max(1, _BLOCK_CELLS // max(1, n * n))
    for start in range(0, b, height):
        rows = slice(start, start + height)
        present = np.asarray(pairs.present[rows][:, order])
        wins = pairs.wins[rows][:, order[:, None], order].astype(np.float64)
        margins = wins - wins.transpose(0, 2, 1)
        margins /= np.maximum(margins.max(axis=(1, 2), initial=0.0), 1.0)[:, None, None]
        ratings[rows, order] = np.where(present, descended(margins, present), np.nan)
    return ratings


def descended(margins: FloatArray, present: BoolArray) -> FloatArray:
    """Return the ratings of each board; systems that are not on it stay in the middle."""
    b, n = present.shape
    ratings, rows = np.full((b, n), HIGHEST / 2), np.arange(b)
    now, sizes, lengths, scratch = ratings.copy(), np.abs(margins), np.ones(b), np.empty((2, *margins.shape))
    losses, slopes, bends = loss_slope_bend(margins, sizes, now, _TEMPERATURE, scratch)
    for _ in range(MAX_STEPS):
        is_moving = steepest(now, slopes) * _TEMPERATURE > FLAT
        if np.count_nonzero(is_moving) < _FEWER * len(rows):
            ratings[rows] = now
            rows, margins, sizes, now = rows[is_moving], margins[is_moving], sizes[is_moving], now[is_moving]
            losses, slopes, bends = losses[is_moving], slopes[is_moving], bends[is_moving]
            lengths, present, is_moving = lengths[is_moving], present[is_moving], np.ones(len(rows), dtype=bool)
            if not rows.size:
                break
        tried = np.clip(now - lengths[:, None] * slopes / np.maximum(bends, LEAST_BEND), 0.0, HIGHEST)
        # Systems that are not on the board must not be taken for others in the middle.
        dusty = np.flatnonzero(has_dust(np.where(present, tried, -1.0)))
        if dusty.size:
            apart = snapped(np.where(present[dusty], tried[dusty], np.nan), SAME)
            tried[dusty] = np.where(present[dusty], apart, HIGHEST / 2)
        new_losses, new_slopes, new_bends = loss_slope_bend(
            margins, sizes, tried, _TEMPERATURE, scratch[:, : len(rows)]
        )
        is_better = new_losses <= losses
        lengths = np.where(is_better, np.minimum(lengths * FASTER, 1.0), lengths * SLOWER)
        taken = is_better & is_moving
        losses = np.where(taken, new_losses, losses)
        now, slopes, bends = (
            np.where(taken[:, None], new, old) for new, old in ((tried, now), (new_slopes, slopes), (new_bends, bends))
        )
    ratings[rows] = now
    return ratings
