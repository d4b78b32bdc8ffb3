"""The rules that drop systems by first or last places, and the threshold rule, on many tables at once.

Scores have shape (n_matrices, n_systems), NaN where a system is not on the board; only their order is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.profile import Profile
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.core.task_order import TaskOrder
from ranking_engine.kernels.tables import MatrixBatch

_BLOCK_CELLS = 1 << 18  # places of the tables that are looked at together: few enough for a processor's cache
_KEY_BITS = 62
_LIGHT = 2  # what a task weighs on average, up to which its weight is spelt out


@dataclass(frozen=True, eq=False)
class _Queues:
    """The systems in the order in which they get to the front: a line a task and table, or a line a task.

    Attributes:
        systems: those in front first, shape (n_lines, n_systems).
        blocks: `blocks[l, i]`: a number for the tie block of system i on line l.
        ends: `ends[l, i]`: where that block ends in the queue.
    """

    systems: NDArray[np.intp]
    blocks: NDArray[np.int32]
    ends: NDArray[np.int32]

    def part(self, lines: slice) -> _Queues:
        return _Queues(self.systems[lines], self.blocks[lines], self.ends[lines])


def instant_runoff(batch: MatrixBatch) -> FloatArray:
    """The round in which each system leaves when those with the least weight of first places do (ties: worst)."""
    order = _order(batch)
    queues = _Queues(order.systems.T, order.first.T, order.last.T + 1)
    return _by_votes(batch, queues, is_dropped_by_fewest=True)


def coombs(batch: MatrixBatch) -> FloatArray:
    """The round in which each system leaves when those with the most weight of last places do (ties: worst)."""
    order = _order(batch)
    queues = _Queues(order.systems.T[:, ::-1], order.first.T, len(order.first) - order.first.T)
    return _by_votes(batch, queues, is_dropped_by_fewest=False)


def _order(batch: MatrixBatch) -> TaskOrder:
    """Return the order of all systems on each task of each table, or on each task if the tables share their scores."""
    return batch.order if batch.shared is None else batch.shared.order


def _by_votes(batch: MatrixBatch, queues: _Queues, *, is_dropped_by_fewest: bool) -> FloatArray:
    """Drop systems in rounds by votes, a block of tables at a time; a task's vote goes to those in front.

    Under the convention `worst` a first place counts for a system that is first alone, a last one for all that are
    last.
    """
    b, n = batch.present.shape
    T = batch.weights.shape[1]
    left = np.full((b, n), np.nan)
    height = max(1, _BLOCK_CELLS // max(n, T))
    for start in range(0, b, height):
        rows = slice(start, start + height)
        of_rows = queues if batch.shared is not None else queues.part(slice(start * T, (start + height) * T))
        left[rows] = _rounds(of_rows, batch.weights[rows], batch.present[rows], is_dropped_by_fewest)
    return left


def _rounds(queues: _Queues, weights: FloatArray, present: BoolArray, is_dropped_by_fewest: bool) -> FloatArray:
    """Return the rounds in which the systems leave, NaN for those that are not on a board.

    A round looks again only at the tasks on which someone in front has left: from there on in their queues.
    """
    b, T = weights.shape
    n, n_lines = present.shape[1], len(queues.systems)
    out = np.inf if is_dropped_by_fewest else -np.inf  # the votes of a system that is not or no longer there
    votes = np.where(present, 0.0, out).ravel()
    is_present, n_present = present.ravel().copy(), present.sum(axis=1)
    task_weights = weights.ravel()
    of_board = np.repeat(np.arange(0, b * n, n), T)  # where the board of a task begins in `votes`
    of_line = np.resize(np.arange(0, n_lines * n, n), b * T)  # where its line begins in the flat queue
    ahead = of_line.copy()  # where those in front begin there
    queue, blocks, ends = queues.systems.ravel(), queues.blocks.ravel(), queues.ends.ravel()
    front = np.full(b * T, -1)  # the tie block of those in front; -1 on tasks without weight
    given = np.zeros(b * T)  # what each of them gets
    left = np.full(b * n, np.nan)
    boards, number = np.flatnonzero(n_present), 0
    touched = np.flatnonzero((weights > 0) & (n_present > 0)[:, None])
    while boards.size:
        number += 1
        behind, begins, of_boards = np.arange(len(touched)), ahead[touched], of_board[touched]
        systems = queue[begins]
        while behind.size:
            behind = behind[~is_present[of_boards[behind] + systems[behind]]]
            begins[behind] += 1
            systems[behind] = queue[begins[behind]]
        ahead[touched] = begins
        of_lines = of_line[touched]
        now = blocks[of_lines + systems]
        lengths = ends[of_lines + systems] - (begins - of_lines)
        gifts, tied = task_weights[touched], lengths.max(initial=1) > 1
        if tied:
            tasks = np.repeat(np.arange(len(touched)), lengths)
            steps = np.arange(len(tasks)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            cells = of_boards[tasks] + queue[begins[tasks] + steps]
            is_there = is_present[cells]
            tasks, cells = tasks[is_there], cells[is_there]
            if is_dropped_by_fewest:
                gifts = gifts * (np.bincount(tasks, minlength=len(touched)) == 1)
        else:
            cells = of_boards + systems
        more = gifts - np.where(now == front[touched], given[touched], 0.0)
        np.add.at(votes, cells, more[tasks] if tied else more)
        front[touched], given[touched] = now, gifts

        table = votes.reshape(b, n)
        if len(boards) < b:
            table = table[boards]
        extreme = table.min(axis=1) if is_dropped_by_fewest else table.max(axis=1)
        rows, systems = np.divmod(np.flatnonzero(table == extreme[:, None]), n)
        rows = boards[rows]
        cells = rows * n + systems
        left[cells] = number
        is_present[cells], votes[cells] = False, out
        n_present -= np.bincount(rows, minlength=b)
        boards = boards[n_present[boards] > 0]
        goes_on = n_present[rows] > 0
        rows, systems = rows[goes_on], systems[goes_on]
        tasks = rows[:, None] * T + np.arange(T)
        is_touched = np.zeros(b * T, dtype=bool)
        is_touched[tasks[front[tasks] == blocks[of_line[tasks] + systems[:, None]]]] = True
        touched = np.flatnonzero(is_touched)
    return left.reshape(b, n)


def threshold(batch: MatrixBatch) -> FloatArray:
    """Minus the weight at positions n, n - 1, ..., 2, compared lexicographically (ties: worst)."""
    b, n, T = batch.scores.shape
    weights = batch.weights.astype(np.int64)
    is_light = weights.sum(axis=1).max(initial=0) <= _LIGHT * T
    packed = _repeated_positions(batch, weights) if is_light else _positions_and_weights(batch, weights)
    board = np.repeat(np.arange(b), n)
    lines = np.lexsort([*packed.T[::-1], board])
    ascending = packed[lines]
    is_better = np.ones(b * n, dtype=bool)
    is_better[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    scores = np.empty(b * n)
    scores[lines] = -np.cumsum(is_better)
    return np.where(batch.present, scores.reshape(b, n), np.nan)


def _repeated_positions(batch: MatrixBatch, weights: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return each system's positions, the last first and each as often as its task weighs, packed into numbers.

    All systems of a board have the same number of them, so the first at which two differ is where their weights do.
    """
    b, n, T = batch.scores.shape
    totals = weights.sum(axis=1)
    width = int(totals.max(initial=1))
    dtype = np.dtype(np.min_scalar_type(n))
    is_same = batch.shared is not None and bool(batch.present.all())
    last = batch.shared.order.last[None] if batch.shared is not None and is_same else batch.last
    # Minus the positions, so that sorting puts the last first; what is left empty comes after all.
    places = np.full((len(last), n, T + 1), np.iinfo(dtype).max, dtype=dtype)
    places[:, :, :T] -= (last + 1).astype(dtype)
    if (weights == 1).all():
        places = np.broadcast_to(places[:, :, :T], (b, n, T))
    else:
        tasks = np.full((b, width), T)
        tasks[np.arange(width) < totals[:, None]] = np.repeat(np.tile(np.arange(T), b), weights.ravel())
        if is_same:
            places = places[0][:, tasks].transpose(1, 0, 2)
        else:
            places = np.take_along_axis(places, tasks[:, None, :], axis=2)
    together = 8 // dtype.itemsize
    filled = np.full((b * n, -(-width // together) * together), np.iinfo(dtype).max, dtype=dtype)
    filled[:, :width] = np.sort(places, axis=2).reshape(b * n, width)
    # The first in the highest bits: numbers are compared as the positions are.
    return ~filled.astype(dtype.newbyteorder(">")).view(">u8").astype(np.uint64)


def _positions_and_weights(batch: MatrixBatch, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each system's positions, the last first, with the weights there, packed into as few numbers as can be."""
    b, n, T = batch.scores.shape
    weights = np.broadcast_to(weights[:, None, :], (b, n, T))
    positions = np.where(weights > 0, batch.last + 1, 0).reshape(b * n, T)
    order = np.argsort(-positions, axis=1, kind="stable")
    positions = np.take_along_axis(positions, order, axis=1)
    weights = np.take_along_axis(weights.reshape(b * n, T), order, axis=1)
    # Weights at equal positions are added up; what is left empty comes last, as 0.
    opens = np.ones(positions.shape, dtype=bool)
    opens[:, 1:] = positions[:, 1:] != positions[:, :-1]
    column = np.cumsum(opens, axis=1) - 1
    rows = np.arange(b * n)[:, None]
    amounts = np.bincount((rows * T + column).ravel(), weights=weights.ravel(), minlength=b * n * T)
    size = int(amounts.max(initial=0)) + 1
    keys = np.zeros((b * n, T), dtype=np.int64)
    keys[rows, column] = positions * size
    keys += np.where(keys > 0, amounts.reshape(b * n, T), 0).astype(np.int64)
    base = (n + 1) * size  # above all keys
    together = max(1, int(_KEY_BITS // np.log2(max(base, 2))))
    columns = []
    for start in range(0, T, together):
        number = np.zeros(b * n, dtype=np.int64)
        for column in keys[:, start : start + together].T:
            number = number * base + column
        columns.append(number)
    return np.column_stack(columns)


def resampled(score: Callable[[MatrixBatch], FloatArray]) -> Callable[[Profile, NDArray[np.int64]], FloatArray]:
    """Return the resamples of the tasks, as a batch of tables in which these count several times or not at all.

    Args:
        score: what the rule makes of many tables.
    """

    def scores_of(profile: Profile, task_counts: NDArray[np.int64]) -> FloatArray:
        height = max(1, 16 * _BLOCK_CELLS // profile.scores.size)
        blocks = [task_counts[start : start + height] for start in range(0, len(task_counts), height)]
        return np.concatenate([score(MatrixBatch.of_counts(profile, counts)) for counts in blocks])

    return scores_of


def growing(score: Callable[[MatrixBatch], FloatArray]) -> Callable[[Profile], FloatArray]:
    """Return the boards that grow by one system at a time, as a batch of tables in which the others are missing.

    Args:
        score: what the rule makes of many tables.
    """

    def scores_of(profile: Profile) -> FloatArray:
        n, T = profile.scores.shape
        on_board = np.tri(n, dtype=bool)
        height = max(1, 16 * _BLOCK_CELLS // (n * T))
        blocks = [on_board[start : start + height] for start in range(0, n, height)]
        return np.concatenate(
            [
                score(
                    MatrixBatch(
                        profile.matrix,
                        np.where(present[:, :, None], profile.scores, np.nan),
                        present=present,
                        shared=profile,
                    )
                )
                for present in blocks
            ]
        )

    return scores_of
