"""Reports as rows: numbers as one compressed array file, the rest as JSON."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from leaderboard.models import Report, Revision
from leaderboard.services.hashing import canonical_json, content_hash
from ranking_engine import __version__ as engine_version


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
