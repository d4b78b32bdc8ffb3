"""Corrected references: everything on the board is scored again, and one revision says what changed."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.tokens import create_token
from leaderboard.evaluation.board_moves import figures_of, ladder_score
from leaderboard.evaluation.phases import store_phase, use_ladder
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.rescoring import outdated, score_again
from leaderboard.models import Batch, Notice, PredictionSubmission, Revision, Score
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    REFERENCES,
    add_references,
    labels_file,
    score_all,
    scored,
    texts_benchmark,
)

pytestmark = pytest.mark.django_db


def animals(benchmark) -> dict[str, float]:
    rows = PredictionSubmission.objects.filter(benchmark=benchmark).select_related("submission")
    return {row.system_name: Score.objects.get(submission=row.submission, task__key="animals").value for row in rows}


def test_all_scores_change_together_with_one_revision(make, client):
    benchmark, user = texts_benchmark(make), make.user()
    owner = owner_of(benchmark)
    wrong = ["dog"] * 8
    scored(benchmark, user, name="Right", animals=labels_file())
    scored(benchmark, make.user(), name="Dogs", animals=labels_file(wrong))
    assert animals(benchmark) == {"Right": 1.0, "Dogs": pytest.approx(0.5)}
    with pytest.raises(EvaluationError, match="newest references"):
        score_again(audience_of(owner, benchmark))
    task = benchmark.tasks.get(key="animals")
    add_references(task, REFERENCES.replace("i2,cat", "i2,dog"), "exact_match", by=owner)
    benchmark.refresh_from_db()
    n_before = Revision.objects.filter(benchmark=benchmark).count()
    client.force_login(owner)
    page = " ".join(client.get(reverse("predictions", args=[benchmark.key])).content.decode().split())
    assert "2 submissions on the board were scored against references that you corrected since." in page
    assert score_again(audience_of(owner, benchmark)) == 2
    assert score_all(benchmark) == ["done", "done"]
    assert animals(benchmark) == {"Right": pytest.approx(5 / 6), "Dogs": pytest.approx(4 / 6)}
    assert Revision.objects.filter(benchmark=benchmark).count() == n_before + 1
    batch = Batch.objects.filter(benchmark=benchmark).order_by("-pk")[0]
    assert (batch.source, batch.note) == ("correction", "Scored again against corrected references: Animals (2).")
    notices = Notice.objects.filter(user=user).values_list("words", flat=True)
    assert list(notices.filter(kind="decision").order_by("-pk")[:1]) == [batch.note]
    benchmark.refresh_from_db()
    assert outdated(benchmark) == []
    row = PredictionSubmission.objects.get(submitter=user)
    assert (row.state, row.scored_with, row.rescored_by) == ("scored", {"animals": 2}, None)
    assert row.submission.corrects is not None


def test_single_instances_of_hidden_references_are_for_owners_alone(make, client):
    benchmark, user = texts_benchmark(make), make.user()
    scored(benchmark, user, animals=labels_file())
    make.publish(benchmark, studies=True)
    path = f"/api/v1/benchmarks/{benchmark.key}/instances/animals/"
    assert client.get(path).status_code == 403
    for who, status in ((user, 403), (owner_of(benchmark), 200)):
        _, secret = create_token(who, name="reader", scopes=["read"], days=30)
        assert client.get(path, headers={"Authorization": f"Token {secret}"}).status_code == status
    page = client.get(f"/b/{benchmark.key}/instances/").content.decode()
    assert ">i2<" not in page


@pytest.mark.parametrize("keeps_splits", [True, False])
def test_in_a_phase_on_the_public_split_tasks_without_one_are_scored_again_too(make, keeps_splits):
    benchmark, user = texts_benchmark(make), make.user()
    owner, task = owner_of(benchmark), benchmark.tasks.get(key="animals")
    halves = REFERENCES.replace("test", "public").replace("i7,dog,public", "i7,dog,private")
    add_references(task, halves, "exact_match", by=owner)
    values = {"name": "Final", "opens_at": timezone.now() - timedelta(days=1), "split": "public"}
    store_phase(benchmark, values, author=owner)
    scored(benchmark, user)
    corrected = (halves if keeps_splits else REFERENCES).replace("i2,cat", "i2,dog")
    add_references(task, corrected, "exact_match", by=owner)
    benchmark.refresh_from_db()
    assert score_again(audience_of(owner, benchmark)) == 1
    assert score_all(benchmark) == ["done"]
    row = PredictionSubmission.objects.get()
    assert (row.state, row.rescored_by) == ("scored", None)
    assert animals(benchmark) == {"Deep Thought": pytest.approx(4 / 5 if keeps_splits else 5 / 6)}


def test_scored_again_the_ladder_states_no_further_digits(make):
    benchmark, user = texts_benchmark(make), make.user()
    owner = owner_of(benchmark)
    use_ladder(benchmark, uses_ladder=True, author=owner)
    scored(benchmark, user)
    heavy = "id,reference,weight\nn1,1.5,1\nn2,2.5,1\nn3,5.1,2.5\n"
    add_references(benchmark.tasks.get(key="numbers"), heavy, "exact_match", by=owner)
    benchmark.refresh_from_db()
    score_again(audience_of(owner, benchmark))
    assert score_all(benchmark) == ["done"]
    row = PredictionSubmission.objects.get()
    figures = figures_of(list(row.files.select_related("task")), "test", with_values=False)
    figure = figures[benchmark.tasks.get(key="numbers").pk]
    score = Score.objects.get(submission=row.submission, task__key="numbers").value
    assert figure.value == pytest.approx(2 / 4.5)
    assert score == pytest.approx(ladder_score(figure)) != figure.value
