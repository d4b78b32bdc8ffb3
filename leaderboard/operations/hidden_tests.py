"""The demonstration's hidden tests: a benchmark whose tasks have references, and predictions that wait to be scored."""

from collections.abc import Callable
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from leaderboard.benchmarks.create import TaskSpec, create_benchmark
from leaderboard.evaluation.phases import store_phase
from leaderboard.evaluation.receiving import PredictionUpload, submit_predictions
from leaderboard.evaluation.references import check_file, store_references
from leaderboard.models import Benchmark, Phase, Task, User
from leaderboard.models.submissions import Source
from leaderboard.submissions.rows import SubmittedRow

FOLDER = Path(__file__).resolve().parent.parent / "evaluation" / "demonstration"
KEY = "hidden-tests"
DESCRIPTION = """\
Three small tasks of scikit-learn's bundled data sets, whose answers this site keeps to itself: handwritten digits,
tumours that are malignant or benign, and how far diabetes went on within a year. A third of each data set is hidden.

`leaderboard/evaluation/demonstration/train.py` trained the models with fixed seeds. Two of them are left for you to
submit: their predictions are in the folder `predictions` beside it (`support-vectors` and `decision-tree`).
"""
# By the key of a task: what it is, its metric and the metric's options.
TASKS = {
    "digits": (TaskSpec("Digits", key="digits", minimum=0, maximum=1, metric="accuracy"), "accuracy", {}),
    "breast-cancer": (
        TaskSpec("Breast cancer", key="breast-cancer", minimum=0, maximum=1, metric="F1 of malignant"),
        "f1",
        {"positive": "malignant"},
    ),
    "diabetes": (TaskSpec("Diabetes", key="diabetes", direction=Task.Direction.LOWER, metric="RMSE"), "rmse", {}),
}
SYSTEMS = {
    "constant": "Constant",
    "linear": "Linear model",
    "nearest-neighbours": "Nearest neighbours",
    "random-forest": "Random forest",
    "gradient-boosting": "Gradient boosting",
    "neural-network": "Neural network",
}
LEFT_FOR_READERS = ("decision-tree", "support-vectors")


@transaction.atomic
def add_hidden_tests(owner: User, progress: Callable[[str], None]) -> bool:
    """Add the benchmark, its references and the predictions of six models, unless it is there.

    The predictions come by the same function as those of the form and of the API, and the workers score them.

    Args:
        owner: of the demonstration.
        progress: called with a line of text.

    Returns:
        Whether it was added now.

    Raises:
        MissingKeyError: this site has no key for references.
    """
    if Benchmark.objects.filter(key=KEY).exists():
        return False
    benchmark = create_benchmark(
        name="Hidden tests",
        key=KEY,
        owner=owner,
        tasks=[spec for spec, _, _ in TASKS.values()],
        description=DESCRIPTION,
        source_url="https://scikit-learn.org/stable/datasets/toy_dataset.html",
        submission_policy=Benchmark.SubmissionPolicy.OPEN,
    )
    for task in benchmark.tasks.all():
        _, metric, options = TASKS[task.key]
        path = FOLDER / "references" / f"{task.key}.csv"
        store_references(task, check_file(path.read_bytes(), path.name, metric, options), author=owner)
    values = {"name": "Public board", "opens_at": timezone.now(), "split": Phase.Split.PUBLIC}
    store_phase(benchmark, values, author=owner)
    for folder, name in SYSTEMS.items():
        files = {key: (f"{key}.csv", (FOLDER / "predictions" / folder / f"{key}.csv").read_bytes()) for key in TASKS}
        submit_predictions(benchmark, owner, PredictionUpload(SubmittedRow(name), files, source=Source.API))
    progress(f"{benchmark.name}: predictions of {len(SYSTEMS)} systems for {len(TASKS)} tasks")
    return True
