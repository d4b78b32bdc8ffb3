"""A benchmark as a folder: `scores.csv` with `benchmark.toml`, which imports again to the same input hash.

Numbers stand in their shortest form that reads back to the same float64. Names of systems and tasks cannot begin like a
formula, so nothing is escaped; descriptions, citations and notes are left out.
"""

import io
import json
import zipfile
from typing import Any

from django.conf import settings

from leaderboard.models import Revision
from leaderboard.selectors.instances import current_instances
from leaderboard.services.score_matrix import revision_matrix
from ranking_engine.benchmark_file import DIRECTIONS
from ranking_engine.csv_rows import csv_text
from ranking_engine.texts import writable

DIRECTION_NAMES = {number: name for name, number in DIRECTIONS.items()}


class FolderError(ValueError):
    """A revision that a folder cannot hold."""


def folder_of(revision: Revision) -> dict[str, str]:
    """The files of a folder, by name, that says what `revision` says.

    Raises:
        FolderError: there is nothing to rank, or there are scores of single instances.
    """
    found = revision_matrix(revision)
    if found is None:
        raise FolderError("the benchmark has no system or no task, so there is no table to write")
    if current_instances(revision):
        raise FolderError("there are scores of single instances, which a folder does not hold")
    names = [system.name for system in found.systems]
    rows = [["system", *(writable(task["name"]) for task in found.tasks)]]
    for name, values in zip(names, found.written.tolist(), strict=True):
        cells = ["" if value != value else repr(value).removesuffix(".0") for value in values]  # noqa: PLR0124
        rows.append([writable(name), *cells])
    systems = [{"name": system.name, "key": system.key} for system in found.systems]
    return {"scores.csv": csv_text(rows), "benchmark.toml": _about(revision, systems)}


def folder_zip(revision: Revision) -> bytes:
    """The folder packed as a zip: the same revision gives the same bytes.

    Raises:
        FolderError: as `folder_of`, or it is larger than what this site would take back.
    """
    files = folder_of(revision)
    size = sum(len(text.encode()) for text in files.values())
    if size > settings.UPLOAD_BYTES:
        raise FolderError(
            f"the folder has {size:,} bytes, and up to {settings.UPLOAD_BYTES:,} are sent and taken back; whoever runs "
            "this site can write it with `manage.py export_benchmark`"
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(f"{revision.benchmark.key}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, text, compress_type=zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _about(revision: Revision, systems: list[dict[str, Any]]) -> str:
    content = revision.configuration.content
    group_names = {group["key"]: group["name"] for group in content["groups"]}
    top = {
        "title": revision.benchmark.name,
        "default_rule": revision.benchmark.default_rule,
        "aggregation": content["aggregation"],
        "policy": content["missing_policy"],
        "gamma": content["gamma"],
    }
    lines = _entries(top)
    for group in content["groups"]:
        stated = {"name": group["name"], "key": group["key"]}
        lines += ["", "[[group]]", *_entries(stated), f"weight = {group['weight']}"]
    for task in content["tasks"]:
        stated = {name: task[name] for name in ("name", "key", "metric", "unit", "minimum", "maximum", "chance")}
        stated |= {"direction": DIRECTION_NAMES[task["direction"]], "group": group_names.get(task["group"])}
        stated["cluster"] = task.get("cluster")
        exact = [f"{name} = {task[name]}" for name in ("weight", "precision") if name in task]
        lines += ["", "[[task]]", *_entries(stated), *exact]
    for system in systems:
        lines += ["", "[[system]]", *_entries(system)]
    return "\n".join(lines) + "\n"


def _entries(stated: dict[str, Any]) -> list[str]:
    """A line for each value that is stated; a text in JSON's quotation marks is one in TOML's too."""
    return [
        f"{name} = {value!r}"
        if isinstance(value, int | float)
        else f"{name} = {json.dumps(writable(value), ensure_ascii=False)}"
        for name, value in stated.items()
        if value not in (None, "")
    ]
