"""How much of the weightings a system wins: the volume of its winning region, estimated by drawing weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ranking_engine.core.score_matrix import FloatArray

ZERO_HITS = 3  # -log(0.05): with no hit in N draws the share is below 3/N with 95 % confidence
_FIRST_BLOCK = 8  # rivals a draw is tried against at first; most draws fail there


@dataclass(frozen=True)
class Share:
    """An estimate of the share of weightings under which a system loses to no one.

    Attributes:
        share: the share of draws that it wins.
        error: its standard error.
        bound: where no draw was won, the share is below this with 95 % confidence; else None.
        interval: where one draw was won, the exact 95 % interval (Clopper and Pearson 1934), of which a standard error
            says nothing; else None.
    """

    share: float
    error: float
    bound: float | None
    interval: tuple[float, float] | None = None


def drawn_weights(n_draws: int, n_tasks: int, seed: int, conditions: FloatArray) -> FloatArray:
    """Draw weightings evenly from the simplex, Dirichlet(1, ..., 1), and keep those that satisfy the conditions.

    `conditions` are rows a with a @ w >= 0. Shape (n_kept, n_tasks).
    """
    draws = np.random.default_rng(seed).dirichlet(np.ones(n_tasks), n_draws)
    return draws[(draws @ conditions.T >= 0).all(axis=1)] if len(conditions) else draws


def winning_share(leads: FloatArray, draws: FloatArray) -> Share | None:
    """Return the share of `draws` whose leads over all rivals are at least 0; None without draws.

    `leads` has shape (n_rivals, n_tasks). Rivals are tried in blocks, the hardest first.
    """
    n = len(draws)
    if not n:
        return None
    alive = draws
    order = np.argsort(leads.sum(axis=1), kind="stable")
    start, width = 0, _FIRST_BLOCK
    while start < len(order) and len(alive):
        block = leads[order[start : start + width]]
        alive = alive[(alive @ block.T >= 0).all(axis=1)]
        start, width = start + width, 2 * width
    share = len(alive) / n
    error = math.sqrt(share * (1 - share) / n)
    bound = None if len(alive) else ZERO_HITS / n
    if len(alive) != 1:
        return Share(share, error, bound)
    from scipy.special import betaincinv  # noqa: PLC0415 -- slow import

    upper = float(betaincinv(2, n - 1, 0.975)) if n > 1 else 1.0
    return Share(share, error, bound, interval=(1 - 0.975 ** (1 / n), upper))
