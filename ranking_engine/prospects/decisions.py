"""The verdict on one contest: a linear program proposes, exact arithmetic decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ranking_engine.core.score_matrix import BoolArray
from ranking_engine.core.weights import as_float
from ranking_engine.prospects.candidates import certificates, margin_weights
from ranking_engine.prospects.contest import NO_TASK, Certificate, Contest
from ranking_engine.prospects.programs import Budget, WeightProgram
from ranking_engine.prospects.results import Verdict

_NEAR_ZERO = 1e-6  # a margin nearer to 0 is tried both ways: floats do not tell a win from a tie there


@dataclass(frozen=True, eq=False)
class Decision:
    """A verdict with its evidence, before names are put to it.

    Attributes:
        verdict: a key of VERDICTS.
        numerators: weights in proportion, for `strict` and `tie_only`.
        margin: in the rule's unit.
        certificate: for `tie_only` and `none`.
    """

    verdict: Verdict
    numerators: tuple[int, ...] = ()
    margin: float | None = None
    certificate: Certificate | None = None


UNDECIDED = Decision("undecided")


def decide(contest: Contest, program: WeightProgram, budget: Budget, without: frozenset[int] = NO_TASK) -> Decision:
    """Decide `contest`, with a margin program for its tasks and terms; the tasks `without` weigh nothing.

    The largest margin delta is found in floats. Weights with a positive least lead prove `strict`; a certificate
    below 0 on every task proves `none`; weights with a least lead of 0 and a certificate that never exceeds 0 prove
    `tie_only`. Whatever is not proven is `undecided`.
    """
    n, T = contest.leads.shape
    if (always_level := contest.always_level()).any():
        return _with_level_rivals(contest, always_level, program, budget, without)
    if (certificate := contest.domination(without)) is not None:
        return Decision("none", margin=-1.0, certificate=certificate)
    removed = np.array(sorted(without), dtype=np.intp)
    optimum = program.solve(contest.leads, np.full(T, 1 / T), budget, removed)
    if optimum is None:
        return UNDECIDED
    if not n:  # any weights win that the conditions allow
        allowed = (w for w in margin_weights(contest, optimum, 1.0) if contest.least_lead(w) is not None)
        first = next(allowed, None)
        return UNDECIDED if first is None else Decision("strict", first)
    # Turn the optimum into a verdict that holds exactly.
    delta, weak = float(optimum.x[T]), None
    if delta > -_NEAR_ZERO:
        for numerators in margin_weights(contest, optimum, delta):
            lead = contest.least_lead(numerators)
            if lead is not None and lead > 0:
                return Decision("strict", numerators, as_float(lead))
            weak = numerators if lead == 0 and weak is None else weak
    if delta < _NEAR_ZERO:
        for certificate in certificates(contest, optimum, delta, without):
            if certificate.most < 0:
                margin = min(delta * contest.scale, as_float(certificate.most))
                return Decision("none", margin=margin, certificate=certificate)
            if certificate.most == 0 and weak is not None:
                return Decision("tie_only", weak, 0.0, certificate)
    return UNDECIDED


def _with_level_rivals(
    contest: Contest, always_level: BoolArray, program: WeightProgram, budget: Budget, without: frozenset[int]
) -> Decision:
    """Decide a contest in which some rivals tie whatever the weights, such as duplicates of the system.

    Without them the program finds weights well inside the winning region, where there are any; with them the best
    that is possible is a tie.
    """
    others = np.flatnonzero(~always_level)
    decision = decide(contest.against(others), program, budget, without)
    if decision.verdict == "strict":
        first = int(np.argmax(always_level))
        shares = [int(k == first) for k in range(len(always_level))]
        certificate = Certificate(tuple(shares), contest.no_terms, Fraction(0))
        return Decision("tie_only", decision.numerators, 0.0, certificate)
    if decision.certificate is None:
        return decision
    shares = [0] * len(always_level)
    for k, share in zip(others.tolist(), decision.certificate.rivals, strict=True):
        shares[k] = share
    return replace(decision, certificate=replace(decision.certificate, rivals=tuple(shares)))
