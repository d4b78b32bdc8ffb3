"""Rank intervals of a board if instances, tasks or both are drawn again, as the page of instances shows them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median
from typing import Any

import numpy as np
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.rankings.confidence.intervals import range_text
from leaderboard.rankings.scores import BoardSystem
from ranking_engine.core.instances import InstanceScores
from ranking_engine.stability.resampling.two_levels import DESIGNS, LEAST_TASKS, STATISTICS, two_level_intervals
from ranking_engine.stability.separability.instance_errors import LEAST_UNITS

STATISTIC_NAMES = {
    "mean": gettext_noop("Mean of the tasks’ means"),
    "places": gettext_noop("Places on the tasks’ means"),
}


@dataclass(frozen=True)
class RedrawnRow:
    """Between which ranks one system is if something is drawn again.

    Attributes:
        key, name: of the system.
        rank: by the statistic.
        intervals: by each of DESIGNS both ends; None where there is no interval.
        instance_share: the part of the uncertainty that comes from instances; NaN where it is not known.
        is_tied: whether others share its rank.
    """

    key: str
    name: str
    rank: int
    intervals: dict[str, tuple[int, int] | None]
    instance_share: float
    is_tied: bool

    @property
    def interval_texts(self) -> list[str]:
        """The intervals, for a page."""
        return ["–" if ends is None else range_text(*ends) for ends in self.intervals.values()]

    @property
    def share_texts(self) -> list[str]:
        """What instances and tasks contribute to the uncertainty."""
        share = self.instance_share
        return ["–", "–"] if isnan(share) else [f"{100 * share:.0f} %", f"{100 * (1 - share):.0f} %"]


@dataclass(frozen=True)
class RedrawnTable:
    """The rank intervals under one statistic, by rank."""

    statistic: str
    name: str
    sentence: str
    rows: list[RedrawnRow]

    @property
    def has_tasks_drawn(self) -> bool:
        """Whether there are intervals for tasks that are drawn again: of few tasks there are none."""
        return any(row.intervals["tasks"] for row in self.rows)


def redrawn_arrays(
    scores: InstanceScores, rows: Sequence[int], n_systems: int, n_draws: int, parameters: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """What is stored: ranks and their intervals by statistic, and the part of the uncertainty from instances.

    Args:
        scores: of the systems that have some on single instances.
        rows: for each of them, its number in the revision's order.
        n_systems: of the revision.
        n_draws: of instances, of tasks, and of both.
        parameters: level and seed.
    """
    arrays: dict[str, np.ndarray] = {}
    level, seed = 1 - parameters["level"], parameters["seed"]
    for statistic, intervals in two_level_intervals(scores, n_resamples=n_draws, level=level, seed=seed).items():
        ends = np.zeros((n_systems, 1 + 2 * len(DESIGNS)), np.int32)  # the rank, then both ends of each design
        columns = [intervals.ranks]
        for design in DESIGNS:
            columns += [intervals.lower[design], intervals.upper[design]]
        ends[rows] = np.column_stack(columns)
        shares = np.full(n_systems, np.nan)
        shares[rows] = intervals.instance_share
        arrays |= {f"redrawn_{statistic}": ends, f"redrawn_share_{statistic}": shares}
    return arrays


def redrawn_tables(arrays: Mapping[str, Any], systems: Sequence[BoardSystem], n_tasks: int) -> list[RedrawnTable]:
    """The rank intervals of a report.

    Args:
        arrays: of the report.
        systems: of its revision, in its order.
        n_tasks: how many tasks have scores of single instances.
    """
    tables = []
    for statistic in STATISTICS:
        if f"redrawn_{statistic}" not in arrays:
            continue
        rows = []
        n_at = Counter(arrays[f"redrawn_{statistic}"][:, 0].tolist())  # systems by rank
        for i, (rank, *ends) in enumerate(arrays[f"redrawn_{statistic}"].tolist()):
            if rank:
                pairs = zip(DESIGNS, ends[::2], ends[1::2], strict=True)
                intervals: dict[str, tuple[int, int] | None] = {}
                for design, low, high in pairs:
                    intervals[design] = (low, high) if low else None
                share = float(arrays[f"redrawn_share_{statistic}"][i])
                is_tied = n_at[rank] > 1
                rows.append(RedrawnRow(systems[i].key, systems[i].name, rank, intervals, share, is_tied))
        rows.sort(key=lambda row: (row.rank, row.key))
        tables.append(
            RedrawnTable(statistic, gettext(STATISTIC_NAMES[statistic]), _share_sentence(rows, n_tasks), rows)
        )
    return tables


def _share_sentence(rows: Sequence[RedrawnRow], n_tasks: int) -> str:
    """What most of the uncertainty comes from, in a sentence; why that is not known where it is not."""
    shares = [row.instance_share for row in rows if not isnan(row.instance_share)]
    if not shares:
        text = ngettext(
            "What other tasks would change needs %(least_tasks)s tasks with %(least_units)s instances each; here "
            "%(n)s task has scores of single instances.",
            "What other tasks would change needs %(least_tasks)s tasks with %(least_units)s instances each; here "
            "%(n)s tasks have scores of single instances.",
            n_tasks,
        )
        return text % {"least_tasks": LEAST_TASKS, "least_units": LEAST_UNITS, "n": n_tasks}
    share = median(shares)
    text = gettext("For the median system %(share)s %% of the uncertainty comes from tasks, the rest from instances.")
    if share > 0.5:
        text = gettext(
            "For the median system %(share)s %% of the uncertainty comes from instances, the rest from tasks."
        )
    return text % {"share": f"{100 * max(share, 1 - share):.0f}"}
