"""Systems compared with each other: weighted margins in integers, places on the tasks' scales, the test of a pair."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.core.comparison import compare_ranks
from ranking_engine.core.ranking import average_ranks
from ranking_engine.stability.separability.bayesian_sign import probability_ahead, units_ahead
from ranking_engine.stability.separability.pair_tests import pair_test


def margins_of(matrix: ScoreMatrix, rows: np.ndarray, columns: np.ndarray) -> dict[str, Any]:
    """The rows compared with every system, task by task, in integers; the fields of `rankings.margins.Margins`.

    Args:
        matrix: with the weights that decide majorities.
        rows: systems, by index.
        columns: the systems of which the margins are kept.
    """
    scores, weights = matrix.scores[:, matrix.votes], matrix.integer_weights[matrix.votes]
    total = sum(int(weight) for weight in weights) or 1
    above = np.zeros((len(rows), matrix.n_systems), weights.dtype)
    below, common = above.copy(), np.zeros(above.shape, bool)
    is_scored = ~np.isnan(scores)
    for t, weight in enumerate(weights):
        mine, theirs = scores[rows, t][:, None], scores[None, :, t]
        above[mine > theirs] += weight  # not multiplied: a weight may be longer than any integer of numpy
        below[mine < theirs] += weight
        common |= is_scored[rows, t][:, None] & is_scored[None, :, t]
    common[np.arange(len(rows)), rows] = False
    lead = above - below  # where weights are longer than any integer of numpy, Python's own
    sign = np.sign(lead) if weights.dtype != object else (lead > 0).astype(np.float64) - (lead < 0)
    return {
        "ahead": (above[:, columns] / total).astype(np.float64),
        "behind": (below[:, columns] / total).astype(np.float64),
        "sign": sign[:, columns].astype(np.int8),
        "is_compared": common[:, columns],
        "n_beaten": (sign > 0).sum(axis=1),
        "n_lost": (sign < 0).sum(axis=1),
        "n_level": (common & (sign == 0)).sum(axis=1),
    }


def among_rivals(matrix: ScoreMatrix, i: int) -> dict[str, Any]:
    """How system `i` does on every task among those that have a score there, and its margins over its rivals.

    Args:
        matrix: with the weights that decide majorities.
        i: a system with a score.
    """
    scores = matrix.scores
    own, present = scores[i], ~np.isnan(scores)
    below = (scores < own).sum(axis=0) + ((scores == own).sum(axis=0) - 1) / 2
    rivals = present.sum(axis=0) - 1
    share = np.divide(below, rivals, out=np.full(len(own), np.nan), where=(rivals > 0) & ~np.isnan(own))
    return {
        "position": positions(scores, [i])[0],
        "ends": scale_ends(matrix.values, scores),
        "median": medians(scores),
        "values": matrix.values[i],
        "ranks": 1 + (scores > own).sum(axis=0),
        "n_scored": present.sum(axis=0),
        "below": np.where(matrix.votes, share, np.nan),
        "votes": matrix.votes,
        "margins": margins_of(matrix, np.array([i], np.intp), np.arange(matrix.n_systems)),
    }


def two_held_together(matrix: ScoreMatrix, pair: tuple[int, int]) -> dict[str, Any]:
    """What of a pair rests on the scores alone: values, places on the tasks' scales, weights, the test.

    Args:
        matrix: with the weights that decide majorities.
        pair: two different systems.
    """
    scores, rows = matrix.scores, list(pair)
    weights = np.where(matrix.votes, matrix.integer_weights, 0)
    total = sum(int(weight) for weight in weights) or 1
    above = [int(w) * int(np.nan_to_num(np.sign(scores[pair[0], t] - scores[pair[1], t])))
             for t, w in enumerate(weights)]  # fmt: skip
    test, (n_ahead, n_behind) = pair_test(matrix, *pair), units_ahead(matrix, *pair)
    return {
        "values": matrix.values[rows],
        "positions": positions(scores, rows),
        "ends": scale_ends(matrix.values, scores),
        "medians": medians(scores),
        "order": np.sign(scores[pair[0]] - scores[pair[1]]),
        "weights": [int(weight) / total for weight in weights],
        "votes": matrix.votes,
        "sign": int(np.sign(sum(above))),
        "p_value": float(test.p_values[0]),
        "probability": probability_ahead(n_ahead, n_behind),
        "n_ahead": n_ahead,
        "n_behind": n_behind,
        "n_units": int(test.n_units[0]),
        "n_tasks": int((~np.isnan(scores[rows]).any(axis=0) & matrix.votes).sum()),
        "difference": float(test.differences[0]),
        "verdict": int(test.verdicts[0]),
        "is_drawn": bool(test.n_draws),
    }


def positions(scores: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    """Where rows of oriented scores lie on each task between its worst score (0) and its best (1); NaN = missing.

    A task on which all are equal has everyone at 1.
    """
    present = ~np.isnan(scores)
    low = np.where(present.any(axis=0), np.where(present, scores, np.inf).min(axis=0), np.nan)
    high = np.where(present.any(axis=0), np.where(present, scores, -np.inf).max(axis=0), np.nan)
    spread = np.where(high > low, high - low, 1.0)
    return np.where(high > low, (scores[rows] - low) / spread, np.where(present[rows], 1.0, np.nan))


def scale_ends(values: np.ndarray, scores: np.ndarray) -> list[tuple[float, float]]:
    """The worst and the best score on each task as they were submitted; NaN where no one has a score.

    Args:
        values: of every system on every task, systems x tasks.
        scores: the same, oriented: higher is better.
    """
    ends = []
    for t in range(scores.shape[1]):
        known = np.flatnonzero(~np.isnan(scores[:, t]))
        places = [known[scores[known, t].argmin()], known[scores[known, t].argmax()]] if len(known) else []
        worst, best = values[places, t].tolist() if places else (np.nan, np.nan)
        ends.append((worst, best))
    return ends


def medians(scores: np.ndarray) -> np.ndarray:
    """The place of each task's median score between its worst and its best; NaN where no one has a score."""
    every = positions(scores, range(len(scores)))
    return np.array([np.median(column[~np.isnan(column)]) if (~np.isnan(column)).any() else np.nan
                     for column in every.T])  # fmt: skip


def kendall_taus_of(ranks: Sequence[np.ndarray]) -> np.ndarray:
    """Kendall's tau-b between all pairs of rankings, each as shown ranks; on the systems that both rank."""
    return compare_ranks(np.array([average_ranks(row) for row in ranks])).kendall_tau
