"""Scores of tasks with references come from predictions alone, and a refusal tells nothing of how good they are."""

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.evaluation.phases import use_ladder
from leaderboard.evaluation.receiving import submit_predictions
from leaderboard.models import Score
from leaderboard.submissions.checks import check_rows
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.files.problems import InputError
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    hidden_benchmark,
    labels_file,
    numbers_file,
    score_all,
    scored,
    texts_benchmark,
    upload,
)

pytestmark = pytest.mark.django_db


def problems_of(audience, row: SubmittedRow) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        check_rows(audience, [row])
    return [(one.place, one.message) for one in caught.value.problems.listed]


def test_no_one_brings_a_score_of_their_own_for_a_task_whose_references_are_hidden(make):
    benchmark, user = texts_benchmark(make, submission_policy="open"), make.user()
    row = scored(benchmark, user)
    audience = audience_of(user, benchmark)
    refused = [("animals", "scores of Animals come from predictions, which you can submit; leave this score out")]
    assert problems_of(audience, SubmittedRow("Eve", {"animals": 1.0})) == refused
    assert problems_of(audience, SubmittedRow("Eve", {"animals": "1.0", "numbers": None})) == refused
    correction = SubmittedRow("Deep Thought", {"animals": 0.99}, corrects=str(row.submission.uuid))
    assert problems_of(audience, correction)[0] == refused[0]
    assert Score.objects.filter(submission__benchmark=benchmark, task__key="animals").count() == 1


def test_owners_can_enter_scores_themselves(make):
    benchmark = hidden_benchmark(make)
    checked = check_rows(audience_of(owner_of(benchmark), benchmark), [SubmittedRow("Baseline", {"animals": 0.5})])
    assert checked[0]["scores"]["animals"]["value"] == 0.5


@pytest.mark.parametrize("is_better", [True, False])
def test_a_name_that_others_took_meanwhile_is_refused_however_good_the_predictions_are(make, is_better):
    benchmark, user = texts_benchmark(make, submission_policy="open"), make.user()
    use_ladder(benchmark, uses_ladder=True, author=owner_of(benchmark))
    animals = labels_file() if is_better else labels_file(["cat"] * 8)
    numbers = numbers_file() if is_better else numbers_file([9.0, 9.0, 9.0])
    scored(benchmark, user, name="First", animals=labels_file(["dog"] * 8), numbers=numbers_file([5.0, 5.0, 7.0]))
    waiting, _ = submit_predictions(benchmark, user, upload("Taken", animals=animals, numbers=numbers))
    make.accepted(benchmark, {"Taken": [0.1, 1.0]})
    score_all(benchmark)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.outcome, waiting.submission) == ("refused", "", None)
