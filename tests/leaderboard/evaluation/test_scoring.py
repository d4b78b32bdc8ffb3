"""Predictions on their way: checked, scored in a sealed child, and an ordinary submission in the end."""

from hashlib import sha256

import pytest
from django.urls import reverse

from leaderboard.models import Batch, InstanceScores, PredictionFile, Revision, Score
from leaderboard.rankings.instances import unpack_names
from leaderboard.submissions.instances.vectors import unpack_vector
from tests.factories import owner_of
from tests.leaderboard.evaluation.made import (
    LABELS,
    NUMBERS,
    add_references,
    hidden_benchmark,
    labels_file,
    numbers_file,
    scored,
)
from tests.markup import compact

pytestmark = pytest.mark.django_db
OF_ANIMALS = labels_file(["dog" if k == 2 else label for k, label in enumerate(LABELS)])
OF_NUMBERS = numbers_file((1.5, 2.5, 7.0))


@pytest.fixture(scope="module")
def predicted(make_once):
    """Predictions for two tasks, scored by metrics of a library."""
    benchmark = hidden_benchmark(make_once, "accuracy")
    return scored(benchmark, make_once.user(), animals=OF_ANIMALS, numbers=OF_NUMBERS)


def test_predictions_become_a_submission_with_scores_errors_and_single_instances(predicted):
    row, benchmark = predicted, predicted.benchmark
    assert (row.state, row.problems, row.outcome) == ("scored", [], "It is the first one that was scored.")
    assert row.submission.state == "accepted"
    cells = {
        score.task.key: (score.value, score.standard_error, score.n_instances)
        for score in Score.objects.filter(submission=row.submission).select_related("task")
    }
    assert cells["animals"] == (pytest.approx(5 / 6), None, 6), "six instances have no error that can be stated"
    assert cells["numbers"][0] == pytest.approx(3**0.5)
    single = InstanceScores.objects.get(submission=row.submission, task__key="animals")
    assert unpack_names(single.instance_set.names) == [f"i{k}" for k in range(2, 8)]
    assert unpack_vector(single.values).tolist() == [0, 1, 1, 1, 1, 1]
    by = PredictionFile.objects.get(prediction_submission=row, task__key="animals").results["by"]
    assert (by["references"], by["metric"]) == (1, "accuracy")
    assert Revision.objects.filter(benchmark=benchmark).count() == 1
    assert Batch.objects.get(benchmark=benchmark).idempotency_key == f"predictions {row.uuid}"


def test_a_submission_says_what_its_scores_were_computed_from_on_its_page_and_in_the_api(predicted, client):
    row = predicted
    provenance = [
        {
            "system": "Deep Thought",
            "task": file.task.key,
            "sha256": sha256(data).hexdigest(),
            "metric": metric,
            "library": " ".join(filter(None, (file.results["by"]["library"], file.results["by"]["library_version"]))),
            "references": 1,
        }
        for file, data, metric in zip(
            row.files.order_by("pk"), (OF_ANIMALS, OF_NUMBERS), ("accuracy", "rmse"), strict=True
        )
    ]
    client.force_login(row.submitter, backend="django.contrib.auth.backends.ModelBackend")
    batch = row.submission.batch
    assert client.get(f"/api/v1/submissions/{batch.uuid}/").json()["scored_files"] == provenance
    page = compact(client.get(reverse("batch", args=[batch.uuid])))
    for one in provenance:
        assert f'<code class="wrap">{one["sha256"]}</code>' in page
        assert f"references 1, {one['library']}" in page


def test_a_submission_of_scores_names_no_files(make, client):
    benchmark = make.benchmark()
    batch = Batch.objects.get(benchmark=benchmark)
    assert client.get(f"/api/v1/submissions/{batch.uuid}/").json()["scored_files"] == []
    assert "What the scores were computed from" not in compact(client.get(reverse("batch", args=[batch.uuid])))


def test_the_form_for_scores_leads_to_predictions_where_the_benchmark_takes_them(make, client):
    client.force_login(make.user(), backend="django.contrib.auth.backends.ModelBackend")
    mixed = make.benchmark({}, n_tasks=2)
    add_references(mixed.tasks.first(), NUMBERS, "exact_match", by=owner_of(mixed))
    for benchmark, leads in ((mixed, True), (make.benchmark(), False)):
        page = compact(client.get(reverse("submit", args=[benchmark.key])))
        assert (reverse("new_predictions", args=[benchmark.key]) in page) == leads
