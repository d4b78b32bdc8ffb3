"""A table that someone brings along, from its text to its figures: read and ranked in one child process.

What is quick comes first, so that something is there even where the time does not last for all of it.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leaderboard.computing.pairs import margins_of
from leaderboard.computing.rankings import (
    LONGEST,
    TWO_STEP,
    MajorityFacts,
    Outcomes,
    long_batches,
    majority_facts,
    quick_batches,
    rank_isolated,
    seconds_on_large_board,
    split_rules,
)
from ranking_engine import RULES, Ranking, ScoreMatrix
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.catalogue.variants import rule_of_variant
from ranking_engine.core.aggregation import reweighted, weight_bits
from ranking_engine.core.threshold import DerivedGamma, derived_gamma_of
from ranking_engine.core.weights import GROUPED_BITS, check_bits, exact_weight
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.directions import doubtful_tasks
from ranking_engine.files.tables import TableError, TableIssue, read_table
from ranking_engine.prospects import Prospects, prospects
from ranking_engine.stability.separability.significance import Significance, significance
from ranking_engine.text.names import fold_name, shorten

TABLE_NAME, ABOUT_NAME, WEIGHTS_NAME = "the table", "benchmark.toml", "the weights"
MAX_TESTED = 100  # systems; beyond, there are too many pairs to test while someone waits
MAX_WON = 100  # systems of whom it is found out who could win
DRAWS, STEPS = 2000, 5000  # weightings drawn, and linear programs solved, for that
DUELS = 30  # systems compared with each other
# The rules that may take the rest of the time alone: so many seconds, or more, on a large board.
AFTER_WINNERS = tuple(rule for rule in LONGEST if seconds_on_large_board(RULES[rule]) >= 30)
WINNERS_SHARE = 0.7  # of the seconds, after which no more is found out about who could win
SEARCH_SHARE = 0.2  # of the seconds, for which a rule may search for its order


@dataclass(frozen=True)
class RankAs:
    """How a table is ranked, and how much of it; texts that are empty are as for a new benchmark.

    Attributes:
        policy, aggregation, ties, reference: of the board.
        variants: keys of variants that are columns beside the rules; those of the file that describes the table where
            there are none.
        n_systems, n_tasks: that are read at most.
        seconds: that all of it may take.
        is_whole: the rankings alone, as a file has them.
    """

    policy: str
    aggregation: str
    ties: str
    reference: str
    n_systems: int
    n_tasks: int
    seconds: float
    is_whole: bool = False
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unreadable:
    """What is wrong with a table: the issues, and what errors call the file."""

    issues: Sequence[TableIssue]
    source: str


@dataclass(frozen=True)
class ReadTable:
    """What a table says, and how it is going to be ranked."""

    matrix: ScoreMatrix
    policy: str
    aggregation: str
    rules: list[str]
    read_as: str
    rounding: str = ""
    # tasks that count as higher is better, and the word of each that says otherwise
    doubtful: list[tuple[str, str]] = field(default_factory=list)
    derived: DerivedGamma | None = None  # the optimality threshold of the matrix, where no one stated it


@dataclass(frozen=True)
class Duels:
    """The first systems under the reference rule, and the margins between them."""

    systems: list[int]
    margins: dict[str, Any]


@dataclass(frozen=True)
class Tests:
    """Which systems differ significantly under a rule, or why that was not tested."""

    rule: str
    significance: Significance | None
    reason: str = ""


@dataclass(frozen=True)
class Winners:
    """Who could win under some weights, or why that was not found out; `is_late` where the time did not last."""

    prospects: Prospects | None
    reason: str = ""
    is_late: bool = False


TablePart = Unreadable | ReadTable | MajorityFacts | Outcomes | Duels | Tests | Winners


class _LateError(Exception):
    """The share of the seconds is used up."""


def figures_of_table(table: bytes, about: bytes, choices: RankAs) -> Iterator[TablePart]:
    """Read a table and yield what is known of it: what it says, the majority facts, rankings, then the rest.

    Args:
        table: a scores.csv.
        about: a benchmark.toml, a JSON object of weights by task, or nothing.
        choices: how it is ranked.
    """
    started = time.process_time()
    try:
        read = read_inputs(table, about, choices)
        # Refuse weights that are too long to be computed with exactly.
        tasks, groups = read.matrix.task_names, read.matrix.group_weights
        check_bits([f"the weight of {shorten(name)!r}" for name in tasks], read.matrix.weights)
        check_bits([f"the weight of the group {shorten(name)!r}" for name in groups], list(groups.values()))
        n_bits = weight_bits(read.matrix, read.aggregation)
    except TableError as error:
        yield Unreadable(error.errors, error.source)
        return
    except ValueError as error:
        yield Unreadable([TableIssue(None, None, None, str(error))], WEIGHTS_NAME)
        return
    if n_bits > GROUPED_BITS:
        message = "the weights of tasks within groups have too many digits to be balanced exactly"
        yield Unreadable([TableIssue(None, None, None, message)], WEIGHTS_NAME)
        return
    yield read
    matrix = read.matrix
    weighed = matrix if read.aggregation == TWO_STEP else reweighted(matrix, read.aggregation)
    yield majority_facts(matrix, read.aggregation)
    longest = [rule for batch in long_batches(read.rules) for rule in batch]
    longest.sort(key=lambda rule: rule != choices.reference)  # the others are told in its order
    n_before_duels = int(choices.reference in longest)
    outcomes: Outcomes = {}
    for batch in (*quick_batches(read.rules, read.aggregation), *([rule] for rule in longest[:n_before_duels])):
        ranked = _ranked(read, batch, choices)
        outcomes |= ranked
        yield ranked
    left = [[rule] for rule in longest[n_before_duels:]]
    if choices.is_whole:
        yield from (_ranked(read, batch, choices) for batch in left)
        return
    in_order = {
        rule: outcome
        for rule, outcome in outcomes.items()
        if isinstance(outcome, Ranking) and outcome.status == "ranked"
    }
    reference = in_order.get(reference_rule(list(in_order), choices.reference, matrix))
    # The margins between the first systems under the reference rule; equal ones by name, unranked ones last.
    ranks = np.full(weighed.n_systems, -1) if reference is None else reference.ranks
    names = [fold_name(name) for name in weighed.system_names]
    order = sorted(range(weighed.n_systems), key=lambda i: (ranks[i] < 1, int(ranks[i]), names[i]))[:DUELS]
    places = np.array(order, np.intp)
    yield Duels(order, margins_of(weighed, places, places))
    yield from (_ranked(read, batch, choices) for batch in left if rule_of_variant(batch[0]) not in AFTER_WINNERS)
    yield _winners(weighed, started + WINNERS_SHARE * choices.seconds)
    yield from (_ranked(read, batch, choices) for batch in left if rule_of_variant(batch[0]) in AFTER_WINNERS)
    if read.aggregation == TWO_STEP:
        reason = "with two-step aggregation the groups are ranked, but the test is about differences on tasks"
        yield Tests("", None, reason)
    elif weighed.n_systems > MAX_TESTED:
        yield Tests("", None, f"not tested here for more than {MAX_TESTED} systems")
    elif reference is None:
        yield Tests("", None, "no rule ranks")
    else:
        yield Tests(reference.rule, significance(weighed, reference, missing=read.policy, ties=choices.ties or None))


def read_inputs(table: bytes, about: bytes, choices: RankAs) -> ReadTable:
    """The table as a matrix, and how it is ranked.

    Raises:
        TableError: something cannot be read; it names line and column.
    """
    read = read_table(table, name=TABLE_NAME, max_systems=choices.n_systems, max_tasks=choices.n_tasks)
    text, described = about.decode("utf-8-sig", "replace").strip(), None
    if text.startswith("{"):
        matrix = _with_weights(to_matrix(read), text)
    else:
        described = read_benchmark(about, name=ABOUT_NAME) if text else None
        matrix = to_matrix(read, described)
    policy = described.policy if described else None
    variants = choices.variants or (described.variants if described else ())
    derived = derived_gamma_of(matrix) if matrix.gamma is None else None
    return ReadTable(
        matrix if derived is None else matrix.with_gamma(derived.gamma),
        policy=choices.policy or policy or "drop_systems",
        aggregation=choices.aggregation or ("balanced" if matrix.group_weights else "basic"),
        rules=split_rules(matrix.n_systems, matrix.n_tasks, variants).quick,
        read_as=read.dialect.description,
        rounding=read.rounding,
        doubtful=doubtful_tasks(
            matrix.task_names, matrix.directions.tolist(), described.directed_tasks if described else []
        ),
        derived=derived,
    )


def _with_weights(matrix: ScoreMatrix, text: str) -> ScoreMatrix:
    """The matrix with weights stated as a JSON object."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise _weights_error(f"not valid JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise _weights_error("not valid JSON: nested too deep") from error
    except ValueError as error:  # a number of more digits than are read
        raise _weights_error("not valid JSON: a number is too long") from error
    places = {fold_name(name): t for t, name in enumerate(matrix.task_names)}
    weights = list(matrix.weights)
    for name, value in content.items():
        if fold_name(name) not in places:
            raise _weights_error(f"unknown task {shorten(name)!r}: the table has no task of this name")
        try:
            weights[places[fold_name(name)]] = exact_weight(value, f"the weight of {shorten(name)!r}")
        except ValueError as error:
            raise _weights_error(str(error)) from error
    if not any(weights):
        raise _weights_error("the weights of all tasks are zero")
    return matrix.with_weights(weights)


def _weights_error(message: str, line: int | None = None) -> TableError:
    return TableError([TableIssue(line, None, None, message)], WEIGHTS_NAME)


def _ranked(read: ReadTable, rules: Sequence[str], choices: RankAs) -> Outcomes:
    n_searches = len(read.matrix.groups) + 1 if read.aggregation == TWO_STEP else 1  # at most one a group
    seconds = max(0.01, SEARCH_SHARE * choices.seconds / n_searches)
    options = {rule: {"seconds": seconds} for rule in rules if "seconds" in get_rule(rule).numbers}
    outcomes = rank_isolated(
        read.matrix, read.policy, read.aggregation, rules, ties=choices.ties or None, options=options
    )
    return {rule: outcome for rule, (outcome, _) in outcomes.items()}


def reference_rule(ranked: Sequence[str], preferred: str, matrix: ScoreMatrix) -> str:
    """The rule asked for, if it ranks; else Borda, or Copeland where scores are missing; else the first that ranks.

    Args:
        ranked: the rules that rank.
        preferred: the rule asked for, or nothing.
        matrix: what is ranked.
    """
    usual = "copeland" if np.isnan(matrix.values).any() else "borda"
    return next((rule for rule in (preferred, usual, *ranked) if rule in ranked), "")


def _winners(matrix: ScoreMatrix, deadline: float) -> Winners:
    if matrix.n_systems > MAX_WON:
        return Winners(None, f"Who can win is computed here for up to {MAX_WON} systems.")
    if not matrix.votes.any():
        return Winners(None, "No task has a weight above 0.")

    def check(done: int, total: int) -> None:
        if time.process_time() > deadline:
            raise _LateError

    try:
        return Winners(prospects(matrix, n_draws=DRAWS, max_steps=STEPS, progress=check))
    except _LateError:
        return Winners(None, is_late=True)
