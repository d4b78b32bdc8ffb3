"""A system among its rivals: its best and worst tasks, and head to heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.charts.score_profile import ProfileTask, ScoreProfile, score_profile
from leaderboard.common.text import percent, typeset
from leaderboard.comparisons.pair import end_texts, signed_percent
from leaderboard.computing.pairs import among_rivals
from leaderboard.models import Revision
from leaderboard.on_demand.budget import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.rankings.configuration import ConfiguredTask
from leaderboard.rankings.margins import Margins, inputs_of, weighed
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import BoardSystem

NAMED = 3  # tasks and rivals of a kind


@dataclass(frozen=True)
class TaskStanding:
    """One voting task: the system's rank on it among those with a score, and the share of these that are below it."""

    name: str
    rank: int
    n_scored: int
    below: float


@dataclass(frozen=True)
class RivalStanding:
    """One rival: the weighted margin over it."""

    system: BoardSystem
    margin_text: str
    text: str


@dataclass(frozen=True)
class SystemStanding:
    """What the page of a system says of it among its rivals."""

    profile: ScoreProfile
    strengths: list[TaskStanding]
    weaknesses: list[TaskStanding]
    n_beaten: int
    n_lost: int
    n_level: int
    above: list[RivalStanding]  # rivals that beat it by most
    closest: list[RivalStanding]  # rivals with the least margin either way


def standing_of(
    revision: Revision, systems: Sequence[BoardSystem], i: int, tasks: Sequence[ConfiguredTask], *, audience_level: str
) -> SystemStanding | None:
    """The results of system `i`; None where the board is too large for an answer on demand, or it has no score.

    Args:
        revision: published, with its configuration.
        systems: of the revision, in its order.
        i: a place in `systems`.
        tasks: of the revision's configuration.
        audience_level: who reads; part of the cache's key.
    """
    key = f"standing-2:{inputs_of(revision)}:{i}:{audience_level}"

    def make() -> dict[str, Any]:
        table = revision_matrix(revision)
        if table is None:  # an older release let owners archive every task
            return {"below": np.array([])}
        matrix = weighed(table.matrix, revision)
        return compute(among_rivals, matrix, i, n_steps=n_comparisons(matrix, 1))

    try:
        refuse_beyond_budget(len(systems), len(tasks))
        figures = single_flight(key, make)
    except TooLargeError:
        return None
    if not np.isfinite(figures["below"]).any():
        return None
    profile_tasks = []
    for t, task in enumerate(tasks):
        value = figures["values"][t]
        values: dict[str, Any] = {"name": task.name}
        said = gettext("%(name)s: no score")
        if not np.isnan(value):
            said = gettext("%(name)s: %(score)s, rank %(rank)s of %(n)s")
            values |= {"score": typeset(f"{value:z.6g}"), "rank": figures["ranks"][t], "n": figures["n_scored"][t]}
        profile_tasks.append(
            ProfileTask(
                task.name,
                [float(figures["position"][t])],
                float(figures["median"][t]),
                said % values,
                bool(figures["votes"][t]),
                end_texts(figures["ends"][t]),
            )
        )
    margins = Margins(**figures["margins"])
    lines = [
        TaskStanding(task.name, int(figures["ranks"][t]), int(figures["n_scored"][t]), float(figures["below"][t]))
        for t, task in enumerate(tasks)
        if np.isfinite(figures["below"][t])
    ]
    ordered = sorted(lines, key=lambda line: (-line.below, line.rank, line.name))
    n_named = min(NAMED, len(ordered) // 2)
    return SystemStanding(
        profile=score_profile(
            gettext("Scores of %(name)s on aligned scales") % {"name": systems[i].name},
            gettext(
                "One line a task, from the worst score on this board at the left to the best at the right. A small "
                "tick marks the median of all systems."
            ),
            [systems[i].name],
            profile_tasks,
        ),
        strengths=ordered[:n_named],
        weaknesses=ordered[::-1][:n_named],
        n_beaten=int(margins.n_beaten[0]),
        n_lost=int(margins.n_lost[0]),
        n_level=int(margins.n_level[0]),
        above=_rivals(systems, margins, [j for j in _by_margin(margins) if margins.sign[0, j] < 0]),
        closest=_rivals(systems, margins, sorted(_by_margin(margins), key=lambda j: abs(margins.margin[0, j]))),
    )


def _by_margin(margins: Margins) -> list[int]:
    """The rivals that some task compares with it, from the one that is furthest ahead of it."""
    return sorted(np.flatnonzero(margins.is_compared[0]).tolist(), key=lambda j: float(margins.margin[0, j]))


def _rivals(systems: Sequence[BoardSystem], margins: Margins, order: Sequence[int]) -> list[RivalStanding]:
    return [
        RivalStanding(
            systems[j],
            signed_percent(float(margins.margin[0, j])),
            gettext("ahead on %(ahead)s, behind on %(behind)s")
            % {
                "ahead": percent(float(margins.ahead[0, j]), 2),
                "behind": percent(float(margins.behind[0, j]), 2),
            },
        )
        for j in order[:NAMED]
    ]
