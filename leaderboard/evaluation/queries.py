"""Submissions of predictions, for the pages and the API: who sees which, and how far each is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience, Viewer, audience_of
from leaderboard.common.moments import moment_in_words
from leaderboard.evaluation.board_moves import best_in_place_of, seen_results
from leaderboard.evaluation.phases import has_ladder
from leaderboard.evaluation.predicting import metric_named
from leaderboard.models import Benchmark, Job, PredictionFile, PredictionSubmission, Submission, User
from leaderboard.queue.kinds import EVALUATION, SCORING
from leaderboard.queue.places import places
from leaderboard.submissions.batches.states import DONE, FAILED, RUNNING, SKIPPED, SUBMITTED, WAITING
from leaderboard.submissions.corrections import holding
from leaderboard.submissions.queries import REPLACED_WORDS, STATE_WORDS

State = PredictionSubmission.State
NO_PREDICTIONS = gettext_noop("There are no such predictions, or you have no access to them.")
# Stages of their own, beside those of every submission.
SCORED, SUBMISSION = gettext_noop("scored"), gettext_noop("submission")
ENDED = {State.REFUSED: gettext_noop("refused"), State.CANCELLED: gettext_noop("cancelled")}
SHOWN = 200  # submissions in a list


def own_predictions(user: User, benchmark: Benchmark) -> QuerySet[PredictionSubmission]:
    """What someone and their team submitted to a benchmark, newest first."""
    rows = PredictionSubmission.objects.filter(benchmark=benchmark).select_related("submitter", "phase", "team")
    return rows.filter(Q(submitter=user) | Q(team__memberships__user=user)).distinct().order_by("-pk")


def places_on_board(benchmark: Benchmark, rows: Sequence[PredictionSubmission]) -> dict[int, str]:
    """What became of the scores of submissions of predictions, in words, by their primary keys.

    Args:
        benchmark: of all of them.
        rows: any; those that are not scored, and trial runs, are left out.
    """
    scored = [row for row in rows if row.state == State.SCORED and not row.is_trial]
    submissions = Submission.objects.in_bulk([row.submission_id for row in scored if row.submission_id])
    held = holding(benchmark, {one.system_id for one in submissions.values()}) if submissions else {}
    further = {pk for pk, one in held.items() if not one.is_blank}
    on_board = further
    while further:  # what is on the board may be a correction of what came of the predictions
        corrected = Submission.objects.filter(pk__in=further).values_list("corrects", flat=True)
        further = {pk for pk in corrected if pk}
        on_board = on_board | further
    places = {}
    for row in scored:
        submission = submissions.get(row.submission_id or 0)
        if submission is None:
            places[row.pk] = gettext("not on the board")
        elif submission.pk in on_board:
            places[row.pk] = gettext("on the board")
        elif submission.state == Submission.State.ACCEPTED:
            places[row.pk] = gettext(REPLACED_WORDS)
        else:
            places[row.pk] = gettext(STATE_WORDS[Submission.State(submission.state)])
    return places


def visible_predictions(viewer: Viewer, uuid: UUID) -> tuple[PredictionSubmission, Audience]:
    """A submission of predictions, for its submitter, their team, and who decides about submissions.

    Raises:
        Http404: there is none, or it is not for this viewer.
    """
    rows = PredictionSubmission.objects.select_related("benchmark", "submitter", "phase", "team", "submission__batch")
    row = rows.filter(uuid=uuid).first()
    if row is None:
        raise Http404(gettext(NO_PREDICTIONS))
    audience = audience_of(viewer, row.benchmark)
    if not audience.may_read or not viewer.is_authenticated:
        raise Http404(gettext(NO_PREDICTIONS))
    is_theirs = row.submitter_id == viewer.pk or audience.may_moderate
    if not is_theirs and (row.team is None or not row.team.memberships.filter(user=viewer.pk).exists()):
        raise Http404(gettext(NO_PREDICTIONS))
    return row, audience


@dataclass(frozen=True)
class TaskResult:
    """The figure of one task, as its submitter sees it, and what computed it."""

    task_key: str
    task_name: str
    file_name: str
    sha256: str
    n_predictions: int
    value: float | None
    standard_error: float | None
    n_instances: int | None
    metric: str
    library: str
    references: int | None


@dataclass(frozen=True)
class BestSubmission:
    """The best submission so far of a team or a person on the Ladder, with the figures that they see of it."""

    uuid: UUID
    system_name: str
    results: list[TaskResult]


@dataclass(frozen=True)
class PredictionProgress:
    """How far a submission of predictions is.

    Attributes:
        stages: each with `name`, `state` and `text`.
        is_final: whether nothing moves any more by itself.
        has_failed: whether a job was given up, which an owner can have tried again.
        results: by task.
        best: with the Ladder, where this one is not better: the submission whose figures are seen.
    """

    stages: list[dict[str, str]]
    is_final: bool
    has_failed: bool
    results: list[TaskResult]
    best: BestSubmission | None

    @property
    def seen_results(self) -> list[TaskResult]:
        """The results that have the figures that may be seen: of this submission, or of the best one."""
        return self.best.results if self.best else self.results


def jobs_of_predictions(row: PredictionSubmission) -> QuerySet[Job]:
    """The jobs that score a submission, by the site or by the owners' program, oldest first."""
    files = PredictionFile.objects.filter(prediction_submission=row).values("pk")
    of_site = Q(kind=SCORING, subject_kind="predictionsubmission", subject_id=row.pk)
    of_owners = Q(kind=EVALUATION, subject_kind="predictionfile", subject_id__in=files)
    return Job.objects.filter(of_site | of_owners).order_by("pk")


def progress_of(row: PredictionSubmission) -> PredictionProgress:
    """How far a submission is.

    Args:
        row: with benchmark, phase, and its submission with the batch.
    """
    files = files_of(row)
    stages = [_stage(SUBMITTED, DONE, moment_in_words(row.created_at))]
    is_final, has_failed = True, False
    if row.state in (State.WAITING, State.SCORING):
        jobs = list(jobs_of_predictions(row))
        failed = next((job for job in jobs if job.state == Job.State.FAILED), None)
        has_failed = failed is not None
        is_final = has_failed
        if failed is not None:
            text = gettext("it failed, which is not your fault; the owners of the benchmark can have it tried again")
            stages.append(_stage(SCORED, FAILED, text))
        else:
            stages.append(_stage(SCORED, *_waiting_stage(jobs)))
    elif row.state == State.SCORED:
        at = moment_in_words(row.scored_at) if row.scored_at else ""
        stages.append(_stage(SCORED, DONE, at))
    else:
        text = gettext("see the problems below") if row.state == State.REFUSED else gettext("by you")
        stages.append(_stage(ENDED[State(row.state)], FAILED, text))
    if not row.is_trial and row.state not in (State.CANCELLED, State.REFUSED):
        if row.submission is not None:
            stages.append(_stage(SUBMISSION, DONE, gettext(row.outcome)))
        elif row.state == State.SCORED:
            stages.append(_stage(SUBMISSION, SKIPPED, gettext(row.outcome)))
        else:
            stages.append(_stage(SUBMISSION, WAITING, ""))
    uses_ladder, best = has_ladder(row.benchmark), None
    if instead := best_in_place_of(row, uses_ladder=uses_ladder):
        results = results_of(instead, files_of(instead), uses_ladder=uses_ladder)
        best = BestSubmission(instead.uuid, instead.system_name, results)
    results = results_of(row, files, uses_ladder=uses_ladder)
    return PredictionProgress(stages, is_final, has_failed, results, best)


def files_of(row: PredictionSubmission) -> list[PredictionFile]:
    """The files of a submission, without what is in them."""
    return list(row.files.select_related("task").defer("content").order_by("pk"))


def results_of(row: PredictionSubmission, files: list[PredictionFile], *, uses_ladder: bool) -> list[TaskResult]:
    """What is known of each file of a submission, with the figures that its submitter sees."""
    seen = seen_results(row, files, uses_ladder=uses_ladder)
    return [result_of(file, seen.get(file.task.key, {})) for file in files]


def _waiting_stage(jobs: list[Job]) -> tuple[str, str]:
    """The state and the text of a stage that these jobs have still to bring about."""
    running = next((job for job in jobs if job.state == Job.State.RUNNING), None)
    if running is not None:
        again = gettext("attempt %(number)s") % {"number": running.attempts} if running.attempts > 1 else ""
        by = gettext("by a program of the owners") if running.kind == EVALUATION else ""
        return RUNNING, ", ".join(filter(None, (by, again)))
    waiting = next((job for job in jobs if job.state == Job.State.WAITING), None)
    if waiting is not None and waiting.kind == EVALUATION:
        return WAITING, gettext("for a program of the owners")
    place = places(Job.Queue.SCORING).get(waiting.pk) if waiting else None
    if place is None:
        return WAITING, gettext("queued")
    return WAITING, gettext("queued (position %(n)s)") % {"n": place.n_ahead + 1}


def result_of(file: PredictionFile, seen: dict[str, Any]) -> TaskResult:
    """What is known of a file, with the figures that may be seen."""
    by = file.scored_by if seen else {}
    metric = metric_named(by.get("metric", ""))
    return TaskResult(
        task_key=file.task.key,
        task_name=file.task.name,
        file_name=file.name,
        sha256=file.sha256,
        n_predictions=file.n_predictions,
        value=seen.get("value"),
        standard_error=seen.get("standard_error"),
        n_instances=seen.get("n_instances"),
        metric=metric.name if metric else "",
        library=" ".join(filter(None, (by.get("library", ""), by.get("library_version", "")))),
        references=by.get("references"),
    )


def _stage(name: str, state: str, text: str) -> dict[str, str]:
    return {"name": name, "state": state, "text": text}
