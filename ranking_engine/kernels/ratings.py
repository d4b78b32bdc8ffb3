"""Soft Condorcet's ratings on many boards at once; see `ranking_engine.rules.soft_condorcet`."""

from __future__ import annotations

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.rules.soft_condorcet import HIGHEST, descended

_BLOCK_CELLS = 1 << 16  # so that a few tables of them stay in a processor's cache


def soft_condorcet(batch: MatrixBatch) -> FloatArray:
    """Return the ratings of tables."""
    return soft_condorcet_of_pairs(batch.pairs)


def soft_condorcet_of_pairs(pairs: Pairs) -> FloatArray:
    """Return the ratings at the default temperature, after the same steps as each board takes by itself.

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
        ratings[rows, order] = np.where(present, HIGHEST / 2 + descended(margins, present, HIGHEST).ratings, np.nan)
    return ratings
