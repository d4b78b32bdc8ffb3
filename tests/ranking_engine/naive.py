"""The definitions, word by word and in exact fractions: what the engine's fast paths are tested against.

Tables are dicts from (system, task) to a Fraction, without the missing cells.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from ranking_engine import ScoreMatrix
from tests.ranking_engine import naive_predictions


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
    if policy == "predicted":
        predicted = naive_predictions.filled_in(matrix)
        if predicted is None:
            return None
        table = table | {cell: Fraction(score) for cell, score in predicted.items()}
    if policy in ("drop_systems", "predicted"):
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


def weighted_median(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    half = sum(matrix.weights[t] for t in tasks) / 2

    def middle(i):
        def weight_up_to(x):
            return sum(matrix.weights[t] for t in tasks if table[i, t] <= x)

        values = [table[i, t] for t in tasks]
        lower = min(x for x in values if weight_up_to(x) >= half)
        upper = min(x for x in values if weight_up_to(x) > half)
        return (lower + upper) / 2

    return {i: middle(i) for i in systems}


def geometric_mean(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    positive = [i for i in systems if all(table[i, t] > 0 for t in tasks)]
    if not positive or any(matrix.directions[t] < 0 for t in tasks):
        return None
    total = sum(matrix.weights[t] for t in tasks)
    return {i: math.prod(float(table[i, t]) ** float(matrix.weights[t] / total) for t in tasks) for i in positive}


def harmonic_mean(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    positive = [i for i in systems if all(table[i, t] > 0 for t in tasks)]
    if not positive or any(matrix.directions[t] < 0 for t in tasks):
        return None
    total = sum(matrix.weights[t] for t in tasks)
    return {i: float(total / sum(matrix.weights[t] / table[i, t] for t in tasks)) for i in positive}


def worst_task(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    return {i: min(table[i, t] for t in tasks) for i in systems}


def optimality_gap(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None or matrix.gamma is None or any(matrix.directions[t] < 0 for t in part[1]):
        return None
    systems, tasks, table = part
    gamma, total = Fraction(matrix.gamma), sum(matrix.weights[t] for t in tasks)
    return {i: -sum(matrix.weights[t] * (gamma - min(table[i, t], gamma)) for t in tasks) / total for i in systems}


def normalized_mean(matrix, policy="drop_systems"):
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    best = {t: matrix.maximum[t] if matrix.directions[t] > 0 else matrix.minimum[t] for t in tasks}
    if any(np.isnan([best[t], matrix.chance[t]]).any() for t in tasks):
        return None
    if any((best[t] - matrix.chance[t]) * matrix.directions[t] <= 0 for t in tasks):
        return None
    total = sum(matrix.weights[t] for t in tasks)

    def share(i, t):
        chance = Fraction(matrix.chance[t])
        return (table[i, t] * int(matrix.directions[t]) - chance) / (Fraction(best[t]) - chance)

    return {i: sum(matrix.weights[t] * share(i, t) for t in tasks) / total for i in systems}


def points(table, systems, i, t, entry, ties):
    """What task t gives i among `systems`; `entry(p, n)` is the scoring vector's entry at position p of n."""
    n = len(systems)
    first = 1 + sum(table[j, t] > table[i, t] for j in systems)
    last = sum(table[j, t] >= table[i, t] for j in systems)
    if ties == "average":
        return sum(Fraction(entry(p, n)) for p in range(first, last + 1)) / (last - first + 1)
    return Fraction(entry(first if ties == "best" else last, n))


def positional(matrix, entry, ties, policy="drop_systems"):
    """`entry(p, n)` is the scoring vector's entry at position p, from 1, of n."""
    part = completed(matrix, policy)
    if part is None:
        return None
    systems, tasks, table = part
    return {i: sum(matrix.weights[t] * points(table, systems, i, t, entry, ties) for t in tasks) for i in systems}


def dowdall(matrix, ties="best", policy="drop_systems"):
    return positional(matrix, lambda p, n: Fraction(1, p), ties, policy)


def veto(matrix, ties="worst", policy="drop_systems"):
    return positional(matrix, lambda p, n: -int(p == n), ties, policy)


def average_rank(matrix, ties="average", policy="drop_systems"):
    sums = positional(matrix, lambda p, n: -p, ties, policy)
    if sums is None:
        return None
    _, tasks, _ = completed(matrix, policy)
    total = sum(matrix.weights[t] for t in tasks)
    return {i: score / total for i, score in sums.items()}


def weights_by_position(matrix, ties="worst", policy="drop_systems"):
    """For each system the weights at the positions n, n - 1, ..., 2."""
    part = completed(matrix, policy)
    if part is None:
        return None
    n = len(part[0])
    at = {p: positional(matrix, lambda q, _, p=p: int(p == q), ties, policy) for p in range(n, 1, -1)}
    return {i: [at[p][i] for p in range(n, 1, -1)] for i in part[0]}


def threshold(matrix, ties="worst", policy="drop_systems"):
    vectors = weights_by_position(matrix, ties, policy)
    if vectors is None:
        return None
    return {i: -1 - sum(other < vector for other in vectors.values()) for i, vector in vectors.items()}


def in_rounds(matrix, entry, is_leaving, ties, policy):
    """`is_leaving(score, all scores)`: a system leaves; scores are positional among those that remain."""
    part = completed(matrix, policy)
    if part is None:
        return None
    remaining, tasks, table = part
    left, number = {}, 1
    while True:
        scores = {
            i: sum(matrix.weights[t] * points(table, remaining, i, t, entry, ties) for t in tasks) for i in remaining
        }
        left.update(dict.fromkeys(remaining, number))
        if len(set(scores.values())) == 1:
            return left
        remaining = [i for i in remaining if not is_leaving(scores[i], list(scores.values()))]
        number += 1


def baldwin(matrix, ties="worst", policy="drop_systems"):
    return in_rounds(matrix, lambda p, n: n - p, lambda score, every: score == min(every), ties, policy)


def nanson(matrix, ties="worst", policy="drop_systems"):
    return in_rounds(matrix, lambda p, n: n - p, lambda score, every: score * len(every) < sum(every), ties, policy)


def instant_runoff(matrix, ties="worst", policy="drop_systems"):
    return in_rounds(matrix, lambda p, n: int(p == 1), lambda score, every: score == min(every), ties, policy)


def coombs(matrix, ties="worst", policy="drop_systems"):
    return in_rounds(matrix, lambda p, n: -int(p == n), lambda score, every: score == min(every), ties, policy)


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
    """Compare a whole ranking with exact scores by system; None and nobody mean undefined."""
    if not expected:
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


def compatible_borda(matrix):
    """The mean number of systems below, and its variance, over all orders that the scores allow, ties one half."""
    table, systems = oriented(matrix), scored_systems(matrix)
    scores, variances = dict.fromkeys(systems, Fraction(0)), dict.fromkeys(systems, Fraction(0))
    for t in voting_tasks(matrix):
        known = [i for i in systems if (i, t) in table]
        orders = [  # best first; the order of tied systems is open
            order
            for order in itertools.permutations(systems)
            if all(table[i, t] >= table[j, t] for i, j in itertools.combinations([k for k in order if k in known], 2))
        ]
        for i in systems:
            tied = {j for j in known if i in known and table[i, t] == table[j, t]} - {i}
            below = [
                sum(
                    (j not in tied) * (order.index(j) > order.index(i)) + Fraction(j in tied, 2)
                    for j in systems
                    if j != i
                )
                for order in orders
            ]
            mean = sum(below, Fraction(0)) / len(below)
            scores[i] += matrix.weights[t] * mean
            variances[i] += matrix.weights[t] ** 2 * sum((value - mean) ** 2 for value in below) / len(below)
    return scores, variances
