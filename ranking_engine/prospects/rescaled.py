"""A second try for tasks on scales so far apart that the solver cannot see the small ones.

Who can win does not depend on the tasks' scales: leads divided by a number s_t > 0 on each task t and weights
multiplied by it give the same sums. So each task is divided by its own spread; the margin, which does depend on the
scales, is then not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.linear_programs import SolverError
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.prospects.contest import NO_TASK, Contest, Terms
from ranking_engine.prospects.decisions import Decision, decide
from ranking_engine.prospects.leads import Integers, Leads
from ranking_engine.prospects.programs import Budget, margin_program

_MAX_BITS = 1000  # beyond, the scales do not fit a float


class EvenLeads(Leads):
    """Leads of which each task is divided by its spread: between -1 and 1 on every one.

    Exact leads are those of `base` times `factors`, over `scale`.
    """

    def __init__(self, base: Leads, factors: Sequence[int], most: int) -> None:
        self.n_systems, self.n_tasks = base.n_systems, base.n_tasks
        self._base, self._factors = base, np.array(factors, dtype=object)
        self.most, self.scale = most, float(most)

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """As for all leads."""
        return np.array(
            [[int(x) / self.most for x in row] for row in self.exactly(i, rivals).tolist()], dtype=np.float64
        ).reshape(len(rivals), self.n_tasks)

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """As for all leads."""
        leads = self._base.exactly(i, rivals).tolist()
        exactly = np.array([[int(x) for x in row] for row in leads], dtype=object).reshape(len(rivals), self.n_tasks)
        return exactly * self._factors


def decide_rescaled(
    contest: Contest, table: Leads, i: int, budget: Budget, without: frozenset[int] = NO_TASK
) -> Decision | None:
    """Decide `contest`, that of system i of `table`, on tasks of even scale; None where that is no help.

    The tasks `without` weigh nothing.

    The evidence is for the contest itself, and verified there.
    """
    if table.spreads is None or max(table.spreads).bit_length() > _MAX_BITS:
        return None
    most = max(table.spreads)
    factors = [most // spread for spread in table.spreads]
    rows = [
        [Fraction(int(entry) * factor, contest.terms.unit * most) for entry, factor in zip(row, factors, strict=True)]
        for row in contest.terms.exactly
    ]
    terms = Terms.of(rows, table.n_tasks)
    even = Contest(EvenLeads(table, factors, most), i, contest.rivals, terms)
    try:
        decision = decide(even, margin_program(table.n_tasks, terms.floats), budget, without)
    except SolverError:
        return None
    # The evidence has to hold for `contest`.
    margin = 0.0 if decision.verdict == "tie_only" else None
    numerators = tuple(value * factor for value, factor in zip(decision.numerators, factors, strict=False))
    if numerators:
        lead = contest.least_lead(numerators)
        if lead is None or lead < 0 or (decision.verdict == "strict" and lead == 0):
            return None
    certificate = None
    if decision.certificate is not None:
        # exact leads are integers over the table's unit there, over nothing here
        multiples = [share / (most * contest.unit) for share in decision.certificate.terms]
        certificate = contest.certified(decision.certificate.rivals, multiples, without)
        if certificate is None or certificate.most > 0 or (decision.verdict == "none" and certificate.most == 0):
            return None
    return replace(decision, numerators=numerators, margin=margin, certificate=certificate)
