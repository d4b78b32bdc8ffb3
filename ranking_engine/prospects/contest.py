"""One system against its rivals: candidates for weights and certificates, verified in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.prospects import exact
from ranking_engine.prospects.leads import Integers, Leads
from ranking_engine.prospects.programs import Optimum
from ranking_engine.score_matrix import FloatArray
from ranking_engine.weights import over_common_denominator

Moves = Mapping[int, tuple[Fraction, int]]

TIGHT = 1e-7  # a row whose slack is less is taken to hold with equality, when equations are set up
_SIMPLE_MIXTURES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 100, 1000, 10**5, exact.FINE)


@dataclass(frozen=True, eq=False)
class Terms:
    """The conditions on the weights w over the voting tasks: rows a with a @ w >= 0.

    Attributes:
        exactly: the rows as integers over `unit`, shape (n_rows, n_tasks).
        unit: their common denominator.
        floats: the rows in floats.
    """

    exactly: Integers
    unit: int
    floats: FloatArray

    @classmethod
    def of(cls, rows: Sequence[Sequence[Fraction]], n_tasks: int) -> Terms:
        """Make them of fractions."""
        integers, unit = over_common_denominator([entry for row in rows for entry in row])
        table = np.array(integers, dtype=object).reshape(len(rows), n_tasks)
        floats = np.array([value / unit for value in integers], dtype=np.float64).reshape(table.shape)
        return cls(table, unit, floats)

    def allow(self, numerators: Sequence[int]) -> bool:
        """Whether weights in proportion to `numerators` satisfy every condition, exactly."""
        return not len(self.exactly) or bool((exact.product(self.exactly, numerators, self.most) >= 0).all())

    @cached_property
    def most(self) -> int:
        """No entry of `exactly` is further from 0."""
        return max((abs(entry) for entry in self.exactly.ravel().tolist()), default=0)


@dataclass(frozen=True, eq=False)
class Certificate:
    """A mixture of rivals, and multiples of the conditions, that leave a system no gain on any task.

    Attributes:
        rivals: the share of each rival, integers over their sum.
        terms: the multiple of each condition's row.
        most: the most that the system gains on a task against both together, in the rule's unit: its lead over the
            mixture plus the multiples of the conditions' rows.
    """

    rivals: tuple[int, ...]
    terms: list[Fraction]
    most: Fraction


class TermLeads(Leads):
    """The conditions' rows in place of the leads over rivals: some weights satisfy all where a margin is >= 0."""

    def __init__(self, terms: Terms) -> None:
        self.n_systems, self.n_tasks = terms.exactly.shape
        self._terms, self.unit, self.most = terms, terms.unit, terms.most
        self.scale = float(np.abs(terms.floats).max(initial=0.0)) or 1.0

    def of(self, i: int, rivals: NDArray[np.intp]) -> FloatArray:
        """As for all leads."""
        return self._terms.floats[rivals] / self.scale

    def exactly(self, i: int, rivals: NDArray[np.intp]) -> Integers:
        """As for all leads."""
        return self._terms.exactly[rivals]


class Contest:
    """System i against `rivals` under `terms`.

    Attributes:
        leads: in floats, shape (n_rivals, n_tasks).
        rivals: their indices.
    """

    def __init__(self, table: Leads, i: int, rivals: NDArray[np.intp], terms: Terms) -> None:
        self.rivals, self.terms, self.unit, self.scale = rivals, terms, table.unit, table.scale
        self._table, self._i = table, i
        self.leads = table.of(i, rivals)

    @cached_property
    def exactly(self) -> Integers:
        """The leads as integers over `unit`."""
        return self.leads if self._table.is_majority else self._table.exactly(self._i, self.rivals)

    @property
    def no_terms(self) -> list[Fraction]:
        """Zero for every condition."""
        return [Fraction(0)] * len(self.terms.exactly)

    def domination(self) -> Certificate | None:
        """Return the certificate of the first rival that is above the system on every task, under the majority rule."""
        if not self._table.is_majority or not len(self.rivals):
            return None
        above = self.leads.max(axis=1) < 0
        j = int(np.argmax(above))
        if not above[j]:
            return None
        return Certificate(tuple(int(k == j) for k in range(len(above))), self.no_terms, Fraction(-1))

    def least_lead(self, numerators: Sequence[int]) -> Fraction | None:
        """Return the least lead over a rival under weights in proportion to `numerators`, in the rule's unit.

        None where the weights break a condition or are none.
        """
        total = sum(numerators)
        if total <= 0 or min(numerators) < 0 or not self.terms.allow(numerators):
            return None
        if not len(self.rivals):
            return Fraction(0)
        return Fraction(int(exact.product(self.exactly, numerators, self._table.most).min()), self.unit * total)

    def certified(
        self, rivals: Sequence[int], terms: Sequence[Fraction], ignoring: int | None = None
    ) -> Certificate | None:
        """Return the certificate that shares in proportion to `rivals` make, or None where they are not shares.

        `ignoring` a task, it is about weights of 0 there.
        """
        if sum(rivals) <= 0 or min(rivals) < 0 or min(terms, default=0) < 0:
            return None
        gains = exact.product(self.exactly.T, rivals, self._table.most).tolist()
        denominator = sum(rivals) * self.unit
        if not any(terms):
            gain = max((gain for t, gain in enumerate(gains) if t != ignoring), default=None)
            return None if gain is None else Certificate(tuple(rivals), list(terms), Fraction(int(gain), denominator))
        totals = [Fraction(int(gain), denominator) for gain in gains]
        for multiple, row in zip(terms, self.terms.exactly, strict=True):
            if multiple:
                step = multiple / self.terms.unit
                totals = [total + step * int(entry) for total, entry in zip(totals, row, strict=True)]
        most = max((total for t, total in enumerate(totals) if t != ignoring), default=None)
        return None if most is None else Certificate(tuple(rivals), list(terms), most)

    def margin_weights(self, optimum: Optimum, delta: float) -> Iterator[tuple[int, ...]]:
        """Yield weights near those of the largest margin `delta`, the simplest first."""
        weights = optimum.weights
        if (simple := exact.simple_fractions(weights)) is not None:
            yield simple
        if delta > 0:
            yield exact.rounded(weights, exact.FINE)
        tight = self.leads @ weights - delta < TIGHT
        yield from self._solved_weights(weights, tight, -1, [], delta * self.scale * self.unit)

    def edge_weights(self, weights: FloatArray, moves: Moves, unknown: float) -> Iterator[tuple[int, ...]]:
        """Yield weights near some at the edge of the winning region, where tight leads are 0.

        Args:
            weights: the approximate ones.
            moves: for a task t, (value, factor) with w_t = value + factor u, u being unknown.
            unknown: u, approximately.
        """
        if (simple := exact.simple_fractions(weights)) is not None:
            yield simple
        equations = [(t, factor, value) for t, (value, factor) in moves.items()]
        yield from self._solved_weights(weights, self.leads @ weights < TIGHT, 0, equations, unknown)

    def _solved_weights(
        self,
        weights: FloatArray,
        tight: NDArray[np.bool_],
        of_unknown: int,
        moves: Sequence[tuple[int, int, Fraction]],
        unknown: float,
    ) -> Iterator[tuple[int, ...]]:
        """Yield the solution of the equations that seem to hold, if there is one.

        Unknown are the positive weights and one number u: tight leads + `of_unknown` u are 0.
        """
        support = np.flatnonzero(weights > exact.SUPPORT)
        place = {t: k for k, t in enumerate(support.tolist())}
        width = len(support)
        equations: list[exact.Equation] = [([1] * width + [0], 1)]
        for t, factor, value in moves:
            if t in place:
                equations.append(([int(k == place[t]) for k in range(width)] + [-factor], value))
        held = self.terms.floats @ weights < TIGHT
        equations += [([*row, 0], 0) for row in _distinct(self.terms.exactly[held][:, support])]
        equations += [([*row, of_unknown], 0) for row in _distinct(self.exactly[tight][:, support])]
        solved = exact.solve_equations(equations, [*weights[support].tolist(), unknown])
        if solved is not None and min(solved[:-1]) >= 0 and any(solved[:-1]):
            shares = [Fraction(0)] * len(weights)
            for t, value in zip(support.tolist(), solved[:-1], strict=True):
                shares[t] = value
            yield exact.as_numerators(shares)

    def certificates(self, optimum: Optimum, delta: float, ignoring: int | None = None) -> Iterator[Certificate]:
        """Yield certificates near the duals of the margin program, the simplest first."""
        duals = np.maximum(optimum.rival_duals, 0)
        total = float(duals.sum())
        if total <= 0:
            return
        shares = duals / total
        terms = np.maximum(optimum.condition_duals, 0) * (self.scale / total)
        for candidate in self._mixtures(shares, terms, delta, ignoring):
            if (made := self.certified(*candidate, ignoring)) is not None:
                yield made

    def _mixtures(
        self, shares: FloatArray, terms: FloatArray, delta: float, ignoring: int | None
    ) -> Iterator[tuple[tuple[int, ...], list[Fraction]]]:
        for denominator in _SIMPLE_MIXTURES if delta < 0 else ():
            rivals = exact.rounded(shares, denominator)
            yield rivals, [Fraction(round(value * denominator), denominator) for value in terms.tolist()]
        if (simple := exact.simple_fractions(shares)) is not None:
            yield simple, [Fraction(value).limit_denominator(1000) for value in terms.tolist()]
        if (solved := self._solved_mixture(shares, terms, delta, ignoring)) is not None:
            yield solved

    def _solved_mixture(
        self, shares: FloatArray, terms: FloatArray, delta: float, ignoring: int | None
    ) -> tuple[tuple[int, ...], list[Fraction]] | None:
        """Return the solution of: on every task that seems to gain the most, the gain is the same."""
        gains = shares @ self.leads + (terms / self.scale) @ self.terms.floats
        tight = [t for t in np.flatnonzero(gains > delta - TIGHT).tolist() if t != ignoring]
        rivals = np.flatnonzero(shares > exact.SUPPORT)
        held = np.flatnonzero(terms > exact.SUPPORT * self.scale)
        width = len(rivals) + len(held)
        equations: list[exact.Equation] = [([int(k < len(rivals)) for k in range(width)] + [0], 1)]
        for t in tight:
            row: list[Fraction | int] = [Fraction(int(x), self.unit) for x in self.exactly[rivals, t].tolist()]
            row += [Fraction(int(x), self.terms.unit) for x in self.terms.exactly[held, t].tolist()]
            equations.append(([*row, -1], 0))
        start = [*shares[rivals].tolist(), *terms[held].tolist(), delta * self.scale]
        solved = exact.solve_equations(equations, start)
        if solved is None:
            return None
        all_rivals, all_terms = [Fraction(0)] * len(shares), [Fraction(0)] * len(terms)
        for j, value in zip(rivals.tolist(), solved, strict=False):
            all_rivals[j] = value
        for k, value in zip(held.tolist(), solved[len(rivals) : -1], strict=True):
            all_terms[k] = value
        return exact.as_numerators(all_rivals), all_terms


def _distinct(rows: Integers) -> list[list[int]]:
    return [list(row) for row in dict.fromkeys(tuple(int(x) for x in row) for row in rows.tolist())]
