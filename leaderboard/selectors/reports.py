"""Reports read back."""

import io
from collections.abc import Sequence

import numpy as np

from leaderboard.models import Publication, Report


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


def winners_of(publication: Publication, rule: str) -> tuple[int, list[str]] | None:
    """How many systems a rule elects on a published board and the names of the first; None where it is not computed."""
    reports = Report.objects.filter(revision_id=publication.revision_id, engine_version=publication.engine_version)
    summary = reports.filter(kind="ranking", summary__rule=rule).values_list("summary", flat=True).first()
    return (summary["n_winners"], summary["winner_names"]) if summary else None


def report_stamp(publication: Publication, kinds: Sequence[str]) -> tuple[object, ...]:
    """What stands for the reports of these kinds about what is published: another one of them, another stamp."""
    rows = Report.objects.filter(
        revision_id=publication.revision_id, engine_version=publication.engine_version, kind__in=kinds
    ).order_by("pk")
    return (publication.revision_id, publication.engine_version, *rows.values_list("pk", "created_at"))
