"""Clusters of tasks: what is drawn, flipped and counted as one where figures need tasks that are independent."""

from __future__ import annotations

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.text.names import fold_name, name_order_key


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
