"""What changed since a date: in a week, in a month, since someone's last visit.

A visit is known of people who are signed in and look at a board: the site keeps one date for each of them and each
board. Nothing is kept of anyone else, who is offered the week and the month alone.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import ngettext

from leaderboard.access.audience import Viewer
from leaderboard.common.language.numbers import localise
from leaderboard.common.locks import without_waiting
from leaderboard.models import Benchmark, Revision, SystemChange, Visit
from leaderboard.rankings.revisions import whole_revisions

PERIODS = {"week": timedelta(days=7), "month": timedelta(days=30)}
VISIT = "visit"
VISIT_GAP = timedelta(hours=1)  # without a look at the board a visit ends
LOOK_GAP = timedelta(minutes=5)  # looks that follow one another faster are not stored each


def note_visit(viewer: Viewer, benchmark: Benchmark) -> datetime | None:
    """Store that someone who is signed in looks at a board.

    Nothing is stored where others are writing, or where the database stores nothing now: the page does without.

    Returns:
        When they last looked before this visit; None where they never did, or are not signed in.
    """
    if not viewer.is_authenticated:
        return None
    now = timezone.now()
    visit = Visit.objects.filter(user=viewer.pk, benchmark=benchmark).first()
    if visit is not None and now - visit.at <= LOOK_GAP:
        return visit.before
    is_new = visit is not None and now - visit.at > VISIT_GAP
    with suppress(DatabaseError), without_waiting():
        if visit is None:
            Visit.objects.bulk_create([Visit(user_id=viewer.pk, benchmark=benchmark, at=now)], ignore_conflicts=True)
        elif is_new:
            Visit.objects.filter(pk=visit.pk, at=visit.at).update(before=visit.at, at=now)
        else:
            Visit.objects.filter(pk=visit.pk).update(at=now)
    if visit is None:
        return None
    return visit.at if is_new else visit.before


def last_visit(viewer: Viewer, benchmark: Benchmark) -> datetime | None:
    """When someone last looked at a board before the present visit; None where they never did, or are not signed in."""
    if not viewer.is_authenticated:
        return None
    visit = Visit.objects.filter(user=viewer.pk, benchmark=benchmark).first()
    if visit is None:
        return None
    return visit.at if timezone.now() - visit.at > VISIT_GAP else visit.before


def start_of(since: str, viewer: Viewer, benchmark: Benchmark) -> datetime | None:
    """The moment since which changes are told.

    Args:
        since: `week`, `month` or `visit`.
        viewer: whose last visit it is.
        benchmark: which they visited.

    Returns:
        None where `since` is none of these, or there was no visit.
    """
    if since == VISIT:
        return last_visit(viewer, benchmark)
    return timezone.now() - PERIODS[since] if since in PERIODS else None


def revision_then(benchmark: Benchmark, moment: datetime) -> int | None:
    """The number of the newest revision at a moment, of those that can be compared; the first where there was none yet.

    Args:
        benchmark: whose revision.
        moment: at which.
    """
    whole = whole_revisions(benchmark)
    then = whole.filter(created_at__lte=moment).values_list("number", flat=True).first()
    return then or whole.order_by("number").values_list("number", flat=True).first()


@dataclass(frozen=True)
class RecentChanges:
    """How many systems came and went on one board since a date."""

    n_joined: int
    n_left: int

    @property
    def text(self) -> str:
        """The counts in words: `2 systems joined, 1 left`."""
        joined = ngettext("%(n)s system joined", "%(n)s systems joined", self.n_joined)
        left = ngettext("%(n)s system left", "%(n)s systems left", self.n_left)
        counts = [(self.n_joined, joined), (self.n_left, left)]
        return ", ".join(text % {"n": localise(n, ",")} for n, text in counts if n)


def recent_changes(benchmarks: Collection[int], since: datetime) -> dict[int, RecentChanges]:
    """How many systems came and went since a moment, by the id of the benchmark: one query.

    Of revisions with a board alone: neither those that are still computed nor those that were taken down.

    Args:
        benchmarks: their ids; those alone of which the reader sees every system.
        since: the moment.
    """
    with_boards = Revision.objects.filter(
        benchmark__in=benchmarks,
        created_at__gt=since,
        number__lte=F("benchmark__published_number"),
        withdrawn_at=None,
    )
    rows = SystemChange.objects.filter(revision__in=with_boards)
    kinds = SystemChange.Kind
    counts = (
        rows.order_by()
        .values("revision__benchmark")
        .annotate(n_joined=Count("pk", filter=Q(kind=kinds.JOINED)), n_left=Count("pk", filter=Q(kind=kinds.LEFT)))
    )
    return {row["revision__benchmark"]: RecentChanges(row["n_joined"], row["n_left"]) for row in counts}
