"""Predictions as they come in: read, checked against the ids of the instances, and stored with jobs that score them.

All that is wrong with the files is said at once, before anything is stored. References are not needed for it.
"""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audience import Audience, audience_of
from leaderboard.access.locks import lock_benchmark
from leaderboard.evaluation.phases import (
    counted_split,
    has_ladder,
    phase_for_predictions,
    why_no_trials,
    why_private_scores_leak,
)
from leaderboard.evaluation.predicting import predicted, split_to_predict
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.quotas import take_prediction
from leaderboard.evaluation.references import EVALUATOR, chosen_metric, ids_of
from leaderboard.evaluation.teams import team_of
from leaderboard.models import Benchmark, Phase, PredictionFile, PredictionSubmission, Task, TaskReferences, User
from leaderboard.models.submissions import Source
from leaderboard.on_demand.uploads import turn_to_read_parquet
from leaderboard.queue.kinds import EVALUATION, JOB_KINDS, SCORING
from leaderboard.queue.rows import about, insert, row_of
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.lifecycle import require_may_submit
from leaderboard.submissions.quotas import INSTANCES_A_CELL, take_cells, take_quota
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.statements import statement_of
from leaderboard.submissions.uploads import IdempotencyError
from ranking_engine.evaluation.reading import read_predictions
from ranking_engine.evaluation.task_column import TASK, split_by_task
from ranking_engine.files.problems import InputError, Problems
from ranking_engine.text.characters import line_problem
from ranking_engine.text.names import clean_name, fold_name, shorten

State = PredictionSubmission.State
FILE_NAME = 200  # characters that are kept


@dataclass(frozen=True)
class PredictionUpload:
    """What someone sent.

    Attributes:
        about: the system: name, organisation, address, description, metadata; it has no scores.
        files: by a task's key or name: what the file is called, and its bytes.
        table: one file for several tasks, with a column `task`.
        note: in words.
        is_trial: whether it is scored on the development split only, and never gets onto the board.
        source: the door by which it came.
        idempotency_key: the caller's own name for this call.
    """

    about: SubmittedRow
    files: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    table: tuple[str, bytes] | None = None
    note: str = ""
    is_trial: bool = False
    source: str = Source.FORM
    idempotency_key: str | None = None


@dataclass(frozen=True)
class TaskFile:
    """The predictions for one task, read and checked."""

    references: TaskReferences
    name: str
    data: bytes
    n_predictions: int

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


def submit_predictions(
    benchmark: Benchmark, owner: User, upload: PredictionUpload
) -> tuple[PredictionSubmission, bool]:
    """Store predictions and the jobs that score them.

    Returns:
        The submission, and whether this call made it: the same key and files give that of the first call, whatever was
        closed since.

    Raises:
        InputError: something is wrong with the files, or with what is said of the system; nothing is stored.
        IdempotencyError: the key was used for other files.
        EvaluationError: no phase is open, a quota is used up, or scores would tell what is secret.
        SubmissionError: they cannot submit here.
    """
    if first := _first_call(benchmark, owner, upload):
        return first, False
    require_may_submit(audience_of(owner, benchmark))
    phase, split = _phase_and_split(benchmark, upload)
    # Reading takes a moment, and no one else should wait for it.
    files = read_files(benchmark, upload, split)
    with transaction.atomic():
        locked = lock_benchmark(benchmark.pk)
        if first := _first_call(locked, owner, upload):
            return first, False
        audience = audience_of(owner, locked)
        require_may_submit(audience)
        # What the owners changed while the files were read counts, such as the caps of the phase.
        phase_now, split_now = _phase_and_split(locked, upload)
        if (phase_now, split_now) != (phase, split):
            raise EvaluationError(gettext("The phase changed while your files were read. Submit them again."))
        references = [file.references for file in files]
        if not upload.is_trial and (why := why_private_scores_leak(counted_split(phase_now), references)):
            raise EvaluationError(why)
        return _store_predictions(audience, upload, phase_now, files), True


def _phase_and_split(benchmark: Benchmark, upload: PredictionUpload) -> tuple[Phase | None, str]:
    """The phase that an upload belongs to now, and on which instances it has predictions.

    Raises:
        EvaluationError: no phase is open, or there are no trial runs.
    """
    if upload.is_trial and (why := why_no_trials(benchmark)):
        raise EvaluationError(why)
    phase = None if upload.is_trial else phase_for_predictions(benchmark)
    return phase, split_to_predict(phase, is_trial=upload.is_trial)


def read_files(benchmark: Benchmark, upload: PredictionUpload, split: str) -> list[TaskFile]:
    """The files of an upload by task.

    Args:
        benchmark: where to.
        upload: what was sent.
        split: `development` or `test`: on which instances predictions are expected.

    Raises:
        InputError: with everything that is wrong, each with file and line.
    """
    known = {row.task.key: row for row in predicted(benchmark)}
    if not known:
        raise InputError.of(f"{benchmark.name} does not take predictions: no task has references", "files")
    n_bytes = sum(len(data) for _, data in (*upload.files.values(), *([upload.table] if upload.table else [])))
    if n_bytes > settings.PREDICTIONS_BYTES:
        limit = settings.PREDICTIONS_BYTES
        raise InputError.of(f"{n_bytes:,} bytes; the files of one submission may have {limit:,}", "files")
    problems = Problems()
    chosen = _files_by_task(upload, {key: row.task for key, row in known.items()}, problems)
    if not chosen and not problems:
        problems.add("files", "choose a file with predictions")
    if chosen and not upload.is_trial and has_ladder(benchmark):
        # Of some tasks alone, the board would tell their scores one after the other.
        for key in sorted(known.keys() - chosen.keys()):
            name = known[key].task.name
            problems.add(f"files.{key}", f"predictions for {name} are missing; the Ladder needs all tasks")
    read = []
    for key, one in chosen.items():
        try:
            read.append(_read_task_file(known[key], one.name, one.data, split))
        except InputError as error:
            for problem in _named(error, one.name, f"files.{key}").problems.listed:
                problems.listed.append(replace(problem, line=one.line_of(problem.line)))
            problems.n_more += error.problems.n_more
    if problems:
        raise InputError(problems)
    return read


class _Chosen(NamedTuple):
    """A file for one task, or the part of one; `line_of` says on which line of what was sent a line of it is."""

    name: str
    data: bytes
    line_of: Callable[[int | None], int | None] = lambda line: line


def _files_by_task(upload: PredictionUpload, tasks: Mapping[str, Task], problems: Problems) -> dict[str, _Chosen]:
    """What was sent for each task, by its key; what is for none of these is noted."""
    key_of = {task.name_folded: key for key, task in tasks.items()} | {key: key for key in tasks}

    def key_called(label: str) -> str | None:
        return key_of.get(fold_name(label)) or key_of.get(clean_name(label))

    chosen: dict[str, _Chosen] = {}
    for label, (name, data) in upload.files.items():
        key = key_called(label)
        if key is None:
            problems.add(f"files.{label}", f"no task that takes predictions is called {shorten(label)!r}")
        elif key in chosen:
            problems.add(f"files.{label}", f"there are two files for {tasks[key].name}")
        else:
            chosen[key] = _Chosen(name, data)
    if upload.table:
        name, data = upload.table
        try:
            parts = split_by_task(data, key_called)
        except InputError as error:
            raise _named(error, name, TASK) from error
        for key, part in parts.items():
            if key in chosen:
                problems.add("files", f"there are two files for {tasks[key].name}")
            chosen[key] = _Chosen(name, part.data, part.line_of)
    return chosen


def _read_task_file(references: TaskReferences, name: str, data: bytes, split: str) -> TaskFile:
    """Read one file.

    Raises:
        InputError: with everything that is wrong with it.
        BusyError, TooOftenError: it is Parquet, and too many such files are being read.
    """
    ids = ids_of(references, split)
    task = references.task.name
    if not ids:
        raise InputError.of(f"{task} has no instances of the split {split}, so that nothing can be scored on it")
    if len(ids) > settings.PREDICTIONS_ROWS:
        limit = settings.PREDICTIONS_ROWS
        raise InputError.of(f"{task} has {len(ids):,} instances; one submission may have {limit:,} predictions")
    with turn_to_read_parquet(data):
        read_predictions(data, shorten(name), ids, chosen_metric(references.metric))
    kept_name = "file" if line_problem(name) else shorten(name, FILE_NAME) or "file"
    return TaskFile(references, kept_name, data, len(ids))


def _named(error: InputError, name: str, place: str) -> InputError:
    """The same problems, each with the name of the file."""
    return error.at(lambda problem: replace(problem, place=place, source=problem.source or shorten(name)))


def _first_call(benchmark: Benchmark, owner: User, upload: PredictionUpload) -> PredictionSubmission | None:
    """The submission that the first call with the key of an upload made.

    Raises:
        IdempotencyError: it was of other files or another system.
    """
    if not upload.idempotency_key:
        return None
    rows = PredictionSubmission.objects.filter(submitter=owner, benchmark=benchmark)
    first = rows.filter(idempotency_key=upload.idempotency_key).first()
    if first is None:
        return None
    stored = {file.task.key: file for file in first.files.select_related("task").defer("content")}
    problems = Problems()
    try:
        chosen = _files_by_task(upload, {key: file.task for key, file in stored.items()}, problems)
    except InputError as error:
        chosen, problems = {}, error.problems
    sent = {key: hashlib.sha256(one.data).hexdigest() for key, one in chosen.items()}
    is_same = not problems and sent == {key: file.sha256 for key, file in stored.items()}
    is_same = is_same and first.is_trial == upload.is_trial
    if not is_same or fold_name(first.system_name) != fold_name(upload.about.system_name):
        raise IdempotencyError(gettext("This idempotency key was already used for another upload; use a new one."))
    return first


def scores_in_place(tasks: Sequence[Task]) -> dict[str, float]:
    """Scores that each task allows, by its key: for checks before there are any."""
    return {task.key: task.minimum if task.minimum is not None else task.maximum or 0.0 for task in tasks}


def _store_predictions(
    audience: Audience, upload: PredictionUpload, phase: Phase | None, files: Sequence[TaskFile]
) -> PredictionSubmission:
    """Store a submission with its files and jobs. Call in a transaction that has locked the benchmark."""
    benchmark, owner = audience.benchmark, audience.user
    # What is said of the system is checked as with every submission; the scores come later.
    scores = scores_in_place([file.references.task for file in files])
    checked = check_rows(audience, [replace(upload.about, scores=scores, line=None)], is_scored_here=True)[0]
    open_ones = PredictionSubmission.objects.filter(submitter=owner, state__in=[State.WAITING, State.SCORING])
    open_ones = open_ones.filter(rescored_by=None)  # owners have others scored again
    if open_ones.count() >= settings.PREDICTIONS_OPEN:
        limit = settings.PREDICTIONS_OPEN
        raise EvaluationError(
            gettext("%(limit)s of your submissions of predictions are not scored yet; wait until one is.")
            % {"limit": limit}
        )
    is_limited = not audience.may_moderate
    team = team_of(owner, benchmark)
    take_cells(owner, -(-sum(file.n_predictions for file in files) // INSTANCES_A_CELL))
    if not upload.is_trial:
        take_quota(benchmark, owner, 1, limited=is_limited)
    if phase is not None:
        take_prediction(phase, owner, team, system_name=checked["system"]["name"], is_limited=is_limited)
    row = PredictionSubmission.objects.create(
        benchmark=benchmark,
        phase=phase,
        submitter=owner,
        team=team,
        source=upload.source,
        statement=statement_of(checked["system"]),
        note=upload.note,
        idempotency_key=upload.idempotency_key,
        is_trial=upload.is_trial,
    )
    PredictionFile.objects.bulk_create(
        PredictionFile(
            prediction_submission=row,
            task=file.references.task,
            name=file.name,
            sha256=file.sha256,
            n_predictions=file.n_predictions,
            content=zlib.compress(file.data),
        )
        for file in files
    )
    insert_scoring_jobs(row, [file.references for file in files])
    return row


def insert_scoring_jobs(row: PredictionSubmission, references: Sequence[TaskReferences]) -> None:
    """Have a submission scored against these references. Call inside a transaction.

    Args:
        row: with files for the same tasks.
        references: one of each task.
    """
    split = split_to_predict(row.phase, is_trial=row.is_trial)
    numbers = {one.task.key: one.number for one in references}
    row.scored_with = numbers
    row.save(update_fields=["scored_with"])
    if any(one.metric != EVALUATOR.key for one in references):
        parameters: dict[str, Any] = {"references": numbers, "split": split}
        insert(row_of(JOB_KINDS[SCORING], about(row, row.benchmark_id), parameters))
    by_task = {file.task_id: file for file in row.files.all()}
    for one in references:
        if one.metric == EVALUATOR.key:
            parameters = {"references": one.number, "split": split}
            insert(row_of(JOB_KINDS[EVALUATION], about(by_task[one.task_id], row.benchmark_id), parameters))
