"""Boards that differ a little, and what a rule makes of each: what definitions and searches share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.aggregation import reweighted
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.ranking import UNRANKED
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix

_BOARD_OPTIONS = ("aggregation", "missing")
_RESULTS_KEPT = 1_000  # searches under one rule rank a few hundred boards each, many of them alike


class OutOfStepsError(Exception):
    """A search has ranked as many boards as it may."""


@dataclass(frozen=True, eq=False)
class Result:
    """What a rule makes of one board.

    Attributes:
        names: the systems.
        positions: `positions[i]`, smaller is better; NaN where the rule does not place i. A rule that elects and does
            not rank places the winner first and all others together second.
        winners: the names of those that win; empty where no one does.
        is_defined: the rule gives an answer.
        is_decided: no tie was broken by name; where one was, the order is one of several and proves nothing.
        has_all_winners: no one else would win if ties were broken otherwise.
        is_order: all systems are in one order.
    """

    names: tuple[str, ...]
    positions: FloatArray
    winners: frozenset[str]
    is_defined: bool
    is_decided: bool
    has_all_winners: bool
    is_order: bool

    def position(self, name: str) -> float:
        """Return the position of the system `name`."""
        return float(self.positions[self.names.index(name)])

    def sign(self, x: str, y: str) -> int | None:
        """Return 1 if x is above y, -1 if below, 0 if they tie; None where one of them has no place."""
        difference = self.position(y) - self.position(x)
        return None if np.isnan(difference) else int(np.sign(difference))


_RESULTS: dict[bytes, Result] = {}


class Ranker:
    """Ranks boards under one rule and counts them.

    Args:
        rule: a key of RULES.
        options: those of `rank`, without aggregation and missing, which made the board.
        max_steps: after so many boards OutOfStepsError is raised; None for no limit.
    """

    def __init__(self, rule: str, options: Mapping[str, Any], max_steps: int | None = None) -> None:
        self.rule, self.max_steps, self.n_steps = rule, max_steps, 0
        self.options = {name: value for name, value in options.items() if name not in _BOARD_OPTIONS}

    def step(self) -> None:
        """Count one board."""
        if self.max_steps is not None and self.n_steps >= self.max_steps:
            raise OutOfStepsError
        self.n_steps += 1

    def __call__(self, board: ScoreMatrix) -> Result:
        """Rank `board`; what was ranked a moment before, by the search for another property too, is looked up."""
        self.step()
        digest = blake2b(repr((self.rule, sorted(self.options.items()), board.gamma, board.weights)).encode())
        digest.update(repr((board.system_names, board.task_names)).encode())
        for array in (board.values, board.directions, board.minimum, board.maximum, board.chance):
            digest.update(np.ascontiguousarray(array).tobytes())
        key = digest.digest()
        if key in _RESULTS:
            return _RESULTS[key]
        ranking = rank(board, self.rule, missing="undefined", **self.options)
        elects = ranking.status in ("winner_only", "no_winner")
        positions = ranking.ranks.astype(np.float64)
        positions[ranking.ranks == UNRANKED] = 2.0 if elects else np.nan
        detail, expected = get_rule(self.rule).decided_detail or ("", None)
        is_decided = not detail or ranking.details.get(detail) is expected
        if len(_RESULTS) >= _RESULTS_KEPT:
            _RESULTS.pop(next(iter(_RESULTS)))
        _RESULTS[key] = result = Result(
            names=board.system_names,
            positions=positions,
            winners=frozenset(board.system_names[i] for i in ranking.winners),
            is_defined=ranking.status != "undefined",
            is_decided=is_decided,
            has_all_winners=bool(ranking.details.get("winners_complete", is_decided)),
            is_order=not elects or board.n_systems < 3,
        )
        return result


def ranked_board(matrix: ScoreMatrix, rule: str, options: Mapping[str, Any]) -> tuple[ScoreMatrix | None, str]:
    """Return the board that `rule` ranks, voting tasks only, and why there is none (empty where there is one).

    Under `options["aggregation"]` other than `basic` the tasks have the weights that it gives them; under
    `options["missing"]` a rule that needs all scores has them.

    Raises:
        ValueError: the aggregation `two_step`, under which groups vote and not tasks.
    """
    aggregation = options.get("aggregation", "basic")
    if aggregation == "two_step":
        raise ValueError("`aggregation` is 'two_step'; properties are about rules that rank by tasks, not by groups")
    weighted = reweighted(matrix, aggregation)
    needs_all = get_rule(rule).needs_complete
    part = complete(weighted, options.get("missing", "drop_systems")) if needs_all else scored_part(weighted)
    return part.matrix, part.reason


def part_of(board: ScoreMatrix, systems: Iterable[str] | None, tasks: Iterable[str] | None) -> ScoreMatrix:
    """Return the board of some systems and tasks, by name and in the board's order; None for all of them."""
    rows = None if systems is None else _places(board.system_names, systems, "system")
    columns = None if tasks is None else _places(board.task_names, tasks, "task")
    return board if rows is None and columns is None else board.subset(rows, columns)


def without(board: ScoreMatrix, systems: Iterable[str]) -> ScoreMatrix:
    """Return the board without some systems, by name."""
    gone = set(systems)
    return board.subset(np.array([name not in gone for name in board.system_names], dtype=bool))


def with_copy(board: ScoreMatrix, name: str) -> ScoreMatrix:
    """Return the board with an exact copy of the system `name`, last, called after it."""
    return board.with_row(new_name(name, board.system_names), board.values[board.system_names.index(name)])


def new_name(name: str, taken: tuple[str, ...]) -> str:
    """Return what a copy of the system `name` is called."""
    copy = f"{name} (2)"
    while copy in taken:
        copy += "'"
    return copy


def with_task(board: ScoreMatrix, like: ScoreMatrix, task: str, column: FloatArray) -> ScoreMatrix:
    """Return `board` with one more task, last: direction, scale and weight are those of `task` in the board `like`."""
    t = like.task_names.index(task)
    name = task
    while name in board.task_names:
        name += "'"

    return ScoreMatrix(
        np.column_stack([board.values, column]),
        system_names=board.system_names,
        task_names=[*board.task_names, name],
        directions=[*board.directions.tolist(), int(like.directions[t])],
        weights=[*board.weights, like.weights[t]],
        gamma=board.gamma,
        minimum=[*board.minimum, like.minimum[t]],
        maximum=[*board.maximum, like.maximum[t]],
        chance=[*board.chance, like.chance[t]],
        precision=[*board.precision, like.precision[t]],
    )


def with_columns_exchanged(board: ScoreMatrix, first: str, second: str) -> ScoreMatrix:
    """Return the board on which two tasks exchange scores, directions and scales, and keep names and weights."""
    order = np.arange(board.n_tasks)
    s, t = board.task_names.index(first), board.task_names.index(second)
    order[[s, t]] = order[[t, s]]
    return ScoreMatrix(
        board.values[:, order],
        system_names=board.system_names,
        task_names=board.task_names,
        directions=board.directions[order],
        weights=board.weights,
        gamma=board.gamma,
        minimum=board.minimum[order],
        maximum=board.maximum[order],
        chance=board.chance[order],
        precision=board.precision[order],
    )


def upside_down(board: ScoreMatrix) -> ScoreMatrix:
    """Return the board with every score x of a task replaced by the task's least plus greatest score minus x."""
    values = board.values
    lowest, highest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)  # NaN where no one has a score
    return board.with_values(lowest + highest - values)


def opposed(board: ScoreMatrix, task: str, *, positive: bool) -> ScoreMatrix:
    """Return the board on which every other task has the order of `task` upside down, without ties.

    The better a system is on `task`, the further it falls behind on the others: a power of ten for each place, at most
    150 of them in all, as scores below 0 or, where `positive`, above.
    """
    t = board.task_names.index(task)
    own = board.scores[:, t]
    place = np.empty(board.n_systems)  # 0 = worst on `task`
    place[np.argsort(own, kind="stable")] = np.arange(board.n_systems)
    step = min(3.0, 150 / board.n_systems)
    scores = 10 ** (-place * step) if positive else -(10 ** (place * step))
    scores[np.isnan(own)] = np.nan
    values = board.values.copy()
    for other in range(board.n_tasks):
        if other != t:
            values[:, other] = scores * board.directions[other]
    return board.with_values(values)


def above_everywhere(board: ScoreMatrix) -> BoolArray:
    """`above[i, j]`: i is above j on every task, and both have scores on the same ones."""
    scores = board.scores
    n = board.n_systems
    above = np.ones((n, n), dtype=bool)
    for column in scores.T:
        gone = np.isnan(column)
        above &= (column[:, None] > column[None, :]) | (gone[:, None] & gone[None, :])
    np.fill_diagonal(above, val=False)
    return above


def _places(known: tuple[str, ...], names: Iterable[str], what: str) -> list[int]:
    wanted = set(names)
    if unknown := wanted.difference(known):
        raise ValueError(f"the board has no {what} called {sorted(unknown)[0]!r}")
    return [k for k, name in enumerate(known) if name in wanted]
