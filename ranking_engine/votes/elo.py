"""Elo ratings: updated vote by vote, so that they depend on the order of the votes, unlike every other figure here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.votes.data import FIRST, TIE, Votes

MAX_ORDERS = 100


@dataclass(frozen=True, eq=False)
class EloRatings:
    """Elo ratings, and how much the order of the votes matters.

    Attributes:
        ratings: (n_systems,), after the last vote.
        least, greatest: (n_systems,), the extremes over random orders of the same votes and the order itself.
        n_orders: how many random orders.
        is_by_time: whether the votes were taken by their times; else as they are given.
    """

    ratings: FloatArray
    least: FloatArray
    greatest: FloatArray
    n_orders: int
    is_by_time: bool


def elo(
    votes: Votes, *, k: float = 30.0, initial: float = 1000.0, scale: float = 400.0, n_orders: int = 0, seed: int = 0
) -> EloRatings:
    """Return Elo ratings (Elo 1978): each vote moves both systems by k times (result - expected result).

    The first system of a vote is expected to win 1 / (1 + 10^((rating of the second - its own) / scale)); a tie is half
    a win. A vote of weight w moves them w times as far. Votes are taken by their times where these are known, equal
    times in the order given. O(n_votes) an order.

    Args:
        votes: in the order given where there are no times.
        k: the largest change by one vote.
        initial: every system's rating before the first vote.
        scale: the difference at which one win is 10 times as likely as the other.
        n_orders: random orders of the same votes, to show how much the order matters.
        seed: of the random orders.

    Raises:
        ValueError: `k` or `scale` is not positive, or `n_orders` is not between 0 and MAX_ORDERS.
    """
    if not (k > 0 and scale > 0):
        raise ValueError(f"`k` is {k} and `scale` {scale}; both must be positive")
    if not 0 <= n_orders <= MAX_ORDERS:
        raise ValueError(f"`n_orders` is {n_orders}; expected 0 to {MAX_ORDERS}")
    order = np.arange(votes.n_votes) if votes.times is None else np.argsort(votes.times, kind="stable")
    ratings = _elo_in_order(votes, order, k, initial, scale)
    random = np.random.default_rng(seed)
    orders = (random.permutation(votes.n_votes) for _ in range(n_orders))
    runs = [ratings, *(_elo_in_order(votes, shuffled, k, initial, scale) for shuffled in orders)]
    return EloRatings(ratings, np.min(runs, axis=0), np.max(runs, axis=0), n_orders, votes.times is not None)


def _elo_in_order(votes: Votes, order: NDArray[np.intp], k: float, initial: float, scale: float) -> FloatArray:
    """Return the ratings after the votes in one order."""
    ratings = [initial] * votes.n_systems
    results = np.where(votes.outcomes >= TIE, 0.5, np.where(votes.outcomes == FIRST, 1.0, 0.0))
    steps = k * votes.weights
    columns = (votes.first, votes.second, results, steps)
    for i, j, result, step in zip(*(column[order].tolist() for column in columns), strict=True):
        # Far apart the power would overflow; the expected result is 0 there to the last digit.
        gap = min(300.0, (ratings[j] - ratings[i]) / scale)
        change = step * (result - 1 / (1 + 10**gap))
        ratings[i] += change
        ratings[j] -= change
    return np.array(ratings)
