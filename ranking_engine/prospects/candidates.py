"""Candidates for weights and certificates: exact ones near a solver's floats, the simplest first.

None is proven to be any good: a contest verifies each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.exact_algebra import Equation, solve_equations
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.core.weights import as_float, over_common_denominator
from ranking_engine.prospects import exact
from ranking_engine.prospects.contest import NO_TASK, Certificate, Contest
from ranking_engine.prospects.leads import Integers
from ranking_engine.prospects.programs import Optimum

Moves = Mapping[int, tuple[Fraction, int]]

_TIGHT = 1e-7  # a row whose slack is less is taken to hold with equality
_SUPPORTS = (exact.SUPPORT, 1e-13)  # weights from here on are positive: some vertices have very small ones
_SIMPLE_MIXTURES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 100, 1000, 10**5, exact.FINE)


def margin_weights(contest: Contest, optimum: Optimum, delta: float) -> Iterator[tuple[int, ...]]:
    """Yield weights near those of the largest margin `delta`."""
    weights = optimum.weights
    if (simple := exact.simple_fractions(weights)) is not None:
        yield simple
    if delta > 0:
        yield exact.rounded(weights, exact.FINE)
    tight = contest.leads @ weights - delta < _TIGHT
    unknown = as_float(Fraction(delta * contest.scale) * contest.unit)
    yield from _solved_weights(contest, weights, tight, moves={}, of_unknown=-1, unknown=unknown)


def edge_weights(contest: Contest, weights: FloatArray, moves: Moves, unknown: float) -> Iterator[tuple[int, ...]]:
    """Yield weights near some at the edge of the winning region, where tight leads are 0.

    Args:
        contest: whose region it is.
        weights: the approximate ones.
        moves: for a task t, (value, factor) with w_t = value + factor u, u being unknown and a factor -1, 0 or 1.
        unknown: u, approximately.
    """
    if (simple := exact.simple_fractions(weights)) is not None:
        yield simple
    tight = contest.leads @ weights < _TIGHT
    yield from _solved_weights(contest, weights, tight, moves=moves, of_unknown=0, unknown=unknown)


def _solved_weights(
    contest: Contest,
    weights: FloatArray,
    tight: NDArray[np.bool_],
    *,
    moves: Moves,
    of_unknown: int,
    unknown: float,
) -> Iterator[tuple[int, ...]]:
    """Yield solutions of the equations that seem to hold.

    Unknown are the positive weights without a move and the number u: tight leads + `of_unknown` u are 0, and so are
    the rows of conditions that hold with equality.
    """
    every = np.ones((1, len(weights)), dtype=np.int64)
    is_held = contest.terms.floats @ weights < _TIGHT
    for least in _SUPPORTS:
        free = [t for t in np.flatnonzero(weights > least).tolist() if t not in moves]
        equations = [
            *_equations(every, 1, free, moves, total=1),
            *_equations(contest.terms.exactly[is_held], contest.terms.most, free, moves),
            *_equations(contest.exactly[tight], contest.most, free, moves, of_unknown=of_unknown),
        ]
        solution = solve_equations(equations, [*weights[free].tolist(), unknown])
        if solution is None:
            continue
        shares = [Fraction(0)] * len(weights)
        for t, value in zip(free, solution, strict=False):
            shares[t] = value
        for t, (value, factor) in moves.items():
            shares[t] = value + factor * solution[-1]
        if min(shares) >= 0 and any(shares):
            yield exact.as_numerators(shares)


def _equations(
    rows: Integers, most: int, free: list[int], moves: Moves, *, of_unknown: int = 0, total: int = 0
) -> list[Equation]:
    """Return row @ w + `of_unknown` u = `total` for each distinct row, in the free weights and u."""
    if not len(rows):
        return []
    values, denominator = over_common_denominator([value for value, _ in moves.values()])
    known = exact.product(rows[:, list(moves)], values, most).tolist()
    slopes = [of_unknown] * len(rows)
    for factor in (-1, 1):
        tasks = [t for t, (_, f) in moves.items() if f == factor]
        changes = exact.product(rows[:, tasks], [1] * len(tasks), most).tolist()
        slopes = [slope + factor * int(change) for slope, change in zip(slopes, changes, strict=True)]
    distinct: dict[Equation, None] = {}
    for row, slope, constant in zip(rows[:, free].tolist(), slopes, known, strict=True):
        distinct[(*map(int, row), slope), total - Fraction(int(constant), denominator)] = None
    return list(distinct)


def certificates(
    contest: Contest, optimum: Optimum, delta: float, ignoring: frozenset[int] = NO_TASK
) -> Iterator[Certificate]:
    """Yield certificates near the duals of the margin program, the simplest first."""
    duals = np.maximum(optimum.rival_duals, 0)
    total = float(duals.sum())
    if total <= 0:
        return
    shares = duals / total
    terms = np.maximum(optimum.condition_duals, 0) * (contest.scale / total)
    candidates = []
    for denominator in _SIMPLE_MIXTURES if delta < 0 else ():
        fractions = [Fraction(round(value * denominator), denominator) for value in terms.tolist()]
        candidates.append((exact.rounded(shares, denominator), fractions))
    if (simple := exact.simple_fractions(shares)) is not None:
        candidates.append((simple, [Fraction(value).limit_denominator(1000) for value in terms.tolist()]))
    for candidate in candidates:
        if (certificate := contest.certified(*candidate, ignoring)) is not None:
            yield certificate
    # The solution of: on every task that seems to gain the most, the gain is the same.
    gains = shares @ contest.leads + (terms / contest.scale) @ contest.terms.floats
    tight = [t for t in np.flatnonzero(gains > delta - _TIGHT).tolist() if t not in ignoring]
    rivals = np.flatnonzero(shares > exact.SUPPORT)
    held = np.flatnonzero(terms > exact.SUPPORT * contest.scale)
    width = len(rivals) + len(held)
    equations: list[Equation] = [([int(k < len(rivals)) for k in range(width)] + [0], 1)]
    for t in tight:
        row: list[Fraction | int] = [Fraction(int(x), contest.unit) for x in contest.exactly[rivals, t].tolist()]
        row += [Fraction(int(x), contest.terms.unit) for x in contest.terms.exactly[held, t].tolist()]
        equations.append(([*row, -1], 0))
    start = [*shares[rivals].tolist(), *terms[held].tolist(), delta * contest.scale]
    if (solved := solve_equations(equations, start)) is None:
        return
    all_rivals, all_terms = [Fraction(0)] * len(shares), [Fraction(0)] * len(terms)
    for j, value in zip(rivals.tolist(), solved, strict=False):
        all_rivals[j] = value
    for k, value in zip(held.tolist(), solved[len(rivals) : -1], strict=True):
        all_terms[k] = value
    if (certificate := contest.certified(exact.as_numerators(all_rivals), all_terms, ignoring)) is not None:
        yield certificate
