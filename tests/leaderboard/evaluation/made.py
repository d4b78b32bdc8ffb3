"""Benchmarks whose tasks have references, and predictions for them, stored as the site stores them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.test import override_settings

from jobs.runner import run_job
from leaderboard.benchmarks.create import TaskSpec
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.models import Benchmark, Job, PredictionSubmission, Task, TaskReferences, User
from leaderboard.submissions.rows import SubmittedRow
from ranking_engine.evaluation.metrics import METRICS
from tests.factories import Factory, owner_of

LABELS = ["cat", "dog", "cat", "dog", "cat", "cat", "dog", "dog"]
REFERENCES = "id,reference,split\n" + "".join(
    f"i{k},{label},{'development' if k < 2 else 'test'}\n" for k, label in enumerate(LABELS)
)
NUMBERS = "id,reference\nn1,1.5\nn2,2.5\nn3,4.0\n"


def add_references(
    task: Task, text: str, metric: str, options: Mapping[str, Any] | None = None, *, by: User
) -> TaskReferences:
    """A further version of a task's references."""
    return store_references(task, check_file(text.encode(), "references.csv", metric, options or {}), author=by)


def add_predictions(benchmark: Benchmark, *, by: User) -> PredictionSubmission:
    """References of the second task of a benchmark, and predictions for it that wait."""
    task = benchmark.tasks.order_by("order", "pk")[1]
    add_references(task, NUMBERS, "mae", by=owner_of(benchmark))
    files = {task.key: ("numbers.csv", numbers_file())}
    return submit_predictions(benchmark, by, PredictionUpload(SubmittedRow("Predicted"), files))[0]


def hidden_benchmark(
    make: Factory, metric: str = "exact_match", *, of_numbers: str = "rmse", **fields: Any
) -> Benchmark:
    """Two tasks: labels, and numbers, scored by the root mean squared error, where less is better.

    Args:
        make: the factory.
        metric: of the labels. Exact match needs no library, whose import takes a child longer than all else.
        of_numbers: the metric of the numbers.
        fields: of the benchmark.
    """
    tasks = [TaskSpec("Animals"), TaskSpec("Numbers", direction=-1 if METRICS[of_numbers].lower_is_better else 1)]
    benchmark = make.benchmark({}, tasks=tasks, **fields)
    owner = owner_of(benchmark)
    animals, numbers = benchmark.tasks.order_by("order", "pk")
    add_references(animals, REFERENCES, metric, by=owner)
    add_references(numbers, NUMBERS, of_numbers, by=owner)
    return benchmark


def texts_benchmark(make: Factory, **fields: Any) -> Benchmark:
    """Like `hidden_benchmark`, for what is about neither metrics nor numbers: scored sooner, without any library."""
    return hidden_benchmark(make, of_numbers="exact_match", **fields)


def labels_file(labels: Sequence[str] = LABELS, ids: range = range(2, 8)) -> bytes:
    """Predictions for the animals; by default what is right, on the test split."""
    return ("id,prediction\n" + "".join(f"i{k},{labels[k]}\n" for k in ids)).encode()


def numbers_file(numbers: Sequence[float] = (1.5, 2.5, 4.0)) -> bytes:
    """Predictions for the numbers; by default what is right."""
    return ("id,prediction\n" + "".join(f"n{k},{number}\n" for k, number in enumerate(numbers, start=1))).encode()


def upload(name: str = "Deep Thought", *, animals: bytes | None = None, numbers: bytes | None = None, **more: Any):
    """An upload with a file for each task that is given; by default for both, all right."""
    files = {"animals": animals, "numbers": numbers}
    if animals is None and numbers is None:
        files = {"animals": labels_file(), "numbers": numbers_file()}
    named = {key: (f"{key}.csv", data) for key, data in files.items() if data is not None}
    return PredictionUpload(SubmittedRow(name), named, **more)


def score_all(benchmark: Benchmark, *rows: PredictionSubmission) -> list[str]:
    """Run the jobs that score, or those of these predictions alone, here and now; what came of each."""
    jobs = Job.objects.filter(benchmark=benchmark, kind="scoring", state="waiting").order_by("pk")
    if rows:
        jobs = jobs.filter(subject_id__in=[row.pk for row in rows])
    with override_settings(JOB_LEASE_SECONDS=600):
        return [run_job(job.pk, worker="test") for job in jobs]


def scored(benchmark: Benchmark, by: User, **given: Any) -> PredictionSubmission:
    """Predictions that were submitted and scored."""
    row, _ = submit_predictions(benchmark, by, upload(**given))
    score_all(benchmark)
    row.refresh_from_db()
    return row
