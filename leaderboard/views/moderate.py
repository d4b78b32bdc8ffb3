"""Deciding about submissions: the queue, one submission with what it would change, and steps back."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.forms.texts import sent_lines
from leaderboard.models import Batch, Benchmark, Submission
from leaderboard.selectors.audience import audience, moderated_benchmark, undecided_batch, visible_batch
from leaderboard.services.moderation import decide, look_at, queue
from leaderboard.services.people import PeopleError, ban
from leaderboard.services.submission_errors import SubmissionError
from leaderboard.services.submissions import reinstate_submission, retract_batch, withdraw_submission
from leaderboard.views.people import signed_in

MOST_AT_ONCE = 100
REASON_LENGTH = 1000
ACCEPT, REJECT, REJECT_AND_BAN = "accept", "reject", "ban"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_queue(request: HttpRequest, key: str) -> HttpResponse:
    """What waits, with what is unusual about it; several are decided together."""
    benchmark, found = moderated_benchmark(request.user, key)
    if request.method == "POST":
        return _decide(request, benchmark, _chosen(request, benchmark))
    waiting, n_waiting = queue(benchmark)
    context = {"benchmark": benchmark, "audience": found, "here": "queue", "waiting": waiting, "n_waiting": n_waiting}
    return render(request, "leaderboard/manage_queue.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_decide(request: HttpRequest, key: str, uuid: UUID) -> HttpResponse:
    """One submission that waits: its scores, and which ranks it would change under which rule."""
    benchmark, found = moderated_benchmark(request.user, key)
    batch = undecided_batch(benchmark, uuid)
    if request.method == "POST":
        return _decide(request, benchmark, [batch])
    context = {"benchmark": benchmark, "audience": found, "here": "queue", "decision": look_at(batch)}
    return render(request, "leaderboard/manage_decide.html", context)


def _chosen(request: HttpRequest, benchmark: Benchmark) -> list[Batch]:
    """The batches that were ticked, oldest first."""
    try:
        numbers = [UUID(text) for text in request.POST.getlist("batch")[:MOST_AT_ONCE]]
    except ValueError as error:
        raise BadRequest("This is not the number of a submission.") from error
    return list(Batch.objects.filter(benchmark=benchmark, uuid__in=numbers).order_by("pk"))


def _decide(request: HttpRequest, benchmark: Benchmark, batches: list[Batch]) -> HttpResponse:
    action, reason = request.POST.get("action", ""), sent_lines(request, "reason", REASON_LENGTH)
    if action not in {ACCEPT, REJECT, REJECT_AND_BAN}:
        raise BadRequest("Accept or reject.")
    if not batches:
        messages.info(request, "Nothing was chosen.")
    elif action != ACCEPT and not reason:
        messages.error(request, "Say why: the submitter reads it.")
        return redirect(request.path)
    else:
        _carry_out(request, benchmark, batches, action, reason)
    return redirect("manage_queue", benchmark.key)


def _carry_out(request: HttpRequest, benchmark: Benchmark, batches: list[Batch], action: str, reason: str) -> None:
    actor = signed_in(request)
    n_decided, refused = decide(batches, actor=actor, accepts=action == ACCEPT, reason=reason)
    if n_decided:
        done = "accepted" if action == ACCEPT else "rejected"
        messages.success(request, f"{n_decided} submission{'' if n_decided == 1 else 's'} {done}.")
    for text in refused[:5]:
        messages.error(request, text)
    if action == REJECT_AND_BAN:
        try:
            for batch in batches:
                ban(benchmark, batch.uploader, author=actor, reason=reason)
        except PeopleError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "Nothing more of its submitter is taken here.")


@login_required
@require_POST
def batch_step(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Take one's own submission back before it is on the board; withdraw or reinstate one that is, as a moderator."""
    batch = visible_batch(request.user, uuid)
    actor, action = signed_in(request), request.POST.get("action", "")
    reason = sent_lines(request, "reason", REASON_LENGTH)
    try:
        if action == "retract":
            retract_batch(batch, actor=actor, reason=reason)
        elif action in {"withdraw", "reinstate"}:
            _turn(batch, request, action, reason)
        else:
            raise BadRequest("There is no such step.")
    except SubmissionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Done.")
    return redirect("batch", uuid)


def _turn(batch: Batch, request: HttpRequest, action: str, reason: str) -> None:
    if not audience(request.user, batch.benchmark).may_moderate:
        raise PermissionDenied("Only the moderators and owners of a benchmark withdraw scores.")
    if not reason:
        raise SubmissionError("Say why: the history keeps it.")
    step = withdraw_submission if action == "withdraw" else reinstate_submission
    step(_submission(batch, request.POST.get("submission", "")), actor=signed_in(request), reason=reason)


def _submission(batch: Batch, number: str) -> Submission:
    """The submission of the batch that a form names; the only one where it names none."""
    rows = list(batch.submissions.select_related("system", "benchmark"))
    found = [row for row in rows if str(row.uuid) == number] if number else rows
    if len(found) != 1:
        raise Http404("No submission of this number stands here.")
    return found[0]
