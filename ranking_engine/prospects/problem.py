"""What is to be won: the systems that a rule ranks, the tasks that vote, and the leads between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.catalogue.registry import RULES as CATALOGUE, TIES, get_rule
from ranking_engine.core.aggregation import distinct, voting_groups
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.score_matrix import BoolArray, ScoreMatrix
from ranking_engine.prospects.contest import NO_TASK
from ranking_engine.prospects.leads import GroupLeads, Leads, MajorityLeads, PointLeads

MAJORITY = "majority"
_FIRST = ("mean", "borda")  # what most ask for
_OF_POINTS = [key for key, rule in CATALOGUE.items() if rule.exact_points]
RULES = (MAJORITY, *sorted(_OF_POINTS, key=lambda key: key not in _FIRST))


@dataclass(frozen=True, eq=False)
class Problem:
    """The leads of the ranked systems on the voting tasks.

    Attributes:
        matrix: all systems and tasks; under `all_tasks` those of weight 0 weigh 1.
        rule: one of RULES.
        part: the ranked systems and voting tasks.
        place: the row of `part` of each ranked system, by index.
        leads: of `part`.
        names: what has a weight: the voting tasks, or the groups of voting tasks.
        own: the benchmark's weights of those, as shares; None where all are 0.
        spread: with groups, a row for each with the share that each task has of its weight; else None.
    """

    matrix: ScoreMatrix
    rule: str
    part: ScoreMatrix
    place: Mapping[int, int]
    leads: Leads
    names: tuple[str, ...]
    own: tuple[Fraction, ...] | None
    spread: list[list[Fraction]] | None = None

    def over_names(self, row: Sequence[Fraction]) -> list[Fraction]:
        """Return a row over the voting tasks as one over `names`: with the same value at the weights they stand for."""
        if self.spread is None:
            return list(row)
        return [total(share * entry for share, entry in zip(shares, row, strict=True)) for shares in self.spread]

    def by_group(self) -> Problem:
        """Return the problem in which groups have weights, and a task its share of its group's.

        Shares within a group are as the tasks' own weights; a task without a group is a group by itself.
        """
        groups, weights = voting_groups(self.part), self.part.weights
        spread = [[Fraction(0)] * self.part.n_tasks for _ in groups]
        for shares, group in zip(spread, groups, strict=True):
            for t in group.tasks:
                shares[t] = weights[t] / total(weights[s] for s in group.tasks)
        own = None if self.own is None else tuple(total(self.own[t] for t in group.tasks) for group in groups)
        names = tuple(distinct([group.name for group in groups]))
        leads = GroupLeads(self.leads, spread)
        return replace(self, leads=leads, names=names, own=own, spread=spread)

    def n_incomparable(self, k: int, rivals: NDArray[np.intp], weighing: Iterable[str] | None = None) -> int:
        """How many of the rivals have no common task with a system.

        Args:
            k: the row of the system in `part`.
            rivals: their rows.
            weighing: the names of what has a weight; None for all.
        """
        if self._is_complete:
            return 0
        chosen = self.names if weighing is None else set(weighing)
        is_weighing = np.array([self._name_of(t) in chosen for t in range(self.part.n_tasks)], dtype=bool)
        has_common = (self._is_present[rivals] & self._is_present[k] & is_weighing).any(axis=1)
        return int((~has_common).sum())

    def unscored(self, k: int) -> frozenset[int]:
        """Which of `names` row k of `part` has no score on, by index: no rule ranks it while these alone weigh."""
        if self._is_present[k].all():
            return NO_TASK
        scored = {self._name_of(t) for t in np.flatnonzero(self._is_present[k]).tolist()}
        return frozenset(t for t, name in enumerate(self.names) if name not in scored)

    @cached_property
    def _is_present(self) -> BoolArray:
        return ~np.isnan(self.part.scores)

    @cached_property
    def _is_complete(self) -> bool:
        return bool(self._is_present.all())

    def _name_of(self, t: int) -> str:
        """What of `names` gives voting task t its weight."""
        if self.spread is None:
            return self.names[t]
        return next(name for name, shares in zip(self.names, self.spread, strict=True) if shares[t])


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum, a Fraction also of nothing."""
    return sum(values, Fraction(0))


def with_all_tasks(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return `matrix` with a weight of 1 for every task of weight 0, so that all ordered tasks vote."""
    return matrix.with_weights([weight or Fraction(1) for weight in matrix.weights])


def take_apart(
    matrix: ScoreMatrix, rule: str, *, all_tasks: bool, by_group: bool, missing: str, ties: str | None
) -> tuple[Problem | None, dict[int, str]]:
    """Return the problem, None where no one is ranked, and why systems are not ranked, by index.

    Raises:
        ValueError: an unknown rule, policy or convention.
    """
    if rule not in RULES:
        raise ValueError(f"`rule` is {rule!r}; expected one of {', '.join(RULES)}")
    if ties is not None and ties not in TIES:
        raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")
    weight_of = dict(zip(matrix.task_names, matrix.weights, strict=True))
    matrix = with_all_tasks(matrix) if all_tasks else matrix
    ranked = scored_part(matrix) if rule == MAJORITY else complete(matrix, missing)
    part = ranked.matrix
    if part is None:
        return None, {**dict.fromkeys(range(matrix.n_systems), ranked.reason), **ranked.unranked_reasons}
    leads: Leads = MajorityLeads(part.scores)
    if rule != MAJORITY and (exact_points := get_rule(rule).exact_points) is not None:
        leads = PointLeads(exact_points(part.scores, ties or get_rule(rule).tie_convention or ""))
    whole = total(weight_of[name] for name in part.task_names)
    own = tuple(weight_of[name] / whole for name in part.task_names) if whole else None
    place = {int(i): k for k, i in enumerate(ranked.systems)}
    problem = Problem(matrix, rule, part, place, leads, part.task_names, own)
    return problem.by_group() if by_group else problem, dict(ranked.unranked_reasons)
