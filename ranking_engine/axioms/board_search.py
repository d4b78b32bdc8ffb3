"""Shared parts of all searches: the board, its parts, and pairs of systems whose order changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.axioms.boards import Ranker, Result, part_of
from ranking_engine.axioms.definitions import Witness
from ranking_engine.core.score_matrix import BoolArray, ScoreMatrix

SMALL_PART = 6  # systems of a small part of the board


@dataclass(frozen=True, eq=False)
class BoardSearch:
    """The board, the rule and the luck of one search."""

    board: ScoreMatrix
    rank: Ranker
    generator: np.random.Generator
    property: str
    options: Mapping[str, Any]
    systems: tuple[str, ...] | None = None  # those of the board, where it is a part

    def small_part(self) -> BoardSearch:
        """Return the same search among a few of the systems, drawn at random."""
        systems = self._few_systems()
        return replace(self, board=part_of(self.board, systems, None), systems=systems)

    def _few_systems(self) -> tuple[str, ...]:
        n = self.board.n_systems
        size = int(self.generator.integers(min(3, n - 1), min(SMALL_PART, n - 1) + 1))
        return tuple(self.board.system_names[i] for i in sorted(self.generator.choice(n, size, replace=False)))

    def witness(self, **fields: Any) -> Witness:  # noqa: ANN401 -- the fields of Witness
        """Return a witness under this rule, property and options."""
        if self.systems is not None:
            fields.setdefault("systems", self.systems)
        return Witness(self.rank.rule, self.property, self.options, **fields)

    def parts(self) -> Iterator[tuple[ScoreMatrix, dict[str, tuple[str, ...]]]]:
        """Yield the board, then without end parts of a few systems or of some tasks, and how a witness names them."""
        yield self.board, {}
        n, T = self.board.n_systems, self.board.n_tasks
        while n > 2 or T > 1:
            self.rank.step()  # counted even where nothing will be ranked, so that the search ends
            if n > 2:
                systems = self._few_systems()
                yield part_of(self.board, systems, None), {"systems": systems}
            if T > 1:
                chosen = self.generator.choice(T, int(self.generator.integers(1, T)), replace=False)
                tasks = tuple(self.board.task_names[t] for t in sorted(chosen))
                yield part_of(self.board, None, tasks), {"tasks": tasks}


def name_of(board: ScoreMatrix, i: int | None) -> str | None:
    """Return the name of system i, if there is one."""
    return None if i is None else board.system_names[i]


def one_of(*sets: frozenset[str]) -> str:
    """Return the first by name of the first set that is not empty; an empty text where all are."""
    return next((min(names) for names in sets if names), "")


def part_of_result(result: Result, kept: NDArray[np.intp]) -> Result:
    """Return the places of some systems, by index."""
    names = tuple(result.names[i] for i in kept)
    return replace(result, names=names, positions=result.positions[kept])


def changed_pair(before: Result, after: Result) -> tuple[str, str] | None:
    """Return two systems whose order differs, x the upper one before; a reversal if there is one, high up.

    Of two that tied before, x is the upper one after.
    """
    if not (before.is_decided and after.is_decided):
        return None
    first = np.sign(before.positions[None, :] - before.positions[:, None])
    second = np.sign(after.positions[None, :] - after.positions[:, None])
    reverses = first * second < 0
    differs = reverses if reverses.any() else (first != second) & ~np.isnan(first) & ~np.isnan(second)
    differs = differs & (first >= 0)
    if not differs.any():
        return None
    i, j = best_pair(differs, before)
    is_parted_upwards = first[i, j] == 0 and second[i, j] < 0
    return (before.names[j], before.names[i]) if is_parted_upwards else (before.names[i], before.names[j])


def best_pair(wanted: BoolArray, result: Result) -> tuple[int, int]:
    """Return the wanted pair whose better system is highest, then the other."""
    rows, columns = np.nonzero(wanted)
    best = np.lexsort([result.positions[columns], result.positions[rows]])[0]
    return int(rows[best]), int(columns[best])
