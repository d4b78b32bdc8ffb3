"""A table that someone brings along: ranked under every quick rule, and forgotten. Nothing here is stored or logged.

It is read and ranked in a child process (`leaderboard.computing.tried`). What is computed is bounded by its size
beforehand; what takes longer than the seconds allowed is left out, and said.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.conf import settings
from django.utils.translation import gettext

from leaderboard.boards.board import Board, lay_out
from leaderboard.boards.query import BoardQuery
from leaderboard.common.charts.heat_map import HeatMap
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.text import direction_question, in_words, value_text
from leaderboard.comparisons.agreement import likeness_order, tau_map, tau_sentence
from leaderboard.comparisons.head_to_head import majority_sentence, margin_map
from leaderboard.computing.pairs import kendall_taus_of
from leaderboard.computing.rankings import Outcomes
from leaderboard.computing.tried import (
    Duels,
    RankAs,
    ReadTable,
    TablePart,
    Tests,
    Unreadable,
    Winners,
    figures_of_table,
    reference_rule,
)
from leaderboard.explore.matrix import board_of
from leaderboard.on_demand.budget import TookTooLongError, TooLargeError, compute
from leaderboard.rankings.confidence.significance import separability_report
from leaderboard.rankings.margins import Margins
from leaderboard.rankings.published import PublishedBoard
from leaderboard.rankings.reports import pack_arrays
from leaderboard.rankings.scores import BoardSystem
from leaderboard.rankings.text import precision_sentence
from leaderboard.studies.prospects.page import ProspectRow, prospect_order, prospect_row
from leaderboard.studies.prospects.text import counts_sentence
from ranking_engine import TIES
from ranking_engine.core.aggregation import AGGREGATIONS
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.files.tables import TableError

EXAMPLE = settings.ROOT / "leaderboard" / "demonstration" / "superglue"


@dataclass(frozen=True)
class TryOptions:
    """How the table is to be ranked; what is empty is as for a new benchmark."""

    reference: str = ""
    policy: str = ""
    aggregation: str = ""
    ties: str = ""
    rules: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    scores: bool = False


@dataclass(frozen=True)
class WhoCanWin:
    """Who could win under some weights; or why that was not found out."""

    sentence: str = ""
    rows: list[ProspectRow] = field(default_factory=list)
    reason: str = ""

    @classmethod
    def of(cls, winners: Winners | None) -> "WhoCanWin":
        """What a page says of the winners that were looked for; None where there was no time."""
        if winners is None or winners.is_late:
            late = gettext("Who can win takes too long to compute here: the limit is %(n)s seconds in all.")
            return cls(reason=late % {"n": settings.ON_DEMAND_SECONDS})
        prospects = winners.prospects
        if prospects is None:
            return cls(reason=in_page_language(winners.reason))
        ordered = sorted(prospects.systems, key=lambda one: prospect_order(one, {}))
        rows = [prospect_row(one, prospects, {}, {}) for one in ordered]
        return cls(counts_sentence(prospects.summary()["verdicts"]), rows)


@dataclass(frozen=True)
class TriedTable:
    """Everything that the page says of a table."""

    board: Board
    n_groups: int
    agreement: HeatMap | None
    agreement_sentence: str
    margins: HeatMap | None
    margins_sentence: str
    n_in_margins: int
    can_win: WhoCanWin
    seconds: float
    read_as: str = ""  # how the table is written, where that is unusual
    left_out: str = ""  # what was not done in time
    rounding: str = ""  # what is to be told of scores that were rounded as they were read
    precision_text: str = ""  # to what they are rounded before anything is ranked
    direction_question: str = ""  # about tasks whose names say that less is better


def example() -> tuple[str, str]:
    """A table to begin with, and the file that describes it: SuperGLUE."""
    return (EXAMPLE / "scores.csv").read_text("utf-8"), (EXAMPLE / "benchmark.toml").read_text("utf-8")


def try_table(table: bytes, about: bytes, options: TryOptions, *, is_whole: bool = False) -> TriedTable:
    """Rank a table in every way that the quick engine knows.

    Args:
        table: a scores.csv.
        about: a benchmark.toml, a JSON object of weights by task, or nothing.
        options: how.
        is_whole: only the board, with all its rows, as downloads have it.

    Raises:
        TableError: something cannot be read; it names line and column.
        TooLargeError, BusyError, AbandonedError: as `on_demand.compute`; too long it took only where nothing is ranked.
    """
    started = time.monotonic()
    how = RankAs(
        policy=_known(options.policy, MISSING_POLICIES),
        aggregation=_known(options.aggregation, AGGREGATIONS),
        ties=_known(options.ties, TIES),
        reference=options.reference,
        n_systems=settings.TRY_SYSTEMS,
        n_tasks=settings.TRY_TASKS,
        seconds=settings.ON_DEMAND_SECONDS,
        is_whole=is_whole,
        variants=options.variants,
    )
    parts = _Parts()
    try:
        compute(figures_of_table, table, about, how, on_part=parts.take)
    except TooLargeError:  # there is no time or no memory left: what is there is shown
        if parts.published is None:
            raise
    return parts.tried(options, how, started)


class _Parts:
    """What has come of a table so far."""

    def __init__(self) -> None:
        self.read: ReadTable | None = None
        self.outcomes: Outcomes = {}
        self.majority: tuple[int | None, np.ndarray] | None = None
        self.duels: Duels | None = None
        self.tests: Tests | None = None
        self.winners: Winners | None = None

    def take(self, part: TablePart) -> None:
        """Keep a part.

        Raises:
            TableError: the table cannot be read.
        """
        match part:
            case Unreadable():
                raise TableError(part.issues, part.source)
            case ReadTable():
                self.read = part
            case dict():
                self.outcomes |= part
            case Duels():
                self.duels = part
            case Tests():
                self.tests = part
            case Winners():
                self.winners = part
            case _:
                self.majority = part

    @property
    def published(self) -> PublishedBoard | None:
        """The board of what is ranked; None where there is too little for one."""
        if self.read is None or self.majority is None or not self.outcomes:
            return None
        rules = self.read.rules
        outcomes = {rule: self.outcomes[rule] for rule in rules if rule in self.outcomes}
        too_long = [rule for rule in rules if rule not in outcomes]
        board = board_of(
            self.read.matrix,
            self.read.aggregation,
            outcomes,
            self.majority,
            too_long,
            missing_policy=self.read.policy,
            derived=self.read.derived,
        )
        by_rule = {column.rule: column for column in board.columns}
        return replace(board, columns=[by_rule[rule] for rule in rules])

    def tried(self, options: TryOptions, how: RankAs, started: float) -> TriedTable:
        """What the page says of these parts."""
        published, read = self.published, self.read
        if published is None or read is None:
            raise TookTooLongError(gettext("The table takes too long to rank here."))
        matrix = read.matrix
        query = BoardQuery(
            reference=options.reference, policy=read.policy, aggregation=read.aggregation, ties=how.ties,
            # Anyone who writes a variant wants to see it, also beside rules that are ticked.
            rules=tuple(rule for rule in read.rules if rule in options.rules or (options.rules and "[" in rule)),
            scores=options.scores,
        )  # fmt: skip
        # The rule asked for, whatever it says here; else the one that a new benchmark would have.
        by_rule = {column.rule: column for column in published.columns}
        reference = by_rule.get(options.reference)
        if reference is None:
            ranked = [column.rule for column in published.columns if column.is_ranked]
            reference = by_rule.get(reference_rule(ranked, "", matrix), published.columns[0])
        systems = [BoardSystem(i, f"s{i}", name) for i, name in enumerate(matrix.system_names)]
        tested = published
        if not how.is_whole:  # with what the tests of pairs say under the reference rule
            reason = self.tests.reason if self.tests else "it takes more time or memory than this page allows"
            summary: dict[str, Any] = {"status": "undefined", "reason": reason, "rules": {}}
            packed = b""
            if self.tests and self.tests.significance is not None:
                significance = {self.tests.rule: self.tests.significance}
                summary, arrays = separability_report(significance, matrix.n_systems)
                packed = pack_arrays(arrays)
            tested = replace(published, tests=summary, test_arrays=packed)
        board = lay_out(
            tested,
            systems,
            reference,
            query=query,
            about={},
            policy=read.policy,
            aggregation=read.aggregation,
            is_whole=True,
        )
        if how.is_whole:
            return TriedTable(board, 0, None, "", None, "", 0, WhoCanWin(), 0.0)
        ranking = [column for column in published.columns if column.is_ranked]
        is_compared = len(ranking) > 1 and matrix.n_systems > 1
        tau = kendall_taus_of([column.ranks for column in ranking]) if is_compared else None
        if tau is not None:
            order = likeness_order(tau, ranking.index(reference) if reference in ranking else 0)
            ranking, tau = [ranking[k] for k in order], tau[np.ix_(order, order)]
        duel_systems, margins = (self.duels.systems, Margins(**self.duels.margins)) if self.duels else ([], None)
        late = in_words([rule_name(rule) for rule in read.rules if rule not in self.outcomes], most=6)
        return TriedTable(
            board=board,
            n_groups=len(matrix.group_weights),
            agreement=None if tau is None else tau_map(ranking, tau),
            agreement_sentence="" if tau is None else tau_sentence(ranking, tau),
            margins=margin_map(systems, duel_systems, duel_systems, margins, column=reference)
            if margins is not None and len(duel_systems) > 1
            else None,
            margins_sentence=majority_sentence(published, systems),
            n_in_margins=len(duel_systems),
            can_win=WhoCanWin.of(self.winners),
            seconds=time.monotonic() - started,
            read_as=read.read_as,
            rounding=read.rounding,
            precision_text=precision_sentence(
                {
                    name: None if precision != precision else value_text(precision)  # noqa: PLR0124
                    for name, precision in zip(matrix.task_names, matrix.precision.tolist(), strict=True)
                }
            ),
            direction_question=direction_question(read.doubtful),
            left_out=gettext("The limit of %(on_demand_seconds)s seconds was too short for %(late)s.")
            % {"on_demand_seconds": settings.ON_DEMAND_SECONDS, "late": late}
            if late
            else "",
        )


def _known(key: str, among: Mapping[str, object]) -> str:
    return key if key in among else ""
