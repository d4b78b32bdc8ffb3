"""The largest change of any system's rank under new task weights, with a proven upper bound.

Downwards, a system's rank is 1 plus the systems above it plus half of those tied with it: a problem of the same kind
as that of all pairs, with only the n - 1 pairs of one system. What boxes leave open a mixed-integer program closes, on
boards of more than 150 systems relaxations do. Most systems need no search, because the count of rivals that can be
above it at all already shows that it moves less than another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.sensitivity.cone import Boxes, Cone, climb, corners, largest_first
from ranking_engine.stability.sensitivity.indicators import MAX_ROWS, most_negative
from ranking_engine.stability.sensitivity.proof import MAX_BOXES, ConeBounds, Tick, prove
from ranking_engine.stability.sensitivity.visited import Visited

MARGIN = 1e-6
MAX_NODES = 1_000  # of branch and bound, of the programs for all systems
ROOT_NODES = 20  # what the first node of a program costs, in nodes
MAX_SWEEPS = 30  # of the search for one system
SHARE = 20  # of the boxes for all pairs that one system may have


@dataclass
class MoveBounds:
    """No rank can change by more than `upper` places; and the work that proves it."""

    upper: float
    n_boxes: int = 0
    n_programs: int = 0


@dataclass(frozen=True, eq=False)
class _ConeMove:
    """One system in one direction: it moves by the negative rows of `cone` minus `base` places, at most `most`."""

    cone: Cone
    base: float
    most: float

    @classmethod
    def of(cls, units: FloatArray, reference: FloatArray, floor: float, i: int, sign: int) -> _ConeMove:
        """Downwards for `sign` 1: rivals count that get above i; upwards for -1: rivals that get below."""
        rows = np.delete(units[i] - units, i, axis=0) * sign
        n_equal = int((rows == 0).all(axis=1).sum())
        # a tie moves by half a place what a lead moves by one
        cone = Cone(np.ascontiguousarray(rows[(rows < 0).any(axis=1)]), floor, zero_counts=True)
        # downwards the new rank is 1 + negative + equal / 2; upwards n - negative - equal / 2
        place = reference[i] - 1 if sign == 1 else len(units) - reference[i]
        base = float(place) - n_equal / 2
        most = 0
        if len(cone.rows):
            most = int(Boxes(cone).can_be_negative(*largest_first(cone)).sum(axis=1).max())
        return cls(cone, base, most - base)


def bound_moves(
    units: FloatArray,
    visited: Visited,
    floor: float,
    *,
    max_programs: int,
    box_work: int,
    tick: Tick,
) -> MoveBounds:
    """Bound the change of every system's average rank, the most promising ones first.

    Args:
        units: shape (n, T); scores under weights v are units @ v.
        visited: holds the reference and the best change met; better ones are added.
        floor: the least weight.
        max_programs, box_work: for all systems together, and for each; as in `prove`.
        tick: as in `prove`.
    """
    n = len(units)
    moves = [_ConeMove.of(units, visited.reference, floor, i, sign) for i in range(n) for sign in (1, -1)]
    moves.sort(key=lambda move: -move.most)
    bounds, nodes_left = MoveBounds(0.0), MAX_NODES

    def visit(weights: FloatArray) -> None:
        visited.visit(units @ weights, weights)

    for move in moves:
        best = visited.most_moved.max_rank_change * (n - 1)
        if move.most <= best + 1e-9:
            break
        climb(move.cone, corners(units.shape[1], floor), visit, max_sweeps=MAX_SWEEPS)
        best = visited.most_moved.max_rank_change * (n - 1)
        is_small = len(move.cone.rows) <= MAX_ROWS
        most: ConeBounds = prove(
            move.cone,
            int(np.floor(best + move.base + 1e-9)),  # so many negative rows are no better than the best
            visit,
            max_programs=0 if is_small else max(0, max_programs - bounds.n_programs),
            box_work=box_work // SHARE,
            max_boxes=MAX_BOXES // SHARE,
            tick=tick,
        )
        bounds.n_boxes += most.n_boxes
        bounds.n_programs += most.n_programs
        if is_small and not most.is_proven and max_programs and nodes_left > 0:
            # Bound the rows that are negative or 0, and visit weights that make many negative.
            not_positive = most_negative(move.cone, max_nodes=nodes_left)
            negative = most_negative(move.cone, margin=MARGIN, max_nodes=nodes_left)
            if negative.weights is not None:
                visit(negative.weights)
            most.upper = min(most.upper, not_positive.upper)
            nodes_left -= ROOT_NODES + not_positive.n_nodes + negative.n_nodes
            bounds.n_programs += 2
            tick()
        best = visited.most_moved.max_rank_change * (n - 1)
        if most.upper - move.base > best + 1e-9:
            bounds.upper = max(bounds.upper, most.upper - move.base)
    bounds.upper = max(bounds.upper, visited.most_moved.max_rank_change * (n - 1))
    return bounds
