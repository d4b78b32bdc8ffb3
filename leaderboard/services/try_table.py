"""A table that somebody brings along: ranked under every quick rule, and forgotten. Nothing here is stored or logged.

What is computed is bounded by its size beforehand; what takes longer than the seconds allowed is left out, and said.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.conf import settings

from leaderboard.charts.heat_map import HeatMap
from leaderboard.selectors.scores import BoardSystem
from leaderboard.services.agreement_page import likeness_order, tau_map, tau_sentence, taus_of
from leaderboard.services.board import Board, lay_out
from leaderboard.services.board_query import BoardQuery
from leaderboard.services.columns import Column, PublishedBoard
from leaderboard.services.head_to_head import BLOCK, majority_sentence, margin_map, order_under
from leaderboard.services.margins import Margins, block
from leaderboard.services.matrix_boards import board_of
from leaderboard.services.prospects_page import ProspectRow, prospect_order, prospect_row
from leaderboard.services.prospects_wording import counts_sentence
from leaderboard.services.rankings import TWO_STEP
from leaderboard.services.reports import pack_arrays
from leaderboard.services.significance import told_apart
from ranking_engine import RULES, TIES, Ranking, ScoreMatrix
from ranking_engine.aggregation import AGGREGATIONS, reweighted
from ranking_engine.benchmark_file import BenchmarkFile, read_benchmark, to_matrix
from ranking_engine.missing import MISSING_POLICIES
from ranking_engine.names import fold_name, shorten
from ranking_engine.prospects import Prospects, prospects
from ranking_engine.stability.significance import significance_of_rankings
from ranking_engine.tables import Table, TableError, TableIssue, read_table
from ranking_engine.weights import exact_weight

TABLE_NAME, ABOUT_NAME, WEIGHTS_NAME = "the table", "benchmark.toml", "the weights"
MOST_TESTED = 100  # systems; beyond, there are too many pairs to test while somebody waits
MOST_WON = 100  # systems of whom it is found out who could win
DRAWS, STEPS = 2000, 5000  # weightings drawn, and linear programs solved, for that
AT_ONCE = 2  # tables that one process computes at a time
PATIENCE_SECONDS = 5
EXAMPLE = settings.ROOT / "leaderboard" / "demonstration" / "superglue"

_places = threading.BoundedSemaphore(AT_ONCE)


class BusyError(Exception):
    """Others try their tables at this moment."""


class _OutOfTimeError(Exception):
    """The seconds that were allowed are over."""


@dataclass(frozen=True)
class TryOptions:
    """How the table is to be ranked; what is empty is as for a new benchmark."""

    reference: str = ""
    policy: str = ""
    aggregation: str = ""
    ties: str = ""
    rules: tuple[str, ...] = ()
    scores: bool = False


@dataclass(frozen=True)
class WhoCanWin:
    """Who could win under some weights; or why that was not found out."""

    sentence: str = ""
    rows: list[ProspectRow] = field(default_factory=list)
    reason: str = ""


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
        BusyError: too many tables at once.
    """
    read = _table_of(table)
    matrix, described = _described(read, about)
    with _place():
        return replace(_computed(matrix, described, options, is_whole=is_whole), read_as=read.dialect.told)


def read_inputs(table: bytes, about: bytes) -> tuple[ScoreMatrix, BenchmarkFile | None]:
    """The table as a matrix, and what describes it.

    Raises:
        TableError: as `try_table`.
    """
    return _described(_table_of(table), about)


def _table_of(table: bytes) -> Table:
    return read_table(table, name=TABLE_NAME, max_systems=settings.TRY_SYSTEMS, max_tasks=settings.TRY_TASKS)


def _described(read: Table, about: bytes) -> tuple[ScoreMatrix, BenchmarkFile | None]:
    text = about.decode("utf-8-sig", "replace").strip()
    if text.startswith("{"):
        return _weighed(to_matrix(read), text), None
    described = read_benchmark(about, name=ABOUT_NAME) if text else None
    return to_matrix(read, described), described


def _weighed(matrix: ScoreMatrix, text: str) -> ScoreMatrix:
    """The matrix with weights stated as a JSON object."""
    try:
        stated = json.loads(text)
    except json.JSONDecodeError as error:
        raise _weights_error(f"not valid JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise _weights_error("not valid JSON: nested too deep") from error
    places = {fold_name(name): t for t, name in enumerate(matrix.task_names)}
    weights = list(matrix.weights)
    for name, value in stated.items():
        if fold_name(name) not in places:
            raise _weights_error(f"unknown task {shorten(name)!r}: the table has none of this name")
        try:
            weights[places[fold_name(name)]] = exact_weight(value, f"the weight of {shorten(name)!r}")
        except ValueError as error:
            raise _weights_error(str(error)) from error
    if not any(weights):
        raise _weights_error("the weights of all tasks are zero")
    return matrix.with_weights(weights)


def _weights_error(message: str, line: int | None = None) -> TableError:
    return TableError([TableIssue(line, None, None, message)], WEIGHTS_NAME)


@contextmanager
def _place() -> Any:  # noqa: ANN401 -- a context manager
    """One of the few places; whoever waits in vain is told so."""
    if not _places.acquire(timeout=PATIENCE_SECONDS):
        raise BusyError
    try:
        yield
    finally:
        _places.release()


def _computed(
    matrix: ScoreMatrix, described: BenchmarkFile | None, options: TryOptions, *, is_whole: bool
) -> TriedTable:
    started = time.monotonic()
    deadline = started + settings.TRY_SECONDS
    systems = [BoardSystem(i, f"s{i}", name) for i, name in enumerate(matrix.system_names)]
    policy, aggregation = _policy(described, options), _aggregation(matrix, options)
    query = BoardQuery(
        reference=options.reference, policy=policy, aggregation=aggregation, ties=_known(options.ties, TIES),
        rules=tuple(rule for rule in options.rules if rule in RULES and not RULES[rule].parameters),
        scores=options.scores,
    )  # fmt: skip
    published, outcomes = board_of(matrix, policy, aggregation, query.ties, kemeny_seconds=settings.TRY_SECONDS / 5)
    reference = _reference(published.columns, options.reference, matrix)
    weighed = matrix if aggregation == TWO_STEP else reweighted(matrix, aggregation)
    if not is_whole:
        published = _tested(published, weighed, outcomes, reference, aggregation=aggregation, deadline=deadline)
    board = lay_out(
        published, systems, reference, query=query, about={}, policy=policy, aggregation=aggregation, is_whole=True
    )
    if is_whole:
        return TriedTable(board, 0, None, "", None, "", 0, WhoCanWin(), 0.0)
    ranking = [column for column in published.columns if column.status == "ranked"]
    tau = taus_of(ranking) if len(ranking) > 1 and matrix.n_systems > 1 else None
    if tau is not None:
        order = likeness_order(tau, ranking.index(reference) if reference in ranking else 0)
        ranking, tau = [ranking[k] for k in order], tau[np.ix_(order, order)]
    shown = order_under(reference, systems)[:BLOCK]
    margins = Margins(**block(weighed, np.array(shown, np.intp), np.array(shown, np.intp)))
    return TriedTable(
        board=board,
        n_groups=len(matrix.group_weights),
        agreement=None if tau is None else tau_map(ranking, tau),
        agreement_sentence="" if tau is None else tau_sentence(ranking, tau),
        margins=margin_map(systems, shown, shown, margins, column=reference) if len(shown) > 1 else None,
        margins_sentence=majority_sentence(published, systems),
        n_in_margins=len(shown),
        can_win=_can_win(weighed, deadline),
        seconds=time.monotonic() - started,
    )


def _known(key: str, among: Mapping[str, object]) -> str:
    return key if key in among else ""


def _policy(described: BenchmarkFile | None, options: TryOptions) -> str:
    stated = described.policy if described else None
    return _known(options.policy, MISSING_POLICIES) or stated or "drop_systems"


def _aggregation(matrix: ScoreMatrix, options: TryOptions) -> str:
    """As asked; else groups count evenly where there are any."""
    return _known(options.aggregation, AGGREGATIONS) or ("balanced" if matrix.group_weights else "basic")


def _reference(columns: Sequence[Column], asked: str, matrix: ScoreMatrix) -> Column:
    """The rule asked for; else Borda, or Copeland where scores are missing; else the first that ranks."""
    has_gaps = bool(np.isnan(matrix.values).any())
    by_rule = {column.rule: column for column in columns}
    wanted = [asked, "copeland" if has_gaps else "borda", *(c.rule for c in columns if c.status == "ranked")]
    return next((by_rule[rule] for rule in wanted if rule in by_rule), columns[0])


def _tested(
    board: PublishedBoard,
    matrix: ScoreMatrix,
    outcomes: Mapping[str, Ranking],
    reference: Column,
    *,
    aggregation: str,
    deadline: float,
) -> PublishedBoard:
    """The board with what the tests of pairs say under the reference rule."""
    reason = ""
    if aggregation == TWO_STEP:
        reason = "with two-step aggregation the groups are ranked, and the test is of differences on tasks"
    elif matrix.n_systems > MOST_TESTED:
        reason = f"here not for more than {MOST_TESTED} systems"
    elif time.monotonic() > deadline:
        reason = "the rankings took all the time there is"
    summary: dict[str, Any] = {"status": "undefined", "reason": reason, "rules": {}}
    packed = b""
    if not reason and reference.rule in outcomes:
        tests = significance_of_rankings(matrix, {reference.rule: outcomes[reference.rule]})
        summary, arrays = told_apart(tests, matrix.n_systems)
        packed = pack_arrays(arrays)
    return PublishedBoard(
        board.revision, board.facts, board.system_ids, board.n_scored, board.in_smith_set, board.columns,
        tests=summary, test_arrays=packed,
    )  # fmt: skip


def _can_win(matrix: ScoreMatrix, deadline: float) -> WhoCanWin:
    if matrix.n_systems > MOST_WON:
        return WhoCanWin(reason=f"Who could win is found out here for up to {MOST_WON} systems.")
    if not matrix.votes.any():
        return WhoCanWin(reason="No task votes.")

    def check(done: int, total: int) -> None:
        if time.monotonic() > deadline:
            raise _OutOfTimeError

    try:
        found = prospects(matrix, n_draws=DRAWS, max_steps=STEPS, progress=check)
    except _OutOfTimeError:
        return WhoCanWin(reason=f"Who could win took longer than the {settings.TRY_SECONDS} seconds that there are.")
    return WhoCanWin(counts_sentence(found.summary()["verdicts"]), _prospect_rows(found))


def _prospect_rows(found: Prospects) -> list[ProspectRow]:
    return [prospect_row(one, found, {}, {}) for one in sorted(found.systems, key=lambda one: prospect_order(one, {}))]
