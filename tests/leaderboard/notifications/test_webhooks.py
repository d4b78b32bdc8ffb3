"""Webhooks: what is told, how it is signed, to whom it goes, and what becomes of those that never answer."""

import base64
import hashlib
import hmac
import json
import socket
import time
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.closing import close_account
from leaderboard.accounts.people import change_role
from leaderboard.models import AuditEntry, Benchmark, Notice, OutboxMessage, Webhook, WebhookDelivery
from leaderboard.notifications.deliveries import FAILING_FOR, MAX_FAILURES, body_of, standard_signature
from leaderboard.notifications.outbox import MAX_OF_ONE_OWNER, send_due_messages, send_due_webhooks
from leaderboard.notifications.posting import PostError, post
from leaderboard.notifications.webhooks import (
    MAX_WEBHOOKS,
    WebhookError,
    add_webhook,
    change_webhook,
    delete_webhook,
    renew_secret,
)
from tests.factories import owner_of
from tests.hook_sink import hook_sink
from tests.leaderboard.notifications.hooks import add_hook, put_own_test
from tests.markup import compact
from tests.signing_in import confirm_password, signed_in


def again():
    OutboxMessage.objects.filter(state="waiting").update(not_before=timezone.now())


def standard(secret: str, text: bytes) -> str:
    """A signature by Standard Webhooks 1.0.0."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    return f"v1,{base64.b64encode(hmac.digest(key, text, 'sha256')).decode()}"


def test_a_signature_is_the_one_of_standard_webhooks_own_example():
    # The example of the specification's reference libraries.
    body, number, at = b'{"test": 2432232314}', "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    signed = standard_signature(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], body, number=number, at=at)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_old_secret_signs_for_a_day_and_no_longer(make, inside, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1)
    with hook_sink(tmp_path) as sink:
        webhook, _ = add_hook(benchmark, sink.port)
        second = renew_secret(webhook, author=owner_of(benchmark))
        third = renew_secret(webhook, author=owner_of(benchmark))
        ages = (timedelta(hours=23), timedelta(hours=25))
        for age in ages:
            type(webhook).objects.update(renewed_at=timezone.now() - age)
            webhook.refresh_from_db()
            put_own_test(webhook)
            send_due_webhooks()
            assert (webhook.old_secret_until is not None) == (age < timedelta(days=1))
    for taken, secrets in zip(sink.taken, ([third, second], [third]), strict=True):
        text = f"{taken['headers']['webhook-id']}.{taken['headers']['webhook-timestamp']}.{taken['body']}".encode()
        assert taken["headers"]["webhook-signature"] == " ".join(standard(secret, text) for secret in secrets)


def test_a_new_revision_and_its_board_are_told_signed_and_once(make, inside, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1, name="Toy")
    with hook_sink(tmp_path) as sink:
        webhook, secret = add_hook(benchmark, sink.port)
        make.accepted(benchmark, {"A": [1.0], "B": [2.0]})
        make.publish(benchmark)
        assert [send_due_messages(), send_due_webhooks(), send_due_webhooks()] == [0, 2, 0]
        first, second = sink.taken
    for taken, event in ((first, "revision"), (second, "publication")):
        headers = taken["headers"]
        assert headers["webhook-id"] == json.loads(taken["body"])["id"]
        assert abs(time.time() - int(headers["webhook-timestamp"])) < 60
        text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{taken['body']}".encode()
        assert headers["webhook-signature"] == standard(secret, text)
        stamp, _, signed = taken["headers"]["Plurank-Signature"].partition(", v1=")
        at = stamp.removeprefix("t=")
        expected = hmac.new(secret.encode(), f"{at}.{taken['body']}".encode(), hashlib.sha256).hexdigest()
        assert signed == expected
        assert abs(time.time() - int(at)) < 60
        body = json.loads(taken["body"])
        assert taken["path"] == "/hook"
        assert taken["headers"]["Plurank-Event"] == body["event"] == event
        assert taken["headers"]["Plurank-Delivery"] == body["id"]
        assert (body["benchmark"], body["revision"], body["cause"]) == ("toy", 1, "batch")
        assert datetime.fromisoformat(body["at"]) <= datetime.now(UTC)
    assert "winners" not in json.loads(first["body"])
    body = json.loads(second["body"])
    assert body["winners"] == {"rule": "borda", "n": 1, "names": ["B"]}
    assert body["links"]["board"] == "http://127.0.0.1:8000/b/toy/?revision=1"
    states = webhook.deliveries.values_list("message__state", "status_code")
    assert list(states) == [("sent", 204), ("sent", 204)]


def test_what_does_not_arrive_is_tried_again_by_the_same_number_and_a_redirect_is_not_followed(make, inside, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1)
    with hook_sink(tmp_path, 503, 302, 200) as sink:
        webhook, _ = add_hook(benchmark, sink.port)
        delivery = put_own_test(webhook)
        with pytest.raises(WebhookError, match="A test is already waiting"):
            put_own_test(webhook)
        states = []
        for _ in range(3):
            again()
            send_due_webhooks()
            delivery.refresh_from_db(), delivery.message.refresh_from_db(), webhook.refresh_from_db()
            states.append((delivery.status_code, delivery.message.state, webhook.n_failures))
        assert states == [(503, "waiting", 1), (302, "waiting", 2), (200, "sent", 0)]
        assert {taken["path"] for taken in sink.taken} == {"/hook"}
        assert {taken["headers"]["Plurank-Delivery"] for taken in sink.taken} == {str(delivery.uuid)}
        assert len({taken["body"] for taken in sink.taken}) == 1


@pytest.mark.parametrize("status", [0, 1])
def test_who_never_answers_or_a_byte_at_a_time_is_cut_off(db, inside, tmp_path, status):
    inside.WEBHOOK_SECONDS = 0.5
    with hook_sink(tmp_path, status) as sink:
        started = time.monotonic()
        with pytest.raises(PostError, match=r"No answer within 0\.5 seconds"):
            post(f"http://127.0.0.1:{sink.port}/", b"{}", {})
        assert time.monotonic() - started < 5


def test_nobody_hears_of_what_is_hidden(make, inside):
    names = {"Zebrafish": [2.0], "Axolotl": [1.0]}
    winners = []
    for fields in (
        {}, {"visibility": "private"}, {"score_view": "own"},
        {"anonymous_until": timezone.now() + timedelta(days=1)}, {"score_view": "ranks"},
    ):  # fmt: skip
        benchmark = make.benchmark({}, n_tasks=1)
        Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
        add_hook(benchmark, 1, ["publication"])
        make.accepted(benchmark, names)
        make.publish(benchmark)
        body = body_of(WebhookDelivery.objects.select_related("webhook__benchmark").latest("pk"))
        winners.append(body.pop("winners"))
        assert "ebrafish" not in json.dumps(body)
    verdict = {"rule": "borda", "n": 1, "names": ["Zebrafish"]}
    assert winners == [verdict, None, None, None, verdict]


def test_who_never_answers_is_switched_off_and_the_owners_are_told_once(make, inside):
    benchmark = make.benchmark({}, n_tasks=1)
    webhook, _ = add_hook(benchmark, free_port_that_nobody_has())
    make.accepted(benchmark, {"A": [1.0]})
    make.accepted(benchmark, {"B": [1.0]})
    for _ in range((MAX_FAILURES + 1) // 2):
        again()
        send_due_webhooks()
    webhook.refresh_from_db()
    assert (webhook.is_active, webhook.n_failures) == (True, MAX_FAILURES)  # many, and all within a minute
    Webhook.objects.update(failing_since=timezone.now() - FAILING_FOR)
    again()
    send_due_webhooks()
    webhook.refresh_from_db()
    assert (webhook.is_active, webhook.why_off) == (False, "No delivery succeeded for half a day.")
    assert not OutboxMessage.objects.filter(state="waiting", kind="webhook").exists()
    notice = Notice.objects.get(kind="webhook")
    assert (notice.user, notice.path) == (owner_of(benchmark), f"/b/{benchmark.key}/manage/webhooks/")
    trail = AuditEntry.objects.filter(subject="webhook", of=str(webhook.uuid)).order_by("pk")
    assert [(row.field, row.before, row.after, row.actor) for row in trail][-1] == ("active", "yes", "no", None)
    make.accepted(benchmark, {"C": [1.0]})
    assert not OutboxMessage.objects.filter(state="waiting", kind="webhook").exists()
    change_webhook(webhook, author=owner_of(benchmark), is_active=True)
    make.accepted(benchmark, {"D": [1.0]})
    assert OutboxMessage.objects.filter(state="waiting", kind="webhook").count() == 1


def free_port_that_nobody_has() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_owners_manage_webhooks_on_the_page_and_the_trail_keeps_no_path_of_an_address(make, inside, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1)
    client, path = Client(), reverse("manage_webhooks", args=[benchmark.key])
    client.force_login(owner_of(benchmark), backend="django.contrib.auth.backends.ModelBackend")
    confirm_password(client, owner_of(benchmark))
    with hook_sink(tmp_path, 200) as sink:
        answer = client.post(path, {"address": f"http://127.0.0.1:{sink.port}/T0KEN", "events": ["publication"]})
        webhook = Webhook.objects.get()
        assert answer.status_code == 201
        assert answer.context["secret"].startswith("whsec_")
        assert answer.context["secret"] not in compact(client.get(path))

        def step(action):
            return compact(client.post(path, {"action": action, "webhook": webhook.uuid}, follow=True))

        step("test")
        send_due_webhooks()
        page = compact(client.get(path))
        assert ("delivered" in page, ">200<" in page, "T0KEN" in page) == (True, True, True)
        assert "The webhook is off; waiting deliveries are not sent." in step("off")
        assert "switch it on first" in step("test")
        assert "The webhook is on." in step("on")
        assert "The webhook was deleted." in step("delete")
    assert (Webhook.objects.count(), WebhookDelivery.objects.count(), OutboxMessage.objects.count()) == (0, 0, 0)
    trail = AuditEntry.objects.filter(subject="webhook").order_by("pk")
    assert [(row.field, row.before, row.after) for row in trail if row.field == "active"] == [
        ("active", "", "yes"), ("active", "yes", "no"), ("active", "no", "yes"), ("active", "yes", ""),
    ]  # fmt: skip
    assert not any("T0KEN" in row.after + row.before for row in trail)


def test_there_are_not_too_many_and_a_deleted_one_sends_nothing(make, inside):
    benchmark = make.benchmark({}, n_tasks=1)
    hooks = [add_hook(benchmark, 1)[0] for _ in range(MAX_WEBHOOKS)]
    with pytest.raises(WebhookError, match="at most"):
        add_hook(benchmark, 1)
    put_own_test(hooks[0])
    delete_webhook(hooks[0], author=owner_of(benchmark))
    assert not OutboxMessage.objects.exists()


def test_an_owner_of_many_slow_receivers_keeps_nobody_elses_back(make, inside, tmp_path):
    greedy, patient = make.user(), make.user()
    with hook_sink(tmp_path, 200) as sink:
        for number in range(3):
            benchmark = make.benchmark({}, n_tasks=1, owner=greedy)
            for hook in range(3):
                put_own_test(add_hook(benchmark, sink.port, path=f"/greedy/{number}/{hook}")[0])
        for hook in range(2):
            put_own_test(add_hook(make.benchmark({}, n_tasks=1, owner=patient), sink.port, path=f"/patient/{hook}")[0])
        assert send_due_webhooks() == MAX_OF_ONE_OWNER + 2
        order = [taken["path"].split("/")[1] for taken in sink.taken]
        assert order == ["greedy", "patient", "greedy", "patient", "greedy", "greedy"]
        assert [send_due_webhooks(), send_due_webhooks(), send_due_webhooks()] == [4, 1, 0]


def test_what_fails_comes_after_what_does_not(make, inside, tmp_path):
    with hook_sink(tmp_path, 200) as sink:
        failing, _ = add_hook(make.benchmark({}, n_tasks=1), sink.port, path="/failing")
        put_own_test(failing)
        put_own_test(add_hook(make.benchmark({}, n_tasks=1), sink.port, path="/healthy")[0])
        Webhook.objects.filter(pk=failing.pk).update(n_failures=1)
        send_due_webhooks()
        assert [taken["path"] for taken in sink.taken] == ["/healthy", "/failing"]


def test_a_round_that_takes_long_ends_and_what_came_due_meanwhile_has_its_turn(make, inside, tmp_path, monkeypatch):
    monkeypatch.setattr("leaderboard.notifications.outbox.ROUND_SECONDS", 0.0)
    with hook_sink(tmp_path, 200) as sink:
        for _ in range(3):
            put_own_test(add_hook(make.benchmark({}, n_tasks=1), sink.port)[0])
        assert send_due_webhooks() <= 1


LEAVING = {
    "by another owner's hand": lambda benchmark, leaver, other: change_role(
        benchmark, leaver, author=other, role="member"
    ),
    "without a role": lambda benchmark, leaver, other: change_role(benchmark, leaver, author=other, role=""),
    "with their account": lambda _benchmark, leaver, _other: close_account(leaver),
    "past the services": lambda benchmark, leaver, _other: benchmark.memberships.filter(user=leaver).delete(),
}


@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_a_webhook_ends_with_the_role_of_its_owner_and_another_takes_it_over(make, inside, tmp_path, leave):
    benchmark = make.benchmark({}, n_tasks=1)
    leaver, other = owner_of(benchmark), make.member(benchmark, "owner")
    with hook_sink(tmp_path, 200) as sink:
        webhook, secret = add_webhook(
            benchmark, author=leaver, address=f"http://127.0.0.1:{sink.port}/", events=["revision"]
        )
        kept, _ = add_webhook(
            benchmark, author=other, address=f"http://127.0.0.1:{sink.port}/kept", events=["revision"]
        )
        put_own_test(webhook)
        leave(benchmark, leaver, other)
        make.accepted(benchmark, {"A": [1.0]}, by=other)
        send_due_webhooks()
        assert [taken["path"] for taken in sink.taken] == ["/kept"]
        webhook.refresh_from_db(), kept.refresh_from_db()
        assert (webhook.is_active, kept.is_active) == (False, True)
        assert webhook.why_off.startswith("Its owner left.")
        assert Notice.objects.filter(kind="webhook", user=other).count() == 1
        change_webhook(webhook, author=other, is_active=True)
        assert renew_secret(webhook, author=other) != secret
        make.accepted(benchmark, {"B": [1.0]}, by=other)
        send_due_webhooks()
        assert sorted(taken["path"] for taken in sink.taken) == ["/", "/kept", "/kept"]


def test_a_new_secret_signs_what_is_posted_from_now_on(make, inside, tmp_path):
    benchmark = make.benchmark({}, n_tasks=1)
    owner = owner_of(benchmark)
    owner.set_password("a long password")
    owner.save()
    client = confirm_password(signed_in(owner), owner)
    path = reverse("manage_webhooks", args=[benchmark.key])
    with hook_sink(tmp_path, 200) as sink:
        webhook, old = add_hook(benchmark, sink.port)
        put_own_test(webhook)
        redirect = signed_in(owner).post(path, {"action": "renew", "webhook": webhook.uuid})
        assert redirect["Location"].startswith(reverse("account_reauthenticate"))
        page = client.post(path, {"action": "renew", "webhook": webhook.uuid})
        new = page.context["secret"]
        assert new in compact(page)
        assert len({old, new}) == 2
        send_due_webhooks()
        (taken,) = sink.taken
    # Both sign for a day, by Standard Webhooks; the header that is to go is the new one's.
    text = f"{taken['headers']['webhook-id']}.{taken['headers']['webhook-timestamp']}.{taken['body']}".encode()
    assert taken["headers"]["webhook-signature"] == " ".join(standard(secret, text) for secret in (new, old))
    at, _, signed = taken["headers"]["Plurank-Signature"].removeprefix("t=").partition(", v1=")
    assert signed == hmac.new(new.encode(), f"{at}.{taken['body']}".encode(), hashlib.sha256).hexdigest()
    trail = AuditEntry.objects.get(subject="webhook", field="secret")
    assert (trail.before, trail.after, trail.actor) == ("number 1", "number 2", owner)
