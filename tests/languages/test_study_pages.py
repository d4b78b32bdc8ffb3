"""Pages of a board with results of studies, in the pseudo-language: each text that is shown is marked."""

import pytest
from django.urls import reverse

from jobs.runner import run_job
from leaderboard.models import Job
from leaderboard.queue.kinds import PROSPECTS
from tests.factories import owner_of
from tests.languages.test_pages import english_in
from tests.signing_in import signed_in

SCORES = {
    "Anna": [3.0, 3.0, 1.0, 1.0, 3.0],
    "Bert": [2.0, 2.0, 3.0, 3.0, 2.0],
    "Carl": [1.0, 1.0, 2.0, 2.0, 1.0],
    "Dora": [0.5, 1.0, 2.5, 2.5, None],
    "Emil": [None, None, None, None, None],
}


def run(benchmark, kind: str) -> None:
    job = Job.objects.get(kind=kind, benchmark=benchmark, sequence=benchmark.published_number)
    assert run_job(job.pk, worker="test") == "done"


@pytest.fixture(scope="module")
def board_once(make_once):
    benchmark = make_once.published(SCORES, name="Bench")
    run(benchmark, PROSPECTS)
    return benchmark


def english_on(client, address: str) -> list[str]:
    page = client.get(address)
    assert page.status_code == 200
    return english_in(page.content)


@pytest.mark.parametrize(
    "query",
    [
        "", "?verdict=all", "?of1=task:task-1&least1=30", "?more=task:task-1&less=task:task-2&rule=borda", "?rule=mean",
        "?goal=minimise&goal_of=task:task-1&of1=task:task-2&most1=50", "?of1=task:task-1&least1=x",
        "?conditions=nothing", "?conditions=Task 9 >= 0.3",
    ],
)  # fmt: skip
def test_who_can_win_is_in_the_language_of_the_site(make, board_once, pseudo_language, query):
    client = signed_in(owner_of(board_once))
    assert english_on(client, reverse("prospects", args=[board_once.key]) + query) == []
