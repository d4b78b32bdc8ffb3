"""Predictions that are sent once more, and what the owners change while the files are read."""

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.evaluation import receiving
from leaderboard.evaluation.problems import EvaluationError
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.models import Benchmark, Phase, PredictionSubmission
from leaderboard.submissions.problems import SubmissionError
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import IdempotencyError
from tests.leaderboard.evaluation.made import labels_file, texts_benchmark, upload

DAY = timedelta(days=1)


def phase_of(benchmark, name="Final", **fields):
    return Phase.objects.create(benchmark=benchmark, **{"name": name, "opens_at": timezone.now() - DAY, **fields})


def close_phase(benchmark):
    Phase.objects.filter(benchmark=benchmark).update(closes_at=timezone.now())


def pass_deadline(benchmark):
    Benchmark.objects.filter(pk=benchmark.pk).update(deadline=timezone.now())


def archive_task(benchmark):
    benchmark.tasks.filter(key="animals").update(is_archived=True)


@pytest.mark.parametrize("change", [close_phase, pass_deadline, archive_task])
def test_a_call_that_is_repeated_answers_the_same_whatever_was_closed_since(make, change):
    benchmark, user = texts_benchmark(make), make.user()
    phase_of(benchmark, closes_at=timezone.now() + DAY)
    first, is_new = submit_predictions(benchmark, user, upload(idempotency_key="run-1"))
    change(benchmark)
    benchmark.refresh_from_db()
    assert (is_new, submit_predictions(benchmark, user, upload(idempotency_key="run-1"))) == (True, (first, False))
    assert PredictionSubmission.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        upload("Eliza", idempotency_key="run-1"),
        upload(animals=labels_file(), idempotency_key="run-1"),
        upload(animals=labels_file(["cat"] * 8), numbers=b"id,prediction\nn1,1\n", idempotency_key="run-1"),
        PredictionUpload(SubmittedRow("Deep Thought"), table=("all.csv", b"no table"), idempotency_key="run-1"),
        PredictionUpload(SubmittedRow("Deep Thought"), {"plants": ("p.csv", b"id\n")}, idempotency_key="run-1"),
    ],
    ids=["system", "fewer tasks", "other files", "table", "unknown task"],
)
def test_a_key_that_was_used_for_another_upload_is_refused(make, other):
    benchmark, user = texts_benchmark(make), make.user()
    submit_predictions(benchmark, user, upload(idempotency_key="run-1"))
    with pytest.raises(IdempotencyError, match=r"^This idempotency key was already used for another upload;"):
        submit_predictions(benchmark, user, other)
    assert PredictionSubmission.objects.count() == 1


def test_one_table_for_all_tasks_is_recognised_with_its_key(make):
    benchmark, user = texts_benchmark(make), make.user()
    rows = [*(f"Animals,i{k},cat" for k in range(2, 8)), *(f"numbers,n{k},1.5" for k in range(1, 4))]
    table = ("all.csv", "\n".join(["task,id,prediction", *rows]).encode())
    sent = PredictionUpload(SubmittedRow("Deep Thought"), table=table, idempotency_key="run-1")
    first, _ = submit_predictions(benchmark, user, sent)
    pass_deadline(benchmark)
    assert submit_predictions(benchmark, user, sent) == (first, False)


def lower_cap(benchmark):
    Phase.objects.filter(benchmark=benchmark).update(total_cap=1)


def open_another(benchmark):
    phase_of(benchmark, "Second", opens_at=timezone.now())


def count_development(benchmark):
    Phase.objects.filter(benchmark=benchmark).update(split="development")


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (close_phase, EvaluationError, "No phase is open: Final closed on "),
        (lower_cap, EvaluationError, "In Final you can submit predictions 1 time in all; you have submitted 1."),
        (open_another, EvaluationError, "The phase changed while your files were read. Submit them again."),
        (count_development, EvaluationError, "The phase changed while your files were read. Submit them again."),
        (pass_deadline, SubmissionError, "You cannot submit to "),
    ],
)
def test_what_the_owners_change_while_files_are_read_counts(make, monkeypatch, change, error, sentence):
    benchmark, user = texts_benchmark(make), make.user()
    phase_of(benchmark, total_cap=5)
    submit_predictions(benchmark, user, upload())

    def read_files(*given):
        files = read(*given)
        change(benchmark)
        return files

    read = receiving.read_files
    monkeypatch.setattr(receiving, "read_files", read_files)
    with pytest.raises(error) as caught:
        submit_predictions(benchmark, user, upload())
    assert str(caught.value).startswith(sentence)
    assert PredictionSubmission.objects.count() == 1
