"""Submitters take their accepted scores off the board, or ask for it, as the owners set."""

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.access.locks import lock_as_moderator, lock_benchmark
from leaderboard.access.waiting import open_requests
from leaderboard.models import Benchmark, Submission, SubmissionEvent, User
from leaderboard.submissions.lifecycle import withdraw_submission
from leaderboard.submissions.notices import tell_of_events, tell_of_request
from leaderboard.submissions.problems import SubmissionError, require_reason

State, Kind = Submission.State, SubmissionEvent.Kind
SHOWN_REQUESTS = 100


def withdraws_alone(benchmark: Benchmark) -> bool:
    """Whether submitters withdraw their scores and votes themselves; else they ask.

    A board that takes no submissions any more changes by its owners and moderators alone.
    """
    is_closed = benchmark.is_archived or benchmark.submission_policy == Benchmark.SubmissionPolicy.CLOSED
    is_past = benchmark.deadline is not None and benchmark.deadline <= timezone.now()
    return benchmark.submitters_withdraw and not is_closed and not is_past


@transaction.atomic
def withdraw_own(audience: Audience, submission: Submission, *, reason: str) -> bool:
    """Withdraw the user's own accepted scores, or ask the moderators for it; whether they are withdrawn.

    Args:
        audience: who withdraws, and from where.
        submission: with its batch and benchmark.
        reason: why; the history keeps it.

    Raises:
        PermissionDenied: someone else submitted it.
        SubmissionError: it is not accepted now, no reason is given, or it was asked for already.
    """
    actor = audience.user
    if submission.batch.uploader_id != actor.pk:
        raise PermissionDenied(gettext("Someone else sent this submission."))
    # Under the lock, which keeps what it says true: the owners may change it at this moment.
    if withdraws_alone(lock_benchmark(submission.benchmark_id)):
        withdraw_submission(submission, actor=actor, reason=reason, is_own=True)
        return True
    require_reason(reason, gettext("Give a reason: the moderators decide by it."))
    if not Submission.objects.filter(pk=submission.pk, state=State.ACCEPTED).exists():
        raise SubmissionError(gettext("This submission is not on the board."))
    if requested([submission]):
        raise SubmissionError(gettext("You have asked for this already; the moderators have not decided yet."))
    SubmissionEvent.objects.create(submission=submission, kind=Kind.ASKED, actor=actor, reason=reason)
    tell_of_request(submission, author=actor, reason=reason)
    return False


@transaction.atomic
def cancel_request(audience: Audience, submission: Submission) -> None:
    """Take back the user's own request to withdraw accepted scores: they stay on the board.

    Raises:
        PermissionDenied: someone else submitted it.
        SubmissionError: there is no open request: the moderators have decided, perhaps at this moment.
    """
    actor = audience.user
    if submission.batch.uploader_id != actor.pk:
        raise PermissionDenied(gettext("Someone else sent this submission."))
    lock_benchmark(submission.benchmark_id)
    if not requested([submission]):
        raise SubmissionError(gettext("There is no open request to withdraw these scores."))
    SubmissionEvent.objects.create(submission=submission, kind=Kind.CANCELLED, actor=actor)


@transaction.atomic
def decline_withdrawal(submission: Submission, *, actor: User, reason: str) -> None:
    """Leave scores on the board whose submitter asked to have them withdrawn.

    Raises:
        PermissionDenied: `actor` does not decide here any more.
        SubmissionError: there is no open request, or no reason is given.
    """
    lock_as_moderator(submission.benchmark_id, actor)
    require_reason(reason, gettext("Give a reason: the submitter sees it."))
    if not requested([submission]):
        raise SubmissionError(gettext("There is no open request to withdraw these scores."))
    SubmissionEvent.objects.create(submission=submission, kind=Kind.KEPT, actor=actor, reason=reason)
    tell_of_events([submission], Kind.KEPT, actor=actor, reason=reason)


def requests_at(benchmark: Benchmark) -> list[Submission]:
    """The submissions of a benchmark whose submitters ask to have them withdrawn, the first of many."""
    ids = open_requests().filter(submission__benchmark=benchmark).values("submission")
    rows = Submission.objects.filter(pk__in=ids).select_related("system", "batch")
    return list(rows.order_by("pk")[:SHOWN_REQUESTS])


def requested(submissions: Iterable[Submission]) -> dict[int, SubmissionEvent]:
    """The open requests to withdraw some submissions, by the id of the submission; those of older ones first."""
    ids = [submission.pk for submission in submissions]
    events = open_requests().filter(submission__in=ids).order_by("submission_id")
    events = events.select_related("actor", "submission__system", "submission__batch")
    return {event.submission_id: event for event in events}
