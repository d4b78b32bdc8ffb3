"""Correcting scores: the form of a submission, filled with those that hold now."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from leaderboard.forms import CorrectionForm
from leaderboard.models import Task
from leaderboard.models.submissions import Source
from leaderboard.selectors.audience import readable_benchmark
from leaderboard.selectors.submissions import batch_naming
from leaderboard.services.corrections import HoldsNoMoreError, correctable
from leaderboard.services.drafts import DraftError, make_draft
from leaderboard.services.quotas import terms_of
from leaderboard.services.upload_checks import MISSING_WORDS
from leaderboard.views.people import signed_in


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def correct(request: HttpRequest, key: str, uuid: UUID) -> HttpResponse:
    """New scores in place of those of one submission; valid ones become a draft and are previewed."""
    benchmark, audience = readable_benchmark(request.user, key, restricted=True)
    viewer = signed_in(request)
    try:
        corrected = correctable(viewer, benchmark, str(uuid))
    except HoldsNoMoreError as error:
        messages.error(request, _refusal(error))
        return redirect("batch", batch_naming(uuid)[0])
    except ValueError as error:
        raise Http404("No submission stands here that you may correct.") from error
    tasks = list(Task.objects.filter(benchmark=benchmark, is_archived=False).select_related("group"))
    form = CorrectionForm(request.POST or None, tasks=tasks, corrected=corrected)
    errors: list[str] = []
    if request.method == "POST" and form.is_valid():
        try:
            note = form.cleaned_data["note"]
            found = make_draft(benchmark, viewer, [form.raw_row()], source=Source.CORRECTION, note=note)
        except DraftError as error:
            errors = form.take_problems(error.problems)
        else:
            return redirect("draft", found.uuid)
    context = {"benchmark": benchmark, "form": form, "errors": errors, "corrected": corrected,
               "missing_words": list(MISSING_WORDS),
               "terms": terms_of(benchmark, viewer, limited=not audience.may_moderate)}  # fmt: skip
    return render(request, "leaderboard/submit.html", context, status=400 if request.method == "POST" else 200)


def _refusal(error: HoldsNoMoreError) -> str:
    """Why there is nothing to correct here, with the way to where there is."""
    if error.holder is None:
        return f"This cannot be corrected: {error}."
    address = reverse("batch", args=[error.holder.batch.uuid])
    link = format_html('<a href="{}">the one that holds now</a>', address)
    return format_html("This holds no more: it was withdrawn, corrected or replaced. Correct {}.", link)
