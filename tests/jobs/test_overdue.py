"""The sweep's process finds by itself what is overdue."""

from datetime import timedelta

from django.utils import timezone

from leaderboard.models import SubmissionEvent
from leaderboard.submissions.lifecycle import store_batch

ABOUT = {"key": None, "name": "B", "organisation": "", "url": "", "description": ""}


def test_the_sweep_marks_what_nobody_decided_on_in_time(make_committed, site):
    benchmark = make_committed.benchmark({"A": [1.0]}, submission_policy="moderated")
    user, now = make_committed.user(), timezone.now()
    rows = [{"system": ABOUT, "scores": {"task-1": {"value": 2.0}}, "line": None}]
    overdue, _ = (
        store_batch(benchmark, user, rows, source="api", decide_by=now + timedelta(minutes=minutes))
        for minutes in (-1, 60)
    )
    site.start("sweep")
    marked = SubmissionEvent.objects.filter(kind="overdue")
    site.wait_until(marked.exists, 60, "the sweep marks the submission")
    assert [event.submission.batch for event in marked] == [overdue]
