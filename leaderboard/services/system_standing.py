"""How a system stands among its rivals: on every task, and head to head. Computed on demand, never stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.charts.score_profile import ProfileTask, ScoreProfile, score_profile
from leaderboard.computing.pairs import among_rivals
from leaderboard.models import Revision
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.margins import Margins, inputs_of, weighed
from leaderboard.services.on_demand import TooLargeError, compute, n_comparisons, refuse_beyond_budget, single_flight
from leaderboard.services.pair_page import percent, signed_percent
from leaderboard.services.score_matrix import revision_matrix

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
class Standing:
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
    revision: Revision, systems: Sequence[BoardSystem], i: int, tasks: Sequence[dict[str, Any]], *, audience_level: str
) -> Standing | None:
    """How system `i` stands; None where the board is too large for an answer on demand, or it has no score.

    Args:
        revision: published, with its configuration.
        systems: of the revision, in its order.
        i: a place in `systems`.
        tasks: of the revision's configuration.
        audience_level: who reads; part of the cache's key.
    """
    key = f"standing:{inputs_of(revision)}:{i}:{audience_level}"

    def make() -> dict[str, Any]:
        found = revision_matrix(revision)
        if found is None:
            raise ValueError("a published system stands in a revision with systems and tasks")
        matrix = weighed(found.matrix, revision)
        return compute(among_rivals, matrix, i, n_steps=n_comparisons(matrix, 1))

    try:
        refuse_beyond_budget(len(systems), len(tasks))
        found = single_flight(key, make)
    except TooLargeError:
        return None
    if not np.isfinite(found["below"]).any():
        return None
    margins = Margins(**found["margins"])
    lines = [
        TaskStanding(task["name"], int(found["ranks"][t]), int(found["n_scored"][t]), float(found["below"][t]))
        for t, task in enumerate(tasks)
        if np.isfinite(found["below"][t])
    ]
    ordered = sorted(lines, key=lambda line: (-line.below, line.rank, line.name))
    n_named = min(NAMED, len(ordered) // 2)
    return Standing(
        profile=_profile(systems[i].name, tasks, found),
        strengths=ordered[:n_named],
        weaknesses=ordered[::-1][:n_named],
        n_beaten=int(margins.n_beaten[0]),
        n_lost=int(margins.n_lost[0]),
        n_level=int(margins.n_level[0]),
        above=_rivals(systems, margins, [j for j in _by_margin(margins) if margins.sign[0, j] < 0]),
        closest=_rivals(systems, margins, sorted(_by_margin(margins), key=lambda j: abs(margins.margin[0, j]))),
    )


def _profile(name: str, tasks: Sequence[dict[str, Any]], found: dict[str, Any]) -> ScoreProfile:
    def place(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    return score_profile(
        f"Scores of {name} on aligned scales",
        "One line a task, from the worst score on this board at the left to the best at the right. A small tick stands "
        "at the median of all systems.",
        [name],
        [
            ProfileTask(
                task["name"],
                [place(found["position"][t])],
                place(found["median"][t]),
                f"{task['name']}: no score"
                if np.isnan(found["values"][t])
                else f"{task['name']}: {found['values'][t]:.6g}, rank {found['ranks'][t]} of {found['n_scored'][t]}",
                bool(found["votes"][t]),
            )
            for t, task in enumerate(tasks)
        ],
    )


def _by_margin(margins: Margins) -> list[int]:
    """The rivals that some task compares with it, from the one that is furthest ahead of it."""
    return sorted(np.flatnonzero(margins.is_compared[0]).tolist(), key=lambda j: float(margins.margin[0, j]))


def _rivals(systems: Sequence[BoardSystem], margins: Margins, order: Sequence[int]) -> list[RivalStanding]:
    return [
        RivalStanding(
            systems[j],
            signed_percent(float(margins.margin[0, j])),
            f"ahead on {percent(float(margins.ahead[0, j]))}, behind on {percent(float(margins.behind[0, j]))}",
        )
        for j in order[:NAMED]
    ]
