"""Several benchmarks at once: the same system across them, and a board whose tasks are the benchmarks.

Systems of different benchmarks are the same where their owners declared it, and by name where they declared nothing:
`matching` says how, and the page says which is which. Of each benchmark only ranks are read, as its reader may see
them, so that one whose scores are hidden can take part.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, audience_of, listed_benchmarks
from leaderboard.benchmarks.meta_boards import MAX_BENCHMARKS, MIN_BENCHMARKS
from leaderboard.boards.board import Board, lay_out
from leaderboard.boards.query import BoardQuery
from leaderboard.common.hashing import content_hash
from leaderboard.common.language.engine import rule_name
from leaderboard.common.names import is_called
from leaderboard.computing.rankings import split_rules
from leaderboard.explore.matching import DeclaredModels, SystemKey, declared_models, distinct_names, matched
from leaderboard.explore.matrix import board_of
from leaderboard.models import Benchmark
from leaderboard.on_demand.budget import (
    KEPT_SECONDS,
    PARTLY_KEPT_SECONDS,
    TooLargeError,
    compute,
    rank_in_time,
    single_flight,
)
from leaderboard.rankings.published import Column, published_board
from leaderboard.rankings.redaction import redacted
from leaderboard.rankings.scores import BoardSystem, systems_at
from ranking_engine import MISSING_POLICIES, ScoreMatrix, __version__ as engine_version
from ranking_engine.core.benchmark_agreement import (
    N_SUBSETS,
    SUBSET_SIZE,
    BenchmarkAgreement,
    PairAgreement,
    benchmark_agreement,
    benchmark_pairs,
)
from ranking_engine.core.ranking import average_ranks
from ranking_engine.text.names import fold_name

MAX_SYSTEMS = 400  # on a board over benchmarks
MAX_OFFERED = 100  # benchmarks in the form, beside those that are chosen
MAX_ROWS = 100  # of the table of ranks
NOT_IN_TIME = gettext_noop(
    "How far the benchmarks agree was not computed in time. Read it again later, or choose fewer benchmarks."
)
DEFAULT_RULE, DEFAULT_POLICY = "copeland", "drop_systems"

# What a rank on one benchmark is worth, by the key of the address: the name, and what it is.
SCORES: Mapping[str, tuple[str, str]] = {
    "share": (
        gettext_noop("share of rivals beaten"),
        gettext_noop(
            "the share of the other ranked systems that are below it, ties counting one half: from 1 (first) to 0 "
            "(last)"
        ),
    ),
    "points": (
        gettext_noop("Borda points"),
        gettext_noop(
            "one point for every system below it, so a first place is worth more on a long board than on a short one"
        ),
    ),
}


@dataclass(frozen=True)
class CompareQuery:
    """What an address asks."""

    keys: tuple[str, ...] = ()
    rule: str = ""  # which makes the ranks on each benchmark; empty = each benchmark's own
    score: str = "share"
    policy: str = DEFAULT_POLICY
    reference: str = ""
    least: int = MIN_BENCHMARKS  # systems that are on so many take part: on one alone they meet no one of another
    q: str = ""
    variants: tuple[str, ...] = ()  # of rules: further columns
    refusal: str = ""  # why what was written for variants is none
    find: str = ""  # words in the names or summaries of the benchmarks that are offered


@dataclass(frozen=True)
class Choices:
    """What the form offers: benchmarks as (key, name)."""

    chosen: list[tuple[str, str]]
    others: list[tuple[str, str]]
    has_more: bool  # whether there are others that are not offered


@dataclass(frozen=True)
class BenchmarkRank:
    """A system on one benchmark."""

    rank: int
    n_ranked: int
    is_tied: bool
    name: str  # as it is called there
    key: str
    worth: float  # of its rank, as asked; NaN where it is alone
    share: float  # of the other ranked systems that are below it, ties one half
    is_declared: bool = False  # whether its owners said which model it is
    n_predicted: int = 0  # scores that its rank rests on and no one measured


@dataclass(frozen=True)
class ComparedBenchmark:
    """A benchmark that takes part, with its ranks by what each system is; or why it does not."""

    key: str
    name: str
    rule_name: str
    places: Mapping[SystemKey, BenchmarkRank]
    is_ranks_only: bool
    reason: str = ""


@dataclass(frozen=True)
class ComparedRow:
    """One system across the benchmarks, in their order; None where it has no rank."""

    name: str
    rank: int | None  # on the board over them, under the reference rule
    places: list[BenchmarkRank | None]
    other_names: list[str]  # that were matched with it and are written otherwise
    model: str  # the key of the model that it is, where one is declared
    is_declared: bool  # whether the owners of every benchmark that ranks it declared it
    is_tied: bool  # whether others share its rank


@dataclass(frozen=True)
class Compared:
    """Everything that the page shows of the chosen benchmarks."""

    benchmarks: list[ComparedBenchmark]
    left_out: list[ComparedBenchmark]
    board: Board | None
    rows: list[ComparedRow]
    n_matched: int  # systems that are on at least as many benchmarks as asked for
    n_systems: int  # different systems in all
    n_declared: int  # of the matched ones, those that all owners declared to be the same
    n_rewritten: int  # matches by name between names that are not written alike
    agreement: list[BenchmarkAgreement]  # of each of the benchmarks with the others
    pairs: list[PairAgreement]  # of each two benchmarks
    reason: str  # why there is no board
    agreement_reason: str = ""  # why there is a board and no agreement

    @property
    def has_predictions(self) -> bool:
        """Whether a rank that is shown rests on predicted scores."""
        return any(place is not None and place.n_predicted for row in self.rows for place in row.places)


def choices(viewer: Viewer, query: CompareQuery) -> Choices:
    """The benchmarks that someone may choose from: those that lists may mention to them, with a board.

    Those that are chosen come first, then the first of the others by name.
    """
    known = _with_boards(viewer)
    chosen = list(known.filter(key__in=query.keys).order_by("name", "key").values_list("key", "name"))
    others = known.exclude(key__in=query.keys)
    if wanted := query.find.replace("\0", "").strip().casefold():
        others = others.filter(searched_text__contains=wanted)
    offered = list(others.order_by("name", "key").values_list("key", "name")[: MAX_OFFERED + 1])
    return Choices(chosen, offered[:MAX_OFFERED], has_more=len(offered) > MAX_OFFERED)


def _with_boards(viewer: Viewer) -> QuerySet[Benchmark]:
    return listed_benchmarks(viewer).filter(publication__isnull=False)


def compare(viewer: Viewer, query: CompareQuery) -> Compared:
    """The chosen benchmarks side by side, as `viewer` may see them; of what they may not list it says nothing.

    Args:
        viewer: who reads.
        query: what is asked.
    """
    known = _with_boards(viewer).filter(key__in=query.keys).select_related("publication__revision__configuration")
    by_key = {benchmark.key: benchmark for benchmark in known}
    chosen = [by_key[key] for key in dict.fromkeys(query.keys) if key in by_key][:MAX_BENCHMARKS]
    read = [_compared(viewer, benchmark, query) for benchmark in chosen]
    declared = declared_models(by_key[one.key] for one in read if not one.reason)
    benchmarks = joined([one for one in read if not one.reason], declared)
    # The systems that have a rank on at least so many of the benchmarks.
    counts = Counter(system for one in benchmarks for system in one.places)
    shared = sorted((system for system, n in counts.items() if n >= query.least), key=lambda one: (one.name, one.model))
    names = distinct_names([name_of(system, benchmarks) for system in shared])
    board, reason = _board(benchmarks, shared, names, query)
    ranks = {} if board is None else {row.name: row.reference_rank for row in board.rows}
    rows, holders = [], Counter(ranks.values())
    for system, name in zip(shared, names, strict=True):
        places = [one.places.get(system) for one in benchmarks]
        there = [place for place in places if place is not None]
        others = dict.fromkeys(place.name for place in there if place.name != name)
        is_declared = all(place.is_declared for place in there)
        rank = ranks.get(name)
        is_tied = holders[rank] > 1
        rows.append(ComparedRow(name, rank, places, list(others), system.model, is_declared, is_tied=is_tied))
    agreement, pairs, agreement_reason = list[BenchmarkAgreement](), list[PairAgreement](), ""
    if board is not None:
        # How far each benchmark agrees with the others together and with each of them, by shares of rivals whatever a
        # rank is worth on the board.
        shares = [[one.places[key].share if key in one.places else math.nan for one in benchmarks] for key in shared]
        values, content = np.array(shares, dtype=float), content_hash([[repr(x) for x in row] for row in shares])
        n_steps = len(benchmarks) * (len(shared) ** 2 + N_SUBSETS * SUBSET_SIZE**2)
        try:
            agreement, pairs = single_flight(
                f"benchmark agreement, pairs too:{engine_version}:{content}",
                lambda: (
                    compute(benchmark_agreement, values, n_steps=n_steps),
                    compute(benchmark_pairs, values, n_steps=len(benchmarks) ** 2 * len(shared) ** 2 // 2),
                ),
            )
        except TooLargeError:
            agreement_reason = NOT_IN_TIME
    rows.sort(key=lambda row: (row.rank is None, row.rank or 0, -sum(p is not None for p in row.places), row.name))
    return Compared(
        benchmarks=benchmarks,
        left_out=[one for one in read if one.reason],
        board=board,
        rows=[row for row in rows if is_called(query.q, row.name)][:MAX_ROWS],
        n_matched=len(shared),
        n_systems=len(counts),
        n_declared=sum(row.is_declared for row in rows),
        n_rewritten=sum(bool(row.other_names) and not row.is_declared for row in rows),
        agreement=agreement,
        pairs=pairs,
        reason=reason,
        agreement_reason=agreement_reason,
    )


def joined(benchmarks: Sequence[ComparedBenchmark], declared: DeclaredModels) -> list[ComparedBenchmark]:
    """The same benchmarks with their systems by what they are over all of them.

    Args:
        benchmarks: each with its systems by name.
        declared: the models of their systems.
    """
    systems = {one.key: [(place.key, place.name) for place in one.places.values()] for one in benchmarks}
    keys = matched(declared, systems)
    return [
        replace(
            one,
            places={
                keys[one.key][place.key]: replace(
                    place, is_declared=place.key in declared.by_benchmark.get(one.key, {})
                )
                for place in one.places.values()
            },
        )
        for one in benchmarks
    ]


def _compared(viewer: Viewer, benchmark: Benchmark, query: CompareQuery) -> ComparedBenchmark:
    """A benchmark's ranks as `viewer` may see them."""
    audience = audience_of(viewer, benchmark)
    rule = query.rule or benchmark.default_rule
    nothing = ComparedBenchmark(benchmark.key, benchmark.name, rule_name(rule), {}, audience.is_restricted)
    if benchmark.publication is None or not audience.sees_board:
        return replace(nothing, reason=gettext("its owners hide which system has which rank"))
    systems = systems_at(benchmark.publication.revision)
    published, systems = redacted(published_board(benchmark.publication), systems, audience)
    column = next((column for column in published.columns if column.rule == rule), None)
    if column is None or not column.is_ranked:
        return replace(nothing, reason=gettext("%(rule)s gives no ranking there") % {"rule": rule_name(rule)})
    ranks, worth, shares = column.ranks.tolist(), SCORE_OF[query.score](column), _share_of_rivals(column)
    n_with_rank = Counter(ranks)
    places = {
        SystemKey(name=fold_name(system.name)): BenchmarkRank(
            rank,
            column.n_ranked,
            n_with_rank[rank] > 1,
            system.name,
            system.key,
            float(worth[i]),
            float(shares[i]),
            n_predicted=column.predicted_of(i),
        )
        for i, (system, rank) in enumerate(zip(systems, ranks, strict=True))
        if rank >= 1
    }
    return replace(nothing, places=places)


def _share_of_rivals(column: Column) -> np.ndarray:
    """Of every system, the share of the other ranked ones below it, ties one half; NaN where it has no rank, or no
    rival."""
    n = column.n_ranked
    if n < 2:
        return np.full(len(column.ranks), math.nan)
    return (n - average_ranks(column.ranks)) / (n - 1)


def _borda_points(column: Column) -> np.ndarray:
    """Of every system, how many ranked ones are below it; NaN where it has no rank."""
    ranks = column.ranks.astype(float)
    ranks[ranks < 1] = math.nan
    ranked = column.ranks[column.ranks >= 1]
    below = np.array([(ranked > rank).sum() for rank in column.ranks], dtype=float)
    return np.where(np.isnan(ranks), math.nan, below)


SCORE_OF: Mapping[str, Callable[[Column], np.ndarray]] = {"share": _share_of_rivals, "points": _borda_points}


def _board(
    benchmarks: Sequence[ComparedBenchmark], shared: Sequence[SystemKey], names: Sequence[str], query: CompareQuery
) -> tuple[Board | None, str]:
    """The board whose tasks are the benchmarks; or why there is none."""
    if len(benchmarks) < 2:
        return None, gettext("Choose at least two benchmarks that can be compared.")
    if len(shared) < 2:
        if shared:
            sentence = gettext(
                "Only %(name)s appears on at least %(least)s of these %(n)s under the same name or as the same "
                "declared model."
            )
        else:
            sentence = gettext(
                "No system appears on at least %(least)s of these %(n)s under the same name or as the same declared "
                "model."
            )
        name = names[0] if shared else ""
        return None, sentence % {"name": name, "least": query.least, "n": len(benchmarks)}
    if len(shared) > MAX_SYSTEMS:
        return None, gettext(
            "%(n_shared)s systems match; the limit is %(max_systems)s. Require them to be on more benchmarks."
        ) % {"n_shared": len(shared), "max_systems": MAX_SYSTEMS}
    values = [[one.places[key].worth if key in one.places else math.nan for one in benchmarks] for key in shared]
    matrix = ScoreMatrix(values, system_names=names, task_names=[one.name for one in benchmarks])
    rules = split_rules(matrix.n_systems, matrix.n_tasks, query.variants).quick
    # The answer depends on nothing but these: a new revision of a benchmark that moves a rank asks for another one.
    question = [[[repr(x) for x in row] for row in values], list(names), matrix.task_names, query.policy, rules]
    try:
        outcome = single_flight(
            f"benchmarks:{engine_version}:{content_hash(question)}",
            lambda: rank_in_time(matrix, query.policy, "basic", rules),
            lambda ranked: PARTLY_KEPT_SECONDS if ranked.too_long else KEPT_SECONDS,
        )
    except TooLargeError as error:
        return None, str(error)
    if outcome.majority is None:
        return None, gettext("Nothing was ranked.")
    published = board_of(
        matrix, "basic", outcome.outcomes, outcome.majority, outcome.too_long, missing_policy=query.policy
    )
    by_rule = {column.rule: column for column in published.columns}
    reference = by_rule.get(query.reference) or by_rule.get(DEFAULT_RULE) or published.columns[0]
    systems = [BoardSystem(i, f"s{i}", name) for i, name in enumerate(names)]
    board_query = BoardQuery(reference=reference.rule, policy=query.policy, aggregation="basic")
    return lay_out(
        published,
        systems,
        reference,
        query=board_query,
        about={},
        policy=query.policy,
        aggregation="basic",
        is_whole=True,
    ), ""


def name_of(system: SystemKey, benchmarks: Sequence[ComparedBenchmark]) -> str:
    """What a system is called on the first of the benchmarks that has it."""
    return next(one.places[system].name for one in benchmarks if system in one.places)


def known_policy(policy: str) -> str:
    """The policy asked for; the default where there is none of this name."""
    return policy if policy in MISSING_POLICIES else DEFAULT_POLICY
