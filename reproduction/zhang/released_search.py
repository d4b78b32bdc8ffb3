"""The search of the released code for cardinal sensitivity, to tell where it ends.

A version in numpy of `get_sensitivity` of benchbench 1.0.1 (benchbench/measures/cardinal.py): gradient steps of length
1 on softmax weights of the standardised scores, from equal weights. The loss sums how far lower systems are ahead,
plain or times their distance in ranks; what is reported is the end with the larger (1 - tau) / 2.
"""

from __future__ import annotations

import numpy as np

from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability.agreement import kendall
from reproduction import store
from reproduction.boards import board


def search_end_on(name: str, least_weight: float) -> tuple[float, float]:
    """Return where the released search ends on a benchmark's columns of the authors' package; see `search_end`."""

    def compute() -> list[float]:
        matrix = board(name)
        scores = mteb_columns(matrix)[1] if name == "MTEB" else matrix.scores
        return list(search_end(scores, least_weight))

    tau, change = store.kept(f"released-search-{name}-{least_weight:g}", (name,), compute)
    return tau, change


def mteb_columns(matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
    """Return MTEB as the paper describes it, and as the authors' package has it.

    The first has the average of each kind of task as often as the kind has data sets, which is its weight here; the
    second has the overall average, to two decimals, as often as all data sets before them.
    """
    described = np.repeat(matrix.values, [int(weight) for weight in matrix.weights], axis=1)
    overall = np.round(described.mean(axis=1, keepdims=True), 2)
    return described, np.hstack([np.repeat(overall, described.shape[1], axis=1), described])


STEPS = 1000
LEAST_CHANGE = 1e-5  # of the loss, for another step
LEAST_LOSS = 1e-8


def search_end(scores: FloatArray, least_weight: float) -> tuple[float, float]:
    """Return (1 - tau-b) / 2 and the max rank change where the released search ends.

    Args:
        scores: systems x tasks, complete, higher is better.
        least_weight: what noise preserves at least of a task's differences; above 0, at most 1.
    """
    return max(_end_of(scores, least_weight, by_ranks=by_ranks) for by_ranks in (False, True))


def _end_of(scores: FloatArray, least_weight: float, *, by_ranks: bool) -> tuple[float, float]:
    deviations = scores.std(axis=0, ddof=1)
    before = average_ranks(ranks_of(scores.mean(axis=1)[None])[0])
    weights = _descend(scores / deviations, before, least_weight, by_ranks=by_ranks) / deviations
    after = average_ranks(ranks_of((scores @ (weights / weights.max()))[None])[0])
    tau, _ = kendall(before, after[None])
    return (1 - float(tau[0])) / 2, float(np.abs(after - before).max() / (len(before) - 1))


def _descend(scores: FloatArray, before: FloatArray, least_weight: float, *, by_ranks: bool) -> FloatArray:
    """Return the weights where the steps end, which sum to 1."""
    n_tasks = scores.shape[1]
    if least_weight == 1:
        return np.full(n_tasks, 1 / n_tasks)
    lower, higher = np.nonzero(before[None, :] < before[:, None])
    rows = (scores[higher] - scores[lower]) / n_tasks
    factors = before[lower] - before[higher] if by_ranks else np.ones(len(rows))
    free, last = np.ones(n_tasks), np.inf
    shift = least_weight / (1 - least_weight)
    for _ in range(STEPS):
        soft = _softmax(free)
        total = (soft + shift).sum()
        ahead = rows @ (soft + shift) / total
        is_kept = ahead > 0
        loss = float((factors * ahead)[is_kept].sum())
        if loss <= LEAST_LOSS:
            break
        slope = factors[is_kept] @ rows[is_kept]
        slope = slope / total - (slope @ (soft + shift)) / total**2
        free = free - soft * (slope - slope @ soft)
        if abs(loss - last) < LEAST_CHANGE:
            break
        last = loss
    ended = _softmax(free) + shift
    return np.asarray(ended / ended.sum())


def _softmax(free: FloatArray) -> FloatArray:
    powers = np.exp(free - free.max())
    return np.asarray(powers / powers.sum())
