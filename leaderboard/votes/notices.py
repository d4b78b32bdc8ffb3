"""Notices about batches of votes: decisions to their senders, what waits to those who decide."""

from django.urls import reverse

from leaderboard.common.language.sentences import Sentence
from leaderboard.models import Membership, NoticeKind, User, VoteBatch, VoteEvent
from leaderboard.notifications.notices import tell
from leaderboard.submissions.notices import MODERATORS

OUTCOMES = {
    VoteEvent.Kind.ACCEPTED: Sentence(
        "Your batch of %(n)s vote for %(benchmark)s was accepted.",
        "Your batch of %(n)s votes for %(benchmark)s was accepted.",
    ),
    VoteEvent.Kind.REJECTED: Sentence(
        "Your batch of %(n)s vote for %(benchmark)s was rejected.",
        "Your batch of %(n)s votes for %(benchmark)s was rejected.",
    ),
    VoteEvent.Kind.WITHDRAWN: Sentence(
        "Your batch of %(n)s vote for %(benchmark)s was withdrawn.",
        "Your batch of %(n)s votes for %(benchmark)s was withdrawn.",
    ),
    VoteEvent.Kind.REINSTATED: Sentence(
        "Your batch of %(n)s vote for %(benchmark)s counts again.",
        "Your batch of %(n)s votes for %(benchmark)s counts again.",
    ),
}
# What the site itself did, because no one decided in time.
UNDECIDED = Sentence(
    "Your batch of %(n)s vote for %(benchmark)s was rejected. Reason: No moderator decided by %(due)s. You can send "
    "the votes again.",
    "Your batch of %(n)s votes for %(benchmark)s was rejected. Reason: No moderator decided by %(due)s. You can send "
    "the votes again.",
)


def tell_of_decision(batch: VoteBatch, kind: VoteEvent.Kind, *, actor: User | None, reason: str) -> None:
    """Tell the sender of a batch what someone else did to it.

    Args:
        batch: with its benchmark.
        kind: what happened.
        actor: who did it; None for the site itself.
        reason: why.
    """
    if actor is not None and actor.pk == batch.uploader_id:
        return
    sentence = OUTCOMES[kind].of(n=batch.n_votes, benchmark=batch.benchmark.name)
    if actor is None and batch.decide_by and kind == VoteEvent.Kind.REJECTED:
        sentence = UNDECIDED.of(n=batch.n_votes, benchmark=batch.benchmark.name, due=batch.decide_by)
        reason = ""
    tell(
        [batch.uploader_id],
        NoticeKind.DECISION,
        key=f"votes {batch.pk} {batch.state} {batch.events.count()}",
        sentence=sentence,
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
        sentence=Sentence(
            "A batch of %(n)s vote for %(benchmark)s needs a decision.",
            "A batch of %(n)s votes for %(benchmark)s needs a decision.",
        ).of(n=batch.n_votes, benchmark=batch.benchmark.name),
        path=reverse("vote_batch", args=[batch.uuid]),
        benchmark=batch.benchmark,
    )
