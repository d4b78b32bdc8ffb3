"""Random benchmarks for tests, timings and studies."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.core.weights import WeightLike

Kind = Literal["skill", "uniform"]


def random_matrix(
    n_systems: int,
    n_tasks: int,
    *,
    seed: int,
    kind: Kind = "skill",
    noise: float = 1.0,
    missing: float = 0.0,
    n_levels: int | None = None,
    weights: list[WeightLike] | None = None,
) -> ScoreMatrix:
    """Return a random benchmark.

    Args:
        n_systems, n_tasks: its size.
        seed: the same seed gives the same matrix.
        kind: `skill`: each system has a normal skill, and each score adds Gumbel noise to it, so that every
            task is a Plackett-Luce order; `uniform`: no system is better than another.
        noise: the scale of the Gumbel noise; 0 makes all tasks agree.
        missing: the share of scores deleted at random.
        n_levels: round the scores to so many distinct values, which makes ties; None for none.
        weights: of the tasks; default equal.
    """
    if not 0 <= missing < 1:
        raise ValueError(f"`missing` is {missing}; expected a share from 0 to below 1")
    generator = np.random.default_rng(seed)
    values = _scores(generator, n_systems, n_tasks, kind, noise)
    if n_levels is not None:
        values = _rounded(values, n_levels)
    gone = generator.permutation(values.size)[: round(missing * values.size)]
    values.flat[gone] = np.nan
    return ScoreMatrix(values, weights=weights)


def _scores(generator: np.random.Generator, n: int, T: int, kind: Kind, noise: float) -> FloatArray:
    if kind == "uniform":
        return generator.random((n, T))
    if kind == "skill":
        return generator.normal(size=(n, 1)) + noise * generator.gumbel(size=(n, T))
    raise ValueError(f"`kind` is {kind!r}; expected 'skill' or 'uniform'")


def _rounded(values: FloatArray, n_levels: int) -> FloatArray:
    low, high = values.min(), values.max()
    share = (values - low) / (high - low or 1.0)
    levels: NDArray[np.float64] = np.minimum(np.floor(share * n_levels), n_levels - 1)
    return levels
