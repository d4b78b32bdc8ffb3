"""Predicted scores by their definition, one ridge regression at a time. Index i is a system, t a task."""

from __future__ import annotations

import math

import numpy as np

from ranking_engine import ScoreMatrix

NOTHING = float("nan")


def mean_and_spread(column):
    """Those of the scores that are there, the spread 1 where all are equal."""
    there = [x for x in column if not math.isnan(x)]
    mean = sum(there) / len(there)
    spread = math.sqrt(sum((x - mean) ** 2 for x in there) / len(there))
    return mean, spread if spread > 1e-12 * max(map(abs, there)) else 1.0


def ridge(rows, scores, penalty):
    """The u with the least squares of `scores` - `rows` u, plus penalty u'u."""
    rows = np.array(rows)
    return np.linalg.solve(rows.T @ rows + penalty * np.eye(rows.shape[1]), rows.T @ np.array(scores))


def start(z, n_factors):
    """Equal entries, then the strongest patterns of what the systems' means leave."""
    n, T = z.shape
    left = np.zeros((n, T))
    for i in range(n):
        there = [t for t in range(T) if not math.isnan(z[i, t])]
        mean = sum(z[i, t] for t in there) / (len(there) + 0.5)
        for t in there:
            left[i, t] = z[i, t] - mean
    patterns = np.linalg.svd(left)[2]
    columns = [np.ones(T), *(math.sqrt(T) * patterns[k] for k in range(min(n_factors - 1, len(patterns))))]
    return np.array(columns).T


def fitted(z, n_factors, penalty):
    """The products of factors after eight turns."""
    n, T = z.shape
    if n_factors == 0:
        return np.zeros((n, T))
    v = start(z, n_factors)
    u = np.zeros((n, v.shape[1]))

    def solve_systems():
        for i in range(n):
            there = [t for t in range(T) if not math.isnan(z[i, t])]
            u[i] = ridge(v[there], z[i, there], penalty) if there else 0.0

    solve_systems()
    for _ in range(8):
        for t in range(T):
            there = [i for i in range(n) if not math.isnan(z[i, t])]
            v[t] = ridge(u[there], z[there, t], penalty)
        solve_systems()
    return u @ v.T


def predictions_of(scores, n_factors, penalty):
    """Predictions of every cell from the scores that are there, each between the worst and the best of its task."""
    n, T = scores.shape
    scale = [mean_and_spread(scores[:, t]) for t in range(T)]
    z = np.array([[(scores[i, t] - scale[t][0]) / scale[t][1] for t in range(T)] for i in range(n)])
    products = fitted(z, n_factors, penalty)
    predicted = np.empty((n, T))
    for t in range(T):
        for i in range(n):
            z_it = min(max(products[i, t], np.nanmin(z[:, t])), np.nanmax(z[:, t]))
            predicted[i, t] = z_it * scale[t][1] + scale[t][0]
    return predicted


def content_order(scores):
    """The systems in the order of their sorted scores, each beside the class of its task; and the tasks likewise."""
    n, T = scores.shape
    row_class, task_class = [0] * n, [0] * T

    def classes(lines, of_others):
        signatures = [
            sorted((math.inf if math.isnan(x) else x, other) for x, other in zip(line, of_others, strict=True))
            for line in lines
        ]
        distinct = sorted({tuple(signature) for signature in signatures})
        return [distinct.index(tuple(signature)) for signature in signatures]

    for _ in range(3):
        row_class = classes(scores.tolist(), task_class)
        task_class = classes(scores.T.tolist(), row_class)
    return sorted(range(n), key=row_class.__getitem__), sorted(range(T), key=task_class.__getitem__)


def studied(scores):
    """(predictions of all cells, held-out predictions, share explained by task); tasks have two different scores."""
    n, T = scores.shape
    systems, tasks = content_order(scores)
    fold_of = {}
    for first, t in enumerate(tasks):
        there = [i for i in systems if not math.isnan(scores[i, t])]
        fold_of |= {(i, t): (place + first) % 5 for place, i in enumerate(there)}
    models = [(0, 1.0), *((k, penalty) for k in (1, 2, 3) for penalty in (0.1, 0.5, 2.0))]
    spread = [mean_and_spread(scores[:, t])[1] for t in range(T)]
    held_out, squares = {}, {}
    for fold in range(5):
        seen = np.array(
            [[NOTHING if fold_of.get((i, t)) == fold else scores[i, t] for t in range(T)] for i in range(n)]
        )
        for model in models:
            predicted = predictions_of(seen, *model)
            for (i, t), own in fold_of.items():
                if own == fold:
                    held_out[model, i, t] = predicted[i, t]
                    squares[model, i, t] = ((predicted[i, t] - scores[i, t]) / spread[t]) ** 2

    def best(folds):
        totals = [sum(squares[model, *cell] for cell, fold in fold_of.items() if fold in folds) for model in models]
        return models[totals.index(min(totals))]

    model_of = {fold: best({0, 1, 2, 3, 4} - {fold}) for fold in range(5)}
    table = np.full((n, T), NOTHING)
    for (i, t), fold in fold_of.items():
        table[i, t] = held_out[model_of[fold], i, t]
    explained = []
    for t in range(T):
        mean = mean_and_spread(scores[:, t])[0]
        there = [i for i in range(n) if not math.isnan(scores[i, t])]
        off = sum((table[i, t] - scores[i, t]) ** 2 for i in there)
        explained.append(1 - off / sum((scores[i, t] - mean) ** 2 for i in there))
    return predictions_of(scores, *best({0, 1, 2, 3, 4})), table, explained


def filled_in(matrix: ScoreMatrix):
    """{(i, t): predicted score, better high} of the gaps that are predicted; None where there are no predictions."""
    systems = [i for i in range(matrix.n_systems) if matrix.has_score[i]]
    voting = [t for t in range(matrix.n_tasks) if matrix.votes[t]]
    tasks = [t for t in voting if len({x for x in matrix.scores[systems, t].tolist() if not math.isnan(x)}) > 1]
    scores = matrix.scores[np.ix_(systems, tasks)]
    n_scores = sum(not math.isnan(x) for x in scores.ravel().tolist())
    n_with_one = sum(not all(math.isnan(x) for x in row) for row in scores.tolist())
    if len(tasks) < 2 or n_with_one < 3 or n_scores < 20:
        return None
    predicted, _, explained = studied(scores)
    cells = {}
    for a, i in enumerate(systems):
        n_own = sum(not math.isnan(matrix.scores[i, t]) for t in voting)
        for b, t in enumerate(tasks):
            if math.isnan(scores[a, b]) and explained[b] >= 0.5 and n_own >= 3 and 2 * n_own >= len(voting):
                step = 10.0 ** (math.floor(math.log10(mean_and_spread(scores[:, b])[1])) - 2)
                value = round(predicted[a, b] / step) * step * int(matrix.directions[t])
                there = [x for x in matrix.values[:, t].tolist() if not math.isnan(x)]
                value = min(max(value, min(there)), max(there))
                if not math.isnan(matrix.minimum[t]):
                    value = max(value, matrix.minimum[t])
                if not math.isnan(matrix.maximum[t]):
                    value = min(value, matrix.maximum[t])
                cells[i, t] = float(f"{value:.12g}") * int(matrix.directions[t])
    return cells or None
