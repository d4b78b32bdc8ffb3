"""Which earlier revisions of benchmarks with different pasts keep their ranks."""

from datetime import UTC, datetime, timedelta

import pytest

from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.models import Report, Revision
from leaderboard.rankings import old_ranks
from leaderboard.rankings.old_ranks import count_old_ranks, old_revisions, remove_old_ranks
from tests.leaderboard.rankings.past import days_ago, long_past, numbers_without_ranks, with_past

pytestmark = pytest.mark.usefixtures("few_kept")


@pytest.fixture
def few_kept(settings):
    settings.KEEP_RANKS_DAYS, settings.KEEP_DAILY_RANKS_DAYS, settings.KEEP_NEWEST_RANKS = 30, 100, 2


def test_the_first_the_newest_the_frozen_the_young_and_the_last_of_each_day_and_month_keep_their_ranks(make):
    months = [datetime(2020, 5, day, hour, tzinfo=UTC) for day, hour in ((1, 1), (2, 1), (31, 22), (31, 23))]
    june = datetime(2020, 6, 1, 0, tzinfo=UTC)
    days = [days_ago(50) - timedelta(hours=2), days_ago(50), days_ago(40)]
    young = [days_ago(29), days_ago(29) + timedelta(minutes=1), days_ago(3), days_ago(2)]
    benchmark = with_past(make, *months, june, *days, *young)
    freeze_revision(benchmark, author=benchmark.memberships.get().user, number=2, name="2020")
    removed = {
        3: "another one of its month came after it",
        6: "another one of its day came after it",
    }
    numbers = Revision.objects.filter(pk__in=old_revisions(benchmark.pk)).values_list("number", flat=True)
    assert sorted(numbers) == list(removed)
    n_reports = Report.objects.filter(revision__number__in=removed).count()
    assert (count_old_ranks(), remove_old_ranks(0)) == (n_reports, (n_reports, 0))
    assert numbers_without_ranks(benchmark) == list(removed)
    assert Report.objects.filter(revision__number__in=removed).count() == 0
    kept = set(range(1, 13)) - removed.keys()
    assert set(Report.objects.filter(kind="board").values_list("revision__number", flat=True)) == kept
    assert (old_revisions(benchmark.pk), remove_old_ranks(0)) == ([], (0, 0)), "what is kept stays kept"


def test_when_the_daily_ones_are_over_the_last_of_the_month_stays(make, settings):
    benchmark = with_past(make, *(datetime(2020, 5, day, tzinfo=UTC) for day in (1, 2, 3, 4)), days_ago(1), days_ago(0))
    settings.KEEP_DAILY_RANKS_DAYS = 100_000
    assert old_revisions(benchmark.pk) == []
    settings.KEEP_DAILY_RANKS_DAYS = 100
    remove_old_ranks(0)
    assert numbers_without_ranks(benchmark) == [2, 3]


def test_a_pass_removes_a_bounded_number_of_revisions_and_goes_on_with_the_next_benchmark(make, monkeypatch):
    monkeypatch.setattr(old_ranks, "REVISIONS_A_PASS", 2)
    benchmarks = [long_past(make), long_past(make)]
    passes, after = [], 0
    for _ in range(4):
        _, after = remove_old_ranks(after)
        passes.append([len(numbers_without_ranks(benchmark)) for benchmark in benchmarks])
    assert (passes, after) == ([[2, 0], [3, 1], [3, 3], [3, 3]], 0)
