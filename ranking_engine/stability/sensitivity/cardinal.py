"""Cardinal sensitivity: how far the ranking by mean score moves when tasks are weighted again.

Zhang and Hardt 2024, Inherent Trade-Offs between Diversity and Stability in Multi-Task Benchmarks, section 4.2
and algorithm 1: label noise on a task shrinks its differences, and stands for a weight between ε and 1. They search by
gradient steps on a relaxed loss and report (1 - tau) / 2; that is a lower bound, and on every one of their
benchmarks it stops near the corner its first step points at.

Departures. The share of strictly reversed pairs has a proven upper bound as well, and so has the largest change of
a rank, which they only evaluate where their search ends. `tau_b_distance` is their figure, the best over all
weights met, equal ones and every corner among them: a lower bound only, since ties make it rise and fall
independently of the reversed pairs. Where tasks have weights of their own, the reference is the weighted mean, and
the new weights lie between ε and 1 times them: a task of weight 2 is two tasks. Systems that tie in the reference
cannot be reversed. Ranks tie as everywhere in this engine, within 1e-9 of the largest score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.core.missing import complete
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.sensitivity.cone import Cone, climb, corners
from ranking_engine.stability.sensitivity.proof import BOX_WORK, MAX_PROGRAMS, prove
from ranking_engine.stability.sensitivity.rank_moves import bound_moves
from ranking_engine.stability.sensitivity.visited import Met, Visited

LEAST_WEIGHT = 0.01
N_STARTS = 20
SWEEP_WORK = 300_000_000  # pairs x tasks x sweeps of the search

FEASIBLE_SETS = ("scaled", "box")

Feasible = Literal["scaled", "box"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Interval:
    """A share between 0 and 1: reached by `weights`, and at most `upper`, which is proven.

    `weights` multiply the stored scores, by task, the largest 1; tasks that were left out have none.
    `ranks` are the average ranks under them, of the systems in the study's order.
    """

    lower: float
    upper: float
    weights: Mapping[str, float]
    ranks: FloatArray

    @property
    def is_proven(self) -> bool:
        """Whether the bounds meet."""
        return self.lower >= self.upper

    def summary(self) -> dict[str, Any]:
        """Return the interval and the weights as JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "proven": self.is_proven,
            "weights": dict(self.weights),
        }


@dataclass(frozen=True, eq=False)
class CardinalSensitivity:
    """How far new weights can move the ranking by mean score.

    Attributes:
        reason: why there are no figures; otherwise empty.
        feasible: `scaled`: u_t / σ_t with u_t in [ε, 1]; `box`: weights in [ε σ_min / σ_max, 1].
        systems: the names of the ranked systems, in the order of every array.
        reference: their average ranks by the mean.
        n_pairs: n (n - 1) / 2.
        discordant_share: strictly reversed pairs over `n_pairs`.
        max_rank_change: largest change of an average rank over n - 1.
        tau_b_distance: (1 - tau-b) / 2, the best met; a lower bound only.
        farthest: the weights that reach it.
        dropped_tasks: those on which all systems are equal.
        steps: what was done: sweeps of the search, rankings evaluated, boxes bounded, relaxations solved.
        seed: of the random starts.
    """

    reason: str
    feasible: str
    seed: int
    systems: tuple[str, ...] = ()
    reference: FloatArray = field(default_factory=lambda: np.zeros(0))
    n_pairs: int = 0
    discordant_share: Interval | None = None
    max_rank_change: Interval | None = None
    tau_b_distance: float = 0.0
    farthest: Mapping[str, float] = field(default_factory=dict)
    dropped_tasks: tuple[str, ...] = ()
    steps: Mapping[str, int] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        if self.discordant_share is None or self.max_rank_change is None:
            return {"reason": self.reason, "feasible": self.feasible}
        return {
            "reason": "",
            "feasible": self.feasible,
            "n_systems": len(self.systems),
            "n_pairs": self.n_pairs,
            "discordant_share": self.discordant_share.summary(),
            "max_rank_change": self.max_rank_change.summary(),
            "tau_b_distance": {"lower": self.tau_b_distance, "weights": dict(self.farthest)},
            "dropped_tasks": list(self.dropped_tasks),
            "steps": dict(self.steps),
        }


def cardinal_sensitivity(
    matrix: ScoreMatrix,
    *,
    feasible: Feasible = "scaled",
    least_weight: float = LEAST_WEIGHT,
    missing: str = "drop_systems",
    max_programs: int = MAX_PROGRAMS,
    box_work: int = BOX_WORK,
    n_starts: int = N_STARTS,
    seed: int = 0,
    progress: Progress | None = None,
) -> CardinalSensitivity:
    """Bound how far new task weights move the ranking of `matrix` by mean score.

    Args:
        matrix: the scores.
        feasible: which weights are allowed; see CardinalSensitivity.
        least_weight: ε, the share of a task's differences that noise preserves at least; above 0, at most 1.
        missing: the policy for missing scores.
        max_programs: linear relaxations for the upper bound of the reversed pairs; as many again, at most, linear
            relaxations or mixed-integer programs for the rank change.
        box_work: rows x weights x boxes bounded before relaxations are solved.
        n_starts: random starts of the search, besides equal weights and the corners.
        seed: of these.
        progress: called as progress(done, total) with steps that never decrease; it may raise to cancel.

    The steps decide when to stop, never the time, so that the same arguments give the same figures.

    Raises:
        ValueError: an unknown policy or feasible set, or a `least_weight` out of its range.
    """
    if not 0 < least_weight <= 1:
        raise ValueError(f"`least_weight` is {least_weight}; expected a share above 0, at most 1")
    if feasible not in FEASIBLE_SETS:
        raise ValueError(f"`feasible` is {feasible!r}; expected 'scaled' or 'box'")
    part = complete(matrix, missing).matrix
    if part is None or part.n_systems < 2:
        return CardinalSensitivity("fewer than two systems have all scores", feasible, seed)
    space = Space(part, feasible, least_weight)
    if not space.kept.size:
        return CardinalSensitivity("on every task all systems are equal", feasible, seed)
    visited, counter = Visited(space.reference), _Counter(progress)
    cone = cone_of(space.differences(), space.floor)
    T = space.units.shape[1]
    n_batches = box_work // max(1, 64 * cone.rows.size)
    counter.total = 3 * T + n_starts + 2 * max_programs + 2 * n_batches

    def visit(weights: FloatArray) -> None:
        visited.visit(space.units @ weights, weights)
        counter.tick()

    generator = np.random.default_rng(seed)
    random = space.floor ** generator.random((n_starts, T))
    starts = [*corners(T, space.floor), *random]
    n_sweeps = climb(cone, starts, visit, max_sweeps=SWEEP_WORK // max(1, cone.rows.size))
    best = visited.most_discordant
    pairs = prove(
        cone,
        cone.n_negative(best.solution),
        visit,
        max_programs=max_programs,
        box_work=box_work,
        tick=counter.tick,
    )
    moves = bound_moves(
        space.units,
        visited,
        space.floor,
        max_programs=max_programs,
        box_work=box_work,
        tick=counter.tick,
    )
    counter.total = counter.done + 1
    counter.tick()

    def interval(met: Met, lower: float, upper: float) -> Interval:
        return Interval(lower, max(lower, upper), space.named(met.solution), met.ranks)

    discordant, moved, farthest = visited.most_discordant, visited.most_moved, visited.farthest
    return CardinalSensitivity(
        "",
        space.feasible,
        seed,
        space.matrix.system_names,
        space.reference,
        visited.n_pairs,
        interval(discordant, discordant.discordant / visited.n_pairs, pairs.upper / visited.n_pairs),
        interval(moved, moved.max_rank_change, moves.upper / (len(space.units) - 1)),
        farthest.tau_b_distance,
        space.named(farthest.solution),
        tuple(name for t, name in enumerate(space.matrix.task_names) if t not in space.kept),
        {
            "sweeps": n_sweeps,
            "rankings": visited.n_visited,
            "boxes": pairs.n_boxes + moves.n_boxes,
            "relaxations": pairs.n_programs + moves.n_programs,
        },
    )


class _Counter:
    """Counts ticks against what is expected."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress, self.done, self.total = progress, 0, 1

    def tick(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total)


class Space:
    """The feasible set, in weights between `floor` and 1, identical tasks merged.

    units: scores x systems, shape (n, T): the score under weights v is units @ v.
    """

    def __init__(self, part: ScoreMatrix, feasible: str, least_weight: float = LEAST_WEIGHT) -> None:
        self.matrix, self.feasible = part, feasible
        deviation = part.scores.std(axis=0, ddof=1)
        self.kept = np.flatnonzero((np.ptp(part.scores, axis=0) > 0) & (deviation > 0))
        self.reference = np.array(rank(part, "mean", missing="undefined").average_ranks)
        if not self.kept.size:
            return
        deviation, scores = deviation[self.kept], part.scores[:, self.kept]
        given = np.array([float(part.weights[t]) for t in self.kept])
        self.factors = given / given.max() / (deviation if feasible == "scaled" else 1.0)
        self.floor = least_weight
        if feasible == "box":
            self.floor *= float(deviation.min() / deviation.max())
        columns, self.merged, self.count = np.unique(
            scores * self.factors, axis=1, return_inverse=True, return_counts=True
        )
        self.units = np.ascontiguousarray(columns * self.count, dtype=np.float64)

    def differences(self) -> FloatArray:
        """The higher system minus the lower one of each pair that the reference does not tie, in `units`."""
        first, second = np.triu_indices(len(self.units), 1)
        sign = np.sign(self.reference[second] - self.reference[first])
        rows = (self.units[first] - self.units[second]) * sign[:, None]
        return np.asarray(rows[sign != 0])

    def named(self, weights: FloatArray) -> dict[str, float]:
        """The weights by task that multiply the stored scores, the largest 1."""
        shared = weights[self.merged.ravel()] * self.factors if weights.size else np.ones(0)
        largest = shared.max(initial=1e-300)
        names = [self.matrix.task_names[t] for t in self.kept] if weights.size else []
        return {name: float(w / largest) for name, w in zip(names, shared, strict=True)}


def cone_of(rows: FloatArray, floor: float) -> Cone:
    """Return the rows that can be negative at all, with the least weight."""
    return Cone(np.ascontiguousarray(rows[(rows < 0).any(axis=1)]), floor)
