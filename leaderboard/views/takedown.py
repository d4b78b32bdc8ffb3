"""Taking scores down: what it would do, and doing it."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.forms.erasure import TakedownForm
from leaderboard.selectors.audience import erasable_submission
from leaderboard.services.submission_errors import SubmissionError
from leaderboard.services.takedowns import take_down, takedown_effects
from leaderboard.views.people import signed_in


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def takedown(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Delete the scores of one submission, with a reason."""
    viewer = signed_in(request)
    submission = erasable_submission(viewer, uuid)
    form = TakedownForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            revision = take_down(submission, actor=viewer, reason=data["reason"], with_note=data["with_note"])
        except SubmissionError as error:
            form.add_error(None, str(error))
        else:
            board = f" Revision {revision.number} is being computed without them." if revision else ""
            messages.success(request, f"The scores of {submission.system.name} are deleted.{board}")
            return redirect("board", submission.benchmark.key)
    context = {"benchmark": submission.benchmark, "submission": submission, "form": form,
               "effects": takedown_effects(submission)}  # fmt: skip
    return render(request, "leaderboard/takedown.html", context, status=400 if form.errors else 200)
