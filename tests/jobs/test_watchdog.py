"""A worker that no longer hears its broker ends, to be started anew; one that works or has nothing to do stays."""

import pytest

from jobs.watchdog import UNRESPONSIVE_STATUS, Watchdog
from leaderboard.models import Job

pytestmark = pytest.mark.services


def answers(*checks, seconds=30):
    """What the watchdog says at each check: (seconds, is at work, messages that wait)."""
    watchdog = Watchdog(seconds)
    return [watchdog.is_unresponsive(now, is_at_work=at_work, n_waiting=n) for now, at_work, n in checks]


def test_messages_that_wait_beside_an_idle_worker_for_too_long_make_it_unresponsive():
    assert answers((0, False, 1), (29, False, 5), (30, False, 2)) == [False, False, True]


def test_who_is_at_work_or_has_nothing_to_do_is_not_unresponsive():
    assert answers((0, False, 3), (20, True, 3), (40, False, 3), (69, False, 3)) == [False] * 4
    assert answers((0, False, 3), (20, False, 0), (40, False, 3), (69, False, 3)) == [False] * 4


def test_who_takes_a_message_is_not_unresponsive():
    watchdog = Watchdog(30)
    assert not watchdog.is_unresponsive(0, is_at_work=False, n_waiting=9)
    watchdog.hear()
    assert not watchdog.is_unresponsive(31, is_at_work=False, n_waiting=9)
    assert watchdog.is_unresponsive(61, is_at_work=False, n_waiting=9)


def test_an_unresponsive_worker_ends_and_the_next_one_takes_what_waited(make_committed, site):
    """Takes about ten seconds: two workers start one after the other."""
    benchmark = make_committed.benchmark()
    site.start("rankings", include="tests.jobs.disturbed.unresponsive")
    site.start("sweep")
    worker = site.running["rankings"]
    status = site.wait_until(worker.poll, 30, "the unresponsive worker ends")
    assert (status, Job.objects.get(kind="rankings").state) == (UNRESPONSIVE_STATUS, "waiting")
    assert "wake-ups wait, and this worker has not taken any for too long" in (site.folder / "rankings.log").read_text()
    site.start("rankings")
    site.wait_until(lambda: type(benchmark).objects.get(pk=benchmark.pk).published_number == 1, 30, "it is published")
