"""What is put into the outbox goes out, whatever fails in between; twice rather than never."""

import os
import smtplib
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from leaderboard.models import OutboxMessage
from leaderboard.notifications.outbox import (
    BATCH,
    backoff,
    claim_message,
    end_old_mails,
    is_break_off,
    is_of_server,
    mark_sent,
    put_mail,
    put_off_mails,
    put_webhook,
    record_failure,
    send_due_messages,
    server_pause,
)
from leaderboard.notifications.queries import longest_waits
from tests.concurrency import at_once
from tests.mail_sink import MailSink
from tests.running_site import free_port

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def sink(settings):
    """A mail server of this test's own, to which mails are sent."""
    with MailSink() as server:
        settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", server.port
        settings.EMAIL_TIMEOUT = 2
        yield server


def put(to="a@plurank.example", **fields):
    return put_mail(to, subject="Subject", text="Text", **fields)


def again():
    """Let the time come at which everything that waits is due."""
    OutboxMessage.objects.filter(state="waiting").update(not_before=timezone.now())


def test_a_mail_goes_out_with_what_was_put_in_and_is_then_forgotten(db, sink):
    message = put_mail(
        "a@plurank.example", subject="Über\r\nBcc: all@plurank.example", text="Grüße\n", headers={"X-Of": "this"}
    )
    assert send_due_messages() == 1
    (delivery,) = sink.messages
    assert delivery.recipients == ["a@plurank.example"]
    assert delivery.mail["Subject"] == "Über Bcc: all@plurank.example"
    assert delivery.mail["Bcc"] is None
    assert delivery.mail["X-Of"] == "this"
    assert delivery.mail.get_content() == "Grüße\n"
    message.refresh_from_db()
    assert (message.state, message.payload, message.attempts) == ("sent", {}, 1)
    assert send_due_messages() == 0


def test_a_mail_of_a_transaction_that_is_undone_does_not_go_out(db, sink):
    with transaction.atomic():
        put()
        transaction.set_rollback(True)
    assert (send_due_messages(), sink.messages) == (0, [])


def test_who_is_killed_after_sending_and_before_marking_sends_twice_with_one_name(db, sink):
    message = put()
    claimed = claim_message(message.pk)
    assert claim_message(message.pk) is None
    assert send_due_messages() == 0  # somebody is at it
    again()
    assert send_due_messages() == 1
    assert mark_sent(claimed) == 0  # the first one comes too late, and changes nothing
    again()
    names = {delivery.mail["Message-ID"] for delivery in sink.messages}
    assert len(names) == 1


def test_a_refused_mail_keeps_no_other_one_back(db, sink):
    sink.refused.add("bad@plurank.example")
    bad, good = put("bad@plurank.example"), put("good@plurank.example")
    assert send_due_messages() == 1
    bad.refresh_from_db(), good.refresh_from_db()
    assert (bad.state, good.state) == ("waiting", "sent")
    assert "SMTPRecipientsRefused" in bad.last_error
    assert bad.not_before > timezone.now() + timedelta(seconds=10)


def let_pass(**time):
    """Let so much time go by for all mails."""
    OutboxMessage.objects.update(
        created_at=F("created_at") - timedelta(**time), not_before=F("not_before") - timedelta(**time)
    )


@pytest.mark.parametrize("n_culprits", [1, 3])
def test_a_mail_at_which_the_server_hangs_up_keeps_no_other_one_back(db, sink, settings, n_culprits):
    culprits = [put(f"culprit-{number}@plurank.example") for number in range(n_culprits)]
    sink.hung_up_on |= {message.payload["to"] for message in culprits}
    for number in range(20):
        put(f"{number}@plurank.example")
    for _ in range(4):  # quarters of an hour
        send_due_messages()
        let_pass(minutes=15)
    assert len(sink.messages) == 20
    for _ in range(8 * 24):
        new = put("new@plurank.example")
        send_due_messages()
        new.refresh_from_db()
        assert new.state == "sent"
        let_pass(hours=1)
    for message in culprits:
        message.refresh_from_db()
        assert (message.state, message.attempts) == ("failed", settings.OUTBOX_ATTEMPTS)
        assert "the connection ended in the middle of it: SMTPServerDisconnected" in message.last_error


def test_a_server_that_breaks_off_every_mail_uses_up_the_attempts_of_two(db, sink):
    for number in range(6):
        put(f"{number}@plurank.example")
    sink.is_breaking_off = True
    assert send_due_messages() == 0
    assert list(OutboxMessage.objects.values_list("attempts", flat=True)) == [1, 1, 0, 0, 0, 0]
    new = put("new@plurank.example")  # it asks at once, the others rest
    send_due_messages()
    new.refresh_from_db()
    assert (new.attempts, OutboxMessage.objects.filter(attempts=0).count()) == (1, 4)
    sink.is_breaking_off = False
    again()
    assert send_due_messages() == 7


def be_away(sink, settings):
    settings.EMAIL_PORT = free_port()
    return "the mail server does not answer: ConnectionRefusedError"


def refuse_the_password(sink, settings):
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = "expired"
    return "the mail server refuses this site: SMTPNotSupportedError"  # the sink knows no passwords


def refuse_the_site(sink, settings):
    sink.is_closed_to_all = True
    return "the mail server refuses this site: SMTPSenderRefused"


@pytest.mark.parametrize("fails", [be_away, refuse_the_password, refuse_the_site])
def test_a_server_that_is_away_for_days_uses_up_no_attempt_and_the_mails_go_when_it_is_back(db, sink, settings, fails):
    before = {name: getattr(settings, name) for name in ("EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD")}
    error = fails(sink, settings)
    for number in range(5):
        put(f"{number}@plurank.example")
    for _ in range(3 * settings.OUTBOX_ATTEMPTS):
        assert send_due_messages() == 0
        again()
    assert set(OutboxMessage.objects.values_list("state", "attempts", "claim_token")) == {("waiting", 0, None)}
    assert all(message.last_error.startswith(error) for message in OutboxMessage.objects.all())
    for name, value in before.items():
        setattr(settings, name, value)
    sink.is_closed_to_all = False
    assert send_due_messages() == 5


def test_all_mails_rest_while_the_server_is_away_and_a_new_one_asks_again(db, sink, settings, monkeypatch):
    settings.EMAIL_PORT = free_port()
    n_asked = []
    monkeypatch.setattr("smtplib.SMTP.connect", lambda *_arguments: n_asked.append(1) or free_port_is_closed())
    for number in range(5):
        put(f"{number}@plurank.example")
    for _ in range(10):  # seconds of a sweep
        send_due_messages()
    assert len(n_asked) == 1
    put("new@plurank.example")
    send_due_messages()
    assert len(n_asked) == 2


def free_port_is_closed():
    raise ConnectionRefusedError


def test_a_mail_that_waits_for_a_server_that_is_away_is_reported_even_if_it_was_refused_before(db, sink, settings):
    sink.refused.add("a@plurank.example")
    put()
    send_due_messages()
    let_pass(hours=2)
    assert longest_waits() == {"mail": 0, "webhook": 0}
    settings.EMAIL_PORT = free_port()
    send_due_messages()
    assert 7200 <= longest_waits()["mail"] < 7300


def let_days_go_by(days):
    OutboxMessage.objects.update(created_at=F("created_at") - timedelta(days=days))


def test_a_mail_that_found_no_server_for_a_week_is_given_up_and_forgotten(db, sink, settings):
    settings.EMAIL_PORT = free_port()
    message = put()
    send_due_messages()
    let_days_go_by(6.9)
    assert end_old_mails() == 0
    let_days_go_by(0.2)
    assert end_old_mails() == 1
    message.refresh_from_db()
    assert (message.state, message.payload) == ("failed", {"to": "a@plurank.example", "subject": "Subject"})
    assert "does not answer" in message.last_error


def test_after_a_week_without_a_sweep_every_mail_is_tried_before_it_is_given_up(db, sink, settings):
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, free_port()
    for number in range(BATCH + 1):  # more than one round takes
        put(f"{number}@plurank.example")
    send_due_messages()  # once: then the sweep ends
    put("untried@plurank.example")
    let_pass(days=8)
    settings.EMAIL_PORT = port
    rounds = [(end_old_mails(), send_due_messages()) for _ in range(3)]
    assert rounds == [(0, BATCH), (0, 2), (0, 0)]


def test_a_mail_that_was_given_up_can_be_sent_again_until_its_text_is_forgotten(db, sink, settings):
    settings.OUTBOX_ATTEMPTS = 1
    sink.refused |= {"bad@plurank.example", "old@plurank.example"}
    put("old@plurank.example")
    send_due_messages()
    let_days_go_by(7.1)
    put("bad@plurank.example")
    send_due_messages()
    end_old_mails()
    sink.refused.clear()
    output = StringIO()
    call_command("retry", "--emails", stdout=output)
    assert output.getvalue() == "1 email due now\n"
    assert send_due_messages() == 1
    assert [delivery.recipients for delivery in sink.messages] == [["bad@plurank.example"]]


def test_what_a_server_says_of_one_mail_is_no_matter_of_the_server():
    refused = smtplib.SMTPRecipientsRefused({"a@plurank.example": (550, b"no one")})
    of_one = [
        smtplib.SMTPSenderRefused(552, b"too large", "s"),
        smtplib.SMTPDataError(554, b"spam"),
        refused,
        OSError(),
    ]
    assert [error for error in of_one if is_of_server(error)] == []
    assert [error for error in of_one if is_break_off(error)] == []
    refusals = [smtplib.SMTPSenderRefused(code, b"not now", "s") for code in (421, 452, 530)]
    of_all = [*refusals, smtplib.SMTPHeloError(550, b"who are you")]
    assert [error for error in of_all if not is_of_server(error)] == []
    leaving = smtplib.SMTPRecipientsRefused({"a@plurank.example": (421, b"bye")})
    of_either = [smtplib.SMTPDataError(421, b"bye"), leaving, smtplib.SMTPServerDisconnected("gone"), TimeoutError()]
    assert [error for error in of_either if is_of_server(error) or not is_break_off(error)] == []


def test_a_mail_that_fails_again_and_again_is_given_up_and_shown_to_the_operators_alone(make, sink, settings):
    settings.OUTBOX_ATTEMPTS = 3
    sink.refused.add("bad@plurank.example")
    message = put("bad@plurank.example")
    for _ in range(4):
        again()
        send_due_messages()
    message.refresh_from_db()
    assert (message.state, message.attempts) == ("failed", 3)
    pages = {}
    for is_staff in (True, False):
        client = Client()
        client.force_login(make.user(is_staff=is_staff), backend="django.contrib.auth.backends.ModelBackend")
        pages[is_staff] = client.get("/status/").content.decode()
    assert "bad@plurank.example" in pages[True]
    assert "SMTPRecipientsRefused" in pages[True]
    assert "bad@plurank.example" not in pages[False]


def test_who_dies_at_every_attempt_is_given_up_too(db, settings):
    settings.OUTBOX_ATTEMPTS = 2
    message = put()
    for _ in range(2):
        again()
        assert claim_message(message.pk)
    again()
    assert send_due_messages() == 0
    message.refresh_from_db()
    assert (message.state, message.last_error[:32]) == ("failed", "the attempt ended without a resu")


def test_a_claim_lasts_as_long_as_an_attempt_of_its_kind_may_take(db, settings):
    settings.EMAIL_TIMEOUT, settings.WEBHOOK_SECONDS = 2, 30
    lengths = []
    for message in (put(), put_webhook("https://hooks.example/")):
        before = timezone.now()
        claimed = claim_message(message.pk, message.kind)
        lengths.append((message.kind, round((claimed.not_before - before).total_seconds())))
    assert lengths == [("mail", 12), ("webhook", 80)]


def test_one_message_is_claimed_by_one_of_many_senders(make_committed):
    message = put()
    answers = at_once([lambda: claim_message(message.pk)] * 6)
    assert sum(isinstance(answer, OutboxMessage) for answer in answers) == 1
    assert sum(answer is None for answer in answers) == 5


def test_a_round_has_an_end_however_much_waits(db):
    for _ in range(BATCH + 5):
        put()
    assert [send_due_messages() for _ in range(3)] == [BATCH, 5, 0]
    assert len(mail.outbox) == BATCH + 5


def test_pauses_grow_with_some_chance_in_them():
    for hours, seconds in ((0, 30), (0.1, 90), (100, 900)):
        pauses = {server_pause(timedelta(hours=hours)).total_seconds() for _ in range(20)}
        assert seconds / 2 <= min(pauses) < max(pauses) <= seconds * 1.5
    for attempts, seconds in ((1, 30), (2, 60), (5, 480), (30, 21600)):
        pauses = {backoff(attempts).total_seconds() for _ in range(20)}
        assert seconds / 2 <= min(pauses) < max(pauses) <= seconds * 1.5


def test_a_failure_that_another_took_over_changes_nothing(db):
    message = put()
    first = claim_message(message.pk)
    again()
    claim_message(message.pk)
    record_failure(first, "too late")
    put_off_mails(first, "too late", first.created_at)
    message.refresh_from_db()
    assert (message.last_error, message.attempts) == ("", 2)


def test_a_mail_goes_into_the_log_whatever_letters_its_locale_has(committed_db, settings):
    """Takes about three seconds: a sweep starts."""
    message = put_mail("a@plurank.example", subject="Subject", text="Zoë: “Grüße”\n")
    environment = os.environ | {"DATABASE_URL": committed_db, "PYTHONIOENCODING": "ascii", "PLURANK_EMAIL_BACKEND": ""}
    command = [sys.executable, "manage.py", "sweep", "--once"]
    done = subprocess.run(command, cwd=settings.ROOT, env=environment, capture_output=True, text=True, check=True)
    message.refresh_from_db()
    assert (message.state, done.returncode) == ("sent", 0), done.stderr
    assert "Subject: Subject" in done.stdout
