"""The smallest changes of weights that make a system lose to nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ranking_engine.prospects import exact
from ranking_engine.prospects.contest import Contest
from ranking_engine.prospects.programs import (
    Budget,
    Optimum,
    WeightProgram,
    largest_change_program,
    total_change_program,
)
from ranking_engine.score_matrix import FloatArray

Numerators = tuple[int, ...]

_UNMOVED = 1e-9
_PUSHES = (10**8, 10**7, 10**6, 10**5, 10**4)  # into the winning region: one part in so many


class NearestWeights:
    """Nearest weights from one origin, for all systems of a problem; the programs are built once."""

    def __init__(self, origin: Sequence[Fraction], conditions: FloatArray) -> None:
        self.origin = tuple(origin)
        self._floats = np.array([float(share) for share in origin])
        self._total = total_change_program(self._floats, conditions)
        self._largest = largest_change_program(self._floats, conditions)

    def total_change(self, contest: Contest, inside: Numerators, budget: Budget) -> Numerators | None:
        """Return weights of the least total change, verified; `inside` are weights that win, as well as any do."""
        return self._found(contest, inside, budget, self._total)

    def largest_change(self, contest: Contest, inside: Numerators, budget: Budget) -> Numerators | None:
        """Return weights of the least largest change, verified."""
        return self._found(contest, inside, budget, self._largest)

    def _found(
        self, contest: Contest, inside: Numerators, budget: Budget, program: WeightProgram
    ) -> Numerators | None:
        unchanged = exact.as_numerators(self.origin)
        if _wins(contest, unchanged):
            return unchanged
        optimum = program.solve(contest.leads, self._floats, budget)
        if optimum is None:
            return None
        for numerators in self._candidates(contest, optimum, inside, is_largest=program is self._largest):
            if _wins(contest, numerators):
                return numerators
        return None

    def _candidates(
        self, contest: Contest, optimum: Optimum, inside: Numerators, *, is_largest: bool
    ) -> Iterator[Numerators]:
        """Yield weights at the optimum, then some that are pushed a little into the region."""
        weights = np.maximum(optimum.weights, 0)
        moved = optimum.weights - self._floats
        change = float(np.abs(moved).max())
        moves = {t: (self.origin[t], 0) for t in np.flatnonzero(np.abs(moved) < _UNMOVED).tolist()}
        if is_largest:
            for t in np.flatnonzero(np.abs(np.abs(moved) - change) < _UNMOVED).tolist():
                moves[t] = (self.origin[t], 1 if moved[t] > 0 else -1)
        yield from contest.edge_weights(weights, moves, change)
        at_edge, total = exact.rounded(weights, exact.FINE), sum(inside)
        for part in _PUSHES:
            pairs = zip(at_edge, inside, strict=True)
            yield tuple(edge * total * (part - 1) + within * exact.FINE for edge, within in pairs)


def total_change(weights: Sequence[Fraction], origin: Sequence[Fraction]) -> Fraction:
    """Return half of sum_t |w_t - origin_t|."""
    return sum((abs(w - w0) for w, w0 in zip(weights, origin, strict=True)), Fraction(0)) / 2


def largest_change(weights: Sequence[Fraction], origin: Sequence[Fraction]) -> Fraction:
    """Return max_t |w_t - origin_t|."""
    return max(abs(w - w0) for w, w0 in zip(weights, origin, strict=True))


def _wins(contest: Contest, numerators: Numerators) -> bool:
    lead = contest.least_lead(numerators)
    return lead is not None and lead >= 0
