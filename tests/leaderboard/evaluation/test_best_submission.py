"""Which submission of predictions the scores are of, and which is on the board: on pages, in lists, by the API."""

from datetime import timedelta
from hashlib import sha256
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.phases import store_phase, use_ladder
from leaderboard.evaluation.private_boards import open_private_boards
from leaderboard.evaluation.teams import found_team
from leaderboard.models import Phase
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import add_references, labels_file, scored, texts_benchmark
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
N = 40
LABELS = ["yes" if k % 3 else "no" for k in range(N)]


def labels_with(n_wrong: int) -> bytes:
    labels = [("no" if label == "yes" else "yes") if k < n_wrong else label for k, label in enumerate(LABELS)]
    return labels_file(labels, range(N))


@pytest.fixture
def benchmark(make):
    """One task; half of its instances are public, of which the predictions here have the same share right."""
    benchmark = make.benchmark({}, n_tasks=1)
    rows = "".join(f"i{k},{label},{'public' if k % 2 else 'private'}\n" for k, label in enumerate(LABELS))
    owner, now = owner_of(benchmark), timezone.now()
    add_references(benchmark.tasks.get(), f"id,reference,split\n{rows}", "exact_match", by=owner)
    values = {"name": "Final", "opens_at": now - DAY, "closes_at": now + DAY, "split": "public",
              "private_at": now + 2 * DAY}  # fmt: skip
    store_phase(benchmark, values, author=owner)
    benchmark.tasks.update(key="animals")
    return benchmark


@pytest.fixture
def submitted(make, benchmark):
    """The best of a team, and one of its other member that is not better."""
    ada, bob = make.user("Ada"), make.user("Bob")
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    found_team(benchmark, ada, "Owls").memberships.create(benchmark=benchmark, user=bob)
    return scored(benchmark, ada, name="Tree", animals=labels_with(4)), scored(
        benchmark, bob, name="Constant", animals=labels_with(20)
    )


def answer_of(user, path: str) -> dict:
    """What the API answers to a program of this user."""
    _, secret = create_token(user, name=f"notebook {uuid4()}", scopes=["read"], days=30)
    return Client(headers={"Authorization": f"Bearer {secret}"}).get(f"/api/v1/{path}").json()


def api_of(row) -> dict:
    return answer_of(row.submitter, f"predictions/{row.uuid}/")


def test_a_page_names_the_submission_of_which_the_ladder_tells_the_scores(submitted):
    best, other = submitted
    for route in ("prediction", "prediction_progress"):
        page = compact(signed_in(other.submitter).get(reverse(route, args=[other.uuid])))
        heading = page.split('<h2 id="results">')[1].split("</h2>")[0].strip()
        address = reverse("prediction", args=[best.uuid])
        assert route == "prediction_progress" or "<title>Predictions of Constant for " in page
        assert heading == f'Results of the best submission so far: <a href="{address}">Tree</a>'
        assert "This submission of Constant is not on the board. With the Ladder" in page
        assert "0.9000" in page, "of 20 public instances the best one has two wrong"
        assert "0.5000" not in page, "its own score"
    own = compact(signed_in(best.submitter).get(reverse("prediction", args=[best.uuid])))
    assert '<h2 id="results">Results</h2>' in own


def test_the_api_puts_no_file_beside_the_score_of_another_one(submitted):
    best, other = submitted
    answer = api_of(other)
    (own,), of_best = answer["results"], answer["best"]
    assert (own["sha256"], own["value"]) == (sha256(labels_with(20)).hexdigest(), None)
    assert (of_best["uuid"], of_best["system"]) == (str(best.uuid), "Tree")
    (result,) = of_best["results"]
    assert (result["sha256"], result["value"]) == (sha256(labels_with(4)).hexdigest(), 0.9)
    answer = api_of(best)
    assert (answer["best"], answer["results"]) == (None, [result])


def test_without_the_ladder_everyone_sees_the_own_scores(make, benchmark):
    user = make.user()
    scored(benchmark, user, name="A", animals=labels_with(4))
    other = scored(benchmark, user, name="A", animals=labels_with(20))
    answer = api_of(other)
    assert (answer["best"], answer["results"][0]["value"]) == (None, 0.5)


def test_the_list_says_which_submission_is_on_the_board_also_by_a_correction(submitted, benchmark):
    best, _ = submitted
    now = timezone.now()

    def places() -> dict[str, str]:
        page = compact(signed_in(best.submitter).get(reverse("predictions", args=[benchmark.key])))
        states = [cell.split("</td>")[0] for cell in page.split('<td data-label="State">')[1:]]
        results = answer_of(best.submitter, f"benchmarks/{benchmark.key}/predictions/")["results"]
        assert states == [f"scored, {one['place']}" for one in results]
        return {one["system"]: one["place"] for one in results}

    assert places() == {"Tree": "on the board", "Constant": "not on the board"}
    Phase.objects.update(opens_at=now - 5 * DAY, closes_at=now - 4 * DAY, private_at=now - 3 * DAY)
    assert open_private_boards() == 1
    assert places() == {"Tree": "on the board", "Constant": "not on the board"}


def test_the_list_says_what_replaced_waiting_and_trial_submissions_came_to(make):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, name="A", animals=labels_file(["cat"] * 8))
    scored(benchmark, user, name="A", animals=labels_file())
    scored(benchmark, user, name="A", animals=labels_file(ids=range(2)), is_trial=True)
    type(benchmark).objects.filter(pk=benchmark.pk).update(submission_policy="moderated")
    benchmark.refresh_from_db()
    scored(benchmark, user, name="B", animals=labels_file())
    results = answer_of(user, f"benchmarks/{benchmark.key}/predictions/")["results"]
    assert [one["place"] for one in results] == [
        "waiting for a moderator", "", "on the board", "replaced by a later submission",
    ]  # fmt: skip
