"""Friedman's test and Nemenyi's critical difference, where they are valid, and otherwise why they are not.

Demšar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets, section 3.2. Whether two systems
differ then depends on which others are in the pool (Benavoli, Corani and Mangili 2016), so that the pool must be
small and chosen in advance, and the sign-flip tests of `significance` are what the board goes by.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ranking_engine.core.comparison import task_ranks
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.missing import scored_part
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.separability.pair_tests import task_clusters
from ranking_engine.text.names import name_order_key

MIN_TASKS = 10
MAX_SYSTEMS = 20
POOL_NOTE = "whether two systems differ depends on which others are in the pool"


@dataclass(frozen=True, eq=False)
class Friedman:
    """A critical-difference diagram in numbers.

    Attributes:
        reason: why there is none; otherwise empty.
        critical_difference: of average ranks over tasks; also given, where it can be, for an invalid one.
        systems: the names of the pool, best average rank first; ties by name.
        average_ranks: of these.
        statistic: Iman and Davenport's F, corrected for ties, with `n_systems - 1` and
            `(n_systems - 1) (n_tasks - 1)` degrees of freedom.
        p_value: of it.
        runs: maximal runs of places (first, last) within a critical difference of each other, from 0.
        note: what to bear in mind.
    """

    reason: str
    critical_difference: float = math.nan
    systems: tuple[str, ...] = ()
    average_ranks: FloatArray = field(default_factory=lambda: np.zeros(0))
    statistic: float = math.nan
    p_value: float = math.nan
    runs: tuple[tuple[int, int], ...] = ()
    note: str = POOL_NOTE

    def summary(self) -> dict[str, Any]:
        """Return what a page says, as JSON; the systems by index."""
        facts = {"reason": self.reason, "critical_difference": finite_or_none(self.critical_difference)}
        if self.reason:
            return facts
        return {
            **facts,
            "systems": list(self.systems),
            "average_ranks": self.average_ranks.tolist(),
            "statistic": finite_or_none(self.statistic),
            "p_value": self.p_value,
            "runs": [list(run) for run in self.runs],
            "note": self.note,
        }


def critical_difference(n_systems: int, n_tasks: int, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks: q sqrt(n (n + 1) / (6 T)), Demšar 2006, 3.2.2."""
    from scipy import stats  # noqa: PLC0415 -- slow import

    q = float(stats.studentized_range.ppf(1 - level, n_systems, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_systems * (n_systems + 1) / (6 * n_tasks))


def friedman(matrix: ScoreMatrix, pool: Sequence[str] | None = None, level: float = 0.05) -> Friedman:
    """Test whether all systems of a pool are alike, and which average ranks are far enough apart.

    Args:
        matrix: the scores; its clusters are data sets.
        pool: names of systems, chosen in advance; by default all that have scores.
        level: of the tests.
    """
    from scipy import special  # noqa: PLC0415 -- slow import

    part = scored_part(matrix).matrix
    if part is not None and pool is not None:
        part = part.subset([part.system_names.index(name) for name in pool if name in part.system_names])
    if part is None or part.n_systems < 2:
        return Friedman("there are fewer than two systems to compare")
    n, T = part.n_systems, part.n_tasks
    difference = critical_difference(n, T, level)
    far = f"two average ranks would have to differ by {difference:.0f} of {n}"
    problems = {
        "scores are missing": not part.is_complete.all(),
        "tasks have different weights": len(set(part.weights)) > 1,
        "several tasks belong to one group and are not independent": len(set(task_clusters(part))) < T,
        f"there are {T} tasks, fewer than {MIN_TASKS}": T < MIN_TASKS,
        f"there are {n} systems, more than {MAX_SYSTEMS}: {far}": n > MAX_SYSTEMS,
    }
    if any(problems.values()):
        return Friedman("; ".join(problem for problem, is_there in problems.items() if is_there), difference)
    ranks = task_ranks(part)
    means = ranks.mean(axis=0)
    between = T * float(((means - (n + 1) / 2) ** 2).sum())
    within = float(((ranks - means) ** 2).sum()) / ((n - 1) * (T - 1))
    statistic = between / (n - 1) / within if within else math.inf
    statistic = 0.0 if not between else statistic
    order = sorted(range(n), key=lambda i: (means[i], name_order_key(part.system_names[i])))
    ascending = means[order]
    last = np.searchsorted(ascending, ascending + difference * (1 + 1e-12), side="right") - 1  # of each one's run
    spans = [(first, int(end)) for first, end in enumerate(last) if end > first]
    return Friedman(
        "",
        difference,
        tuple(part.system_names[i] for i in order),
        ascending,
        statistic,
        float(special.fdtrc(n - 1, (n - 1) * (T - 1), statistic)),
        tuple(span for k, span in enumerate(spans) if k == 0 or span[1] > spans[k - 1][1]),
    )
