"""Submissions that nobody decided on until the moment that their submitters were told."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from leaderboard.common.moments import moment_in_words
from leaderboard.models import Batch, Submission, SubmissionEvent
from leaderboard.submissions.lifecycle import reject_batch
from leaderboard.submissions.notices import tell_of_events
from leaderboard.submissions.problems import SubmissionError

BATCHES_A_SWEEP = 100
State, Kind = Submission.State, SubmissionEvent.Kind


def escalate_overdue() -> int:
    """Mark what is overdue, so that moderators and the submitter see it; reject it where the owners chose so.

    Any number of sweepers is harmless: a submission is marked once.

    Returns:
        How many batches became overdue.
    """
    overdue = Batch.objects.filter(decide_by__lt=timezone.now(), submissions__state=State.PENDING)
    unescalated = overdue.exclude(submissions__events__kind=Kind.OVERDUE).select_related("benchmark").distinct()
    return sum(
        _escalate(batch, batch.decide_by) for batch in unescalated.order_by("pk")[:BATCHES_A_SWEEP] if batch.decide_by
    )


@transaction.atomic
def _escalate(batch: Batch, due: datetime) -> bool:
    reason = f"Nobody decided until {moment_in_words(due)}."
    if batch.benchmark.rejects_overdue:
        try:
            with transaction.atomic():
                reject_batch(batch, actor=None, reason=f"{reason} You can submit it again.")
        except SubmissionError:  # decided since it was read
            return False
        return True
    rows = list(batch.submissions.select_related("system"))
    # Nothing changes, and whoever decides at the same moment waits or is seen.
    if Submission.objects.filter(batch=batch, state=State.PENDING).update(state=State.PENDING) != len(rows):
        return False
    events = [SubmissionEvent(submission=row, kind=Kind.OVERDUE, reason=reason) for row in rows]
    SubmissionEvent.objects.bulk_create(events, ignore_conflicts=True)
    tell_of_events(rows, Kind.OVERDUE, actor=None, reason=reason)
    return True
