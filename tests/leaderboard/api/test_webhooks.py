"""Webhooks by the API: as on the owners' page, every answer as the schema states it."""

import json
import uuid

from leaderboard.models import AuditEntry, Webhook
from leaderboard.notifications.outbox import send_due_webhooks
from tests.hook_sink import hook_sink
from tests.leaderboard.api.conftest import error_of


def test_an_owner_adds_tests_switches_off_and_deletes_a_webhook(make, api, settings, tmp_path):
    settings.WEBHOOKS_INSIDE = True
    benchmark = make.benchmark({}, n_tasks=1)
    owner = api.as_user(benchmark.memberships.get().user)
    path = f"benchmarks/{benchmark.key}/webhooks/"
    with hook_sink(tmp_path, 500, 200) as sink:
        body = {"address": f"http://127.0.0.1:{sink.port}/x", "events": ["publication", "revision"]}
        dry = owner.post(path, body, query="dry_run=true")
        assert (dry.status_code, dry.json()["secret"], Webhook.objects.count()) == (200, None, 0)
        made = owner.post(path, body)
        assert (made.status_code, made.json()["secret"][:6]) == (201, "whsec_")
        number = made.json()["uuid"]
        (listed,) = owner.get(path).json()["results"]
        assert listed == {name: value for name, value in made.json().items() if name != "secret"}
        assert listed["events"] == ["revision", "publication"]
        assert owner.post(f"{path}{number}/test/").json()["state"] == "waiting"
        assert error_of(owner.post(f"{path}{number}/test/"))["status"] == 409
        send_due_webhooks()
        (delivery,) = owner.get(f"{path}{number}/").json()["deliveries"]
        values = [delivery[name] for name in ("event", "revision", "state", "attempts", "status_code", "error")]
        assert values == ["test", None, "waiting", 1, 500, "The answer was 500."]
        assert json.loads(sink.taken[0]["body"])["id"] == delivery["uuid"]
    off = owner.patch(f"{path}{number}/", {"is_active": False, "events": ["revision"]})
    assert (off.json()["is_active"], off.json()["events"]) == (False, ["revision"])
    assert owner.get(f"{path}{number}/").json()["deliveries"][0]["state"] == "failed"
    assert owner.post(f"{path}{number}/delete/").json() == {"deleted": number}
    assert owner.get(path).json() == {"results": []}
    fields = set(AuditEntry.objects.filter(subject="webhook", of=number).values_list("field", flat=True))
    assert fields == {"address", "events", "file", "active"}


def test_what_is_wrong_in_a_body_is_said_with_its_place_and_another_benchmarks_webhook_is_not_found(make, api):
    benchmark, other = make.benchmark({}, n_tasks=1), make.benchmark({}, n_tasks=1)
    owner = api.as_user(benchmark.memberships.get().user)
    path = f"benchmarks/{benchmark.key}/webhooks/"
    for body, place in (
        ({"address": "https://10.0.0.1/", "events": ["revision"]}, "address"),
        ({"address": "https://hooks.example/", "events": []}, "events"),
        ({"address": "https://hooks.example/", "events": ["birthday"]}, "events[0]"),
        ({"address": 5, "events": ["revision"]}, "address"),
        ({"address": "https://hooks.example/", "events": ["revision"], "secret": "mine"}, "secret"),
    ):
        error = error_of(owner.post(path, body))
        assert (error["status"], error["details"][0]["place"]) == (400, place)
    assert Webhook.objects.count() == 0
    foreign = Webhook.objects.create(benchmark=other, address="https://hooks.example/", events=["revision"])
    for number in (foreign.uuid, uuid.uuid4()):
        assert owner.get(f"{path}{number}/").status_code == 404
        assert owner.post(f"{path}{number}/delete/").status_code == 404
    assert Webhook.objects.count() == 1
