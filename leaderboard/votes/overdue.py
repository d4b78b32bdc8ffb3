"""Batches of votes that no one decided on until the moment that their senders were told."""

from django.utils import timezone

from leaderboard.common.language.sentences import Sentence
from leaderboard.common.language.stored import in_english
from leaderboard.models import VoteBatch
from leaderboard.submissions.problems import SubmissionError
from leaderboard.votes.lifecycle import reject_votes

BATCHES_A_SWEEP = 100
OVERDUE = Sentence("No moderator decided by %(due)s. You can send the votes again.")


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
        try:
            reject_votes(batch, actor=None, reason=in_english(OVERDUE.of(due=batch.decide_by or "")))
        except SubmissionError:  # decided since it was read
            continue
        n_rejected += 1
    return n_rejected
