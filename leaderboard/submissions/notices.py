"""Notices about submissions: decisions to submitters, pending submissions to moderators."""

from collections.abc import Sequence

from django.urls import reverse

from leaderboard.common.text import in_words, shortened
from leaderboard.models import Batch, Membership, NoticeKind, Submission, User
from leaderboard.notifications.notices import tell

# Of what happens to a submission, what its submitter hears of.
OUTCOMES = {
    "accepted": "was accepted",
    "approved": "was approved; it joins the board when the embargo ends",
    "rejected": "was rejected",
    "withdrawn": "was taken off the board",
    "reinstated": "is back on the board",
    "overdue": "is still waiting, although the decision is overdue",
    "taken_down": "was taken down",
    "kept": "stays on the board: your request to withdraw it was declined",
}
ONCE = {"accepted", "approved", "rejected", "overdue"}  # and of the whole batch; the others may happen again
SHOWN_SYSTEMS = 5
MODERATORS = (Membership.Role.OWNER, Membership.Role.MODERATOR)


def tell_of_events(submissions: Sequence[Submission], kind: str, *, actor: User | None, reason: str) -> None:
    """Tell the submitter of what someone else did to some submissions of one batch.

    Moderators hear of what is overdue, too.
    """
    if kind not in OUTCOMES or not submissions:
        return
    batch, first = submissions[0].batch, submissions[0]
    text = f"Your submission of {_systems(submissions)} to {batch.benchmark.name} {OUTCOMES[kind]}."
    key = f"batch {batch.pk} {kind}" if kind in ONCE else f"submission {first.pk} {kind} {first.events.count()}"
    path = reverse("batch", args=[batch.uuid])
    if actor is None or actor.pk != batch.uploader_id:
        tell(
            [batch.uploader_id],
            NoticeKind.DECISION,
            key=key,
            text=text,
            path=path,
            benchmark=batch.benchmark,
            words=reason,
            author=actor,
        )
    if kind == "overdue":
        text = f"The submission of {_systems(submissions)} to {batch.benchmark.name} is overdue."
        path = reverse("manage_decide", args=[batch.benchmark.key, batch.uuid])
        people = _moderators(batch)
        tell(people, NoticeKind.WAITING, key=f"{key} here", text=text, path=path, benchmark=batch.benchmark)


def tell_of_request(submission: Submission, *, author: User, reason: str) -> None:
    """Tell those who decide that a submitter asks to have scores withdrawn."""
    batch, n_events = submission.batch, submission.events.count()
    tell(
        _moderators(batch),
        NoticeKind.WAITING,
        key=f"submission {submission.pk} asked {n_events}",
        text=f"The submitter of {_systems([submission])} asks to withdraw it from {submission.benchmark.name}.",
        path=reverse("batch", args=[batch.uuid]),
        benchmark=submission.benchmark,
        words=reason,
        author=author,
    )


def tell_moderators(batch: Batch) -> None:
    """Tell those who decide that a submission waits for them."""
    submissions = list(batch.submissions.select_related("system"))
    tell(
        _moderators(batch),
        NoticeKind.WAITING,
        key=f"batch {batch.pk} waiting",
        text=f"A submission of {_systems(submissions)} to {batch.benchmark.name} needs a decision.",
        path=reverse("manage_decide", args=[batch.benchmark.key, batch.uuid]),
        benchmark=batch.benchmark,
    )


def _moderators(batch: Batch) -> list[int]:
    members = Membership.objects.filter(benchmark=batch.benchmark, role__in=MODERATORS)
    return list(members.exclude(user=batch.uploader_id).values_list("user_id", flat=True))


def _systems(submissions: Sequence[Submission]) -> str:
    return in_words([shortened(submission.shown_name) for submission in submissions], most=SHOWN_SYSTEMS)
