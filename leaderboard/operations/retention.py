"""What is deleted for good once it is old: by the sweep, a slice a minute, or all at once by `manage.py prune`.

Scores, events, revisions, releases and the audit never are. `old_ranks` says which earlier revisions keep their ranks.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from leaderboard.accounts.further_addresses import date_unconfirmed, old_unconfirmed
from leaderboard.models import (
    ApiToken,
    AttemptCount,
    BenchmarkDraft,
    CellCount,
    Draft,
    Invitation,
    Job,
    Notice,
    OrganisationInvitation,
    OutboxMessage,
    PredictionCount,
    RetentionState,
    StudyPartial,
    SubmissionCount,
    TeamInvitation,
    VoteBatch,
)
from leaderboard.rankings.old_ranks import RANKS_KIND, count_old_ranks, remove_old_ranks
from leaderboard.submissions.quotas import TOTAL, day_of

SLICE = 500  # rows of one kind that one transaction deletes, and one pass of the sweep
PASS_SECONDS = 60  # from the end of one pass until the next
LONGEST_PASS = timedelta(minutes=10)  # anyone who began a pass and has not ended it after so long was killed
PARTIAL_DAYS = 7


@dataclass(frozen=True)
class OldRows:
    """One kind of rows that go once they are old."""

    name: str
    description: str
    rows: Callable[[], QuerySet]  # those that are old by now


def _before(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def _jobs() -> QuerySet:
    """Jobs of revisions that are not the published one, long ended. Those of the published one say where it is."""
    ended = Job.objects.filter(finished_at__lt=_before(settings.KEEP_DAYS))
    over = ended.exclude(state__in=[Job.State.WAITING, Job.State.RUNNING])
    return over.filter(Q(benchmark=None) | Q(sequence__lt=F("benchmark__published_number")))


def _partials() -> QuerySet:
    """What chunks found of studies that were given up, or that no one put together for a week."""
    given_up = Job.objects.filter(
        kind=OuterRef("job__kind"),
        subject_kind=OuterRef("job__subject_kind"),
        subject_id=OuterRef("job__subject_id"),
        parameter_hash=OuterRef("job__parameter_hash"),
        engine_version=OuterRef("job__engine_version"),
        state__in=[Job.State.SUPERSEDED, Job.State.FAILED],
    )
    return StudyPartial.objects.filter(Q(Exists(given_up)) | Q(created_at__lt=_before(PARTIAL_DAYS)))


def _messages() -> QuerySet:
    ended = OutboxMessage.objects.exclude(state=OutboxMessage.State.WAITING)
    return ended.filter(finished_at__lt=_before(settings.KEEP_MESSAGES_DAYS))


def _notices() -> QuerySet:
    """Old notices, read or not, mailed or not: no mail goes out about one that is some days old."""
    return Notice.objects.filter(created_at__lt=_before(settings.KEEP_NOTICES_DAYS))


def _sessions() -> QuerySet:
    return Session.objects.filter(expire_date__lt=timezone.now())


def _listed_sessions() -> QuerySet:
    return UserSession.objects.exclude(session_key__in=Session.objects.values("session_key"))


def _day_counts(model: type[SubmissionCount] | type[CellCount] | type[PredictionCount]) -> QuerySet:
    """Counts of days long past; how many in all stays."""
    day = day_of(timezone.now() - timedelta(days=settings.KEEP_DAYS))
    return model.objects.exclude(period=TOTAL).filter(period__lt=day)


# Partials go before their jobs, and listed sessions after the sessions.
OLD_ROWS = (
    OldRows("partials", gettext_noop("partial results of studies that will not be completed"), _partials),
    OldRows("jobs", gettext_noop("ended jobs of revisions before the published one"), _jobs),
    OldRows("drafts", gettext_noop("drafts of submissions that were not confirmed"),
            lambda: Draft.objects.filter(expires_at__lt=timezone.now())),
    OldRows("vote drafts", gettext_noop("votes that were not confirmed"),
            lambda: VoteBatch.objects.filter(state=VoteBatch.State.DRAFT, expires_at__lt=timezone.now())),
    OldRows("benchmark drafts", gettext_noop("drafts of benchmarks that were not confirmed"),
            lambda: BenchmarkDraft.objects.filter(expires_at__lt=timezone.now())),
    OldRows("sessions", gettext_noop("sessions that ended"), _sessions),
    OldRows("listed sessions", gettext_noop("browsers in people's lists whose session ended"), _listed_sessions),
    OldRows("attempts", gettext_noop("expired counts of failed attempts"),
            lambda: AttemptCount.objects.filter(ends_at__lt=timezone.now())),
    OldRows("unconfirmed addresses", gettext_noop("further email addresses that were not confirmed"), old_unconfirmed),
    OldRows("tokens", gettext_noop("API tokens that expired"),
            lambda: ApiToken.objects.filter(expiry__lt=_before(settings.KEEP_DAYS))),
    OldRows("invitations", gettext_noop("invitations that expired"),
            lambda: Invitation.objects.filter(expires_at__lt=_before(settings.KEEP_DAYS))),
    OldRows("organisation invitations", gettext_noop("invitations to organisations that expired"),
            lambda: OrganisationInvitation.objects.filter(expires_at__lt=_before(settings.KEEP_DAYS))),
    OldRows("counts", gettext_noop("counts of daily caps"), lambda: _day_counts(SubmissionCount)),
    OldRows("cell counts", gettext_noop("counts of scores that were stored on a day"), lambda: _day_counts(CellCount)),
    OldRows("prediction counts", gettext_noop("counts of predictions on a day"), lambda: _day_counts(PredictionCount)),
    OldRows("team invitations", gettext_noop("invitations to teams that expired"),
            lambda: TeamInvitation.objects.filter(expires_at__lt=timezone.now())),
    OldRows("messages", gettext_noop("emails and webhook deliveries that were sent or abandoned"), _messages),
    OldRows("notices", gettext_noop("notices"), _notices),
)  # fmt: skip
DESCRIPTIONS = {kind.name: kind.description for kind in OLD_ROWS} | {
    RANKS_KIND: gettext_noop("reports of earlier revisions' ranks and studies")
}


def remove_slice(kind: OldRows, most: int = SLICE) -> int:
    """Delete up to `most` old rows of a kind, the oldest first, in a transaction of its own; returns how many."""
    rows = kind.rows()
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[:most])
    if not keys:  # a DELETE, even of no row, is a writer's turn on SQLite
        return 0
    with transaction.atomic():
        rows.filter(pk__in=keys).delete()  # what became young again meanwhile stays
    return len(keys)


def count_old() -> dict[str, int]:
    """How many rows of each kind are old by now; nothing is deleted."""
    return {kind.name: kind.rows().count() for kind in OLD_ROWS} | {RANKS_KIND: count_old_ranks()}


def remove_all_old() -> dict[str, int]:
    """Delete everything that is old, slice by slice; how many rows of each kind."""
    removed: Counter[str] = Counter()
    date_unconfirmed(SLICE)
    for kind in OLD_ROWS:
        while n_removed := remove_slice(kind):
            removed[kind.name] += n_removed
    at = 0
    while True:
        n_removed, at = remove_old_ranks(at)
        removed[RANKS_KIND] += n_removed
        if not at:
            break
    _note(removed)
    return dict(removed)


def retain() -> dict[str, int] | None:
    """One pass: up to `SLICE` rows of each kind. None where it is not due, or another sweep is at it."""
    state, _ = RetentionState.objects.get_or_create(pk=1, defaults={"due_at": timezone.now()})
    now = timezone.now()
    is_due = Q(due_at__lte=now) | Q(due_at__gt=now + LONGEST_PASS)  # further ahead than anyone sets it
    if not RetentionState.objects.filter(is_due, pk=1, due_at=state.due_at).update(due_at=now + LONGEST_PASS):
        return None
    date_unconfirmed(SLICE)
    removed = Counter({kind.name: remove_slice(kind) for kind in OLD_ROWS})
    removed[RANKS_KIND], at = remove_old_ranks(state.benchmark_id)
    _note(removed, benchmark_id=at)
    return dict(removed)


def _note(removed: Counter[str], **fields: object) -> None:
    """Keep what was deleted, and when the next pass is due."""
    now = timezone.now()
    state, _ = RetentionState.objects.get_or_create(pk=1, defaults={"due_at": now})
    in_all = Counter(state.removed_in_all) + removed
    RetentionState.objects.filter(pk=1).update(
        ended_at=now, due_at=now + timedelta(seconds=PASS_SECONDS), removed=+removed, removed_in_all=in_all, **fields
    )
