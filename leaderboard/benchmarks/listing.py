"""What the list of benchmarks says of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext

from leaderboard.access.audience import Viewer, listed_benchmarks, restricted_ids
from leaderboard.benchmarks.tag_queries import tags_in
from leaderboard.common.language.engine import rule_name
from leaderboard.comparisons.since import PERIODS, recent_changes
from leaderboard.models import Benchmark
from leaderboard.models.benchmarks import first_paragraph
from leaderboard.queue.queries import has_failed_board
from leaderboard.rankings.listed_boards import camps_of_winners, elected_by, with_listed_boards
from leaderboard.rankings.verdict import Camp, joint_winners, lone_system_text

PAGE_BENCHMARKS = 50
SHOWN_TAGS = 40
SUMMARY_LENGTH = 400  # characters


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
    revision_number: int
    updated_at: datetime | None
    is_computing: bool
    is_failed: bool  # the newest revision could not be computed
    is_hidden: bool = False  # the board is not wholly open to this reader, and nothing is said of it
    is_archived: bool = False
    week_text: str = ""  # how many systems came and went in the last seven days; empty where none did
    winners: Sequence[Any] = ()  # as `ListedBoard` keeps them

    @property
    def lone_system_text(self) -> str:
        """What is said in place of winners where there is one system; empty where there are others."""
        return lone_system_text(self.n_systems)

    @cached_property
    def largest_camps(self) -> list[Camp]:
        """The systems that most rules elect; several where as many rules elect others."""
        camps = camps_of_winners(self.winners)
        return [camp for camp in camps if camp.n_rules == camps[0].n_rules]

    @cached_property
    def most_wins(self) -> str:
        """Under how many rules they win, and whether alone: some may win with others under further rules."""
        largest, joint = self.largest_camps, joint_winners(camps_of_winners(self.winners))
        texts = {
            (False, False): gettext("Wins most often: under %(n)s of %(n_rules)s rules"),
            (False, True): gettext("Win most often: each under %(n)s of %(n_rules)s rules"),
            (True, False): gettext("Wins most often: alone under %(n)s of %(n_rules)s rules"),
            (True, True): gettext("Win most often: alone, each under %(n)s of %(n_rules)s rules"),
        }
        text = texts[any(camp.n_winners == 1 and camp.winners[0] in joint for camp in largest), len(largest) > 1]
        if all(camp.n_winners > 1 for camp in largest):
            text = gettext("Win most often: jointly under %(n)s of %(n_rules)s rules")
        return text % {"n": largest[0].n_rules, "n_rules": self.n_rules_electing}


@dataclass(frozen=True)
class BenchmarkListPage:
    """One page of the list."""

    benchmarks: list[ListedBenchmark]
    tags: list[str]  # those that most of all benchmarks have, by name; not only those of this page
    page: Page[Benchmark]


def listed(viewer: Viewer, *, query: str = "", tag: str = "", page: str | None = None) -> BenchmarkListPage:
    """One page of the benchmarks that `viewer` may know of, by name, those without a published board last.

    Args:
        viewer: who reads.
        query: only benchmarks whose name or first line says this.
        tag: only benchmarks with this tag.
        page: which page, from 1; the first where it is none that there is.
    """
    known = listed_benchmarks(viewer)
    has_board = Case(When(published_number=0, then=Value(1)), default=Value(0), output_field=IntegerField())
    rows = _as_lines(_matching(known, query, tag)).order_by(has_board, "name", "key")
    page_rows = Paginator(rows, PAGE_BENCHMARKS).get_page(page)
    return BenchmarkListPage(lines(viewer, list(page_rows)), tags_in(known, most=SHOWN_TAGS), page_rows)


@dataclass(frozen=True)
class KeyOrder:
    """Some of the benchmarks in the order of their keys, for `lines` to say what they are; and how many there are."""

    benchmarks: list[Benchmark]
    count: int


def by_key(viewer: Viewer, *, query: str, tag: str, after: str, most: int, since: datetime | None) -> KeyOrder:
    """The benchmarks that `listed` would show, in the order of their keys.

    Args:
        viewer: who reads.
        query: only benchmarks whose name, first line or key says this.
        tag: only benchmarks with this tag.
        after: only those whose keys come after this one.
        most: how many.
        since: only those that were created or have had a new board since.
    """
    known = listed_benchmarks(viewer)
    rows = _matching(known, query, tag, with_keys=True)
    if since is not None:
        rows = rows.filter(Q(created_at__gte=since) | Q(publication__published_at__gte=since))
    behind = _as_lines(rows).filter(key__gt=after).order_by("key")
    return KeyOrder(list(behind[:most]), rows.count())


def lines(viewer: Viewer, benchmarks: Sequence[Benchmark]) -> list[ListedBenchmark]:
    """What the list says of each of these benchmarks; nothing of a board that is not wholly open to `viewer`.

    Args:
        viewer: who reads.
        benchmarks: as `listed` and `by_key` ask for them.
    """
    hidden = restricted_ids(viewer, benchmarks)
    boards = with_listed_boards(b.publication for b in benchmarks if b.publication and b.pk not in hidden)
    open_ids = [benchmark.pk for benchmark in benchmarks if benchmark.pk not in hidden]
    week = recent_changes(open_ids, timezone.now() - PERIODS["week"]) if open_ids else {}
    listed_benchmarks = []
    for benchmark in benchmarks:
        publication, board = benchmark.publication, boards.get(benchmark.publication_id or 0)
        winner_names, n_winners = elected_by(board, benchmark.default_rule)
        winners = board.winners if board else []
        listed_benchmarks.append(
            ListedBenchmark(
                key=benchmark.key,
                name=benchmark.name,
                summary=Truncator(first_paragraph(benchmark.beginning)).chars(SUMMARY_LENGTH),  # type: ignore[attr-defined]
                visibility=benchmark.visibility,
                n_systems=board.n_systems if board else 0,
                n_tasks=board.n_tasks if board else 0,
                default_rule=benchmark.default_rule,
                default_rule_name=rule_name(benchmark.default_rule),
                winner_names=winner_names,
                n_winners=n_winners,
                n_rules_electing=len(winners),
                n_rules_elsewhere=sum(set(names) != set(winner_names) for _, names, _ in winners),
                revision_number=benchmark.published_number,
                updated_at=publication.published_at if publication else None,
                is_computing=benchmark.last_revision_number > benchmark.published_number,
                is_failed=benchmark.is_failed,  # type: ignore[attr-defined]
                is_hidden=benchmark.pk in hidden,
                is_archived=benchmark.is_archived,
                week_text=week[benchmark.pk].text if benchmark.pk in week and board else "",
                winners=winners,
            )
        )
    return listed_benchmarks


def _as_lines(rows: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """With what `lines` reads: of a description, which may be long, only where it begins."""
    rows = rows.defer("description", "citation").annotate(beginning=Left("description", 4 * SUMMARY_LENGTH))
    return rows.select_related("publication__listed_board").annotate(is_failed=has_failed_board())


def _matching(rows: QuerySet[Benchmark], query: str, tag: str, *, with_keys: bool = False) -> QuerySet[Benchmark]:
    if "\0" in query + tag:  # which no text holds, and PostgreSQL cannot be asked for
        return rows.none()
    if query:
        text = query.casefold()
        said = Q(searched_text__contains=text)
        rows = rows.filter(said | Q(key__contains=text) if with_keys else said)
    return rows.filter(tags__has_item=tag) if tag else rows
