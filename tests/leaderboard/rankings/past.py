"""Benchmarks with revisions of long ago."""

from datetime import UTC, datetime, timedelta

from django.db import transaction

from leaderboard.common.append_only import append_only_permit
from leaderboard.models import Benchmark, Publication, Report, Revision
from tests.factories import Factory


def at(benchmark: Benchmark, number: int, moment: datetime) -> None:
    """Let a revision have been accepted, computed and published then."""
    revision = Revision.objects.filter(benchmark=benchmark, number=number)
    Report.objects.filter(revision__in=revision).update(created_at=moment)
    with transaction.atomic(), append_only_permit("the time goes by"):
        revision.update(created_at=moment)
        Publication.objects.filter(revision__in=revision).update(published_at=moment)


def days_ago(days: float) -> datetime:
    """So many days before noon of today, in UTC."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=days)


def with_past(make: Factory, *moments: datetime) -> Benchmark:
    """A benchmark with a published revision of each of these moments."""
    benchmark = make.published({"A": [1.0, 3.0, 2.0], "B": [2.0, 1.0, 3.0]})
    for number in range(2, len(moments) + 1):
        make.accepted(benchmark, {f"S{number}": [number / 2, 3.0 - number, 1.5]})
        benchmark = make.publish(benchmark)
    for number, moment in enumerate(moments, 1):
        at(benchmark, number, moment)
    return benchmark


def long_past(make: Factory) -> Benchmark:
    """Six revisions of long ago, of which the third, fourth and fifth are neither first, newest nor a month's last."""
    month = datetime(2020, 5, 3, 12, tzinfo=UTC)
    return with_past(make, *(month + timedelta(days=day) for day in range(6)))


def numbers_without_ranks(benchmark: Benchmark) -> list[int]:
    rows = benchmark.revisions.exclude(ranks_removed_at=None).order_by("number")
    return list(rows.values_list("number", flat=True))
