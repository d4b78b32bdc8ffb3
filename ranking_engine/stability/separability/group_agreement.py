"""How far groups of tasks agree, such as the same tasks before and after systems were trained for them.

A benchmark can score every system twice on each task: as it is, and after it was tuned on the task's training data
(train-before-test, arXiv:2507.05195). The two settings are two groups of tasks, and the two columns of one data set
have one cluster. Three questions: do the groups rank the systems alike, do the two columns of a data set, and do the
tasks of one group agree more with each other than those of the other?
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.core.comparison import agreement_rate, compare_ranks, kendall_tau, task_ranks
from ranking_engine.core.score_matrix import ScoreMatrix

RULE = "win_rate"  # it takes missing scores as they are, and every task alike in its own unit
MAX_GROUPS = 12
TOP = 3


@dataclass(frozen=True)
class GroupOfTasks:
    """One group.

    Attributes:
        name: of the group.
        tasks: its voting tasks, by index in the matrix.
        mean_tau: the mean tau-b of every two of them; NaN where there is none.
    """

    name: str
    tasks: tuple[int, ...]
    mean_tau: float


@dataclass(frozen=True)
class PairOfColumns:
    """Two tasks of one cluster, one in each group, by index, and their tau-b."""

    first: int
    second: int
    tau: float


@dataclass(frozen=True)
class PairOfGroups:
    """Two groups.

    Attributes:
        first, second: places in `GroupAgreement.groups`.
        tau: tau-b of their rankings by RULE, on the systems that both rank; NaN where it is undefined.
        same_top: the share of the first TOP places that both give to the same systems; NaN with fewer systems.
        columns: tasks that have a cluster to themselves, one in each group.
        mean_column_tau: the mean over these; NaN without any.
    """

    first: int
    second: int
    tau: float
    same_top: float
    columns: tuple[PairOfColumns, ...]
    mean_column_tau: float


@dataclass(frozen=True)
class GroupAgreement:
    """How far the groups of a matrix agree; both are empty where there are not two groups, or more than MAX_GROUPS."""

    groups: tuple[GroupOfTasks, ...] = ()
    pairs: tuple[PairOfGroups, ...] = ()


def group_agreement(matrix: ScoreMatrix) -> GroupAgreement:
    """Return how far the groups of voting tasks agree; tasks without a group are left out.

    O(n_tasks^2 n_systems^2) comparisons.
    """
    voting = np.flatnonzero(matrix.votes)
    members: dict[str, list[int]] = {}
    for place, t in enumerate(voting.tolist()):
        if (group := matrix.groups[t]) is not None:
            members.setdefault(group, []).append(place)
    if not 2 <= len(members) <= MAX_GROUPS:
        return GroupAgreement()
    tau = compare_ranks(task_ranks(matrix)).kendall_tau
    groups, rankings = [], []
    for name, places in members.items():
        pairs = tau[np.ix_(places, places)][np.triu_indices(len(places), 1)]
        groups.append(GroupOfTasks(name, tuple(int(voting[k]) for k in places), _mean(pairs.tolist())))
        rankings.append(rank(matrix.subset(tasks=voting[places]), RULE))
    compared = []
    # The clusters that one task of a group alone is in, by group.
    alone = []
    for places in members.values():
        clusters = [matrix.clusters[voting[k]] for k in places]
        n_tasks = Counter(clusters)
        alone.append({c: k for c, k in zip(clusters, places, strict=True) if c is not None and n_tasks[c] == 1})
    for a in range(len(groups)):
        for b in range(a + 1, len(groups)):
            columns = tuple(
                PairOfColumns(int(voting[i]), int(voting[alone[b][cluster]]), float(tau[i, alone[b][cluster]]))
                for cluster, i in alone[a].items()
                if cluster in alone[b]
            )
            is_ranked = all(rankings[k].status == "ranked" for k in (a, b))
            compared.append(
                PairOfGroups(
                    a,
                    b,
                    kendall_tau(rankings[a], rankings[b]) if is_ranked else np.nan,
                    agreement_rate(rankings[a], rankings[b], TOP) if is_ranked else np.nan,
                    columns,
                    _mean([one.tau for one in columns]),
                )
            )
    return GroupAgreement(tuple(groups), tuple(compared))


def _mean(values: list[float]) -> float:
    known = [value for value in values if value == value]  # noqa: PLR0124 -- not NaN
    return sum(known) / len(known) if known else np.nan
