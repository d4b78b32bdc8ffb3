"""Rules that drop systems in rounds, and the threshold rule.

Every round drops all systems that are tied for removal; the rule stops when all that remain are tied, and
they win together. A system's score is the round in which it leaves, a winner's the last round. In each round
positions are those among the systems that remain. Sums are compared as integers, exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import BoolArray

Leaving = Callable[[NDArray[Any]], BoolArray]
Share = Literal["alone", "whole", "split"]

_INT64_SAFE = 2**62
_GONE = np.iinfo(np.int32).max  # the place of a system that has left


def baldwin(profile: Profile, *, ties: str = "average") -> Outcome:
    """Drop the systems with the least Borda score among those that remain, until all are tied.

    Baldwin 1926. O(n_systems^2) once the wins are known.
    """
    n = profile.n_systems
    scores, lost = _borda_scores(profile, ties)
    beyond = 3 * n * int(profile.matrix.integer_weights.sum()) + 1  # and so it stays, whichever others leave
    left, n_left = np.zeros(n), 0
    for number in itertools.count(1):
        gone = (scores == scores[scores.argmin()]).nonzero()[0]
        left[gone] = number
        n_left += len(gone)
        if n_left == n:
            return Outcome(left)
        scores[gone] = beyond
        for j in gone.tolist():
            scores -= lost[j]
    raise AssertionError("unreachable")


def nanson(profile: Profile, *, ties: str = "average") -> Outcome:
    """Drop the systems with a Borda score strictly below the average of those that remain, until all are tied.

    Nanson 1882. O(n_systems^2) once the wins are known.
    """
    n = profile.n_systems
    scores, lost = _borda_scores(profile, ties)
    left, remaining = np.zeros(n), np.arange(n)
    for number in itertools.count(1):
        is_leaving = np.asarray(scores * len(scores) < scores.sum(), dtype=bool)
        left[remaining] = number
        if not is_leaving.any():
            return Outcome(left)
        gone, remaining = remaining[is_leaving], remaining[~is_leaving]
        scores = scores[~is_leaving] - lost[np.ix_(gone, remaining)].sum(axis=0)
    raise AssertionError("unreachable")


def instant_runoff(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Drop the systems with the least weight of first places among those that remain, until all are tied.

    Under `worst` a first place counts for a system that is first alone, under `average` tied ones share it.
    """
    share: dict[str, Share] = {"worst": "alone", "best": "whole", "average": "split"}
    place = profile.order.place.T
    return _drop_by_votes(profile, place, share[ties], lambda votes: votes == votes.min())


def coombs(profile: Profile, *, ties: str = "worst") -> Outcome:
    """Drop the systems with the most weight of last places among those that remain, until all are tied.

    No majority of first places ends it early. Under `best` a last place counts for a system that is last
    alone, under `average` tied ones share it. Coombs 1964.
    """
    share: dict[str, Share] = {"worst": "whole", "best": "alone", "average": "split"}
    place = -profile.order.place.T
    return _drop_by_votes(profile, place, share[ties], lambda votes: votes == votes.max())


def _borda_scores(profile: Profile, ties: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Borda scores, up to a factor and a summand, and `lost[j, i]`: what i loses when j leaves."""
    # `presence[i, j]` is what j's presence adds to i's score. Among m systems, i earns on a task m minus its position:
    # the number of systems strictly below it under `worst`; m - 1 minus the number above it under `best`; the mean of
    # the two under `average`.
    pairwise = profile.pairwise
    if ties == "average":
        presence = pairwise.margins
    else:
        presence = pairwise.wins if ties == "worst" else -pairwise.wins.T
    bound = 4 * int(profile.matrix.integer_weights.sum()) * profile.n_systems**2
    dtype = np.dtype(np.int64 if bound < _INT64_SAFE else object)
    return presence.sum(axis=1, dtype=dtype), np.ascontiguousarray(presence.T)


def _drop_by_votes(profile: Profile, place: NDArray[np.int32], share: Share, leaving: Leaving) -> Outcome:
    """Drop in rounds the systems for which `leaving` of the votes holds, until it holds for all that remain.

    `place` has shape (n_tasks, n_systems); a task's vote goes to the least place among those that remain.
    """
    front = _Front(place, [int(weight) for weight in profile.matrix.integer_weights])
    left = np.zeros(profile.n_systems)
    for number in itertools.count(1):
        is_leaving = leaving(front.votes(share))
        left[front.remaining] = number
        if is_leaving.all():
            return Outcome(left)
        front.drop(is_leaving)
    raise AssertionError("unreachable")


class _Front:
    """The systems in front on each task, among those that remain.

    Columns of `place` and `is_front` are the systems of `columns`; some of them may have left, but fewer
    than half. `size[t]` counts the systems in front on task t.
    """

    def __init__(self, place: NDArray[np.int32], weights: list[int]) -> None:
        self.place = np.array(place, dtype=np.int32, order="C")
        self.weights = weights
        self.columns = np.arange(place.shape[1])
        self.is_present = np.ones(place.shape[1], dtype=bool)
        self.is_front = np.zeros(place.shape, dtype=np.float32 if sum(weights) < 2**24 else np.float64)
        self.size = np.zeros(len(place), dtype=np.int64)
        self._find(np.arange(len(place)))

    @property
    def remaining(self) -> NDArray[np.intp]:
        return self.columns[self.is_present]

    def votes(self, share: Share) -> NDArray[Any]:
        """Return the votes of the remaining systems, integers in a unit common to all of them.

        A task gives its weight to each system in front (`whole`), to one in front `alone`, or `split`.
        """
        units, sizes = self.weights, self.size.tolist()
        if share == "alone":
            units = [weight * (size == 1) for weight, size in zip(units, sizes, strict=True)]
        elif share == "split":
            common = math.lcm(*sizes)
            units = [weight * (common // size) for weight, size in zip(units, sizes, strict=True)]
        total = sum(units)
        if total < 2**53:
            dtype = self.is_front.dtype if total < 2**24 else np.float64
            # Integers times 0 or 1: nothing here is invalid, but vectorised products of some processors raise the
            # flag for lanes that they do not use.
            with np.errstate(invalid="ignore"):
                return (np.array(units, dtype=dtype) @ self.is_front)[self.is_present]
        return np.array(units, dtype=object) @ (self.is_front[:, self.is_present] > 0).astype(object)

    def drop(self, is_leaving: BoolArray) -> None:
        """Let go those of the remaining systems that `is_leaving` marks."""
        gone = np.flatnonzero(self.is_present)[is_leaving]
        self.is_present[gone] = False
        self.place[:, gone] = _GONE
        touched = np.flatnonzero(self.is_front[:, gone].any(axis=1))
        if 2 * self.is_present.sum() < len(self.columns):
            self.columns = self.remaining
            self.place = self.place[:, self.is_present]
            self.is_front = self.is_front[:, self.is_present]
            self.is_present = np.ones(len(self.columns), dtype=bool)
        self._find(touched)

    def _find(self, tasks: NDArray[np.intp]) -> None:
        """Find who is in front on `tasks`."""
        places = self.place[tasks]
        front = places == places.min(axis=1, keepdims=True)
        self.is_front[tasks] = front
        self.size[tasks] = front.sum(axis=1)
