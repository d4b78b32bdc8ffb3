"""Predictions on their way: checked, scored in a sealed child, and an ordinary submission in the end."""

import pytest

from leaderboard.models import Batch, InstanceScores, PredictionFile, Revision, Score
from leaderboard.submissions.instances.vectors import unpack_names, unpack_vector
from tests.leaderboard.evaluation.made import (
    LABELS,
    hidden_benchmark,
    labels_file,
    numbers_file,
    scored,
)

pytestmark = pytest.mark.django_db


def test_predictions_become_a_submission_with_scores_errors_and_single_instances(make):
    benchmark, user = hidden_benchmark(make), make.user()
    wrong = ["dog" if k == 7 or k == 2 else label for k, label in enumerate(LABELS)]
    row = scored(benchmark, user, animals=labels_file(wrong), numbers=numbers_file((1.5, 2.5, 7.0)))
    assert (row.state, row.problems, row.outcome) == ("scored", [], "It is the first one that was scored.")
    assert row.submission.state == "accepted"
    cells = {
        score.task.key: (score.value, score.standard_error, score.n_instances)
        for score in Score.objects.filter(submission=row.submission).select_related("task")
    }
    assert cells["animals"] == (pytest.approx(5 / 6), pytest.approx(1 / 6), 6)
    assert cells["numbers"][0] == pytest.approx(3**0.5)
    single = InstanceScores.objects.get(submission=row.submission, task__key="animals")
    assert unpack_names(single.instance_set.names) == [f"i{k}" for k in range(2, 8)]
    assert unpack_vector(single.values).tolist() == [0, 1, 1, 1, 1, 1]
    by = PredictionFile.objects.get(prediction_submission=row, task__key="animals").results["by"]
    assert (by["references"], by["metric"]) == (1, "accuracy")
    assert Revision.objects.filter(benchmark=benchmark).count() == 1
    assert Batch.objects.get(benchmark=benchmark).idempotency_key == f"predictions {row.uuid}"
