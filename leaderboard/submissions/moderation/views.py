"""Deciding about submissions: the queue, one submission with what it would change, and steps back."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.access.audience import (
    erasable_submission,
    moderated_benchmark,
    undecided_batch,
    visible_batch,
)
from leaderboard.common.form_fields import REASON_LENGTH, sent_lines
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.models import Batch, Benchmark
from leaderboard.submissions.forms import TakedownForm
from leaderboard.submissions.lifecycle import reinstate_submission, retract_batch, withdraw_submission
from leaderboard.submissions.moderation.decisions import Verdict, decide, queue_page, review
from leaderboard.submissions.moderation.takedowns import take_down, takedown_effects
from leaderboard.submissions.problems import SubmissionError

MAX_AT_ONCE = 100


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_queue(request: HttpRequest, key: str) -> HttpResponse:
    """What waits, with what is unusual about it; several are decided together."""
    benchmark, audience = moderated_benchmark(request.user, key)
    if request.method == "POST":
        # The batches that were ticked, oldest first.
        try:
            ids = [UUID(text) for text in request.POST.getlist("batch")[:MAX_AT_ONCE]]
        except ValueError as error:
            raise BadRequest("This is not the number of a submission.") from error
        batches = Batch.objects.filter(benchmark=benchmark, uuid__in=ids).order_by("pk")
        return _decide(request, benchmark, list(batches))
    waiting, page = queue_page(benchmark, request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "audience": audience,
        "here": "queue",
        "waiting": waiting,
        "n_waiting": page.paginator.count,
        "pages": page_links(page),
    }
    return render(request, "submissions/moderation/manage_queue.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_decide(request: HttpRequest, key: str, uuid: UUID) -> HttpResponse:
    """One submission that waits: its scores, and which ranks it would change under which rule."""
    benchmark, audience = moderated_benchmark(request.user, key)
    batch = undecided_batch(benchmark, uuid)
    if request.method == "POST":
        return _decide(request, benchmark, [batch])
    context = {"benchmark": benchmark, "audience": audience, "here": "queue", "decision": review(batch)}
    return render(request, "submissions/moderation/manage_decide.html", context)


def _decide(request: HttpRequest, benchmark: Benchmark, batches: list[Batch]) -> HttpResponse:
    action, reason = request.POST.get("action", ""), sent_lines(request, "reason", REASON_LENGTH)
    if action not in list(Verdict):
        raise BadRequest("Accept or reject.")
    if not batches:
        messages.info(request, "Nothing was chosen.")
    elif action != Verdict.ACCEPT and not reason:
        messages.error(request, "Say why: the submitter reads it.")
        return redirect(request.path)
    else:
        result = decide(batches, action, actor=signed_in(request), reason=reason)
        n = result.n_decided
        if n:
            done = "accepted" if action == Verdict.ACCEPT else "rejected"
            messages.success(request, f"{n} submission{'' if n == 1 else 's'} {done}.")
        for text in result.refused[:5]:
            messages.error(request, text)
        if result.why_not_banned:
            messages.error(request, result.why_not_banned)
        elif action == Verdict.REJECT_AND_BAN:
            messages.success(request, "Nothing more of its submitter is taken here.")
    return redirect("manage_queue", benchmark.key)


@login_required
@require_POST
def batch_step(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Take one's own submission back before it is on the board; withdraw or reinstate one that is, as a moderator."""
    batch, audience = visible_batch(request.user, uuid)
    actor, action = signed_in(request), request.POST.get("action", "")
    reason = sent_lines(request, "reason", REASON_LENGTH)
    try:
        if action == "retract":
            retract_batch(batch, actor=actor, reason=reason)
        elif action in {"withdraw", "reinstate"}:
            if not audience.may_moderate:
                raise PermissionDenied("Only the moderators and owners of a benchmark withdraw scores.")
            if not reason:
                messages.error(request, "Say why: the history keeps it.")
                return redirect("batch", uuid)
            step = withdraw_submission if action == "withdraw" else reinstate_submission
            # The submission of the batch that a form names; the only one where it names none.
            chosen_id = request.POST.get("submission", "")
            rows = list(batch.submissions.select_related("system", "benchmark"))
            chosen = [row for row in rows if str(row.uuid) == chosen_id] if chosen_id else rows
            if len(chosen) != 1:
                raise Http404("No submission of this number stands here.")
            step(chosen[0], actor=actor, reason=reason)
        else:
            raise BadRequest("There is no such step.")
    except SubmissionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Done.")
    return redirect("batch", uuid)


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
    return render(request, "submissions/moderation/takedown.html", context, status=400 if form.errors else 200)
