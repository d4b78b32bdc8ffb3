"""What predictions are needed for: which tasks, which instances, and what a file looks like."""

from collections.abc import Sequence

from leaderboard.evaluation.phases import DEVELOPMENT, TEST
from leaderboard.evaluation.references import EVALUATOR, references_of
from leaderboard.models import Benchmark, Phase, Task, TaskReferences
from ranking_engine.evaluation.metric import Kind, Metric
from ranking_engine.evaluation.metrics import METRICS

EXAMPLES = {
    Kind.LABEL: "label",
    Kind.NUMBER: "0.5",
    Kind.TEXT: "text",
    Kind.TEXTS: "text",
    Kind.TAGS: '["O", "O"]',
    Kind.RELEVANCE: '{"document": 1}',
    Kind.DOCUMENTS: '["document 1", "document 2"]',
}


def predicted(benchmark: Benchmark) -> list[TaskReferences]:
    """The references that count, each with its task, in the order of the tasks."""
    rows = references_of(benchmark)
    tasks = {task.pk: task for task in Task.objects.filter(pk__in=rows).select_related("benchmark")}
    for row in rows.values():
        row.task = tasks[row.task_id]
    return sorted(rows.values(), key=lambda row: (row.task.order, row.task_id))


def split_to_predict(phase: Phase | None, *, is_trial: bool) -> str:
    """On which instances predictions are made: `development`, or `test` for everything else.

    Args:
        phase: in which they are submitted; None where the benchmark has none.
        is_trial: whether it is a trial run.
    """
    return DEVELOPMENT if is_trial or (phase is not None and phase.split == Phase.Split.DEVELOPMENT) else TEST


def metric_named(key: str) -> Metric | None:
    """The metric of this key, installed or not; None where there is none."""
    return EVALUATOR if key == EVALUATOR.key else METRICS.get(key)


def example_rows(metric: Metric, ids: Sequence[str]) -> list[list[str]]:
    """The rows of a file that could be predictions: every id with a value of the right kind.

    Args:
        metric: of the task.
        ids: of the instances.
    """
    if metric.prediction_kind == Kind.PROBABILITIES:
        return [["id", "probability:A", "probability:B"], *([name, "0.5", "0.5"] for name in ids)]
    return [["id", "prediction"], *([name, EXAMPLES.get(metric.prediction_kind, "")] for name in ids)]
