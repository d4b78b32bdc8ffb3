"""Boards that publish themselves: a signed file for each new board, of what everybody may see."""

import base64
import csv
import hashlib
import hmac
import io
import json

import pytest

from leaderboard.boards.public.published_file import published_file
from leaderboard.models import OutboxMessage
from leaderboard.notifications.outbox import send_due_webhooks
from leaderboard.notifications.webhooks import add_webhook, change_webhook
from tests.factories import TOY, owner_of
from tests.hook_sink import hook_sink


def publish_to(benchmark, port: int, file: str):
    address = f"http://127.0.0.1:{port}/board"
    return add_webhook(benchmark, author=owner_of(benchmark), address=address, events=["publication"], file=file)


@pytest.mark.parametrize("file", ["csv", "json"])
def test_each_new_board_is_posted_as_a_signed_file(make, inside, tmp_path, file):
    benchmark = make.benchmark({}, n_tasks=5, name="Toy")
    with hook_sink(tmp_path) as sink:
        _, secret = publish_to(benchmark, sink.port, file)
        for number, name in enumerate(TOY, start=1):
            make.accepted(benchmark, {name: TOY[name]})
            make.publish(benchmark)
            assert send_due_webhooks(published_file) == 1
            taken = sink.taken[-1]
            headers, body = taken["headers"], taken["body"]
            assert (headers["Plurank-Benchmark"], headers["Plurank-Revision"]) == ("toy", str(number))
            if file == "csv":
                assert headers["Content-Type"] == "text/csv; charset=utf-8"
                head, *rows = csv.reader(io.StringIO(body))
                assert head == ["system", *(f"Task {t}" for t in range(1, 6))]
                assert {row[0]: [float(text) for text in row[1:]] for row in rows} == {
                    n: TOY[n] for n in "ABCD"[:number]
                }
            else:
                assert headers["Content-Type"] == "application/json; charset=utf-8"
                board = json.loads(body)
                assert (board["benchmark"], board["revision"]) == ("Toy", number)
                assert sorted(row["name"] for row in board["systems"]) == list("ABCD"[:number])
                assert all(row["ranks"]["borda"] for row in board["systems"])
            text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
            key = base64.b64decode(secret.removeprefix("whsec_"))
            signature = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
            assert headers["webhook-signature"] == f"v1,{signature}"


@pytest.mark.parametrize("hidden", [{"visibility": "private"}, {"score_view": "ranks"}, {"score_view": "own"}])
def test_a_board_of_which_not_everybody_sees_everything_is_not_published(make, inside, tmp_path, hidden):
    benchmark = make.benchmark({}, n_tasks=5, **hidden)
    with hook_sink(tmp_path) as sink:
        publish_to(benchmark, sink.port, "csv")
        make.accepted(benchmark, TOY)
        make.publish(benchmark)
        assert send_due_webhooks(published_file) == 1
        (taken,) = sink.taken
        assert "Plurank-Revision" not in taken["headers"]
        assert json.loads(taken["body"])["event"] == "publication"


def test_a_file_that_is_too_large_is_not_posted_and_says_so(make, inside, tmp_path, settings):
    settings.UPLOAD_BYTES = 20
    benchmark = make.benchmark({}, n_tasks=5)
    with hook_sink(tmp_path) as sink:
        webhook, _ = publish_to(benchmark, sink.port, "csv")
        make.accepted(benchmark, TOY)
        make.publish(benchmark)
        assert (send_due_webhooks(published_file), sink.taken) == (0, [])
        assert OutboxMessage.objects.get().last_error == "The file of the board has more than 20 bytes."
        change_webhook(webhook, author=owner_of(benchmark), file="none")
        OutboxMessage.objects.update(not_before="2026-01-01T00:00:00Z")
        assert send_due_webhooks(published_file) == 1
