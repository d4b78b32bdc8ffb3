"""The sweep sends mails: killed in the middle, and with a mail server that never answers."""

import signal
import socket

import pytest

from leaderboard.models import Benchmark, OutboxMessage
from leaderboard.notifications.outbox import put_mail
from tests.databases import empty_broker
from tests.mail_sink import MailSink

pytestmark = pytest.mark.services

SMTP = {"PLURANK_EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend", "PLURANK_EMAIL_HOST": "127.0.0.1"}


def put(number: int = 0) -> OutboxMessage:
    return put_mail(f"{number}@plurank.example", subject="Subject", text="Text")


def test_a_sweep_killed_between_sending_and_marking_sends_again_and_loses_no_mail(make_committed, site):
    with MailSink() as sink:
        site.environment |= SMTP | {"PLURANK_EMAIL_PORT": str(sink.port), "PLURANK_EMAIL_SECONDS": "5"}
        sink.pause = 3  # the mail is taken, and nobody says so yet
        messages = [put(number) for number in range(3)]
        site.start("sweep")
        site.wait_until(lambda: sink.messages, 60, "the first mail is taken")
        site.kill("sweep")
        sink.pause = 0
        assert not OutboxMessage.objects.filter(state="sent").exists()
        OutboxMessage.objects.update(not_before=messages[0].not_before)  # the time of the killed attempt goes by
        site.start("sweep")
        site.wait_until(lambda: not OutboxMessage.objects.exclude(state="sent").exists(), 60, "all are sent")
        taken = [message.recipients[0] for message in sink.messages]
    assert sorted(taken) == ["0@plurank.example", "0@plurank.example", "1@plurank.example", "2@plurank.example"]
    names = {message.mail["Message-ID"] for message in sink.messages}
    assert len(names) == 3


def test_a_mail_server_that_never_answers_delays_no_board_and_no_stop(make_committed, site):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # whoever connects waits for a greeting that never comes
        site.environment |= SMTP | {"PLURANK_EMAIL_PORT": str(silent.getsockname()[1]), "PLURANK_EMAIL_SECONDS": "60"}
        message = put()
        site.start("sweep")
        claimed = OutboxMessage.objects.filter(pk=message.pk, attempts=1)
        site.wait_until(claimed.exists, 60, "the sweep waits for the mail server")
        benchmark = make_committed.benchmark({"A": [1.0], "B": [2.0]})
        empty_broker()  # the wake-up is lost: the board comes by the sweep alone
        site.start("rankings")
        published = Benchmark.objects.filter(pk=benchmark.pk, published_number=1)
        site.wait_until(published.exists, 60, "the board is there")
        site.running["sweep"].send_signal(signal.SIGTERM)
        site.running["sweep"].wait(timeout=20)  # and not the minute that the mail server may take
    message.refresh_from_db()
    assert message.state == "waiting"
