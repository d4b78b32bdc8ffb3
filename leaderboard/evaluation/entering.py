"""From figures to an ordinary submission: what scoring found is stored, and once every file is scored, it enters.

Everything here is called inside the transaction that ends the job, so that it happens once or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext_noop

from leaderboard.access.audience import audience_of
from leaderboard.access.locks import lock_benchmark
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.numbers import PROGRAMS
from leaderboard.computing.scoring import Scored
from leaderboard.evaluation.board_moves import decide
from leaderboard.evaluation.notices import tell_of_scoring
from leaderboard.evaluation.phases import DEVELOPMENT, TEST, counted_split, has_ladder
from leaderboard.evaluation.receiving import scores_in_place
from leaderboard.evaluation.references import ids_of, opened
from leaderboard.models import PredictionFile, PredictionSubmission, Submission, TaskReferences
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.instances.uploads import TaskInstances, instance_name_problem, with_instances
from leaderboard.submissions.instances.vectors import pack_vector, unpack_vector
from leaderboard.submissions.lifecycle import submit_rows
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import CheckedScore, SubmittedRow
from ranking_engine.files.problems import InputError, Problem
from ranking_engine.text.names import clean_name

State = PredictionSubmission.State


def keep_result(row: PredictionSubmission, file: PredictionFile, references: TaskReferences, scored: Scored) -> None:
    """Store what was found for one file, unless other references are wanted by now.

    Args:
        row: the submission.
        file: of it; its task is loaded.
        references: that it was scored against.
        scored: without problems.
    """
    wanted = PredictionSubmission.objects.values_list("scored_with", flat=True).get(pk=row.pk)
    if wanted.get(file.task.key) != references.number:
        return
    figures = {
        name: {"value": part.value, "standard_error": part.standard_error, "n_instances": part.n_instances}
        for name, part in scored.parts.items()
    }
    by = {
        "references": references.number,
        "metric": references.metric,
        "library": scored.library,
        "library_version": scored.library_version,
    }
    values = scored.instance_values
    file.results = figures | {PredictionFile.BY: by}
    file.instance_values = b"" if values is None else pack_vector(np.array(values, np.float64))
    file.save(update_fields=["results", "instance_values"])


def refuse(row: PredictionSubmission, problems: Sequence[dict[str, Any]]) -> None:
    """End a submission that cannot be scored, or cannot enter. One that was scored before stays as it was."""
    rows = PredictionSubmission.objects.filter(pk=row.pk).exclude(state=State.CANCELLED)
    if rows.filter(scored_at=None).update(state=State.REFUSED, problems=list(problems)):
        row.state = State.REFUSED
        tell_of_scoring(row)
    rows.exclude(scored_at=None).update(state=State.SCORED, problems=list(problems), rescored_by=None)


def problems_as_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems as a submission stores them."""
    return [
        {"message": problem.message, "file": problem.source, "line": problem.line, "column": problem.place_name}
        for problem in problems
    ]


def is_complete(row: PredictionSubmission, files: Sequence[PredictionFile]) -> bool:
    """Whether every file was scored against the references that are wanted."""
    numbers = [file.scored_by.get("references") for file in files]
    return numbers == [row.scored_with.get(file.task.key, 0) for file in files]


@translation.override(PROGRAMS)  # problems are stored
def enter_if_complete(row: PredictionSubmission) -> None:
    """Make an ordinary submission of predictions, once all of them are scored; or say why there is none.

    Scores that were computed again wait until the others are there, too (`rescoring`).
    """
    benchmark = lock_benchmark(row.benchmark_id)
    row = PredictionSubmission.objects.select_related("phase", "submitter").get(pk=row.pk)
    row.benchmark = benchmark
    files = list(row.files.select_related("task"))
    if row.state not in (State.WAITING, State.SCORING) or not is_complete(row, files):
        return
    row.state, row.problems = State.SCORED, []
    is_first = row.scored_at is None  # the order of what counts is that of the first decisions
    if is_first:
        row.scored_at = timezone.now()
    if row.is_trial:
        row.outcome = gettext_noop("A trial run: nothing of it gets onto the board.")
    elif is_first:
        try:
            with transaction.atomic():  # what was written before an error is taken back
                # First, and however good it is: a refusal that only a better one gets would tell which one is better.
                require_may_enter(row, files)
                decision = decide(row, files)
                row.outcome = decision.sentence
                if decision.scores is not None:
                    row.submission = enter(row, files, decision.scores)
        except InputError as error:
            refuse(row, problems_as_json(error.problems.listed))
            return
        except SubmissionError as error:
            refuse(row, problems_as_json([Problem(str(error))]))
            return
    row.save(update_fields=["state", "scored_at", "problems", "outcome", "submission"])
    if is_first:  # what owners have scored again is no news of its own
        tell_of_scoring(row)


def require_may_enter(row: PredictionSubmission, files: Sequence[PredictionFile]) -> None:
    """Go on where a submission of this system can enter, whatever its scores.

    Raises:
        InputError: the system can no longer get scores from them.
        SubmissionError: they may no longer submit.
    """
    audience = audience_of(row.submitter, row.benchmark)
    if not audience.may_read or row.benchmark.is_archived:
        raise SubmissionError("The benchmark is archived, or you can no longer see it.")
    if row.benchmark.bans.filter(user=row.submitter_id).exists():
        raise SubmissionError(audience.why_closed)
    about = _submitted_row(row, scores_in_place([file.task for file in files]))
    check_rows(audience, [about], suggests=False, is_scored_here=True)


def _submitted_row(row: PredictionSubmission, scores: Mapping[str, float]) -> SubmittedRow:
    """What is said of a system, with these scores by the key of the task."""
    about = {name: row.statement[name] for name in ("organisation", "url", "description", "metadata")
             if name in row.statement}  # fmt: skip
    return SubmittedRow(row.system_name, scores, **about)


def enter(row: PredictionSubmission, files: Sequence[PredictionFile], scores: dict[str, CheckedScore]) -> Submission:
    """Submit scores as their submitter would have; a second time where others were on the board meanwhile.

    Raises:
        InputError: the system can no longer get such scores.
        SubmissionError: they may no longer submit.
    """
    audience = audience_of(row.submitter, row.benchmark)
    submitted = row_with_instances(row, files, scores)
    try:
        checked = check_rows(audience, [submitted], suggests=False, is_scored_here=True)
    except InputError:
        if not submitted.instances:
            raise
        # Where the board has other instances, as while references are being corrected, these cannot be compared.
        checked = check_rows(audience, [replace(submitted, instances={})], suggests=False, is_scored_here=True)
    batch = submit_rows(
        audience,
        checked,
        is_counted=True,
        source=row.source,
        note=row.note,
        idempotency_key=None if row.submission_id else f"predictions {row.uuid}",
        payload_hash=content_hash([[file.task.key, file.sha256] for file in files]),
    )
    return batch.submissions.get()


def row_with_instances(
    row: PredictionSubmission, files: Sequence[PredictionFile], scores: dict[str, CheckedScore]
) -> SubmittedRow:
    """The scores of a system as a submission states them, with those of single instances where they can be kept.

    Args:
        row: with benchmark and phase.
        files: of it, scored.
        scores: by the key of the task.
    """
    submitted = replace(
        _submitted_row(row, {key: score["value"] for key, score in scores.items()}),
        details={key: (score.get("standard_error"), score.get("n_instances")) for key, score in scores.items()},
    )
    if has_ladder(row.benchmark):  # single instances would say more than the Ladder does
        return submitted
    tasks = {}
    split = counted_split(row.phase)
    for file in files:
        if not file.instance_values:
            continue
        references = TaskReferences.objects.get(task=file.task_id, number=file.scored_by["references"])
        values = unpack_vector(file.instance_values)
        names = ids_of(references, DEVELOPMENT if split == DEVELOPMENT else TEST)
        if split not in (DEVELOPMENT, TEST):  # which instances are public is secret, so it is not stored
            hidden = opened(references)[1]
            of_split = dict(zip(hidden.ids, hidden.splits or (), strict=False))
            places = [k for k, name in enumerate(names) if of_split.get(name) == split]
            names, values = [names[k] for k in places], values[places]
        names = list(map(clean_name, names))
        can_be_kept = len(set(names)) == len(values) == len(names) and not any(map(instance_name_problem, names))
        if names and can_be_kept and file.task.key in scores:
            tasks[file.task.key] = TaskInstances(names, values[None, :])
    return with_instances([submitted], tasks, [0])[0]
