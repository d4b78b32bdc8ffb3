"""The board: systems x rules, filtered, sorted and cut into pages, as one view of one revision."""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leaderboard.models import Benchmark
from leaderboard.selectors.audience import Audience
from leaderboard.selectors.scores import BoardSystem, systems_at
from leaderboard.services.columns import Column, PublishedBoard, board_under, published_board, separability_of
from leaderboard.services.masks import masked
from leaderboard.services.significance import Separability
from leaderboard.services.wording import verdict_sentence
from ranking_engine.names import fold_name

PAGE_ROWS = 100
FEW_TASKS = 20  # with fewer to draw from, the pages say that intervals are wide
SORTS_BY_NAME, SORTS_BY_MEDIAN, SORTS_BY_SCORED = "name", "median", "tasks"


@dataclass(frozen=True)
class BoardQuery:
    """What a reader asked of a board; every field stands in the address."""

    sort: str = ""  # a rule, "name", "median" or "tasks", with a minus for descending; empty = the reference rule
    reference: str = ""  # a rule; empty = the benchmark's default rule
    policy: str = ""  # a missing-score policy; empty = the revision's own
    aggregation: str = ""  # how tasks and groups count together; empty = the revision's own
    q: str = ""
    complete_only: bool = False
    scores: bool = False
    revision: int = 0  # 0 = the published one
    page: int = 1

    @property
    def sort_key(self) -> str:
        """What is sorted by."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the order is turned round."""
        return self.sort.startswith("-")


@dataclass(frozen=True)
class Cell:
    """One system under one rule."""

    rank: int | None
    n_tied_with: int
    change: int | None  # places better than under the reference rule; None where one of the two gives no rank
    score_text: str
    reason: str
    interval_text: str

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
    url: str = ""


@dataclass(frozen=True)
class Board:
    """One page of one revision's board."""

    published: PublishedBoard
    columns: list[Column]  # of the rules that rank or elect here, and of the reference rule
    undefined: list[Column]  # of the rules that have nothing to say of these scores
    reference: Column
    separability: Separability  # under the reference rule
    policy: str
    aggregation: str
    query: BoardQuery
    sentence: str
    smith_names: list[str]
    n_shown: int
    n_pages: int
    page: int
    rows: list[Row] = field(default_factory=list)

    @property
    def first_row(self) -> int:
        """The number of the first row shown, from 1."""
        return (self.page - 1) * PAGE_ROWS + 1

    @property
    def last_row(self) -> int:
        """The number of the last row shown."""
        return self.first_row + len(self.rows) - 1


class UnknownChoiceError(ValueError):
    """The address names a rule, a policy or an order that there is not."""


def build_board(
    benchmark: Benchmark, audience: Audience, query: BoardQuery, own_system_ids: frozenset[int] = frozenset()
) -> Board | None:
    """The board of what is published; None while nothing is.

    Args:
        benchmark: with its publication and revision loaded.
        audience: who reads.
        query: what they asked for.
        own_system_ids: the systems to mark as theirs.

    Raises:
        UnknownChoiceError: the query names something that there is not.
        TooLargeError: another policy was asked for and the board is too large to compute on demand.
    """
    publication = benchmark.publication
    if publication is None or not audience.may_read:
        return None
    published = published_board(publication)
    systems = systems_at(published.revision)
    policy, aggregation = _choices(published, query)
    stored = published.revision.configuration.content
    if audience.is_restricted and (policy, aggregation) != (stored["missing_policy"], stored["aggregation"]):
        raise UnknownChoiceError("Where scores are hidden, a board is shown as its owners set it and in no other way.")
    if systems and (policy, aggregation) != (stored["missing_policy"], stored["aggregation"]):
        names = [system.name for system in systems]
        published = board_under(published, policy, aggregation, names, audience.level)
    published, systems = masked(published, systems, audience, own_system_ids)
    columns = published.columns
    if not columns:
        return None
    reference = _column(columns, query.reference or benchmark.default_rule)
    chosen = _filtered(published, systems, query)
    if not audience.sees_others:
        chosen = [i for i in chosen if systems[i].id in own_system_ids]
    order = _ordered(chosen, systems, columns, reference=reference, published=published, query=query)
    n_pages = max(1, math.ceil(len(order) / PAGE_ROWS))
    page = min(max(1, query.page), n_pages)
    shown = [column for column in columns if column.status != "undefined" or column is reference]
    told_apart = separability_of(published, reference)
    view = _Rows(
        published,
        systems,
        shown,
        reference=reference,
        told_apart=told_apart,
        with_scores=query.scores,
        own=own_system_ids,
    )
    return Board(
        published=published,
        columns=shown,
        undefined=[column for column in columns if column.status == "undefined" and column is not reference],
        reference=reference,
        separability=told_apart,
        policy=policy,
        aggregation=aggregation,
        query=query,
        sentence=_sentence(columns) if audience.sees_others else "",
        smith_names=[systems[i].name for i in np.flatnonzero(published.in_smith_set)],
        n_shown=len(order),
        n_pages=n_pages,
        page=page,
        rows=[view.row(i) for i in order[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]],
    )


def _choices(published: PublishedBoard, query: BoardQuery) -> tuple[str, str]:
    """The missing-score policy and the aggregation asked for."""
    stored = published.revision.configuration.content
    policy, aggregation = query.policy or stored["missing_policy"], query.aggregation or stored["aggregation"]
    if policy not in Benchmark.MissingPolicy.values:
        raise UnknownChoiceError(f"There is no missing-score policy {policy!r}.")
    if aggregation not in Benchmark.Aggregation.values:
        raise UnknownChoiceError(f"There is no aggregation {aggregation!r}.")
    return policy, aggregation


def _column(columns: list[Column], rule: str) -> Column:
    found = next((column for column in columns if column.rule == rule), None)
    if found is None:
        raise UnknownChoiceError(f"There is no rule {rule!r} on this board.")
    return found


def _sentence(columns: list[Column]) -> str:
    winners = [(column.name, tuple(column.winner_names), column.n_winners) for column in columns if column.elects]
    return verdict_sentence(winners, [column.name for column in columns if not column.elects])


def _filtered(published: PublishedBoard, systems: list[BoardSystem], query: BoardQuery) -> list[int]:
    """The systems that the filter leaves, in the revision's order."""
    chosen = list(range(len(systems)))
    if query.q.strip():
        wanted = fold_name(query.q)
        chosen = [i for i in chosen if wanted in fold_name(systems[i].name) or wanted in systems[i].key]
    if query.complete_only:
        chosen = [i for i in chosen if published.n_scored[i] == published.facts["n_voting_tasks"]]
    return chosen


def _ordered(
    chosen: list[int],
    systems: list[BoardSystem],
    columns: list[Column],
    *,
    reference: Column,
    published: PublishedBoard,
    query: BoardQuery,
) -> list[int]:
    """The systems in the order asked for. Equal ones stand by median rank, then by name; unranked ones last."""
    names = [fold_name(system.name) for system in systems]
    median = rank_range(columns, len(systems))[1]
    key = query.sort_key or reference.rule
    if key == SORTS_BY_NAME:
        return sorted(chosen, key=lambda i: names[i], reverse=query.is_descending)
    if key == SORTS_BY_MEDIAN:
        values = median
    elif key == SORTS_BY_SCORED:
        values = -published.n_scored.astype(float)
    else:
        ranks = _column(columns, key).ranks
        values = np.where(ranks < 1, np.nan, ranks.astype(float))
    sign = -1.0 if query.is_descending else 1.0

    def place(i: int) -> tuple[bool, float, float, str]:
        is_unranked = bool(np.isnan(values[i]))
        tie_break = math.inf if np.isnan(median[i]) else float(median[i])
        return (is_unranked, 0.0 if is_unranked else sign * float(values[i]), tie_break, names[i])

    return sorted(chosen, key=place)


def rank_range(columns: list[Column], n_systems: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least, median and greatest rank of every system over the rules that rank; NaN where none ranks it."""
    ranking = [column.ranks for column in columns if column.status == "ranked"]
    if not ranking:
        nothing = np.full(n_systems, np.nan)
        return nothing, nothing, nothing
    ranks = np.array(ranking, dtype=float)
    ranks[ranks < 1] = np.nan
    is_ranked = ~np.isnan(ranks).all(axis=0)
    least, median, greatest = (np.full(n_systems, np.nan) for _ in range(3))
    least[is_ranked] = np.nanmin(ranks[:, is_ranked], axis=0)
    median[is_ranked] = np.nanmedian(ranks[:, is_ranked], axis=0)
    greatest[is_ranked] = np.nanmax(ranks[:, is_ranked], axis=0)
    return least, median, greatest


class _Rows:
    """Makes rows; what all of them need is worked out once."""

    def __init__(
        self,
        published: PublishedBoard,
        systems: list[BoardSystem],
        columns: list[Column],
        *,
        reference: Column,
        told_apart: Separability,
        with_scores: bool,
        own: frozenset[int],
    ) -> None:
        self.told_apart = told_apart
        self.published, self.systems, self.columns, self.reference = published, systems, columns, reference
        self.own, self.with_scores = own, with_scores
        self.least, self.median, self.greatest = rank_range(columns, len(systems))
        self.holders = {column.rule: Counter(column.ranks.tolist()) for column in columns}

    def row(self, i: int) -> Row:
        """The row of system `i`."""
        system = self.systems[i]
        return Row(
            id=system.id,
            key=system.key,
            name=system.name,
            is_own=system.id in self.own,
            n_scored=int(self.published.n_scored[i]),
            n_voting_tasks=self.published.facts["n_voting_tasks"],
            reference_rank=_shown(self.reference.ranks[i]),
            least_rank=_whole(self.least[i]),
            median_rank=_whole_or_half(self.median[i]),
            greatest_rank=_whole(self.greatest[i]),
            cells=[self.cell(column, i) for column in self.columns],
            inseparable_text=self.told_apart.range_text(i),
        )

    def cell(self, column: Column, i: int) -> Cell:
        """What `column` says of system `i`."""
        rank = _shown(column.ranks[i])
        reference = _shown(self.reference.ranks[i])
        is_compared = column.status == self.reference.status == "ranked" and column is not self.reference
        return Cell(
            rank=rank,
            n_tied_with=self.holders[column.rule][rank] - 1 if rank else 0,
            change=reference - rank if is_compared and rank and reference else None,
            score_text=score_text(column.scores[i]) if self.with_scores else "",
            reason="" if rank else column.reason_of(i),
            interval_text=interval_text(column, i) if self.with_scores and rank else "",
        )


def _shown(rank: Any) -> int | None:  # noqa: ANN401 -- a numpy integer
    return int(rank) if rank >= 1 else None


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def _whole_or_half(value: float) -> float | int | None:
    if np.isnan(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def score_text(score: float) -> str:
    """A rule score for people: six significant digits, no exponent where none is needed."""
    return "" if np.isnan(score) else f"{score:.6g}".replace("-", "\N{MINUS SIGN}")


def interval_text(column: Column, i: int) -> str:
    """`2–5`, or nothing where there is no interval."""
    if column.lower is None or column.upper is None or column.lower[i] < 1:
        return ""
    low, high = int(column.lower[i]), int(column.upper[i])
    return str(low) if low == high else f"{low}–{high}"


def interval_meaning(published: PublishedBoard) -> str:
    """What the rank intervals of a board are, from the study that gave them; empty where there are none."""
    if published.study is None or published.study["status"] == "undefined":
        return ""
    parameters, n_drawn = published.study_parameters, published.study["n_clusters"]
    what = "tasks" if n_drawn == published.facts["n_voting_tasks"] else "task groups"
    text = (
        f"{100 * parameters['level']:g} % interval of the rank when the {n_drawn} {what} are drawn anew with "
        f"replacement, {parameters['n_resamples']:,} times over."
    )
    return text + (f" With only {n_drawn} {what} it is wide." if n_drawn < FEW_TASKS else "")


def changed(query: BoardQuery, **fields: Any) -> BoardQuery:  # noqa: ANN401
    """The query with other fields; any change but the page itself leads back to page 1."""
    return replace(query, **({"page": 1} | fields))
