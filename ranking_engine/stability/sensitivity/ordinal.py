"""Ordinal sensitivity: how far adding lower systems moves the ranking of the top by win rate.

Zhang and Hardt 2024, section 4.2 and algorithm 2. L is the first fifth of the board by win rate; its systems are
ranked by win rate among themselves, and again with some of the other systems added. They search for the worst
choice by gradient steps on inclusion probabilities; what they report is a lower bound.

Departures. The share of reversed pairs of L has a proven upper bound, by a mixed-integer program that is asked for
one pair more, and so has the largest change of a rank. `tau_b_distance` is their figure, the best over all choices
met: a lower bound only. The win rate is their variant (`benchbench`: ties are losses), with weighted tasks weighing
as much as they do on the board. L is every place up to floor(n / 5) of the order by win rate, then name; n counts
the systems without a score too, as theirs does, which then are neither in L nor added. Where a fifth has no pair, of
fewer than ten systems, L is the first two, and `note` says so. Their code takes another L
than the first places for indices into the chosen systems, and ranks the wrong ones; here it is only the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Profile
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.rules.rates import common_weight
from ranking_engine.stability.sensitivity.subsets import (
    MAX_NODES,
    POSITIVE,
    Choice,
    SubsetBounds,
    Sums,
    climb,
    prove,
    rounded,
    wander,
)
from ranking_engine.stability.sensitivity.visited import Met, Visited
from ranking_engine.text.names import name_order_key

FIFTH, LEAST_TOP = 5, 2  # L is this share of a board, and at least so many systems
N_STARTS = 20
N_WALKS = 4
N_STEPS = 1_000
SEARCH_WORK = 40_000_000  # sums x others x steps of a walk
LURES = (0.0, 0.3)
MAX_ROUNDS = 10
MAX_DOUBLES = 1_500

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class ChosenInterval:
    """A share between 0 and 1: reached by adding `added` to the top, and at most `upper`, which is proven.

    `ranks` are the average ranks of the top with them.
    """

    lower: float
    upper: float
    added: tuple[str, ...]
    ranks: FloatArray

    @property
    def is_proven(self) -> bool:
        """Whether the bounds meet."""
        return self.lower >= self.upper

    def summary(self) -> dict[str, Any]:
        """Return the interval and the systems as JSON."""
        return {"lower": self.lower, "upper": self.upper, "proven": self.is_proven, "added": list(self.added)}


@dataclass(frozen=True, eq=False)
class OrdinalSensitivity:
    """How far other systems can move the ranking of the top by win rate.

    Attributes:
        reason: why there are no figures; otherwise empty.
        top: the systems of L, in the order of the full board.
        others: those that may be added, likewise.
        reference: average ranks of L among themselves.
        n_pairs: pairs of L.
        discordant_share: strictly reversed pairs over `n_pairs`.
        max_rank_change: largest change of an average rank over |L| - 1.
        tau_b_distance: (1 - tau-b) / 2, the best met; a lower bound only.
        farthest: the systems whose addition reaches it.
        steps: what was done: changes of the search, rankings evaluated, programs solved, their nodes.
        seed: of the random starts.
        note: that L is not the first fifth, where that has no pair; otherwise empty.
    """

    reason: str
    seed: int
    top: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    reference: FloatArray = field(default_factory=lambda: np.zeros(0))
    n_pairs: int = 0
    discordant_share: ChosenInterval | None = None
    max_rank_change: ChosenInterval | None = None
    tau_b_distance: float = 0.0
    farthest: tuple[str, ...] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        if self.discordant_share is None or self.max_rank_change is None:
            return {"reason": self.reason}
        return {
            "reason": "",
            "note": self.note,
            "top": list(self.top),
            "n_others": len(self.others),
            "n_pairs": self.n_pairs,
            "discordant_share": self.discordant_share.summary(),
            "max_rank_change": self.max_rank_change.summary(),
            "tau_b_distance": {"lower": self.tau_b_distance, "added": list(self.farthest)},
            "steps": dict(self.steps),
        }


def ordinal_sensitivity(
    matrix: ScoreMatrix,
    *,
    n_top: int | None = None,
    max_nodes: int = MAX_NODES,
    n_starts: int = N_STARTS,
    seed: int = 0,
    progress: Progress | None = None,
) -> OrdinalSensitivity:
    """Bound how far adding other systems moves the ranking of the first `n_top` by win rate.

    Args:
        matrix: the scores, gaps and all: systems are compared on common tasks.
        n_top: the size of L; by default floor(n / 5), at least 2.
        max_nodes: of branch and bound, for the reversed pairs; as many again, at most, for the rank change.
        n_starts: random starts of the search, besides no system and all.
        seed: of these.
        progress: called as progress(done, total) with steps that never decrease; it may raise to cancel.

    The steps decide when to stop, never the time.
    """
    if reason := why_no_top(matrix, n_top):
        return OrdinalSensitivity(reason, seed)
    rates, names = win_rates(matrix)
    size = top_size(matrix, n_top)
    sensitivity = TopStudy(rates, names, board_order(rates, names), size, progress).run(max_nodes, n_starts, seed)
    if n_top is not None or matrix.n_systems // FIFTH >= LEAST_TOP:
        return sensitivity
    return replace(
        sensitivity, note=f"the first fifth of {matrix.n_systems} systems has no pair: the first 2 are studied"
    )


def top_size(matrix: ScoreMatrix, n_top: int | None) -> int:
    """Return how many systems are L: those stated, else a fifth, at least 2."""
    return max(LEAST_TOP, matrix.n_systems // FIFTH) if n_top is None else n_top


def why_no_top(matrix: ScoreMatrix, n_top: int | None) -> str:
    """Return why there is no L whose order others could change; empty where there is one."""
    n_scored, size = int(matrix.has_score.sum()), top_size(matrix, n_top)
    if size < LEAST_TOP:
        return f"a top of {size} has no pair"
    if not n_scored:
        return "no system has a score on a task of weight above 0"
    if n_top is None and n_scored <= LEAST_TOP:
        return f"{n_scored} system{'s' if n_scored != 1 else ''} with a score: no other system could join the first 2"
    return f"only {n_scored} systems have a score; {size} make the top" if size > n_scored else ""


def win_rates(matrix: ScoreMatrix) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the share of common weight that i wins from j, 0 without any, and the names of the scored systems."""
    part = matrix.subset(matrix.has_score, matrix.votes)
    profile = Profile(part)
    common = common_weight(profile)
    wins = profile.pairwise.wins
    shares = np.divide(wins.astype(np.float64), common.astype(np.float64), out=np.zeros(wins.shape), where=common > 0)
    np.fill_diagonal(shares, 0.0)
    return shares, part.system_names


def board_order(rates: FloatArray, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the systems by win rate on the full board, those that tie by name."""
    ranks = ranks_of(rates.sum(axis=1)[None])[0]
    return np.array(sorted(range(len(names)), key=lambda i: (int(ranks[i]), name_order_key(names[i]))), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class _SubsetMove:
    """One system of the top in one direction, with a sum for each rival; a tie moves by half a place.

    Attributes:
        sums: those of rivals that tie count as positive; the rank changes by at most so many minus the offset.
        halves: a rival that leads counts twice, one that ties once; the rank changes by half of that minus the offset.
        offset: places.
    """

    sums: Sums
    halves: Sums
    offset: float


class TopStudy:
    """The sums of win rates of the top, as a function of which others are chosen."""

    def __init__(
        self,
        rates: FloatArray,
        names: tuple[str, ...],
        order: NDArray[np.intp],
        size: int,
        progress: Progress | None,
    ) -> None:
        top, others = order[:size], order[size:]
        self.top = tuple(names[i] for i in top)
        self.others = tuple(names[k] for k in others)
        self.base = rates[np.ix_(top, top)].sum(axis=1)
        self.gains = rates[np.ix_(top, others)]
        self.progress, self.done, self.total = progress, 0, 4 * size + 2 * MAX_ROUNDS + 1
        self.visited = Visited(average_ranks(ranks_of((self.base / size)[None])[0]))

    def tick(self) -> None:
        """Report a step."""
        self.done += 1
        if self.progress is not None:
            self.progress(min(self.done, self.total - 1), self.total)

    def visit(self, choice: Choice) -> None:
        """Rank the top with the systems chosen."""
        mean = (self.base + self.gains @ choice) / (len(self.top) + np.count_nonzero(choice))
        self.visited.visit(mean, choice)

    def run(self, max_nodes: int, n_starts: int, seed: int) -> OrdinalSensitivity:
        """Search, then prove."""
        sums = self.reversals()
        n_changes = self.search(sums, n_starts, np.random.default_rng(seed))
        best = self.visited.most_discordant
        pairs = prove(sums, sums.n_positive(best.solution), self.visit, max_nodes=max_nodes, tick=self.tick)
        moves = self._bound_moves(max_nodes)
        if self.progress is not None:
            self.progress(self.total, self.total)
        visited = self.visited

        def names(met: Met) -> tuple[str, ...]:
            return tuple(self.others[k] for k in np.flatnonzero(met.solution))

        def interval(met: Met, lower: float, upper: float) -> ChosenInterval:
            return ChosenInterval(lower, max(lower, upper), names(met), met.ranks)

        discordant, moved = visited.most_discordant, visited.most_moved
        widest = len(self.top) - 1
        return OrdinalSensitivity(
            "",
            seed,
            self.top,
            self.others,
            visited.reference,
            visited.n_pairs,
            interval(discordant, discordant.discordant / visited.n_pairs, pairs.upper / visited.n_pairs),
            interval(moved, moved.max_rank_change, moves.upper / 2 / widest),
            visited.farthest.tau_b_distance,
            names(visited.farthest),
            {
                "changes": n_changes,
                "rankings": visited.n_visited,
                "programs": pairs.n_programs + moves.n_programs,
                "nodes": pairs.n_nodes + moves.n_nodes,
            },
        )

    def reversals(self) -> Sums:
        """One sum for each pair that the reference does not tie: the lower one minus the higher one."""
        first, second = np.triu_indices(len(self.top), 1)
        ranks = self.visited.reference
        sign = np.sign(ranks[second] - ranks[first])
        base = (self.base[second] - self.base[first]) * sign
        changes = (self.gains[second] - self.gains[first]) * sign[:, None]
        number = np.full((len(self.top), len(self.top)), -1)
        is_pair = sign != 0
        number[first[is_pair], second[is_pair]] = number[second[is_pair], first[is_pair]] = np.arange(is_pair.sum())
        # Of all systems with i above j above k the numbers of the pairs ij, jk and ik.
        by_rank = np.argsort(ranks, kind="stable")
        i, j, k = by_rank[np.array([*itertools.combinations(range(len(ranks)), 3)], dtype=np.intp).reshape(-1, 3)].T
        chains = np.stack([number[i, j], number[j, k], number[i, k]], axis=1)
        return Sums.of(base[is_pair], changes[is_pair], chains[(chains >= 0).all(axis=1)])

    def search(self, sums: Sums, n_starts: int, generator: np.random.Generator) -> int:
        """Climb from nothing, all, a rounded and random choices; wander from the first of them, and climb again."""
        n_items = len(self.others)
        none = np.zeros(n_items, dtype=bool)
        affordable = SEARCH_WORK // max(1, sums.changes.size)
        n_steps = max(50, min(N_STEPS, affordable))
        relaxed = [choice for choice in [rounded(sums)] if choice is not None]
        starts = [none, ~none, *relaxed, *(generator.random((min(n_starts, affordable), n_items)) < 0.5)]
        n_changes = climb(sums, starts, self.visit)
        self._go_far()
        walks = [(start, lure) for start in starts[:N_WALKS] for lure in LURES]
        self.tick()
        choices = wander(sums, walks, n_steps, generator, self.visit)
        n_changes += n_steps * len(walks) + climb(sums, choices, self.visit)
        self._go_far()
        return n_changes

    def _go_far(self) -> None:
        """Exchange one system, or on small boards two, as long as tau-b falls: ties made on purpose count for it."""
        one = np.eye(len(self.others), dtype=bool)
        first, second = np.triu_indices(len(self.others), 1)
        exchanges = np.concatenate([one, one[first] | one[second]]) if len(first) <= MAX_DOUBLES else one
        for _ in range(MAX_ROUNDS):
            self.tick()
            before = self.visited.farthest
            choices = exchanges ^ before.solution
            sums = self.base + choices.astype(np.float64) @ self.gains.T
            means = sums / (len(self.top) + np.count_nonzero(choices, axis=1))[:, None]
            distances = self.visited.tau_b_distances(means)
            if not len(distances) or distances.max() <= before.tau_b_distance + 1e-12:
                break
            self.visit(choices[distances.argmax()])

    def _bound_moves(self, max_nodes: int) -> SubsetBounds:
        """Bound the change of every system's rank; `upper` counts half places."""
        bounds = SubsetBounds(0, 0)
        moves = []
        for i, sign in itertools.product(range(len(self.top)), (1, -1)):  # downwards for 1, upwards for -1
            rivals = np.delete(np.arange(len(self.top)), i)
            base = (self.base[rivals] - self.base[i]) * sign
            changes = (self.gains[rivals] - self.gains[i]) * sign
            is_equal = (np.abs(base) < POSITIVE) & (np.abs(changes) < POSITIVE).all(axis=1)
            base, changes = base[~is_equal], changes[~is_equal]
            rank = self.visited.reference[i]
            place = rank - 1 if sign == 1 else len(self.top) - rank
            tied_too = base + 2 * POSITIVE  # a sum of 0 is positive here, even if rounding leaves it just below
            twice = Sums.of(np.concatenate([base, tied_too]), np.concatenate([changes, changes]))
            moves.append(_SubsetMove(Sums.of(tied_too, changes), twice, float(place - is_equal.sum() / 2)))
        for move in sorted(moves, key=lambda move: move.offset - len(move.sums.base)):
            if len(move.sums.base) - move.offset <= self._most_moved() + 1e-9:
                break
            target = int(np.floor(self._most_moved() + move.offset + 1e-9))
            most = self._proven(move.sums, target, bounds, max_nodes) - move.offset
            if most > self._most_moved() + 1e-9:  # it may be that those found only tie: count leads and ties
                target = round(2 * (self._most_moved() + move.offset))
                most = min(most, self._proven(move.halves, target, bounds, max_nodes) / 2 - move.offset)
            if most > self._most_moved() + 1e-9:
                bounds.upper = max(bounds.upper, round(2 * most))
        bounds.upper = max(bounds.upper, round(2 * self._most_moved()))
        return bounds

    def _most_moved(self) -> float:
        """The most places by which a rank met differs from the reference."""
        return self.visited.most_moved.max_rank_change * (len(self.top) - 1)

    def _proven(self, sums: Sums, target: int, bounds: SubsetBounds, max_nodes: int) -> int:
        """Return more positive sums than which no choice has, `target` at least; add the work to `bounds`."""
        left = max(0, max_nodes - bounds.n_nodes)
        proof = prove(sums, target, self.visit, max_nodes=left, tick=self.tick)
        bounds.n_programs += proof.n_programs
        bounds.n_nodes += proof.n_nodes
        return proof.upper
