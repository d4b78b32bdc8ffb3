"""A submission that waits says until when; afterwards it is overdue, and rejected only where the owners chose so."""

from datetime import timedelta

from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Batch, Benchmark, SubmissionEvent
from leaderboard.models.submissions import Source
from leaderboard.submissions.batches.page import batch_page
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import confirm_draft, take_batch
from leaderboard.submissions.moderation.decisions import queue
from leaderboard.submissions.overdue import escalate_overdue
from leaderboard.submissions.quotas import terms_of
from leaderboard.submissions.rows import SubmittedRow
from tests.concurrency import at_once


def submitted(make, benchmark, by) -> Batch:
    row = SubmittedRow("New", {"task-1": "5"})
    draft = make_draft(audience_of(by, benchmark), [row], source=Source.FORM)
    return confirm_draft(draft, actor=by, previewed_number=1, creates_systems=True)


def after_its_deadline(monkeypatch, days=15):
    later = timezone.now() + timedelta(days=days)
    monkeypatch.setattr(timezone, "now", lambda: later)


def waiting_text(batch):
    return next(stage["text"] for stage in batch_page(batch).status.stages if stage["name"] == "accepted")


def test_a_submitter_reads_until_when_it_is_decided_and_what_happens_then(make):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated", decision_days=3), make.user()
    assert any("within 3 days" in term for term in terms_of(benchmark, user, limited=True))
    batch = submitted(make, benchmark, user)
    assert batch.decide_by - batch.created_at < timedelta(days=3, minutes=1)
    assert f"A moderator decides by {batch.decide_by:%-d %b %Y, %H:%M} UTC; it is first in the queue." in waiting_text(
        batch
    )
    assert "stay in the queue, marked overdue" in waiting_text(batch)


def test_what_is_accepted_at_once_has_no_deadline(make):
    assert submitted(make, make.benchmark({"A": [1.0]}), make.user()).decide_by is None


def test_what_is_overdue_stays_in_the_queue_and_both_sides_see_it(make, monkeypatch):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated"), make.user()
    batch = submitted(make, benchmark, user)
    assert escalate_overdue() == 0
    after_its_deadline(monkeypatch)
    assert (escalate_overdue(), escalate_overdue()) == (1, 0)
    assert batch.submissions.get().state == "pending"
    assert queue(benchmark, most=50)[0][0].flags[0].startswith("overdue: the submitter expects a decision by")
    page = batch_page(batch)
    assert "see that it is overdue" in waiting_text(batch)
    assert page.status.events[-1]["text"] == "overdue: no decision in time"
    owner = benchmark.memberships.get(role="owner").user
    assert take_batch(batch, actor=owner).number == 2


def test_what_is_overdue_is_rejected_with_the_reason_where_the_owners_chose_so(make, monkeypatch):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated", rejects_overdue=True), make.user()
    batch = submitted(make, benchmark, user)
    assert "are rejected and can be submitted again" in waiting_text(batch)
    after_its_deadline(monkeypatch)
    assert (escalate_overdue(), escalate_overdue()) == (1, 0)
    event = SubmissionEvent.objects.get(submission__batch=batch)
    assert (event.kind, event.actor) == ("rejected", None)
    assert event.reason == f"No moderator decided by {batch.decide_by:%-d %b %Y, %H:%M} UTC. You can submit it again."


def test_a_later_change_of_the_setting_moves_no_deadline_that_was_told(make):
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated"), make.user()
    batch = submitted(make, benchmark, user)
    Benchmark.objects.filter(pk=benchmark.pk).update(decision_days=1)
    assert Batch.objects.get(pk=batch.pk).decide_by == batch.decide_by


def test_many_sweepers_mark_an_overdue_submission_once(make_committed):
    make = make_committed
    benchmark, user = make.benchmark({"A": [1.0]}, submission_policy="moderated"), make.user()
    draft = make_draft(audience_of(user, benchmark), [SubmittedRow("New", {"task-1": "5"})], source=Source.FORM)
    Benchmark.objects.filter(pk=benchmark.pk).update(decision_days=0)
    confirm_draft(draft, actor=user, previewed_number=1, creates_systems=True)
    at_once([escalate_overdue] * 4)
    assert SubmissionEvent.objects.filter(kind="overdue").count() == 1
