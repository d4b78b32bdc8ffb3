"""Submitting predictions: the form, example files, your own submissions, and the way of each."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.access.audience import Audience, administered_benchmark, audience_of, readable_benchmark
from leaderboard.common.requests import signed_in
from leaderboard.evaluation.forms_predictions import PredictionForm
from leaderboard.evaluation.phases import DEVELOPMENT, TEST, offers_trials, phase_now, why_no_phase
from leaderboard.evaluation.predicting import example_rows, metric_named, predicted, split_to_predict
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.queries import SHOWN, own_predictions, places_on_board, progress_of, visible_predictions
from leaderboard.evaluation.quotas import predictions_left
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.evaluation.references import chosen_metric, ids_of
from leaderboard.evaluation.rescoring.corrections import outdated, score_again
from leaderboard.evaluation.steps import cancel_predictions, retry_predictions
from leaderboard.evaluation.teams import team_of, whom_text
from leaderboard.evaluation.terms import is_on_ladder, ladder_terms, phase_terms
from leaderboard.models import PredictionSubmission
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.quotas import left_in_words, terms_of
from ranking_engine.files.csv_rows import csv_lines
from ranking_engine.files.problems import InputError

State = PredictionSubmission.State


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_predictions(request: HttpRequest, key: str) -> HttpResponse:
    """The form; files without a problem are stored and scored in the background."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "submissions/closed.html", context, status=403)
    references = predicted(benchmark)
    if not references:
        raise Http404(gettext("This benchmark takes no predictions: no task has references."))
    has_trials, why = offers_trials(benchmark, references), why_no_phase(benchmark)
    if why and not has_trials:
        return render(request, "submissions/closed.html", {"benchmark": benchmark, "why": why}, status=403)
    form = PredictionForm(
        request.POST or None,
        request.FILES or None,
        tasks=[one.task for one in references],
        fields=benchmark.fields_of_systems,
        has_trials=has_trials,
        initial={"is_trial": bool(why)},
    )
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            row, _ = submit_predictions(benchmark, signed_in(request), form.upload())
        except InputError as error:
            errors = form.take_problems(error.problems)
        except (EvaluationError, SubmissionError) as error:
            errors = [str(error)]
        else:
            return redirect("prediction", row.uuid)
    phase = phase_now(benchmark)
    own = team_of(signed_in(request), benchmark)
    left = predictions_left(phase, signed_in(request), own) if phase and not audience.may_moderate else {}
    # What someone should know before they submit.
    terms = terms_of(benchmark, signed_in(request), limited=not audience.may_moderate)
    if phase:
        of_phase = phase_terms(phase)
        if left_text := left_in_words(left):
            of_phase.append(gettext("You can still submit %(left)s.") % {"left": left_text})
        terms.append(f"{phase.name}: {' '.join(of_phase)}")
    elif is_on_ladder(benchmark):
        terms.append(" ".join(ladder_terms()))
    context = {
        "benchmark": benchmark,
        "form": form,
        "whom": whom_text(own),
        "left": left_in_words(left),
        "errors": errors,
        "tasks": [
            (one, metric_named(one.metric), field) for one, (_, field) in zip(references, form.file_fields, strict=True)
        ],
        "has_trials": has_trials,
        "why_trials_alone": why,
        "uses_ladder": is_on_ladder(benchmark),
        "split": split_to_predict(phase, is_trial=False),
        "terms": terms,
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "evaluation/new_predictions.html", context, status=status)


@require_safe
def example_predictions(request: HttpRequest, key: str, task: str, split: str) -> StreamingHttpResponse:
    """A file with every id of a split and a prediction of the right kind, to be filled in."""
    benchmark, _ = readable_benchmark(request.user, key, restricted=True)
    row = next((one for one in predicted(benchmark) if one.task.key == task), None)
    ids = ids_of(row, split) if row and split in (DEVELOPMENT, TEST) else []
    if row is None or not ids:
        raise Http404(gettext("There is no such example."))
    rows = example_rows(chosen_metric(row.metric), ids)
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{task}-{split}.csv"'
    return response


@require_safe
@login_required
def predictions(request: HttpRequest, key: str) -> HttpResponse:
    """What someone and their team submitted, newest first."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    own = own_predictions(signed_in(request), benchmark)
    rows = list(own[:SHOWN])
    places = places_on_board(benchmark, rows)
    references = predicted(benchmark)
    why_no_more = "" if audience.may_submit else audience.why_closed
    if not why_no_more and references and not offers_trials(benchmark, references):
        why_no_more = why_no_phase(benchmark)
    context = {
        "benchmark": benchmark,
        "rows": [(row, places.get(row.pk, "")) for row in rows],
        "n_more": max(0, own.count() - SHOWN),
        "why_no_more": why_no_more,
        "takes_predictions": bool(references),
        "n_outdated": len(outdated(benchmark)) if audience.may_administer else 0,
    }
    return render(request, "evaluation/predictions.html", context)


@require_safe
@login_required
def prediction(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The state of a submission of predictions, its problems and its results."""
    row, audience = visible_predictions(request.user, uuid)
    context = _page(row, audience) | {"files": row.files.select_related("task").defer("content")}
    return render(request, "evaluation/prediction.html", context)


@require_safe
@login_required
def prediction_progress(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The part of the page that is asked for again every second."""
    row, audience = visible_predictions(request.user, uuid)
    response = render(request, "evaluation/_prediction_progress.html", _page(row, audience))
    response["Cache-Control"] = "no-store"
    return response


def _page(row: PredictionSubmission, audience: Audience) -> dict[str, object]:
    is_own = row.submitter_id == audience.viewer.pk
    return {
        "row": row,
        "benchmark": row.benchmark,
        "progress": progress_of(row),
        "batch": row.submission.batch if row.submission else None,
        "poll_url": reverse("prediction_progress", args=[row.uuid]),
        "may_cancel": is_own and row.state == State.WAITING and row.submission is None,
        "may_retry": audience.may_moderate,
    }


@require_POST
@login_required
def rescore_predictions(request: HttpRequest, key: str) -> HttpResponse:
    """Have everything scored again that was scored against older references."""
    benchmark = administered_benchmark(request.user, key)
    try:
        n = score_again(audience_of(signed_in(request), benchmark))
    except EvaluationError as error:
        messages.error(request, str(error))
    else:
        text = ngettext(
            "%(n)s submission is being scored again; the board changes once, when all of them are done.",
            "%(n)s submissions are being scored again; the board changes once, when all of them are done.",
            n,
        )
        messages.info(request, text % {"n": n})
    return redirect("predictions", key)


@require_POST
@login_required
def prediction_step(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Cancel predictions that wait, or have a job that failed tried again."""
    row, audience = visible_predictions(request.user, uuid)
    action = request.POST.get("action")
    if action == "retry" and not audience.may_moderate:
        raise PermissionDenied(gettext("Only moderators and owners of a benchmark can have predictions scored again."))
    if action == "cancel" and row.submitter_id != request.user.pk:
        raise PermissionDenied(gettext("Only who submitted predictions can cancel them."))
    try:
        if action == "cancel":
            cancel_predictions(row)
            messages.info(request, gettext("The predictions were cancelled; they count in no quota."))
        elif action == "retry":
            retry_predictions(row, actor=signed_in(request))
            messages.info(request, gettext("They are being scored again."))
    except EvaluationError as error:
        messages.error(request, str(error))
    return redirect("prediction", row.uuid)
