"""Benchmarks without any structure, to compare the sensitivity and the diversity of real ones with.

Zhang and Hardt 2024, sections 5 and 6: `constant` repeats one task, `random` draws every score by itself; their figures
are means over 5 trials, of 100 systems on 100 tasks for the cardinal measures, and of 1,000 systems on 100 tasks for
the ordinal ones, where L is the first 10 of the random board. The scores are those of their released code, drawn by
numpy's legacy generator, seed by seed.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix

Kind = Literal["random", "constant"]

N_TRIALS = 5
CARDINAL_SHAPE = (100, 100)  # systems, tasks
ORDINAL_SHAPE = (1_000, 100)
ORDINAL_RANDOM_TOP = 10


def unstructured_benchmark(kind: Kind, n_systems: int, n_tasks: int, *, seed: int = 0) -> ScoreMatrix:
    """Return a benchmark without structure, scores between 0 and 100.

    Raises:
        ValueError: an unknown kind.
    """
    generator = np.random.RandomState(seed)
    if kind == "random":
        return ScoreMatrix(generator.random_sample((n_systems, n_tasks)) * 100)
    if kind == "constant":
        return ScoreMatrix(np.repeat(generator.random_sample((n_systems, 1)) * 100, n_tasks, axis=1))
    raise ValueError(f"`kind` is {kind!r}; expected 'random' or 'constant'")
