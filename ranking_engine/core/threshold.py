"""The optimality threshold of tasks that state none: 95 % of the maximum that they have in common.

Vote'n'Rank takes 0.95 on scores from 0 to 1 (Rofin et al. 2023, section 3.1), which is this share of the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.text.names import listed

SHARE = Fraction(95, 100)


@dataclass(frozen=True)
class DerivedGamma:
    """A threshold that no one stated.

    Attributes:
        gamma: the threshold, in the tasks' unit.
        maximum: the maximum of every task, of which it is the share.
    """

    gamma: float
    maximum: float

    def __str__(self) -> str:
        return f"{self.gamma:.12g}, derived: 95 % of the scale's maximum {self.maximum:.12g}"


def derived_gamma(directions: Sequence[int], maxima: Sequence[float | None]) -> DerivedGamma | None:
    """Return the threshold that follows from the scales of tasks.

    There is one where all of them are higher-is-better and state the same maximum above 0: one threshold is for all
    tasks, and the optimality gap is not defined where less is better.

    Args:
        directions: of the tasks that vote.
        maxima: theirs; None or NaN where a task states none.
    """
    distinct = set(maxima)
    maximum = distinct.pop() if len(distinct) == 1 else None
    if maximum is None or not maximum > 0 or any(direction != 1 for direction in directions):
        return None
    # Decimals as someone wrote them: 95 % of 0.7 is 0.665 and not 0.6649999999999999.
    gamma = float(Fraction(repr(float(maximum))) * SHARE)
    return DerivedGamma(gamma, float(maximum)) if gamma > 0 else None


def derived_gamma_of(matrix: ScoreMatrix) -> DerivedGamma | None:
    """Return the threshold that follows from the scales of the tasks that vote in `matrix`."""
    return derived_gamma(matrix.directions[matrix.votes].tolist(), matrix.maximum[matrix.votes].tolist())


def why_no_gamma(matrix: ScoreMatrix) -> str:
    """Return why a matrix without a threshold has none, and what to do; its tasks all vote, higher is better."""
    start = "no optimality threshold (gamma) is stated"
    if (derived := derived_gamma_of(matrix)) is not None:
        return f"{start}; 95 % of the maximum {derived.maximum:.12g} would be {derived.gamma:.12g}"
    without = [name for name, maximum in zip(matrix.task_names, matrix.maximum, strict=True) if np.isnan(maximum)]
    if len(without) == matrix.n_tasks:
        return f"{start}, nor a maximum of which it is 95 %; state either (for percentages 95 is usual)"
    if without:
        some = f"task {without[0]} has" if len(without) == 1 else f"tasks {listed(without)} have"
        return f"{start}, and {some} no maximum of which it could be 95 %"
    if len(set(matrix.maximum.tolist())) > 1:
        return f"{start}, and the maxima differ, so that it cannot be 95 % of one; state it, in the unit of all scores"
    return f"{start}, and 95 % of the maximum {matrix.maximum[0]:.12g} is none; state it, in the unit of all scores"
