"""The board: systems x rules, filtered, sorted and cut into pages, as one view of one revision."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Audience
from leaderboard.boards.filters import (
    SORTS_BY_MEDIAN,
    SORTS_BY_NAME,
    SORTS_BY_SCORED,
    SystemSelection,
    choose,
    column_of,
)
from leaderboard.boards.groups import Group, field_of, grouping_of, marking_field
from leaderboard.boards.query import FILTERED, META, BoardQuery
from leaderboard.boards.rows import NOTHING, Row, Rows, RowsInTurn, rank_range
from leaderboard.boards.saturation import BaselineStanding, saturation, winning_guests
from leaderboard.models import Benchmark, User
from leaderboard.rankings.confidence.significance import Separability
from leaderboard.rankings.configuration import configuration_of, own_rule
from leaderboard.rankings.on_request import board_under
from leaderboard.rankings.published import (
    Column,
    PublishedBoard,
    UnknownChoiceError,
    all_at_once,
    measured_again,
    published_board,
    separability_of,
)
from leaderboard.rankings.redaction import redacted
from leaderboard.rankings.scores import BoardSystem, systems_at
from leaderboard.rankings.systems import BASELINE, ORGANISATION, About, DescribedSystems, described_systems_at
from leaderboard.rankings.verdict import Camp, camps_of, headline
from ranking_engine import TIES
from ranking_engine.files.metadata import MetadataField

PAGE_ROWS = 100
# Orders that no rule makes.
ORDERS = {
    SORTS_BY_NAME: gettext_noop("name"),
    SORTS_BY_MEDIAN: gettext_noop("median rank"),
    SORTS_BY_SCORED: gettext_noop("tasks scored"),
}


@dataclass(frozen=True)
class Board:
    """One page of one revision's board."""

    published: PublishedBoard
    columns: list[Column]  # of the rules that rank or elect here, and of the reference rule
    visible: list[Column]  # those of them that the query chose
    undefined: list[Column]  # of the rules that have nothing to say of these scores
    reference: Column
    separability: Separability  # under the reference rule
    policy: str
    aggregation: str
    query: BoardQuery
    camps: list[Camp]
    sentence: str
    smith_names: list[str]
    names: list[str]  # of all systems, in the order of the columns
    about: Mapping[int, About]  # of systems by id, what filters look at
    fields: Sequence[MetadataField]  # of the metadata, that filters look at
    shown_fields: Sequence[MetadataField]  # those that are columns
    saturation: list[BaselineStanding]  # of each baseline, how many systems are above it
    winning_guests: str  # which systems out of competition win, and who is first in competition
    marks: Sequence[Group]  # what each mark in the rows means; none where nothing is marked
    marked_by: str  # the key of the field that is marked; empty where none is
    n_shown: int
    n_pages: int
    page: int
    # The pinned systems, then those of this page; of a whole board each is made when someone comes to it.
    rows: Sequence[Row] = field(default_factory=list)
    n_pinned: int = 0
    n_on_board: int = 0  # systems of the whole board, where the ranks are among those shown alone; else 0

    @property
    def has_predictions(self) -> bool:
        """Whether ranks under some rule rest on predicted scores."""
        return any(column.n_predicted is not None for column in self.columns)

    @property
    def prediction(self) -> str:
        """How many scores are predicted under rules that need all, and how well that goes; empty where none is."""
        return next((column.prediction for column in self.columns if column.prediction), "")

    @property
    def first_row(self) -> int:
        """The number of the first row shown after the pinned ones, from 1."""
        return (self.page - 1) * PAGE_ROWS + 1

    @property
    def last_row(self) -> int:
        """The number of the last row shown."""
        return self.first_row + len(self.rows) - self.n_pinned - 1

    @property
    def ordering(self) -> Column:
        """The rule whose ranks the first column shows: the one that the rows are sorted by, else the reference rule."""
        return _ordering(self.published.columns, self.reference, self.query)

    @property
    def ordered_by(self) -> str:
        """What decides the order of the rows, in words: mostly a rule."""
        key = self.query.sort_key
        if key in ORDERS:
            return gettext(ORDERS[key])
        names = {column.rule: column.name for column in self.published.columns}
        names |= {f"{META}{field.key}": field.name for field in self.fields}
        return names.get(key, self.reference.name)


@dataclass(frozen=True)
class RanksOfAll:
    """The ranks of all systems, beside which those among some of them are shown."""

    n_systems: int
    ranks: Mapping[str, Mapping[int, int]]  # of each rule, by the id of the system

    @classmethod
    def of(cls, published: PublishedBoard, systems: Sequence[BoardSystem]) -> "RanksOfAll":
        """Those of a board."""
        ids = [system.id for system in systems]
        return cls(len(ids), {one.rule: dict(zip(ids, one.ranks.tolist(), strict=True)) for one in published.columns})

    def beside(self, board: Board, *, is_whole: bool) -> Board:
        """A board of some of the systems; the rows of a page each with the place among all."""
        board = replace(board, n_on_board=self.n_systems)
        if is_whole:
            return board
        ranks = self.ranks[board.ordering.rule]
        n_ranked = sum(rank >= 1 for rank in ranks.values())
        rows = [
            replace(
                row,
                among_text=gettext("%(rank)s of %(n)s among all") % {"rank": ranks[row.id], "n": n_ranked}
                if ranks[row.id] >= 1
                else "",
            )
            for row in board.rows
        ]
        return replace(board, rows=rows)


def build_board(
    audience: Audience, query: BoardQuery, *, marks_own: bool = False, is_whole: bool = False
) -> Board | None:
    """The board of what is published; None while nothing is.

    Args:
        audience: who reads; their benchmark comes with its publication and revision loaded.
        query: what they asked for.
        marks_own: whether the rows say which systems are theirs; those of restricted readers say it in any case.
        is_whole: with the rows of all pages, as downloads have them.

    Raises:
        UnknownChoiceError: the query names something that there is not.
        TooLargeError: another policy was asked for and the board is too large to compute on demand.
    """
    publication = audience.benchmark.publication
    if publication is None or not audience.may_read:
        return None
    published = published_board(publication)
    uploader = audience.viewer if marks_own and isinstance(audience.viewer, User) else None
    if audience.is_restricted:
        described = DescribedSystems(systems_at(published.revision), {}, audience.own_system_ids)
    else:
        described = described_systems_at(published.revision, uploader)
    systems = described.systems
    published, policy, aggregation = _as_asked(published, systems, audience, query)
    published, systems = redacted(published, systems, audience)
    if not published.columns:
        return None
    if query.ranks not in ("", FILTERED):
        raise UnknownChoiceError(
            gettext("`ranks` is %(filtered)s, or left out for ranks among all, not %(ranks)s.")
            % {"filtered": FILTERED, "ranks": repr(query.ranks[:40])}
        )
    fields = fields_of(audience, described.about)
    whole: RanksOfAll | None = None
    laid_out = query
    if query.ranks_filtered:
        if audience.is_restricted:
            raise UnknownChoiceError(gettext("Scores are hidden on this board, so ranks are among all its systems."))
        reference = column_of(published.columns, query.reference or own_rule(audience.benchmark, published.rules))
        medians = rank_range(published.columns, len(systems))[1]
        chosen = choose(
            published, systems, described.about, reference=reference, medians=medians, query=query, fields=fields
        )
        if among := sorted([*chosen.pinned, *chosen.others]):
            whole, names = RanksOfAll.of(published, systems), [system.name for system in systems]
            published = board_under(published, policy, aggregation, names, audience.level, ties=query.ties, among=among)
            systems, laid_out = [systems[i] for i in among], query.without_filters
    if query.measured and published.measured:
        published = measured_again(published)
    elif query.simultaneous:
        published = all_at_once(published)
    own = described.own_ids
    if audience.sees_others and 2 * sum(system.id in own for system in systems) > len(systems) > 1:
        own = frozenset()  # a mark on most rows, as for who imported the board, tells nothing
    board = lay_out(
        published,
        systems,
        column_of(published.columns, query.reference or own_rule(audience.benchmark, published.rules)),
        query=laid_out,
        about=described.about,
        fields=fields,
        policy=policy,
        aggregation=aggregation,
        own_system_ids=own,
        sees_others=audience.sees_others,
        is_whole=is_whole,
    )
    return whole.beside(replace(board, query=query), is_whole=is_whole) if whole else board


def lay_out(
    published: PublishedBoard,
    systems: Sequence[BoardSystem],
    reference: Column,
    *,
    query: BoardQuery,
    about: Mapping[int, About],
    policy: str,
    aggregation: str,
    fields: Sequence[MetadataField] = (),
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
        fields: of the systems' metadata.
        own_system_ids: the systems to mark as the reader's.
        sees_others: whether they see any other system.
        is_whole: with the rows of all pages, as downloads have them.

    Raises:
        UnknownChoiceError: the query names something that there is not.
    """
    ranges = rank_range(published.columns, len(systems))
    chosen = choose(published, systems, about, reference=reference, medians=ranges[1], query=query, fields=fields)
    keys = set(query.fields) or {field.key for field in fields if field.is_column}
    shown_fields = [field for field in fields if field.key in keys]
    if not sees_others:
        chosen = SystemSelection(
            *([i for i in part if systems[i].id in own_system_ids] for part in (chosen.pinned, chosen.others))
        )
    n_pages = max(1, math.ceil(len(chosen.others) / PAGE_ROWS))
    page = min(max(1, query.page), n_pages)
    said = [about.get(system.id, NOTHING) for system in systems]
    grouping = grouping_of(field_of(fields, query.group), said) if query.group else None
    if grouping:
        chosen = SystemSelection(chosen.pinned, sorted(chosen.others, key=grouping.of.__getitem__))
    marking = marking_field(fields, said, query.mark)
    marks = grouping_of(marking, said) if marking else None
    columns = [column for column in published.columns if not column.is_undefined or column is reference]
    # Visible are the columns that the query chose, and the reference rule's in any case.
    for rule in query.rules:
        column_of(published.columns, rule)
    families = {column.family for column in published.columns}
    if unknown := [family for family in query.families if family not in families]:
        raise UnknownChoiceError(
            gettext("There is no family of rules %(family)s on this board.") % {"family": repr(unknown[0])}
        )
    visible = columns
    if query.rules or query.families:
        wanted = {*query.rules, reference.rule}
        visible = [column for column in columns if column.rule in wanted or column.family in query.families]
    separability = separability_of(published, reference)
    view = Rows(
        published,
        systems,
        visible,
        reference=reference,
        ordering=_ordering(published.columns, reference, query),
        separability=separability,
        ranges=ranges,
        with_scores=query.scores,
        own=own_system_ids,
        about=about,
        fields=shown_fields,
        among=[*chosen.pinned, *chosen.others] if query.is_filtered else [],
        grouping=grouping,
        marks=marks,
    )
    on_page = chosen.others if is_whole else chosen.others[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    rows = RowsInTurn(view, chosen.pinned, on_page)
    camps = camps_of([(c.name, c.winner_names, c.n_winners) for c in columns if c.elects])
    winner = published.facts.get("condorcet_winner")
    return Board(
        published=published,
        columns=columns,
        visible=visible,
        undefined=[column for column in published.columns if column.is_undefined and column is not reference],
        reference=reference,
        separability=separability,
        policy=policy,
        aggregation=aggregation,
        query=query,
        camps=camps if sees_others else [],
        sentence=headline(
            camps,
            winner,
            n_systems=published.facts["n_systems"],
            has_majority=published.has_majority,
            n_apart=published.n_apart,
            reason=published.why_nothing_ranked,
        )
        if sees_others
        else "",
        names=[system.name for system in systems],
        smith_names=[systems[i].name for i in np.flatnonzero(published.in_smith_set).tolist()],
        about=about,
        fields=fields,
        shown_fields=shown_fields,
        saturation=saturation(columns, reference, systems, about) if sees_others else [],
        winning_guests=winning_guests(columns, reference, systems, about) if sees_others else "",
        marks=marks.legend if marks else [],
        marked_by=marking.key if marking else "",
        n_shown=len(chosen.others) + len(chosen.pinned),
        n_pages=n_pages,
        page=page,
        rows=rows if is_whole else list(rows),
        n_pinned=len(chosen.pinned),
    )


def _ordering(columns: Sequence[Column], reference: Column, query: BoardQuery) -> Column:
    key = query.sort_key
    return reference if not key or key in ORDERS or key.startswith(META) else column_of(columns, key)


def fields_of(audience: Audience, about: Mapping[int, About]) -> list[MetadataField]:
    """The fields that a reader of the board may look at: none where they see nothing of others' systems.

    Args:
        audience: who reads.
        about: of systems by id, what is said of them.
    """
    if audience.is_restricted:
        return []
    known = {key for one in about.values() for key in one.metadata}
    of_all = [field for field in (ORGANISATION, BASELINE) if field.key in known]
    return [*of_all, *audience.benchmark.fields_of_systems]


def _as_asked(
    published: PublishedBoard, systems: Sequence[BoardSystem], audience: Audience, query: BoardQuery
) -> tuple[PublishedBoard, str, str]:
    """The board under the policy, the aggregation and the tie convention asked for, and the first two of these."""
    stored = configuration_of(published.revision)
    policy, aggregation = query.policy or stored.missing_policy, query.aggregation or stored.aggregation
    if policy not in stored.policies:
        raise UnknownChoiceError(gettext("There is no missing-score policy %(policy)s.") % {"policy": repr(policy)})
    if aggregation not in Benchmark.Aggregation.values:
        raise UnknownChoiceError(
            gettext("There is no aggregation %(aggregation)s.") % {"aggregation": repr(aggregation)}
        )
    if query.ties and query.ties not in TIES:
        raise UnknownChoiceError(gettext("There is no tie convention %(ties)s.") % {"ties": repr(query.ties)})
    if (policy, aggregation) == (stored.missing_policy, stored.aggregation) and not query.ties:
        return published, policy, aggregation
    if audience.is_restricted:
        raise UnknownChoiceError(gettext("Scores are hidden on this board, so it is shown only as its owners set it."))
    if not systems:
        return published, policy, aggregation
    names = [system.name for system in systems]
    return board_under(published, policy, aggregation, names, audience.level, ties=query.ties), policy, aggregation
