"""Kemeny's rule: the order with the least weighted Kendall distance to the tasks, with proof or gap.

1. Systems that no chain of victories connects both ways are apart: the strong components of the majority
   relation, in any order that contradicts no victory between them, have distance 0 beyond what every order has.
2. A component of up to 13 systems is solved by going through its subsets, larger ones by linear programs.
3. Costs are integers over the weights' common denominator, so that a bound above the optimum minus 1 proves it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.linear_programs import MOST_ITERATIONS
from ranking_engine.core.profile import Outcome, Profile
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.rules.choice_sets import strong_components
from ranking_engine.rules.kemeny_program import MAX_COST, Clock, OrderProgram, Steps, seconds_left
from ranking_engine.rules.kemeny_search import MAX_EXACT, Margins, Order, addable, best_of_all, excess_of, improved
from ranking_engine.rules.majority import pair_details
from ranking_engine.rules.mallows import fitted
from ranking_engine.rules.rates import name_order

DEFAULT_SECONDS = 30.0
_ITERATION_SECONDS = 1.2e-4  # of the simplex method, for some hundred systems
_ROUND_SECONDS = 3e-3


def kemeny(profile: Profile, *, seconds: float = DEFAULT_SECONDS) -> Outcome:
    """Return n - position in one optimal order, chosen by name among those met (Kemeny 1959).

    The distance is, over all pairs, the weight of the tasks that strictly prefer the lower-placed system; a tie
    within a task or a missing score costs nothing. `winners` are all systems that are first in some optimal
    order. `details`: `distance`; `lower_bound` on that of any order; `proven`: they are equal; `unique`: no
    other order is optimal (None: unknown); `winners_complete`: no winner is missing; `steps` of the search; `mallows`:
    the dispersion under which the tasks' orders are the most likely, given this one (see `mallows.MallowsFit`).
    `seconds` decide when to stop; without proof the order is the best one met.
    Exponential at worst; real boards of a hundred systems take seconds.
    """
    steps = Steps()
    solved = _Solved.of(profile, seconds_left(seconds), steps)
    # Every order costs the lesser of wins[i, j] and wins[j, i] for each pair, and its excess beyond.
    wins, unit = addable(profile.pairwise.wins), profile.pairwise.denominator
    always = sum(np.minimum(wins, wins.T).sum(axis=1).tolist()) // 2
    cost = always + sum(part.excess for part in solved.parts)
    bound = always + sum(part.bound for part in solved.parts)
    distance = float(Fraction(cost, unit))
    details = {
        **pair_details(profile.pairwise),
        "distance": distance,
        "lower_bound": float(Fraction(bound, unit)),
        "proven": cost == bound,
        "unique": solved.is_unique(),
        "winners_complete": solved.winners_complete,
        "steps": asdict(steps),
        "mallows": asdict(fitted(profile, distance)),
    }
    return Outcome(solved.scores, details=details, winners=solved.winners)


def kemeny_of_many(profile: Profile, seconds: float) -> Outcome:
    """Return the same order and winners for one of the many tables of a study, several times as fast.

    Left out is whether another order is optimal. `details` are `proven`, and `seconds`: what the search should have
    cost, by its steps. It ends after as many iterations of the simplex method as `seconds` should buy, and never by the
    clock, so that the same figures come out on any machine.
    """
    steps = Steps()
    solved = _Solved.of(profile, lambda: math.inf, steps, max(1, int(seconds / _ITERATION_SECONDS)))
    details = {
        "proven": all(part.excess == part.bound for part in solved.parts),
        "seconds": steps.iterations * _ITERATION_SECONDS + steps.rounds * _ROUND_SECONDS,
    }
    return Outcome(solved.scores, details=details, winners=solved.winners)


@dataclass(frozen=True, eq=False)
class _Part:
    """One component: its systems from the best order's first to its last, and what is known of its orders.

    `firsts` are the systems first in some optimal order, all of them where `firsts_complete`; they are not looked for
    where another component beats this one. `program` solved it, if it is large and the order is proven.
    """

    order: Order
    excess: int
    bound: int
    firsts: tuple[int, ...]
    firsts_complete: bool
    n_best: int | None = None
    program: OrderProgram | None = None

    @classmethod
    def of(cls, margins: Margins, members: NDArray[np.intp], left: Clock, steps: Steps, most_iterations: int) -> _Part:
        """Order one component."""
        if len(members) == 1:
            return cls(members, 0, 0, firsts=(int(members[0]),), firsts_complete=True, n_best=1)
        inside = margins[np.ix_(members, members)]
        if len(members) <= MAX_EXACT:
            best = best_of_all(inside)
            firsts = tuple(int(members[v]) for v in best.firsts)
            return cls(members[best.order], best.excess, best.excess, firsts, firsts_complete=True, n_best=best.n_best)
        # Margins small enough for exact bounds, each rounded towards 0 to a multiple of `unit`. Rounding never raises
        # an excess, so that a lower bound times `unit` stays one.
        total, unit = int(np.abs(inside).sum()), 1
        while total // unit > MAX_COST:
            unit *= 2
        small = (np.sign(inside) * (np.abs(inside) // unit)).astype(np.int64)
        beaten = np.argsort(-(small > 0).sum(axis=1), kind="stable")
        order, passes = improved(small, beaten)
        steps.passes += passes
        program = OrderProgram(small, order, left, steps, most_iterations)
        program.solve()
        excess, bound = excess_of(inside, program.order), program.bound * unit
        is_proven = unit == 1 and program.bound == program.excess
        ordered = members[program.order]
        return cls(ordered, excess, bound, (int(ordered[0]),), False, program=program if is_proven else None)


@dataclass(frozen=True, eq=False)
class _Solved:
    """The components of a profile, each in a best order, and what follows for all systems, in the profile's order."""

    margins: Margins  # of the systems by name, as all below but the last three
    label: NDArray[np.int32]
    parts: list[_Part]
    order: Order
    scores: FloatArray
    winners: tuple[int, ...]
    winners_complete: bool

    @classmethod
    def of(cls, profile: Profile, left: Clock, steps: Steps, most_iterations: int = MOST_ITERATIONS) -> _Solved:
        """Order every component, and join them."""
        by_name = name_order(profile)
        margins = addable(profile.pairwise.margins)[np.ix_(by_name, by_name)]
        label = strong_components(margins > 0)
        parts: list[_Part] = []
        winners: list[int] = []  # first in some best order of their component, and beaten by no one outside
        is_complete = True
        by_label = np.argsort(label, kind="stable")
        for members in np.split(by_label, np.flatnonzero(np.diff(label[by_label])) + 1):
            outside = np.ones(len(margins), dtype=bool)
            outside[members] = False
            is_beaten = (margins[outside][:, members] > 0).any(axis=0)
            part = _Part.of(margins, members, left, steps, most_iterations)
            if part.program is not None and not is_beaten.all():
                firsts, are_all = _first_in_some(part.program)
                part = replace(part, firsts=tuple(members[firsts].tolist()), firsts_complete=are_all)
            parts.append(part)
            unbeaten = set(members[~is_beaten].tolist())
            winners += unbeaten & set(part.firsts)
            if unbeaten:
                are_all = part.firsts_complete or unbeaten <= set(part.firsts)
                is_complete = is_complete and are_all and part.excess == part.bound
        order = _joined(margins, label, parts)
        scores = np.empty(profile.n_systems)
        scores[by_name[order]] = np.arange(profile.n_systems, 0, -1)
        chosen = winners if is_complete else [int(order[0])]
        return cls(margins, label, parts, order, scores, tuple(sorted(by_name[chosen].tolist())), is_complete)

    def is_unique(self) -> bool | None:
        """Whether no other order is optimal: each component has one, and each neighbour of another one is beaten.

        None where that stays open.
        """
        upper, lower = self.order[:-1], self.order[1:]
        is_free = (self.label[upper] != self.label[lower]) & ~(self.margins[upper, lower] > 0)
        answers: list[bool | None] = [not is_free.any()]
        for part in self.parts:
            is_only = None if part.n_best is None else part.n_best == 1
            answers.append(is_only if part.program is None else _only_best(part.program))
        if False in answers:
            return False if all(part.excess == part.bound for part in self.parts) else None
        return None if None in answers else True


def _joined(margins: Margins, label: NDArray[np.int32], parts: list[_Part]) -> Order:
    """Put components behind all that beat them; of several possible ones the first system's name decides."""
    beats = margins > 0
    apart = beats & (label[:, None] != label)
    n_before = np.array([int(apart[:, part.order].sum()) for part in parts])
    free = [(int(part.order[0]), c) for c, part in enumerate(parts) if n_before[c] == 0]
    heapq.heapify(free)
    joined = []
    while free:
        _, c = heapq.heappop(free)
        joined.append(parts[c].order)
        was_waiting = n_before > 0
        n_before -= np.bincount(label, weights=apart[parts[c].order].sum(axis=0), minlength=len(parts)).astype(int)
        for k in np.flatnonzero(was_waiting & (n_before == 0)):
            heapq.heappush(free, (int(parts[k].order[0]), int(k)))
    return np.concatenate(joined)


def _only_best(program: OrderProgram) -> bool | None:
    """Whether no other order is as good; None where that stays open.

    Another order swaps at least one pair of neighbours of this one.
    """
    order, is_open = program.order, False
    pairs = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    if any(program.margins[i, j] == 0 for i, j in pairs):
        return False
    for i, j in pairs:
        column, value = program.pair(j, i)
        if program.least_excess_with(np.array([column], dtype=np.int32), np.array([value])) <= program.excess:
            is_open = True
        if program.others:
            return False
    return None if is_open else True


def _first_in_some(program: OrderProgram) -> tuple[list[int], bool]:
    """Return the systems that are first in some best order, as far as known, and whether these are all."""
    order, is_complete = program.order, True
    firsts = {int(best[0]) for best in [order, *program.others]}
    # Moved to the front, a system costs its margins over all that were above it.
    moved = np.triu(program.margins[np.ix_(order, order)], 1).sum(axis=0)
    firsts.update(order[moved == 0].tolist())
    for v in program.possible_firsts().tolist():
        if v in firsts:
            continue
        placed = [program.pair(v, j) for j in range(program.n) if j != v]
        columns = np.array([column for column, _ in placed], dtype=np.int32)
        values = np.array([value for _, value in placed])
        if program.least_excess_with(columns, values) <= program.excess:
            firsts.update(int(best[0]) for best in program.others)
            is_complete = is_complete and v in firsts
    return sorted(firsts), is_complete
