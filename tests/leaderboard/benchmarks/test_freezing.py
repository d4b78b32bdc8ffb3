"""Freezing a revision by its page: what would be frozen is shown first, and frozen once that is confirmed."""

import re

import pytest
from django.urls import reverse

from leaderboard.models import Release
from tests.factories import owner_of
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db


def test_the_page_shows_what_would_be_frozen_and_freezes_it_when_that_is_confirmed(make):
    benchmark = make.published({"A": [1.0, 4.0, 2.0], "B": [2.0, 3.0, 1.0]}, name="Freezer")
    client, path = signed_in(owner_of(benchmark)), reverse("manage_releases", args=[benchmark.key])
    typed = {"number": "1", "name": "2026.1", "note": "First <edition>"}
    page = client.post(path, typed)
    assert (page.status_code, Release.objects.count()) == (200, 0)
    section = re.search(r'<section class="flow is-dense">.*?</section>', page.content.decode(), re.DOTALL)[0]
    texts = " ".join(re.sub("<[^>]+>", " ", section).split())
    published_at = benchmark.publication.published_at.strftime("%-d %b %Y, %H:%M UTC")
    assert texts == (
        "Freeze revision 1 as 2026.1? A frozen revision is permanent: it cannot be changed or removed, and neither can "
        f"its name. Systems 2 Tasks 3 Published {published_at} URL /b/{benchmark.key}/releases/2026-1/ See the "
        "board of revision 1 Freeze revision 1 Cancel"
    )
    assert f'href="/b/{benchmark.key}/?revision=1"' in section
    fields = dict(re.findall(r'<input type="hidden" name="(number|name|note)" value="([^"]*)"', section))
    assert fields == {"number": "1", "name": "2026.1", "note": "First &lt;edition&gt;"}
    answer = client.post(path, typed | {"action": "freeze"})
    release = Release.objects.get()
    assert (answer["Location"], release.name, release.note) == (
        f"/b/{benchmark.key}/releases/2026-1/", "2026.1", "First <edition>"
    )  # fmt: skip


@pytest.mark.parametrize("action", ["", "freeze"])
def test_what_cannot_be_frozen_is_said_before_it_is_confirmed(make, action):
    benchmark = make.published({"A": [1.0, 4.0]})
    client, path = signed_in(owner_of(benchmark)), reverse("manage_releases", args=[benchmark.key])
    answer = client.post(path, {"number": "7", "name": "2026.1", "action": action})
    assert answer.status_code == 400
    assert "The rankings of revision 7 are not stored; freeze a published revision." in compact(answer)
    assert 'name="name" value="2026.1"' in compact(answer)
