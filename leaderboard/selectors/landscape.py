"""The figures of many benchmarks at once, from the reports of their studies."""

from collections.abc import Sequence
from typing import Any

from leaderboard.models import Benchmark, Report
from leaderboard.selectors.audience import Viewer, hides_something, listed_benchmarks

# Benchmark and, by study, the summary of its newest report.
Studied = tuple[Benchmark, dict[str, dict[str, Any]]]


def studied_benchmarks(viewer: Viewer, kind: str, studies: Sequence[str]) -> list[Studied]:
    """The published benchmarks that `viewer` may list, by name, each with the summaries of some of its studies.

    Benchmarks that hide something are left out: what their studies say is for their moderators.

    Args:
        viewer: who asks.
        kind: the kind of report that holds a study.
        studies: which studies.
    """
    listed = listed_benchmarks(viewer).filter(publication__isnull=False).select_related("publication").order_by("name")
    benchmarks = [benchmark for benchmark in listed if not hides_something(benchmark)]
    versions = {
        benchmark.publication.revision_id: benchmark.publication.engine_version
        for benchmark in benchmarks
        if benchmark.publication is not None
    }
    found: dict[int, dict[str, dict[str, Any]]] = {}
    reports = Report.objects.filter(revision_id__in=versions, kind=kind, parameters__study__in=list(studies))
    for report in reports.defer("arrays").order_by("pk"):
        if report.engine_version == versions[report.revision_id]:
            found.setdefault(report.revision_id, {})[report.parameters["study"]] = report.summary
    return [
        (benchmark, found.get(benchmark.publication.revision_id, {}))
        for benchmark in benchmarks
        if benchmark.publication is not None
    ]
