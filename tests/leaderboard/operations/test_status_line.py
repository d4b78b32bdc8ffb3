"""Pages that wait say the place in line and the time left, and ask for themselves again until nothing waits."""

import re

import pytest
from django.urls import reverse

from leaderboard.models import Job, JobCount
from tests.markup import compact


@pytest.fixture
def waiting(make):
    """A board whose second revision waits behind one other board."""
    benchmark = make.published()
    Job.objects.filter(state="waiting").update(state="done")
    make.accepted(make.benchmark(name="Other"), {"E": [1.0] * 5})
    make.accepted(benchmark, {"E": [1.0] * 5})
    JobCount.objects.create(queue="rankings", kind="rankings", outcome="done", bucket="100", n=2, seconds=120)
    return benchmark


def refreshes(page: str) -> bool:
    return "hx-get" in page and 'http-equiv="refresh"' in page and "htmx" in page


def test_the_board_says_its_place_and_asks_again_until_it_is_there(client, make, waiting):
    url = reverse("board", args=[waiting.key])
    page = compact(client.get(url))
    assert refreshes(page)
    assert "1 board is computed first; expect it in about 2 minutes." in page
    Job.objects.filter(kind="rankings").exclude(benchmark=waiting).update(state="done")
    assert "It is next; expect it in about 1 minute." in compact(client.get(url))
    make.publish(waiting)
    assert not refreshes(compact(client.get(url)))


def test_the_status_page_says_for_each_job_how_many_go_before_it_and_asks_again_while_anything_waits(client, waiting):
    Job.objects.filter(queue="studies").update(state="done")
    page = compact(client.get(reverse("status")))
    assert refreshes(page)
    # The newest job comes first in the table; the other board was submitted to before.
    assert re.findall(r"(?:next,|\d+ before it,) (?:less|about)[^<]*", page) == [
        "1 before it, about 2 minutes",
        "next, about 1 minute",
    ]
    assert "Expected in" in page
    Job.objects.update(state="done")
    assert not refreshes(compact(client.get(reverse("status"))))


def test_the_page_of_studies_asks_again_for_what_waits_alone(client, make):
    benchmark = make.published()
    url = reverse("stability", args=[benchmark.key])
    page = compact(client.get(url))
    assert refreshes(page)
    (ids,) = re.findall(r'hx-select-oob="([^"]*)"', page)
    assert all(f'id="{one.removeprefix("#")}"' in page for one in ids.split(","))
    Job.objects.update(state="done")
    assert not refreshes(compact(client.get(url)))
