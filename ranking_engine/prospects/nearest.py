"""The smallest changes of weights that make a system lose to no one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.prospects import exact
from ranking_engine.prospects.candidates import edge_weights
from ranking_engine.prospects.contest import Contest
from ranking_engine.prospects.programs import (
    Budget,
    WeightProgram,
    largest_change_program,
    total_change_program,
)

Numerators = tuple[int, ...]

_UNMOVED = 1e-9
_PUSHES = (1e-9, 1e-8, 1e-7)  # how far into the winning region, as a share of the way to weights inside it
_FINE = 10**12
_LONG = 10**15  # a denominator that no one can read: weights beside the edge are preferred


class NearestWeights:
    """Nearest weights from one origin, for all systems of a problem; the programs are built once.

    Attributes:
        origin: the weights to start from, as shares.
        numerators: the same as integers over their sum.
    """

    def __init__(self, origin: Sequence[Fraction], conditions: FloatArray) -> None:
        self.origin = tuple(origin)
        self.numerators = exact.as_numerators(self.origin)
        self._floats = np.array([float(share) for share in origin])
        self._total = total_change_program(self._floats, conditions)
        self._largest = largest_change_program(self._floats, conditions)

    def total_change(self, contest: Contest, inside: Numerators, budget: Budget) -> Numerators | None:
        """Return weights of the least total change, verified; `inside` are weights that win, as well as any do."""
        return self._nearest(contest, inside, budget, self._total)

    def largest_change(self, contest: Contest, inside: Numerators, budget: Budget) -> Numerators | None:
        """Return weights of the least largest change, verified."""
        return self._nearest(contest, inside, budget, self._largest)

    def _nearest(
        self, contest: Contest, inside: Numerators, budget: Budget, program: WeightProgram
    ) -> Numerators | None:
        if _wins(contest, self.numerators):
            return self.numerators
        optimum = program.solve(contest.leads, self._floats, budget)
        if optimum is None:
            return None
        weights = np.maximum(optimum.weights, 0)
        moved = optimum.weights - self._floats
        change = float(np.abs(moved).max())
        moves = {t: (self.origin[t], 0) for t in np.flatnonzero(np.abs(moved) < _UNMOVED).tolist()}
        if program is self._largest:
            for t in np.flatnonzero(np.abs(np.abs(moved) - change) < _UNMOVED).tolist():
                moves[t] = (self.origin[t], 1 if moved[t] > 0 else -1)
        # Weights at the optimum, then some that are pushed a little into the region.
        long = []
        for numerators in edge_weights(contest, weights, moves, change):
            if sum(numerators) >= _LONG:
                long.append(numerators)
            elif _wins(contest, numerators):
                return numerators
        within = np.array(inside, dtype=np.float64) / float(sum(inside))
        pushed = (exact.rounded((1 - push) * weights + push * within, _FINE) for push in _PUSHES)
        return next((numerators for numerators in (*pushed, *long) if _wins(contest, numerators)), None)


def changes(numerators: Numerators, origin: Numerators) -> tuple[Fraction, Fraction]:
    """Return half of sum_t |w_t - origin_t| and max_t |w_t - origin_t|; both are given by numerators."""
    total, whole = sum(numerators), sum(origin)
    moved = [abs(a * whole - b * total) for a, b in zip(numerators, origin, strict=True)]
    return Fraction(sum(moved), 2 * total * whole), Fraction(max(moved), total * whole)


def _wins(contest: Contest, numerators: Numerators) -> bool:
    lead = contest.least_lead(numerators)
    return lead is not None and lead >= 0
