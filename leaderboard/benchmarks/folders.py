"""A benchmark from a folder: `scores.csv` with `benchmark.toml`, as the command line of the engine reads them."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from django.db import transaction

from leaderboard.benchmarks.baselines import mark_stated_baselines
from leaderboard.benchmarks.create import GroupSpec, TaskSpec, create_benchmark, weightless
from leaderboard.models import Benchmark, Score, User
from leaderboard.models.benchmarks import is_key
from leaderboard.models.submissions import Source
from leaderboard.submissions.lifecycle import accept_batch, store_batch
from leaderboard.submissions.rows import CheckedRow, CheckedScore, CheckedSystem
from ranking_engine.files.benchmark_file import BenchmarkFile, TaskEntry, read_benchmark
from ranking_engine.files.metadata import COLUMN_PREFIX, STARTER, MetadataField, read_field, read_fields, read_values
from ranking_engine.files.tables import MAX_ISSUES, Table, TableError, TableIssue, read_table
from ranking_engine.text.names import clean_name, fold_name

METADATA = ("description", "source_url", "licence", "citation", "doi")


@transaction.atomic
def import_folder(
    folder: Path,
    *,
    owner: User,
    key: str = "",
    notes: list[str] | None = None,
    **fields: Any,  # noqa: ANN401
) -> Benchmark:
    """Create a benchmark from a folder and accept its scores as revision 1.

    Args:
        folder: holds `scores.csv` and, where tasks have more to say than a name, `benchmark.toml`.
        owner: who owns the benchmark and uploads its scores.
        key: what addresses call it; the folder's name where empty.
        notes: gets what its owner is to be told of how the scores were read.
        fields: any other field of `Benchmark`, in place of what the file says.

    Raises:
        TableError: a file cannot be read; it names file, line and column, and nothing is stored.
        OSError: a file cannot be opened.
        ValidationError: a field is not valid.
    """
    table = read_table(folder / "scores.csv")
    if notes is not None and table.rounding:
        notes.append(table.rounding)
    about = folder / "benchmark.toml"
    described = read_benchmark(about) if about.exists() else BenchmarkFile(str(about), "")
    entries = table_entries(described, table)
    tasks, groups = [task_spec(entry, described) for entry in entries], group_specs(described, entries)
    fields = stated_fields(described, has_gaps=has_gaps(table)) | fields
    check_weights(tasks, groups, str(fields["aggregation"]), described.source)
    benchmark = create_benchmark(
        is_limited=False,
        name=str(described.metadata.get("title") or described.metadata.get("name") or folder.name),
        key=key or folder.name,
        owner=owner,
        groups=groups,
        tasks=tasks,
        metadata_fields=[field.declaration for field in fields_of_files(described, table)],
        **fields,
    )
    keys = [task.key for task in benchmark.tasks.order_by("order")]
    batch = store_batch(benchmark, owner, table_rows(keys, table, described), source=Source.IMPORTER, is_limited=False)
    accept_batch(batch, actor=owner)
    mark_stated_baselines(benchmark, described)
    return benchmark


def table_entries(described: BenchmarkFile, table: Table) -> list[TaskEntry]:
    """One entry a column of the table, in its order; a column that the file does not describe has the defaults."""
    by_name = {fold_name(entry.name): entry for entry in described.tasks}
    unknown = set(by_name) - {fold_name(name) for name in table.task_names}
    if unknown:
        name = by_name[sorted(unknown)[0]].name
        message = f"task {name!r} has no column in {Path(table.source).name}"
        raise TableError([TableIssue(None, None, None, message)], described.source)
    return [by_name.get(fold_name(name), TaskEntry(name)) for name in table.task_names]


def check_weights(tasks: Sequence[Any], groups: Sequence[Any], aggregation: str, source: str) -> None:
    """See that the weights of a file leave a task above 0.

    Args:
        tasks: specs or edits of all of them.
        groups: likewise.
        aggregation: how they count.
        source: what the file is called.

    Raises:
        TableError: they do not.
    """
    if problem := weightless(tasks, groups, aggregation):
        message = "at least one task needs a weight above 0"
        message += ", and so does its group" if problem[0] == "groups" else ""
        raise TableError([TableIssue(None, None, None, message)], source)


def group_specs(described: BenchmarkFile, entries: list[TaskEntry]) -> list[GroupSpec]:
    """The stated groups, then those that only tasks name, which weigh 1."""
    named = dict.fromkeys(described.group_weights) | dict.fromkeys(e.group for e in entries if e.group)
    return [
        GroupSpec(
            name=str(name),
            weight=_decimal(described.group_weights.get(name, Fraction(1)), f"group {name!r}", described),
            key=described.group_keys.get(name) or "",
        )
        for name in named
    ]


def task_spec(entry: TaskEntry, described: BenchmarkFile) -> TaskSpec:
    """A task of the file.

    Raises:
        TableError: its weight or its precision has more than ten decimal places, or its precision as many before them.
    """
    precision = None if entry.precision is None else Decimal(repr(entry.precision))
    if precision is not None and (precision >= 10**10 or precision * 10**10 % 1):
        message = f"the precision of task {entry.name!r} has more than ten digits before or after the decimal point"
        raise TableError([TableIssue(None, None, None, message)], described.source)
    return TaskSpec(
        name=entry.name,
        key=entry.key or "",
        direction=entry.direction,
        group=entry.group or "",
        weight=_decimal(entry.weight, f"task {entry.name!r}", described),
        metric=entry.metric or "",
        unit=entry.unit or "",
        minimum=entry.minimum,
        maximum=entry.maximum,
        chance=entry.chance,
        precision=precision,
        cluster=entry.cluster or "",
    )


def _decimal(weight: Fraction, of: str, described: BenchmarkFile) -> Decimal:
    """A weight as the decimal that is stored.

    Raises:
        TableError: it has more than ten decimal places.
    """
    shifted = weight * 10**10
    if shifted.denominator != 1:
        message = f"the weight of {of} has more than ten decimal places"
        raise TableError([TableIssue(None, None, None, message)], described.source)
    return Decimal(shifted.numerator).scaleb(-10)


def has_gaps(table: Table) -> bool:
    """Whether a score is missing."""
    return bool((table.values != table.values).any())


def stated_fields(described: BenchmarkFile, *, has_gaps: bool) -> dict[str, Any]:
    """What the file says of the benchmark itself; Copeland by default where scores are missing."""
    metadata = described.metadata
    fields: dict[str, Any] = {name: str(metadata[name]) for name in METADATA if name in metadata}
    fields["default_rule"] = metadata.get("default_rule", "copeland" if has_gaps else "borda")
    fields["tags"] = metadata.get("tags", [])
    if not isinstance(fields["tags"], list) or not all(isinstance(tag, str) for tag in fields["tags"]):
        raise TableError([TableIssue(None, None, None, "`tags` is not a list of strings")], described.source)
    has_groups = bool(described.group_weights) or any(entry.group for entry in described.tasks)
    fields["aggregation"] = metadata.get("aggregation", "balanced" if has_groups else "basic")
    fields["gamma"] = described.gamma
    fields["variants"] = list(described.variants)
    if described.policy:
        fields["missing_policy"] = described.policy
    return fields


def fields_of_files(described: BenchmarkFile, table: Table | None) -> tuple[MetadataField, ...]:
    """The stated fields of the systems' metadata, then those of `meta:` columns that are none of them.

    Such a column is the usual field of its name, else a text.

    Raises:
        TableError: there are too many, or a column can be no field.
    """
    fields = list(described.metadata_fields)
    for label in table.metadata if table else ():
        if not any(fold_name(label) in (field.key, fold_name(field.name)) for field in fields):
            usual = (field for field in STARTER if fold_name(label) in (field.key, fold_name(field.name)))
            try:
                fields.append(next(usual, None) or read_field({"name": label}, len(fields) + 1))
                fields = list(read_fields([field.declaration for field in fields]))
            except ValueError as error:
                raise TableError([TableIssue(None, None, f"{COLUMN_PREFIX}{label}", str(error))]) from error
    return tuple(fields)


def metadata_of_files(described: BenchmarkFile, table: Table) -> list[dict[str, Any]]:
    """What the files say of the systems beside their scores, in the order of the table.

    Raises:
        TableError: a `meta:` column can be no field, or a cell of it is not allowed.
    """
    fields = fields_of_files(described, table)
    by_name = {fold_name(name): values for name, values in described.system_metadata.items()}
    issues, metadata = [], []
    for i, (name, line) in enumerate(zip(table.system_names, table.line_numbers, strict=True)):
        values, problems = read_values(fields, {label: cells[i] for label, cells in table.metadata.items()})
        issues += [TableIssue(line, None, f"{COLUMN_PREFIX}{label}", problem) for label, problem in problems]
        metadata.append({**by_name.get(fold_name(name), {}), **values})
    if issues:
        raise TableError(issues[:MAX_ISSUES], table.source)
    return metadata


def table_rows(columns: list[str], table: Table, described: BenchmarkFile) -> list[CheckedRow]:
    """The table as a batch's rows: every cell of it is stored, empty ones as not reported.

    Args:
        columns: the key of each column's task.
        table: the scores.
        described: may state keys of systems.

    Raises:
        TableError: a stated system has no row, or shares its key; or a cell of a `meta:` column is not allowed.
        ValidationError: a stated key is none.
    """
    keys = {fold_name(name): key for name, key in described.system_keys.items() if key}
    for name, key in keys.items():
        is_key(key)
        if list(keys.values()).count(key) > 1:
            raise TableError([TableIssue(None, None, None, f"two systems have the key {key!r}")], described.source)
        if name not in {fold_name(system) for system in table.system_names}:
            raise TableError([TableIssue(None, None, None, f"no row for system {name!r}")], described.source)
    metadata = metadata_of_files(described, table)
    rows = []
    lines = zip(table.system_names, table.line_numbers, table.values.tolist(), strict=True)
    for i, (name, line, values) in enumerate(lines):
        scores: dict[str, CheckedScore] = {
            key: {"missing": Score.MissingReason.NOT_REPORTED} if value != value else {"value": value}  # noqa: PLR0124
            for key, value in zip(columns, values, strict=True)
        }
        system: CheckedSystem = {
            "name": clean_name(name),
            "metadata": metadata[i],
            "organisation": "",
            "url": "",
            "description": "",
            "new_key": keys.get(fold_name(name), ""),
        }
        rows.append(CheckedRow(system=system, scores=scores, line=line))
    return rows
