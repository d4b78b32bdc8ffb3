"""Which tasks of a board order its systems alike: a tree, a map, and how many tasks they are worth."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from leaderboard.common.charts.dendrogram import Dendrogram, dendrogram
from leaderboard.common.charts.plane_map import MappedThing, PlaneMap, plane_map
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, signed
from leaderboard.models import Publication
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.margins import inputs_of
from leaderboard.rankings.score_matrix import MatrixReader
from ranking_engine.core.decimals import finite_or_none
from ranking_engine.stability.separability.task_likeness import CLUSTER_TAU, TaskLikeness, task_likeness

LISTED_CLUSTERS = 12


@dataclass(frozen=True)
class LikeTasksPart:
    """What a page shows of the likeness of tasks.

    Attributes:
        sentence: the effective number of tasks, or why there is nothing to say.
        clusters: tasks that are alike, by name, each cluster in a sentence.
        tree: of the tasks; None where there is nothing to say.
        map: of the tasks; None where all are at one place.
        joins: the tree as rows: the tasks of the two branches, and their tau-b.
    """

    sentence: str
    clusters: list[str]
    tree: Dendrogram | None
    map: PlaneMap | None
    joins: list[tuple[str, str, str]]


def likeness_of_board(
    publication: Publication, *, n_systems: int, audience_level: str, read: MatrixReader
) -> TaskLikeness:
    """How alike the tasks of a published board order its systems.

    Args:
        publication: with its revision.
        n_systems: of the revision.
        audience_level: who the answer is for; part of the cache's key.
        read: reads the scores, where no answer is kept.
    """
    revision = publication.revision
    n_tasks = sum(task.votes for task in configuration_of(revision).tasks)

    def make() -> dict[str, Any]:
        stored = read()
        if stored is None:
            return {"likeness": TaskLikeness("the board has no scores")}
        n_steps = n_comparisons(stored.matrix, n_systems) + n_tasks**2 * n_systems**2
        return {"likeness": compute(task_likeness, stored.matrix, n_steps=n_steps)}

    try:
        refuse_beyond_budget(n_systems, n_tasks)
        likeness: TaskLikeness = single_flight(f"task-likeness:{inputs_of(revision)}:{audience_level}", make)[
            "likeness"
        ]
    except TooLargeError as error:
        return TaskLikeness(str(error))
    return likeness


def likeness_content(likeness: TaskLikeness, publication: Publication) -> dict[str, Any]:
    """The likeness of tasks as the API tells it, tasks by key."""
    keys = [task.key for task in configuration_of(publication.revision).tasks]
    points = [] if likeness.plane is None else likeness.plane.points.tolist()
    return {
        "reason": likeness.reason,
        "effective_number": finite_or_none(likeness.effective_number),
        "tasks": [
            {"task": keys[t], "x": round(x, 6), "y": round(y, 6)}
            for t, (x, y) in zip(likeness.tasks, points, strict=True)
        ],
        "left_out": [keys[t] for t in likeness.left_out],
        "kendall_tau": [[float(tau) for tau in row] for row in likeness.kendall_tau],
        "spearman": [[float(rho) for rho in row] for row in likeness.spearman],
        "merges": [
            {"first": merge.first, "second": merge.second, "distance": merge.distance, "size": merge.size}
            for merge in likeness.merges
        ],
        "order": list(likeness.order),
        "clusters": [[keys[t] for t in tasks] for tasks in likeness.clusters(CLUSTER_TAU) if len(tasks) > 1],
    }


def likeness_part(likeness: TaskLikeness, publication: Publication) -> LikeTasksPart:
    """The likeness of tasks as a page shows it."""
    if likeness.reason or likeness.plane is None:
        return LikeTasksPart(
            gettext("The tasks are not compared: %(reason)s") % {"reason": in_page_language(likeness.reason)},
            [],
            None,
            None,
            [],
        )
    every = [task.name for task in configuration_of(publication.revision).tasks]
    names = [every[t] for t in likeness.tasks]
    clusters = [tasks for tasks in likeness.clusters(CLUSTER_TAU) if len(tasks) > 1]
    n, worth = len(names), localise(likeness.effective_number, ".1f")
    sentence = gettext(
        "The %(n)s tasks count for as much as %(worth)s tasks that have nothing in common. Few systems agree by "
        "chance: %(n)s independent tasks would give about %(independent_number)s."
    ) % {"n": n, "worth": worth, "independent_number": localise(likeness.independent_number, ".1f")}
    if likeness.left_out:
        missing = in_words([every[t] for t in likeness.left_out], most=5)
        sentence += gettext(" Left out, because a correlation is undefined: %(names)s.") % {"names": missing}
    members: dict[int, list[str]] = {k: [name] for k, name in enumerate(names)}
    joins, rows = [], []
    for k, merge in enumerate(likeness.merges):
        first, second = members[merge.first], members[merge.second]
        members[n + k] = first + second
        tau = signed(1 - 2 * merge.distance)
        texts = in_words(first, most=4), in_words(second, most=4)
        said = gettext("%(first)s and %(second)s: τ %(tau)s")
        is_near = merge.distance <= (1 - CLUSTER_TAU) / 2 + 1e-12
        joins.append(
            (
                merge.first,
                merge.second,
                merge.distance,
                said % {"first": texts[0], "second": texts[1], "tau": tau},
                is_near,
            )
        )
        rows.append((*texts, tau))
    points = likeness.plane.points.tolist()
    farthest = max(0.05, *(merge.distance for merge in likeness.merges))
    ticks = [(step / 20, signed(1 - step / 10, 1)) for step in range(21)]
    tree = dendrogram(
        gettext("Tree of the tasks"),
        gettext(
            "%(n)s tasks; two branches join where their tasks have this τ on average. Tasks that join at the left "
            "order the systems alike."
        )
        % {"n": n},
        names,
        likeness.order,
        joins,
        farthest=farthest,
        ticks=ticks[:: 1 if farthest <= 0.3 else 2],
    )
    drawn = None
    if likeness.plane.points.any():
        drawn = plane_map(
            gettext("Tasks on a plane"),
            gettext("A dot is a task; the nearer two are, the more similarly they order the systems."),
            [MappedThing(name, x, y, is_second=False) for name, (x, y) in zip(names, points, strict=True)],
        )
    listed = [in_words([every[t] for t in tasks], most=8) for tasks in clusters[:LISTED_CLUSTERS]]
    return LikeTasksPart(sentence, listed, tree, drawn, rows)
