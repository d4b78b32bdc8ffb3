"""Times that lie further ahead than the site writes them: a clock was wrong when they were written, and was set right.

Without this a job, an email or a fetch that was put off under a clock a month ahead would wait for that month, and so
would everyone whom a limit keeps out. Each field has a bound of its own: the longest time that the site itself puts
ahead. What lies beyond it is brought back.

Moments that people chose, or were told, stay as they are: deadlines, embargoes, phases, when something was submitted.
"""

import logging
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.accounts import people
from leaderboard.accounts.organisations import members
from leaderboard.evaluation import teams
from leaderboard.models import (
    ApiToken,
    AttemptCount,
    Experiment,
    Fetch,
    FollowedAddress,
    Invitation,
    Job,
    LastBackup,
    NoticeDigest,
    OrganisationInvitation,
    OutboxMessage,
    TeamInvitation,
    Turn,
    Visit,
    Webhook,
)
from leaderboard.notifications.outbox import longest_attempt, longest_pause
from leaderboard.queue.heartbeats import SKEW
from leaderboard.queue.jobs import LONGEST_BACKOFF
from leaderboard.queue.kinds import STUDIES_QUIET_MOST
from leaderboard.submissions.following import rounds

logger = logging.getLogger(__name__)
NO_TIME = timedelta(0)


class TimeField(NamedTuple):
    """A field that decides when something happens.

    Attributes:
        rows: whose field it is.
        name: of the field.
        longest: how far ahead of a right clock the site sets it at most.
        becomes: how far ahead it is set where it was beyond that.
    """

    rows: QuerySet
    name: str
    longest: timedelta = NO_TIME
    becomes: timedelta = NO_TIME


def time_fields() -> list[TimeField]:
    """Every field whose time, far ahead, would keep something waiting or going until then."""
    waiting, running = (Job.objects.filter(state=state) for state in (Job.State.WAITING, Job.State.RUNNING))
    lease = timedelta(seconds=settings.JOB_LEASE_SECONDS)
    rest = timedelta(seconds=max(LONGEST_BACKOFF, STUDIES_QUIET_MOST))
    # In whatever state: the index that has the queue begins with it.
    scorings = Job.objects.filter(state__in=Job.State.values, queue=Job.Queue.SCORING)
    unsent = OutboxMessage.objects.filter(state=OutboxMessage.State.WAITING)
    claimed, free = unsent.exclude(claim_token=None), unsent.filter(claim_token=None)
    # A mail whose server was away has no attempt that counts, but an error.
    untried = Q(attempts=0, last_error="")
    active = FollowedAddress.objects.filter(is_active=True)
    invitations = (
        (Invitation, people.INVITATION_DAYS),
        (OrganisationInvitation, members.INVITATION_DAYS),
        (TeamInvitation, teams.INVITATION_DAYS),
    )
    session = timedelta(seconds=settings.SESSION_COOKIE_AGE)
    return [
        TimeField(waiting, "not_before", rest),
        TimeField(waiting, "woken_at"),
        TimeField(running, "lease_until", lease, lease),
        # These two say whose turn is next, and for how long a benchmark has had no study.
        TimeField(scorings, "started_at"),
        TimeField(Job.objects.all(), "finished_at"),
        *(TimeField(Turn.objects.all(), name) for name in ("board_at", "parts_at", "study_at", "wanted_at")),
        TimeField(free.filter(untried), "not_before"),
        *(TimeField(claimed.filter(kind=kind), "not_before", longest_attempt(kind)) for kind in OutboxMessage.Kind),
        TimeField(free.exclude(untried), "not_before", longest_pause()),
        TimeField(NoticeDigest.objects.all(), "sent_at"),
        *(
            TimeField(active.filter(n_failures=0, every_minutes=every), "next_at", rounds.longest_rest(every))
            for every in FollowedAddress.Every.values
        ),
        TimeField(active.filter(n_failures__gt=0), "next_at", rounds.longest_rest()),
        TimeField(Fetch.objects.all(), "at"),  # a minute between two, and so many changes a day
        *(TimeField(model.objects.all(), "failing_since") for model in (FollowedAddress, Webhook)),
        TimeField(Webhook.objects.all(), "renewed_at"),
        *(
            TimeField(AttemptCount.objects.filter(kind=kind), "ends_at", window, window)
            for kind, limits in settings.ATTEMPTS.items()
            for window in [timedelta(seconds=max(seconds for _, seconds in limits.values()))]
        ),
        TimeField(Experiment.objects.all(), "requested_at"),
        *(TimeField(Visit.objects.all(), name) for name in ("at", "before")),
        TimeField(ApiToken.objects.all(), "last_used_at"),
        TimeField(LastBackup.objects.all(), "made_at"),
        *(
            TimeField(model.objects.all(), "expires_at", days, days)
            for model, n_days in invitations
            for days in [timedelta(days=n_days)]
        ),
        TimeField(Session.objects.all(), "expire_date", session, session),
    ]


def mend_future_times() -> int:
    """Bring back what lies further ahead than the site sets it. Any number of sweepers is harmless.

    A worker that lives renews its lease whatever is done to it here, and a message that is just being sent may be sent
    once more.

    Returns:
        How many rows were changed.
    """
    now = timezone.now()
    changed: dict[str, int] = {}  # rows, by model and field
    for field in time_fields():
        ahead = field.rows.filter(**{f"{field.name}__gt": now + field.longest + SKEW})
        if ahead.exists():  # an UPDATE, even of no row, is a writer's turn on SQLite
            name = f"{field.rows.model.__name__}.{field.name}"
            changed[name] = changed.get(name, 0) + ahead.update(**{field.name: now + field.becomes})
    if changed:
        what = ", ".join(f"{name} of {n_rows} rows" for name, n_rows in changed.items())
        logger.warning("a clock was wrong; what was further ahead than the site sets it was brought back: %s", what)
    return sum(changed.values())
