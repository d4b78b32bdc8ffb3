"""On how many instances of each task one system is ahead of another (Colombo et al. 2022, section 2.3)."""

from dataclasses import dataclass

import numpy as np

from leaderboard.common.text import percent
from leaderboard.models import InstanceScores, Revision
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.instances import clusters_on, current_instances
from leaderboard.submissions.instances.vectors import unpack_vector
from ranking_engine.files.instance_tables import cluster_codes


@dataclass(frozen=True)
class InstanceShare:
    """One task: on how many instances either is ahead, and on how many they are level.

    `name` is empty where all tasks are taken together.
    """

    name: str
    first: int
    second: int
    level: int

    @property
    def n_common(self) -> int:
        """On how many instances both have a score."""
        return self.first + self.second + self.level

    @property
    def first_text(self) -> str:
        """The share on which the first is ahead."""
        return percent(self.first / self.n_common)

    @property
    def second_text(self) -> str:
        """The share on which the second is ahead."""
        return percent(self.second / self.n_common)

    @property
    def level_text(self) -> str:
        """The share on which they are level."""
        return percent(self.level / self.n_common)


@dataclass(frozen=True, eq=False)
class CommonInstances:
    """The scores of two systems on the instances of one task, higher is better; NaN where missing.

    `clusters` has the cluster of each instance, an integer, the same on two tasks for the same cluster; each is one by
    itself where none are stated, and `has_clusters` is false.
    """

    task: ConfiguredTask
    first: np.ndarray
    second: np.ndarray
    clusters: np.ndarray
    has_clusters: bool


def common_instances(revision: Revision, first: int, second: int) -> list[CommonInstances]:
    """Every task that orders its scores and on which both were scored on the same instances, in order.

    Args:
        revision: at which.
        first, second: ids of two systems.
    """
    cells = current_instances(revision)
    pairs, tasks = dict[ConfiguredTask, list[InstanceScores]](), []
    for task in configuration_of(revision).tasks:
        pair = [row for system in (first, second) if (row := cells.get((system, task.id))) is not None]
        if task.direction != 0 and len(pair) > 1 and pair[0].instance_set_id == pair[1].instance_set_id:
            pairs[task] = pair
    clusters = clusters_on(cells, {task.id: pair[0].instance_set_id for task, pair in pairs.items()})
    rows = InstanceScores.objects.filter(pk__in=[row.pk for pair in pairs.values() for row in pair])
    vectors = {pk: unpack_vector(values) for pk, values in rows.values_list("pk", "values")}
    names = [clusters.get(task.id, [""] * len(vectors[pair[0].pk])) for task, pair in pairs.items()]
    for (task, pair), codes in zip(pairs.items(), cluster_codes(*names), strict=True):
        own, others = (vectors[row.pk] * task.direction for row in pair)
        tasks.append(CommonInstances(task, own, others, codes, task.id in clusters))
    return tasks


def instance_shares(tasks: list[CommonInstances]) -> list[InstanceShare]:
    """On how many instances of each task either is ahead.

    Returns:
        One per task with a score of both, then all together where there are several; empty where there is none.
    """
    shares = []
    for common in tasks:
        own, others = common.first, common.second
        counts = (int(np.count_nonzero(answer)) for answer in (own > others, own < others, own == others))
        share = InstanceShare(common.task.name, *counts)
        if share.n_common:
            shares.append(share)
    if len(shares) > 1:
        totals = (sum(getattr(share, name) for share in shares) for name in ("first", "second", "level"))
        shares.append(InstanceShare("", *totals))
    return shares
