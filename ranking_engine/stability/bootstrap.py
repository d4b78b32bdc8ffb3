"""Rank intervals: the ranks that a system gets if the same tasks are drawn again with replacement (bootstrap).

A resample draws as many clusters of voting tasks as there are, with replacement; a cluster is stated by its
tasks, else a task group, else a task by itself (`clusters_of`). A task drawn k times counts k times its weight.
The missing-score policy is applied once, before drawing, and only tasks that it leaves are drawn. An interval is each
system's by itself (`rank_bounds`); those that hold for all systems at once come on request (`simultaneous`).
Efron 1979; Hesterberg 2015; Pavao et al. 2021 (judge stability).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.clusters import cluster_key, clusters_of
from ranking_engine.core.missing import Completed, complete, scored_part
from ranking_engine.core.ranking import UNRANKED, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.plan import HARDER, one_by_one_seconds, seconds_at_once
from ranking_engine.stability.rank_bounds import end_errors, expanded_tail, interval_bounds
from ranking_engine.stability.resampling.alone import MOST_SECONDS, Alone
from ranking_engine.stability.resampling.resampled_scores import (
    has_fast_way,
    on_one_scale,
    part_of_steps,
    resampled_scores,
)
from ranking_engine.stability.simultaneous import (
    MAX_RESAMPLES,
    MAX_SYSTEMS,
    SimultaneousRanks,
    simultaneous_ranks,
)

MIN_CLUSTERS = 8  # with fewer, no widening makes intervals cover the true rank often enough
DEFAULT_RULES = ("mean", "plurality", "borda", "copeland", "minimax")

BUDGET_SECONDS = 60.0
LEAST_RESAMPLES = 100  # at the 95 % level the ends of an interval are then about the second lowest and highest rank
RESAMPLES = 4000
FEWER_RESAMPLES = 1000  # of larger boards, and at most under rules that rank one resample at a time
_ALL_RESAMPLES_SYSTEMS = 300  # so many systems have `RESAMPLES`; cost grows with their square
MAX_SECONDS = 1.0  # of one resample

# Of one resample, and of each two systems in it: rules that rank many at once within this rank all of them.
_QUICK_SECONDS, _QUICK_PAIR_SECONDS = 1e-3, 4e-7
_BATCH_CELLS = 1 << 20  # ranks that are sorted at a time

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Bootstrap distributions of ranks, with their intervals.

    Attributes:
        status: `computed`, or `undefined` where there are fewer than 8 clusters of tasks.
        reason: why the status is `undefined`; otherwise empty.
        rules: the keys of the rules.
        n_resamples, level, seed, missing: the parameters.
        n_clusters: the number of clusters that a resample draws.
        counts: for each rule `counts[i, r]`, the number of resamples in which system i has rank r + 1, int32
            of shape (n_systems, n_systems). A row sums to less than `n_resamples` where some resamples give
            the system no rank.
        lower, upper: for each rule the best and the worst rank of each system's interval, int32 of shape
            (n_systems,): at most `expanded_tail` of its ranks lie below `lower` and as many above `upper`.
            UNRANKED (-1) where it has no rank in any resample.
        errors: for each rule by how many ranks an end of each system's interval may be off because there are only so
            many resamples, int32 of shape (n_systems,); see `end_errors`.
        undefined: why, for rules that give no ranking or have too few tasks left under the policy.
        skipped: why, for rules that would have taken too long.
        n_drawn: of how many resamples the ranks are, for each rule; the first so many of `n_resamples`.
        proven: for rules that search for the best order, the share of the resamples in which it was proven to be the
            best; in the others it is the best one met.
        simultaneous: for each rule the intervals that hold for all systems at once, where they were asked for. Each
            contains the system's interval by itself.
        not_simultaneous: why there are none, for rules that have intervals by themselves.
    """

    status: Literal["computed", "undefined"]
    reason: str
    rules: tuple[str, ...]
    n_resamples: int
    level: float
    seed: int
    missing: str
    n_clusters: int
    counts: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    lower: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    upper: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    errors: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    n_drawn: Mapping[str, int] = field(default_factory=dict)
    proven: Mapping[str, float] = field(default_factory=dict)
    simultaneous: Mapping[str, SimultaneousRanks] = field(default_factory=dict)
    not_simultaneous: Mapping[str, str] = field(default_factory=dict)


def affordable_resamples(n_systems: int, most: int = RESAMPLES) -> int:
    """Return how many resamples a board of this size gets under quick rules: `most` if it is small, else 1,000."""
    return most if n_systems <= _ALL_RESAMPLES_SYSTEMS else min(most, FEWER_RESAMPLES)


def rank_intervals(
    matrix: ScoreMatrix,
    rules: Sequence[str] = DEFAULT_RULES,
    *,
    n_resamples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    missing: str = "drop_systems",
    simultaneous: bool = False,
    budget: float = BUDGET_SECONDS,
    least: int = LEAST_RESAMPLES,
    progress: Progress | None = None,
) -> RankIntervals:
    """Bootstrap the ranks of all systems over the tasks.

    Args:
        matrix: the scores; `clusters_of` tells its clusters.
        rules: keys of RULES, each in its default variant.
        n_resamples: how often the tasks are drawn again, at most 1,000 times where a rule is slow; each
            resample is seeded by its own index. As often as on a site if None: 4,000 times, and 1,000 times with more
            than 300 systems.
        level: of each interval by itself, and of the simultaneous ones together, as 0.95.
        seed: of the draws.
        missing: the policy for rules that need every score.
        simultaneous: whether to compute the intervals that hold for all systems at once, too; from the first 1,000
            resamples, and for at most 400 systems.
        budget: the seconds, as estimated by the rules' own costs and the steps of a search on the whole table, for all
            rules whose resamples cost much or can only be ranked one by one. Each gets an equal share, and what the
            cheaper ones leave. A search ends after so many steps, never by the clock; see `proven`.
        least: so many it gets in any case, or `n_resamples` where these are fewer, unless one takes more than
            `MAX_SECONDS`: then the rule is skipped.
        progress: called as progress(done, total) after each step; it may raise to cancel.

    Raises:
        ValueError: an unknown rule or policy, or a parameter out of its range.
    """
    for rule in rules:
        if get_rule(rule).parameters:
            raise ValueError(f"`rules` names {rule!r}, which needs {', '.join(get_rule(rule).parameters)}")
    if n_resamples is None:
        n_resamples = affordable_resamples(matrix.n_systems)
    if n_resamples < 1:
        raise ValueError(f"`n_resamples` is {n_resamples}; expected at least 1")
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a share between 0 and 1, such as 0.95")
    if seed < 0:
        raise ValueError(f"`seed` is {seed}; expected 0 or more")
    native, completed = scored_part(matrix), complete(matrix, missing)
    n_clusters = 0 if native.matrix is None else len(clusters_of(native.matrix))
    parameters = (tuple(rules), n_resamples, level, seed, missing, n_clusters)
    if reason := _why_none(native):
        return RankIntervals("undefined", reason, *parameters)
    study = _Study(
        matrix.n_systems,
        len(rules),
        n_resamples,
        level,
        seed,
        budget,
        min(least, n_resamples),
        _Steps(progress),
        simultaneous,
    )
    needy = [rule for rule in rules if get_rule(rule).needs_complete]
    if native.matrix is not None and native.matrix.is_complete.all():
        study.run(native, list(rules))
    else:
        study.run(completed, needy)
        study.run(native, [rule for rule in rules if rule not in needy])
    study.step.finish()
    return RankIntervals(
        "computed",
        "",
        *parameters,
        study.counts,
        study.lower,
        study.upper,
        study.errors,
        study.undefined,
        study.skipped,
        study.n_drawn,
        study.proven,
        study.simultaneous,
        study.not_simultaneous,
    )


@dataclass
class _Study:
    """The intervals of each rule, and for the others why there are none."""

    n_systems: int
    n_rules: int
    n_resamples: int
    level: float
    seed: int
    budget: float
    least: int
    step: _Steps
    is_simultaneous: bool
    spent: float = 0.0
    counts: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    lower: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    upper: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    errors: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    n_drawn: dict[str, int] = field(default_factory=dict)
    proven: dict[str, float] = field(default_factory=dict)
    simultaneous: dict[str, SimultaneousRanks] = field(default_factory=dict)
    not_simultaneous: dict[str, str] = field(default_factory=dict)

    def run(self, part: Completed, keys: list[str]) -> None:
        """Find the intervals of the rules that rank one part of the matrix."""
        matrix, reason = part.matrix, _why_none(part)
        if matrix is None or reason or not keys:
            self.undefined.update(dict.fromkeys(keys, reason))
            return
        step = self.step.part(len(keys) / self.n_rules)
        tail = expanded_tail(self.level, len(clusters_of(matrix)))
        task_counts = draw_tasks(matrix, self.n_resamples, self.seed)
        # Slow rules share the budget, the cheapest first.
        drawn, slow = dict.fromkeys(keys, self.n_resamples), dict[str, float]()
        quick = _QUICK_SECONDS + _QUICK_PAIR_SECONDS * matrix.n_systems**2
        for key in keys:
            is_at_once = has_fast_way(key, matrix, task_counts)
            seconds = seconds_at_once(key, matrix) if is_at_once else one_by_one_seconds(key, matrix)
            if not is_at_once or seconds > quick:
                slow[key] = seconds
        self.skipped |= {
            key: f"ranking one resample would take about {seconds:.2g} s"
            for key, seconds in slow.items()
            if seconds > MAX_SECONDS
        }
        drawn = {key: n for key, n in drawn.items() if key not in self.skipped}
        full = Alone().rankings(matrix, list(drawn), "undefined")
        self.undefined.update({key: full[key].reason for key in drawn if full[key].status == "undefined"})
        drawn = {key: n for key, n in drawn.items() if key not in self.undefined}
        # What a search costs here, the whole table says; on a resample it may go on for longer, but not for ever.
        slow = {key: max(slow[key], float(full[key].details.get("seconds", 0.0))) for key in drawn if key in slow}
        most_seconds = {
            key: min(MOST_SECONDS, HARDER * max(slow[key], self.budget / max(1, self.least)))
            for key in slow
            if get_rule(key).is_search
        }
        for done, key in enumerate(sorted(slow, key=lambda key: slow[key])):
            left = max(0.0, self.budget - self.spent) / (len(slow) - done)
            drawn[key] = max(self.least, min(self.n_resamples, FEWER_RESAMPLES, int(left / slow[key])))
            self.spent += slow[key] * drawn[key]
        self.n_drawn.update(drawn)
        done = 0
        for n in sorted(set(drawn.values()), reverse=True):
            together = [key for key in drawn if drawn[key] == n]
            within = part_of_steps(step, done, len(together), len(drawn))
            done += len(together)
            alone = Alone(most_seconds)
            for rule, scores in resampled_scores(matrix, task_counts[:n], together, within, alone).items():
                if len(proven := alone.proven(rule)):
                    self.proven[rule] = float(proven.mean())
                m = scores.shape[1]
                table, height = np.zeros(m * m, dtype=np.int64), max(1, _BATCH_CELLS // m)
                for start in range(0, len(scores), height):
                    ranks = ranks_of(scores[start : start + height])
                    table += np.bincount((np.arange(m) * m + ranks - 1)[ranks != UNRANKED], minlength=m * m)
                counts = np.zeros((self.n_systems, self.n_systems), dtype=np.int32)  # of each system at each rank
                counts[np.ix_(part.systems, np.arange(m))] = table.reshape(m, m)
                self.counts[rule], self.errors[rule] = counts, end_errors(counts, tail)
                self.lower[rule], self.upper[rule] = interval_bounds(counts, tail)
                if self.is_simultaneous:
                    self._rank_all_at_once(rule, part.systems, matrix, task_counts[:n], scores)

    def _rank_all_at_once(
        self,
        rule: str,
        ranked: NDArray[np.intp],
        matrix: ScoreMatrix,
        task_counts: NDArray[np.int64],
        scores: FloatArray,
    ) -> None:
        """Find the simultaneous intervals of one rule, each widened to contain the system's interval by itself."""
        once = np.ones((1, matrix.n_tasks), dtype=np.int64)
        whole = resampled_scores(matrix, once, [rule], lambda share: None)[rule]
        observed, n_ranked = on_one_scale(rule, matrix, once, whole)[0], int((~np.isnan(whole)).sum())
        if n_ranked < 2 or n_ranked > MAX_SYSTEMS:
            self.not_simultaneous[rule] = (
                "it ranks fewer than two systems" if n_ranked < 2 else f"it ranks more than {MAX_SYSTEMS} systems"
            )
            return
        some = slice(0, MAX_RESAMPLES)
        resampled = on_one_scale(rule, matrix, task_counts[some], scores[some])
        together = simultaneous_ranks(observed, resampled, len(clusters_of(matrix)), self.level)
        lower, upper = (np.full(self.n_systems, UNRANKED, dtype=np.int32) for _ in range(2))
        possibly_best = np.zeros(self.n_systems, dtype=bool)
        has_both = (together.lower != UNRANKED) & (self.lower[rule][ranked] != UNRANKED)
        systems = ranked[has_both]
        lower[systems] = np.minimum(together.lower[has_both], self.lower[rule][systems])
        upper[systems] = np.maximum(together.upper[has_both], self.upper[rule][systems])
        possibly_best[systems] = together.possibly_best[has_both]
        self.simultaneous[rule] = SimultaneousRanks(lower, upper, possibly_best)


def draw_clusters(n_clusters: int, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Return how often each resample draws each cluster, shape (n_resamples, n_clusters).

    Resample r depends on `seed` and r alone.
    """
    draws = np.empty((n_resamples, n_clusters), dtype=np.int64)
    for r in range(n_resamples):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(r,))))
        draws[r] = np.bincount(generator.integers(n_clusters, size=n_clusters), minlength=n_clusters)
    return draws


def draw_tasks(matrix: ScoreMatrix, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Return how often each resample counts each task, shape (n_resamples, n_tasks); voting tasks only."""
    clusters = clusters_of(matrix)
    draws = draw_clusters(len(clusters), n_resamples, seed)
    return draws[:, [clusters[cluster_key(matrix, t)] for t in range(matrix.n_tasks)]]


def _why_none(part: Completed) -> str:
    """Return why `part` cannot be resampled, or an empty text."""
    if part.matrix is None:
        return part.reason
    n_clusters = len(clusters_of(part.matrix))
    if n_clusters >= MIN_CLUSTERS:
        return ""
    what = "task or cluster of tasks" if n_clusters == 1 else "tasks or clusters of tasks"
    return f"{n_clusters} {what} to draw from; with fewer than {MIN_CLUSTERS}, intervals miss the true rank too often"


class _Steps:
    """Turns shares of the work into 100 steps, and reports each step once, in order."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.begun = 0.0
        self.done = 0

    def part(self, length: float) -> Callable[[float], None]:
        """Begin a part that is `length` of the work; return what to call with the share of it done."""
        before, self.begun = self.begun, self.begun + length
        return lambda share: self._report(min(99, int(100 * (before + length * share))))

    def finish(self) -> None:
        self._report(100)

    def _report(self, done: int) -> None:
        if self.progress is not None and done > self.done:
            self.progress(done, 100)
        self.done = max(done, self.done)
