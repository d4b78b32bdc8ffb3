"""Where to look for violations of properties of the winners, among other scores, tasks and parts of the board."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from ranking_engine.axioms.board_search import BoardSearch, name_of, one_of
from ranking_engine.axioms.boards import Result, part_of, upside_down, with_task
from ranking_engine.axioms.definitions import Witness, majority_favourite, won
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.rules import choice_sets

FEW_TASKS = 10  # splits of so many tasks in two are all tried


def monotonicity(search: BoardSearch) -> Iterator[Witness]:
    """One task of one system first, all raises of winners and all falls of others; then several tasks."""
    board = search.board
    before = search.rank(board)
    winners = won(before)
    if not winners:
        return
    is_winner = np.array([name in winners for name in board.system_names])
    for i, row in _other_rows(board, before, is_winner, search.generator):
        changed = {board.task_names[t]: value for t, value in row.items()}
        values = board.values[i].copy()
        values[list(row)] = list(row.values())
        after = won(search.rank(board.replace_row(i, values)))
        x = board.system_names[i]
        if after and (x in winners) != (x in after):
            yield search.witness(x=x, y=one_of(after) if x in winners else "", scores=changed)


def _other_rows(
    board: ScoreMatrix, before: Result, is_winner: BoolArray, generator: np.random.Generator
) -> Iterator[tuple[int, dict[int, float]]]:
    """Raise winners and lower others."""
    order = np.argsort(before.positions, kind="stable")
    for i in order:
        for t in range(board.n_tasks):
            for value in _levels(board, int(i), t, up=bool(is_winner[i])):
                yield int(i), {t: value}
    while board.n_tasks > 1:
        i = int(order[min(int(generator.geometric(0.3)) - 1, len(order) - 1)])
        row = {}
        for t in generator.choice(board.n_tasks, int(generator.integers(1, board.n_tasks + 1)), replace=False):
            if levels := _levels(board, i, int(t), up=bool(is_winner[i])):
                row[int(t)] = levels[int(generator.integers(len(levels)))]
        yield i, row


def _levels(board: ScoreMatrix, i: int, t: int, *, up: bool) -> list[float]:
    """Stored scores of task t better (or worse) than i's: those that others have and those between, best last."""
    column = board.scores[:, t]
    own = column[i]
    if np.isnan(own):
        return []
    others = np.unique(column[~np.isnan(column)])
    beyond = others[others > own] if up else others[others < own][::-1]
    if not len(beyond):
        return []
    chain = np.concatenate([[own], beyond])
    between = (chain[:-1] + chain[1:]) / 2
    end = beyond[-1] + (beyond[-1] - between[-1])
    wanted = np.concatenate([np.column_stack([between[1:], beyond[1:]]).ravel(), [beyond[0], end]])
    chosen = np.unique(wanted)
    return [float(score * board.directions[t]) for score in (chosen if up else chosen[::-1])]


def majority(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board and parts of it."""
    yield from _wrong_winners(search, majority_favourite)


def condorcet_winner(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board and parts of it."""
    yield from _wrong_winners(search, lambda board: name_of(board, choice_sets.condorcet_winner(Pairwise.of(board))))


def _wrong_winners(search: BoardSearch, favourite: Callable[[ScoreMatrix], str | None]) -> Iterator[Witness]:
    for board, part in search.parts():
        x = favourite(board)
        if x is None or board.n_systems < 2:
            continue
        winners = won(search.rank(board))
        if winners is not None and winners != {x}:
            yield search.witness(x=x, y=one_of(winners - {x}), **part)


def condorcet_loser(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board and parts of it."""
    for board, part in search.parts():
        x = name_of(board, choice_sets.condorcet_loser(Pairwise.of(board)))
        if x is not None and x in (winners := won(search.rank(board)) or frozenset()):
            yield search.witness(x=x, y=one_of(winners - {x}), **part)


def reversal_symmetry(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board and parts of it."""
    for board, part in search.parts():
        winners = won(search.rank(board))
        if board.n_systems < 2 or winners is None or len(winners) != 1:
            continue
        (x,) = winners
        if x in (won(search.rank(upside_down(board))) or ()):
            yield search.witness(x=x, **part)


def consistency(search: BoardSearch) -> Iterator[Witness]:
    """All ways to split few tasks in two, else random ones; the first task is in the part that is not named."""
    board = search.board
    winners = won(search.rank(board))
    if winners is None:
        return
    others = board.task_names[1:]
    halves: Iterator[tuple[str, ...]]
    if board.n_tasks <= FEW_TASKS:
        sizes = range(1, board.n_tasks)
        halves = itertools.chain.from_iterable(itertools.combinations(others, size) for size in sizes)
    else:
        draws = (search.generator.random(len(others)) < 0.5 for _ in itertools.count())
        halves = (tuple(itertools.compress(others, chosen)) for chosen in draws if chosen.any())
    for half in halves:
        rest = tuple(name for name in board.task_names if name not in half)
        first = won(search.rank(part_of(board, None, half)))
        if not first:
            continue
        second = won(search.rank(part_of(board, None, rest)))
        if second is not None and first & second and winners != first & second:
            common = first & second
            yield search.witness(half=half, x=one_of(common - winners, common), y=one_of(winners - common))


def participation(search: BoardSearch) -> Iterator[Witness]:
    """Tasks that the board has, each added to the others; copies of tasks; tasks with their scores in another order."""
    board, generator = search.board, search.generator
    for t, task in enumerate(board.task_names if board.n_tasks > 1 else ()):
        rest = tuple(name for name in board.task_names if name != task)
        yield from _added_task(search, part_of(board, None, rest), task, board.values[:, t], {"tasks": rest})
    for t, task in enumerate(board.task_names):
        yield from _added_task(search, board, task, board.values[:, t], {})
    before = search.rank(board)
    while board.n_systems > 2 and won(before):
        t = int(generator.integers(board.n_tasks))
        column = board.values[:, t].copy()
        present = np.flatnonzero(~np.isnan(column))
        values = np.sort(column[present] * board.directions[t])
        order = generator.permutation(present)
        x = int(generator.choice(np.flatnonzero(before.positions == np.nanmin(before.positions))))
        ascending = [int(i) for i in order if i != x]
        if x in present and ascending:
            # a winner is put directly above one rival, so that the task supports it, but as little as it can
            ascending.insert(int(generator.integers(1, len(ascending) + 1)), x)
            column[ascending] = values * board.directions[t]
        yield from _added_task(search, board, board.task_names[t], column, {})


def _added_task(
    search: BoardSearch, board: ScoreMatrix, task: str, column: FloatArray, part: dict[str, tuple[str, ...]]
) -> Iterator[Witness]:
    winners = won(search.rank(board))
    after = with_task(board, search.board, task, column)
    winners_after = won(search.rank(after)) if winners else None
    if not winners or not winners_after:
        return
    added = dict(zip(board.system_names, after.scores[:, -1].tolist(), strict=True))
    stored = {name: None if np.isnan(v) else float(v) for name, v in zip(board.system_names, column, strict=True)}
    for x in sorted(winners - winners_after):
        for y in sorted(winners_after):
            if added[x] > added[y]:
                yield search.witness(x=x, y=y, task=task, scores=stored, **part)
