"""The references of tasks: uploaded by owners, checked, stored encrypted, and read by the job that scores alone.

Nothing here returns a reference to a page. What is wrong with a file is said by line and column, without the value.
"""

import json
import math
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext

from leaderboard.access.audit import Change, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.evaluation.encryption import opened_file, seal
from leaderboard.evaluation.phases import DEVELOPMENT, EVALUATOR_KEY, PRIVATE, PUBLIC, TEST
from leaderboard.models import AuditEntry, Benchmark, EvaluationMode, PredictionFile, Task, TaskReferences, User
from leaderboard.models.benchmarks import NAME_LENGTH
from leaderboard.on_demand.uploads import turn_to_read_parquet
from ranking_engine.core.clusters import effective_number
from ranking_engine.evaluation.instances import References
from ranking_engine.evaluation.metrics import METRICS, Kind, Library, Metric, check_references, is_available
from ranking_engine.evaluation.reading import read_references
from ranking_engine.files.problems import InputError, Problem, Problems

SPLITS = (DEVELOPMENT, PUBLIC, PRIVATE, TEST)
MAX_VERSIONS = 100  # of one task
MAX_ID_CHARACTERS = 20_000_000  # of all instances: everyone who can see the task can have them as an example
# The columns that errors may quote: everything else in a file of references is secret.
OPEN_COLUMNS = frozenset({"id", "split", ""})
# For what no metric covers: programs of the owners compute the scores outside the site. They have their own references;
# the file here states the instances.
EVALUATOR = Metric(
    key=EVALUATOR_KEY,
    name="Your own evaluator",
    description="A program that you run computes the scores.",
    library=Library(),
    lower_is_better=False,
    lowest=-math.inf,
    highest=math.inf,
    reference_kind=Kind.NOTHING,
    prediction_kind=Kind.TEXT,
    citation="",
    figure=lambda _: math.nan,
)


@dataclass(frozen=True)
class Checked:
    """A file of references that can be stored."""

    data: bytes
    name: str
    metric: str
    options: dict[str, Any]
    ids: dict[str, list[str]]  # of `development` and `test`, in the order of the file
    n_by_split: dict[str, int]
    n_effective: dict[str, int]
    ignored_columns: tuple[str, ...]

    def __repr__(self) -> str:
        """Say how much there is; what is hidden is in no message and no log."""
        return f"<Checked references of {self.n_instances} instances>"

    @property
    def n_instances(self) -> int:
        """How many instances it has."""
        return sum(self.n_by_split.values())


def chosen_metric(key: str) -> Metric:
    """The metric of this key.

    Raises:
        InputError: there is none, or its library is not installed here.
    """
    metric = EVALUATOR if key == EVALUATOR.key else METRICS.get(key)
    if metric is None:
        raise InputError.of(f"there is no metric {key[:80]!r}", "metric")
    if not is_available(metric):
        raise InputError.of(
            f"{metric.name} needs the library {metric.library.distribution}, which is not installed here", "metric"
        )
    return metric


def metric_name(key: str) -> str:
    """What people call a metric; its key where this release does not know it."""
    metric = EVALUATOR if key == EVALUATOR.key else METRICS.get(key)
    return metric.name if metric else key


def check_file(data: bytes, name: str, metric_key: str, options: Mapping[str, object]) -> Checked:
    """Check a file of references, its metric and the metric's options.

    Args:
        data: of the file: CSV, JSON lines or Parquet.
        name: what errors call the file.
        metric_key: of the metric that scores predictions against it.
        options: of the metric, as a form or a program states them.

    Raises:
        InputError: with every problem; none of them contains a reference.
        BusyError, TooOftenError: it is Parquet, and too many such files are being read.
    """
    metric = chosen_metric(metric_key)
    chosen = metric.read_options(options)
    try:
        with turn_to_read_parquet(data):
            references = read_references(data, name, metric)
        check_references(metric, references, options)
    except InputError as error:
        # The same problems, where a reference could be quoted without what was wrong with it.
        listed = [
            one if one.place_name in OPEN_COLUMNS or not one.line else replace(one, message="the value cannot be read")
            for one in error.problems.listed
        ]
        raise InputError(Problems(listed, error.problems.n_more)) from None
    strange = sorted(set(references.split_names) - set(SPLITS))
    if strange:
        allowed = ", ".join(SPLITS)
        raise InputError.of(f"the split {strange[0][:40]!r} is not allowed; expected one of {allowed}", "split")
    if references.split_names == (DEVELOPMENT,):
        raise InputError.of("all instances are of the development split, so nothing is left to score", "split")
    has_parts = [name in references.split_names for name in (PUBLIC, PRIVATE)]
    if any(has_parts) and not all(has_parts):
        raise InputError.of("there is a public split without a private one, or the other way round", "split")
    if all(has_parts) and TEST in references.split_names:
        raise InputError.of("with public and private splits, no instance can be of a split `test`", "split")
    splits = references.splits or (TEST,) * len(references)
    ids: dict[str, list[str]] = {DEVELOPMENT: [], TEST: []}
    n_by_split: dict[str, int] = {}
    for instance, split in zip(references.ids, splits, strict=True):
        ids[DEVELOPMENT if split == DEVELOPMENT else TEST].append(instance)
        n_by_split[split] = n_by_split.get(split, 0) + 1
    most = settings.PREDICTIONS_ROWS
    if max(map(len, ids.values())) > most:
        raise InputError.of(f"more than {most:,} instances, which is as many predictions as one submission may have")
    if sum(map(len, references.ids)) > MAX_ID_CHARACTERS:
        raise InputError.of(f"the ids have more than {MAX_ID_CHARACTERS:,} characters in all; use shorter ones", "id")
    n_effective: dict[str, int] = {}
    if references.weights is not None:
        of_instances = np.array(splits)
        weights = {split: references.weights[of_instances == split] for split in n_by_split}
        n_effective = {split: math.floor(effective_number(own) + 1e-6) for split, own in weights.items()}
    ignored = references.ignored_columns
    return Checked(data, name[-NAME_LENGTH:], metric_key, chosen, ids, n_by_split, n_effective, ignored)


@transaction.atomic
def store_references(task: Task, checked: Checked, *, author: User) -> TaskReferences:
    """Store references as the newest version of a task's.

    Args:
        task: of which; not archived.
        checked: what was uploaded.
        author: an owner.

    Raises:
        InputError: the task has as many versions as are kept, or scores on all instances are known already, from which
            anyone could compute those on the private split.
        MissingKeyError: the operator set no key.
    """
    benchmark = lock_as_owner(task.benchmark_id, author)
    rows = TaskReferences.objects.filter(task=task)
    last = rows.aggregate(last=Max("number"))["last"] or 0
    if last >= MAX_VERSIONS:
        raise InputError([Problem(f"{task.name} has {MAX_VERSIONS} versions of references; no more are kept")])
    had_private = bool(last) and bool(rows.get(number=last).n_by_split.get(PRIVATE))
    if (
        checked.n_by_split.get(PRIVATE)
        and not had_private
        and PredictionFile.objects.filter(task=task, prediction_submission__is_trial=False).exists()
    ):
        message = gettext(
            "predictions for %(task)s were scored on all instances before. Beside scores on the public split, these "
            "give away scores on the private one; add a task of its own for references with both splits"
        ) % {"task": task.name}
        raise InputError([Problem(message, "split")])
    row = TaskReferences(
        task=task,
        number=last + 1,
        metric=checked.metric,
        options=checked.options,
        file_name=checked.name,
        n_instances=checked.n_instances,
        n_by_split=checked.n_by_split,
        n_effective=checked.n_effective,
        ids=zlib.compress(json.dumps(checked.ids).encode(), 6),
        uploaded_by=author,
    )
    seal(row, checked.data)
    row.full_clean(exclude=["ids", "ciphertext", "sealed_sha256", "options"])
    row.save()
    EvaluationMode.objects.get_or_create(benchmark=benchmark)
    change = Change(AuditEntry.Subject.TASK, task.key, "references", str(last or ""), str(row.number))
    record_changes(benchmark, [change], actor=author)
    return row


def newest_references(tasks: Collection[int] | QuerySet[Task]) -> dict[int, TaskReferences]:
    """The references that count, by the primary key of their task; tasks without any are left out.

    Neither the file nor the ids are loaded: `ciphertext`, `sealed_sha256` and `ids` are read when they are needed.

    Args:
        tasks: their primary keys, or a query of them.
    """
    rows = TaskReferences.objects.filter(task__in=tasks).order_by("task", "number")
    return {row.task_id: row for row in rows.defer("ciphertext", "sealed_sha256", "ids")}


def references_of(benchmark: Benchmark) -> dict[int, TaskReferences]:
    """As `newest_references`, of the tasks that a benchmark has now."""
    return newest_references(Task.objects.filter(benchmark=benchmark, is_archived=False))


def versions_of(task: Task) -> QuerySet[TaskReferences]:
    """All versions of a task's references, the newest first, without the files."""
    rows = TaskReferences.objects.filter(task=task).select_related("uploaded_by").order_by("-number")
    return rows.defer("ciphertext", "ids")


def ids_of(row: TaskReferences, split: str) -> list[str]:
    """The ids of the instances that predictions are needed for, in the order of the file. They are no secret.

    Args:
        row: the references.
        split: `development`, for a trial, or `test`: all others.
    """
    ids: list[str] = json.loads(zlib.decompress(bytes(row.ids)))[split]
    return ids


def opened(row: TaskReferences) -> tuple[Metric, References]:
    """The metric and what is hidden, for the job that scores: keep it in memory alone.

    Raises:
        MissingKeyError: the key is not among the settings.
        InputError: the metric's library is not installed here.
    """
    metric = chosen_metric(row.metric)
    return metric, read_references(opened_file(row), row.file_name, metric)
