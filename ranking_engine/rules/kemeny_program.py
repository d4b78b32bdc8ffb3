"""Kemeny orders of one component by linear programs with triangle cuts, and by branching where these do not do.

x[i, j] for i < j is 1 where i is placed above j; x[j, i] stands for 1 - x[i, j]. An order is a 0/1 vector with
0 <= x[i, j] + x[j, k] - x[i, k] <= 1 for all i < j < k, and its excess is a constant minus the sum of
margins[i, j] x[i, j] (Grötschel, Jünger and Reinelt 1984). Rows are added as solutions violate them.

Lower bounds never rest on the solver's word: its duals, rounded to multiples of 2^-16, are multiplied out in
integers, and any duals give a valid bound. Branches end when their bound reaches the best order.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.linear_programs import MOST_ITERATIONS, UnitProgram
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.rules.kemeny_search import Margins, Order, excess_of, improved, searched

MAX_COST = 2**44  # of the sum of all |margins|, so that integers times 2^16 stay below 2^62
_SCALE = 2**16
_VIOLATION = 1e-6
_MOST_CYCLES = 2**22  # through pairs against the solution's own order: with more, all triples are gone through
_ROWS_A_ROUND = 12  # times the number of systems
_ROWS_KEPT = 24  # times the number of systems: with more, those that the solution does not touch are dropped
_MAX_PROBES = 40

Clock = Callable[[], float]
_Node = tuple[int, int, tuple[tuple[int, float], ...], int]  # bound, minus its number, pairs placed, next pair


def seconds_left(seconds: float) -> Clock:
    """Return a function that tells how many of `seconds` are left from now."""
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


@dataclass
class Steps:
    """Work done, in steps that do not depend on the machine's speed."""

    passes: int = 0
    rounds: int = 0
    iterations: int = 0
    rows: int = 0
    nodes: int = 0
    probes: int = 0


class OrderProgram:
    """The best orders of a component; `order` and `excess` are the best so far, `bound` is proven.

    margins: integers, the sum of whose absolute values is at most MAX_COST.
    left, most_iterations: the search ends when no seconds are left, or after so many of the simplex method.
    """

    def __init__(
        self, margins: Margins, order: Order, left: Clock, steps: Steps, most_iterations: int = MOST_ITERATIONS
    ) -> None:
        self.margins = margins
        self.n = len(margins)
        self.order, self.excess = order, excess_of(margins, order)
        self.others: list[Order] = []  # as good as `order`
        self.bound = 0
        self.left, self.steps, self.most_iterations = left, steps, most_iterations
        self.above, self.below = np.triu_indices(self.n, 1)
        self.column = np.zeros((self.n, self.n), dtype=np.int32)
        self.column[self.above, self.below] = np.arange(len(self.above))
        self.cost = -margins[self.above, self.below].astype(np.int64)
        self.constant = int(np.maximum(-self.cost, 0).sum())
        self.program = UnitProgram(self.cost.astype(np.float64))
        self.rows = np.zeros((0, 3), dtype=np.int32)
        self.reduced = np.zeros(len(self.cost), dtype=np.int64)  # of the best bound, times 2^16
        self.exact_bound = 0  # of the linear program, times 2^16
        self._fraction: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the time or the iterations are used up."""
        return self.left() <= 0 or self.steps.iterations >= self.most_iterations

    def solve(self) -> None:
        """Close the gap by cuts, then by branching on fractional pairs, until it is over."""
        self._add_rows(self._violated(self._matrix(self.cost < 0)))
        self.bound = max(0, self._cut(0, keep=True))
        fraction = self._fraction
        if self.bound < self.excess:
            order, passes = searched(self.margins, self.order, self.bound)
            self.steps.passes += passes
            self._meet(order)
        if self.bound < self.excess and fraction is not None:
            # Take the node with the least bound, place its most doubtful pair both ways, and bound again.
            waiting: list[_Node] = [(self.bound, 0, (), fraction)]
            has_time = True
            while has_time and waiting and waiting[0][0] < self.excess and not self.is_over:
                bound, _, fixed, column = heapq.heappop(waiting)
                for value in (0.0, 1.0):
                    self.steps.nodes += 1
                    placed = (*fixed, (column, value))
                    child = max(bound, self._cut_with(placed, 0))
                    has_time = has_time and (child >= self.excess or self._fraction is not None)
                    heapq.heappush(waiting, (child, -self.steps.nodes, placed, self._fraction or 0))
                self.bound = min(self.excess, waiting[0][0])

    def least_excess_with(self, columns: NDArray[np.int32], values: FloatArray) -> int:
        """Return a lower bound on the excess of the orders in which some variables have the values stated.

        By the reduced costs alone where these suffice to exceed `excess`, else by a linear program.
        """
        moved = self.reduced[columns] * values.astype(np.int64) - np.minimum(self.reduced[columns], 0)
        quick = _ceil_scaled(self.exact_bound + int(moved.sum()))
        if quick > self.excess or self.steps.probes >= _MAX_PROBES or self.is_over:
            return max(quick, self.bound)
        self.steps.probes += 1
        placed = tuple(zip(columns.tolist(), values.tolist(), strict=True))
        return max(self._cut_with(placed, 1), self.bound)

    def possible_firsts(self) -> Order:
        """Return the systems that the reduced costs do not rule out as first of a best order, best placed first.

        That v is first raises the bound by the reduced costs of all pairs of v that it decides otherwise.
        """
        raised = np.zeros((self.n, self.n), dtype=np.int64)
        raised[self.above, self.below] = np.maximum(self.reduced, 0)
        raised[self.below, self.above] = -np.minimum(self.reduced, 0)
        is_possible = self.exact_bound + raised.sum(axis=1) <= self.excess * _SCALE
        return self.order[is_possible[self.order]]

    def pair(self, i: int, j: int) -> tuple[int, float]:
        """Return the variable and the value that place i above j."""
        return int(self.column[min(i, j), max(i, j)]), float(i < j)

    def _cut_with(self, placed: tuple[tuple[int, float], ...], above: int) -> int:
        columns = np.array([column for column, _ in placed], dtype=np.int32)
        self.program.fix(columns, np.array([value for _, value in placed]))
        bound = self._cut(above, keep=False)
        self.program.fix(columns[:0], np.zeros(0))
        return bound

    def _cut(self, above: int, *, keep: bool) -> int:
        """Solve the linear program, adding rows until none is violated; return the best bound met.

        Stops early once the bound is `above` more than the excess of the best order. `keep`: remember bound and
        reduced costs. Leaves in `_fraction` the variable that is least decided, None without a solution.
        """
        best, pruned = 0, -1
        self._fraction = None
        while True:
            left = max(0, self.most_iterations - self.steps.iterations)
            relaxation = self.program.solve_relaxation(self.left(), left)
            self.steps.rounds += 1
            self.steps.iterations += relaxation.n_iterations
            if relaxation.is_infeasible:
                return self.excess + 1
            if relaxation.duals is not None:
                best = max(best, self._exact_bound(relaxation.duals, keep=keep))
            if relaxation.x is None or best >= self.excess + above:
                return best
            matrix = self._matrix(relaxation.x)
            # Round a solution to an order, by the share of systems below each, and keep it if it is better.
            order, passes = improved(self.margins, np.argsort(-matrix.sum(axis=1), kind="stable"))
            self.steps.passes += passes
            self._meet(order)
            self._fraction = int(np.abs(relaxation.x - 0.5).argmin())
            rows = self._violated(matrix)
            if not len(rows) or self.is_over or best >= self.excess + above:
                return best
            if keep and best > pruned and len(self.rows) > _ROWS_KEPT * self.n:
                pruned = best  # a bound that rises each time keeps the same rows from coming and going for ever
                self.rows = np.delete(self.rows, self.program.drop_idle_rows(), axis=0)
            self._add_rows(rows)

    def _meet(self, order: Order) -> None:
        """Take an order if it is better than the best one, and remember it if it is as good."""
        excess = excess_of(self.margins, order)
        if excess < self.excess:
            self.order, self.excess, self.others = order, excess, []
        elif excess == self.excess and not np.array_equal(order, self.order):
            self.others.append(order)

    def _exact_bound(self, duals: FloatArray, *, keep: bool) -> int:
        """Return the bound on the excess that `duals` prove, by exact integers, rounded up.

        Any y give min cost @ x >= sum_r min(0, y_r) + sum_j min over x_j of (cost - y @ rows)_j x_j.
        """
        y = np.rint(duals * _SCALE).astype(np.int64)
        reduced = self.cost * _SCALE
        for column, sign in zip(self.rows.T, (1, 1, -1), strict=True):
            np.subtract.at(reduced, column, sign * y)
        lower, upper = (bound.astype(np.int64) for bound in self.program.bounds)
        scaled = self.constant * _SCALE + int(np.minimum(y, 0).sum())
        scaled += int(np.minimum(reduced * lower, reduced * upper).sum())
        if keep and scaled > self.exact_bound:
            self.exact_bound, self.reduced = scaled, reduced
        return _ceil_scaled(scaled)

    def _matrix(self, x: NDArray) -> FloatArray:
        matrix = np.zeros((self.n, self.n))
        matrix[self.above, self.below] = x
        matrix[self.below, self.above] = 1.0 - np.asarray(x, dtype=np.float64)
        return matrix

    def _violated(self, matrix: FloatArray) -> NDArray[np.int32]:
        """Return the violated rows as columns (ij, jk, ik), the most violated ones: for each i and j one k at most."""
        placed = np.argsort(-matrix.sum(axis=1), kind="stable")
        below, above = np.nonzero(np.tril(matrix[np.ix_(placed, placed)], -1) > _VIOLATION)
        is_few = len(below) * self.n <= _MOST_CYCLES
        triples, size = cycles_through(matrix, placed[below], placed[above]) if is_few else cycles(matrix)
        worst = np.argsort(-size, kind="stable")[: _ROWS_A_ROUND * self.n]
        i, j, k = triples[worst].T
        return np.stack([self.column[i, j], self.column[j, k], self.column[i, k]], axis=1)

    def _add_rows(self, rows: NDArray[np.int32]) -> None:
        if len(rows):
            self.program.add_rows(rows, np.tile([1.0, 1.0, -1.0], (len(rows), 1)), 0.0, 1.0)
            self.rows = np.concatenate([self.rows, rows])
            self.steps.rows += len(rows)


def cycles(matrix: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the violated triples i < j < k, for each i and j the k that is violated most, and by how much."""
    violated, sizes = [], []
    for i in range(len(matrix) - 2):
        first = matrix[i, i + 1 :]
        value = first[:, None] + matrix[i + 1 :, i + 1 :] - first
        violation = np.triu(np.maximum(value - 1, -value), 1)
        k = violation.argmax(axis=1)
        j = np.flatnonzero(violation.max(axis=1) > _VIOLATION)
        violated.append(np.stack([np.full(len(j), i), j + i + 1, k[j] + i + 1], axis=1))
        sizes.append(violation[j, k[j]])
    return np.concatenate(violated), np.concatenate(sizes)


def cycles_through(matrix: FloatArray, first: Order, second: Order) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the same triples where each of them has a cycle through some `first[a]` above `second[a]`.

    A cycle goes up at least once in any order of all systems, so that these pairs suffice in the order of a solution,
    where few pairs are placed against it.
    """
    share = matrix[first, second][:, None] + matrix[second] + matrix[:, first].T
    pair, third = np.nonzero(share > 2 + _VIOLATION / 2)
    triples = np.sort(np.stack([first[pair], second[pair], third], axis=1), axis=1)
    i, j, k = triples.T
    value = matrix[i, j] + matrix[j, k] - matrix[i, k]
    size = np.maximum(value - 1, -value)
    by_size = np.lexsort((k, -size, j, i))
    triples, size = triples[by_size], size[by_size]
    is_most_violated = np.ones(len(size), dtype=bool)
    is_most_violated[1:] = (np.diff(triples[:, :2], axis=0) != 0).any(axis=1)
    is_most_violated &= size > _VIOLATION
    return triples[is_most_violated], size[is_most_violated]


def _ceil_scaled(scaled: int) -> int:
    return -(-scaled // _SCALE)
