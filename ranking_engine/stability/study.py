"""What a study is: an experiment on one matrix that can be cut into chunks.

Every chunk covers a fixed range of trials, and every trial is seeded by the study, its own number and the seed that
the caller gave: the merged result has the same bits anyone who computes which chunk, in whatever order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.parameters import Parameter
from ranking_engine.text.names import shorten

Progress = Callable[[int, int], None]
Parameters = Mapping[str, Any]
Arrays = dict[str, NDArray[Any]]

CHUNK_SECONDS = 5.0  # what a chunk should take
MAX_CHUNKS = 200


@dataclass(frozen=True, eq=False)
class StudyResult:
    """What a study found.

    Attributes:
        summary: plain data, at most 64 kB as JSON; `rules` by rule where it is per rule, `not_studied` why others are
            left out.
        arrays: the whole distribution. `borda.spearman` is what the study calls spearman, of the rule borda.
    """

    summary: dict[str, Any]
    arrays: Arrays


@dataclass(frozen=True, eq=False)
class Study:
    """One study, all of it: a module of `studies` that has such a record adds it.

    `parameters` given to its functions are complete, see `with_defaults`.

    Attributes:
        number: its place among the studies, and the stream of its random numbers.
        key: its name in the command line and the API.
        name: its name for readers.
        question: what it asks, as one sentence.
        source: the publication that it follows.
        declared: its parameters.
        estimate: the seconds of one core that all chunks together should take.
        run_chunk: the partial result of one chunk, as named arrays, from run_chunk(matrix, parameters, seed, chunk,
            progress); progress(done, total) is called after each step, and may raise to cancel.
        merge: the result from all partial results in the order of chunks, merge(matrix, parameters, seed, partials).
        n_chunks: how many chunks there are, see `cut_by_cost`; 1 where it cannot be cut.
        why_not: why the study says nothing about a matrix; empty where it does.
        steps: the parameter that counts the work, which a budget in seconds is turned into; empty where none does.
        cut_along: parameters that a budget cuts in proportion with the steps, to 2 at least.
        axes: what the summary calls the places of its curves.
        runs_with_boards: whether boards may run it by themselves; else it is an experiment only.
    """

    number: int
    key: str
    name: str
    question: str
    source: str
    declared: tuple[Parameter, ...]
    estimate: Callable[[ScoreMatrix, Parameters], float]
    run_chunk: Callable[..., Arrays]
    merge: Callable[[ScoreMatrix, Parameters, int, Sequence[Arrays]], StudyResult]
    n_chunks: Callable[[ScoreMatrix, Parameters], int] = lambda matrix, parameters: 1
    why_not: Callable[[ScoreMatrix, Parameters], str] = lambda matrix, parameters: ""
    steps: str = ""
    cut_along: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    runs_with_boards: bool = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The defaults by name, plain data."""
        return {parameter.name: parameter.default for parameter in self.declared}

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of this name.

        Raises:
            ValueError: the study does not have it.
        """
        for parameter in self.declared:
            if parameter.name == name:
                return parameter
        known = ", ".join(self.parameters) or "none"
        raise ValueError(f"`{shorten(name)}` is no parameter of the study {self.key} (parameters: {known})")

    def with_defaults(self, parameters: Parameters | None) -> dict[str, Any]:
        """Return the parameters given, with the defaults of the others.

        Raises:
            ValueError: a parameter that the study does not have.
        """
        for name in parameters or {}:
            self.parameter(name)
        return {**self.parameters, **(parameters or {})}


def generator(seed: int, study: int, *trial: int) -> np.random.Generator:
    """Return the random numbers of one trial of a study, which depend on nothing else."""
    if seed < 0:
        raise ValueError(f"`seed` is {seed}; expected 0 or more")
    return np.random.default_rng([seed, study, *trial])


def cut_by_cost(
    estimate: Callable[[ScoreMatrix, Parameters], float], n_units: Callable[[ScoreMatrix, Parameters], int]
) -> Callable[[ScoreMatrix, Parameters], int]:
    """Return a `Study.n_chunks` that cuts the study's units of work by what all of them should cost.

    Args:
        estimate: the study's.
        n_units: how many units of work there are, such as repeats.
    """

    def n_chunks(matrix: ScoreMatrix, parameters: Parameters) -> int:
        seconds = estimate(matrix, parameters)  # first: it refuses parameters that the study cannot have
        return max(1, min(n_units(matrix, parameters), MAX_CHUNKS, math.ceil(seconds / CHUNK_SECONDS)))

    return n_chunks


def span(chunk: int, n_chunks: int, n_units: int) -> range:
    """Return the units of work of one chunk."""
    if not 0 <= chunk < n_chunks:
        raise ValueError(f"`chunk` is {chunk}; there are {n_chunks}")
    return range(chunk * n_units // n_chunks, (chunk + 1) * n_units // n_chunks)


def blocks(units: range, height: int) -> list[range]:
    """Cut `units` into pieces of `height`."""
    return [units[start : start + height] for start in range(0, len(units), max(1, height))]


def joined(partials: Sequence[Arrays], axis: int = 0) -> Arrays:
    """Put the arrays of all chunks together, along their axis of trials."""
    return {name: np.concatenate([arrays[name] for arrays in partials], axis=axis) for name in partials[0]}


def plain(value: float, digits: int = 6) -> float | None:
    """Return a number for a summary; None where there is none."""
    return None if math.isnan(value) else round(float(value), digits)


def in_unit(value: float, digits: int = 7) -> float | None:
    """Return a number in the unit of a task, which may be any, with so many significant digits; None where none is."""
    return None if math.isnan(value) else float(f"{value:.{digits}g}")


def plain_list(values: NDArray[Any], digits: int = 6) -> list[float | None]:
    """Return numbers for a summary; None where there is none."""
    return [plain(value, digits) for value in values.tolist()]


def mean_of(values: NDArray[np.float64], axis: int | None = None) -> NDArray[np.float64]:
    """Return the mean of what is not NaN; NaN where nothing is left."""
    has = ~np.isnan(values)
    total = np.where(has, values, 0.0).sum(axis=axis)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / has.sum(axis=axis), dtype=np.float64)


def deviation_of(values: NDArray[np.float64], axis: int | None = None) -> NDArray[np.float64]:
    """Return the standard deviation of what is not NaN; NaN where nothing is left."""
    centre = mean_of(values, axis)
    squares = (values - (centre if axis is None else np.expand_dims(centre, axis))) ** 2
    return np.sqrt(mean_of(squares, axis))
