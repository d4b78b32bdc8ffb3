"""Which tasks order the systems alike: a tree of the tasks, a map of them, and how many tasks they are worth.

The tree is average linkage (Sokal and Michener 1958), the map classical scaling (Torgerson 1952), both of the distance
(1 - tau-b) / 2 of every two tasks. The effective number is the participation ratio of the eigenvalues of the matrix of
Spearman's correlations, (sum of eigenvalues)^2 / sum of their squares = T^2 / sum of rho^2 (Bretherton et al. 1999).
It counts what tasks share because some systems are better at everything; `stability.separability.task_dependence` takes
that out, and says how far tests may take tasks as independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ranking_engine.core.comparison import compare_ranks, task_ranks
from ranking_engine.core.scaling import ScaledPlane, classical_scaling, known_part
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix

MIN_TASKS = 3
CLUSTER_TAU = 0.7  # on average, from which tasks are called similar
MAX_TASKS = 150  # of a tree that can be read; every two tasks are compared on every two systems


@dataclass(frozen=True)
class Merge:
    """Two branches of the tree that become one.

    Attributes:
        first, second: numbers of branches: k < n is the task `tasks[k]`, n + k the k-th merge.
        distance: the average of (1 - tau-b) / 2 over the pairs of a task of the one and a task of the other.
        size: how many tasks the new branch has.
    """

    first: int
    second: int
    distance: float
    size: int


@dataclass(frozen=True, eq=False)
class TaskLikeness:
    """How alike the voting tasks of a matrix order its systems.

    Attributes:
        reason: why there is nothing to say; empty where there is.
        tasks: by index in the matrix, in its order.
        left_out: voting tasks whose correlation with another one is undefined, by index.
        kendall_tau, spearman: of every two of `tasks`, on their common systems; 1 on the diagonal.
        merges: of the tree, the nearest first; one less than tasks.
        order: places in `tasks` from one end of the tree to the other, so that no branches cross.
        plane: a place for each of `tasks`.
        effective_number: between 1 and the number of tasks.
        independent_number: about what it would be if the tasks had nothing in common, with so few systems.
    """

    reason: str
    tasks: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    kendall_tau: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    spearman: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    merges: tuple[Merge, ...] = ()
    order: tuple[int, ...] = ()
    plane: ScaledPlane | None = None
    effective_number: float = np.nan
    independent_number: float = np.nan

    def clusters(self, least_tau: float) -> list[tuple[int, ...]]:
        """Return the branches whose tasks have a tau-b of `least_tau` on average, as indices in the matrix.

        In the order of their first task; tasks that join no other are clusters by themselves.
        """
        branches: dict[int, tuple[int, ...]] = {k: (task,) for k, task in enumerate(self.tasks)}
        for k, merge in enumerate(self.merges):
            if merge.distance > (1 - least_tau) / 2 + 1e-12:
                break  # merges come by distance
            branches[len(self.tasks) + k] = tuple(sorted(branches.pop(merge.first) + branches.pop(merge.second)))
        return sorted(branches.values())


def task_likeness(matrix: ScoreMatrix) -> TaskLikeness:
    """Return how alike the voting tasks order the systems.

    Two tasks are compared on the systems with a score on both; ties count as tau-b and Spearman's correlation of
    average ranks have them. Weights do not matter, except whether a task votes. While a correlation is undefined, the
    task with the most of them is left out, the last of several.

    O(n_tasks^2 n_systems^2) comparisons, as one matrix product.
    """
    voting = np.flatnonzero(matrix.votes)
    if not MIN_TASKS <= len(voting) <= MAX_TASKS:
        return TaskLikeness(
            f"only {MIN_TASKS} to {MAX_TASKS} tasks of weight above 0 are compared, and there are {len(voting)}"
        )
    compared = compare_ranks(task_ranks(matrix))
    tau, spearman = compared.kendall_tau, compared.spearman
    for table in (tau, spearman):
        np.fill_diagonal(table, 1.0)
    kept = known_part(tau + spearman)
    left_out = tuple(int(voting[k]) for k in range(len(voting)) if k not in set(kept))
    if len(kept) < MIN_TASKS:
        return TaskLikeness(f"fewer than {MIN_TASKS} tasks have a correlation with each other", left_out=left_out)
    tau, spearman = tau[np.ix_(kept, kept)], spearman[np.ix_(kept, kept)]
    distances = np.clip((2 - tau - tau.T) / 4, 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    from scipy.cluster.hierarchy import leaves_list, linkage  # noqa: PLC0415 -- slow import
    from scipy.spatial.distance import squareform  # noqa: PLC0415 -- slow import

    tree = linkage(squareform(distances, checks=False), "average")
    return TaskLikeness(
        "",
        tuple(int(voting[k]) for k in kept),
        left_out,
        tau,
        spearman,
        tuple(Merge(int(a), int(b), float(distance), int(size)) for a, b, distance, size in tree),
        tuple(leaves_list(tree).tolist()),
        classical_scaling(distances),
        effective_number(spearman),
        independent_number(np.isfinite(matrix.scores[:, voting[kept]])),
    )


def independent_number(has_score: BoolArray) -> float:
    """Return about what the effective number of independent tasks is: T^2 / (T + sum over pairs of 1 / (n - 1)).

    n is the number of systems that two tasks have in common: the mean of the squared correlation of independent orders
    of n is 1 / (n - 1).

    Args:
        has_score: shape (n_systems, n_tasks).
    """
    T = has_score.shape[1]
    common = has_score.astype(np.float64).T @ has_score
    np.fill_diagonal(common, 2.0)  # the square of a task's correlation with itself is 1
    return float(T * T / (1 / np.maximum(common - 1, 1.0)).sum())


def effective_number(correlations: FloatArray) -> float:
    """Return the participation ratio of the eigenvalues of a correlation matrix, T^2 / sum of its squared entries."""
    T = len(correlations)
    return float(np.clip(T * T / (correlations**2).sum(), 1.0, T))
