"""Clusters: what is drawn, flipped and counted as one where figures need parts that are independent.

Clusters of tasks, and for all clusters how many they count as and what each adds to the error of a mean.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.text.names import fold_name, name_order_key

LEAST_CLUSTERS = 10  # by their `effective_number`: below, an error says little of how far a figure would move


def clusters_of(matrix: ScoreMatrix) -> dict[str, int]:
    """Number the clusters of voting tasks: those that are stated; else a group is one; else a task by itself.

    Keys are `cluster <name>`, `group <name>` and `task <name>`: a cluster that is called as a group is another one.
    They are numbered in sorted order of keys, so that the order of the tasks does not matter; tasks and groups in that
    of `name_order_key`, so that it does not matter either whether they have the names or the keys of a site.
    """
    keys = {cluster_key(matrix, t) for t in range(matrix.n_tasks) if matrix.votes[t]}
    return {key: number for number, key in enumerate(sorted(keys, key=_place_of_key))}


def _place_of_key(key: str) -> tuple[str, tuple[str, str]]:
    kind, _, name = key.partition(" ")
    return kind, (name, "") if kind == "cluster" else name_order_key(name)


def cluster_key(matrix: ScoreMatrix, t: int) -> str:
    """Return the key of the cluster of task `t` in `clusters_of`; names that differ in case alone are the same."""
    cluster, group = matrix.clusters[t], matrix.groups[t]
    if cluster is not None:
        return f"cluster {fold_name(cluster)}"
    return f"task {matrix.task_names[t]}" if group is None else f"group {group}"


def effective_number(sizes: ArrayLike) -> float:
    """Return how many clusters, or instances, of equal size tell as much as those of these sizes: (Σ s)² / Σ s².

    Kish 1965, Survey Sampling, for weights; Carter, Schnepel and Steigerwald 2017 for clusters, doi
    10.1162/REST_a_00639, whose number also takes in how much figures differ between clusters.

    Args:
        sizes: their weights in the figure, 0 or more.

    Returns:
        0 where all of them are 0.
    """
    shares = np.asarray(sizes, dtype=np.float64)
    largest = float(shares.max(initial=0.0))
    if largest <= 0:
        return 0.0
    shares = shares / largest  # so that no square is too small for a float
    return float(shares.sum() ** 2 / (shares @ shares))


def is_enough(effective: float) -> bool:
    """Return whether an effective number of clusters is `LEAST_CLUSTERS` or more as a whole number.

    So ten clusters have an error although one of them has an instance more than the others.
    """
    return round(effective, 9) >= LEAST_CLUSTERS - 0.5


def are_enough(sizes: ArrayLike) -> bool:
    """Return whether clusters of these sizes count as `LEAST_CLUSTERS` or more, as a whole number."""
    return is_enough(effective_number(sizes))


def error_parts(residuals: ArrayLike, sizes: ArrayLike) -> FloatArray:
    """Return what each cluster adds to the standard error of a mean: the squares of these sum up to its variance.

    The jackknife over G clusters (CV3J in MacKinnon, Nielsen and Webb 2022, arXiv 2205.03288): how far the mean moves
    without the cluster, less the average of these, times √((G - 1) / G). Of equal clusters this is the sandwich times
    G / (G - 1). Of unequal ones that is too small, because a large cluster draws the mean towards itself.

    Args:
        residuals: of each cluster the sum of the weighted differences from the mean, shape (G,), or (m, G) for m means.
        sizes: of each cluster the sum of the weights, shape (G,); 0 for one that is not there.

    Returns:
        In the shape of the residuals; NaN for all of them if they are not enough.
    """
    moved, of_clusters = np.asarray(residuals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if not are_enough(of_clusters):
        return np.full(moved.shape, np.nan)
    is_there = of_clusters > 0
    n_clusters = int(is_there.sum())
    parts = np.zeros(moved.shape)
    moves = moved[..., is_there] / (of_clusters.sum() - of_clusters[is_there])
    parts[..., is_there] = moves - moves.mean(axis=-1, keepdims=True)
    return np.asarray(parts * math.sqrt((n_clusters - 1) / n_clusters))
