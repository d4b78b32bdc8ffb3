"""Which processes are at work, as far as their heartbeats say."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Heartbeat
from leaderboard.queue.heartbeats import (
    LATE_SECONDS,
    MAX_SILENT,
    Liveness,
    Process,
    delete_old_heartbeats,
    living_processes,
    living_workers,
)

pytestmark = pytest.mark.django_db
NOBODY = Liveness(0, None)


def heard_of(role: str, seconds_ago: float, *, host: str = "a", pid: int = 1) -> Heartbeat:
    Process(role, name=f"{role}@{host}", host=host, pid=pid).beat()
    row = Heartbeat.objects.get(role=role, host=host, pid=pid)
    row.seen_at = timezone.now() - timedelta(seconds=seconds_ago)
    row.save()
    return row


def rounded(liveness: dict[str, Liveness]) -> dict[str, tuple[int, int | None]]:
    return {role: (each.n_living, each.age and round(each.age)) for role, each in liveness.items()}


def test_where_nobody_ever_wrote_nobody_lives():
    assert living_workers() == {"sweep": NOBODY, "rankings": NOBODY, "studies": NOBODY, "scoring": NOBODY}


def test_who_wrote_lately_lives_and_who_fell_silent_does_not(django_assert_num_queries):
    heard_of("sweep", LATE_SECONDS + 5)
    heard_of("rankings", 20, pid=1)
    heard_of("rankings", LATE_SECONDS + 5, pid=2)
    heard_of("rankings", 10, host="b")
    with django_assert_num_queries(1):
        assert rounded(living_workers()) == {
            "sweep": (0, LATE_SECONDS + 5),
            "rankings": (2, 10),
            "studies": (0, None),
            "scoring": (0, None),
        }
    assert [(row.role, row.host, row.pid) for row in living_processes()] == [("rankings", "a", 1), ("rankings", "b", 1)]


def test_a_process_writes_one_row_now_and_then_in_one_statement(django_assert_num_queries):
    process = Process("rankings", name="rankings@a", host="a", pid=7)
    with django_assert_num_queries(1):
        process.beat()
        process.beat()
    row = Heartbeat.objects.get()
    assert (row.role, row.name, row.host, row.pid) == ("rankings", "rankings@a", "a", 7)


def test_a_process_that_follows_under_the_same_number_takes_the_row_over():
    earlier = heard_of("sweep", 3600)
    later = timezone.now()
    Process("sweep", name="sweep", host="a", pid=1, started_at=later).beat()
    row = Heartbeat.objects.get()
    assert (row.pk, row.name, row.started_at) == (earlier.pk, "sweep", later)
    assert living_workers()["sweep"].n_living == 1


def test_a_moment_far_ahead_was_written_under_a_wrong_clock_and_counts_for_nothing():
    heard_of("sweep", -3600)
    assert living_workers()["sweep"] == NOBODY
    heard_of("sweep", -30, pid=2)  # clocks differ by seconds
    assert living_workers()["sweep"] == Liveness(1, 0.0)


def test_processes_that_ended_a_day_ago_are_forgotten_and_never_more_than_some_are_kept():
    heard_of("sweep", 10)
    heard_of("sweep", 23 * 3600, pid=2)
    heard_of("sweep", 25 * 3600, pid=3)
    heard_of("sweep", -3600, pid=4)
    assert delete_old_heartbeats() == 2
    assert set(Heartbeat.objects.values_list("pid", flat=True)) == {1, 2}
    for pid in range(1, MAX_SILENT + 3):
        heard_of("rankings", LATE_SECONDS + pid, pid=pid)
    assert delete_old_heartbeats() == 3
    assert set(Heartbeat.objects.filter(role="sweep").values_list("pid", flat=True)) == {1}
    newest = Heartbeat.objects.filter(role="rankings").values_list("pid", flat=True)
    assert sorted(newest) == list(range(1, MAX_SILENT + 1))
