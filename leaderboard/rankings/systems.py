"""What is said of systems beside their scores."""

from collections.abc import Sequence

from leaderboard.models import System


def about_systems(ids: Sequence[int]) -> dict[int, System]:
    """The systems of these ids."""
    return System.objects.in_bulk(list(ids))


def described_systems(ids: Sequence[int]) -> list[tuple[int, list[object], dict[str, object]]]:
    """(id, tags, metadata) of those of these systems that have any of the two."""
    described = System.objects.exclude(tags=[], metadata={}).values_list("pk", "tags", "metadata")
    if len(ids) <= 500:
        described = described.filter(pk__in=ids)
    else:  # more ids than a statement may name: all systems of the same benchmark
        described = described.filter(benchmark__systems=ids[0])
    wanted = set(ids)
    return [found for found in described if found[0] in wanted]
