"""What goes once it is old, in slices that one sweep at a time deletes."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db.models import Model
from django.utils import timezone

from leaderboard.models import (
    ApiToken,
    AttemptCount,
    BenchmarkDraft,
    CellCount,
    Draft,
    Invitation,
    Job,
    Notice,
    Organisation,
    OrganisationInvitation,
    OutboxMessage,
    Phase,
    PredictionCount,
    RetentionState,
    Score,
    StudyPartial,
    SubmissionCount,
    Team,
    TeamInvitation,
    VoteBatch,
    Webhook,
    WebhookDelivery,
)
from leaderboard.notifications.mails import put_digests
from leaderboard.operations import retention
from leaderboard.operations.retention import DESCRIPTIONS, SLICE, count_old, remove_all_old, retain
from tests.markup import compact

# Days after which a row of each kind goes; 0 where it goes as soon as it is over.
DAYS = dict.fromkeys(["jobs", "tokens", "invitations", "counts", "cell counts", "prediction counts"], 90)
DAYS |= {"messages": 30, "notices": 365, "partials": 7}
DAYS |= dict.fromkeys(["drafts", "benchmark drafts", "vote drafts", "sessions", "listed sessions", "attempts"], 0)
DAYS |= {"team invitations": 0, "organisation invitations": 90, "unconfirmed addresses": 7}


def rows_of_each_kind(make, *, days_more: int) -> dict[str, Model]:
    """A row of each kind that was over so many days, and `days_more`, ago."""
    now = timezone.now()
    ago = {kind: now - timedelta(days=days + days_more, minutes=-5 if days_more < 0 else 5)
           for kind, days in DAYS.items()}  # fmt: skip
    user, benchmark = make.user(), make.published()
    make.accepted(benchmark, {"E": [1.0] * 5})
    make.publish(benchmark)
    name = f"{days_more}-{user.pk}"
    job = Job.objects.get(benchmark=benchmark, kind="rankings", sequence=1)
    Job.objects.filter(pk=job.pk).update(finished_at=ago["jobs"])
    held = Job.objects.filter(benchmark=benchmark, state="waiting", sequence=1).first()
    message = OutboxMessage.objects.create(state="sent", not_before=now, finished_at=ago["messages"])
    hook = Webhook.objects.create(benchmark=benchmark, address="https://plurank.example/")
    notice = Notice.objects.create(user=user, kind="token", key=name, text="", path="/", mailed_at=now)
    phase = Phase.objects.create(benchmark=benchmark, name="Final", opens_at=now)
    team = Team.objects.create(benchmark=benchmark, name="Owls", name_folded="owls")
    organisation, _ = Organisation.objects.get_or_create(key="lab", defaults={"name": "Lab"})
    day = ago["counts"].date().isoformat()
    rows = {
        "jobs": job,
        "partials": StudyPartial.objects.create(job=held, arrays=b"", seconds=0),
        "drafts": Draft.objects.create(benchmark=benchmark, owner=user, rows=[], expires_at=ago["drafts"]),
        "vote drafts": VoteBatch.objects.create(
            benchmark=benchmark,
            uploader=user,
            state="draft",
            votes=b"",
            n_votes=1,
            systems={},
            expires_at=ago["vote drafts"],
        ),
        "benchmark drafts": BenchmarkDraft.objects.create(
            owner=user, name=name, table=b"", expires_at=ago["benchmark drafts"]
        ),
        "sessions": Session.objects.create(session_key=name, session_data="", expire_date=ago["sessions"]),
        "listed sessions": UserSession.objects.create(
            user=user, session_key=name, ip="127.0.0.1", user_agent="", last_seen_at=now
        ),
        "attempts": AttemptCount.objects.create(kind="login", whose=name, ends_at=ago["attempts"]),
        "tokens": ApiToken.objects.create(user=user, name=name, scopes=["read"], expiry=timedelta(days=1))[0],
        "invitations": Invitation.objects.create(
            benchmark=benchmark, role="member", secret_hash=name, author=user, expires_at=ago["invitations"]
        ),
        "counts": SubmissionCount.objects.create(benchmark=benchmark, user=user, period=day, n_submitted=1),
        "cell counts": CellCount.objects.create(user=user, period=day, n_cells=1),
        "prediction counts": PredictionCount.objects.create(phase=phase, user=user, period=day, n_submitted=1),
        "team invitations": TeamInvitation.objects.create(
            team=team, author=user, secret_hash=name, expires_at=ago["team invitations"]
        ),
        "organisation invitations": OrganisationInvitation.objects.create(
            organisation=organisation,
            role="member",
            secret_hash=name,
            author=user,
            expires_at=ago["organisation invitations"],
        ),
        "messages": message,
        "notices": notice,
        "unconfirmed addresses": EmailAddress.objects.create(user=user, email=f"{name}@plurank.example"),
    }
    EmailConfirmation.objects.create(
        email_address=rows["unconfirmed addresses"], key=name, created=ago["unconfirmed addresses"]
    )
    WebhookDelivery.objects.create(webhook=hook, message=message, event="test")
    StudyPartial.objects.filter(job=held).update(created_at=ago["partials"])
    Notice.objects.filter(pk=notice.pk).update(created_at=ago["notices"])
    ApiToken.objects.filter(pk=rows["tokens"].pk).update(expiry=ago["tokens"])
    return rows


def living(rows: dict[str, Model]) -> set[str]:
    """The kinds whose row is there."""
    return {kind for kind, row in rows.items() if type(row).objects.filter(pk=row.pk).exists()}


def test_every_kind_goes_when_its_days_are_over_and_not_a_moment_before(make):
    old, young = (rows_of_each_kind(make, days_more=days) for days in (1, -1))
    n_scores, n_totals = Score.objects.count(), SubmissionCount.objects.filter(period="total").count()
    assert old.keys() | {"ranks"} == DESCRIPTIONS.keys()
    assert {kind: n for kind, n in count_old().items() if n} == dict.fromkeys(old.keys() - {"listed sessions"}, 1)
    removed = retain()
    assert {kind: n for kind, n in removed.items() if n} == dict.fromkeys(old, 1)
    assert (living(old), living(young)) == (set(), set(young))
    assert WebhookDelivery.objects.count() == 1, "a delivery goes with its message"
    assert (Score.objects.count(), SubmissionCount.objects.filter(period="total").count()) == (n_scores, n_totals)


def test_what_waits_is_never_old(make):
    rows = rows_of_each_kind(make, days_more=400)
    OutboxMessage.objects.update(state="waiting")
    Job.objects.filter(pk=rows["jobs"].pk).update(state="waiting")
    remove_all_old()
    assert living(rows) == {"messages", "jobs"}


def test_a_notice_about_which_no_mail_could_go_out_goes_with_the_others(make):
    user = make.user()  # their address was never confirmed
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=False)
    old = {f"{days} days": timezone.now() - timedelta(days=days) for days in (364, 366)}
    for key, at in old.items():
        notice = Notice.objects.create(user=user, kind="token", key=key, text="", path="/", is_mail_wanted=True)
        Notice.objects.filter(pk=notice.pk).update(created_at=at)
    assert put_digests() == 0
    assert remove_all_old()["notices"] == 1
    assert Notice.objects.get().key == "364 days"


def test_the_settings_say_how_many_days(make, settings):
    rows = rows_of_each_kind(make, days_more=-1)
    settings.KEEP_DAYS, settings.KEEP_MESSAGES_DAYS, settings.KEEP_NOTICES_DAYS = 7, 1, 30
    remove_all_old()
    assert rows.keys() - living(rows) == {
        "jobs", "tokens", "invitations", "counts", "cell counts", "prediction counts", "messages", "notices",
        "organisation invitations",
    }  # fmt: skip


def attempts(n: int) -> None:
    over = timezone.now() - timedelta(hours=1)
    AttemptCount.objects.bulk_create(AttemptCount(kind="login", whose=str(i), ends_at=over) for i in range(n))


def make_due() -> None:
    RetentionState.objects.update(due_at=timezone.now())


def test_a_pass_deletes_one_slice_and_the_next_one_goes_on(db):
    attempts(2 * SLICE + 3)
    left = []
    for _ in range(4):
        retain()
        make_due()
        left.append(AttemptCount.objects.count())
    assert left == [SLICE + 3, 3, 0, 0]
    assert RetentionState.objects.get().removed_in_all == {"attempts": 2 * SLICE + 3}


def test_one_sweep_at_a_time_does_it_and_one_that_was_killed_is_followed_after_a_while(db, monkeypatch):
    attempts(1)
    during = []

    def remove(kind: retention.OldRows) -> int:
        during.append(retain())
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(retention, "remove_slice", remove)
        retain()
    assert during == [None] * len(retention.OLD_ROWS), "while one is at it, another one leaves it alone"
    assert retain() is None, "the next pass is a minute later"
    now = timezone.now()
    RetentionState.objects.update(due_at=now + retention.LONGEST_PASS - timedelta(minutes=1))
    assert retain() is None
    for over in (now - timedelta(seconds=1), now + timedelta(hours=1)):  # the latter by a clock that was wrong
        RetentionState.objects.update(due_at=over)
        assert retain() is not None


def test_the_command_says_what_it_would_delete_and_deletes_just_that(make, capsys):
    rows_of_each_kind(make, days_more=1)
    call_command("prune", "--dry-run")
    planned = capsys.readouterr().out.splitlines()
    assert len(planned) == len(DESCRIPTIONS)
    assert f"{1:>8} emails and webhook deliveries that were sent or abandoned would be deleted" in planned
    assert AttemptCount.objects.count() == 1
    call_command("prune")
    done = capsys.readouterr().out.splitlines()
    differing = [line for line, then in zip(planned, done, strict=True) if line.replace("would be ", "") != then]
    assert differing == [f"{0:>8} {DESCRIPTIONS['listed sessions']} would be deleted"], "they go with their sessions"
    assert set(count_old().values()) == {0}


def test_staff_read_when_it_last_ran_and_what_it_deleted(make, client):
    client.force_login(make.user(is_staff=True))
    assert "has not looked for old data yet" in client.get("/status/").content.decode()
    attempts(1200)
    for _ in range(3):
        retain()
        make_due()
    page = compact(client.get("/status/"))
    row = 'Expired counts of failed attempts</th><td class="number">200</td><td class="number">1,200</td>'
    assert ("ago</time>, and has deleted so far:" in page, row in page) == (True, True)
    client.logout()
    assert "Deletion of old data" not in client.get("/status/").content.decode()


@pytest.mark.parametrize("is_pruned", [False, True])
def test_a_pass_without_anything_old_writes_no_row_but_its_own(make, django_assert_num_queries, is_pruned):
    make.published()
    retain()
    make_due()
    if is_pruned:
        remove_all_old()
        make_due()
    # Its own row is read, taken, read again and written; of every kind the old ones are looked for, and of addresses
    # those without a date.
    with django_assert_num_queries(len(retention.OLD_ROWS) + 1 + 1 + 4):
        retain()
