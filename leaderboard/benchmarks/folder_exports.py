"""A benchmark as a folder: `scores.csv` with `benchmark.toml`, which imports again to the same input hash.

Numbers are in their shortest form that reads back to the same float64. Names of systems and tasks cannot begin like a
formula, so nothing is escaped; descriptions, citations and notes are left out.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterable
from itertools import chain
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from leaderboard.common.file_parts import in_parts
from leaderboard.common.language.numbers import localise
from leaderboard.common.zips import zip_entry
from leaderboard.models import Baseline, Revision
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.instances import current_instances
from leaderboard.rankings.score_matrix import revision_matrix
from leaderboard.rankings.systems import about_systems
from ranking_engine.files.benchmark_file import DIRECTION_NAMES
from ranking_engine.files.csv_rows import csv_lines
from ranking_engine.text.characters import writable


class FolderError(ValueError):
    """A revision that a folder cannot hold."""


def folder_of(revision: Revision) -> dict[str, Iterable[str]]:
    """The files of a folder, by name and line by line, that says what `revision` says.

    Raises:
        FolderError: there is nothing to rank, or there are scores of single instances.
    """
    table = revision_matrix(revision)
    if table is None:
        raise FolderError(gettext("the benchmark has no system or no task, so there is no table to export"))
    if current_instances(revision):
        raise FolderError(gettext("there are scores of single instances, which a folder cannot contain"))
    configuration = configuration_of(revision)
    top = {
        "title": revision.benchmark.name,
        "default_rule": revision.benchmark.default_rule,
        "aggregation": configuration.aggregation,
        "policy": configuration.missing_policy,
        "gamma": configuration.gamma,
        "variants": list(configuration.variants),
    }
    lines = _entries(top)
    for group in configuration.groups:
        fields: dict[str, Any] = {"name": group.name, "key": group.key}
        lines += ["", "[[group]]", *_entries(fields), f"weight = {group.weight}"]
    for task in configuration.tasks:
        fields = {
            "name": task.name,
            "key": task.key,
            "metric": task.metric,
            "unit": task.unit,
            "minimum": task.minimum,
            "maximum": task.maximum,
            "chance": task.chance,
            "direction": DIRECTION_NAMES[task.direction],
            "group": configuration.group_names.get(task.group or ""),
            "cluster": task.cluster,
        }
        exact = [f"weight = {task.weight}", *([f"precision = {task.precision}"] if task.precision else [])]
        lines += ["", "[[task]]", *_entries(fields), *exact]
    fields_of_systems = revision.benchmark.fields_of_systems
    for field in fields_of_systems:
        declaration = {name: value for name, value in field.declaration.items() if name != "is_column"}
        lines += ["", "[[field]]", *_entries(declaration), *(["is_column = true"] if field.is_column else [])]
    about = about_systems([system.id for system in table.systems])
    for system in table.systems:
        row = about[system.id]
        baseline = row.baseline if row.baseline != Baseline.NONE else None
        fields = {"name": system.name, "key": system.key, "baseline": baseline}
        values = [
            f"{field.key} = {json.dumps(row.metadata[field.key], ensure_ascii=False)}"
            for field in fields_of_systems
            if field.key in row.metadata
        ]
        metadata = [f"metadata = {{ {', '.join(values)} }}"] if values else []
        lines += ["", "[[system]]", *_entries(fields), *metadata]
    header = ["system", *(writable(task.name) for task in configuration.tasks)]
    rows = (
        [
            writable(system.name),
            *("" if math.isnan(value) else repr(value).removesuffix(".0") for value in values.tolist()),
        ]
        for system, values in zip(table.systems, table.written, strict=True)
    )
    return {"scores.csv": csv_lines(chain([header], rows)), "benchmark.toml": (f"{line}\n" for line in lines)}


def folder_zip(revision: Revision) -> bytes:
    """The folder packed as a zip: the same revision gives the same bytes.

    Raises:
        FolderError: as `folder_of`, or it is larger than what this site would import again.
    """
    packed, size = io.BytesIO(), 0
    with zipfile.ZipFile(packed, "w") as archive:
        for name, lines in folder_of(revision).items():
            entry = zip_entry(f"{revision.benchmark.key}/{name}")
            with archive.open(entry, "w") as file:
                for part in in_parts(lines):
                    if (size := size + len(part)) > settings.UPLOAD_BYTES:
                        raise FolderError(
                            gettext(
                                "the folder has more than the %(n)s bytes that can be downloaded and imported again; "
                                "the operator of this site can write it with `manage.py export_benchmark`"
                            )
                            % {"n": localise(settings.UPLOAD_BYTES, ",")}
                        )
                    file.write(part)
    return packed.getvalue()


def _entries(fields: dict[str, Any]) -> list[str]:
    """A line for each value that is stated; texts and lists of them are written in TOML as in JSON."""
    return [
        f"{name} = {value!r}"
        if isinstance(value, int | float)
        else f"{name} = {json.dumps(value if isinstance(value, list) else writable(value), ensure_ascii=False)}"
        for name, value in fields.items()
        if value not in (None, "", [])
    ]
