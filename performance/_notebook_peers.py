"""What packages for notebooks compute, and ours of the same thing, for peers.py."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.separability.friedman import friedman


class NotebookCase(NamedTuple):
    """A case without its peer: as `Case` of peers.py has them; both results are arrays of numbers."""

    call: str
    data: str
    matrix: ScoreMatrix
    ours: Callable[[ScoreMatrix], Any]


def evalica_cases(glue: ScoreMatrix) -> Iterator[NotebookCase]:
    """Bradley-Terry strengths with ties as halves, and the share of comparisons won; a pair on a task is one."""
    for data, matrix in (("glue", glue), ("random 105x15", random_matrix(105, 15, seed=1, kind="uniform"))):
        yield NotebookCase("bradley_terry", data, matrix, strengths)
        yield NotebookCase("bradley_terry to 1e-14", data, matrix, strengths)
        yield NotebookCase("average_win_rate", data, matrix, lambda built: rank(built, "win_rate").scores)


def choix_cases(glue: ScoreMatrix) -> Iterator[NotebookCase]:
    """Bradley-Terry strengths without ties, by its two exact solvers; Plackett-Luce by one."""
    matrix = random_matrix(87, 40, seed=3, kind="uniform")
    for call in ("ilsr_pairwise", "opt_pairwise"):
        yield NotebookCase(call, "random 87x40", matrix, strengths)
    for call in ("ilsr_rankings", "ilsr_rankings to 1e-12"):
        yield NotebookCase(call, "random 87x40", matrix, lambda built: rank(built, "plackett_luce").scores)


def posthocs_cases(glue: ScoreMatrix) -> Iterator[NotebookCase]:
    """Which pairs differ at 5 % by Nemenyi's test after Friedman's."""
    yield NotebookCase("posthoc_nemenyi_friedman", "random 20x60", random_matrix(20, 60, seed=2), differing)
    yield NotebookCase("posthoc_nemenyi_friedman", "random 20x400", random_matrix(20, 400, seed=2), differing)


def autorank_cases(glue: ScoreMatrix) -> Iterator[NotebookCase]:
    """Average ranks and the critical difference of Friedman's test with Nemenyi's."""
    yield NotebookCase("autorank", "random 20x60", random_matrix(20, 60, seed=2), critical_difference)
    yield NotebookCase("autorank", "random 20x400", random_matrix(20, 400, seed=2), critical_difference)


def strengths(matrix: ScoreMatrix) -> np.ndarray:
    """The logarithms of strengths, with mean 0."""
    return rank(matrix, "bradley_terry").scores


def critical_difference(matrix: ScoreMatrix) -> np.ndarray:
    """The average ranks in the order of the systems, then the critical difference."""
    result = friedman(matrix)
    ranks = dict(zip(result.systems, result.average_ranks.tolist(), strict=True))
    return np.array([*(ranks[name] for name in matrix.system_names), result.critical_difference])


def differing(matrix: ScoreMatrix) -> np.ndarray:
    """Whether the average ranks of two systems are further apart than the critical difference, n x n, flat."""
    *ranks, critical = critical_difference(matrix)
    return (np.abs(np.subtract.outer(ranks, ranks)) > critical).astype(float).ravel()


NOTEBOOK_CASES: dict[str, Callable[[ScoreMatrix], Iterator[NotebookCase]]] = {
    "evalica": evalica_cases,
    "choix": choix_cases,
    "scikit-posthocs": posthocs_cases,
    "autorank": autorank_cases,
}
