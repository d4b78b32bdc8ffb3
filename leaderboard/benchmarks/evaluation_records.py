"""The scores of a revision as records of Every Eval Ever, the exchange format of the EvalEval coalition.

There is one JSON file per system, in a zip, and our importer reads them again. The format needs a direction for every
score, so tasks that have none are left out; so are missing scores.
"""

import io
import json
import zipfile
from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext

from leaderboard.benchmarks.folder_exports import FolderError
from leaderboard.common.site_address import site_address
from leaderboard.common.zips import zip_entry
from leaderboard.models import Revision, System
from leaderboard.rankings.configuration import ConfiguredTask, configuration_of
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.rankings.systems import about_systems
from leaderboard.rankings.tables import TableCell, score_rows

SCHEMA_VERSION = "0.3.0"
AVAILABLE: dict[Any, str] = {True: "open_weights", False: "closed_weights"}  # by what the field of open weights says


def records_zip(revision: Revision, only: Collection[int] | None = None) -> bytes:
    """The records of a revision as a zip: the same revision gives the same bytes.

    Args:
        revision: the state of the benchmark.
        only: the ids of the systems that are in it; all where None.

    Raises:
        FolderError: no system has a score, or they are larger than what this site would import again.
    """
    systems = [system for system in systems_at(revision) if only is None or system.id in only]
    about = about_systems([system.id for system in systems])
    tasks = [task for task in configuration_of(revision).tasks if task.direction]
    fields = {field.key for field in revision.benchmark.fields_of_systems}  # values of others are not told
    benchmark, moment = revision.benchmark, str(int(revision.created_at.timestamp()))
    # Where the scores are from. Who measured them, and with which program, is not known here.
    source = {
        "source_name": f"{benchmark.name}, revision {revision.number}",
        "source_type": "documentation",
        "source_organization_name": benchmark.name,
        "source_organization_url": site_address(reverse("board", args=[benchmark.key])),
        "evaluator_relationship": "other",
        "additional_details": {"benchmark": benchmark.key, "revision": str(revision.number)},
    }
    packed, size = io.BytesIO(), 0
    with zipfile.ZipFile(packed, "w") as archive:
        for system, cells in zip(systems, score_rows(revision, systems), strict=True):
            results = [result_of(system, task, cells[task.key]) for task in tasks if cells[task.key].value is not None]
            if not results:
                continue
            record = {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": f"{benchmark.key}/{system.key}/{moment}",
                "retrieved_timestamp": moment,
                "source_metadata": source,
                "eval_library": {"name": "unknown", "version": "unknown"},
                "model_info": model_info(system, about.get(system.id, System()), fields),
                "evaluation_results": results,
            }
            text = json.dumps(record, ensure_ascii=False, indent=1)
            entry = zip_entry(f"{benchmark.key}/{system.key}.json")
            content = f"{text}\n".encode()
            size += len(content)
            if size > settings.IMPORT_BYTES:
                limit = settings.IMPORT_BYTES // 2**20
                raise FolderError(
                    gettext("These records have more than %(limit)s MB; the API has the scores page by page.")
                    % {"limit": limit}
                )
            archive.writestr(entry, content)
    if not size:
        raise FolderError(gettext("No system has a score on a task with a direction."))
    return packed.getvalue()


def model_info(system: BoardSystem, about: System, fields: Collection[str]) -> dict[str, Any]:
    """What a record says of a system, of its metadata those fields alone."""
    metadata = {key: value for key, value in about.metadata.items() if key in fields}
    facts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    details = {
        "deployment_type": "unknown",
        "model_availability": AVAILABLE.get(metadata.get("open-weights"), "unknown"),
        "plurank_key": system.key,
        **({"url": about.url} if about.url else {}),
        **facts,
    }
    developer = {"developer": about.organisation} if about.organisation else {}
    return {"name": system.name, "id": system.name, **developer, "additional_details": details}


def result_of(system: BoardSystem, task: ConfiguredTask, cell: TableCell) -> dict[str, Any]:
    """What a record says of a score."""
    metric: dict[str, Any] = {"lower_is_better": task.direction < 0}
    metric |= {"metric_name": task.metric} if task.metric else {}
    metric |= {"metric_unit": task.unit} if task.unit else {}
    if task.minimum is not None and task.maximum is not None:
        metric |= {"score_type": "continuous", "min_score": task.minimum, "max_score": task.maximum}
    uncertainty: dict[str, Any] = {}
    if cell.standard_error is not None:
        uncertainty["standard_error"] = {"value": cell.standard_error}
    if cell.n_instances is not None:
        uncertainty["num_samples"] = cell.n_instances
    return {
        "evaluation_result_id": f"{system.key}/{task.key}",
        "evaluation_name": task.name,
        "source_data": {"dataset_name": task.name, "source_type": "other"},
        "metric_config": metric,
        "score_details": {"score": cell.value, **({"uncertainty": uncertainty} if uncertainty else {})},
    }
