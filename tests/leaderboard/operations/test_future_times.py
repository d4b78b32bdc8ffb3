"""A clock that was a month ahead and was set right keeps nothing and no one waiting for that month."""

from datetime import timedelta
from itertools import starmap

import pytest
from django.apps import apps
from django.conf import settings as site_settings
from django.core.management import call_command
from django.db.models import DateTimeField, Model
from django.utils import timezone

from leaderboard.common.limits import TooManyAttemptsError, require_attempt_left, take_attempt
from leaderboard.models import (
    AttemptCount,
    Experiment,
    Fetch,
    FollowedAddress,
    Job,
    LastBackup,
    NoticeDigest,
    OutboxMessage,
    Turn,
    Visit,
    Webhook,
)
from leaderboard.notifications.outbox import backoff, longest_pause, put_mail, put_webhook
from leaderboard.operations.future_times import mend_future_times, time_fields
from leaderboard.queue import jobs
from leaderboard.submissions.following.rounds import longest_rest
from tests.factories import owner_of

MONTH = timedelta(days=30)
# Fields that decide when something happens, and that another place brings back itself.
BROUGHT_BACK_ELSEWHERE = {"Heartbeat.seen_at", "RetentionState.due_at"}
# People chose these moments, or were told them.
CHOSEN = {
    "Batch.decide_by", "Benchmark.anonymous_until", "Benchmark.deadline", "Benchmark.embargo_until", "Phase.closes_at",
    "Phase.opens_at", "Phase.private_at", "VoteBatch.decide_by",
}  # fmt: skip
# What ends at these moments ends later: a draft and a token are there until the day that their owner reads there. A
# worker that outlasts its job's time is killed by the limit of the wake-up.
ENDS_LATER = {
    "ApiToken.expiry",
    "BenchmarkDraft.expires_at",
    "Draft.expires_at",
    "Job.deadline",
    "VoteBatch.expires_at",
}
# They only say when something happened, and after which time it is deleted.
HISTORY = {
    "Heartbeat.started_at", "ListedBoard.updated_at", "Notice.mailed_at", "Notice.read_at", "OutboxMessage.finished_at",
    "Phase.went_private_at", "PredictionSubmission.scored_at", "RetentionState.ended_at", "Revision.ranks_removed_at",
    "Revision.withdrawn_at", "User.closed_at", "User.date_joined", "User.last_login",
}  # fmt: skip


def ahead(row: Model, **times) -> Model:
    """The row, its times a month from now or as they are given."""
    type(row).objects.filter(pk=row.pk).update(**times)
    return row


def now_of(row: Model, name: str) -> timedelta:
    """How far ahead a time of a row is by now."""
    row.refresh_from_db()
    return getattr(row, name) - timezone.now()


def test_every_time_that_the_site_sets_is_brought_back_or_decides_nothing():
    fields = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config("leaderboard").get_models()
        for field in model._meta.fields
        if isinstance(field, DateTimeField) and not (field.auto_now_add or field.auto_now)
    }
    mended = {f"{field.rows.model.__name__}.{field.name}" for field in time_fields()}
    others = BROUGHT_BACK_ELSEWHERE | CHOSEN | ENDS_LATER | HISTORY
    assert fields - mended == others
    assert mended - fields == {"Fetch.at", "Experiment.requested_at", "Session.expire_date"}


def test_a_job_does_not_wait_for_the_month(make):
    make.benchmark()
    month = timezone.now() + MONTH
    Job.objects.filter(kind="rankings").update(not_before=month, woken_at=month)
    Job.objects.filter(kind="prospects").update(state="running", lease_until=month, deadline=month)
    assert mend_future_times() == 3
    jobs.sweep()
    board, prospects = Job.objects.get(kind="rankings"), Job.objects.get(kind="prospects")
    assert board.not_before <= timezone.now()
    assert board.woken_at <= timezone.now()
    assert prospects.state == "running"
    assert prospects.lease_until <= timezone.now() + timedelta(seconds=site_settings.JOB_LEASE_SECONDS)


def test_emails_webhooks_and_fetches_of_a_month_ahead_are_due_after_one_sweep(make):
    benchmark = make.benchmark()
    owner, month = owner_of(benchmark), timezone.now() + MONTH
    digest = NoticeDigest.objects.create(user=owner, about=f"benchmark {benchmark.pk}", sent_at=month)
    untried = put_mail("x@plurank.example", subject="s", text="t")
    failed, claimed = put_webhook("https://plurank.example/"), put_webhook("https://plurank.example/")
    for message, times in ((untried, {}), (failed, {"attempts": 2}), (claimed, {"attempts": 1})):
        ahead(message, not_before=month, **times)
    ahead(claimed, claim_token="00000000-0000-0000-0000-000000000001")
    given = {"benchmark": benchmark, "kind": "file", "every_minutes": 15, "author": owner, "next_at": month}
    followed = FollowedAddress.objects.create(address="http://127.0.0.1:1/x.csv", **given)
    assert mend_future_times() == 5
    assert not OutboxMessage.objects.filter(not_before__gt=timezone.now()).exists()
    call_command("sweep", "--once")
    assert now_of(digest, "sent_at") <= timedelta(0)
    assert not OutboxMessage.objects.filter(pk=untried.pk, state="waiting", attempts=0).exists()
    assert Fetch.objects.get().followed == followed


def test_whoever_waits_after_wrong_passwords_waits_no_longer_than_anyone(settings, db):
    settings.ATTEMPTS = {"login": {"account": (1, 300)}}
    take_attempt("login", account="a")
    AttemptCount.objects.update(ends_at=timezone.now() + MONTH)
    with pytest.raises(TooManyAttemptsError, match=rf"at {timezone.now() + MONTH:%Y-%m-%d} \d\d:\d\d UTC"):
        require_attempt_left("login", account="a")
    mend_future_times()
    with pytest.raises(TooManyAttemptsError, match=r"in 5 minutes, at \d\d:\d\d UTC"):
        require_attempt_left("login", account="a")


def test_turns_visits_limits_and_the_age_of_the_backup_count_from_now(make):
    benchmark = make.benchmark()
    owner, month = owner_of(benchmark), timezone.now() + MONTH
    Turn.objects.filter(benchmark=benchmark).update(board_at=month, parts_at=month, study_at=month, wanted_at=month)
    turn = Turn.objects.get(benchmark=benchmark)
    visit = Visit.objects.create(user=owner, benchmark=benchmark, at=month, before=month)
    hook = Webhook.objects.create(
        benchmark=benchmark, address="https://plurank.example/", renewed_at=month, failing_since=month
    )
    backup = LastBackup.objects.create(made_at=month, n_bytes=1)
    experiment = Experiment.objects.create(
        benchmark=benchmark, revision=benchmark.revisions.get(), study="diversity", parameters={}, parameter_hash="x",
        engine_version="1", estimate=1.0, requested_by=owner,
    )  # fmt: skip
    ahead(experiment, requested_at=month)
    Job.objects.filter(kind="prospects").update(state="done", finished_at=month)
    call_command("sweep", "--once")
    times = [
        (turn, "board_at"), (turn, "parts_at"), (turn, "study_at"), (turn, "wanted_at"), (visit, "at"),
        (visit, "before"), (hook, "renewed_at"), (hook, "failing_since"), (backup, "made_at"),
        (experiment, "requested_at"), (Job.objects.get(kind="prospects"), "finished_at"),
    ]  # fmt: skip
    assert max(starmap(now_of, times)) <= timedelta(0)


def test_what_a_right_clock_puts_furthest_ahead_stays_there(make):
    benchmark = make.benchmark()
    make.accepted(benchmark, {"E": [1.0] * 5})  # its studies are put off
    now = timezone.now()
    Job.objects.filter(kind="prospects").update(not_before=now + timedelta(seconds=jobs.LONGEST_BACKOFF))
    failed = put_mail("x@plurank.example", subject="s", text="t")
    ahead(failed, attempts=40, not_before=now + longest_pause())
    for every in FollowedAddress.Every.values:
        FollowedAddress.objects.create(
            benchmark=benchmark, address="https://plurank.example/", kind="file", every_minutes=every,
            next_at=now + longest_rest(every),
        )  # fmt: skip
    for kind in site_settings.ATTEMPTS:
        take_attempt(kind, account="a", address="10.0.0.1")
    assert mend_future_times() == 0
    assert max(backoff(attempts) for attempts in range(1, 40)) <= longest_pause()
