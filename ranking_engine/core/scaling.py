"""A plane on which near things are alike: classical multidimensional scaling of a table of distances.

Torgerson 1952, Multidimensional scaling: theory and method, Psychometrika 17. Pavao's program RANKY draws such maps of
judges and of ways to rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ranking_engine.core.comparison import compare_ranks, task_ranks
from ranking_engine.core.ranking import Ranking, average_ranks
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix

MAX_MAPPED = 150  # rules and tasks: every two of them are compared on every two systems
TINY = 1e-9  # of the greatest eigenvalue: no axis


@dataclass(frozen=True)
class ScaledPlane:
    """Things on a plane.

    Attributes:
        points: shape (n, 2), with their mean at 0; the first axis spreads them most. On each axis the point farthest
            from 0, the first of several, is on the positive side.
        share: the part of the positive eigenvalues that belongs to the two axes: 1 where the plane shows all that a
            space of more axes could. NaN where all distances are 0.
        stress: sqrt(sum (d - D)^2 / sum D^2) over pairs, D the distances and d those on the plane: 0 where the plane
            is exact (Kruskal 1964, stress 1). NaN where all distances are 0.
    """

    points: FloatArray
    share: float
    stress: float


def classical_scaling(distances: FloatArray) -> ScaledPlane:
    """Lay things out on a plane.

    With J = I - 11'/n and B = -J D^2 J / 2, the coordinates are the first two eigenvectors of B times the roots of
    their eigenvalues; negative eigenvalues count as 0. O(n^3).

    Args:
        distances: symmetric, 0 on the diagonal, shape (n, n).

    Raises:
        ValueError: `distances` is no such table.
    """
    D = np.asarray(distances, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or not np.isfinite(D).all() or (D < 0).any():
        raise ValueError("`distances` must be a square table of numbers that are 0 or more")
    if not np.allclose(D, D.T) or np.diagonal(D).any():
        raise ValueError("`distances` must be symmetric and 0 on the diagonal")
    n = len(D)
    points, upper = np.zeros((n, 2)), np.triu_indices(n, 1)
    if not D.any():
        return ScaledPlane(points, math.nan, math.nan)
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centring @ D**2 @ centring / 2)
    values = np.where(values > TINY * values.max(), values, 0.0)
    for axis, k in enumerate(np.argsort(-values, kind="stable")[:2]):
        column = vectors[:, k] * math.sqrt(values[k])
        size = np.abs(column)
        farthest = int(np.argmax(size >= size.max() * (1 - TINY)))
        points[:, axis] = column if column[farthest] >= 0 else -column
    on_plane = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    stress = math.sqrt(((on_plane - D)[upper] ** 2).sum() / (D[upper] ** 2).sum())
    return ScaledPlane(points, float(np.sort(values)[-2:].sum() / values.sum()), stress)


@dataclass(frozen=True)
class RankingMap:
    """Rules and tasks on a plane, by how they order the systems.

    Attributes:
        members: (kind, name) of each point: `rule` and its key, or `task` and its name.
        plane: their places.
        left_out: those whose correlation with another one is undefined.
    """

    members: list[tuple[str, str]]
    plane: ScaledPlane
    left_out: list[tuple[str, str]]


def ranking_map(ranks: Mapping[str, FloatArray], matrix: ScoreMatrix) -> RankingMap | None:
    """Lay rules and voting tasks out by (1 - tau-b) / 2 of every two: 0 the same order, 1/2 unrelated, 1 opposed.

    Two are compared on the systems that both rank. While a correlation is undefined, as with a ranking that ties all,
    the one with the most undefined ones is left out, tasks before rules, the last of several.

    Args:
        ranks: by rule, average ranks of the systems, NaN for those that it does not rank.
        matrix: with the tasks.

    Returns:
        The map; None where fewer than three are left.
    """
    names = [task for task, votes in zip(matrix.task_names, matrix.votes, strict=True) if votes]
    members = [*(("rule", rule) for rule in ranks), *(("task", name) for name in names)]
    rows = [np.asarray(row, dtype=np.float64) for row in ranks.values()]
    tau = compare_ranks(np.array([*rows, *task_ranks(matrix)]).reshape(-1, matrix.n_systems)).kendall_tau
    np.fill_diagonal(tau, 1.0)
    left_out: list[int] = []
    kept = known_part(tau, left_out)
    if len(kept) < 3:
        return None
    distances = np.clip((1 - tau[np.ix_(kept, kept)]) / 2, 0, 1)
    np.fill_diagonal(distances, 0.0)
    return RankingMap(
        [members[k] for k in kept], classical_scaling((distances + distances.T) / 2), [members[k] for k in left_out]
    )


def known_part(table: FloatArray, left_out: list[int] | None = None) -> list[int]:
    """Return rows of a symmetric table among which no entry is NaN.

    While one is, the row with the most of them leaves, the last of several.

    Args:
        table: shape (n, n).
        left_out: takes those that left, in this order.
    """
    kept = list(range(len(table)))
    while np.isnan(table[np.ix_(kept, kept)]).any():
        missing = np.isnan(table[np.ix_(kept, kept)]).sum(axis=1)
        worst = kept.pop(max(range(len(kept)), key=lambda place: (missing[place], kept[place])))
        if left_out is not None:
            left_out.append(worst)
    return kept


def map_of_rankings(rankings: Sequence[Ranking], matrix: ScoreMatrix) -> RankingMap | None:
    """Return the map of rankings of a matrix, those that rank, and of its tasks; None of more than MAX_MAPPED."""
    ranked = [ranking for ranking in rankings if ranking.status == "ranked"]
    if len(ranked) + int(matrix.votes.sum()) > MAX_MAPPED:
        return None
    return ranking_map({ranking.rule: average_ranks(ranking.ranks) for ranking in ranked}, matrix)
