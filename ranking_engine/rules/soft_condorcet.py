"""Soft Condorcet optimisation: ratings whose order contradicts few comparisons, near Kemeny's where that is too large.

Kemeny's order has the least sum, over all pairs, of the weight that prefers the lower one. Lanctot et al. 2025 replace
the step from 0 to 1 of each pair by a smooth one, sigma((r_j - r_i) / temperature), and follow its slope. Ratings stay
between two bounds. The loss has several minima; which one is reached depends on the start and the steps. Here all
ratings start in the middle and no step is random, so that the same table always gives the same ratings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.kemeny_search import addable
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.rates import in_first_order, name_order, snapped

HIGHEST = 100.0
MAX_STEPS = 300
FLAT = 1e-7  # of the slope, for margins of at most 1
SAME = 1e-9  # ratings that differ by less tie
FASTER, SLOWER = 1.3, 0.5
LEAST_BEND = 1e-12


def soft_condorcet(profile: Profile, *, temperature: float = 1.0) -> Outcome:
    """Return ratings between 0 and 100, from descent on the smooth loss (Lanctot et al. 2025).

    `details`: `loss`, the smooth loss in units of weight, as far as orders differ in it; `distance`, that of the order
    of the ratings from the tasks, as of Kemeny's, where a tie counts one half; `steps`; `is_stationary`: the slope has
    vanished, or points out of the bounds; the loss need not be least there, see `descended`.
    O(n^2) a step, at most 300 steps.
    """
    order = name_order(profile)
    margins = profile.pairwise.margins[np.ix_(order, order)]
    unit = float(profile.pairwise.denominator)
    largest = max(abs(int(margins.max())), 1) if profile.n_systems > 1 else 1
    ratings, n_steps, is_stationary = descended(np.array(margins / largest, dtype=np.float64), temperature)
    details: dict[str, Any] = {**pair_details(profile.pairwise), "temperature": float(temperature)}
    wins = addable(profile.pairwise.wins)
    always = float(np.minimum(wins, wins.T).sum()) / 2 / unit
    beyond = np.maximum(np.array(margins / unit, dtype=np.float64), 0.0)
    difference = ratings[:, None] - ratings
    details["distance"] = always + float((beyond * ((difference < 0) + 0.5 * (difference == 0))).sum())
    details["loss"] = always + float((beyond * (0.5 - 0.5 * np.tanh(difference / 2 / temperature))).sum())
    details["steps"] = n_steps
    details["is_stationary"] = is_stationary
    return Outcome(in_first_order(ratings, order), details=details)


def descended(margins: FloatArray, temperature: float) -> tuple[FloatArray, int, bool]:
    """Return ratings where the loss does not fall, the steps taken, and whether its slope has vanished.

    That may be a saddle point, from which some direction leads further down: systems that all start alike and are alike
    to the loss stay alike, as the three of a cycle do.

    Args:
        margins: `margins[i, j]` = -`margins[j, i]`, from -1 to 1; systems in the order of names, so that the order of
            rows changes no bit.
        temperature: the difference of ratings over which a pair goes from undecided to nearly decided.

    Each rating moves by its slope over its bend, which is at most one temperature, all of them by less where the loss
    would rise. So a system that beats all others moves up as far as any may, and one that is above another on every
    task stays above it: with the other's rating it would move further, and what the distance takes from that is less
    than the distance. Systems whose ratings differ by rounding alone are made equal after each step: what makes two of
    them alike must not be lost by the order in which floats are added.
    """
    sizes, scratch = np.abs(margins), np.empty((2, *margins.shape))
    ratings = np.full(len(margins), HIGHEST / 2)
    loss, slope, bend = loss_slope_bend(margins, sizes, ratings, temperature, scratch)
    length, n_steps, is_stationary = 1.0, 0, False
    while n_steps < MAX_STEPS:
        if steepest(ratings, slope) * temperature <= FLAT:
            is_stationary = True
            break
        n_steps += 1
        tried = np.clip(ratings - length * slope / np.maximum(bend, LEAST_BEND), 0.0, HIGHEST)
        if has_dust(tried):
            tried = snapped(tried, SAME)
        after = loss_slope_bend(margins, sizes, tried, temperature, scratch)
        if after[0] <= loss:
            ratings, (loss, slope, bend) = tried, after
            length = min(length * FASTER, 1.0)
        else:
            length *= SLOWER
    return ratings, n_steps, is_stationary


def steepest(ratings: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the largest slope of each board's loss, without those that point out of the bounds."""
    points_out = (ratings >= HIGHEST) & (slopes < 0) | (ratings <= 0) & (slopes > 0)
    return np.abs(np.where(points_out, 0.0, slopes)).max(axis=-1, initial=0.0)


def has_dust(ratings: FloatArray) -> BoolArray:
    """Whether ratings of a board differ from each other or from 0 by rounding alone."""
    apart = np.diff(np.sort(ratings, axis=-1), axis=-1)
    return np.asarray(((apart > 0) & (apart <= SAME)).any(axis=-1) | ((ratings > 0) & (ratings <= SAME)).any(axis=-1))


def loss_slope_bend(
    margins: FloatArray, sizes: FloatArray, ratings: FloatArray, temperature: float, scratch: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the loss, up to a constant, its slope, and how much the slope bends: no less than it does.

    The loss is half the sum of m_ij sigma((r_j - r_i) / temperature). With e_i = exp(r_i / temperature) the difference
    of sigma from one half is half of (e_i - e_j) / (e_i + e_j): an exponential a system instead of one a pair.

    Args:
        margins: as in `descended`, of one board or of many along further axes before.
        sizes: their absolute values.
        ratings: of the systems of each board.
        temperature: as in `descended`, no less than 0.1, so that no exponential is beyond floats.
        scratch: two arrays like `margins`, which are written over: new ones would cost more than what is computed.
    """
    powers = np.exp((ratings - HIGHEST / 2) / temperature)
    upper, lower = powers[..., :, None], powers[..., None, :]
    apart, total = scratch
    np.subtract(upper, lower, out=apart)
    np.add(upper, lower, out=total)
    apart /= total
    losses = np.einsum("...ij,...ij->...i", margins, apart).sum(axis=-1) / -4
    np.multiply(apart, apart, out=total)
    np.subtract(1.0, total, out=total)
    slopes = -np.einsum("...ij,...ij->...i", margins, total) / (4 * temperature)
    return losses, slopes, np.einsum("...ij,...ij->...i", sizes, total) / (4 * temperature**2)
