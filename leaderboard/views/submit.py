"""Submitting: the form, the preview, and the way of a submission until its board is there."""

import re
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.forms import SubmissionForm
from leaderboard.models import Benchmark, Draft, Task, User
from leaderboard.models.submissions import Source
from leaderboard.selectors.audience import batch_of_draft, own_draft, readable_benchmark, visible_batch
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.batch_page import batch_page, batch_steps
from leaderboard.services.drafts import DraftError, make_draft
from leaderboard.services.preview import preview_draft
from leaderboard.services.quotas import terms_of
from leaderboard.services.submission_errors import NewSystemError, StalePreviewError, SubmissionError
from leaderboard.services.submissions import confirm_draft
from leaderboard.services.table_preview import TablePreview, preview_table
from leaderboard.services.upload_checks import MISSING_WORDS
from leaderboard.views.people import signed_in

NUMBER = re.compile(r"[0-9]{1,9}")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest, key: str) -> HttpResponse:
    """One system's scores by form; a valid one becomes a draft and is previewed."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    if not audience.may_submit:
        context = {"benchmark": benchmark, "why": audience.why_closed}
        return render(request, "leaderboard/closed.html", context, status=403)
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group"))
    form = SubmissionForm(request.POST or None, tasks=tasks)
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            note = form.cleaned_data["note"]
            found = make_draft(benchmark, signed_in(request), [form.raw_row()], source=Source.FORM, note=note)
        except DraftError as error:
            errors = form.take_problems(error.problems)
        else:
            return redirect("draft", found.uuid)
    status = 400 if request.method == "POST" else 200
    context = {"benchmark": benchmark, "form": form, "errors": errors, "missing_words": list(MISSING_WORDS),
               "terms": terms_of(benchmark, signed_in(request), limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "leaderboard/submit.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def draft(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What a draft would change; confirming it submits, discarding it forgets."""
    viewer = signed_in(request)
    if made := batch_of_draft(viewer, uuid):  # a second click, or a way back: it is confirmed already
        return redirect("batch", made.uuid)
    found = own_draft(viewer, uuid)
    if request.method != "POST":
        return _preview(request, found)
    if request.POST.get("action") == "discard":
        found.delete()
        messages.info(request, "The draft is discarded; nothing was submitted.")
        return redirect("board", found.benchmark.key)
    return _confirm(request, viewer, found)


def _confirm(request: HttpRequest, viewer: User, found: Draft) -> HttpResponse:
    previewed = request.POST.get("previewed_number", "")
    try:
        batch = confirm_draft(
            found,
            actor=viewer,
            previewed_number=int(previewed) if NUMBER.fullmatch(previewed) else -1,
            creates_systems=request.POST.get("create_system") == "1",
        )
    except StalePreviewError:
        return _preview(request, found, is_stale=True)
    except NewSystemError as error:
        messages.error(request, str(error))
        return _preview(request, found)
    except SubmissionError as error:
        messages.error(request, str(error))
        return redirect("board", found.benchmark.key)
    return redirect("batch", batch.uuid)


def _preview(request: HttpRequest, found: Draft, *, is_stale: bool = False) -> HttpResponse:
    is_table = found.source in (Source.CSV, Source.IMPORTER)
    corrects = found.rows[0].get("corrects", "")
    try:
        preview = preview_table(found) if is_table else preview_draft(found)
    except DraftError as error:
        messages.error(request, error.in_words)
        if corrects:
            return redirect("batch", batch_naming(UUID(corrects))[0])
        return redirect("upload" if is_table else "submit", found.benchmark.key)
    status = 409 if is_stale else 200
    if isinstance(preview, TablePreview):
        context = {"benchmark": found.benchmark, "draft": found, "preview": preview, "stale": is_stale}
        return render(request, "leaderboard/draft_table.html", context, status=status)
    context = {
        "benchmark": found.benchmark,
        "draft": {
            "uuid": found.uuid,
            "expires_at": found.expires_at,
            "system_name": preview.system_name,
            "is_new_system": preview.is_new_system,
            "rows": preview.rows,
            "corrects": batch_naming(UUID(corrects))[0] if corrects else "",
            "note": found.note,
            "previewed_number": preview.revision_number,
        },
        "near_misses": preview.near_misses,
        "effects": preview.effects,
        "summary": preview.summary,
        "is_hidden": preview.is_hidden,
        "too_large": preview.too_large,
        "stale": is_stale,
    }
    return render(request, "leaderboard/draft.html", context, status=status)


@require_safe
def batch(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Where a submission stands, and what came of it."""
    found = visible_batch(request.user, uuid)
    context = batch_page(found) | _links(found.benchmark, uuid) | {"steps": batch_steps(request.user, found)}
    return render(request, "leaderboard/batch.html", context)


@require_safe
def batch_progress(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """The part of the page that is asked for again every second."""
    found = visible_batch(request.user, uuid)
    context = batch_page(found) | _links(found.benchmark, uuid)
    response = render(request, "leaderboard/_batch_progress.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _links(benchmark: Benchmark, uuid: UUID) -> dict[str, object]:
    return {
        "benchmark": benchmark,
        "poll_url": reverse("batch_progress", args=[uuid]),
        "board_url": reverse("board", args=[benchmark.key]),
    }
