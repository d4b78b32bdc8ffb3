"""What board, list and form say of phases and of the Ladder, and that they offer only what is accepted."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.common.moments import moment_in_words
from leaderboard.evaluation.phases import store_phase, use_ladder
from leaderboard.models import Phase, PredictionSubmission
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import REFERENCES, add_references, labels_file, texts_benchmark
from tests.markup import compact
from tests.signing_in import signed_in

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
LADDER = "What counts is decided by the Ladder: the first submission of each team"
NO_SCORES = "The site does not tell the scores of a submission that is not better."
BUTTON = ">Submit predictions<"


@pytest.fixture
def benchmark(make):
    """Labels that are public and private, and none for development."""
    benchmark = make.benchmark({}, n_tasks=1)
    halves = REFERENCES.replace("development", "public").replace("i7,dog,test", "i7,dog,private")
    add_references(benchmark.tasks.get(), halves.replace(",test", ",public"), "exact_match", by=owner_of(benchmark))
    return benchmark


@pytest.fixture
def browser(make):
    return signed_in(make.user())


def phase_of(benchmark, opens, closes, name="Final", **values) -> Phase:
    now = timezone.now()
    values = {"opens_at": now + opens * DAY, "closes_at": now + closes * DAY, "split": "public"} | values
    return store_phase(benchmark, values | {"name": name}, author=owner_of(benchmark))


def pages_of(browser, benchmark) -> list[str]:
    """The board, the list of own predictions, and the form."""
    return [
        compact(browser.get(reverse(route, args=[benchmark.key])))
        for route in ("board", "predictions", "new_predictions")
    ]


def test_after_a_phase_closed_pages_say_so_and_offer_no_form(browser, benchmark):
    phase_of(benchmark, -2, 1)
    assert all(BUTTON in page for page in pages_of(browser, benchmark))
    closed_at = timezone.now() - DAY
    Phase.objects.update(closes_at=closed_at)
    board, listed, form = pages_of(browser, benchmark)
    moment = moment_in_words(closed_at)
    assert f"<li>Final closed on {moment}</li>" in board
    for page in (listed, form):
        assert f"No phase is open: Final closed on {moment}." in page
    address = reverse("new_predictions", args=[benchmark.key])
    assert not any(address in page for page in (board, listed))
    assert 'type="file"' not in form
    assert not any(BUTTON in page for page in (board, listed))
    anonymous = compact(Client().get(reverse("board", args=[benchmark.key])))
    assert BUTTON not in anonymous
    phase_of(benchmark, 3, 4, "Next")
    opens_at = moment_in_words(Phase.objects.get(name="Next").opens_at)
    board, listed, form = pages_of(browser, benchmark)
    assert f"<li>Next opens on {opens_at}</li>" in board
    assert f"No phase is open: Next opens on {opens_at}." in listed


def test_the_form_that_was_open_when_the_phase_closed_stores_nothing(browser, benchmark):
    phase_of(benchmark, -2, -1)
    answer = browser.post(
        reverse("new_predictions", args=[benchmark.key]),
        {"system_name": "A", "table": SimpleUploadedFile("a.csv", b"task,id,prediction\n")},
    )
    assert answer.status_code == 403
    assert "No phase is open: Final closed on" in compact(answer)
    assert not PredictionSubmission.objects.exists()


def test_pages_say_which_split_the_scores_are_of_before_and_after_a_phase_closed(browser, benchmark):
    now = timezone.now()
    phase = phase_of(benchmark, -2, 1, private_at=now + 2 * DAY)

    def sentence_there() -> str:
        board = compact(browser.get(reverse("board", args=[benchmark.key])))
        sentence = board.split("Scores of Final are ")[1].split("</li>")[0]
        manage = compact(signed_in(owner_of(benchmark)).get(reverse("manage_phases", args=[benchmark.key])))
        assert f"Scores of Final are {sentence}. " in manage
        return sentence

    before = (
        f"those on a public part of the instances, and from {moment_in_words(phase.private_at)} on the private part"
    )
    assert sentence_there() == before
    Phase.objects.update(closes_at=now - DAY)
    assert sentence_there() == before
    Phase.objects.update(private_at=now - DAY)
    assert sentence_there() == (
        "those on a public part of the instances; those on the private part follow once all predictions are scored and "
        "decided on"
    )
    Phase.objects.update(went_private_at=now)
    assert sentence_there() == f"those on the private part of the instances since {moment_in_words(now)}"


def test_trial_runs_go_on_where_no_phase_is_open_and_the_form_says_that_they_are_all(make, browser):
    benchmark = texts_benchmark(make)
    phase_of(benchmark, 1, 2, split="test")
    board, listed, form = pages_of(browser, benchmark)
    assert "Final opens on" in board
    assert all(BUTTON in page for page in (board, listed, form))
    assert "No phase is open: Final opens on" in form
    assert "The site takes only trial runs now." in form
    assert "checked" in form.split('name="is_trial"')[1].split(">")[0]
    path = reverse("new_predictions", args=[benchmark.key])
    sent = {
        "system_name": "A",
        "is_trial": "on",
        "file-animals": SimpleUploadedFile("a.csv", labels_file(ids=range(2))),
    }
    assert browser.post(path, sent).status_code == 302
    assert PredictionSubmission.objects.get().is_trial


@pytest.mark.parametrize("has_phase", [True, False])
def test_with_the_ladder_form_and_phases_state_its_rules_and_not_those_of_the_phase(browser, benchmark, has_phase):
    if has_phase:
        phase_of(benchmark, -2, 1, counts="best")
    else:
        add_references(benchmark.tasks.get(), REFERENCES, "exact_match", by=owner_of(benchmark))
    path = reverse("new_predictions", args=[benchmark.key])
    form = compact(browser.get(path))
    assert LADDER not in form
    assert "You can leave tasks out." in form
    best = "A new one replaces it if the tasks on which it is better weigh more than those on which it is worse."
    assert (best in form) == has_phase
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    form = compact(browser.get(path))
    for sentence in (LADDER, "Submit predictions for all tasks.", NO_SCORES):
        assert sentence in form
    for sentence in (best, "You can leave tasks out."):
        assert sentence not in form
    if has_phase:
        owner = signed_in(owner_of(benchmark))
        assert LADDER in compact(owner.get(reverse("manage_phases", args=[benchmark.key])))
        terms = browser.get(f"/api/v1/benchmarks/{benchmark.key}/phases/").json()["results"][0]["terms"]
        assert NO_SCORES in terms
        assert best not in terms
