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
