"""Batches of votes that no one decided on until the moment that their senders were told."""

from django.utils import timezone

from leaderboard.common.moments import moment_in_words
from leaderboard.models import VoteBatch
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.lifecycle import reject_votes

BATCHES_A_SWEEP = 100


def reject_overdue_votes() -> int:
    """Reject what is overdue where the owners chose so; elsewhere it stays in the queue.

    Any number of sweepers is harmless: a batch is rejected once.

    Returns:
        How many batches were rejected.
    """
    overdue = VoteBatch.objects.filter(
        state=VoteBatch.State.PENDING, decide_by__lt=timezone.now(), benchmark__rejects_overdue=True
    )
    n_rejected = 0
    for batch in overdue.defer("votes").order_by("pk")[:BATCHES_A_SWEEP]:
        due = moment_in_words(batch.decide_by) if batch.decide_by else ""
        try:
            reject_votes(batch, actor=None, reason=f"No moderator decided by {due}. You can send the votes again.")
        except SubmissionError:  # decided since it was read
            continue
        n_rejected += 1
    return n_rejected
