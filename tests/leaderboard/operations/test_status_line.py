"""Pages that wait say the place in line and the time left, and ask for themselves again until nothing waits."""

import re

import pytest
from django.urls import reverse
from django.utils.timezone import now

from leaderboard.models import Benchmark, Job, JobCount
from ranking_engine import __version__
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


def test_the_status_page_says_for_each_job_its_position_and_asks_again_while_anything_waits(client, waiting):
    Job.objects.filter(queue="studies").update(state="done")
    page = compact(client.get(reverse("status")))
    assert refreshes(page)
    # The newest job comes first in the table; the other board was submitted to before.
    assert re.findall(r"position \d+, (?:less|about)[^<]*", page) == [
        "position 2, about 2 minutes",
        "position 1, about 1 minute",
    ]
    assert "Expected in" in page
    Job.objects.update(state="done")
    assert not refreshes(compact(client.get(reverse("status"))))


def test_the_status_page_names_jobs_as_pages_do_and_says_which_a_newer_revision_makes_unwanted(client, make):
    benchmark = make.published()
    page = compact(client.get(reverse("status")))
    assert {"Rank intervals", "Who can win", "Rules: properties", "Stability: plan of the studies"} <= set(
        re.findall(r'<th scope="row">([^<]*)</th>', page)
    )
    assert "is newer" not in page
    make.accepted(benchmark, {"E": [1.0] * 5})
    page = compact(client.get(reverse("status")))
    rows = re.findall(r"<tr>(.*?)</tr>", page.partition('id="jobs"')[2])
    first = [row for row in rows if ">Rank intervals</th>" in row and '<td class="number">1</td>' in row]
    assert ["revision 2 is newer" in row and "queued" in row for row in first] == [True]
    assert "waiting" not in page.partition('id="jobs"')[2]


def test_only_a_newer_job_about_a_revision_is_why_one_is_skipped(client, make, monkeypatch):
    benchmark = make.published()
    Benchmark.objects.update(last_revision_number=20)
    Job.objects.update(state="done")
    common = {"benchmark": benchmark, "queue": "studies", "engine_version": __version__, "not_before": now()}

    def wait(kind: str, subject: str, *numbers: int) -> None:
        for n in numbers:
            Job.objects.create(kind=kind, subject_kind=subject, subject_id=9000 + n, sequence=n, **common)

    wait("votes", "votechange", 1, 2)  # numbers of changes of votes, not of revisions
    wait("merge:missing_scores", "revision", 3, 4)  # each is wanted
    page = compact(client.get(reverse("status")))
    assert "is newer" not in page
    assert len(re.findall(r"position \d+, ", page)) == 3
    # One without a place because so many others wait is not skipped for it.
    monkeypatch.setattr("leaderboard.queue.places.MAX_JOBS", 0)
    assert "is newer" not in compact(client.get(reverse("status")))
    wait("axioms", "revision", 3, 4)
    assert len(re.findall("revision 4 is newer", compact(client.get(reverse("status"))))) == 1


def test_the_page_of_studies_asks_again_for_what_waits_alone(client, make):
    benchmark = make.published()
    url = reverse("stability", args=[benchmark.key])
    page = compact(client.get(url))
    assert refreshes(page)
    (ids,) = re.findall(r'hx-select-oob="([^"]*)"', page)
    assert all(f'id="{one.removeprefix("#")}"' in page for one in ids.split(","))
    Job.objects.update(state="done")
    assert not refreshes(compact(client.get(url)))
