"""What is better or worse about systems, as the upright axis has it: ranks and scores with their intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from django.utils.translation import gettext, ngettext

from leaderboard.boards.rows import AVERAGE_RANK
from leaderboard.common.language.numbers import localise
from leaderboard.models import Revision
from leaderboard.rankings.instances import current_instances
from leaderboard.rankings.published import Column, PublishedBoard, all_at_once
from leaderboard.rankings.scores import BoardSystem, current_scores
from leaderboard.submissions.instances.vectors import unpack_vector
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.stability.separability.instance_errors import LEAST_UNITS

SCORE = "score"
LEVEL = 0.95  # of the intervals of scores, for all systems at once
MAX_INSTANCES = 2_000_000  # scores of single instances that are read for one task; of more, none


@dataclass(frozen=True)
class Upright:
    """The figures of all systems that are better or worse: NaN where a system has none.

    Attributes:
        name: what the figures are.
        values: one for each system.
        is_low_better: as of ranks.
        low, high: the ends of the interval of each value; NaN, or for ranks below 1, where it has none.
        least: below which no value can be.
        interval_text: what the intervals are; empty where there are none.
    """

    name: str
    values: np.ndarray
    is_low_better: bool
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    least: float = -math.inf
    interval_text: str = ""

    @classmethod
    def of_column(cls, column: Column, kind: str, name: str, interval_text: str = "") -> "Upright":
        """The ranks or the scores of a rule, the ranks with their intervals where there are some."""
        is_ranked = column.ranks >= 1
        if kind == SCORE:
            # The average rank is ranked by its negative; people read it as it is called.
            is_average_rank = rule_of_variant(column.rule) == AVERAGE_RANK
            scores = (-column.scores if is_average_rank else column.scores) + 0.0
            return cls(name, np.where(is_ranked, scores, np.nan), is_low_better=is_average_rank)
        ranks = np.where(is_ranked, column.ranks.astype(float), np.nan)
        if column.lower is None or column.upper is None:
            return cls(name, ranks, is_low_better=True, least=1.0)
        low, high = (np.where(end >= 1, end.astype(float), np.nan) for end in (column.lower, column.upper))
        return cls(name, ranks, True, low, high, least=1.0, interval_text=interval_text)

    @classmethod
    def of_task(
        cls, values: np.ndarray, name: str, *, is_low_better: bool, errors: Mapping[int, float] | None = None
    ) -> "Upright":
        """The scores on a task, with normal intervals where standard errors are known.

        The intervals are for all systems that have one at once (Bonferroni), so that the front that they leave is the
        true one with a probability of at least LEVEL as far as the errors are normal.

        Args:
            values: of each system; NaN where it has none.
            name: of the figure.
            is_low_better: whether less is better.
            errors: standard errors by the place of the system.
        """
        errors = {i: error for i, error in (errors or {}).items() if not math.isnan(values[i])}
        if not errors:
            return cls(name, values, is_low_better=is_low_better)
        z = NormalDist().inv_cdf(1 - (1 - LEVEL) / (2 * len(errors)))
        low, high = np.full(len(values), np.nan), np.full(len(values), np.nan)
        for i, error in errors.items():
            low[i], high[i] = values[i] - z * error, values[i] + z * error
        unknown = int((~np.isnan(values)).sum()) - len(errors)
        text = gettext(
            "approximate %(level)s %% intervals for all systems at once, from the standard errors of the scores"
        ) % {"level": localise(100 * LEVEL, "g")}
        if unknown:
            exact = ngettext(
                "%(n)s score without one counts as exact", "%(n)s scores without one count as exact", unknown
            )
            text = f"{text}; {exact % {'n': unknown}}"
        return cls(name, values, is_low_better, low, high, interval_text=text)


def with_intervals_of_all(board: PublishedBoard) -> PublishedBoard:
    """The board with rank intervals for all systems at once, which a front speaks of; its own where there are none."""
    return all_at_once(board) if any(one.simultaneous_lower is not None for one in board.columns) else board


def standard_errors(revision: Revision, task_id: int, systems: Sequence[BoardSystem]) -> dict[int, float]:
    """The standard errors of the scores on a task: as submitters stated them, else those of the instances' mean.

    The standard error of a mean of n instances is their standard deviation (with n - 1) over the root of n; it takes
    the instances as independent. It is not known of fewer than LEAST_UNITS instances, nor of a score that is not their
    mean. Where all are 0 or 1 two of each are added first (Agresti and Coull 1998): with all instances right the
    standard deviation is 0, and the score is not exact for it.

    Args:
        revision: the state of the benchmark.
        task_id: of the task.
        systems: of the revision.

    Returns:
        By the place of the system; those alone of which one is known.
    """
    place = {system.id: i for i, system in enumerate(systems)}
    errors: dict[int, float] = {}
    values: dict[int, float] = {}
    for (system, task), cell in current_scores(revision, task_ids={task_id}).items():
        if task == task_id and system in place and cell.value is not None:
            values[place[system]] = cell.value
            if cell.standard_error:  # 0 claims that the score is exact
                errors[place[system]] = cell.standard_error
    rows = current_instances(revision, task_id=task_id)
    if not rows or sum(row.instance_set.n_instances for row in rows.values()) > MAX_INSTANCES:
        return errors
    for (system, task), row in current_instances(revision, with_values=True, task_id=task_id).items():
        if task == task_id and system in place and place[system] not in errors:
            vector = unpack_vector(row.values)
            present = vector[~np.isnan(vector)]
            score = values.get(place[system], math.nan)
            if len(present) < LEAST_UNITS or not math.isclose(score, present.mean(), rel_tol=1e-6, abs_tol=1e-6):
                continue
            if np.isin(present, (0.0, 1.0)).all():
                present = np.append(present, [0.0, 0.0, 1.0, 1.0])
            if error := float(present.std(ddof=1) / math.sqrt(len(present))):
                errors[place[system]] = error
    return errors
