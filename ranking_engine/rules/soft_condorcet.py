"""Soft Condorcet optimisation: ratings whose order contradicts few comparisons, near Kemeny's where that is too large.

Kemeny's order has the least sum, over all pairs, of the weight that prefers the lower one. Lanctot et al. 2025 replace
the step from 0 to 1 of each pair by a smooth one, sigma((r_j - r_i) / temperature), and follow its slope. Ratings stay
between two bounds. The loss has several minima; which one is reached depends on the start and the steps. Here all
ratings start in the middle and no step is random, so that the same table always gives the same ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.rules.kemeny_search import addable
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.rates import in_first_order, name_order, snapped
from ranking_engine.rules.soft_steps import keeps_places, loss_slope_bend, make_equal, steepest

HIGHEST = 1000.0  # of a rating, as by default in the authors' code; the lowest is 0
MOST_ROOM = 1000.0  # temperatures from the lowest rating to the highest, so that no exponential is beyond floats
TIED = 1e-5  # temperatures: ratings that differ by less in the end tie; pairs far apart still pull by about as much

MAX_STEPS = 10_000
_LEAST_MAX_STEPS = 300  # of boards that are so large that each step takes long
_MAX_CELLS = 3e8  # of all steps together

_FLAT = 1e-10  # of the slope, for margins of at most 1
_FASTER, _SLOWER = 1.3, 0.5
_LEAST_BEND = 1e-12
_PLAIN_STEPS = 30  # before momentum: most places are decided by then
_MOMENTUM, _WARM_UP = 0.9, 3
_FEWER = 0.75  # of the boards: tables are copied so that the others are left behind


@dataclass(frozen=True, eq=False)
class Descents:
    """Where the descents of boards ended.

    Attributes:
        ratings: of each board's systems, in temperatures above the middle, shape (n_boards, n_systems).
        steps: taken on each board.
        is_stationary: whether the slope had vanished there, by board.
    """

    ratings: FloatArray
    steps: NDArray[np.intp]
    is_stationary: BoolArray


def soft_condorcet(profile: Profile, *, temperature: float = 1.0) -> Outcome:
    """Return ratings between 0 and 1,000, from descent on the smooth loss (Lanctot et al. 2025).

    `details`: `loss`, the smooth loss in units of weight, as far as orders differ in it; `distance`, that of the order
    of the ratings from the tasks, as of Kemeny's, where a tie counts one half; `lower_bound` on that of any order, from
    each pair by itself; `steps`; `is_stationary`: the slope has vanished, or points out of the bounds; the loss need
    not be least there, see `descended`.
    O(n^2) a step, see `step_limit`.
    """
    order = name_order(profile)
    margins = profile.pairwise.margins[np.ix_(order, order)]
    unit = float(profile.pairwise.denominator)
    largest = max(abs(int(margins.max())), 1) if profile.n_systems > 1 else 1
    shares = np.array(margins / largest, dtype=np.float64)
    every = np.ones((1, len(shares)), dtype=bool)
    descents = descended(shares[np.newaxis], every, min(MOST_ROOM, HIGHEST / temperature))
    places = descents.ratings[0]
    details: dict[str, Any] = {**pair_details(profile.pairwise), "temperature": float(temperature)}
    wins = addable(profile.pairwise.wins)
    always = float(np.minimum(wins, wins.T).sum()) / 2 / unit
    beyond = np.maximum(np.array(margins / unit, dtype=np.float64), 0.0)
    difference = places[:, None] - places
    details["lower_bound"] = always
    details["distance"] = always + float((beyond * ((difference < 0) + 0.5 * (difference == 0))).sum())
    details["loss"] = always + float((beyond * (0.5 - 0.5 * np.tanh(difference / 2))).sum())
    details["steps"] = int(descents.steps[0])
    details["is_stationary"] = bool(descents.is_stationary[0])
    return Outcome(in_first_order(HIGHEST / 2 + temperature * places, order), details=details)


def unfinished_note(details: Mapping[str, Any]) -> str:
    """Return that ratings were taken before the loss had stopped falling; empty where they were not.

    Empty also where no order is nearer to the tasks: the loss of systems that all tasks order alike falls for thousands
    of steps by moving them further apart, and their order no longer changes.

    Args:
        details: of a ranking.
    """
    is_nearest = details.get("distance", np.inf) <= details.get("lower_bound", -np.inf)
    if details.get("is_stationary", True) or is_nearest:
        return ""
    return (
        f"The descent was ended after {details['steps']:,} steps, before the loss had stopped falling: systems with "
        "ratings close together can be in the wrong order."
    )


def step_limit(n_systems: int) -> int:
    """Return after how many steps the descent of a board ends, finished or not."""
    return int(min(MAX_STEPS, max(_LEAST_MAX_STEPS, _MAX_CELLS // max(1, n_systems) ** 2)))


def descended(margins: FloatArray, present: BoolArray, room: float) -> Descents:
    """Return ratings of boards where the loss does not fall, the steps taken, and whether its slope has vanished.

    That may be a saddle point, from which some direction leads further down: systems that all start alike and are alike
    to the loss stay alike, as the three of a cycle do.

    Args:
        margins: `margins[b, i, j]` = -`margins[b, j, i]`, from -1 to 1; systems in the order of names, so that the
            order of rows changes no bit.
        present: which systems are on each board, shape (b, n); the others have margins of 0, and stay in the middle.
        room: temperatures from the lowest rating to the highest, at most MOST_ROOM.

    In a plain step each rating moves by its slope over its bend, which is at most one temperature, all of them by less
    where the loss would rise. So a system that beats all others moves up as far as any may, and one that is above
    another on every task stays above it: with the other's rating it would move further, and what the distance takes
    from that is less than the distance. After some plain steps each rating also goes on by a share of its last move,
    which takes long chains apart in a fraction of the steps, but only where the loss falls and no two systems change
    places; else a plain step follows. So what is said of plain steps is true of all.

    Systems whose ratings differ by rounding alone are made equal after each step: what makes two of them alike must not
    be lost by the order in which floats are added. Each board takes the same steps as by itself.
    """
    (b, n), bound, on_board = present.shape, room / 2, present
    ratings, steps, is_stationary = np.zeros((b, n)), np.zeros(b, dtype=np.intp), np.zeros(b, dtype=bool)
    limits = np.array([step_limit(count) for count in present.sum(axis=1).tolist()], dtype=np.intp)
    rows: NDArray[np.intp] = np.arange(b)
    is_moving: BoolArray = np.ones(b, dtype=bool)
    margins = np.ascontiguousarray(margins)  # sums run in the same order
    sizes, scratch = np.abs(margins), np.empty((2, *margins.shape))
    lengths: FloatArray = np.ones(b)
    streaks: FloatArray = np.zeros(b)  # accepted steps since momentum began anew
    now: FloatArray = np.zeros((b, n))
    before: FloatArray = np.zeros((b, n))
    losses, slopes, bends = loss_slope_bend(margins, sizes, now, scratch)
    for step in range(MAX_STEPS + 1):
        is_flat = steepest(now, slopes, bound) <= _FLAT
        ends = is_moving & (is_flat | (step >= limits[rows]))
        if ends.any():
            ended = rows[ends]
            ratings[ended], steps[ended], is_stationary[ended] = now[ends], step, is_flat[ends]
            is_moving = is_moving & ~ends
            if not is_moving.any():
                break
            if np.count_nonzero(is_moving) < _FEWER * len(rows):
                kept, is_moving = is_moving, is_moving[is_moving]
                rows, present, lengths, streaks = rows[kept], present[kept], lengths[kept], streaks[kept]
                margins, sizes, now, before = margins[kept], sizes[kept], now[kept], before[kept]
                losses, slopes, bends = losses[kept], slopes[kept], bends[kept]
        plain = now - lengths[:, None] * slopes / np.maximum(bends, _LEAST_BEND)
        shares = np.minimum(_MOMENTUM, streaks / (streaks + _WARM_UP))
        further = np.clip(plain + shares[:, None] * (now - before), -bound, bound)
        goes_on = (shares > 0) & keeps_places(now, further, present)
        tried = np.where(goes_on[:, None], further, np.clip(plain, -bound, bound))
        make_equal(tried, present)
        new_losses, new_slopes, new_bends = loss_slope_bend(margins, sizes, tried, scratch[:, : len(rows)])
        is_better = new_losses <= losses
        lengths = np.where(is_better, np.minimum(lengths * _FASTER, 1.0), np.where(goes_on, lengths, lengths * _SLOWER))
        streaks = np.where(is_better & (goes_on | (shares == 0)) & (step >= _PLAIN_STEPS), streaks + 1, 0.0)
        taken = is_better & is_moving
        losses, moved = np.where(taken, new_losses, losses), taken[:, None]
        before, now = np.where(moved, now, before), np.where(moved, tried, now)
        slopes, bends = np.where(moved, new_slopes, slopes), np.where(moved, new_bends, bends)
    tied = snapped(np.where(on_board, ratings, np.nan), TIED)
    return Descents(np.where(np.isnan(tied), 0.0, tied), steps, is_stationary)
