"""Scoring again: when references were corrected, every submission that counts or could is scored with the newest ones.

Once the last one is scored, all changed scores go onto the board together, as corrections: one revision, whose page
says what it changed. What is the best only now enters after it (`contests`).
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext

from leaderboard.access.audience import Audience, audience_of
from leaderboard.access.locks import lock_as_owner, lock_benchmark
from leaderboard.common.language.numbers import PROGRAMS
from leaderboard.evaluation.board_moves import figures_of, ladder_score
from leaderboard.evaluation.entering import is_complete, problems_as_json, row_with_instances
from leaderboard.evaluation.phases import counted_split, has_ladder
from leaderboard.evaluation.predicting import predicted
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.receiving import insert_scoring_jobs
from leaderboard.evaluation.rescoring.contests import contests_of, decide_again
from leaderboard.models import Batch, Benchmark, PredictionFile, PredictionSubmission, Submission, TaskReferences
from leaderboard.models.submissions import Source
from leaderboard.rankings.scores import current_scores
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.lifecycle import submit_rows
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import CheckedScore, SubmittedRow, measured_score
from ranking_engine.files.problems import InputError, Problem

State = PredictionSubmission.State


def outdated(benchmark: Benchmark) -> list[PredictionSubmission]:
    """What was scored against references that are not the newest ones any more, and is on the board or might get there.

    Where the best submission counts, one that is not on the board may be the best by corrected references.
    """
    numbers = {row.task.key: row.number for row in predicted(benchmark)}
    return [
        row
        for contest in contests_of(benchmark)
        for row in (contest.rows if contest.is_open else contest.on_board)
        if any(numbers.get(key, number) != number for key, number in row.scored_with.items())
    ]


@transaction.atomic
def score_again(audience: Audience) -> int:
    """Have everything scored again that was scored against older references.

    Args:
        audience: an owner.

    Returns:
        How many submissions.

    Raises:
        EvaluationError: none was.
    """
    benchmark = lock_as_owner(audience.benchmark.pk, audience.user)
    newest = {row.task.key: row for row in predicted(benchmark)}
    rows = outdated(benchmark)
    if not rows:
        raise EvaluationError(gettext("Everything that can be on the board was scored against the newest references."))
    for row in rows:
        row.state, row.rescored_by = State.SCORING, audience.user
        row.save(update_fields=["state", "rescored_by"])
        chosen = []
        for file in row.files.select_related("task"):  # the former references of a task that has no more
            former = TaskReferences.objects.filter(task=file.task_id, number=row.scored_with.get(file.task.key, 1))
            chosen.append(newest.get(file.task.key) or former.get())
        insert_scoring_jobs(row, chosen)
    return len(rows)


@translation.override(PROGRAMS)  # problems are stored
def correct_if_all_are_scored(benchmark: Benchmark) -> None:
    """Bring scores that were computed again onto the board, once none is being computed any more.

    Call inside the transaction that ends a job. It locks the benchmark: of jobs that end at once, one is the last.
    """
    benchmark = lock_benchmark(benchmark.pk)
    rows = list(
        PredictionSubmission.objects.filter(benchmark=benchmark)
        .exclude(rescored_by=None)
        .select_related("submission__system", "phase", "rescored_by")
        .order_by("pk")
    )
    if not rows or any(row.state != State.SCORED for row in rows):
        return
    files = {row.pk: list(row.files.select_related("task").defer("content")) for row in rows}
    author = rows[-1].rescored_by
    if author is None or not all(is_complete(row, files[row.pk]) for row in rows):
        return
    PredictionSubmission.objects.filter(pk__in=[row.pk for row in rows]).update(rescored_by=None)
    unchanged: set[int] = set()
    for corrections in corrections_of(benchmark, rows, files, unchanged):
        unchanged |= _put_onto_board(audience_of(author, benchmark), corrections, files)
        benchmark.refresh_from_db()
    decide_again(benchmark, {row.pk for row in rows}, unchanged)


Corrections = list[tuple[PredictionSubmission, SubmittedRow]]


def corrections_of(
    benchmark: Benchmark,
    rows: Sequence[PredictionSubmission],
    files: dict[int, list[PredictionFile]],
    unchanged: set[int],
) -> list[Corrections]:
    """The rows that correct what is on the board: all together, except that a batch has one row per system.

    Args:
        benchmark: whose board.
        rows: that were scored again.
        files: of each.
        unchanged: takes the primary keys of those that cannot be corrected; their problems are stored.
    """
    system_ids = {row.submission.system_id for row in rows if row.submission}
    held = holding(benchmark, system_ids)
    revision = benchmark.revisions.select_related("configuration").order_by("-number").first()
    current = current_scores(revision, system_ids) if revision and system_ids else {}
    placed = {(score.submission_id, task) for (_, task), score in current.items()}
    batches: list[Corrections] = []
    n_of_system: dict[int, int] = {}
    for row in rows:
        row.benchmark = benchmark
        if row.submission is None or row.submission_id not in held:
            continue
        # A later submission may have brought the score of a task.
        counted = [file for file in files[row.pk] if (row.submission_id, file.task_id) in placed]
        try:
            one = _correction_of(row, row.submission, counted)
        except EvaluationError as error:
            PredictionSubmission.objects.filter(pk=row.pk).update(problems=problems_as_json([Problem(str(error))]))
            unchanged.add(row.pk)
            continue
        if one is not None:
            number = n_of_system.get(row.submission.system_id, 0)
            n_of_system[row.submission.system_id] = number + 1
            if number == len(batches):
                batches.append([])
            batches[number].append((row, one))
    return batches


def _put_onto_board(audience: Audience, corrections: Corrections, files: dict[int, list[PredictionFile]]) -> set[int]:
    """Put corrections onto the board as one batch; returns the primary keys of what could not be corrected."""
    rows = [row for row, _ in corrections]
    numbers = {f"{file.task.name} ({file.scored_by['references']})" for row in rows for file in files[row.pk]}
    note = f"Scored again against corrected references: {', '.join(sorted(numbers))}."
    try:
        with transaction.atomic():
            checked = check_rows(audience, [one for _, one in corrections])
            key = f"{Batch.SCORED_AGAIN}{uuid4()}"
            batch = submit_rows(
                audience, checked, is_counted=True, source=Source.CORRECTION, note=note, idempotency_key=key
            )
    except (InputError, SubmissionError) as error:  # such as an archive meanwhile
        problems = problems_as_json([Problem(f"The scores on the board stay as they were: {error}")])
        keys = {row.pk for row in rows}
        PredictionSubmission.objects.filter(pk__in=keys).update(problems=problems)
        return keys
    by_system = {one.system_id: one for one in batch.submissions.all()}
    for row in rows:
        if row.submission is not None:
            row.submission = by_system[row.submission.system_id]
            row.save(update_fields=["submission"])
    return set()


def _correction_of(
    row: PredictionSubmission, submission: Submission, files: Sequence[PredictionFile]
) -> SubmittedRow | None:
    """The row that corrects a submission; None where no score changed.

    Raises:
        EvaluationError: a task has no figure on the instances that count.
    """
    split, is_rounded = counted_split(row.phase), has_ladder(row.benchmark)
    figures = figures_of(files, split, with_values=False)
    scores: dict[str, CheckedScore] = {}
    for file in files:
        figure = figures.get(file.task_id)
        if figure is None:
            raise EvaluationError(
                gettext(
                    "The scores on the board stay as they were: against the newest references of %(task)s there is no "
                    "score on the split %(split)s."
                )
                % {"task": file.task.name, "split": split}
            )
        value = ladder_score(figure) if is_rounded else figure.value
        error = None if is_rounded else figure.standard_error
        scores[file.task.key] = measured_score(value, error, figure.n_instances)
    before = dict(submission.scores.values_list("task__key", "value"))
    if all(before.get(key) == score["value"] for key, score in scores.items()):
        return None
    return replace(row_with_instances(row, files, scores), corrects=str(submission.uuid))
