"""Boards drawn from populations whose true ranks are known.

A score is the ability of its system plus noise of its task. The noise of all systems has the same distribution and is
drawn anew for every task, so that a system's true rank is that of its ability under the mean, Borda and Copeland alike.
Abilities have a standard deviation of 1, the noise one of 2: ten such tasks give a ranking that is right in its main
lines and wrong in many neighbours, as boards of benchmarks are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.core.score_matrix import FloatArray

FAMILY_SHARE = 0.8  # of the variance of a task's noise that the tasks of a family have in common

Spacing = Literal["normal", "even", "none"]
Noise = Literal["normal", "skewed", "tied", "one skewed"]


@dataclass(frozen=True)
class Population:
    """Where boards come from.

    Attributes:
        n_systems, n_tasks: of a board.
        spacing: abilities are drawn from a normal distribution, or lie at even distances, or are all the same.
        noise: `skewed`: exponential; `tied`: whole numbers; `one skewed`: the first system's is lognormal, that
            of the others normal.
        noise_sd: its standard deviation.
        family: so many tasks in a row share most of their noise; 1 if all tasks are independent.
        is_declared: whether the board states its families as clusters.
    """

    n_systems: int
    n_tasks: int
    spacing: Spacing = "normal"
    noise: Noise = "normal"
    noise_sd: float = 2.0
    family: int = 1
    is_declared: bool = True

    @property
    def n_clusters(self) -> int:
        """How many independent clusters the board knows of."""
        return self.n_tasks // self.family if self.is_declared else self.n_tasks


def draw_board(population: Population, random: np.random.Generator) -> tuple[ScoreMatrix, FloatArray]:
    """Draw the scores of a board; return them with the abilities of its systems."""
    n, n_tasks, family = population.n_systems, population.n_tasks, population.family
    abilities = {
        "normal": lambda: random.normal(size=n),
        "even": lambda: np.linspace(np.sqrt(3), -np.sqrt(3), n),
        "none": lambda: np.zeros(n),
    }[population.spacing]()
    noise = _noise(population, (n, n_tasks), random)
    if family > 1:
        of_family = np.repeat(_noise(population, (n, n_tasks // family), random), family, axis=1)
        noise = np.sqrt(FAMILY_SHARE) * of_family + np.sqrt(1 - FAMILY_SHARE) * noise
    clusters = [f"family {t // family}" for t in range(n_tasks)] if family > 1 and population.is_declared else None
    return ScoreMatrix(abilities[:, None] + population.noise_sd * noise, clusters=clusters), abilities


def _noise(population: Population, shape: tuple[int, int], random: np.random.Generator) -> FloatArray:
    if population.noise == "skewed":
        return random.exponential(size=shape) - 1
    noise = random.normal(size=shape)
    if population.noise == "tied":
        return np.round(noise)
    if population.noise == "one skewed":
        lognormal = random.lognormal(size=shape[1])
        noise[0] = (lognormal - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    return noise
