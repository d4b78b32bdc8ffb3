"""The catalogue of studies: what each asks, what it needs, how it is cut into chunks and put together again.

A study is run chunk by chunk, by any number of workers in any order; `merge` takes the partial results in chunk order.
The outcome is the same bit for bit however the chunks were shared out, because the chunks do not depend on the number
of workers and every trial draws from a generator of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking_engine.score_matrix import ScoreMatrix

Parameters = Mapping[str, Any]
Progress = Callable[[int, int], None]  # called with (steps done, steps in all)
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class StudyResult:
    """What a study found.

    Attributes:
        summary: numbers and reasons as JSON, at most 64 kB; keyed by rule where they are per rule.
        arrays: the whole distribution.
    """

    summary: dict[str, Any]
    arrays: Arrays


@dataclass(frozen=True)
class Study:
    """One study.

    Attributes:
        key: how the command line, the API and reports call it.
        name: how pages call it.
        question: what it answers, in one sentence.
        source: the paper and section it comes from.
        parameters: the parameters by default, as JSON.
        n_chunks: (matrix, parameters) -> how many chunks; 1 where the study cannot be cut.
        estimate: (matrix, parameters) -> seconds on one core.
        run_chunk: (matrix, parameters, seed, chunk, progress) -> partial result.
        merge: (matrix, parameters, seed, partial results in chunk order) -> result.
        why_not: (matrix, parameters) -> why the study says nothing about this matrix; empty where it does.
        steps: the parameter that counts the work, which a budget in seconds is turned into; empty where none does.
    """

    key: str
    name: str
    question: str
    source: str
    parameters: Parameters
    n_chunks: Callable[[ScoreMatrix, Parameters], int]
    estimate: Callable[[ScoreMatrix, Parameters], float]
    run_chunk: Callable[[ScoreMatrix, Parameters, int, int, Progress | None], Arrays]
    merge: Callable[[ScoreMatrix, Parameters, int, Sequence[Arrays]], StudyResult]
    why_not: Callable[[ScoreMatrix, Parameters], str] = lambda matrix, parameters: ""
    steps: str = ""


STUDIES: Mapping[str, Study] = {}


def run_study(
    key: str,
    matrix: ScoreMatrix,
    parameters: Parameters | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyResult:
    """Run all chunks of a study in this process and put them together.

    Args:
        key: which study.
        matrix: the scores.
        parameters: in place of the study's own; what they do not name has its default.
        seed: of the random draws.
        progress: called with (chunks done, chunks in all) after every chunk.

    Raises:
        KeyError: there is no such study.
        ValueError: the study says nothing about this matrix; the message says why.
    """
    study = STUDIES[key]
    chosen = {**study.parameters, **(parameters or {})}
    if reason := study.why_not(matrix, chosen):
        raise ValueError(reason)
    n_chunks = study.n_chunks(matrix, chosen)
    partials = []
    for chunk in range(n_chunks):
        partials.append(study.run_chunk(matrix, chosen, seed, chunk, None))
        if progress is not None:
            progress(chunk + 1, n_chunks)
    return study.merge(matrix, chosen, seed, partials)
