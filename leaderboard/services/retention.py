"""What is deleted for good once it is old: `manage.py prune`. Scores, events, revisions and boards never are."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from leaderboard.models import ApiToken, CellCount, Invitation, Job, SubmissionCount
from leaderboard.services.quotas import TOTAL, day_of

LEAST_DAYS = 7


@dataclass(frozen=True)
class Retained:
    """One kind of rows that go once they are old."""

    name: str
    told: str
    old: Callable[[int], QuerySet]  # those older than so many days


def _jobs(days: int) -> QuerySet:
    """Jobs of revisions that are not the published one, long ended. Those of the published one say where it stands."""
    ended = Job.objects.filter(finished_at__lt=timezone.now() - timedelta(days=days))
    over = ended.exclude(state__in=[Job.State.WAITING, Job.State.RUNNING])
    return over.filter(Q(benchmark=None) | Q(sequence__lt=F("benchmark__published_number")))


def _sessions(days: int) -> QuerySet:
    return Session.objects.filter(expire_date__lt=timezone.now())


def _tokens(days: int) -> QuerySet:
    return ApiToken.objects.filter(expiry__lt=timezone.now() - timedelta(days=days))


def _invitations(days: int) -> QuerySet:
    return Invitation.objects.filter(expires_at__lt=timezone.now() - timedelta(days=days))


def _counts(days: int) -> QuerySet:
    """Caps a day of days long past; the caps in all stay."""
    return SubmissionCount.objects.exclude(period=TOTAL).filter(period__lt=_day(days))


def _cell_counts(days: int) -> QuerySet:
    """How many scores were stored on days long past; how many in all stays."""
    return CellCount.objects.exclude(period=TOTAL).filter(period__lt=_day(days))


def _day(days: int) -> str:
    return day_of(timezone.now() - timedelta(days=days))


RETAINED = (
    Retained("jobs", "ended jobs of revisions before the published one", _jobs),
    Retained("sessions", "sessions that ended, whatever their age", _sessions),
    Retained("tokens", "API tokens that expired", _tokens),
    Retained("invitations", "invitations that expired", _invitations),
    Retained("counts", "counts of daily caps", _counts),
    Retained("cell counts", "counts of scores that were stored on a day", _cell_counts),
)


def prune(days: int, *, is_trial: bool) -> dict[str, int]:
    """Delete what is older than so many days, each kind in a transaction of its own; how many rows of each.

    Args:
        days: at least `LEAST_DAYS`.
        is_trial: only count.

    Raises:
        ValueError: so young things are still needed.
    """
    if days < LEAST_DAYS:
        raise ValueError(f"{days} days are too few; keep at least {LEAST_DAYS}")
    found = {}
    for kind in RETAINED:
        with transaction.atomic():
            rows = kind.old(days)
            found[kind.name] = rows.count()
            if not is_trial:
                rows.delete()
    return found
