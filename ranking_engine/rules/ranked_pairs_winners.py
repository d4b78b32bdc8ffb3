"""Who wins under ranked pairs when equal victories may be taken in any order (Brill and Fischer 2012).

A system wins if, in some order of the equal victories, none against it is locked in. To say who does is NP-complete,
so the search has an allowance; what it finds within it is sound, and it says whether anyone may be missing.

1. A system that someone beats and never answers by a chain of victories at least as strong loses in every order
   (Holliday and Pacuit 2021, split cycle). The others are candidates.
2. For each candidate, orders that let it reach as many as possible as soon as possible are tried: most winners win
   in one of them.
3. For each that is left, victories of a level are branched on, locked in or not, until an order is found or none is
   left to try.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ranking_engine.core.score_matrix import BoolArray
from ranking_engine.rules.choice_sets import strong_components
from ranking_engine.rules.locked_victories import (
    FEW_SYSTEMS,
    Levels,
    Reach,
    Victory,
    strongest_paths,
    victories_by_level,
)

ALLOWANCE = 200_000  # victories looked at, in all; a few tenths of a second
_TRIES = 4  # orders tried for each candidate before the search through all of them


@dataclass
class _SearchBudget:
    """How many more victories may be looked at."""

    left: int

    def take(self, n: int) -> bool:
        """Take `n` of what is left; whether there was as much."""
        self.left -= n
        return self.left >= 0


def winners_over_orders(
    levels: Levels, known: Sequence[int], allowance: int = ALLOWANCE, can_win: BoolArray | None = None
) -> tuple[list[int], bool]:
    """Return the systems that no locked victory is against in some order of equal ones, and whether these are all.

    Args:
        levels: the level of the victory of i over j, 0 where i does not beat j.
        known: winners that are known already, such as those of the order by name.
        allowance: how many victories to look at, at most.
        can_win: the systems that may win; all, unless a system that is left out of `levels` beats some.
    """
    component = strong_components(levels > 0)
    is_candidate = ~((levels > 0) & (component[:, None] != component)).any(axis=0)
    if can_win is not None:
        is_candidate &= can_win
    winners, is_complete = set(known), True
    left = _SearchBudget(allowance)
    for label in sorted({int(component[i]) for i in np.flatnonzero(is_candidate)}):
        members = np.flatnonzero(component == label)
        inside = [k for k, i in enumerate(members.tolist()) if is_candidate[i]]
        if len(members) == 1:
            winners.add(int(members[0]))
            continue
        part = levels[np.ix_(members, members)]
        winners_inside, is_part_complete = _winners_inside(
            part, inside, {k for k in inside if int(members[k]) in winners}, left
        )
        winners.update(int(members[k]) for k in winners_inside)
        is_complete = is_complete and is_part_complete
    return sorted(winners), is_complete


def _winners_inside(
    levels: Levels, candidates: list[int], known: set[int], left: _SearchBudget
) -> tuple[set[int], bool]:
    """Return the winners among the candidates of one strong component: no victory leads into it from outside."""
    if len(levels) <= FEW_SYSTEMS:
        # Leave those that reach each system that beats them by victories no weaker than that one.
        path = strongest_paths(levels)
        candidates = [k for k in candidates if (path[k] >= levels[:, k]).all()]
    winners, open_candidates = set(known), [k for k in candidates if k not in known]
    if not open_candidates:
        return winners, True
    by_level = list(victories_by_level(levels))
    generator = np.random.default_rng(0)
    for number in range(_TRIES):
        for k in open_candidates:
            if left.left > 0 and _wins_greedily(Reach(len(levels)), by_level, k, left, generator if number else None):
                winners.add(k)
        open_candidates = [k for k in open_candidates if k not in winners]
    is_complete = True
    for n_waiting, k in zip(range(len(open_candidates), 0, -1), open_candidates, strict=True):
        share = _SearchBudget(max(left.left, 0) // n_waiting)
        left.left -= share.left
        answer = _wins_in_some_order(len(levels), by_level, k, share) if share.left else None
        left.left += max(share.left, 0)
        if answer:
            winners.add(k)
        is_complete = is_complete and answer is not None
    return winners, is_complete


def _wins_greedily(
    reach: Reach, by_level: list[list[Victory]], x: int, left: _SearchBudget, shuffle: np.random.Generator | None
) -> bool:
    """Whether x wins when, at each level, what extends its reach is taken first and what is against it last.

    With `shuffle` the victories of a level are shuffled before.
    """
    below = reach.below
    for level in by_level:
        equal = [level[k] for k in shuffle.permutation(len(level))] if shuffle else level
        waiting, is_growing = [(i, j) for i, j in equal if not (below[i] >> j | below[j] >> i) & 1], True
        while is_growing:
            if not left.take(len(level)):
                return False
            own = below[x] | 1 << x
            growing = [(i, j) for i, j in waiting if own >> i & 1 and not own >> j & 1]
            is_growing = reach.lock(growing) > 0
        for i, j in waiting:
            if j != x:
                reach.lock([(i, j)])
        if reach.lock([(i, j) for i, j in waiting if j == x]):
            return False
    return True


@dataclass
class _State:
    """Where a search is: the victories locked so far, the level it is at, and those of the level that must fail."""

    level: int
    reach: Reach
    failing: set[Victory] = field(default_factory=set)


def _wins_in_some_order(n: int, by_level: list[list[Victory]], x: int, left: _SearchBudget) -> bool | None:
    """Whether x wins in some order of the equal victories; None where the allowance ends before that is known.

    At each level a set of victories is locked in if and only if it makes no circle and every other one of the level
    closes a circle with it. So each victory is branched on: locked in, or failing because of others.
    """
    stack, seen = [_State(0, Reach(n))], set()
    while stack:
        state = stack.pop()
        while True:
            if state.level == len(by_level):
                return True
            if not left.take(len(by_level[state.level]) + n):
                return None
            undecided = state.reach.open_victories(by_level[state.level])
            state.failing.update((i, j) for i, j in undecided if j == x)
            victory, is_possible = _next_choice(state, undecided, x)
            if not is_possible:
                break
            if victory is not None:
                stack.append(_State(state.level, state.reach.copy(), {*state.failing, victory}))
                state.reach.add(*victory)
                continue
            state.level += 1
            state.failing = set()
            where = (state.level, tuple(state.reach.below))
            if where in seen:
                break
            seen.add(where)
    return False


def _next_choice(state: _State, undecided: list[Victory], x: int) -> tuple[Victory | None, bool]:
    """Lock in what no order of the level avoids; return a victory to branch on, and whether x can still win.

    Where no victory is left to branch on, the level is finished.
    """
    reach = state.reach
    while True:
        undecided = reach.open_victories(undecided)
        allowed = [victory for victory in undecided if victory not in state.failing]
        together = reach.copy()
        for victory in allowed:
            together.add(*victory)
        leads_to = together.below
        if any(not leads_to[j] >> i & 1 for i, j in undecided if (i, j) in state.failing):
            return None, False  # nothing can close the circle that this one has to fail by
        certain = [(i, j) for i, j in allowed if not leads_to[j] >> i & 1]
        if not certain:
            break
        reach.lock(certain)
    if not allowed:
        return None, True
    own = reach.below[x] | 1 << x
    growing = (victory for victory in allowed if own >> victory[0] & 1 and not own >> victory[1] & 1)
    return next(growing, allowed[0]), True


__all__ = ["ALLOWANCE", "winners_over_orders"]
