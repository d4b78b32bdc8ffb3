"""What is said of systems beside their scores."""

from collections.abc import Sequence

from leaderboard.models import System


def about_systems(ids: Sequence[int]) -> dict[int, System]:
    """The systems of these ids."""
    return System.objects.in_bulk(list(ids))
