"""What the released notebooks of Colombo et al. 2022 compute, so that the causes of differences can be named.

It departs from what the paper describes in these points:

- `argsort(argsort(scores))` gives tied systems different places. With NumPy's default sort, which is not stable, the
  places of more than 16 tied systems depend on NumPy's version and on the processor; `unstable_order` is the
  algorithm of NumPy 1 without its processor-specific branches.
- The distance of `utils.py` takes lists of systems and is given lists of places. What it counts is the
  distance between the inverse permutations.
- `analyse_agreements` passes lists of systems, worst first, to Kendall's tau. What it correlates is the systems'
  numbers, that is their names, place by place.
- The columns `System` and `Utterance` of the instance files have each other's content, so that documents are ranked.

Places count from 0, the worst.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ranking_engine import ScoreMatrix
from ranking_engine.core.instances import Aggregation
from ranking_engine.core.score_matrix import FloatArray
from ranking_engine.stability.agreement import kendall
from reproduction.boards import files_of

Places = NDArray[np.int64]
PAIRS: tuple[tuple[Aggregation, Aggregation], ...] = (
    ("mean", "two_level"),
    ("one_level", "two_level"),
    ("mean", "one_level"),
)

_FEW = 16  # up to which NumPy sorts by insertion


def unstable_order(values: Sequence[float] | FloatArray) -> Places:
    """Return what `np.argsort` of NumPy 1 returns: a quicksort by the median of three, insertion sort for few."""
    keys = list(values)
    order = list(range(len(keys)))
    waiting = [(0, len(keys) - 1)]
    while waiting:
        first, last = waiting.pop()
        while last - first > _FEW:
            middle = _split(keys, order, first, last)
            if middle - first < last - middle:
                waiting.append((middle + 1, last))
                last = middle - 1
            else:
                waiting.append((first, middle - 1))
                first = middle + 1
        _insert(keys, order, first, last)
    return np.array(order, dtype=np.int64)


def _split(keys: list[float], order: list[int], first: int, last: int) -> int:
    """Bring the median of three to its place, smaller ones before it, and return that place."""
    middle = first + (last - first) // 2
    for low, high in ((first, middle), (middle, last), (first, middle)):
        if keys[order[high]] < keys[order[low]]:
            order[low], order[high] = order[high], order[low]
    pivot = keys[order[middle]]
    left, right = first, last - 1
    order[middle], order[right] = order[right], order[middle]
    while True:
        left += 1
        while keys[order[left]] < pivot:
            left += 1
        right -= 1
        while pivot < keys[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
    order[left], order[last - 1] = order[last - 1], order[left]
    return left


def _insert(keys: list[float], order: list[int], first: int, last: int) -> None:
    for i in range(first + 1, last + 1):
        moved, j = order[i], i
        while j > first and keys[moved] < keys[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved


def places(values: Sequence[float] | FloatArray) -> Places:
    """Return `argsort(argsort(values))` as their code has it."""
    return unstable_order(unstable_order(values).astype(float))


def task_places(matrix: ScoreMatrix) -> Places:
    """Return the places that each task gives, shape (n_tasks, n_systems)."""
    return np.array([places(column) for column in matrix.values.T])


def points(matrix: ScoreMatrix) -> Places:
    """Return the points of Borda's count, ties within a task broken by the sort."""
    return np.asarray(task_places(matrix).sum(axis=0))


def borda_places(matrix: ScoreMatrix) -> Places:
    """Return the places by Borda's count."""
    return places(points(matrix).astype(float))


def mean_places(matrix: ScoreMatrix) -> Places:
    """Return the places by the mean, rounded, so that means of the same decimals are equal."""
    return places(np.round(matrix.values.mean(axis=1), 9))


def sorted_by_mean(matrix: ScoreMatrix) -> ScoreMatrix:
    """Return the board with its rows from the best mean down, as the notebook has it before it lists Borda's order."""
    return matrix.subset(best_first(mean_places(matrix)))


def best_first(of: Places) -> list[int]:
    """Return the systems from the best place down."""
    return [int(i) for i in np.argsort(of)[::-1]]


def distance_of_inverses(first: Places, second: Places) -> float:
    """Return what their distance counts, which is given places and takes them for lists of systems."""
    n = len(first)
    share = kendall(np.argsort(first).astype(float), np.argsort(second).astype(float)[None])[1].item()
    return float(share * n * (n - 1) / 2)


def mean_distance(matrix: ScoreMatrix, of: Places, *, is_of_inverses: bool) -> float:
    """Return the mean distance of the tasks' places to `of`: as printed in table 8, or the true one."""
    pairs = [(of, row) if is_of_inverses else (np.argsort(of), np.argsort(row)) for row in task_places(matrix)]
    return float(np.mean([distance_of_inverses(a, b) for a, b in pairs]))


def tau(first: Places, second: Places) -> float:
    """Return Kendall's tau of two lists of places."""
    return float(kendall(first.astype(float), second.astype(float)[None])[0].item())


def tau_of_names(first: Places, second: Places) -> float:
    """Return the correlation of two lists of systems, place by place, which is what table 4 has."""
    return tau(np.argsort(first), np.argsort(second))


@cache
def instance_places(name: str) -> dict[str, Places]:
    """Return the places of the documents of a file, its labels as released, by mean, on one level and on two."""
    blocks = document_scores(name)
    on_tasks = [np.sum([places(column) for column in block.T], axis=0).astype(float) for block in blocks]
    return {
        "mean": places(np.mean([block.mean(axis=1) for block in blocks], axis=0)),
        "one_level": places(np.sum(on_tasks, axis=0)),
        "two_level": places(np.sum([places(total) for total in on_tasks], axis=0).astype(float)),
    }


def document_scores(name: str) -> list[FloatArray]:
    """Return for each task the scores of a file's documents by its systems, unrounded, since ties depend on it."""
    with files_of(f"instance/{name}")[0].open(encoding="utf-8", newline="") as text:
        _, *lines = csv.reader(text)
    documents, systems = ({key: i for i, key in enumerate(dict.fromkeys(line[k] for line in lines))} for k in (0, 1))
    scores = np.full((len(lines[0]) - 2, len(documents), len(systems)), np.nan)
    for document, system, *values in lines:
        scores[:, documents[document], systems[system]] = [float(value) for value in values]
    return list(scores)


def n_elected(name: str) -> int:
    """Return how many documents the three aggregations put first, the labels as released."""
    return len({best_first(of)[0] for of in instance_places(name).values()})


def first_sets(name: str, k: int) -> list[frozenset[int]]:
    """Return the first k documents by each of the three aggregations."""
    return [frozenset(best_first(of)[:k]) for of in instance_places(name).values()]
