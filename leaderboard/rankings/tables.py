"""The scores of a revision as a table: each cell with its submission, or the reason why it is empty."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db import connection

from leaderboard.models import Revision, Submission
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.scores import CHUNK_ROWS, NOT_SUBMITTED, BoardSystem, current_scores, systems_at
from ranking_engine.files.csv_rows import csv_lines
from ranking_engine.files.tables import table_lines


@dataclass(frozen=True)
class TableCell:
    """One score: a value, or the reason why there is none; the submission where a row is stored."""

    value: float | None
    missing_reason: str
    submission_uuid: UUID | None
    standard_error: float | None = None
    n_instances: int | None = None


def score_rows(revision: Revision, systems: Sequence[BoardSystem]) -> list[dict[str, TableCell]]:
    """The cells of each of these systems by task key, in the order of the configuration."""
    scores = current_scores(revision, [system.id for system in systems])
    ids = {score.submission_id for score in scores.values()}
    uuids = dict(Submission.objects.filter(pk__among=ids).values_list("pk", "uuid"))
    tasks = configuration_of(revision).tasks
    rows = []
    for system in systems:
        row = {}
        for task in tasks:
            score = scores.get((system.id, task.id))
            row[task.key] = (
                TableCell(
                    score.value,
                    score.missing_reason,
                    uuids[score.submission_id],
                    score.standard_error,
                    score.n_instances,
                )
                if score
                else TableCell(None, NOT_SUBMITTED, None)
            )
        rows.append(row)
    return rows


LONG_COLUMNS = ("system", "task", "score", "stderr", "n", "missing")


def scores_long_csv(revision: Revision, only: Collection[int] | None = None) -> Iterator[str]:
    """All scores with everything that is stored of them, a line each: one that is missing says why.

    They are read while the lines are taken, some CHUNK_ROWS of them at a time.

    An import takes it again, with standard errors and numbers of instances; and with the
    reasons that someone may state; those that are missing for another one become scores that are not reported.

    Args:
        revision: the state of the benchmark.
        only: the ids of the systems that are in it; all where None.
    """
    systems = [system for system in systems_at(revision) if only is None or system.id in only]
    names = configuration_of(revision).task_names
    n_at_once = max(1, CHUNK_ROWS // max(1, len(names)))
    yield from csv_lines([LONG_COLUMNS])
    for start in range(0, len(systems), n_at_once):
        # A client may take so long over a part that the database has ended our connection meanwhile.
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        part = systems[start : start + n_at_once]
        for system, row in zip(part, score_rows(revision, part), strict=True):
            for key, cell in row.items():
                measured = (cell.value, cell.standard_error)
                numbers = ["" if number is None else repr(number).removesuffix(".0") for number in measured]
                n = "" if cell.n_instances is None else cell.n_instances
                yield from csv_lines([[system.name, names[key], *numbers, n, cell.missing_reason]])


def scores_csv(revision: Revision, only: Collection[int] | None = None) -> Iterator[str]:
    """The lines of a `scores.csv` that imports again: names of systems and tasks, an empty cell where none is.

    Args:
        revision: the state of the benchmark.
        only: the ids of the systems that are in it; all where None.
    """
    table = revision_matrix(revision)
    names = [task.name for task in configuration_of(revision).tasks]
    places = [i for i, system in enumerate(table.systems) if only is None or system.id in only] if table else []
    if table is None:
        return table_lines([], names, np.empty((0, len(names))))
    return table_lines([table.systems[i].name for i in places], names, table.written[places])
