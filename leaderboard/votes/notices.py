"""Notices about batches of votes: decisions to their senders, what waits to those who decide."""

from django.urls import reverse

from leaderboard.models import Membership, NoticeKind, User, VoteBatch
from leaderboard.notifications.notices import tell
from leaderboard.submissions.notices import MODERATORS


def tell_of_decision(batch: VoteBatch, what: str, *, actor: User | None, reason: str) -> None:
    """Tell the sender of a batch what someone else did to it.

    Args:
        batch: with its benchmark.
        what: happened, as the end of a sentence.
        actor: who did it.
        reason: why.
    """
    if actor is not None and actor.pk == batch.uploader_id:
        return
    tell(
        [batch.uploader_id],
        NoticeKind.DECISION,
        key=f"votes {batch.pk} {batch.state} {batch.events.count()}",
        text=f"Your batch of {batch.n_votes:,} votes for {batch.benchmark.name} {what}.",
        path=reverse("vote_batch", args=[batch.uuid]),
        benchmark=batch.benchmark,
        words=reason,
        author=actor,
    )


def tell_of_waiting(batch: VoteBatch) -> None:
    """Tell those who decide that a batch waits for them."""
    members = Membership.objects.filter(benchmark=batch.benchmark, role__in=MODERATORS).exclude(user=batch.uploader_id)
    tell(
        list(members.values_list("user_id", flat=True)),
        NoticeKind.WAITING,
        key=f"votes {batch.pk} waiting",
        text=f"A batch of {batch.n_votes:,} votes for {batch.benchmark.name} needs a decision.",
        path=reverse("vote_batch", args=[batch.uuid]),
        benchmark=batch.benchmark,
    )
