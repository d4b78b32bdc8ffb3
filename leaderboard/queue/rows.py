"""Rows of jobs: inserted where there is none, put back to wait."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from config.monitoring.logs import current_request
from leaderboard.models import Job
from leaderboard.queue.priorities import NOBODY_WAITS
from ranking_engine import __version__ as engine_version


def job_row(
    kind: str,
    subject: tuple[str, int],
    parameters: dict[str, Any],
    *,
    parameter_hash: str,
    priority: int,
    version: str = engine_version,
    **fields: Any,  # noqa: ANN401
) -> tuple[Job, bool]:
    """The row of a job that is no chunk, made where there is none: due now, and to be woken for by the caller if
    someone waits for it. The sweep wakes for the others.

    Args:
        kind: which kind of job.
        subject: the table and the number of the row that it is about.
        parameters: what it is computed with.
        parameter_hash: the hash of these.
        priority: greater goes first.
        version: of the engine that computes it.
        fields: further fields of a new row.

    Returns:
        The row, and whether it is new.
    """
    now = timezone.now()
    woken_at: datetime | None = now if priority >= NOBODY_WAITS else None
    return Job.objects.get_or_create(
        kind=kind,
        subject_kind=subject[0],
        subject_id=subject[1],
        parameter_hash=parameter_hash,
        chunk=0,
        engine_version=version,
        defaults={
            "parameters": parameters, "priority": priority, "not_before": now, "woken_at": woken_at,
            "request_id": current_request(), **fields,
        },
    )  # fmt: skip


def requeue(rows: QuerySet[Job], **fields: Any) -> int:  # noqa: ANN401
    """Have jobs wait again as if they were never tried, due now. Which states they may be in the caller filters.

    Args:
        rows: of jobs.
        fields: further fields that change.

    Returns:
        How many wait.
    """
    fresh = {
        "state": Job.State.WAITING, "attempts": 0, "failures": 0, "progress": 0.0, "error": "",
        "not_before": timezone.now(), "woken_at": None, "finished_at": None, "request_id": current_request(),
    }  # fmt: skip
    return rows.update(**fresh | fields)
