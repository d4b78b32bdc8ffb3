"""Feeds: each new board, or each week's boards together: what changed, and who leads; only what is public."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.utils import dateformat
from django.utils.translation import gettext, gettext_lazy, ngettext

from leaderboard.access.audience import Audience, audience_of, hides_something
from leaderboard.boards.public.board import ANYBODY
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import as_sentence, in_words, shortened
from leaderboard.comparisons.history import PastRevision, past_revisions
from leaderboard.computing.rankings import TWO_STEP
from leaderboard.models import Benchmark, ListedBoard, Publication
from leaderboard.rankings.listed_boards import camps_of_winners, elected_by, with_listed_boards
from leaderboard.rankings.verdict import headline, lone_system_text
from ranking_engine.core.missing import PREDICTED

ENTRIES = 30
WEEK = timedelta(days=7)
MAX_WEEKS = 12  # that a weekly feed goes back
BOARDS_OF_WEEKS = 200  # boards that it reads, the newest
MAX_TOLD = 40  # changes of one week
PREDICTING = gettext_lazy(
    "Where scores are missing they are predicted; the board marks ranks that rest on predictions with ≈."
)
TOLD_REVISIONS = 5  # of the revisions that one board brought


@dataclass(frozen=True)
class FeedEntry:
    """One published board."""

    publication: int
    benchmark: Benchmark
    number: int
    leaders: str  # who is first; empty where no one may be named
    rule: str  # under which rule
    standing: list[str]  # sentences about the board
    changes: list[str]  # sentences about the revisions that it brought
    published_at: datetime
    updated_at: datetime  # when the last of its rankings came: slow rules are computed after the board

    @property
    def title(self) -> str:
        """The benchmark, the revision, and who leads."""
        title = gettext("%(benchmark)s: revision %(number)s")
        if self.leaders:
            title = gettext("%(benchmark)s: revision %(number)s, %(leaders)s first under %(rule)s")
        benchmark = shortened(self.benchmark.name)
        return title % {"benchmark": benchmark, "number": self.number, "leaders": self.leaders, "rule": self.rule}

    @property
    def sentences(self) -> list[str]:
        """Everything that is said of it."""
        return [*self.standing, *self.changes]

    @property
    def tag(self) -> str:
        """What names it for ever."""
        return f"benchmark/{self.benchmark.key}/publication/{self.publication}"


@dataclass(frozen=True)
class WeekEntry:
    """The boards of one benchmark in one week, which is over."""

    monday: date
    boards: Sequence[FeedEntry]  # newest first, at least one

    @property
    def benchmark(self) -> Benchmark:
        """Whose boards they are."""
        return self.boards[0].benchmark

    @property
    def number(self) -> int:
        """The revision of the last one."""
        return self.boards[0].number

    @property
    def title(self) -> str:
        """The benchmark, the week, and who leads at its end."""
        last = self.boards[0]
        title = gettext("%(benchmark)s: week of %(day)s")
        if last.leaders:
            title = gettext("%(benchmark)s: week of %(day)s, %(leaders)s first under %(rule)s")
        benchmark, day = shortened(self.benchmark.name), dateformat.format(self.monday, gettext("j M Y"))
        return title % {"benchmark": benchmark, "day": day, "leaders": last.leaders, "rule": last.rule}

    @property
    def sentences(self) -> list[str]:
        """How things were at the end of the week, then what happened in it."""
        n = len(self.boards)
        count = ngettext("One new board in this week.", "%(n)s new boards in this week.", n) % {"n": n}
        changes = [text for board in reversed(self.boards) for text in board.changes]
        left_out = len(changes) - MAX_TOLD
        sentences = [count, *self.boards[0].standing]
        if left_out > 0:
            more = ngettext(
                "%(n)s earlier change of the week is not listed.",
                "%(n)s earlier changes of the week are not listed.",
                left_out,
            )
            sentences.append(more % {"n": left_out})
        return [*sentences, *changes[-MAX_TOLD:]]

    @property
    def published_at(self) -> datetime:
        """When the week was over."""
        return datetime.combine(self.monday + WEEK, time(), UTC)

    @property
    def updated_at(self) -> datetime:
        """When the last ranking of its boards came, if that was later."""
        return max(self.published_at, *(board.updated_at for board in self.boards))

    @property
    def tag(self) -> str:
        """What names it for ever."""
        year, week, _ = self.monday.isocalendar()
        return f"benchmark/{self.benchmark.key}/week/{year}-W{week:02}"


def entries_of(benchmark: Benchmark) -> list[FeedEntry]:
    """The last boards of one benchmark, newest first."""
    return _entries(list(_published().filter(benchmark=benchmark)[:ENTRIES]))


def entries_of_all() -> list[FeedEntry]:
    """The last boards of all public benchmarks, newest first."""
    rows = _published().filter(benchmark__visibility=Benchmark.Visibility.PUBLIC)
    return _entries(list(rows[:ENTRIES]))


def weeks_of(benchmark: Benchmark, now: datetime) -> list[WeekEntry]:
    """The last weeks of one benchmark that are over `now` and had a board, newest first."""
    return _weeks(_published().filter(benchmark=benchmark), now)


def weeks_of_all(now: datetime) -> list[WeekEntry]:
    """The same of all public benchmarks: an entry for each of them and each week."""
    return _weeks(_published().filter(benchmark__visibility=Benchmark.Visibility.PUBLIC), now)


def _weeks(publications: QuerySet[Publication], now: datetime) -> list[WeekEntry]:
    today = now.astimezone(UTC).date()
    this_week = datetime.combine(today - timedelta(days=today.weekday()), time(), UTC)
    recent = publications.filter(published_at__lt=this_week, published_at__gte=this_week - MAX_WEEKS * WEEK)
    boards: dict[tuple[date, int], list[FeedEntry]] = {}
    for entry in _entries(list(recent[:BOARDS_OF_WEEKS])):
        day = entry.published_at.astimezone(UTC).date()
        boards.setdefault((day - timedelta(days=day.weekday()), entry.benchmark.pk), []).append(entry)
    weeks = [WeekEntry(monday, of_week) for (monday, _), of_week in boards.items()]
    return sorted(weeks, key=lambda week: (week.monday, week.boards[0].published_at), reverse=True)[:ENTRIES]


def _published() -> QuerySet[Publication]:
    """What readers saw, newest first; boards that hold withdrawn material are shown no more."""
    rows = Publication.objects.filter(is_pointer_moved=True, revision__withdrawn_at=None)
    content = "revision__configuration__content"
    rows = rows.annotate(
        aggregation=KeyTextTransform("aggregation", content), missing_policy=KeyTextTransform("missing_policy", content)
    )
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
    predicting = {one.pk for one in publications if vars(one)["missing_policy"] == PREDICTED}
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
            is_predicting=one.pk in predicting,
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
    is_predicting: bool,
    is_same_revision: bool,
    lines: Sequence[PastRevision],
) -> FeedEntry:
    """One published board.

    Args:
        publication: of which board.
        seen_by: who reads.
        board: what lists say of it; None where its reports are gone.
        has_majority: whether it counts majorities of tasks, as all but two-step aggregation do.
        is_predicting: whether rules that need all scores rank by predictions of the missing ones.
        is_same_revision: whether the board before it was of the same revision.
        lines: what the history says of the revisions that it brought.
    """
    benchmark, number = publication.benchmark, publication.revision.number
    hides_who = hides_something(benchmark) and not (seen_by.sees_others and seen_by.sees_names)
    leaders = ""
    standing: list[str] = []
    changes: list[str] = []
    if is_same_revision:
        again = gettext("The board was computed again by version %(version)s of the engine.")
        standing.append(again % {"version": publication.engine_version})
    if not hides_who:
        winner_names, n_winners = elected_by(board, benchmark.default_rule)
        lone = lone_system_text(board.n_systems if board else None)
        if n_winners and not lone:
            leaders = in_words([shortened(name) for name in winner_names], total=n_winners)
        if board is not None and (camps := camps_of_winners(board.winners)):
            # Boards that were summed up earlier name the winner with the tasks' own weights under two steps, too.
            winner = board.condorcet_winner if has_majority else ""
            standing.append(lone or headline(camps, winner or None, has_majority=has_majority))
            if is_predicting:
                standing.append(str(PREDICTING))
    for line in lines:
        sentence = gettext("Revision %(number)s (%(cause)s)")
        if (details := "; ".join([*line.systems, *line.changes])) and line.n_more_changes:
            sentence = ngettext(
                "Revision %(number)s (%(cause)s): %(details)s and %(n)s more change",
                "Revision %(number)s (%(cause)s): %(details)s and %(n)s more changes",
                line.n_more_changes,
            )
        elif line.systems:  # which says what the cause was
            sentence = gettext("Revision %(number)s: %(details)s")
        elif details:
            sentence = gettext("Revision %(number)s (%(cause)s): %(details)s")
        values = {"number": line.number, "cause": line.cause.lower(), "details": details, "n": line.n_more_changes}
        changes.append(as_sentence(sentence % values))
        if line.iia_violations:
            changes.append(as_sentence(line.iia_violations))
    published_at = publication.published_at
    return FeedEntry(
        publication=publication.pk,
        benchmark=benchmark,
        number=number,
        leaders=leaders,
        rule=rule_name(benchmark.default_rule),
        standing=standing,
        changes=changes,
        published_at=published_at,
        updated_at=max(published_at, board.updated_at) if board else published_at,
    )
