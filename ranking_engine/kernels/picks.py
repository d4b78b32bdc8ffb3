"""Plackett and Luce's strengths on many boards at once; see `ranking_engine.rules.plackett_luce`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.strengths import centred, is_connected, newton_step
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.rules.bradley_terry import SAME_STRENGTH
from ranking_engine.rules.plackett_luce import FARTHEST, Picks, fitted
from ranking_engine.rules.rates import order_of_names, snapped

_BLOCK_CELLS = 1 << 16  # so that tables of all pairs stay in a processor's cache
_NEWTON_STEPS = 15
_EXACT = 1e-7  # the last step: what it leaves is about its square, and a few millionths of it for single precision
_MAX_APART = 40.0  # the exponential of twice as much is still a float of single precision


def plackett_luce(batch: MatrixBatch) -> FloatArray:
    """Return the log-strengths of maximum likelihood; NaN on boards where no finite ones exist.

    Sums are taken in the order of names, so that the order of the rows changes no bit.
    """
    b, n = batch.present.shape
    systems = order_of_names(batch.matrix.system_names)
    tasks = order_of_names(batch.matrix.task_names)
    strengths, start = np.full((b, n), np.nan), np.zeros(n)
    height = max(1, _BLOCK_CELLS // max(1, n * n))
    for begin in range(0, b, height):
        rows = slice(begin, begin + height)
        first, last = (part[rows][:, systems[:, None], tasks].transpose(0, 2, 1) for part in (batch.first, batch.last))
        boards = PickedPlaces.of(
            first, last, batch.weights[rows][:, tasks], np.asarray(batch.present[rows][:, systems])
        )
        fits = np.flatnonzero(boards.are_connected())
        if not fits.size:
            continue
        boards = boards.only(fits)
        if not start.any():  # boards are much alike: what fits the largest of them is close to what fits each
            largest = int(boards.present.sum(axis=1).argmax())
            start[boards.present[largest]] = np.nan_to_num(boards.alone(largest))
        strengths[(begin + fits)[:, None], systems] = _strengths_of(boards, start)
    return strengths


@dataclass(frozen=True, eq=False)
class PickedPlaces:
    """What the tasks of many boards pick, as `Picks` of one; systems and tasks are in the order of names.

    Attributes:
        systems: `systems[r, t, k]`: the system at place k of task t; those without a score are last.
        place_of: `place_of[r, t, i]`: the place of system i.
        first, last: first and last place of the systems that tie with the one at a place.
        has: `has[r, t, k]`: the one at place k has a score.
        weights: of the tasks, shape (n_boards, n_tasks), 1 at most.
        present: who is on the board, shape (n_boards, n_systems).
    """

    systems: NDArray[np.intp]
    place_of: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    has: BoolArray
    weights: FloatArray
    present: BoolArray

    @classmethod
    def of(
        cls, first: NDArray[np.int32], last: NDArray[np.int32], weights: FloatArray, present: BoolArray
    ) -> PickedPlaces:
        """Read places by board, task and system, -1 where a score is missing."""
        n = first.shape[2]
        is_scored = (first >= 0) & (weights > 0)[:, :, None] & present[:, None, :]
        systems = np.argsort(np.where(is_scored, first, n), axis=2, kind="stable")
        place_of = np.empty(systems.shape, dtype=np.intp)
        np.put_along_axis(place_of, systems, np.broadcast_to(np.arange(n), systems.shape), axis=2)
        has, places = np.take_along_axis(is_scored, systems, axis=2), np.arange(n)
        return cls(
            systems,
            place_of,
            np.where(has, np.take_along_axis(first, systems, axis=2), places).astype(np.intp),
            np.where(has, np.take_along_axis(last, systems, axis=2), places).astype(np.intp),
            has,
            weights / np.maximum(weights.max(axis=1, keepdims=True), 1.0),
            present,
        )

    def only(self, rows: NDArray[np.intp]) -> PickedPlaces:
        """Return some of the boards."""
        return PickedPlaces(
            self.systems[rows],
            self.place_of[rows],
            self.first[rows],
            self.last[rows],
            self.has[rows],
            self.weights[rows],
            self.present[rows],
        )

    def are_connected(self) -> BoolArray:
        """Whether on each board chains of wins or ties lead from every system to every other (Hunter 2004)."""
        b, T, n = self.systems.shape
        is_level_or_ahead = np.zeros((b, n, n), dtype=bool)
        begins = _taken(np.where(self.has, self.first, n), self.place_of)  # by system; n without a score
        for t in range(T):
            mine = begins[:, t]
            is_level_or_ahead |= (mine[:, :, None] <= mine[:, None, :]) & (mine[:, None, :] < n)
        return is_connected(is_level_or_ahead, self.present)

    def alone(self, row: int) -> FloatArray:
        """Return the strengths of the systems that are present on one board, fitted by itself; NaN if too far apart."""
        on_board = self.present[row]
        index_of = np.cumsum(on_board) - 1
        n = int(on_board.sum())
        # Those who are not there have no scores and so the last places.
        systems = np.array([index_of[order[on_board[order]]] for order in self.systems[row]], dtype=np.intp)
        tasks, places = np.arange(len(systems)), (row, slice(None), slice(n))
        picks = Picks(tasks, self.weights[row], systems, self.has[places], self.first[places], self.last[places])
        strengths = fitted(picks, 0.0)[0] if n > 1 else np.zeros(1)
        return strengths if np.ptp(strengths) <= FARTHEST else np.full(n, np.nan)

    def slope_and_bend(self, strengths: FloatArray) -> tuple[FloatArray, NDArray[np.float32]]:
        """Return the gradient of each board, and what each two systems share of its second derivative."""
        b, T, n = self.systems.shape
        p = np.where(self.present, np.exp(strengths - strengths.max(axis=1, keepdims=True)), 0.0)
        power = np.where(self.has, np.take(p, self.systems + n * np.arange(b)[:, None, None]), 0.0)
        # Each sum starts from the weakest, so that nothing is lost by subtraction.
        sums = _taken(np.cumsum(power[:, :, ::-1], axis=2)[:, :, ::-1], self.first)
        shares = np.divide(1.0, sums, out=np.zeros(sums.shape), where=self.has)
        expected = power * _taken(np.cumsum(shares, axis=2), self.last)
        gradients = _taken(np.where(self.has, 1.0 - expected, 0.0), self.place_of)
        shares *= shares
        squares = np.where(self.has, _taken(np.cumsum(shares, axis=2), self.last), 0.0)
        # Two systems are both in the sets that the one ahead is in.
        squares = _taken(squares, self.place_of) * self.weights[:, :, None]
        narrow = squares.astype(np.float32)
        common, shared = np.zeros((b, n, n), dtype=np.float32), np.empty((b, n, n), dtype=np.float32)
        for t in range(T):
            np.minimum(narrow[:, t, :, None], narrow[:, t, None, :], out=shared)
            common += shared
        one = p.astype(np.float32)
        common *= one[:, :, None]
        common *= one[:, None, :]
        common[:, np.arange(n), np.arange(n)] = 0
        return np.asarray((self.weights[:, None, :] @ gradients)[:, 0]), common


def _taken(values: NDArray[Any], index: NDArray[np.intp]) -> NDArray[Any]:
    """Return `values` along the last of three axes at `index`."""
    n_rows, n = values.shape[0] * values.shape[1], values.shape[2]
    return np.take(values, index + n * np.arange(n_rows).reshape(*values.shape[:2], 1))


def _are_far(strengths: FloatArray) -> BoolArray:
    """Whether the strengths of each board are too far apart for single precision, or no numbers."""
    return np.asarray(~(2 * np.abs(strengths).max(axis=1) <= _MAX_APART))


def _strengths_of(boards: PickedPlaces, start: FloatArray) -> FloatArray:
    """Return the strengths of boards on which they exist, by Newton's method with factors in single precision."""
    n_present = boards.present.sum(axis=1, keepdims=True)
    b, n = boards.present.shape
    strengths = centred(np.broadcast_to(start, (b, n)), boards.present, n_present)
    is_solved, is_far = n_present[:, 0] == 1, _are_far(strengths)
    for _ in range(_NEWTON_STEPS):
        rows = np.flatnonzero(~is_solved & ~is_far)
        if not rows.size:
            break
        left = boards if len(rows) == b else boards.only(rows)
        here = left.present
        gradient, common = left.slope_and_bend(strengths[rows])
        try:
            step, largest = newton_step(common, gradient, here, n_present[rows])
        except np.linalg.LinAlgError:  # a board far apart: the loop below sees to all that are left
            break
        moved = strengths[rows] + step
        is_far[rows] = _are_far(moved)
        strengths[rows] = moved
        is_solved[rows] = (largest < _EXACT) & ~is_far[rows]
    for r in np.flatnonzero(~is_solved):  # far apart, or slow: as a board of its own
        strengths[r, boards.present[r]] = boards.alone(int(r))
    strengths = np.where(boards.present, centred(strengths, boards.present, n_present), np.nan)
    return snapped(strengths, SAME_STRENGTH)
