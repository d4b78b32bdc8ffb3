"""The definitions, word by word and in exact fractions: what the engine's fast paths are tested against.

Tables are dicts from (system, task) to a Fraction, without the missing cells.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from ranking_engine import ScoreMatrix


def voting_tasks(matrix: ScoreMatrix) -> list[int]:
    return [t for t in range(matrix.n_tasks) if matrix.weights[t] > 0 and matrix.directions[t] != 0]


def oriented(matrix: ScoreMatrix) -> dict:
    return {
        (i, t): Fraction(float(matrix.values[i, t])) * int(matrix.directions[t])
        for i in range(matrix.n_systems)
        for t in voting_tasks(matrix)
        if not np.isnan(matrix.values[i, t])
    }


def scored_systems(matrix: ScoreMatrix) -> list[int]:
    return sorted({i for i, _ in oriented(matrix)})


def median(numbers):
    numbers = sorted(numbers)
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def completed(matrix: ScoreMatrix, policy: str):
    """Return (systems, tasks, table) without gaps, or None."""
    table, systems, tasks = oriented(matrix), scored_systems(matrix), voting_tasks(matrix)
    if all((i, t) in table for i in systems for t in tasks) and systems:
        return systems, tasks, table
    if policy == "undefined":
        return None
    if policy == "drop_systems":
        systems = [i for i in systems if all((i, t) in table for t in tasks)]
    elif policy == "drop_tasks":
        tasks = [t for t in tasks if all((i, t) in table for i in systems)]
    else:
        tasks = [t for t in tasks if any((i, t) in table for i in systems)]
        chosen = {"median": median, "worst": min}[policy]
        substitute = {t: chosen([table[i, t] for i in systems if (i, t) in table]) for t in tasks}
        table = {(i, t): table.get((i, t), substitute[t]) for i in systems for t in tasks}
    return (systems, tasks, table) if systems and tasks else None


def mean(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    total = sum(matrix.weights[t] for t in tasks)
    return {i: sum(matrix.weights[t] * table[i, t] for t in tasks) / total for i in systems}


def positional(matrix, entry, ties, policy="drop_systems"):
    """`entry(p, n)` is the scoring vector's entry at position p, from 1, of n."""
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    n = len(systems)

    def points(i, t):
        first = 1 + sum(table[j, t] > table[i, t] for j in systems)
        last = sum(table[j, t] >= table[i, t] for j in systems)
        if ties == "average":
            return sum(Fraction(entry(p, n)) for p in range(first, last + 1)) / (last - first + 1)
        return entry(first if ties == "best" else last, n)

    return {i: sum(matrix.weights[t] * points(i, t) for t in tasks) for i in systems}


def plurality(matrix, ties="worst", policy="drop_systems"):
    return positional(matrix, lambda p, n: int(p == 1), ties, policy)


def borda(matrix, ties="worst", policy="drop_systems"):
    return positional(matrix, lambda p, n: n - p, ties, policy)


def wins(matrix) -> dict:
    table = oriented(matrix)
    return {
        (i, j): sum(
            (matrix.weights[t] for t in voting_tasks(matrix)
             if (i, t) in table and (j, t) in table and table[i, t] > table[j, t]),
            Fraction(0),
        )
        for i in range(matrix.n_systems)
        for j in range(matrix.n_systems)
    }  # fmt: skip


def beats(matrix) -> dict:
    won = wins(matrix)
    return {(i, j): won[i, j] > won[j, i] for i, j in won}


def copeland(matrix, variant="difference"):
    systems, better = scored_systems(matrix), beats(matrix)

    def score(i):
        won = sum(better[i, j] for j in systems)
        lost = sum(better[j, i] for j in systems)
        if variant == "lower_with_ties":
            return won + Fraction(len(systems) - 1 - won - lost, 2)
        return {"difference": won - lost, "lower": won, "upper": -lost}[variant]

    return {i: score(i) for i in systems}


def minimax(matrix, variant="winning_votes"):
    systems, won = scored_systems(matrix), wins(matrix)

    def defeat(i, j):
        if variant == "margins":
            return won[j, i] - won[i, j]
        return won[j, i] if variant == "pairwise_opposition" or won[j, i] > won[i, j] else 0

    return {i: -max((defeat(i, j) for j in systems if j != i), default=0) for i in systems}


def condorcet_winner(matrix):
    systems, better = scored_systems(matrix), beats(matrix)
    return next((i for i in systems if all(better[i, j] for j in systems if j != i)), None)


def condorcet_loser(matrix):
    systems, better = scored_systems(matrix), beats(matrix)
    if len(systems) < 2:
        return None
    return next((i for i in systems if all(better[j, i] for j in systems if j != i)), None)


def weak_condorcet_winners(matrix):
    systems, better = scored_systems(matrix), beats(matrix)
    return tuple(i for i in systems if not any(better[j, i] for j in systems))


def smith_set(matrix):
    systems, better = scored_systems(matrix), beats(matrix)
    for size in range(1, len(systems) + 1):
        for inside in itertools.combinations(systems, size):
            if all(better[i, j] for i in inside for j in systems if j not in inside):
                return inside
    return ()


def pairs_without_common_task(matrix):
    table = oriented(matrix)
    return sum(
        not any((i, t) in table and (j, t) in table for t in voting_tasks(matrix))
        for i, j in itertools.combinations(scored_systems(matrix), 2)
    )


def ranks(scores, n):
    """1, 2, 2, 4 from exact scores; -1 for systems without one."""
    return [1 + sum(other > scores[i] for other in scores.values()) if i in scores else -1 for i in range(n)]


def assert_ranks(ranking, expected: dict | None, n: int) -> None:
    """Compare a whole ranking with exact scores by system; None means undefined."""
    if expected is None:
        assert ranking.status == "undefined"
        assert ranking.reason
        expected = {}
    else:
        assert ranking.status == "ranked"
    assert ranking.ranks.tolist() == ranks(expected, n)
    np.testing.assert_allclose(
        ranking.scores,
        [float(expected[i]) if i in expected else np.nan for i in range(n)],
        rtol=1e-12,
        atol=1e-12,
    )
    assert set(ranking.unranked_reasons) == set(range(n)) - set(expected)
    assert all(ranking.unranked_reasons.values())
