"""Metadata of systems as owners edit it: the declared fields, and the values of many systems at once.

No ranking depends on any of it: a change takes neither a revision nor a job, and the trail keeps what was before.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from leaderboard.access.audit import as_one, changes_between, record_changes
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.text import in_a_list
from leaderboard.models import AuditEntry, Benchmark, System, User
from leaderboard.models.systems import PROVISIONAL
from leaderboard.submissions.csv_tables import reading
from leaderboard.submissions.quotas import take_cells
from ranking_engine.files.dialect import delimiter_of
from ranking_engine.files.metadata import COLUMN_PREFIX, MAX_FIELDS, MetadataField, Value, read_fields, read_values
from ranking_engine.files.problems import InputError, Problems
from ranking_engine.text.names import clean_name, fold_name, shorten

MAX_REASON = 500  # characters: it is kept with every system that changes
TAKEN_AWAY = "-"  # in place of a value: there is none any more
MAX_TABLE_COLUMNS = 200  # of which those that are no fields are left alone
Values = Mapping[str, Mapping[str, Value | None]]  # by the key of a system and of a field; None takes a value away


@dataclass(frozen=True)
class ValueChange:
    """One value of one system, before and after, as files have it; empty where there is none."""

    system: str
    system_name: str
    field: MetadataField
    before: str
    after: str


@transaction.atomic
def declare_fields(benchmark: Benchmark, declared: Any, *, author: User, reason: str = "") -> int:  # noqa: ANN401
    """Say which fields the systems have. Values of fields that are gone stay, and are shown again with their field.

    Args:
        benchmark: whose.
        declared: as `read_fields` takes them.
        author: who says so.
        reason: why.

    Returns:
        How many fields changed, came or went.

    Raises:
        ValidationError: it cannot be declared, or systems have values that a changed field would not allow.
    """
    try:
        fields = read_fields(declared)
    except ValueError as problem:
        raise ValidationError({"metadata_fields": f"{problem}."}) from problem
    locked = lock_as_owner(benchmark.pk, author)
    before = {field.key: field for field in locked.fields_of_systems}
    changed = [field for field in fields if field != before.get(field.key)]
    systems = list(System.objects.filter(benchmark=locked).exclude(metadata={})) if changed else []
    for field in changed:
        unfit: list[str] = []
        for system in systems:
            if field.key not in system.metadata:
                continue
            try:
                system.metadata[field.key] = field.read(field.written(system.metadata[field.key]))
            except ValueError:
                unfit.append(system.name)
        if unfit:
            message = gettext("%(field)s is not %(allowed)s for %(unfit)s. Change these values first.") % {
                "field": field.name,
                "allowed": field.allowed,
                "unfit": in_a_list(unfit),
            }
            raise ValidationError({"metadata_fields": message})
    locked.metadata_fields = [field.declaration for field in fields]
    locked.save(update_fields=["metadata_fields"])
    System.objects.bulk_update(systems, ["metadata"], batch_size=500)
    after = {field.key: field for field in fields}
    subject = AuditEntry.Subject.SETTING
    changes = [
        change
        for key in dict.fromkeys([*before, *after])
        for change in changes_between(subject, f"field {key}", _declared(before, key), _declared(after, key))
    ]
    if list(before) != list(after) and before.keys() == after.keys():
        changes += changes_between(subject, "fields", {"order": list(before)}, {"order": list(after)})
    record_changes(locked, changes, actor=author, reason=reason)
    benchmark.metadata_fields = locked.metadata_fields
    return len({change.of for change in changes})


def _declared(fields: Mapping[str, MetadataField], key: str) -> dict[str, Any]:
    return fields[key].declaration if key in fields else {}


@transaction.atomic
def change_values(
    benchmark: Benchmark, values: Values, *, author: User, reason: str = "", is_dry: bool = False
) -> list[ValueChange]:
    """Store values of many systems, and in the trail what they were before.

    Args:
        benchmark: whose systems they are.
        values: as `values_of_table` or `values_of_entries` read them; what is left out stays.
        author: who states them.
        reason: why.
        is_dry: whether nothing is stored.

    Returns:
        What changes, by the names of the systems.

    Raises:
        QuotaError: the author has stored too much today; every value that changes counts as a score.
    """
    locked = lock_as_owner(benchmark.pk, author)
    fields = {field.key: field for field in locked.fields_of_systems}
    value_changes: list[ValueChange] = []
    changed: list[System] = []
    for system in System.objects.filter(benchmark=locked, key__among=list(values)).order_by("name_folded"):
        new_values = {key: value for key, value in values[system.key].items() if key in fields}
        metadata = {**system.metadata, **new_values}
        for key, value in new_values.items():
            present = system.metadata.get(key)
            if value is None:
                del metadata[key]
            if value != present or isinstance(value, bool) != isinstance(present, bool):
                texts = ("" if one is None else fields[key].written(one) for one in (present, value))
                value_changes.append(ValueChange(system.key, system.name, fields[key], *texts))
        if metadata != system.metadata:
            system.metadata = metadata
            changed.append(system)
    if value_changes and not is_dry:
        take_cells(author, len(value_changes))
        System.objects.bulk_update(changed, ["metadata"], batch_size=500)
        changes = []
        for key, of_system in groupby(value_changes, key=lambda one: one.system):
            states = [(f"metadata.{one.field.key}", one.before, one.after) for one in of_system]
            before, after = ({state[0]: state[place] for state in states} for place in (1, 2))
            changes += as_one(changes_between(AuditEntry.Subject.SYSTEM, key, before, after), "metadata")
        record_changes(locked, changes, actor=author, reason=reason)
    return value_changes


def values_of_entries(benchmark: Benchmark, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Values as a program sends them.

    Args:
        benchmark: whose systems they are.
        entries: by the key of a system; null takes a value away.

    Raises:
        InputError: a system or a field is not there, or a value is not allowed; its place is `systems.KEY.FIELD`.
    """
    problems, values = Problems(), {}
    fields, known = benchmark.fields_of_systems, _systems(benchmark)
    for key, entry in entries.items():
        if known.get(key) != key:
            problems.add(f"systems.{shorten(key)}", f"no system of this benchmark has the key {shorten(key)!r}")
            continue
        new_values, wrong = read_values(fields, {label: value for label, value in entry.items() if value is not None})
        for label, problem in wrong:
            problems.add(f"systems.{key}.{shorten(label)}", problem)
        gone = [label for label, value in entry.items() if value is None]
        values[key] = {**new_values, **dict.fromkeys(_keys_of(fields, gone))}
    if problems:
        raise InputError(problems)
    return values


def values_of_table(benchmark: Benchmark, data: bytes) -> tuple[dict[str, Any], list[str]]:
    """Values of a table: first column the system by name or key, then a column a field, by name or key.

    An empty cell leaves the value as it is; a hyphen alone takes it away. Columns that begin with `meta:` are fields;
    of others, those that are none are left alone.

    Args:
        benchmark: whose systems they are.
        data: the file.

    Returns:
        The values, and the names of the columns that were left alone.

    Raises:
        InputError: it is no table, names no system, or a value is not allowed; it names line and column.
    """
    with reading(data):
        try:
            text = data.decode("utf-8-sig").replace("\0", "")
        except UnicodeDecodeError as error:
            raise InputError.of("the file is not UTF-8; save it as UTF-8", "file") from error
    fields, known, problems = benchmark.fields_of_systems, _systems(benchmark), Problems()
    by_label = {field.key: field for field in fields} | {fold_name(field.name): field for field in fields}
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter_of(text))
    values: dict[str, Any] = {}
    left_alone: list[str] = []
    places: dict[int, str] = {}  # of columns that are fields, the label
    try:
        header = [clean_name(cell) for cell in next(filter(None, rows), [])]
        if len(header) > MAX_TABLE_COLUMNS:
            raise InputError.of(f"{len(header)} columns; at most {MAX_TABLE_COLUMNS} are read", "file")
        for place, name in enumerate(header[1:], start=1):
            is_marked = name[: len(COLUMN_PREFIX)].casefold() == COLUMN_PREFIX
            label = name[len(COLUMN_PREFIX) :].strip() if is_marked else name
            if is_marked or fold_name(label) in by_label:
                places[place] = label
            else:
                left_alone.append(shorten(name))
        if not places:
            names = ", ".join(field.key for field in fields)
            what = f"the fields are {names}" if names else "this benchmark declares no fields yet"
            raise InputError.of(f"no column is a field of the systems; {what}", "file")
        if len(places) > MAX_FIELDS:
            raise InputError.of(f"{len(places)} columns of fields; at most {MAX_FIELDS} are read", "file")
        for row in filter(None, rows):
            if problems.n_more:
                break  # more are wrong than anyone is told
            line, cell = rows.line_num, clean_name(row[0])
            key = known.get(cell) or known.get(fold_name(cell)) or ""
            if not key or key in values:
                wrong = "has a row above already" if key else "is not a system of this benchmark"
                problems.add("file", f"{shorten(cell)!r} {wrong}", line=line, place_name=header[0])
                continue
            if len(values) >= settings.UPLOAD_SYSTEMS:
                raise InputError.of(f"too many systems; at most {settings.UPLOAD_SYSTEMS:,} are read", "file")
            texts = {label: row[place].strip() for place, label in places.items() if place < len(row)}
            gone = [label for label, cell in texts.items() if cell == TAKEN_AWAY]
            new_values, wrong_cells = read_values(fields, {k: cell for k, cell in texts.items() if k not in gone})
            for label, problem in wrong_cells:
                problems.add("file", problem, line=line, place_name=label)
            values[key] = {**new_values, **dict.fromkeys(_keys_of(fields, gone))}
    except csv.Error as error:
        raise InputError.of(f"not readable as CSV: {error}", "file") from error
    if problems:
        raise InputError(problems)
    return values, left_alone


def _keys_of(fields: Sequence[MetadataField], labels: Sequence[str]) -> list[str]:
    folded = {fold_name(label) for label in labels}
    return [field.key for field in fields if field.key in folded or fold_name(field.name) in folded]


def _systems(benchmark: Benchmark) -> dict[str, str]:
    """The keys of its systems, by key and by folded name; a system that waits has none."""
    rows = System.objects.filter(benchmark=benchmark).exclude(key__startswith=PROVISIONAL)
    pairs = list(rows.values_list("key", "name_folded"))
    return {folded: key for key, folded in pairs} | {key: key for key, _ in pairs}
