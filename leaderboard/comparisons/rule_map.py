"""The rules and the tasks of a board on a plane: those that order the systems alike are near each other."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.charts.plane_map import MappedThing, PlaneMap, plane_map
from leaderboard.common.hashing import content_hash
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.published import Column
from leaderboard.rankings.score_matrix import MatrixReader
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.scaling import MAX_MAPPED, RankingMap, ranking_map


def map_of_board(
    publication: Publication, columns: Sequence[Column], *, audience_level: str, read: MatrixReader
) -> RankingMap | str:
    """The map of a published board, or why there is none.

    Args:
        publication: with its revision.
        columns: those that rank.
        audience_level: who the answer is for; part of the cache's key.
        read: reads the scores, where no answer is kept.
    """
    revision, n_systems = publication.revision, len(columns[0].ranks)
    n_tasks = sum(task.votes for task in configuration_of(revision).tasks)
    n = len(columns) + n_tasks
    if n > MAX_MAPPED:
        return gettext("There are %(n_columns)s rules and %(n_tasks)s tasks; a map shows at most %(max_mapped)s.") % {
            "n_columns": len(columns),
            "n_tasks": n_tasks,
            "max_mapped": MAX_MAPPED,
        }

    def make() -> dict[str, Any]:
        stored = read()
        if stored is None:  # a board whose rules rank has systems and tasks
            return {"map": None}
        ranks = {column.rule: average_ranks(column.ranks) for column in columns}
        n_steps = n_comparisons(stored.matrix, n_systems) + n * n * n_systems**2
        return {"map": compute(ranking_map, ranks, stored.matrix, n_steps=n_steps)}

    digest = content_hash([column.rule for column in columns])
    try:
        refuse_beyond_budget(n_systems, n)
        key = f"ranking-map:{inputs_of(revision)}:{publication.pk}:{digest}:{audience_level}"
        return single_flight(key, make)["map"] or gettext("Fewer than three rankings can be compared here.")
    except TooLargeError as error:
        return str(error)


def map_content(drawn: RankingMap | str, columns: Sequence[Column], publication: Publication) -> dict[str, Any]:
    """A map as the API tells it: members with their places to six digits, rules first; or why there is none.

    Args:
        drawn: the map, whose tasks are named by their keys, or the reason.
        columns: of the board.
        publication: with its revision.
    """
    if isinstance(drawn, str):
        return {"members": [], "share": None, "stress": None, "left_out": [], "reason": drawn}
    names = {("rule", column.rule): column.name for column in columns}
    names |= {("task", task.key): task.name for task in configuration_of(publication.revision).tasks}
    return {
        "members": [
            {"kind": member[0], "key": member[1], "name": names[member], "x": round(x, 6), "y": round(y, 6)}
            for member, (x, y) in zip(drawn.members, drawn.plane.points.tolist(), strict=True)
        ],
        "share": finite_or_none(drawn.plane.share),
        "stress": finite_or_none(drawn.plane.stress),
        "left_out": [names[member] for member in drawn.left_out],
        "reason": "",
    }


def drawn_map(content: dict[str, Any]) -> PlaneMap | None:
    """The picture of `map_content`; None where there is no map."""
    rows = content["members"]
    if not any(row["x"] or row["y"] for row in rows):
        return None
    return plane_map(
        gettext("Rules and tasks on a plane"),
        gettext("A circle is a rule, a diamond a task; the nearer two are, the more similarly they order the systems."),
        [MappedThing(row["name"], row["x"], row["y"], row["kind"] == "task") for row in rows],
    )
