"""The scores of a revision as a table: each cell with its submission, or the reason why it is empty."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leaderboard.models import Revision, Submission
from leaderboard.selectors.scores import NOT_SUBMITTED, BoardSystem, current_scores
from leaderboard.services.score_matrix import revision_matrix
from ranking_engine import ScoreMatrix
from ranking_engine.tables import SYSTEM_COLUMN, write_table


@dataclass(frozen=True)
class Cell:
    """One score: a value, or the reason why there is none; the submission where a row is stored."""

    value: float | None
    missing_reason: str
    submission_uuid: UUID | None


def score_rows(revision: Revision, systems: Sequence[BoardSystem]) -> list[dict[str, Cell]]:
    """The cells of each of these systems by task key, in the order of the configuration."""
    scores = current_scores(revision, [system.id for system in systems])
    ids = {score.submission_id for score in scores.values()}
    uuids = dict(Submission.objects.filter(pk__in=ids).values_list("pk", "uuid"))
    tasks: list[dict[str, Any]] = revision.configuration.content["tasks"]
    rows = []
    for system in systems:
        row = {}
        for task in tasks:
            score = scores.get((system.id, task["id"]))
            row[task["key"]] = (
                Cell(score.value, score.missing_reason, uuids[score.submission_id])
                if score
                else Cell(None, NOT_SUBMITTED, None)
            )
        rows.append(row)
    return rows


def scores_csv(revision: Revision) -> str:
    """All scores as a `scores.csv` that imports again: names of systems and tasks, an empty cell where none is."""
    found = revision_matrix(revision)
    names = [task["name"] for task in revision.configuration.content["tasks"]]
    if found is None:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([SYSTEM_COLUMN, *names])
        return out.getvalue()
    named = ScoreMatrix(
        found.matrix.values, system_names=[system.name for system in found.systems], task_names=names
    )
    return write_table(named)
