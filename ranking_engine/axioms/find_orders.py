"""Where to look for violations of properties of the whole order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ranking_engine.axioms.board_search import BoardSearch, best_pair, changed_pair, part_of_result
from ranking_engine.axioms.boards import OutOfStepsError, above_everywhere, with_columns_exchanged
from ranking_engine.axioms.definitions import Witness, obeys


def transitivity(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board itself."""
    result = search.rank(search.board)
    if result.is_defined and not result.is_order:
        yield search.witness()


def anonymity(search: BoardSearch) -> Iterator[Witness]:
    """Look at exchanges of the scores of two tasks of equal weight."""
    board = search.board
    before = search.rank(board)
    for s, t in itertools.combinations(range(board.n_tasks), 2):
        if board.weights[s] == board.weights[t]:
            pair = (board.task_names[s], board.task_names[t])
            after = search.rank(with_columns_exchanged(board, *pair))
            if names := changed_pair(before, after):
                yield search.witness(x=names[0], y=names[1], half=pair)


def non_dictatorship(search: BoardSearch) -> Iterator[Witness]:
    """Look at tasks that all others oppose."""
    if search.board.n_tasks < 2:
        return
    for task in search.board.task_names:
        if obeys(search.board, task, search.rank):
            yield search.witness(task=task)


def unanimity(search: BoardSearch) -> Iterator[Witness]:
    """Look at the board and parts of it."""
    for board, part in search.parts():
        above = above_everywhere(board)
        if not above.any():
            continue
        result = search.rank(board)
        wrong = above & (result.positions[:, None] >= result.positions[None, :])
        if result.is_decided and wrong.any():
            i, j = best_pair(wrong, result)
            yield search.witness(x=board.system_names[i], y=board.system_names[j], **part)


def iia(search: BoardSearch) -> Iterator[Witness]:
    """All removals of one system first, and of these a plain reversal high up; then of several."""
    board, n = search.board, search.board.n_systems
    before = search.rank(board)
    best: tuple[tuple[bool, float], Witness] | None = None
    single = ((i,) for i in range(n) if n > 2)
    sizes = (int(search.generator.integers(2, n - 1)) for _ in itertools.count()) if n > 3 else iter(())
    several = (tuple(sorted(search.generator.choice(n, size, replace=False).tolist())) for size in sizes)
    try:
        for removed in itertools.chain(single, several):
            if len(removed) > 1 and best is not None:
                break
            kept = np.delete(np.arange(n), removed)
            after = search.rank(board.subset(systems=kept))
            names = changed_pair(part_of_result(before, kept), after)
            if names is None:
                continue
            is_tie = before.sign(*names) == 0 or after.sign(*names) == 0
            plainness = is_tie, before.position(names[0])
            if best is None or plainness < best[0]:
                gone = tuple(board.system_names[i] for i in removed)
                best = plainness, search.witness(x=names[0], y=names[1], removed=gone)
            if best[0] == (False, 1.0):
                break  # a reversal that concerns the winner: none is plainer
    except OutOfStepsError:
        if best is None:
            raise
    if best is not None:
        yield best[1]


def local_iia(search: BoardSearch) -> Iterator[Witness]:
    """Look at runs of neighbours in the ranking, those that leave out one end first."""
    board = search.board
    before = search.rank(board)
    places = np.unique(before.positions[~np.isnan(before.positions)])
    n = len(places)
    runs = [(first, last) for first in range(n) for last in range(first, n) if last - first < n - 1]
    runs.sort(key=lambda run: (run[0] > 0 and run[1] < n - 1, run[0] - run[1]))  # then the longest first
    for first, last in runs:
        inside = (before.positions >= places[first]) & (before.positions <= places[last])
        kept = np.flatnonzero(inside)
        gone = tuple(board.system_names[i] for i in np.flatnonzero(~inside))
        if len(kept) < 2 or not gone or np.isnan(before.positions).any():
            continue
        if names := changed_pair(part_of_result(before, kept), search.rank(board.subset(systems=kept))):
            yield search.witness(x=names[0], y=names[1], removed=gone)
