"""What the list of benchmarks says of each."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from leaderboard.models import Benchmark, Report
from leaderboard.selectors.audience import Viewer, audience, hides_something, listed_benchmarks
from leaderboard.selectors.jobs import has_failed_board
from leaderboard.services.rankings import BOARD, RANKING
from leaderboard.services.verdict import Camp, camps_of
from ranking_engine import RULES


@dataclass(frozen=True)
class ListedBenchmark:
    """One line of the list."""

    key: str
    name: str
    summary: str
    visibility: str
    n_systems: int
    n_tasks: int
    default_rule: str
    default_rule_name: str
    winner_names: list[str]  # the first of them, where they are many
    n_winners: int
    n_rules_electing: int
    n_rules_elsewhere: int
    largest_camps: list[Camp]  # the systems that most rules elect; several where as many rules elect others
    revision_number: int
    updated_at: datetime | None
    is_computing: bool
    is_failed: bool  # the newest revision could not be computed
    is_hidden: bool = False  # the board is not wholly open to this reader, and nothing is said of it
    is_archived: bool = False


def listed(viewer: Viewer, *, query: str = "", tag: str = "") -> tuple[list[ListedBenchmark], list[str]]:
    """The benchmarks that `viewer` may know of, those without scores last, and all of their tags.

    Args:
        viewer: who reads.
        query: only benchmarks whose name or first line says this.
        tag: only benchmarks with this tag.
    """
    benchmarks = list(_readable(viewer))
    tags = sorted({str(name) for benchmark in benchmarks for name in benchmark.tags})
    found = lines(viewer, [benchmark for benchmark in benchmarks if _matches(benchmark, query, tag)])
    return sorted(found, key=lambda line: not (line.n_systems or line.is_hidden)), tags


def matching(viewer: Viewer, *, query: str = "", tag: str = "") -> list[Benchmark]:
    """The benchmarks that `listed` would show, in the order of their keys, without what it says of each."""
    return sorted((b for b in _readable(viewer) if _matches(b, query, tag)), key=lambda benchmark: benchmark.key)


def lines(viewer: Viewer, benchmarks: list[Benchmark]) -> list[ListedBenchmark]:
    """What the list says of each of these benchmarks; nothing of a board that is not wholly open to `viewer`."""
    reports = _summaries(benchmarks)
    hidden = {b.pk for b in benchmarks if hides_something(b) and audience(viewer, b).is_restricted}
    return [_line(b, [] if b.pk in hidden else reports[b.pk], is_hidden=b.pk in hidden) for b in benchmarks]


def _readable(viewer: Viewer) -> QuerySet[Any]:
    return listed_benchmarks(viewer).select_related("publication").annotate(is_failed=has_failed_board())


def _matches(benchmark: Benchmark, query: str, tag: str) -> bool:
    wanted = query.casefold()
    is_named = wanted in benchmark.name.casefold() or wanted in first_line(benchmark.description).casefold()
    return is_named and (not tag or tag in benchmark.tags)


def first_line(description: str) -> str:
    """The first line of a description that says something."""
    return next((line.strip() for line in description.splitlines() if line.strip()), "")


def _summaries(benchmarks: list[Benchmark]) -> dict[int, list[Report]]:
    published = {b.publication.revision_id: b for b in benchmarks if b.publication}
    found: dict[int, list[Report]] = defaultdict(list)
    reports = Report.objects.filter(revision_id__in=published, kind__in=[BOARD, RANKING]).defer("arrays")
    for report in reports.order_by("pk"):
        benchmark = published[report.revision_id]
        if benchmark.publication and report.engine_version == benchmark.publication.engine_version:
            found[benchmark.pk].append(report)
    return found


def _line(benchmark: Benchmark, reports: list[Report], *, is_hidden: bool) -> ListedBenchmark:
    facts: dict[str, Any] = next((report.summary for report in reports if report.kind == BOARD), {})
    rankings = {report.summary["rule"]: report.summary for report in reports if report.kind == RANKING}
    default = rankings.get(benchmark.default_rule, {"winner_names": [], "n_winners": 0})
    electing = [summary for summary in rankings.values() if summary["n_winners"]]
    elsewhere = [summary for summary in electing if set(summary["winner_names"]) != set(default["winner_names"])]
    publication = benchmark.publication
    return ListedBenchmark(
        key=benchmark.key,
        name=benchmark.name,
        summary=first_line(benchmark.description),
        visibility=benchmark.visibility,
        n_systems=facts.get("n_systems", 0),
        n_tasks=facts.get("n_tasks", 0),
        default_rule=benchmark.default_rule,
        default_rule_name=RULES[benchmark.default_rule].name,
        winner_names=default["winner_names"],
        n_winners=default["n_winners"],
        n_rules_electing=len(electing),
        n_rules_elsewhere=len(elsewhere),
        largest_camps=_largest_camps(electing),
        revision_number=benchmark.published_number,
        updated_at=publication.published_at if publication else None,
        is_computing=benchmark.last_revision_number > benchmark.published_number,
        is_failed=benchmark.is_failed,  # type: ignore[attr-defined]
        is_hidden=is_hidden,
        is_archived=benchmark.is_archived,
    )


def _largest_camps(electing: list[dict[str, Any]]) -> list[Camp]:
    """Of the summaries of rules that elect: whom the most of them elect."""
    camps = camps_of([(RULES[one["rule"]].name, one["winner_names"], one["n_winners"]) for one in electing])
    return [camp for camp in camps if camp.n_rules == camps[0].n_rules]
