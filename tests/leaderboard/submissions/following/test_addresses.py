"""What an owner says of the addresses that a benchmark follows, on the page and by the API."""

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audit_page import AuditQuery, Position, audit_lines
from leaderboard.accounts.tokens import create_token
from leaderboard.models import AuditEntry, Fetch, FollowedAddress
from leaderboard.notifications.posting import AddressError
from leaderboard.submissions.following.addresses import (
    MAX_FOLLOWED,
    FollowingError,
    change_followed,
    delete_followed,
    fetch_soon,
    follow_address,
    scores_address,
)
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

ADDRESS = "https://results.example/scores.csv"


def follow(benchmark, **fields):
    given = {"author": owner_of(benchmark), "address": ADDRESS, "kind": "file", "every_minutes": 60} | fields
    return follow_address(benchmark, **given)


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("https://a.example/b/glue/", "https://a.example/api/v1/benchmarks/glue/scores/?format=csv&long=true"),
        ("https://a.example/b/glue", "https://a.example/api/v1/benchmarks/glue/scores/?format=csv&long=true"),
        (
            "https://a.example:8443/x/y/b/my-board-2/rules/borda/?revision=3",
            "https://a.example:8443/x/y/api/v1/benchmarks/my-board-2/scores/?format=csv&long=true",
        ),
    ],
)
def test_a_board_is_named_by_the_address_of_any_of_its_pages(page, address):
    assert scores_address(page) == address


@pytest.mark.parametrize("page", ["https://a.example/", "https://a.example/b/", "https://a.example/b/A B/", "x"])
def test_other_addresses_are_no_boards(page):
    with pytest.raises(AddressError, match="no URL of a board"):
        scores_address(page)


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "http://results.example/"}, {"address": "https://127.0.0.1/"}, {"address": "https://10.0.0.1/b/x/"},
        {"address": "https://user:word@results.example/"}, {"address": "https://results.example:22/"},
        {"address": "file:///etc/passwd"}, {"address": "https://a.example/" + "x" * 500}, {"kind": "folder"},
        {"kind": "board"}, {"every_minutes": 1}, {"every_minutes": 10**9},
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused_when_it_is_typed(make, wrong):
    benchmark = make.benchmark({}, n_tasks=1)
    with pytest.raises(ValidationError):
        follow(benchmark, **wrong)
    client = signed_in(owner_of(benchmark))
    form = {"address": ADDRESS, "kind": "file", "every_minutes": 60} | wrong
    assert client.post(reverse("manage_following", args=[benchmark.key]), form).status_code == 400
    assert not FollowedAddress.objects.exists()


def test_every_change_is_in_the_audit_trail_without_the_path_of_the_address(make):
    benchmark = make.benchmark({}, n_tasks=1)
    owner = owner_of(benchmark)
    followed = follow(benchmark)
    change_followed(followed, author=owner, is_direct=True, every_minutes=1440)
    change_followed(followed, author=owner, is_active=False)
    delete_followed(followed, author=owner)
    rows = AuditEntry.objects.filter(benchmark=benchmark, subject="address").order_by("pk")
    assert {row.actor for row in rows} == {owner}
    assert [(row.field, row.before, row.after) for row in rows] == [
        ("address", "", "https://results.example/…"),
        ("kind", "", "file"),
        ("minutes between fetches", "", "60"),
        ("accepted directly", "", "no"),
        ("new systems", "", "no"),
        ("active", "", "yes"),
        ("minutes between fetches", "60", "1440"),
        ("accepted directly", "no", "yes"),
        ("active", "yes", "no"),
        ("address", "https://results.example/…", ""),
        ("kind", "file", ""),
        ("minutes between fetches", "1440", ""),
        ("accepted directly", "yes", ""),
        ("new systems", "no", ""),
        ("active", "no", ""),
    ]
    lines, _ = audit_lines(benchmark, AuditQuery(subject="address"), Position(), most=100)
    assert {line.of for line in lines} == {f"https://results.example/… ({str(followed.uuid)[:8]})"}


def test_a_benchmark_follows_a_few_addresses_and_no_more(make):
    benchmark = make.benchmark({}, n_tasks=1)
    for _ in range(MAX_FOLLOWED):
        follow(benchmark)
    with pytest.raises(FollowingError, match="at most 5 URLs"):
        follow(benchmark)


def test_a_person_may_ask_for_a_fetch_once_a_minute(make):
    followed = follow(make.benchmark({}, n_tasks=1))
    FollowedAddress.objects.update(next_at=timezone.now() + timedelta(days=1))
    fetch_soon(followed, author=followed.author)
    followed.refresh_from_db()
    assert followed.is_asked_for
    assert followed.next_at <= timezone.now()
    fetch = Fetch.objects.create(followed=followed, outcome="unchanged")
    with pytest.raises(FollowingError, match="less than a minute ago"):
        fetch_soon(followed, author=followed.author)
    Fetch.objects.filter(pk=fetch.pk).update(at=timezone.now() - timedelta(minutes=2))
    FollowedAddress.objects.update(is_active=False)
    followed.refresh_from_db()
    with pytest.raises(FollowingError, match="switched off"):
        fetch_soon(followed, author=followed.author)


def test_the_page_adds_switches_and_deletes_an_address(make):
    benchmark = make.benchmark({}, n_tasks=1)
    client, path = signed_in(owner_of(benchmark)), reverse("manage_following", args=[benchmark.key])
    form = {"address": ADDRESS, "kind": "file", "every_minutes": 360}
    assert client.post(path, form).status_code == 302
    followed = FollowedAddress.objects.get()
    page = compact(client.get(path).content.decode())
    assert f'<h2 id="followed-1">{ADDRESS}</h2>' in page
    assert "every 6 hours" in page
    assert "New scores become a draft of owner" in page
    states = []
    for action in ("direct", "off", "on", "draft", "fetch"):
        client.post(path, {"action": action, "followed": followed.uuid})
        followed.refresh_from_db()
        states.append((followed.is_direct, followed.is_active, followed.is_asked_for))
    assert states == [
        (True, True, False), (True, False, False), (True, True, False), (False, True, False), (False, True, True),
    ]  # fmt: skip
    client.post(path, {"action": "delete", "followed": followed.uuid})
    assert not FollowedAddress.objects.exists()


@pytest.mark.parametrize("number", ["", "x", "5c0f5c0f-0000-4000-8000-000000000000"])
def test_an_address_that_is_not_of_the_benchmark_is_not_there(make, number):
    benchmark = make.benchmark({}, n_tasks=1)
    path = reverse("manage_following", args=[benchmark.key])
    assert signed_in(owner_of(benchmark)).post(path, {"action": "off", "followed": number}).status_code == 404


def test_the_api_does_what_the_page_does(make):
    benchmark = make.benchmark({}, n_tasks=1)
    _, secret = create_token(owner_of(benchmark), name="script", scopes=["manage"], days=30)
    client = Client(headers={"Authorization": f"Token {secret}"})
    path = f"/api/v1/benchmarks/{benchmark.key}/followed/"
    body = {"address": "https://a.example/b/glue/", "kind": "board", "every_minutes": 1440, "is_direct": True}
    sent = {"content_type": "application/json"}
    assert client.post(f"{path}?dry_run=true", json.dumps(body), **sent).status_code == 200
    assert not FollowedAddress.objects.exists()
    added = client.post(path, json.dumps(body), **sent)
    assert added.status_code == 201
    one = f"{path}{added.json()['uuid']}/"
    assert [entry["address"] for entry in client.get(path).json()["results"]] == [body["address"]]
    changed = client.patch(one, json.dumps({"is_direct": False, "every_minutes": 60}), **sent).json()
    assert (changed["is_direct"], changed["every_minutes"], changed["is_active"]) == (False, 60, True)
    assert client.patch(one, json.dumps({"every_minutes": 61}), **sent).status_code == 400
    assert client.post(f"{one}fetch/").status_code == 200
    fetch = Fetch.objects.create(followed=FollowedAddress.objects.get(), outcome="failed", error="No answer.")
    read = client.get(one).json()
    assert [(entry["outcome"], entry["error"], entry["draft"]) for entry in read["fetches"]] == [
        ("failed", "No answer.", None)
    ]
    assert client.post(f"{one}fetch/").status_code == 409
    assert client.post(f"{one}delete/").json() == {"deleted": added.json()["uuid"]}
    assert not Fetch.objects.filter(pk=fetch.pk).exists()
