"""Lists, searches and suggestions name nothing that the reader may not know of."""

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.models import Benchmark, Job
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.rows import SubmittedRow
from tests.leaderboard.site.world import World
from tests.markup import compact


@pytest.fixture(scope="module")
def hidden(make_once, request):
    """A world that is not public, and no other beside it. What a test changes in the database it takes back."""
    with transaction.atomic():
        yield World(make_once, request.param)
        transaction.set_rollback(True)


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
