"""How exact the difference of two systems is: from scores of single instances, or from stated standard errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import typeset
from leaderboard.comparisons.instance_shares import CommonInstances
from leaderboard.models import Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.scores import BoardSystem, current_scores
from ranking_engine.core.instances import InstanceScores
from ranking_engine.stability.separability.instance_errors import (
    LEAST_UNITS,
    paired_errors,
    quantile_of,
    times_detectable,
)

INSTANCES, STANDARD_ERRORS = "instances", "standard_errors"
FEW_CLUSTERS = gettext_noop(
    "No interval of the mean difference: the instances are in clusters. On some task these are fewer than %(least)s, "
    "or as good as fewer because their sizes differ much, or all differences are the same. Standard errors that are "
    "stated do not know the clusters."
)


@dataclass(frozen=True)
class MeasuredDifference:
    """The mean difference of two systems over tasks, the first less the second, higher is better.

    Attributes:
        measured_by: INSTANCES or STANDARD_ERRORS.
        difference: the mean over the tasks on which its error is known.
        standard_error: of `difference`, if instances were drawn again from the same tasks; above 0.
        detectable: the least true difference that a test of the pair finds in 80 % of cases.
        n_tasks: on so many.
        n_common: common instances; 0 from standard errors.
        first, second: the names of both.
        is_clustered: whether instances of one cluster count as one in the error.
        degrees: of freedom of the standard error, infinite where it is taken as exact.
    """

    measured_by: str
    difference: float
    standard_error: float
    detectable: float
    n_tasks: int
    n_common: int
    first: str
    second: str
    is_clustered: bool = False
    degrees: float = math.inf

    @property
    def sentence(self) -> str:
        """The same in words."""
        tasks = ngettext("%(n)s task", "%(n)s tasks", self.n_tasks) % {"n": self.n_tasks}
        if self.measured_by == INSTANCES:
            basis = gettext("On %(n)s common instances of %(tasks)s") % {
                "n": localise(self.n_common, ","), "tasks": tasks,
            }  # fmt: skip
            how = gettext("paired on these instances")
            if self.is_clustered:
                how = gettext("paired on these instances, by clusters of them")
        else:
            basis = gettext("On %(tasks)s with standard errors of both") % {"tasks": tasks}
            how = gettext("both taken as measured independently; on the same instances it may be smaller")
        half = quantile_of(0.975, self.degrees) * self.standard_error
        low, high = self.difference - half, self.difference + half
        verdict = gettext("excludes") if low > 0 or high < 0 else gettext("contains")
        return gettext(
            "%(basis)s, %(first)s has %(difference)s more than %(second)s on average, with a standard error of "
            "%(standard_error)s (%(how)s). The 95 %% interval, %(signed2)s to %(signed3)s, %(verdict)s 0. Differences "
            "from %(detectable)s on are found in 80 %% of cases."
        ) % {
            "basis": basis,
            "first": self.first,
            "difference": typeset(f"{self.difference:z.3g}"),
            "second": self.second,
            "standard_error": localise(self.standard_error, ".3g"),
            "how": how,
            "signed2": typeset(f"{low:z.3g}"),
            "signed3": typeset(f"{high:z.3g}"),
            "verdict": verdict,
            "detectable": localise(self.detectable, ".3g"),
        }


def measured_difference(
    revision: Revision, systems: tuple[BoardSystem, BoardSystem], common: Sequence[CommonInstances]
) -> tuple[MeasuredDifference | None, str]:
    """The difference with its error, and why there is none: a sentence, or nothing where no error was stated.

    Where instances have clusters, errors that do not know these are no substitute.

    Args:
        revision: at which.
        systems: the two.
        common: their scores on single instances, where they have some on the same.
    """
    voting = [one for one in common if one.task.votes]
    blocks = tuple(np.array([one.first, one.second]) for one in voting)
    names = tuple(system.name for system in systems)
    if blocks:
        clusters = tuple(one.clusters for one in voting)
        scores = InstanceScores(("first", "second"), tuple(one.task.key for one in voting), blocks, clusters=clusters)
        errors = paired_errors(scores, [(0, 1)])
        error = float(errors.standard_error[0])
        if not math.isnan(error):
            n_tasks = sum(bool((~np.isnan(block).any(axis=0)).any()) for block in blocks)
            n_common, detectable = int(errors.n_common[0]), float(errors.detectable[0])
            measured = MeasuredDifference(
                INSTANCES,
                float(errors.difference[0]),
                error,
                detectable,
                n_tasks,
                n_common,
                names[0],
                names[1],
                any(one.has_clusters for one in voting),
                float(errors.degrees[0]),
            )
            return measured, ""
        if any(one.has_clusters for one in voting):
            return None, gettext(FEW_CLUSTERS) % {"least": LEAST_UNITS}
    held = current_scores(revision, [system.id for system in systems])
    differences, variances = [], []
    for task in configuration_of(revision).tasks:
        cells = [held.get((system.id, task.id)) for system in systems]
        figures = [(cell.value, cell.standard_error) for cell in cells if cell is not None]
        known = [(value, error) for value, error in figures if value is not None and error]  # 0 is no certainty
        if task.votes and len(known) == len(systems):
            differences.append((known[0][0] - known[1][0]) * task.direction)
            variances.append(known[0][1] ** 2 + known[1][1] ** 2)
    error = math.sqrt(math.fsum(variances)) / len(variances) if variances else 0.0
    if not error:
        return None, ""
    mean = math.fsum(differences) / len(differences)
    detectable = times_detectable() * error
    return MeasuredDifference(STANDARD_ERRORS, mean, error, detectable, len(differences), 0, names[0], names[1]), ""
