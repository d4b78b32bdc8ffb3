"""Background work by real worker processes."""

import pytest

from leaderboard.models import Benchmark, Job

pytestmark = pytest.mark.services


def test_a_worker_publishes_what_was_accepted(make_committed, site):
    """Takes some seconds: two processes start."""
    benchmark = make_committed.benchmark()
    site.start("rankings", "sweep")
    site.wait_until(lambda: Benchmark.objects.get(pk=benchmark.pk).published_number == 1, 30, "revision 1 is published")
    assert Job.objects.get(kind="rankings").attempts == 1
