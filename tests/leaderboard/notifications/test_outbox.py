"""What is put into the outbox goes out, whatever fails in between; twice rather than never."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.core import mail
from django.db import transaction
from django.test import Client
from django.utils import timezone

from leaderboard.models import OutboxMessage
from leaderboard.notifications.outbox import (
    BATCH,
    backoff,
    claim_message,
    mark_sent,
    put_mail,
    put_webhook,
    record_failure,
    send_due_messages,
)
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


def test_a_dead_server_costs_one_attempt_a_round_and_the_mails_go_when_it_is_back(db, sink, settings):
    settings.EMAIL_PORT = free_port()
    for number in range(5):
        put(f"{number}@plurank.example")
    assert send_due_messages() == 0
    assert sorted(OutboxMessage.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
    assert "the mail server does not answer" in OutboxMessage.objects.get(attempts=1).last_error
    settings.EMAIL_PORT = sink.port
    again()
    assert send_due_messages() == 5


def test_a_mail_that_fails_again_and_again_is_given_up_and_shown_to_the_operators_alone(make, sink, settings):
    settings.OUTBOX_ATTEMPTS = 3
    sink.refused.add("bad@plurank.example")
    message = put("bad@plurank.example")
    for _ in range(4):
        again()
        send_due_messages()
    message.refresh_from_db()
    assert (message.state, message.attempts) == ("failed", 3)
    assert message.payload == {"to": "bad@plurank.example", "subject": "Subject"}
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
    for attempts, seconds in ((1, 30), (2, 60), (5, 480), (30, 21600)):
        pauses = {backoff(attempts).total_seconds() for _ in range(20)}
        assert seconds / 2 <= min(pauses) < max(pauses) <= seconds * 1.5


def test_a_failure_that_another_took_over_changes_nothing(db):
    message = put()
    first = claim_message(message.pk)
    again()
    claim_message(message.pk)
    record_failure(first, "too late")
    message.refresh_from_db()
    assert message.last_error == ""


def test_a_mail_goes_into_the_log_whatever_letters_its_locale_has(committed_db, settings):
    """Takes about three seconds: a sweep starts."""
    message = put_mail("a@plurank.example", subject="Subject", text="Zoë: “Grüße”\n")
    environment = os.environ | {"DATABASE_URL": committed_db, "PYTHONIOENCODING": "ascii", "PLURANK_EMAIL_BACKEND": ""}
    command = [sys.executable, "manage.py", "sweep", "--once"]
    done = subprocess.run(command, cwd=settings.ROOT, env=environment, capture_output=True, text=True, check=True)
    message.refresh_from_db()
    assert (message.state, done.returncode) == ("sent", 0), done.stderr
    assert "Subject: Subject" in done.stdout
