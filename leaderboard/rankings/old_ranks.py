"""Which earlier revisions keep their ranks, and how those of the others are removed.

Scores are never removed, so that a revision without ranks is what it was: the same inputs, under the same hash, from
which `ranks_again` computes the same ranks.
"""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from leaderboard.access.locks import lock_benchmark
from leaderboard.models import Benchmark, Publication, Release, Report, Revision
from leaderboard.rankings.reports import BOARD

RANKS_KIND = "ranks"
REVISIONS_A_PASS = 20
BENCHMARKS_A_PASS = 200  # looked through
PASS_SECONDS = 5.0  # after which a pass takes no further benchmark


def remove_old_ranks(after: int) -> tuple[int, int]:
    """Remove the old ranks of up to `REVISIONS_A_PASS` revisions, benchmark after benchmark.

    Args:
        after: the key of the benchmark with which the last pass ended; 0 begins with the first.

    Returns:
        How many reports were removed, and where the next pass goes on: 0 once all benchmarks were looked through.
    """
    if not settings.KEEP_RANKS_DAYS:
        return 0, 0
    n_removed, n_left, began = 0, REVISIONS_A_PASS, time.monotonic()
    rows = Benchmark.objects.filter(pk__gt=after, published_number__gt=settings.KEEP_NEWEST_RANKS).order_by("pk")
    keys = list(rows.values_list("pk", flat=True)[: BENCHMARKS_A_PASS + 1])
    for key in keys[:BENCHMARKS_A_PASS]:
        while revisions := old_revisions(key)[:n_left]:
            n_removed += _remove(key, revisions)
            n_left -= len(revisions)
            if not n_left or time.monotonic() - began > PASS_SECONDS:
                return n_removed, key - 1  # there may be more of this one
        after = key
    return n_removed, after if len(keys) > BENCHMARKS_A_PASS else 0


def count_old_ranks() -> int:
    """How many reports `remove_old_ranks` would remove in the end."""
    if not settings.KEEP_RANKS_DAYS:
        return 0
    large = Benchmark.objects.filter(published_number__gt=settings.KEEP_NEWEST_RANKS).order_by("pk")
    n_reports = 0
    for key in large.values_list("pk", flat=True).iterator():
        revisions = old_revisions(key)
        for at in range(0, len(revisions), 500):
            n_reports += Report.objects.filter(revision__in=revisions[at : at + 500]).count()
    return n_reports


def old_revisions(benchmark_id: int) -> list[int]:
    """The revisions of a benchmark whose ranks go, oldest first.

    Kept are those of the first published revision, the newest `KEEP_NEWEST_RANKS`, every frozen one, the one that
    people were last told of, all that were computed within `KEEP_RANKS_DAYS`, the last of each day within
    `KEEP_DAILY_RANKS_DAYS`, and the last of each month for ever. Days and months are those of UTC. A revision that was
    never published has no board that anyone could look at; whatever was computed of it goes with the others.
    """
    now = timezone.now()
    boards = Report.objects.filter(revision=OuterRef("pk"), kind=BOARD)
    own = Revision.objects.filter(benchmark=benchmark_id, ranks_removed_at=None)
    with_reports = own.filter(Exists(Report.objects.filter(revision=OuterRef("pk"))))
    rows = list(
        with_reports.annotate(has_board=Exists(boards), computed_at=Max("reports__created_at"))
        .order_by("number")
        .values_list("pk", "created_at", "computed_at", "has_board")
    )
    # The revisions that someone points at: published, told of, frozen; and the first that was published.
    benchmark = Benchmark.objects.select_related("publication", "noticed_publication").get(pk=benchmark_id)
    named = {row.revision_id for row in (benchmark.publication, benchmark.noticed_publication) if row}
    frozen = set(Release.objects.filter(benchmark=benchmark_id).values_list("revision_id", flat=True))
    published = Publication.objects.filter(benchmark=benchmark_id).order_by("revision__number")
    kept = named | frozen | set(published.values_list("revision_id", flat=True)[:1])
    boards_at = [(pk, created_at) for pk, created_at, _, has_board in rows if has_board]
    kept |= {pk for pk, _ in boards_at[-settings.KEEP_NEWEST_RANKS :]}
    kept |= _last_of(boards_at, "%Y-%m")
    daily = now - timedelta(days=settings.KEEP_DAILY_RANKS_DAYS)
    kept |= _last_of([(pk, at) for pk, at in boards_at if at >= daily], "%Y-%m-%d")
    young = now - timedelta(days=settings.KEEP_RANKS_DAYS)
    return [pk for pk, _, computed_at, _ in rows if pk not in kept and computed_at < young]


def _last_of(moments: Iterable[tuple[int, datetime]], span: str) -> set[int]:
    """The last of each span of time, as `strftime` writes it; `moments` are in the order of the revisions."""
    last = {at.strftime(span): pk for pk, at in moments}
    return set(last.values())


@transaction.atomic
def _remove(benchmark_id: int, revisions: list[int]) -> int:
    """Remove all reports of these revisions, unless one of them was frozen meanwhile; returns how many reports."""
    lock_benchmark(benchmark_id)  # anyone who freezes a revision locks it, too
    frozen = set(Release.objects.filter(revision__in=revisions).values_list("revision_id", flat=True))
    going = [pk for pk in revisions if pk not in frozen]
    with_board = Report.objects.filter(revision__in=going, kind=BOARD).values_list("revision_id", flat=True)
    Revision.objects.filter(pk__in=list(with_board)).update(ranks_removed_at=timezone.now())
    return Report.objects.filter(revision__in=going).delete()[0]
