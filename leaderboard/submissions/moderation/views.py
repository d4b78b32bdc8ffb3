"""Deciding about submissions: the queue, one submission with what it would change, and steps back."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.access.audience import (
    batch_to_decide,
    erasable_submission,
    moderated_batch,
    moderated_benchmark,
    visible_batch,
)
from leaderboard.accounts.people import PeopleError
from leaderboard.common.form_fields import REASON_LENGTH, sent_lines
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark, VoteBatch
from leaderboard.submissions.forms import TakedownForm
from leaderboard.submissions.lifecycle import reinstate_submission, retract_batch, withdraw_submission
from leaderboard.submissions.moderation.decisions import (
    MAX_AT_ONCE,
    Verdict,
    decide,
    n_approved,
    named_batches,
    queue_page,
    review,
)
from leaderboard.submissions.moderation.outcomes import decided_sentence, is_decided, title_of
from leaderboard.submissions.moderation.takedowns import take_down, takedown_effects
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.queries import lone_submission
from leaderboard.submissions.withdrawals import cancel_request, decline_withdrawal, requested, requests_at, withdraw_own

# What is done to a submission that is or was on the board, and what became of it.
STEPS = {
    "withdraw": gettext_lazy("%(system)s was withdrawn."),
    "reinstate": gettext_lazy("%(system)s is back on the board."),
    "keep": gettext_lazy("%(system)s stays on the board; its submitter reads your reason."),
    "cancel": gettext_lazy("You cancelled your request. %(system)s stays on the board."),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_queue(request: HttpRequest, key: str) -> HttpResponse:
    """What waits, with what is unusual about it; several are decided together."""
    benchmark, audience = moderated_benchmark(request.user, key)
    refusal, ids = "", list[UUID]()
    if request.method == "POST":
        try:
            ids = [UUID(text) for text in request.POST.getlist("batch")[: MAX_AT_ONCE + 1]]
        except ValueError as error:
            raise BadRequest(gettext("This is not the ID of a submission.")) from error
        if len(ids) > MAX_AT_ONCE:
            raise BadRequest(
                gettext("You can decide on at most %(max_at_once)s submissions at once.") % {"max_at_once": MAX_AT_ONCE}
            )
        try:
            return _decide(request, benchmark, ids)
        except (SubmissionError, PeopleError) as error:
            refusal = str(error)
    waiting, page = queue_page(benchmark, request.GET.get("page"))
    n_later = n_approved(benchmark)
    context = {
        "benchmark": benchmark,
        "audience": audience,
        "here": "queue",
        "waiting": waiting,
        "n_waiting": page.paginator.count - n_later,
        "n_approved": n_later,
        "pages": page_links(page),
        "refusal": refusal,
        "selected": ids,
        "requests": requested(requests_at(benchmark)).values(),
        "votes": VoteBatch.objects.filter(benchmark=benchmark, state=VoteBatch.State.PENDING)
        .defer("votes")
        .select_related("uploader")
        .order_by("pk")[:MAX_AT_ONCE],
    }
    return render(request, "submissions/moderation/manage_queue.html", context, status=400 if refusal else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_decide(request: HttpRequest, key: str, uuid: UUID) -> HttpResponse:
    """One submission that waits: its scores, and which ranks it would change under which rule."""
    benchmark, audience = moderated_benchmark(request.user, key)
    refusal = ""
    if request.method == "POST":
        try:
            return _decide(request, benchmark, [uuid])
        except (SubmissionError, PeopleError) as error:
            refusal = str(error)
    batch = batch_to_decide(benchmark, uuid)
    if is_decided(batch):  # by another moderator, or its submitter, since the mail with the link went out
        messages.info(request, decided_sentence(batch))
        return redirect("batch", uuid)
    decision = review(batch)
    context = {"benchmark": benchmark, "audience": audience, "here": "queue", "decision": decision, "refusal": refusal}
    return render(request, "submissions/moderation/manage_decide.html", context, status=400 if refusal else 200)


def _decide(request: HttpRequest, benchmark: Benchmark, numbers: list[UUID]) -> HttpResponse:
    action, reason = request.POST.get("action", ""), sent_lines(request, "reason", REASON_LENGTH)
    if action not in list(Verdict):
        raise BadRequest(gettext("Choose accept or reject."))
    if not numbers:
        messages.info(request, gettext("You did not select a submission."))
        return redirect("manage_queue", benchmark.key)
    batches, unknown = named_batches(benchmark, numbers)
    result = decide(batches, action, actor=signed_in(request), reason=reason)
    n_now, n_later = result.n_decided - result.n_approved, result.n_approved
    if n_now == 1 and len(batches) == 1:
        done = gettext("The submission of %(systems)s was rejected.")
        if action == Verdict.ACCEPT:
            done = gettext("The submission of %(systems)s was accepted.")
        messages.success(request, done % {"systems": title_of(batches[0])})
    elif n_now:
        done = ngettext("%(n)s submission rejected.", "%(n)s submissions rejected.", n_now)
        if action == Verdict.ACCEPT:
            done = ngettext("%(n)s submission accepted.", "%(n)s submissions accepted.", n_now)
        messages.success(request, done % {"n": n_now})
    if n_later:
        done = ngettext(
            "%(n)s submission approved; it joins the board when the embargo ends.",
            "%(n)s submissions approved; they join the board when the embargo ends.",
            n_later,
        )
        messages.success(request, done % {"n": n_later})
    for text in [*result.refused, *unknown][:5]:
        messages.error(request, text)
    if result.has_banned:
        messages.success(request, gettext("Its submitter is banned from this benchmark."))
    return redirect("manage_queue", benchmark.key)


@login_required
@require_POST
def batch_step(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Withdraw a submission that is pending or on the board, or ask for it; moderators reinstate, too."""
    batch, audience = visible_batch(request.user, uuid)
    actor, action = signed_in(request), request.POST.get("action", "")
    reason = sent_lines(request, "reason", REASON_LENGTH)
    try:
        if action == "retract":
            retract_batch(batch, actor=actor, reason=reason)
            done = gettext("Your submission was withdrawn.")
        elif action in STEPS:
            is_own = batch.uploader_id == actor.pk and action in ("withdraw", "cancel")
            batch = batch if is_own and not audience.may_moderate else moderated_batch(request.user, uuid)
            # The submission of the batch that a form names; the only one where it names none.
            chosen_id = request.POST.get("submission", "")
            rows = batch.submissions.select_related("system", "benchmark")
            chosen = next((row for row in rows if str(row.uuid) == chosen_id), None) if chosen_id else None
            if chosen_id and chosen is None:
                raise Http404(gettext("There is no submission with this ID here."))
            submission = lone_submission(batch, chosen)
            done = str(STEPS[action]) % {"system": submission.shown_name}
            if action == "cancel":
                cancel_request(audience, submission)
            elif audience.may_moderate:
                steps = {
                    "withdraw": withdraw_submission, "reinstate": reinstate_submission, "keep": decline_withdrawal
                }  # fmt: skip
                steps[action](submission, actor=actor, reason=reason)
            elif not withdraw_own(audience, submission, reason=reason):
                done = gettext("The moderators were asked to withdraw %(shown_name)s.") % {
                    "shown_name": submission.shown_name
                }
        else:
            raise BadRequest(gettext("There is no such step."))
    except SubmissionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
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
            done = gettext("The scores of %(system)s were deleted.")
            if revision:
                done = gettext(
                    "The scores of %(system)s were deleted. Revision %(number)s is being computed without them."
                )
            values = {"system": submission.system.name, "number": revision.number if revision else 0}
            messages.success(request, done % values)
            return redirect("board", submission.benchmark.key)
    context = {"benchmark": submission.benchmark, "submission": submission, "form": form,
               "effects": takedown_effects(submission)}  # fmt: skip
    return render(request, "submissions/moderation/takedown.html", context, status=400 if form.errors else 200)
