"""The small table on which every rule is worked through, and what each rule makes of it.

The pages of `docs/rules` work through the same table by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.rule import POSITIONS, SCORES
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.task_order import task_order

# Four systems, five tasks of equal weight from 0 to 4 on which guessing gives 1; a score of 3 is as good as perfect.
TOY = ScoreMatrix(
    [[4, 4, 1, 1, 1], [3, 1, 4, 3, 3], [2, 3, 2, 4, 2], [1, 2, 3, 2, 4]],
    system_names=["A", "B", "C", "D"],
    task_names=["1", "2", "3", "4", "5"],
    gamma=3,
    minimum=[0] * 5,
    maximum=[4] * 5,
    chance=[1] * 5,
)


@dataclass(frozen=True, eq=False)
class Example:
    """One rule on the toy table.

    Attributes:
        ranking: what the rule makes of it.
        reads: what the rule looks at: `scores`, `positions` on each task, or `duels` of every two systems.
        table: that, one row per system: a column per task, or per rival for duels, the number of tasks on which the
            row is above it (-1 against itself).
        options: what the rule was given beside the table.
    """

    ranking: Ranking
    reads: str
    table: np.ndarray
    options: Mapping[str, Any]


def example_of(rule: str, options: Mapping[str, Any] | None = None) -> Example:
    """Return what `rule` makes of the toy table, under a tie convention or variant where `options` states one."""
    record = get_rule(rule)
    given = {**record.example_options, **(options or {})}
    if record.looks_at == SCORES:
        table: np.ndarray = TOY.values
    elif record.looks_at == POSITIONS:
        table = task_order(TOY.scores).first + 1
    else:
        table = Pairwise.of(TOY).wins - np.eye(TOY.n_systems, dtype=np.int32)
    return Example(rank(TOY, rule, **given), record.looks_at, table, given)
