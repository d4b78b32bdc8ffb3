"""Significance: which systems of a ranking differ significantly, and which do not.

Separability belongs to a rule. Where the rule's scores are sums over tasks (`Rule.task_sum`), what each task adds to
them is tested: sum_t (contribution_it - contribution_jt), weights included, is the difference of the two scores. A
sign-flip test (`sign_flips`) asks whether it is more than chance. Where they are no such sums, as under Copeland,
medians, eliminations, or win rate with missing scores, the test is of mean differences in units of spread:
sum_t weight_t (score_i - score_j)_t / scale_t over common tasks, scores oriented so that higher is better.
`scale="sd"`, the default, divides by the task's standard deviation over the systems: else a task in large units would
decide alone; `scale="none"` takes the scores as they are. Both tests are exact, because exchanging two systems' scores
on a task exchanges their contributions to it and leaves its deviation as it is.

Two systems are separable where the test is significant after Holm's adjustment over the pairs of its family *and*
the one ranked higher is the one ahead. Significant the other way, the ranking is contradicted, which contributions to
all scores cannot do. Two systems that share a rank are tied, whatever else is said of them. Three families are adjusted
each by itself: neighbours, which are all pairs across consecutive ranks; all pairs of the top; and all pairs, which
decide the runs. Neighbours are n - 1 pairs without ties and never more than n^2 / 4. Tied pairs count in the
adjustment of the two other families. Tasks of one cluster (a stated one; else a group; else a task by itself) are not
taken as independent: what they add is added up and changes sign together. Where even the least p-value that so many
clusters allow would not be significant, there are too few tasks to tell: that is not the same as a tie.

Where missing scores are predicted (`missing="predicted"`), a prediction is no measurement: it is made from the other
scores of its system, so that predictions of one system are off together. Each pair is tested on the tasks on which
both are measured, though the ranks rest on the predictions, too; with few such tasks left there are too few to tell.

That systems are neighbours, or at the top, is itself taken from the data.

Demšar 2006; Benavoli et al. 2016. The papers on benchmarks (Rofin et al. 2023, Colombo et al. 2022, Zhang and
Hardt 2024) test nothing of the kind. `bootstrap` gives rank intervals, which answer another question: what if the
tasks were drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.dispatch import task_contributions
from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.separability.friedman import Friedman, friedman
from ranking_engine.stability.separability.pair_tests import (
    LEVEL,
    NOT_SEPARABLE,
    SEPARABLE,
    TOO_FEW,
    PairTests,
    Scale,
)
from ranking_engine.stability.separability.rule_tests import RuleTests
from ranking_engine.stability.separability.sign_flips import NULL_HYPOTHESIS
from ranking_engine.text.names import name_order_key

TOP = 10
CONTRIBUTIONS, MEAN_DIFFERENCES = "contributions", "mean_differences"
MEASURED_ONLY = "only tasks on which both are measured: the ranks rest on predicted scores, too, the tests do not"


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive ranks with no separable pair among them; pairs may be contradicted.

    `systems` in the order of the board, at least two; `is_told`: enough tasks for every pair of them.
    """

    systems: tuple[int, ...]
    is_told: bool


@dataclass(frozen=True, eq=False)
class Significance:
    """Which systems differ significantly in a ranking.

    Attributes:
        level, seed, scale: the parameters.
        rule: the key of the ranking's rule.
        tested: CONTRIBUTIONS to the rule's scores, or MEAN_DIFFERENCES in units of spread.
        n_clusters: the clusters of tasks that the tests rest on, taken as independent.
        n_tasks: the tasks in them.
        has_predictions: whether some of the scores that are ranked are predicted; of a pair only tasks count on which
            both are measured.
        order: the ranked systems, best first, those of one rank by name.
        neighbours: all pairs of systems of consecutive ranks.
        top: all pairs of the first `TOP` places, with all systems that share the last of them.
        every_pair: all pairs; `runs` rest on them, and so may hold neighbours that the smaller family separates.
        runs: maximal runs of ranks without a separable pair; they may overlap. A rank whose own systems are
            separable belongs to none.
        friedman: Friedman's test and the critical difference, or why they are not valid here.
    """

    level: float
    seed: int
    scale: str
    rule: str
    tested: str
    n_clusters: int
    n_tasks: int
    has_predictions: bool
    order: tuple[int, ...]
    neighbours: PairTests
    top: PairTests
    every_pair: PairTests
    runs: tuple[Run, ...]
    friedman: Friedman

    @property
    def no_neighbours_separable(self) -> bool:
        """Whether not a single pair of neighbours differs significantly, for whatever reason."""
        return self.neighbours.verdict != "some"

    @property
    def tested_text(self) -> str:
        """What is tested, and where that is not what the rule adds up, why not."""
        rule = get_rule(self.rule) if rule_of_variant(self.rule) in RULES else None
        task_sum = rule.task_sum if rule else None
        if self.tested == CONTRIBUTIONS and rule and task_sum:
            text = f"what each task adds to the {task_sum.name} under {rule.name}, weights included"
            return f"{text}; of two systems, {MEASURED_ONLY}" if self.has_predictions else text
        units = "in units of each task's spread over the systems" if self.scale == "sd" else "as they are"
        text = f"weighted mean differences of scores over common tasks, {units}"
        if rule is None:
            return text
        if task_sum is None:
            return f"{text}, because {rule.name} is no sum over tasks"
        return f"{text}, because {rule.name} is no sum over tasks where scores are missing"

    def summary(self) -> dict[str, Any]:
        """Return what a page says, as JSON; the systems of runs by index."""
        return {
            "level": self.level,
            "scale": self.scale,
            "tested": self.tested,
            "tested_text": self.tested_text,
            "null_hypothesis": NULL_HYPOTHESIS,
            "n_clusters": self.n_clusters,
            "n_tasks": self.n_tasks,
            "no_neighbours_separable": self.no_neighbours_separable,
            "neighbours": self.neighbours.summary(),
            "top": self.top.summary(),
            "every_pair": self.every_pair.summary(),
            "runs": [{"systems": list(run.systems), "is_told": run.is_told} for run in self.runs],
            "friedman": self.friedman.summary(),
        }


def significance(
    matrix: ScoreMatrix,
    ranking: Ranking,
    *,
    top: int = TOP,
    level: float = LEVEL,
    scale: Scale = "sd",
    pool: Sequence[str] | None = None,
    seed: int = 0,
    missing: str = "drop_systems",
    ties: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Significance:
    """Say which systems differ significantly in `ranking`, which some rule makes of `matrix`.

    Args:
        matrix: the scores, with the weights of the aggregation; `clusters_of` tells its clusters.
        ranking: of the systems of `matrix`.
        top: all pairs of so many first ranks are a family.
        level: of significance, as 0.05.
        scale: what mean differences are divided by.
        pool: names of the systems chosen in advance for Friedman's test; by default all, if they are few enough.
        seed: of the sign vectors drawn where a pair has more than 28 clusters, or more than 20 on a large board.
        missing, ties, options: those that `ranking` was made with.

    O(n^2) tests of a millisecond at most, except those that draw.

    Raises:
        ValueError: a parameter out of its range, a name in `pool` that is no system's, or a ranking whose scores are
            not those of its rule under `missing`, `ties` and `options`.
    """
    answers = significance_of_rankings(
        matrix,
        {"": ranking},
        top=top,
        level=level,
        scale=scale,
        pool=pool,
        seed=seed,
        missing=missing,
        ties=ties,
        options={ranking.rule: options or {}},
    )
    return answers[""]


def significance_of_rankings(
    matrix: ScoreMatrix,
    rankings: Mapping[str, Ranking],
    *,
    top: int = TOP,
    level: float = LEVEL,
    scale: Scale = "sd",
    pool: Sequence[str] | None = None,
    seed: int = 0,
    missing: str = "drop_systems",
    ties: str | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, Significance]:
    """Say the same of several rankings of one matrix, sharing the tests that are the same.

    Mean differences are tested once, and so are contributions that differ by their unit only, such as those to
    the average rank and to the win rate.

    Args:
        matrix: the scores, with the weights of the aggregation; `clusters_of` tells its clusters.
        rankings: of the systems of `matrix`, by key, such as one a rule.
        top, level, scale, pool, seed: as for `significance`.
        missing, ties, options: those that the rankings were made with; options by rule.

    Returns:
        One answer a ranking, under its key.

    Raises:
        ValueError: as `significance`.
    """
    unknown = sorted(set(pool or ()) - set(matrix.system_names))
    for ranking in rankings.values():
        if ranking.n_systems != matrix.n_systems:
            raise ValueError(f"`ranking` is of {ranking.n_systems} systems, `matrix` of {matrix.n_systems}")
        if not 0 < level < 1:
            raise ValueError(f"`level` is {level}; expected a share between 0 and 1, such as 0.05")
        if scale not in ("sd", "none"):
            raise ValueError(f"`scale` is {scale!r}; expected 'sd' or 'none'")
        if unknown:
            raise ValueError(f"`pool` names {unknown[0]!r}, which is no system of the board")
    orders, names = {}, [name_order_key(name) for name in matrix.system_names]
    for key, ranking in rankings.items():
        ranked = np.flatnonzero((ranking.ranks != UNRANKED) & matrix.has_score).tolist()
        orders[key] = tuple(sorted(ranked, key=lambda i: (int(ranking.ranks[i]), names[i])))
    ranked_by = {ranking.rule for key, ranking in rankings.items() if orders[key]}
    rules = [rule for rule in ranked_by if rule_of_variant(rule) in RULES]
    sums = task_contributions(matrix, sorted(rules), missing=missing, ties=ties, options=options)
    tests = RuleTests(matrix, scale, level, seed)
    of_pool = friedman(matrix, pool, level)
    answers = {}
    for key, order in orders.items():
        ranking, contributions = rankings[key], sums.get(rankings[key].rule)
        if contributions is None:
            tested = tests.of_mean_differences()
        else:
            is_ranked = ranking.ranks != UNRANKED
            expected, scores = contributions.scores[is_ranked], ranking.scores[is_ranked]
            size = np.abs(expected).max(initial=0.0) + np.nanmax(np.abs(contributions.values), initial=0.0)
            if not np.allclose(expected, scores, rtol=0, atol=1e-9 * size):
                raise ValueError(
                    f"`ranking` has other scores than the rule {ranking.rule} gives the systems of `matrix` where "
                    f"`missing` is {missing!r}; state the `missing`, `ties` and `options` that it was made with"
                )
            tested = tests.of_contributions(contributions)
        ranks = ranking.ranks[list(order)]
        # The places of all pairs, the better one first; ranks ascend.
        pairs = np.column_stack(np.triu_indices(len(order), 1))
        number = np.unique(ranks, return_inverse=True)[1]
        is_across_neighbours = number[pairs[:, 1]] - number[pairs[:, 0]] == 1
        every_pair = tested.family(order, ranks, pairs)
        answers[key] = Significance(
            level=level,
            seed=seed,
            scale=scale,
            rule=ranking.rule,
            tested=MEAN_DIFFERENCES if contributions is None else CONTRIBUTIONS,
            n_clusters=tested.n_clusters,
            n_tasks=tested.n_tasks,
            has_predictions=contributions is not None and contributions.is_predicted is not None,
            order=order,
            neighbours=tested.family(order, ranks, pairs[is_across_neighbours]),
            top=tested.family(order, ranks, pairs[ranks[pairs[:, 1]] <= top]),
            every_pair=every_pair,
            runs=_runs(order, ranks, every_pair),
            friedman=of_pool,
        )
    return answers


def _runs(order: tuple[int, ...], places: NDArray[np.int32], tests: PairTests) -> tuple[Run, ...]:
    """Return the maximal runs of whole ranks without a separable pair, of at least two systems."""
    n = len(order)
    verdicts = np.full((n, n), NOT_SEPARABLE, dtype=np.int8)
    verdicts[np.triu_indices(n, 1)] = tests.verdicts
    starts = np.flatnonzero(np.diff(places, prepend=0)).tolist()
    ends = [*starts[1:], n]
    runs: list[Run] = []
    covered = 0
    for first in starts:
        last = first
        for end in ends:
            if end > first and not (verdicts[first:end, first:end] == SEPARABLE).any():
                last = end
            elif end > first:
                break
        if last - first > 1 and last > covered:
            inside = verdicts[first:last, first:last]
            runs.append(Run(order[first:last], is_told=not (inside == TOO_FEW).any()))
            covered = last
    return tuple(runs)
