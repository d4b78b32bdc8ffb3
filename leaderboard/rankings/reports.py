"""Reports as rows: numbers as one compressed array file, the rest as JSON."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.common.hashing import canonical_json, content_hash
from leaderboard.models import Publication, Report, Revision
from ranking_engine import __version__ as engine_version

RANKING, BOARD = "ranking", "board"  # the kinds that a board is made of


def make_report(
    revision: Revision,
    kind: str,
    *,
    parameters: dict[str, Any],
    summary: dict[str, Any],
    arrays: Mapping[str, np.ndarray],
    seconds: float,
) -> Report:
    """A report that is not stored yet.

    Args:
        revision: what it was computed from.
        kind: what it is.
        parameters: what else went in.
        summary: what came out, small.
        arrays: what came out, in the revision's system order.
        seconds: how long it took.

    Raises:
        ValueError: the summary is larger than a report may hold.
    """
    size = len(canonical_json(summary).encode())
    if size > Report.SUMMARY_BYTES:
        raise ValueError(f"the summary of report {kind!r} has {size} bytes; at most {Report.SUMMARY_BYTES} are stored")
    return Report(
        revision=revision,
        kind=kind,
        parameters=parameters,
        parameter_hash=content_hash(parameters),
        engine_version=engine_version,
        summary=summary,
        arrays=pack_arrays(arrays),
        seconds=seconds,
    )


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays of numbers and texts as one compressed .npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **dict(arrays))
    return buffer.getvalue()


def unpack_arrays(packed: bytes | memoryview, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a report by name: all of them, or those of `names` that it has."""
    packed = bytes(packed)
    if not packed:
        return {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files if names is None or name in names}


def published_reports(publication: Publication, kinds: Sequence[str]) -> list[Report]:
    """The reports of these kinds about what is published, in the order in which they were stored."""
    return list(
        Report.objects.filter(
            revision_id=publication.revision_id, engine_version=publication.engine_version, kind__in=kinds
        ).order_by("pk")
    )


def report_stamp(publication: Publication, kinds: Sequence[str]) -> tuple[object, ...]:
    """What stands for the reports of these kinds about what is published: number and moment of each."""
    rows = Report.objects.filter(
        revision_id=publication.revision_id, engine_version=publication.engine_version, kind__in=kinds
    ).order_by("pk")
    return tuple(rows.values_list("pk", "created_at"))
