"""How far the groups of tasks of a board agree: their rankings, and two columns of one data set."""

from dataclasses import dataclass
from math import isnan
from typing import Any

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import signed
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.score_matrix import MatrixReader
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.stability.separability.group_agreement import GroupAgreement, group_agreement


@dataclass(frozen=True)
class GroupRow:
    """One group of tasks, as texts."""

    name: str
    n_tasks: int
    mean_tau: str


@dataclass(frozen=True)
class GroupPairRow:
    """Two groups of tasks, as texts; the columns are those of one data set, one in each."""

    first: str
    second: str
    tau: str
    same_top: str
    mean_column_tau: str
    columns: list[tuple[str, str, str]]


@dataclass(frozen=True)
class GroupsPart:
    """What a page shows of the groups of tasks."""

    groups: list[GroupRow]
    pairs: list[GroupPairRow]


def groups_of_board(
    publication: Publication, *, n_systems: int, audience_level: str, read: MatrixReader
) -> GroupAgreement:
    """How far the groups of tasks of a published board agree; empty without two groups, and on very large boards.

    Args:
        publication: with its revision.
        n_systems: of the revision.
        audience_level: who the answer is for; part of the cache's key.
        read: reads the scores, where no answer is kept.
    """
    revision = publication.revision
    tasks = [task for task in configuration_of(revision).tasks if task.votes]
    if len({task.group for task in tasks} - {None}) < 2:
        return GroupAgreement()

    def make() -> dict[str, Any]:
        stored = read()
        if stored is None:
            return {"groups": GroupAgreement()}
        n_steps = n_comparisons(stored.matrix, n_systems) + len(tasks) ** 2 * n_systems**2
        return {"groups": compute(group_agreement, stored.matrix, n_steps=n_steps)}

    try:
        refuse_beyond_budget(n_systems, len(tasks))
        groups: GroupAgreement = single_flight(f"group-agreement:{inputs_of(revision)}:{audience_level}", make)[
            "groups"
        ]
    except TooLargeError:
        return GroupAgreement()
    return groups


def groups_content(agreement: GroupAgreement, publication: Publication) -> dict[str, Any]:
    """The same as the API tells it, groups and tasks by key."""
    keys = [task.key for task in configuration_of(publication.revision).tasks]
    names = [group.name for group in agreement.groups]
    return {
        "groups": [
            {"group": group.name, "tasks": [keys[t] for t in group.tasks], "mean_tau": finite_or_none(group.mean_tau)}
            for group in agreement.groups
        ],
        "pairs": [
            {
                "first": names[pair.first],
                "second": names[pair.second],
                "kendall_tau": finite_or_none(pair.tau),
                "same_top": finite_or_none(pair.same_top),
                "mean_column_tau": finite_or_none(pair.mean_column_tau),
                "columns": [
                    {"first": keys[one.first], "second": keys[one.second], "kendall_tau": finite_or_none(one.tau)}
                    for one in pair.columns
                ],
            }
            for pair in agreement.pairs
        ],
    }


def groups_part(agreement: GroupAgreement, publication: Publication) -> GroupsPart | None:
    """The same as a page shows it; None without two groups."""
    if not agreement.pairs:
        return None
    configuration = configuration_of(publication.revision)
    tasks = [task.name for task in configuration.tasks]
    names = [configuration.group_names.get(group.name, group.name) for group in agreement.groups]
    return GroupsPart(
        [
            GroupRow(name, len(group.tasks), signed(group.mean_tau))
            for name, group in zip(names, agreement.groups, strict=True)
        ],
        [
            GroupPairRow(
                names[pair.first],
                names[pair.second],
                signed(pair.tau),
                "–" if isnan(pair.same_top) else f"{localise(100 * pair.same_top, '.0f')} %",
                signed(pair.mean_column_tau),
                [(tasks[one.first], tasks[one.second], signed(one.tau)) for one in pair.columns],
            )
            for pair in agreement.pairs
        ],
    )
