"""Reports as rows: numbers as one compressed array file, the rest as JSON."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from leaderboard.common.hashing import canonical_json, content_hash
from leaderboard.models import Publication, Report, Revision
from ranking_engine import __version__ as engine_version
from ranking_engine.core.ranking import Status

RANKING, BOARD = "ranking", "board"  # the kinds that a board is made of
COMPUTING: Final = "computing"  # the status of a slow rule whose ranking is not there yet
FAILED: Final = "failed"  # the status of a rule that raised; it costs its own column only
ColumnStatus = Status | Literal["computing", "failed"]
_NPY_1 = np.lib.format.magic(1, 0)  # how a .npy file begins whose head is short


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
        seconds: how long it took on one core: of a `Stopwatch`.

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


def storing(report: Report, *, may_be_there: bool = False) -> Callable[[], None]:
    """What a job returns that has computed a report and nothing else: it stores the report.

    Args:
        report: what was computed.
        may_be_there: whether another job may have stored the same report, which is then left as it is.
    """

    def write() -> None:
        Report.objects.bulk_create([report], ignore_conflicts=may_be_there)

    return write


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays of numbers and texts as one compressed .npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **dict(arrays))
    return buffer.getvalue()


def unpack_arrays(packed: bytes | memoryview, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a report by name: all of them, or those of `names` that it has.

    As `np.load`, which parses the head of each array again. The arrays of a board are small, and their heads few.
    """
    if not packed:
        return {}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        files = {file.removesuffix(".npy"): file for file in archive.namelist()}
        return {
            name: _array_of_file(archive.read(file)) for name, file in files.items() if names is None or name in names
        }


def _array_of_file(file: bytes) -> np.ndarray:
    """The array of a .npy file."""
    if file.startswith(_NPY_1):
        start = len(_NPY_1) + 2 + int.from_bytes(file[len(_NPY_1) : len(_NPY_1) + 2], "little")
        shape, is_fortran, dtype = layout_of_head(file[:start])
        if dtype.itemsize and not dtype.hasobject:  # texts of no letters have nothing that could be read
            array = np.frombuffer(file, dtype, offset=start).reshape(shape, order="F" if is_fortran else "C")
            return array.copy(order="K")
    return np.asarray(np.lib.format.read_array(io.BytesIO(file), allow_pickle=False))


@lru_cache(maxsize=4096)
def layout_of_head(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of the array that follows this head of a .npy file."""
    return np.lib.format.read_array_header_1_0(io.BytesIO(head[len(_NPY_1) :]))


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
