"""Random benchmarks for tests, timings and studies."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ranking_engine.core.score_matrix import ScoreMatrix
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
    if kind == "uniform":
        values = generator.random((n_systems, n_tasks))
    elif kind == "skill":
        values = generator.normal(size=(n_systems, 1)) + noise * generator.gumbel(size=(n_systems, n_tasks))
    else:
        raise ValueError(f"`kind` is {kind!r}; expected 'skill' or 'uniform'")
    if n_levels is not None:
        low, high = values.min(), values.max()
        share = (values - low) / (high - low or 1.0)
        values = np.minimum(np.floor(share * n_levels), n_levels - 1)
    gone = generator.permutation(values.size)[: round(missing * values.size)]
    values.flat[gone] = np.nan
    return ScoreMatrix(values, weights=weights)
