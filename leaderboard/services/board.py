"""The board: systems x rules, filtered, sorted and cut into pages, as one view of one revision."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leaderboard.models import Benchmark
from leaderboard.selectors.audience import Audience
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.selectors.systems import described_systems
from leaderboard.services.board_filters import About, Chosen, UnknownChoiceError, choose, column_of
from leaderboard.services.board_query import BoardQuery
from leaderboard.services.columns import Column, PublishedBoard, board_under, published_board, separability_of
from leaderboard.services.interval_wording import interval_text
from leaderboard.services.masks import masked
from leaderboard.services.significance import Separability
from leaderboard.services.verdict import Camp, camps_of, headline
from ranking_engine import TIES

PAGE_ROWS = 100
ORDERS = {"name": "name", "median_rank": "median rank", "tasks": "tasks scored"}  # orders that no rule makes
SHADES = (0.03, 0.1, 0.3)  # shares of the board: a change up to the first of them has shade 1, beyond the last 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One system under one rule."""

    rank: int | None
    n_tied_with: int
    # Places better than under the reference rule, among the systems that both rank; None where one gives no rank.
    change: int | None
    score_text: str
    reason: str
    interval_text: str
    shade: int = 0  # how far the change goes, from -4 (much worse) to 4 (much better)
    joins_above: bool = False  # tied with the system in the row above
    joins_below: bool = False
    is_sole_winner: bool = False  # elected by the rule, alone

    @property
    def is_tied(self) -> bool:
        """Whether others share the rank."""
        return self.n_tied_with > 0


@dataclass(frozen=True)
class Row:
    """One system of a board."""

    id: int
    key: str
    name: str
    is_own: bool
    n_scored: int
    n_voting_tasks: int
    reference_rank: int | None
    least_rank: int | None
    median_rank: float | int | None
    greatest_rank: int | None
    cells: list[Cell]
    inseparable_text: str = ""  # the ranks of those that cannot be told apart from it
    interval: tuple[int, int] | None = None  # of its rank under the reference rule, where the study is there
    is_pinned: bool = False
    url: str = ""


@dataclass(frozen=True)
class Board:
    """One page of one revision's board."""

    published: PublishedBoard
    columns: list[Column]  # of the rules that rank or elect here, and of the reference rule
    shown: list[Column]  # those of them that the query chose
    undefined: list[Column]  # of the rules that have nothing to say of these scores
    reference: Column
    separability: Separability  # under the reference rule
    policy: str
    aggregation: str
    query: BoardQuery
    camps: list[Camp]
    sentence: str
    smith_names: list[str]
    about: Mapping[int, About]  # of systems by id, what filters look at
    n_shown: int
    n_pages: int
    page: int
    rows: list[Row] = field(default_factory=list)  # the pinned systems, then those of this page
    n_pinned: int = 0

    @property
    def first_row(self) -> int:
        """The number of the first row shown after the pinned ones, from 1."""
        return (self.page - 1) * PAGE_ROWS + 1

    @property
    def last_row(self) -> int:
        """The number of the last row shown."""
        return self.first_row + len(self.rows) - self.n_pinned - 1

    @property
    def ordered_by(self) -> str:
        """What decides the order of the rows, in words: mostly a rule."""
        key = self.query.sort_key
        names = {column.rule: column.name for column in self.published.columns} | ORDERS
        return names.get(key, self.reference.name)


def reference_first(board: Board) -> Board:
    """The board with the reference rule's family first, and the rule first in it; all else in the catalogue's order.

    A page is read from the left: the column that decides the order must be seen without scrolling. Files and the API
    keep the catalogue's order, which does not hang on what somebody compares with.
    """
    shown, reference = board.shown, board.reference
    order = sorted(
        range(len(shown)), key=lambda c: (shown[c] is not reference, shown[c].family != reference.family)
    )
    rows = [replace(row, cells=[row.cells[c] for c in order]) for row in board.rows]
    return replace(board, shown=[shown[c] for c in order], rows=rows)


def build_board(
    benchmark: Benchmark,
    audience: Audience,
    query: BoardQuery,
    own_system_ids: frozenset[int] = frozenset(),
    *,
    is_whole: bool = False,
) -> Board | None:
    """The board of what is published; None while nothing is.

    Args:
        benchmark: with its publication and revision loaded.
        audience: who reads.
        query: what they asked for.
        own_system_ids: the systems to mark as theirs.
        is_whole: with the rows of all pages, as downloads have them.

    Raises:
        UnknownChoiceError: the query names something that there is not.
        TooLargeError: another policy was asked for and the board is too large to compute on demand.
    """
    publication = benchmark.publication
    if publication is None or not audience.may_read:
        return None
    published = published_board(publication)
    systems = systems_at(published.revision)
    published, policy, aggregation = _as_asked(published, systems, audience, query)
    published, systems = masked(published, systems, audience, own_system_ids)
    if not published.columns:
        return None
    return lay_out(
        published,
        systems,
        column_of(published.columns, query.reference or benchmark.default_rule),
        query=query,
        about={} if audience.is_restricted else about_systems([system.id for system in systems]),
        policy=policy,
        aggregation=aggregation,
        own_system_ids=own_system_ids,
        sees_others=audience.sees_others,
        is_whole=is_whole,
    )


def lay_out(
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    reference: Column,
    *,
    query: BoardQuery,
    about: Mapping[int, About],
    policy: str,
    aggregation: str,
    own_system_ids: frozenset[int] = frozenset(),
    sees_others: bool = True,
    is_whole: bool = False,
) -> Board:
    """The view of a board that a query asks for: columns, systems in order, one page of rows or all.

    Args:
        published: the board as its reader may see it.
        systems: those of the board, in its order.
        reference: one of its columns.
        query: what is asked for.
        about: what filters look at, of systems by id.
        policy, aggregation: those in force.
        own_system_ids: the systems to mark as the reader's.
        sees_others: whether they see any other system.
        is_whole: with the rows of all pages, as downloads have them.

    Raises:
        UnknownChoiceError: the query names something that there is not.
    """
    ranges = rank_range(published.columns, len(systems))
    chosen = choose(published, systems, about, reference=reference, medians=ranges[1], query=query)
    if not sees_others:
        chosen = Chosen(
            *([i for i in part if systems[i].id in own_system_ids] for part in (chosen.pinned, chosen.others))
        )
    n_pages = max(1, math.ceil(len(chosen.others) / PAGE_ROWS))
    page = min(max(1, query.page), n_pages)
    columns = [column for column in published.columns if column.status != "undefined" or column is reference]
    shown = _columns_shown(published.columns, reference, query)
    told_apart = separability_of(published, reference)
    view = _Rows(
        published,
        systems,
        shown,
        reference=reference,
        told_apart=told_apart,
        ranges=ranges,
        with_scores=query.scores,
        own=own_system_ids,
    )
    on_page = chosen.others if is_whole else chosen.others[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    camps = camps_of([(c.name, c.winner_names, c.n_winners) for c in columns if c.elects])
    return Board(
        published=published,
        columns=columns,
        shown=shown,
        undefined=[column for column in published.columns if column.status == "undefined" and column is not reference],
        reference=reference,
        separability=told_apart,
        policy=policy,
        aggregation=aggregation,
        query=query,
        camps=camps if sees_others else [],
        sentence=headline(camps, published.facts.get("condorcet_winner")) if sees_others else "",
        smith_names=[systems[i].name for i in np.flatnonzero(published.in_smith_set).tolist()],
        about=about,
        n_shown=len(chosen.others) + len(chosen.pinned),
        n_pages=n_pages,
        page=page,
        rows=view.rows(chosen.pinned, is_pinned=True) + view.rows(on_page),
        n_pinned=len(chosen.pinned),
    )


def _as_asked(
    published: PublishedBoard, systems: Sequence[BoardSystem], audience: Audience, query: BoardQuery
) -> tuple[PublishedBoard, str, str]:
    """The board under the policy, the aggregation and the tie convention asked for, and the first two of these."""
    stored = published.revision.configuration.content
    policy, aggregation = query.policy or stored["missing_policy"], query.aggregation or stored["aggregation"]
    if policy not in Benchmark.MissingPolicy.values:
        raise UnknownChoiceError(f"There is no missing-score policy {policy!r}.")
    if aggregation not in Benchmark.Aggregation.values:
        raise UnknownChoiceError(f"There is no aggregation {aggregation!r}.")
    if query.ties and query.ties not in TIES:
        raise UnknownChoiceError(f"There is no tie convention {query.ties!r}.")
    if (policy, aggregation) == (stored["missing_policy"], stored["aggregation"]) and not query.ties:
        return published, policy, aggregation
    if audience.is_restricted:
        raise UnknownChoiceError("Where scores are hidden, a board is shown as its owners set it and in no other way.")
    if not systems:
        return published, policy, aggregation
    names = [system.name for system in systems]
    return board_under(published, policy, aggregation, names, audience.level, ties=query.ties), policy, aggregation


def about_systems(ids: Sequence[int]) -> dict[int, About]:
    """Tags and metadata of those of these systems that have any."""
    return {
        pk: About(tuple(str(tag) for tag in tags), metadata if isinstance(metadata, dict) else {})
        for pk, tags, metadata in (described_systems(ids) if ids else [])
    }


def _columns_shown(columns: list[Column], reference: Column, query: BoardQuery) -> list[Column]:
    """The columns that the query chose, and the reference rule's in any case; no column that says nothing here."""
    says_something = [column for column in columns if column.status != "undefined" or column is reference]
    if not query.rules and not query.families:
        return says_something
    for rule in query.rules:
        column_of(columns, rule)
    families = {column.family for column in columns}
    for family in query.families:
        if family not in families:
            raise UnknownChoiceError(f"There is no family of rules {family!r} on this board.")
    wanted = {*query.rules, reference.rule}
    return [column for column in says_something if column.rule in wanted or column.family in query.families]


def rank_range(columns: Sequence[Column], n_systems: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least, median and greatest rank of every system over the rules that rank; NaN where none ranks it."""
    ranking = [column.ranks for column in columns if column.status == "ranked"]
    if not ranking:
        nothing = np.full(n_systems, np.nan)
        return nothing, nothing, nothing
    ranks = np.array(ranking, dtype=float)
    ranks[ranks < 1] = np.nan
    is_ranked = ~np.isnan(ranks).all(axis=0)
    least, median, greatest = (np.full(n_systems, np.nan) for _ in range(3))
    if not is_ranked.any():
        return least, median, greatest
    least[is_ranked] = np.nanmin(ranks[:, is_ranked], axis=0)
    greatest[is_ranked] = np.nanmax(ranks[:, is_ranked], axis=0)
    # The median by sorting: numpy's own goes system by system where any rank is missing.
    ordered, n_ranks = np.sort(ranks[:, is_ranked], axis=0), (~np.isnan(ranks[:, is_ranked])).sum(axis=0)
    places = np.arange(ordered.shape[1])
    median[is_ranked] = (ordered[(n_ranks - 1) // 2, places] + ordered[n_ranks // 2, places]) / 2
    return least, median, greatest


def shade_of(change: int | None, n_systems: int) -> int:
    """How far a change of rank goes, as a share of the board's places: -4 to 4."""
    if not change:
        return 0
    share = abs(change) / max(1, n_systems - 1)
    level = 1 + sum(share > bound for bound in SHADES)
    return level if change > 0 else -level


def ranks_among(ranks: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The ranks among those systems alone that `others` ranks, too: whom a rule leaves out moves nobody up.

    Args:
        ranks: under one rule, 1 is best, equal where tied; below 1 where it ranks a system not.
        others: under another rule.

    Returns:
        ranks of the same shape, 0 for systems that one of the two does not rank.
    """
    is_common = (ranks >= 1) & (others >= 1)
    if (is_common == (ranks >= 1)).all():
        return np.where(is_common, ranks, 0)
    found = np.zeros_like(ranks)
    found[is_common] = np.searchsorted(np.sort(ranks[is_common]), ranks[is_common]) + 1
    return found


class _Rows:
    """Makes rows; what all of them need is worked out once."""

    def __init__(
        self,
        published: PublishedBoard,
        systems: Sequence[BoardSystem],
        columns: list[Column],
        *,
        reference: Column,
        told_apart: Separability,
        ranges: tuple[np.ndarray, np.ndarray, np.ndarray],
        with_scores: bool,
        own: frozenset[int],
    ) -> None:
        self.published, self.systems, self.columns, self.reference = published, systems, columns, reference
        self.told_apart, self.own, self.with_scores = told_apart, own, with_scores
        self.least, self.median, self.greatest = ranges
        # Plain lists: taking single numbers out of an array is slow.
        self.ranks = [column.ranks.tolist() for column in columns]
        self.reference_ranks = reference.ranks.tolist()
        self.holders = [Counter(ranks) for ranks in self.ranks]
        self.changes = [self._changes(column) for column in columns]

    def _changes(self, column: Column) -> list[int] | None:
        """Each system's change against the reference rule; None where there is nothing to compare."""
        reference = self.reference
        if not column.status == reference.status == "ranked" or column is reference:
            return None
        return (ranks_among(reference.ranks, column.ranks) - ranks_among(column.ranks, reference.ranks)).tolist()

    def rows(self, order: Sequence[int], *, is_pinned: bool = False) -> list[Row]:
        """The rows of these systems, one under the other."""
        neighbours = zip([-1, *order[:-1]], order, [*order[1:], -1], strict=True) if order else []
        return [self._row(i, above, below, is_pinned=is_pinned) for above, i, below in neighbours]

    def _row(self, i: int, above: int, below: int, *, is_pinned: bool) -> Row:
        system, reference = self.systems[i], self.reference
        rank = self.reference_ranks[i]
        has_interval = rank >= 1 and reference.lower is not None and reference.lower[i] >= 1
        return Row(
            id=system.id,
            key=system.key,
            name=system.name,
            is_own=system.id in self.own,
            n_scored=int(self.published.n_scored[i]),
            n_voting_tasks=self.published.facts["n_voting_tasks"],
            reference_rank=rank if rank >= 1 else None,
            least_rank=_whole(self.least[i]),
            median_rank=_whole_or_half(self.median[i]),
            greatest_rank=_whole(self.greatest[i]),
            cells=[self._cell(k, i, above, below) for k in range(len(self.columns))],
            inseparable_text=self.told_apart.range_text(i),
            interval=(int(reference.lower[i]), int(reference.upper[i])) if has_interval else None,  # type: ignore[index]
            is_pinned=is_pinned,
        )

    def _cell(self, k: int, i: int, above: int, below: int) -> Cell:
        """What column `k` says of system `i`, which stands between two others (-1: none)."""
        column, ranks = self.columns[k], self.ranks[k]
        rank, reference = ranks[i], self.reference_ranks[i]
        if rank < 1:
            return Cell(
                None, 0, None, score_text(column.scores[i]) if self.with_scores else "", column.reason_of(i), ""
            )
        n_tied_with = self.holders[k][rank] - 1
        changes = self.changes[k]
        change = changes[i] if changes is not None and reference >= 1 else None
        return Cell(
            rank=rank,
            n_tied_with=n_tied_with,
            change=change,
            score_text=score_text(column.scores[i]) if self.with_scores else "",
            reason="",
            interval_text=interval_text(column, i) if self.with_scores else "",
            shade=shade_of(change, len(ranks)) if change else 0,
            joins_above=n_tied_with > 0 and above >= 0 and ranks[above] == rank,
            joins_below=n_tied_with > 0 and below >= 0 and ranks[below] == rank,
            is_sole_winner=rank == 1 and n_tied_with == 0 and column.n_winners <= 1,
        )


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def _whole_or_half(value: float) -> float | int | None:
    if np.isnan(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def score_text(score: float) -> str:
    """A rule score for people: six significant digits, no exponent where none is needed."""
    return "" if np.isnan(score) else f"{score:.6g}".replace("-", "\N{MINUS SIGN}")
