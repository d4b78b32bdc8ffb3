"""Reports read back."""

import io

import numpy as np

from leaderboard.models import Publication, Report


def unpack_arrays(packed: bytes | memoryview) -> dict[str, np.ndarray]:
    """The arrays of a report by name."""
    packed = bytes(packed)
    if not packed:
        return {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def published_reports(publication: Publication) -> list[Report]:
    """Every report of what is published, in the order in which it was stored."""
    return list(
        Report.objects.filter(
            revision_id=publication.revision_id, engine_version=publication.engine_version
        ).order_by("pk")
    )
