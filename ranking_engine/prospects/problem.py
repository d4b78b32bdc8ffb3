"""What is to be won: the systems that a rule ranks, the tasks that vote, and the leads between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranking_engine.missing import complete, scored_part
from ranking_engine.prospects.leads import POINTS, Leads, MajorityLeads, PointLeads
from ranking_engine.registry import TIES, get_rule
from ranking_engine.score_matrix import ScoreMatrix

MAJORITY = "majority"
RULES = (MAJORITY, *POINTS)


@dataclass(frozen=True, eq=False)
class Problem:
    """The leads of the ranked systems on the voting tasks.

    Attributes:
        matrix: all systems and tasks; under `all_tasks` those of weight 0 weigh 1.
        rule: one of RULES.
        part: the ranked systems and voting tasks.
        place: the row of `part` of each ranked system, by index.
        leads: of `part`.
        own: the benchmark's weights of the voting tasks, as shares; None where all are 0.
    """

    matrix: ScoreMatrix
    rule: str
    part: ScoreMatrix
    place: Mapping[int, int]
    leads: Leads
    own: tuple[Fraction, ...] | None

    @cached_property
    def n_incomparable(self) -> NDArray[np.int64]:
        """For each ranked system the rivals without a common voting task."""
        present = ~np.isnan(self.part.scores)
        if present.all():
            return np.zeros(len(present), dtype=np.int64)
        counts = present.astype(np.float32)
        return np.asarray((counts @ counts.T == 0).sum(axis=1), dtype=np.int64)

    def has_common_task(self, k: int, other: int) -> bool:
        """Whether some voting task has a score of both rows of `part`."""
        return not np.isnan(self.part.scores[k] + self.part.scores[other]).all()


def with_all_tasks(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return `matrix` with a weight of 1 for every task of weight 0, so that all ordered tasks vote."""
    return matrix.with_weights([weight or Fraction(1) for weight in matrix.weights])


def take_apart(
    matrix: ScoreMatrix, rule: str, *, all_tasks: bool, missing: str, ties: str | None
) -> tuple[Problem | None, dict[int, str]]:
    """Return the problem, None where nobody is ranked, and why systems are not ranked, by index.

    Raises:
        ValueError: an unknown rule, policy or convention.
    """
    if rule not in RULES:
        raise ValueError(f"`rule` is {rule!r}; expected one of {', '.join(RULES)}")
    if ties is not None and ties not in TIES:
        raise ValueError(f"`ties` is {ties!r}; expected one of {', '.join(TIES)}")
    stated = dict(zip(matrix.task_names, matrix.weights, strict=True))
    matrix = with_all_tasks(matrix) if all_tasks else matrix
    ranked = scored_part(matrix) if rule == MAJORITY else complete(matrix, missing)
    part = ranked.matrix
    if part is None:
        return None, {**dict.fromkeys(range(matrix.n_systems), ranked.reason), **ranked.unranked_reasons}
    if rule == MAJORITY:
        leads: Leads = MajorityLeads(part.scores)
    else:
        leads = PointLeads(POINTS[rule](part.scores, ties or get_rule(rule).tie_convention or ""))
    total = sum(stated[name] for name in part.task_names)
    own = tuple(stated[name] / total for name in part.task_names) if total else None
    place = {int(i): k for k, i in enumerate(ranked.systems)}
    return Problem(matrix, rule, part, place, leads, own), dict(ranked.unranked_reasons)
