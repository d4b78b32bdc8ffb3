"""Bootstrap over tasks: the rank that each system would have had, had other tasks been drawn.

A resample draws as many clusters of voting tasks as there are, with replacement; a cluster is stated by its
tasks, else a task group, else a task by itself (`clusters_of`). A task drawn k times counts k times its weight.
The missing-score policy is applied once, before drawing, and only tasks that it leaves are drawn.
Efron 1979; Pavao et al. 2021 (judge stability).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.clusters import cluster_key, clusters_of
from ranking_engine.dispatch import rank_all
from ranking_engine.missing import Completed, complete, scored_part
from ranking_engine.ranking import UNRANKED, ranks_of
from ranking_engine.registry import get_rule
from ranking_engine.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.resampled_scores import has_fast_way, resampled_scores

MIN_CLUSTERS = 6
DEFAULT_RULES = ("mean", "plurality", "borda", "copeland", "minimax")

BUDGET_SECONDS = 60.0
LEAST_RESAMPLES = 100  # at the 95 % level the ends of an interval are then its third lowest and highest rank
MOST_SECONDS = 1.0  # of one resample

_BATCH_CELLS = 1 << 20  # ranks that are sorted at a time

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Bootstrap distributions of ranks, with their intervals.

    Attributes:
        status: `computed`, or `undefined` where there are fewer than 6 clusters of tasks.
        reason: why the status is `undefined`; otherwise empty.
        rules: the keys of the rules.
        n_resamples, level, seed, missing: the parameters.
        n_clusters: the number of clusters that a resample draws.
        counts: for each rule `counts[i, r]`, the number of resamples in which system i has rank r + 1, int32
            of shape (n_systems, n_systems). A row sums to less than `n_resamples` where some resamples give
            the system no rank.
        lower, upper: for each rule the best and the worst rank of each system's interval, int32 of shape
            (n_systems,): at most (1 - level) / 2 of its ranks lie below `lower` and as many above `upper`.
            UNRANKED (-1) where it has no rank in any resample.
        undefined: why, for rules that give no ranking or have too few tasks left under the policy.
        skipped: why, for rules that would have taken too long.
        n_drawn: of how many resamples the ranks are, for each rule; the first so many of `n_resamples`.
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
    undefined: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    n_drawn: Mapping[str, int] = field(default_factory=dict)


def rank_intervals(
    matrix: ScoreMatrix,
    rules: Sequence[str] = DEFAULT_RULES,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    missing: str = "drop_systems",
    budget: float = BUDGET_SECONDS,
    least: int = LEAST_RESAMPLES,
    progress: Progress | None = None,
) -> RankIntervals:
    """Bootstrap the ranks of all systems over the tasks.

    Args:
        matrix: the scores; `clusters_of` tells its clusters.
        rules: keys of RULES, each in its default variant.
        n_resamples: how often the tasks are redrawn; each resample is seeded by its own index.
        level: of the intervals, as 0.95.
        seed: of the draws.
        missing: the policy for rules that need every score.
        budget: the seconds, as estimated by the rules' own costs, for all rules whose resamples can only be
            ranked one by one; the cheapest come first, and what is left says how many resamples a rule gets.
        least: so many it gets in any case, or `n_resamples` where these are fewer, unless one takes more than
            `MOST_SECONDS`: then the rule is skipped.
        progress: called as progress(done, total) after each step; it may raise to cancel.

    Raises:
        ValueError: an unknown rule or policy, or a parameter out of its range.
    """
    for rule in rules:
        if get_rule(rule).parameters:
            raise ValueError(f"`rules` names {rule!r}, which needs {', '.join(get_rule(rule).parameters)}")
    _check_parameters(n_resamples, level, seed)
    native, completed = scored_part(matrix), complete(matrix, missing)
    n_clusters = 0 if native.matrix is None else len(clusters_of(native.matrix))
    parameters = (tuple(rules), n_resamples, level, seed, missing, n_clusters)
    if reason := _why_none(native):
        return RankIntervals("undefined", reason, *parameters)
    study = _Study(matrix.n_systems, n_resamples, seed, budget, min(least, n_resamples), _Steps(progress))
    study.run(_by_part(native, completed, rules), len(rules))
    bounds = {rule: interval_bounds(table, level) for rule, table in study.counts.items()}
    lower = {rule: bound[0] for rule, bound in bounds.items()}
    upper = {rule: bound[1] for rule, bound in bounds.items()}
    return RankIntervals(
        "computed", "", *parameters, study.counts, lower, upper, study.undefined, study.skipped, study.n_drawn
    )


@dataclass
class _Study:
    """The counts of ranks of each rule, and for the others why there are none."""

    n_systems: int
    n_resamples: int
    seed: int
    budget: float
    least: int
    step: _Steps
    spent: float = 0.0
    counts: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    n_drawn: dict[str, int] = field(default_factory=dict)

    def run(self, parts: list[tuple[Completed, list[str]]], n_rules: int) -> None:
        """Count the ranks of the rules of every part."""
        for part, keys in parts:
            reason = _why_none(part)
            if part.matrix is None or reason:
                self.undefined.update(dict.fromkeys(keys, reason))
            else:
                self._run_part(part, part.matrix, keys, self.step.part(len(keys) / n_rules))
        self.step.finish()

    def _run_part(
        self, part: Completed, matrix: ScoreMatrix, keys: list[str], step: Callable[[float], None]
    ) -> None:
        task_counts = draw_tasks(matrix, self.n_resamples, self.seed)
        drawn = self._affordable(matrix, task_counts, keys)
        full = rank_all(matrix, list(drawn), missing="undefined")
        self.undefined.update({key: full[key].reason for key in drawn if full[key].status == "undefined"})
        drawn = {key: n for key, n in drawn.items() if key not in self.undefined}
        self.n_drawn.update(drawn)
        done = 0
        for n, together in _by_number(drawn).items():
            within = _within(step, done, len(together), len(drawn))
            done += len(together)
            for rule, scores in resampled_scores(matrix, task_counts[:n], together, within).items():
                self.counts[rule] = _count_ranks(self.n_systems, part, scores)

    def _affordable(self, matrix: ScoreMatrix, task_counts: NDArray[np.int64], keys: list[str]) -> dict[str, int]:
        """Return how many resamples each rule gets; skip those of which one takes too long.

        Those ranked one resample at a time use the budget up, the cheapest first.
        """
        n, T = matrix.n_systems, matrix.n_tasks
        drawn = dict.fromkeys(keys, self.n_resamples)
        slow = {key: get_rule(key).cost(n, T) for key in keys if not has_fast_way(key, matrix, task_counts)}
        for key in sorted(slow, key=lambda key: slow[key]):
            if slow[key] > MOST_SECONDS:
                self.skipped[key] = f"ranking one resample would take about {slow[key]:.2g} s"
                del drawn[key]
                continue
            left = max(0.0, self.budget - self.spent)
            drawn[key] = max(self.least, min(self.n_resamples, int(left / slow[key])))
            self.spent += slow[key] * drawn[key]
        return drawn


def _by_number(drawn: Mapping[str, int]) -> dict[int, list[str]]:
    """Return the rules by how many resamples they get, the most first."""
    return {n: [key for key in drawn if drawn[key] == n] for n in sorted(set(drawn.values()), reverse=True)}


def _within(step: Callable[[float], None], done: int, length: int, total: int) -> Callable[[float], None]:
    """Return the callback for `length` of `total` rules after the first `done`."""
    return lambda share: step((done + length * share) / total)


def draw_clusters(n_clusters: int, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Return how often each resample draws each cluster, shape (n_resamples, n_clusters).

    Resample r depends on `seed` and r alone.
    """
    draws = np.empty((n_resamples, n_clusters), dtype=np.int64)
    for r in range(n_resamples):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(r,))))
        draws[r] = np.bincount(generator.integers(n_clusters, size=n_clusters), minlength=n_clusters)
    return draws


def interval_bounds(counts: NDArray[np.int32], level: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lower and upper rank of each row of `counts`; UNRANKED where the row is empty.

    With N ranks and tail (1 - level) / 2, `lower` is the least rank r such that more than tail N ranks are
    at most r; `upper` the greatest such that more than tail N are at least r. Exact in integers.
    """
    tail = (1 - Fraction(repr(float(level)))) / 2
    from_best = np.cumsum(counts, axis=1, dtype=np.int64)
    total = from_best[:, -1:]
    is_past = from_best * tail.denominator > total * tail.numerator
    from_worst = total - from_best + counts
    is_before = from_worst * tail.denominator > total * tail.numerator
    n = counts.shape[1]
    lower = np.where(total[:, 0] > 0, is_past.argmax(axis=1) + 1, UNRANKED)
    upper = np.where(total[:, 0] > 0, n - is_before[:, ::-1].argmax(axis=1), UNRANKED)
    return lower.astype(np.int32), upper.astype(np.int32)


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
    return (
        f"{n_clusters} independent tasks or task groups to draw from; fewer than {MIN_CLUSTERS} tell nothing"
    )


def _by_part(
    native: Completed, completed: Completed, rules: Sequence[str]
) -> list[tuple[Completed, list[str]]]:
    """Return the parts of the matrix that are ranked, each with its rules; one part for all if complete."""
    needy = [rule for rule in rules if get_rule(rule).needs_complete]
    rest = [rule for rule in rules if rule not in needy]
    if native.matrix is not None and native.matrix.is_complete.all():
        return [(native, list(rules))]
    return [(part, keys) for part, keys in ((completed, needy), (native, rest)) if keys]


def _count_ranks(n: int, part: Completed, scores: FloatArray) -> NDArray[np.int32]:
    """Return counts[i, r] over all `n` systems from the scores of the ranked part."""
    m = scores.shape[1]
    table = np.zeros(m * m, dtype=np.int64)
    height = max(1, _BATCH_CELLS // m)
    for start in range(0, len(scores), height):
        ranks = ranks_of(scores[start : start + height])
        cells = (np.arange(m) * m + ranks - 1)[ranks != UNRANKED]
        table += np.bincount(cells, minlength=m * m)
    counts = np.zeros((n, n), dtype=np.int32)
    counts[np.ix_(part.systems, np.arange(m))] = table.reshape(m, m)
    return counts


def _check_parameters(n_resamples: int, level: float, seed: int) -> None:
    if n_resamples < 1:
        raise ValueError(f"`n_resamples` is {n_resamples}; expected at least 1")
    if not 0 < level < 1:
        raise ValueError(f"`level` is {level}; expected a share between 0 and 1, such as 0.95")
    if seed < 0:
        raise ValueError(f"`seed` is {seed}; expected 0 or more")


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
