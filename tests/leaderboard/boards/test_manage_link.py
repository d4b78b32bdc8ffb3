"""The link to the pages of an owner: it leads to what waits for a decision, and says how much that is."""

import re

import pytest
from django.urls import reverse

from tests.markup import compact


def manage_link(client, benchmark, user) -> tuple[str, str] | None:
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    page = compact(client.get(reverse("board", args=[benchmark.key])))
    link = re.search(r'<a class="button" href="([^"]+)">(Manage.*?)</a>', page)
    return (link[1], re.sub("<[^>]*>", "", link[2])) if link else None


@pytest.mark.parametrize(
    ("role", "n_waiting", "route", "text"),
    [
        ("owner", 0, "manage", "Manage"),
        ("owner", 2, "manage_queue", "Manage 2 waiting"),
        ("moderator", 0, "manage_queue", "Manage"),
        ("moderator", 1, "manage_queue", "Manage 1 waiting"),
    ],
)
def test_it_leads_to_the_queue_while_submissions_wait(make, client, role, n_waiting, route, text):
    benchmark = make.published(submission_policy="moderated")
    for number in range(n_waiting):
        make.pending(benchmark, {f"New {number}": [1.0] * 5}, by=make.user())
    link = manage_link(client, benchmark, make.member(benchmark, role))
    assert link == (reverse(route, args=[benchmark.key]), text)


def test_readers_have_no_such_link_and_learn_nothing_of_what_waits(make, client):
    benchmark = make.published(submission_policy="moderated")
    make.pending(benchmark, {"New": [1.0] * 5}, by=make.user())
    for user in (make.user(), make.member(benchmark, "member")):
        assert manage_link(client, benchmark, user) is None
        assert "waiting" not in client.get(reverse("board", args=[benchmark.key])).content.decode()
