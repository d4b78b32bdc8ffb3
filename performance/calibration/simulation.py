"""Many boards of a kind, over processes; every board is seeded by the kind, its own number and the seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

Figures = Mapping[str, float]
Trial = Callable[[np.random.Generator], Figures]

BLOCK = 10  # boards that a process takes at a time


@dataclass(frozen=True)
class Rate:
    """The mean of a figure over boards, with its standard error."""

    mean: float
    error: float
    n_boards: int

    def lower(self, z: float = 1.645) -> float:
        """The lower confidence bound, one-sided at 95 % by default."""
        return self.mean - z * self.error

    def upper(self, z: float = 1.645) -> float:
        """The upper confidence bound."""
        return self.mean + z * self.error


def simulate(name: str, trial: Trial, n_boards: int, *, seed: int = 0, processes: int = 1) -> dict[str, Rate]:
    """Return the rates of a trial.

    Args:
        name: of the kind of board; part of the seed.
        trial: one board's figures, picklable; a board without some figure is left out of its rate.
        n_boards: how many boards.
        seed: 0 or more.
        processes: 1 for none but this one.
    """
    blocks = [range(start, min(start + BLOCK, n_boards)) for start in range(0, n_boards, BLOCK)]
    if processes == 1:
        return rates(figures for block in blocks for figures in _run(name, trial, block, seed))
    with ProcessPoolExecutor(processes) as pool:
        futures = [pool.submit(_run, name, trial, block, seed) for block in blocks]
        return rates(figures for future in futures for figures in future.result())


def rates(boards: Iterable[Figures]) -> dict[str, Rate]:
    """Average the figures of boards."""
    values: dict[str, list[float]] = {}
    for figures in boards:
        for name, value in figures.items():
            values.setdefault(name, []).append(value)
    return {
        name: Rate(float(np.mean(column)), float(np.std(column)) / math.sqrt(len(column)), len(column))
        for name, column in values.items()
    }


def _run(name: str, trial: Trial, block: range, seed: int) -> list[Figures]:
    kind = zlib.crc32(name.encode())
    return [trial(np.random.default_rng([seed, kind, board])) for board in block]
