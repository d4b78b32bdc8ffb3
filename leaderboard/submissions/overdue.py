"""Submissions that no one decided on until the moment that their submitters were told."""

from django.db import transaction
from django.utils import timezone

from leaderboard.common.language.sentences import Sentence
from leaderboard.common.language.stored import in_english
from leaderboard.models import Batch, Submission, SubmissionEvent
from leaderboard.submissions.lifecycle import reject_batch
from leaderboard.submissions.notices import tell_of_events
from leaderboard.submissions.problems import SubmissionError

BATCHES_A_SWEEP = 100
OVERDUE = Sentence("No moderator decided by %(due)s.")
REJECTED = Sentence("No moderator decided by %(due)s. You can submit it again.")
State, Kind = Submission.State, SubmissionEvent.Kind


def escalate_overdue() -> int:
    """Mark what is overdue, so that moderators and the submitter see it; reject it where the owners chose so.

    Any number of sweepers is harmless: a submission is marked once.

    Returns:
        How many batches became overdue.
    """
    overdue = Batch.objects.filter(decide_by__lt=timezone.now(), submissions__state=State.PENDING)
    unescalated = overdue.exclude(submissions__events__kind=Kind.OVERDUE).select_related("benchmark").distinct()
    n_escalated = 0
    for batch in unescalated.order_by("pk")[:BATCHES_A_SWEEP]:
        due = batch.decide_by or ""
        reason = in_english(OVERDUE.of(due=due))
        with transaction.atomic():
            if batch.benchmark.rejects_overdue:
                try:
                    with transaction.atomic():
                        reject_batch(batch, actor=None, reason=in_english(REJECTED.of(due=due)))
                except SubmissionError:  # decided since it was read
                    continue
            else:
                rows = list(batch.submissions.select_related("system"))
                # Nothing changes, and anyone who decides at the same moment waits or is seen.
                if Submission.objects.filter(batch=batch, state=State.PENDING).update(state=State.PENDING) != len(rows):
                    continue
                events = [SubmissionEvent(submission=row, kind=Kind.OVERDUE, reason=reason) for row in rows]
                SubmissionEvent.objects.bulk_create(events, ignore_conflicts=True)
                tell_of_events(rows, Kind.OVERDUE, actor=None, reason=reason)
        n_escalated += 1
    return n_escalated
