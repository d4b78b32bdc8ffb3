"""Who may do what, on every route: the one table that says it, held against the site.

A route without a row fails with its name. Whoever may not know that something exists gets, byte for byte, what they
would get where there is nothing.
"""

import re
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Benchmark, Job
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.factories import Factory
from tests.leaderboard.site.world import USERS, VEILED, World, routes, rows
from tests.markup import compact


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    """A world of each visibility, made once in a transaction that is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        yield {visibility: World(make, visibility) for visibility in ("public", "unlisted", "private", *VEILED)}
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def hidden(make_once, request):
    """A world that is not public, and no other beside it. What a test changes in the database it takes back."""
    with transaction.atomic():
        yield World(make_once, request.param)
        transaction.set_rollback(True)


@pytest.mark.parametrize("row", rows(), ids=str)
def test_every_kind_of_user_gets_the_answer_of_the_table(worlds, row):
    cache.clear()
    world = worlds[row.visibility]
    answers = {kind: world.answer(row, kind) for kind in USERS}
    expected = dict(zip(USERS, row.answers, strict=True))
    if expected["staff"] == "ruled":
        assert answers["staff"] not in ("500", "login", "admin")
        expected["staff"] = answers["staff"]
    assert answers == expected


def test_every_route_of_the_site_has_a_row_for_both_methods():
    pairs = {(row.route.partition("~")[0], row.method) for row in rows()}
    assert {route for route in routes() if {(route, "GET"), (route, "POST")} - pairs} == set()


# --- What exists and may not be known -----------------------------------------------------------------------------


def answers_to(world: World, kind: str, path: str) -> tuple[int, bytes, dict[str, str]]:
    response = world.client(kind).get(path)
    # An id is of one request, and the way back after signing in is the address that was asked for.
    headers = {
        name: value for name, value in response.headers.items() if name not in ("X-Request-ID", "Content-Length")
    }
    return response.status_code, re.sub(rb"\?next=[^\"]*", b"", response.content), headers


@pytest.mark.parametrize("kind", ["stranger", "submitter", "staff", "anonymous"])
@pytest.mark.parametrize(
    "route",
    [
        "board", "board_csv", "board_download", "rule", "head_to_head", "agreement", "scores", "task",
        "history_compare", "pareto", "timeline", "submitters", "prospects", "prospects~asked",
        "what_if", "what_if~weighed", "what_if_data", "stability", "distribution", "instances",
        "experiments", "experiment", "experiment_arrays",
        "system", "submit", "upload", "draft", "batch",
        "badge", "system_badge", "embed", "card", "feed",
        "batch_progress", "history", "release", "manage", "manage_tasks", "manage_studies", "manage_metadata",
        "manage_models",
        "manage_releases", "manage_queue", "manage_people", "manage_audit", "manage_webhooks", "manage_following",
    ],
)  # fmt: skip
def test_what_is_private_answers_as_what_is_not_there(worlds, kind, route):
    world = worlds["private"]
    there = world.path(route)
    missing = there.replace(world.benchmark.key, "no-such-benchmark")
    for stored in (world.draft, world.accepted):
        missing = missing.replace(str(stored.uuid), "00000000-0000-4000-8000-000000000000")
    assert missing != there
    status, body, headers = answers_to(world, kind, there)
    nothing_status, nothing_body, nothing_headers = answers_to(world, kind, missing)
    headers.pop("Location", None), nothing_headers.pop("Location", None)  # to sign in, and then to the same address
    assert (status, body, headers) == (nothing_status, nothing_body, nothing_headers)


@pytest.mark.parametrize("kind", ["stranger", "moderator", "staff", "anonymous"])
@pytest.mark.parametrize("route", ["draft", "batch~pending"])
def test_somebody_elses_draft_and_a_pending_batch_answer_as_what_is_not_there(worlds, kind, route):
    world = worlds["public"]
    if (kind, route) == ("moderator", "batch~pending"):
        assert answers_to(world, kind, world.path(route))[0] == 200
        return
    there = world.path(route)
    missing = there.replace(str(world.draft.uuid), str(uuid4())).replace(str(world.pending.uuid), str(uuid4()))
    headers, nothing_headers = answers_to(world, kind, there)[2], answers_to(world, kind, missing)[2]
    headers.pop("Location", None), nothing_headers.pop("Location", None)
    assert answers_to(world, kind, there)[:2] == answers_to(world, kind, missing)[:2]
    assert headers == nothing_headers


@pytest.mark.parametrize("hidden", ["unlisted", "private"], indirect=True)
@pytest.mark.parametrize("kind", ["anonymous", "stranger", "submitter", "staff"])
def test_lists_do_not_mention_what_is_not_public(hidden, make, kind):
    benchmark = Benchmark.objects.get(pk=hidden.benchmark.pk)
    benchmark.tags, benchmark.name, benchmark.description = ["secret-tag"], "Unheard of", "Unheard of"
    benchmark.save()
    client = hidden.client(kind)
    before = {path: client.get(path).content for path in ("/", "/status/", "/?tag=secret-tag", "/?q=unheard")}
    Job.objects.filter(benchmark=benchmark).update(state="running", started_at=timezone.now(), worker="w")
    assert {path: client.get(path).content for path in before} == before
    assert not any(b"Unheard" in body.replace(b"unheard", b"") for body in before.values())
    assert b"secret-tag" not in before["/"]
    assert '<td class="number">0</td><td class="number">0</td>' in compact(before["/status/"].decode())


@pytest.mark.parametrize("hidden", ["private"], indirect=True)
@pytest.mark.parametrize("kind", ["member", "moderator", "owner"])
def test_lists_mention_what_is_private_to_its_own_people(hidden, make, kind):
    client = hidden.client(kind)
    assert hidden.benchmark.name in client.get("/").content.decode()
    assert hidden.benchmark.name in client.get("/status/").content.decode()


def test_a_search_finds_only_what_the_reader_may_know_of(make):
    for visibility in ("public", "unlisted", "private"):
        make.published(name=f"Speech {visibility}", visibility=visibility)
    page = Client().get("/?q=speech").content.decode()
    assert [name for name in ("public", "unlisted", "private") if f"Speech {name}" in page] == ["public"]


def test_the_name_of_a_pending_system_is_not_suggested(make):
    benchmark = make.benchmark(submission_policy="moderated")
    make.pending(benchmark, {"Hidden Champion": [1.0] * 5}, by=make.user())
    row = SubmittedRow("Hidden Champions", {task.key: "3" for task in benchmark.tasks.all()})
    assert (
        make_draft(audience_of(make.user(), benchmark), [row], source=Source.FORM).rows[0]["system"]["near_misses"]
        == []
    )


def test_a_pending_system_is_on_no_page_and_in_no_download(worlds):
    world = worlds["public"]
    for path in (world.path("board"), world.path("board_csv"), world.path("submit"), world.path("system")):
        for kind in ("stranger", "member", "moderator"):
            assert b"Secret" not in world.client(kind).get(path).content


def test_staff_without_permissions_see_no_row_in_the_admin(make):
    client = Client()
    client.force_login(make.user(is_staff=True), backend="django.contrib.auth.backends.ModelBackend")
    lists = sorted(route for route in routes() if route.startswith("admin:") and route.endswith("_changelist"))
    assert len(lists) > 10
    assert {route: client.get(reverse(route)).status_code for route in lists} == dict.fromkeys(lists, 403)
