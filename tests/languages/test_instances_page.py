"""Pages of single instances in the pseudo-language, with all kinds of results."""

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.models import Job, Report
from leaderboard.queue.kinds import INSTANCES
from leaderboard.submissions.uploads import submit_upload
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_pages import english_in, english_within
from tests.leaderboard.api.test_instances import upload_of
from tests.signing_in import signed_in

SYSTEMS = [f"S{k:02}" for k in range(16)]


def published(make, cells, n_tasks):
    benchmark = make.benchmark({}, n_tasks=n_tasks, name="Bench")
    submit_upload(benchmark, owner_of(benchmark), upload_of(cells))
    return make.publish(make.publish(benchmark), studies=True)


def of_two_tasks(make):
    """A board of two tasks, one of right and wrong answers, with a label that may be wrong."""
    random = np.random.default_rng(8)
    ability, difficulty = np.linspace(-2, 2, 16), random.normal(0, 1, 40)
    block = (random.random((16, 40)) < 1 / (1 + np.exp(-2 * (ability[:, None] - difficulty)))).astype(float)
    block[:, 0], block[:, 1], block[:, 2] = 1.0, 0.0, ability < 0
    cells = {(s, "Task 1", f"q{u:02}"): float(block[k, u]) for k, s in enumerate(SYSTEMS) for u in range(40)}
    cells |= {(s, "Task 2", f"q{u:02}"): k + u / 10 for k, s in enumerate(SYSTEMS) for u in range(10)}
    return published(make, cells, 2)


def of_nine_tasks(make):
    """A board of nine tasks, enough for rank intervals if tasks are drawn again."""
    random = np.random.default_rng(4)
    cells = {
        (system, f"Task {t}", f"q{u:02}"): float(random.random() < 0.3 + 0.2 * k)
        for t in range(1, 10) for k, system in enumerate(SYSTEMS[:3]) for u in range(12)
    }  # fmt: skip
    return published(make, cells, 9)


@pytest.fixture(scope="module")
def boards(make_once):
    return {board: board(make_once) for board in (of_two_tasks, of_nine_tasks)}


@pytest.mark.parametrize("board", [of_two_tasks, of_nine_tasks])
def test_ranks_by_single_instances_are_in_the_language_of_the_site(make, boards, pseudo_language, board):
    page = signed_in(owner_of(boards[board])).get(reverse("instances", args=[boards[board].key])).content
    assert (english_in(page), english_within(page)) == ([], [])
    assert pseudo("Two levels and one level") in page.decode()


def test_why_there_are_no_ranks_by_instances_is_in_the_language_of_the_site(make, boards, pseudo_language):
    benchmark = boards[of_nine_tasks]
    client, address = signed_in(owner_of(benchmark)), reverse("instances", args=[benchmark.key])
    reason = "no task of weight above 0 has scores of single instances"
    Report.objects.filter(kind=INSTANCES).update(summary={"status": "undefined", "reason": reason})
    assert pseudo(reason) in client.get(address).content.decode()
    Report.objects.filter(kind=INSTANCES).delete()
    for state in (Job.State.WAITING, Job.State.FAILED, Job.State.SUPERSEDED):
        Job.objects.filter(kind=INSTANCES).update(state=state)
        page = client.get(address).content
        assert (english_in(page), english_within(page)) == ([], [])
    Job.objects.filter(kind=INSTANCES).delete()
    assert english_in(client.get(address).content) == []
