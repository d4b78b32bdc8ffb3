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
        interval: where a standard error says nothing: the exact 95 % interval (Clopper and Pearson 1934) where one
            draw was won, or all but one; where all were won, though weights may exist under which a rival is ahead,
            from the bound that the share is above with 95 % confidence to 1. Else None.
    """

    share: float
    error: float
    bound: float | None
    interval: tuple[float, float] | None = None


def decimals_of(share: float, whole: float) -> int:
    """Return with how many decimals a share of `whole` has two digits that tell it from 0 and from `whole`."""
    part = min(share, whole - share)
    return max(0, 1 - math.floor(math.log10(part))) if part > 0 else 0


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
    n_won = len(alive)
    share = n_won / n
    error = math.sqrt(share * (1 - share) / n)
    if n_won == n:
        is_certain = bool((leads >= 0).all())
        return Share(share, error, None, None if is_certain else (max(0.0, 1 - ZERO_HITS / n), 1.0))
    if n_won not in (1, n - 1):
        return Share(share, error, None if n_won else ZERO_HITS / n)
    from scipy.special import betaincinv  # noqa: PLC0415 -- slow import

    lower, upper = 1 - 0.975 ** (1 / n), float(betaincinv(2, n - 1, 0.975))  # of what came once
    return Share(share, error, None, (lower, upper) if n_won == 1 else (1 - upper, 1 - lower))
