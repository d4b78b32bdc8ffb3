"""Three to five systems side by side: their scores on every task, where these are between the worst and the best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext

from leaderboard.common.charts.score_profile import ProfileTask, ScoreProfile, score_profile
from leaderboard.common.language.numbers import in_language
from leaderboard.common.text import in_words, value_text
from leaderboard.comparisons.pair import end_texts
from leaderboard.computing.pairs import scale_ends
from leaderboard.models import Publication
from leaderboard.on_demand.budget import refuse_beyond_budget
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.published import Column
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import BoardSystem

MAX_COMPARED = 5


@dataclass(frozen=True)
class ComparedSystem:
    """One of the systems: its rank under the rule, and on how many tasks no other of them is better."""

    system: BoardSystem
    rank: int | None
    n_best: int
    n_predicted: int  # scores that the rank rests on and no one measured


@dataclass(frozen=True)
class ComparedTask:
    """One task: the score of each system as text, empty where it has none, and whether it is the best of them."""

    name: str
    cells: list[tuple[str, bool]]


@dataclass(frozen=True)
class SideBySide:
    """Systems side by side, as the page shows them."""

    title: str
    systems: list[ComparedSystem]
    tasks: list[ComparedTask]
    rule_name: str
    profile: ScoreProfile


def side_by_side(
    publication: Publication, systems: Sequence[BoardSystem], places: Sequence[int], column: Column
) -> SideBySide:
    """Compare some systems of a board.

    Args:
        publication: what is published.
        systems: of its revision, in its order.
        places: of those that are compared, in `systems`.
        column: the rule whose ranks are told.

    Raises:
        TooLargeError: the board is too large for an answer on demand.
    """
    tasks = configuration_of(publication.revision).tasks
    refuse_beyond_budget(len(systems), len(tasks))
    table = revision_matrix(publication.revision)
    if table is None:
        raise ValueError("a published revision without systems or tasks has nothing to compare")
    scores, chosen = table.matrix.scores, list(places)  # higher is better
    ends = scale_ends(table.matrix.values, scores)
    n_best = [0] * len(chosen)
    compared, lines = [], []
    for t, task in enumerate(tasks):
        known = scores[:, t][~np.isnan(scores[:, t])]
        least, most = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        own = scores[chosen, t]
        is_best = (own == np.nanmax(own)) if task.direction != 0 and not np.isnan(own).all() else own != own  # noqa: PLR0124
        texts = [
            "" if np.isnan(value) else in_language(value_text(value))
            for value in table.matrix.values[chosen, t].tolist()
        ]
        n_best = [count + bool(best) for count, best in zip(n_best, is_best.tolist(), strict=True)]
        compared.append(ComparedTask(task.name, list(zip(texts, is_best.tolist(), strict=True))))
        said = (f"{systems[i].name} {text or 'no score'}" for i, text in zip(chosen, texts, strict=True))
        lines.append(
            ProfileTask(
                task.name,
                [x if np.isnan(x) else (x - least) / (most - least) if most > least else 0.5 for x in own.tolist()],
                (float(np.median(known)) - least) / (most - least) if most > least else np.nan,
                f"{task.name}: {', '.join(said)}",
                bool(table.matrix.votes[t]),
                end_texts(ends[t]),
            )
        )
    names = [systems[i].name for i in chosen]
    return SideBySide(
        title=gettext("%(names)s side by side") % {"names": in_words(names, most=MAX_COMPARED)},
        systems=[
            ComparedSystem(
                systems[i], int(column.ranks[i]) if column.ranks[i] >= 1 else None, n, column.predicted_of(i)
            )
            for i, n in zip(chosen, n_best, strict=True)
        ],
        tasks=compared,
        rule_name=column.name,
        profile=score_profile(
            gettext("%(names)s on every task") % {"names": in_words(names, most=MAX_COMPARED)},
            gettext(
                "One line per task, from the worst score on this board at the left to the best at the right. A small "
                "tick "
                "marks the median of all systems."
            ),
            names,
            lines,
        ),
    )
