"""What feeds tell: each new board, what it changed, and who leads under which rule; no more than anybody may see."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from leaderboard.models import Benchmark, Publication, Report
from leaderboard.selectors.audience import Audience, audience, hides_something
from leaderboard.services.history import PastRevision, past_revisions
from leaderboard.services.public_board import ANYBODY
from leaderboard.services.rankings import BOARD, RANKING
from leaderboard.services.verdict import camps_of, headline
from leaderboard.services.wording import as_sentence, in_words, shortened
from ranking_engine import RULES

ENTRIES = 30
TOLD_REVISIONS = 5  # of the revisions that one board brought


@dataclass(frozen=True)
class FeedEntry:
    """One published board."""

    publication: int
    benchmark: Benchmark
    number: int
    title: str
    sentences: list[str]
    published_at: datetime
    updated_at: datetime  # when the last of its rankings came: slow rules are computed after the board


def entries_of(benchmark: Benchmark) -> list[FeedEntry]:
    """The last boards of one benchmark, newest first."""
    return _entries(list(_published().filter(benchmark=benchmark)[:ENTRIES]))


def entries_of_all() -> list[FeedEntry]:
    """The last boards of all public benchmarks, newest first."""
    rows = _published().filter(benchmark__visibility=Benchmark.Visibility.PUBLIC)
    return _entries(list(rows[:ENTRIES]))


def _published() -> QuerySet[Publication]:
    """What readers saw, newest first; boards that hold withdrawn material are shown no more."""
    rows = Publication.objects.filter(is_pointer_moved=True, revision__withdrawn_at=None)
    return rows.select_related("benchmark", "revision").order_by("-pk")


def _entries(publications: Sequence[Publication]) -> list[FeedEntry]:
    reports = _reports(publications)
    by_benchmark: dict[int, list[Publication]] = defaultdict(list)
    for publication in publications:
        by_benchmark[publication.benchmark_id].append(publication)
    entries = [
        entry for rows in by_benchmark.values() for entry in _entries_of(rows[0].benchmark, rows, reports)
    ]
    return sorted(entries, key=lambda entry: -entry.publication)


def _reports(publications: Sequence[Publication]) -> dict[tuple[int, str], list[Report]]:
    """What is stored of each published board without its arrays, by revision and engine version."""
    found: dict[tuple[int, str], list[Report]] = defaultdict(list)
    rows = Report.objects.filter(
        revision__in=[publication.revision_id for publication in publications], kind__in=[BOARD, RANKING]
    )
    for report in rows.defer("arrays", "parameters").order_by("pk"):
        found[report.revision_id, report.engine_version].append(report)
    return found


def _entries_of(
    benchmark: Benchmark, publications: Sequence[Publication], reports: dict[tuple[int, str], list[Report]]
) -> list[FeedEntry]:
    seen_by = audience(ANYBODY, benchmark)
    older = _published().filter(benchmark=benchmark, pk__lt=publications[-1].pk).first()
    before = [*publications[1:], older]
    spans = [
        (previous.revision.number if previous else 0, publication.revision.number)
        for publication, previous in zip(publications, before, strict=True)
    ]
    numbers = {number for low, high in spans for number in range(max(low, high - TOLD_REVISIONS) + 1, high + 1)}
    lines = {line.number: line for line in past_revisions(benchmark, seen_by, numbers)}
    return [
        _entry(
            publication,
            seen_by,
            reports=reports[publication.revision_id, publication.engine_version],
            before=span[0],
            lines=lines,
        )
        for publication, span in zip(publications, spans, strict=True)
    ]


def _entry(
    publication: Publication,
    seen_by: Audience,
    *,
    reports: Sequence[Report],
    before: int,
    lines: dict[int, PastRevision],
) -> FeedEntry:
    """One published board; `before` is the number of the revision that was published before it."""
    benchmark, number = publication.benchmark, publication.revision.number
    hides_who = hides_something(benchmark) and not (seen_by.sees_others and seen_by.sees_names)
    title = f"{shortened(benchmark.name)}: revision {number}"
    sentences: list[str] = []
    if before == number:
        sentences.append(f"The board was computed again by version {publication.engine_version} of the engine.")
    changed = range(max(before, number - TOLD_REVISIONS) + 1, number + 1)
    if not hides_who:
        leader, told = _leaders(benchmark, reports)
        title += f", {leader}" if leader else ""
        sentences += [told] if told else []
    sentences += [text for change in changed if change in lines for text in _changes(lines[change])]
    return FeedEntry(
        publication=publication.pk,
        benchmark=benchmark,
        number=number,
        title=title,
        sentences=sentences,
        published_at=publication.published_at,
        updated_at=max([publication.published_at, *(report.created_at for report in reports)]),
    )


def _leaders(benchmark: Benchmark, reports: Sequence[Report]) -> tuple[str, str]:
    """(who leads under the default rule, who is elected by which rules)."""
    facts: dict[str, Any] = next((report.summary for report in reports if report.kind == BOARD), {})
    rankings = [report.summary for report in reports if report.kind == RANKING and report.summary["n_winners"]]
    own = next((summary for summary in rankings if summary["rule"] == benchmark.default_rule), None)
    camps = camps_of([(RULES[row["rule"]].name, row["winner_names"], row["n_winners"]) for row in rankings])
    leader = ""
    if own:
        names = in_words([shortened(name) for name in own["winner_names"]], total=own["n_winners"])
        leader = f"{names} first under {RULES[benchmark.default_rule].name}"
    return leader, headline(camps, facts.get("condorcet_winner")) if camps else ""


def _changes(line: PastRevision) -> list[str]:
    """What one revision changed, in sentences."""
    told = "; ".join([*line.systems, *line.changes])
    more = f" and {line.n_more_changes} changes more" if line.n_more_changes else ""
    first = f"Revision {line.number} ({line.cause.lower()}){f': {told}{more}' if told else ''}"
    return [as_sentence(first), *([as_sentence(line.flips)] if line.flips else [])]
