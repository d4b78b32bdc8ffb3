"""Notices about submissions: decisions to submitters, pending submissions to moderators."""

from collections.abc import Sequence

from django.urls import reverse

from leaderboard.common.language.sentences import Sentence, Value, listed
from leaderboard.common.text import shortened
from leaderboard.models import Batch, Membership, NoticeKind, Submission, User
from leaderboard.notifications.notices import settle, tell

# Of what happens to a submission, what its submitter hears of.
OUTCOMES = {
    "accepted": Sentence("Your submission of %(systems)s to %(benchmark)s was accepted."),
    "approved": Sentence(
        "Your submission of %(systems)s to %(benchmark)s was approved; it joins the board when the embargo ends."
    ),
    "rejected": Sentence("Your submission of %(systems)s to %(benchmark)s was rejected."),
    "withdrawn": Sentence("Your submission of %(systems)s to %(benchmark)s was taken off the board."),
    "reinstated": Sentence("Your submission of %(systems)s to %(benchmark)s is back on the board."),
    "overdue": Sentence(
        "Your submission of %(systems)s to %(benchmark)s is still waiting, although the decision is overdue."
    ),
    "taken_down": Sentence("Your submission of %(systems)s to %(benchmark)s was taken down."),
    "kept": Sentence(
        "Your submission of %(systems)s to %(benchmark)s stays on the board: your request to withdraw it was declined."
    ),
}
# What the site itself did, because no one decided in time.
UNDECIDED = {
    "rejected": Sentence(
        "Your submission of %(systems)s to %(benchmark)s was rejected. Reason: No moderator decided by %(due)s. You "
        "can submit it again."
    ),
    "overdue": Sentence(
        "Your submission of %(systems)s to %(benchmark)s is still waiting, although the decision is overdue. Reason: "
        "No moderator decided by %(due)s."
    ),
}
# What its moderators read of a submission in place of the request to decide about it, once that is done.
DECIDED = {
    "accepted": Sentence("A submission of %(systems)s to %(benchmark)s needed a decision and was accepted."),
    "approved": Sentence("A submission of %(systems)s to %(benchmark)s needed a decision and was approved."),
    "rejected": Sentence("A submission of %(systems)s to %(benchmark)s needed a decision and was rejected."),
    "retracted": Sentence("A submission of %(systems)s to %(benchmark)s was withdrawn by its submitter."),
}
ONCE = {"accepted", "approved", "rejected", "overdue"}  # and of the whole batch; the others may happen again
SHOWN_SYSTEMS = 5
MODERATORS = (Membership.Role.OWNER, Membership.Role.MODERATOR)


def tell_of_events(submissions: Sequence[Submission], kind: str, *, actor: User | None, reason: str) -> None:
    """Tell the submitter of what someone else did to some submissions of one batch.

    Moderators hear of what is overdue, too, and those whose scores an accepted submission corrects of that. The notice
    that wanted a decision from them says what was decided, and is read.
    """
    if not submissions:
        return
    batch, first = submissions[0].batch, submissions[0]
    # Moderators get a notice only of what has such a time. The submitter may have become one of them since.
    if kind in DECIDED and batch.decide_by is not None:
        settle(
            NoticeKind.WAITING,
            keys=[_waiting_key(batch), _overdue_key(batch)],
            sentence=DECIDED[kind].of(systems=_systems(submissions), benchmark=batch.benchmark.name),
            path=reverse("batch", args=[batch.uuid]),
            benchmark=batch.benchmark,
        )
    if kind not in OUTCOMES:
        return
    systems, benchmark = _systems(submissions), batch.benchmark.name
    if actor is None and batch.decide_by and kind in UNDECIDED:
        sentence, reason = UNDECIDED[kind].of(systems=systems, benchmark=benchmark, due=batch.decide_by), ""
    else:
        sentence = OUTCOMES[kind].of(systems=systems, benchmark=benchmark)
    key = f"batch {batch.pk} {kind}" if kind in ONCE else f"submission {first.pk} {kind} {first.events.count()}"
    path = reverse("batch", args=[batch.uuid])
    if actor is None or actor.pk != batch.uploader_id:
        tell(
            [batch.uploader_id],
            NoticeKind.DECISION,
            key=key,
            sentence=sentence,
            path=path,
            benchmark=batch.benchmark,
            words=reason,
            author=actor,
        )
    corrected: dict[int, list[Submission]] = {}  # by whose scores they correct
    for submission in submissions if kind == "accepted" else ():
        before, uploaders = submission.corrects, {batch.uploader_id}
        while before is not None:
            if before.batch.uploader_id not in uploaders:
                uploaders.add(before.batch.uploader_id)
                corrected.setdefault(before.batch.uploader_id, []).append(submission)
            before = before.corrects
    for uploader, theirs in corrected.items():
        tell(
            [uploader],
            NoticeKind.DECISION,
            key=f"batch {batch.pk} corrects",
            sentence=Sentence("Your scores of %(systems)s on %(benchmark)s were corrected.").of(
                systems=_systems(theirs), benchmark=benchmark
            ),
            path=path,
            benchmark=batch.benchmark,
            words=batch.note,
            author=actor,
        )
    if kind == "overdue":
        tell(
            _moderators(batch),
            NoticeKind.WAITING,
            key=_overdue_key(batch),
            sentence=Sentence("The submission of %(systems)s to %(benchmark)s is overdue.").of(
                systems=systems, benchmark=benchmark
            ),
            path=reverse("manage_decide", args=[batch.benchmark.key, batch.uuid]),
            benchmark=batch.benchmark,
        )


def tell_of_request(submission: Submission, *, author: User, reason: str) -> None:
    """Tell those who decide that a submitter asks to have scores withdrawn."""
    batch, n_events = submission.batch, submission.events.count()
    tell(
        _moderators(batch),
        NoticeKind.WAITING,
        key=f"submission {submission.pk} asked {n_events}",
        sentence=Sentence("The submitter of %(systems)s asks to withdraw it from %(benchmark)s.").of(
            systems=_systems([submission]), benchmark=submission.benchmark.name
        ),
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
        key=_waiting_key(batch),
        sentence=Sentence("A submission of %(systems)s to %(benchmark)s needs a decision.").of(
            systems=_systems(submissions), benchmark=batch.benchmark.name
        ),
        path=reverse("manage_decide", args=[batch.benchmark.key, batch.uuid]),
        benchmark=batch.benchmark,
    )


def _moderators(batch: Batch) -> list[int]:
    members = Membership.objects.filter(benchmark=batch.benchmark, role__in=MODERATORS)
    return list(members.exclude(user=batch.uploader_id).values_list("user_id", flat=True))


def _waiting_key(batch: Batch) -> str:
    return f"batch {batch.pk} waiting"


def _overdue_key(batch: Batch) -> str:
    return f"batch {batch.pk} overdue here"


def _systems(submissions: Sequence[Submission]) -> list[Value]:
    return listed([shortened(submission.shown_name) for submission in submissions], SHOWN_SYSTEMS)
