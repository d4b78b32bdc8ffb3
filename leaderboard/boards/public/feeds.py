"""Feeds: each new board, what it changed, and the first system under each rule; only what is public."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from leaderboard.access.audience import Audience, audience_of, hides_something
from leaderboard.boards.public.board import ANYBODY
from leaderboard.common.text import as_sentence, in_words, shortened
from leaderboard.comparisons.history import PastRevision, past_revisions
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Benchmark, ListedBoard, Publication
from leaderboard.rankings.listed_boards import camps_of_winners, elected_by, with_listed_boards
from leaderboard.rankings.verdict import headline
from ranking_engine.catalogue.registry import get_rule

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
    rows = rows.annotate(aggregation=KeyTextTransform("aggregation", "revision__configuration__content"))
    return rows.select_related("benchmark", "revision", "listed_board").order_by("-pk")


def _entries(publications: Sequence[Publication]) -> list[FeedEntry]:
    """An entry a board, in the same order: as many queries however many benchmarks they belong to."""
    boards = with_listed_boards(publications)
    # By publication: the number of the revision that its benchmark had published before; 0 where there is none.
    before: dict[int, int] = {}
    oldest: dict[int, Publication] = {}
    for one in publications:  # newest first
        if (newer := oldest.get(one.benchmark_id)) is not None:
            before[newer.pk] = one.revision.number
        oldest[one.benchmark_id] = one
    older = _published().filter(benchmark=OuterRef("benchmark"), pk__lt=OuterRef("pk"))
    rows = Publication.objects.filter(pk__in=[one.pk for one in oldest.values()])
    rows = rows.annotate(number=Subquery(older.values("revision__number")[:1]))
    before |= {pk: number or 0 for pk, number in rows.values_list("pk", "number")}
    aggregations = {one.pk: vars(one)["aggregation"] for one in publications}  # annotated by `_published`
    seen_by = {one.benchmark_id: audience_of(ANYBODY, one.benchmark) for one in publications}
    changed = {}  # the numbers of the revisions that a board brought: the last of them, where it is many
    for one in publications:
        number = one.revision.number
        changed[one.pk] = range(max(before[one.pk], number - TOLD_REVISIONS) + 1, number + 1)
    numbers: dict[int, set[int]] = defaultdict(set)
    for one in publications:
        numbers[one.benchmark_id].update(changed[one.pk])
    benchmarks = {one.benchmark_id: one.benchmark for one in publications}
    lines = past_revisions([(benchmark, seen_by[pk], numbers[pk]) for pk, benchmark in benchmarks.items()])
    return [
        _entry(
            one,
            seen_by[one.benchmark_id],
            boards.get(one.pk),
            has_majority=aggregations[one.pk] != TWO_STEP,
            is_same_revision=before[one.pk] == one.revision.number,
            lines=[lines[one.benchmark_id][number] for number in changed[one.pk] if number in lines[one.benchmark_id]],
        )
        for one in publications
    ]


def _entry(
    publication: Publication,
    seen_by: Audience,
    board: ListedBoard | None,
    *,
    has_majority: bool,
    is_same_revision: bool,
    lines: Sequence[PastRevision],
) -> FeedEntry:
    """One published board.

    Args:
        publication: of which board.
        seen_by: who reads.
        board: what lists say of it; None where its reports are gone.
        has_majority: whether it counts majorities of tasks, as all but two-step aggregation do.
        is_same_revision: whether the board before it was of the same revision.
        lines: what the history says of the revisions that it brought.
    """
    benchmark, number = publication.benchmark, publication.revision.number
    hides_who = hides_something(benchmark) and not (seen_by.sees_others and seen_by.sees_names)
    title = f"{shortened(benchmark.name)}: revision {number}"
    sentences: list[str] = []
    if is_same_revision:
        sentences.append(f"The board was computed again by version {publication.engine_version} of the engine.")
    if not hides_who:
        winner_names, n_winners = elected_by(board, benchmark.default_rule)
        if n_winners:
            leaders = in_words([shortened(name) for name in winner_names], total=n_winners)
            title += f", {leaders} first under {get_rule(benchmark.default_rule).name}"
        if board is not None and (camps := camps_of_winners(board.winners)):
            # Boards that were summed up earlier name the winner with the tasks' own weights under two steps, too.
            winner = board.condorcet_winner if has_majority else ""
            sentences.append(headline(camps, winner or None, has_majority=has_majority))
    for line in lines:
        changes = "; ".join([*line.systems, *line.changes])
        more = f" and {line.n_more_changes} more changes" if line.n_more_changes else ""
        end = f": {changes}{more}" if changes else ""
        sentences.append(as_sentence(f"Revision {line.number} ({line.cause.lower()}){end}"))
        if line.iia_violations:
            sentences.append(as_sentence(line.iia_violations))
    published_at = publication.published_at
    return FeedEntry(
        publication=publication.pk,
        benchmark=benchmark,
        number=number,
        title=title,
        sentences=sentences,
        published_at=published_at,
        updated_at=max(published_at, board.updated_at) if board else published_at,
    )
