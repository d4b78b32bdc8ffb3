"""A real sweep deletes what is old, while the site goes on."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from leaderboard.common.append_only import append_only_permit
from leaderboard.models import AttemptCount, Benchmark, Job, Report, RetentionState, Revision, Score
from leaderboard.rankings.ranks_again import request_ranks

pytestmark = pytest.mark.services

KEPT = {"PLURANK_KEEP_NEWEST_RANKS": "2", "PLURANK_KEEP_RANKS_DAYS": "30", "PLURANK_KEEP_DAILY_RANKS_DAYS": "60"}


def without_ranks() -> set[int]:
    return set(Revision.objects.exclude(ranks_removed_at=None).values_list("number", flat=True))


def test_two_sweeps_delete_what_is_old_once_and_a_worker_brings_ranks_back(make_committed, site):
    benchmark = make_committed.published({"A": [1.0, 2.0], "B": [2.0, 1.0]})
    for number in range(2, 7):
        make_committed.accepted(benchmark, {f"S{number}": [number / 2, 1.5]})
        make_committed.publish(benchmark)
    long_ago = datetime(2020, 5, 3, tzinfo=UTC)
    Report.objects.update(created_at=long_ago)
    with transaction.atomic(), append_only_permit("the time goes by"):
        Revision.objects.update(created_at=long_ago)
    over = timezone.now() - timedelta(hours=1)
    AttemptCount.objects.bulk_create(AttemptCount(kind="login", whose=str(i), ends_at=over) for i in range(700))
    ranks = dict(Report.objects.filter(revision__number=3, kind="ranking").values_list("parameter_hash", "arrays"))
    scores = list(Score.objects.order_by("pk").values_list())
    site.environment |= KEPT
    site.start("sweep", "sweep2")
    site.wait_until(lambda: without_ranks() == {2, 3, 4}, 90, "the ranks of old revisions are removed")
    site.wait_until(lambda: RetentionState.objects.exclude(ended_at=None).exists(), 30, "the pass has ended")
    state = RetentionState.objects.get()
    assert (state.removed["attempts"], AttemptCount.objects.count()) == (500, 200), "one slice, by one of the two"
    assert state.removed["ranks"] == 3 * (1 + len(ranks))
    assert list(Score.objects.order_by("pk").values_list()) == scores
    site.start("studies")
    request_ranks(benchmark, 3)
    site.wait_until(lambda: without_ranks() == {2, 4}, 90, "the ranks are computed again")
    again = Report.objects.filter(revision__number=3, kind="ranking").values_list("parameter_hash", "arrays")
    assert {key: bytes(arrays) for key, arrays in again} == {key: bytes(arrays) for key, arrays in ranks.items()}
    assert Job.objects.get(kind="ranks_again").state == "done"
    assert Benchmark.objects.get(pk=benchmark.pk).published_number == 6
