"""One system against its rivals: what weights and certificates prove, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.core.weights import over_common_denominator
from ranking_engine.prospects import exact
from ranking_engine.prospects.leads import Integers, Leads

NO_TASK = frozenset[int]()


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
        terms: the conditions.
        unit, scale, most: as those of the leads.
    """

    def __init__(self, table: Leads, i: int, rivals: NDArray[np.intp], terms: Terms) -> None:
        self.rivals, self.terms, self.unit, self.scale = rivals, terms, table.unit, table.scale
        self.most = table.most
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

    def against(self, rivals: NDArray[np.intp]) -> Contest:
        """Return the contest against some of the rivals, given by their place among them."""
        return Contest(self._table, self._i, self.rivals[rivals], self.terms)

    def always_level(self) -> BoolArray:
        """For each rival, whether the system ties with it on every task."""
        return np.asarray((self.exactly == 0).all(axis=1), dtype=bool)

    def domination(self, ignoring: frozenset[int] = NO_TASK) -> Certificate | None:
        """Return the certificate of the first rival that is above the system on every task, under the majority rule.

        `ignoring` some tasks, it is about weights of 0 there.
        """
        looked_at = [t for t in range(self.leads.shape[1]) if t not in ignoring]
        if not self._table.is_majority or not len(self.rivals) or not looked_at:
            return None
        above = self.leads[:, looked_at].max(axis=1) < 0
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
        return Fraction(int(exact.product(self.exactly, numerators, self.most).min()), self.unit * total)

    def certified(
        self, rivals: Sequence[int], terms: Sequence[Fraction], ignoring: frozenset[int] = NO_TASK
    ) -> Certificate | None:
        """Return the certificate that shares in proportion to `rivals` make, or None where they are not shares.

        `ignoring` some tasks, it is about weights of 0 there.
        """
        if sum(rivals) <= 0 or min(rivals) < 0 or min(terms, default=0) < 0:
            return None
        gains = exact.product(self.exactly.T, rivals, self.most).tolist()
        denominator = sum(rivals) * self.unit
        if not any(terms):
            gain = max((gain for t, gain in enumerate(gains) if t not in ignoring), default=None)
            return None if gain is None else Certificate(tuple(rivals), list(terms), Fraction(int(gain), denominator))
        totals = [Fraction(int(gain), denominator) for gain in gains]
        for multiple, row in zip(terms, self.terms.exactly, strict=True):
            if multiple:
                step = multiple / self.terms.unit
                totals = [total + step * int(entry) for total, entry in zip(totals, row, strict=True)]
        most = max((total for t, total in enumerate(totals) if t not in ignoring), default=None)
        return None if most is None else Certificate(tuple(rivals), list(terms), most)
