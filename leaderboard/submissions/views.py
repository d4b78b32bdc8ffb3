"""Submitting: the form, the preview, and the way of a submission until its board is there."""

import re
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.access.audience import (
    NO_SUBMISSION,
    Audience,
    batch_of_draft,
    draft_to_confirm,
    own_draft,
    readable_benchmark,
    visible_batch,
)
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark, Draft, Task
from leaderboard.models.submissions import Source
from leaderboard.submissions.batches.page import batch_page, batch_steps
from leaderboard.submissions.checks import MISSING_WORDS, check_rows
from leaderboard.submissions.corrections import HoldsNoMoreError, correctable
from leaderboard.submissions.drafts import draft_lines, make_draft
from leaderboard.submissions.forms import CorrectionForm, SubmissionForm
from leaderboard.submissions.lifecycle import confirm_draft
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.preview.table import TablePreview, preview_table
from leaderboard.submissions.problems import (
    NewSystemError,
    StalePreviewError,
    SubmissionError,
)
from leaderboard.submissions.queries import batch_naming, scored_files, submission_to_repeat, submitted_scores
from leaderboard.submissions.quotas import takes_predictions_alone, terms_of, why_not_now
from ranking_engine.files.problems import InputError

NUMBER = re.compile(r"[0-9]{1,9}")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest, key: str) -> HttpResponse:
    """One system's scores by form; a valid one becomes a draft and is previewed."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "submissions/closed.html", context, status=403)
    if takes_predictions_alone(audience):
        return redirect("new_predictions", key)
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group"))
    is_merging = benchmark.replacement == Benchmark.Replacement.TASK
    initial = None
    if request.method != "POST" and (number := request.GET.get("again")):
        again = submission_to_repeat(audience, number)
        if again is None:
            raise Http404(gettext(NO_SUBMISSION))
        initial = SubmissionForm.initial_of(again)
    form = SubmissionForm(
        request.POST or None,
        initial=initial,
        tasks=tasks,
        fields=benchmark.fields_of_systems,
        is_merging=is_merging,
    )
    errors: list[str] = []
    if request.method == "POST":
        draft, errors = _drafted(form, audience, Source.FORM)
        if draft is not None:
            return redirect("draft", draft.uuid)
    status = 400 if request.method == "POST" else 200
    context = {"benchmark": benchmark, "form": form, "errors": errors, "missing_words": list(MISSING_WORDS),
               "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "submissions/submit.html", context, status=status)


def _drafted(form: SubmissionForm, audience: Audience, source: str) -> tuple[Draft | None, list[str]]:
    """The draft of what was typed; None where anything is wrong with it, which the form then says all at once.

    Returns:
        The draft, and what is wrong and belongs to no field.
    """
    is_valid = form.is_valid()
    if not form.is_bound:  # nothing was sent, or nothing that can be read
        return None, []
    try:
        if is_valid:
            return make_draft(audience, [form.raw_row()], source=source, note=form.cleaned_data["note"]), []
        check_rows(audience, [form.raw_row()])
    except InputError as error:
        return None, form.take_problems(error.problems)
    return None, []


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def draft(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What a draft would change; confirming it submits, discarding it forgets."""
    viewer = signed_in(request)
    waiting = draft_to_confirm(viewer, uuid)
    if waiting is None and (made := batch_of_draft(viewer, uuid)):  # a second click, or a way back
        return redirect("batch", made.uuid)
    is_discarded = request.POST.get("action") == "discard"
    # Who confirms is looked up once, under the lock of the benchmark.
    if waiting is not None and request.method == "POST" and not is_discarded:
        previewed = request.POST.get("previewed_number", "")
        try:
            batch = confirm_draft(
                waiting,
                actor=signed_in(request),
                previewed_number=int(previewed) if NUMBER.fullmatch(previewed) else -1,
                creates_systems=request.POST.get("create_system") == "1",
            )
        except StalePreviewError:
            return _preview(request, *own_draft(request.user, waiting.uuid), is_stale=True)  # as the board is now
        except NewSystemError as error:
            messages.error(request, str(error))
            return _preview(request, *own_draft(request.user, waiting.uuid))
        except SubmissionError as error:
            messages.error(request, str(error))
            is_kept = Draft.objects.filter(pk=waiting.pk, owner=viewer).exists()
            return redirect("draft", uuid) if is_kept else redirect("board", waiting.benchmark.key)
        return redirect("batch", batch.uuid)
    row, audience = own_draft(viewer, uuid)
    if request.method != "POST":
        return _preview(request, row, audience)
    row.delete()
    messages.info(request, gettext("The draft was discarded; nothing was submitted."))
    return redirect("board", row.benchmark.key)


def _preview(request: HttpRequest, row: Draft, audience: Audience, *, is_stale: bool = False) -> HttpResponse:
    is_table = row.source in (Source.CSV, Source.IMPORTER)
    corrects = row.rows[0].get("corrects", "")
    status = 409 if is_stale else 200
    why_not = why_not_now([audience], len(row.rows))[row.benchmark_id]
    corrected = batch_naming(UUID(corrects))[0] if corrects else ""
    try:
        preview = preview_table(row, audience) if is_table else preview_draft(row, audience)
    except InputError as error:
        lines, n_more = draft_lines(row)
        context = {"benchmark": row.benchmark, "draft": row, "problems": error.problems.lines, "lines": lines,
                   "n_more": n_more, "corrects": corrected, "is_table": is_table, "why_not": why_not}  # fmt: skip
        return render(request, "submissions/draft_invalid.html", context, status=status)
    if isinstance(preview, TablePreview):
        context = {"benchmark": row.benchmark, "draft": row, "preview": preview, "stale": is_stale, "why_not": why_not}
        return render(request, "submissions/draft_table.html", context, status=status)
    context = {
        "benchmark": row.benchmark,
        "draft": {
            "uuid": row.uuid,
            "expires_at": row.expires_at,
            "system_name": preview.system_name,
            "is_new_system": preview.is_new_system,
            "rows": preview.rows,
            "corrects": corrected,
            "note": row.note,
            "previewed_number": preview.revision_number,
        },
        "near_misses": preview.near_misses,
        "effects": preview.effects,
        "summary": preview.summary,
        "is_hidden": preview.is_hidden,
        "too_large": preview.too_large,
        "other_submitter": preview.other_submitter,
        "stale": is_stale,
        "why_not": why_not,
    }
    return render(request, "submissions/draft.html", context, status=status)


@require_safe
def batch(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The state of a submission, and what came of it."""
    row, audience = visible_batch(request.user, uuid)
    more = {"steps": batch_steps(audience, row), "scored_files": scored_files(row),
            "submitted": submitted_scores(audience, row)}  # fmt: skip
    context = {"page": batch_page(row, audience)} | _links(row.benchmark, uuid) | more
    return render(request, "submissions/batch.html", context)


@require_safe
def batch_progress(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The part of the page that is asked for again every second."""
    row, audience = visible_batch(request.user, uuid)
    context = {"page": batch_page(row, audience)} | _links(row.benchmark, uuid)
    response = render(request, "submissions/_batch_progress.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _links(benchmark: Benchmark, uuid: UUID) -> dict[str, object]:
    return {
        "benchmark": benchmark,
        "poll_url": reverse("batch_progress", args=[uuid]),
        "board_url": reverse("board", args=[benchmark.key]),
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def correct(request: HttpRequest, key: str, uuid: UUID) -> HttpResponse:
    """New scores in place of those of one submission; valid ones become a draft and are previewed."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    viewer = signed_in(request)
    try:
        corrected = correctable(audience, str(uuid))
    except HoldsNoMoreError as error:
        message = gettext("This cannot be corrected: %(error)s.") % {"error": error}
        if error.holder is not None:
            address = reverse("batch", args=[error.holder.batch.uuid])
            message = format_html(
                gettext(
                    "This is no longer on the board: it was withdrawn, corrected or replaced. Correct "
                    '<a href="{}">the current one</a>.'
                ),
                address,
            )
        messages.error(request, message)
        return redirect("batch", batch_naming(uuid)[0])
    except ValueError as error:
        raise Http404(gettext("There is no submission here that you can correct.")) from error
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group"))
    is_merging = benchmark.replacement == Benchmark.Replacement.TASK and not corrected.is_blank
    form = CorrectionForm(request.POST or None, tasks=tasks, corrected=corrected, is_merging=is_merging)
    errors: list[str] = []
    if request.method == "POST":
        draft, errors = _drafted(form, audience, Source.CORRECTION)
        if draft is not None:
            return redirect("draft", draft.uuid)
    context = {"benchmark": benchmark, "form": form, "errors": errors, "corrected": corrected,
               "missing_words": list(MISSING_WORDS),
               "terms": terms_of(benchmark, viewer, limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "submissions/submit.html", context, status=400 if request.method == "POST" else 200)
