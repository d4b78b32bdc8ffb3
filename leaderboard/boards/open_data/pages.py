"""The metadata that pages of boards carry for search engines and catalogues of data sets."""

from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard.access.audience import hides_something
from leaderboard.boards.open_data.metadata import DescribedFile, data_block, dataset_of
from leaderboard.common.files import export_url
from leaderboard.models import Benchmark, Publication, Release
from leaderboard.rankings.configuration import configuration_of


def published_dataset(
    request: HttpRequest, benchmark: Benchmark, publication: Publication, n_systems: int, release: Release | None = None
) -> SafeString:
    """A published revision as schema.org's `Dataset`; empty where some readers do not see all of it.

    Args:
        request: whose host the addresses have.
        benchmark: whose revision.
        publication: of it.
        n_systems: on its board.
        release: the name under which it was frozen, where the page is about that.
    """
    if hides_something(benchmark):
        return SafeString()
    key, number = benchmark.key, publication.revision.number
    revision = number if release or number != benchmark.published_number else 0
    files = [
        (export_url(key, "scores", "csv", revision=revision or None), "text/csv", "Scores"),
        (export_url(key, "scores", "json", revision=revision or None), "application/json", "Scores"),
        (
            reverse("board_csv", args=[key]) + (f"?revision={revision}" if revision else ""),
            "text/csv",
            "Ranks under every rule",
        ),
    ]
    page_path = reverse("board", args=[key])
    if release:
        page_path = reverse("release", args=[key, release.key])
        data = reverse("release_data", args=[key, release.key])
        files.insert(0, (data, "application/zip", "Scores, ranks and studies, with metadata in Croissant"))
    return data_block(
        dataset_of(
            benchmark,
            publication,
            url=request.build_absolute_uri(page_path),
            n_systems=n_systems,
            task_names=[task.name for task in configuration_of(publication.revision).tasks],
            files=[DescribedFile(request.build_absolute_uri(path), kind, name) for path, kind, name in files],
            release=release,
        )
    )
