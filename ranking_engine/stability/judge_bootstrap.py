"""Pavao's criteria: how good a rule's winner is, and how far its ranking holds when tasks and systems are drawn anew.

Pavao et al. 2021, Judging competitions and benchmarks: a candidate election approach, sections 2.3 (the criteria) and 3
(how they are estimated). A trial draws as many systems and as many tasks as there are, with replacement, and ranks; a
task drawn k times counts k times its weight. In the paper m is the number of tasks and n that of systems.

- `winner_rank`: 1 - (r - 1) / (n - 1), r being the winner's average rank on the tasks drawn and n the number of systems
  drawn; the mean over tied winners. The paper prints m - 1 for n - 1, and asks for a score between 0 and 1: the last
  of n systems has the rank n, so that n - 1 gives such a score whatever the number of tasks is.
- `condorcet`: over the trials with a Condorcet winner, the share of those that the rule elects it in; 1 / k where it
  is one of k tied winners.
- `generalization`: the mean of Spearman's correlation of the ranking with each task that was not drawn. The paper
  prints 1 / m for the tasks in that sum; ours divides by their number, so that perfect prediction scores 1.
- `judge_stability`, `candidate_stability`: the mean of Spearman's correlation over all q(q - 1) / 2 pairs of rankings,
  from q resamples of the tasks alone and of the systems alone; in several rounds. The paper's formula divides by
  m(m - 1), its sentences speak of averages over the pairs of q rankings; ours is that average.

Departures from the paper:
- A system drawn several times takes part once. Its copies would tie with it on every task, so that it could not be
  first alone, and perfectly agreeing tasks would not score 1. n counts the distinct systems.
- Where scores are missing, ranks on a task are among the systems with a score there, and its winner's rank counts in
  n of that task. Rules that need all scores rank what the missing-score policy leaves, decided before drawing.
- Two resamples of the systems are compared on those that are in both, if they are at least three.
- A trial in which a criterion does not exist is counted apart.
- `standardize` is the paper's global z-score, for four of its six matrices: all scores less their mean, over their
  deviation. Scales and the threshold γ move along.
- Every rule that ranks is studied.

`correlation` is Spearman's, as in the paper's tables, or `kendall` for tau-b, which the paper tried, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.missing import scored_part
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability.agreement import CORRELATIONS, average_ranks
from ranking_engine.stability.plan import Part, Plan, make_plan, one_by_one_seconds
from ranking_engine.stability.resampling.drawn_boards import board_scores, condorcet_winners, drawn_rankings, is_batched
from ranking_engine.stability.study import (
    Arrays,
    Parameters,
    Progress,
    Study,
    StudyResult,
    blocks,
    chunks_for,
    deviation_of,
    generator,
    joined,
    mean_of,
    plain,
    span,
)

NUMBER = 5

CRITERIA = ("winner_rank", "condorcet", "generalization", "judge_stability", "candidate_stability")

Counts = NDArray[np.int64]

_TRIALS, _TASKS, _SYSTEMS = 0, 1, 2  # what is drawn
_BLOCK_CELLS = 1 << 21
_LEAST_COMMON = 3


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.<criterion>`: of each trial of the chunk, and of each round of both stabilities."""
    plan, chunks = _plan(matrix, parameters), n_chunks(matrix, parameters)
    trials = span(chunk, chunks, parameters["n_trials"])
    rounds = span(chunk, chunks, 2 * parameters["n_rounds"])
    steps = len(plan.parts) * (len(trials) + len(rounds))
    found: Arrays = {f"{rule}.{name}": np.empty(0) for rule in plan.rules for name in CRITERIA}
    done = 0
    for part in plan.parts:
        pieces: dict[str, list[FloatArray]] = {f"{rule}.{name}": [] for rule in part.rules for name in CRITERIA}
        for block in blocks(trials, _height(part.matrix)):
            drawn = _draw(part.matrix, seed, block)
            for name, values in _criteria(part, *drawn, parameters["correlation"]).items():
                pieces[name].append(values)
            done = _told(progress, done + len(block), steps)
        for number in rounds:
            axis = _TASKS if number < parameters["n_rounds"] else _SYSTEMS
            name = "judge_stability" if axis == _TASKS else "candidate_stability"
            for rule, value in _stability(part, parameters, seed, axis, number).items():
                pieces[f"{rule}.{name}"].append(np.array([value]))
            done = _told(progress, done + 1, steps)
        found.update({name: np.concatenate([np.empty(0), *values]) for name, values in pieces.items()})
    return found


def _told(progress: Progress | None, done: int, steps: int) -> int:
    if progress is not None:
        progress(done, steps)
    return done


def prepared(matrix: ScoreMatrix, parameters: Parameters) -> ScoreMatrix:
    """Return the matrix, standardized if asked for: the same shift and factor for every voting score."""
    if not parameters["standardize"]:
        return matrix
    voting = matrix.values[:, matrix.votes]
    if np.isnan(voting).all():
        return matrix
    centre, spread = float(np.nanmean(voting)), float(np.nanstd(voting)) or 1.0

    def moved(values: FloatArray) -> FloatArray:
        return (values - centre) / spread

    return ScoreMatrix(
        moved(matrix.values),
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=matrix.weights,
        groups=matrix.groups,
        group_weights=matrix.group_weights,
        gamma=None if matrix.gamma is None else (matrix.gamma - centre) / spread,
        minimum=moved(matrix.minimum),
        maximum=moved(matrix.maximum),
        chance=moved(matrix.chance),
        clusters=matrix.clusters,
    )


def _draw(matrix: ScoreMatrix, seed: int, trials: range) -> tuple[Counts, BoolArray]:
    """Return how often each trial counts each task, and which systems take part."""
    n, T = matrix.n_systems, matrix.n_tasks
    counts = np.empty((len(trials), T), dtype=np.int64)
    present = np.zeros((len(trials), n), dtype=bool)
    for row, trial in enumerate(trials):
        random = generator(seed, NUMBER, _TRIALS, trial)
        present[row, random.integers(n, size=n)] = True
        counts[row] = np.bincount(random.integers(T, size=T), minlength=T)
    return counts, present


def _criteria(part: Part, counts: Counts, present: BoolArray, correlation: str) -> dict[str, FloatArray]:
    """Return the three criteria of every trial under every rule of `part`."""
    matrix = part.matrix
    task_ranks = _task_ranks(matrix, present)
    quality = _winner_quality(matrix, task_ranks, counts)
    winners = condorcet_winners(matrix, counts, present)
    found: dict[str, FloatArray] = {}
    for rule, drawn in drawn_rankings(matrix, counts, present, part.rules).items():
        ranks = average_ranks(drawn.scores)
        found[f"{rule}.winner_rank"] = mean_of(np.where(drawn.is_winner, quality, np.nan), axis=1)
        found[f"{rule}.condorcet"] = _elects(drawn.is_winner, winners)
        found[f"{rule}.generalization"] = _generalization(ranks, task_ranks, counts == 0, correlation)
    return found


def _task_ranks(matrix: ScoreMatrix, present: BoolArray) -> FloatArray:
    """Return the average ranks of the systems that take part on each task, shape (n_trials, n_tasks, n_systems)."""
    among = np.broadcast_to(present[:, None, :], (len(present), matrix.n_tasks, matrix.n_systems))
    scores = np.where(among, matrix.scores.T, np.nan).reshape(-1, matrix.n_systems)
    return _exact_ranks(scores).reshape(among.shape)


def _exact_ranks(scores: FloatArray) -> FloatArray:
    """Return average ranks of scores that tie when they are equal as stored."""
    order = np.argsort(-scores, axis=1, kind="stable")
    descending = np.take_along_axis(scores, order, axis=1)
    index = np.arange(scores.shape[1], dtype=np.float64)
    opens, closes = np.ones(scores.shape, dtype=bool), np.ones(scores.shape, dtype=bool)
    opens[:, 1:] = descending[:, 1:] != descending[:, :-1]
    closes[:, :-1] = opens[:, 1:]
    first = np.maximum.accumulate(np.where(opens, index, -np.inf), axis=1)
    last = np.minimum.accumulate(np.where(closes, index, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.where(np.isnan(descending), np.nan, (first + last) / 2 + 1), axis=1)
    return ranks


def _winner_quality(matrix: ScoreMatrix, task_ranks: FloatArray, counts: Counts) -> FloatArray:
    """Return 1 - (r - 1) / (n - 1) of every system, weighted over the tasks drawn; NaN without a rival on any."""
    size = (~np.isnan(task_ranks)).sum(axis=2, keepdims=True)
    weights = np.array([float(weight) for weight in matrix.weights]) * counts
    counted = ~np.isnan(task_ranks) & (size > 1)
    quality = 1 - (np.where(counted, task_ranks, 1) - 1) / np.maximum(size - 1, 1)
    total = (counted * weights[:, :, None]).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return (counted * quality * weights[:, :, None]).sum(axis=1) / np.where(total > 0, total, np.nan)


def _elects(is_winner: BoolArray, condorcet: NDArray[np.intp]) -> FloatArray:
    """Return 1 / k where the Condorcet winner is one of k winners, else 0; NaN where there is none or nobody wins."""
    n_winners = is_winner.sum(axis=1)
    elected = is_winner[np.arange(len(condorcet)), np.maximum(condorcet, 0)] / np.maximum(n_winners, 1)
    return np.where((condorcet >= 0) & (n_winners > 0), elected, np.nan)


def _generalization(ranks: FloatArray, task_ranks: FloatArray, is_unseen: BoolArray, correlation: str) -> FloatArray:
    """Return the mean correlation with each task that was not drawn."""
    correlations = np.full(is_unseen.shape, np.nan)
    trials, tasks = np.nonzero(is_unseen)
    correlations[trials, tasks] = CORRELATIONS[correlation](ranks[trials], task_ranks[trials, tasks])
    return mean_of(correlations, axis=1)


def _stability(part: Part, parameters: Parameters, seed: int, axis: int, number: int) -> dict[str, float]:
    """Return the mean correlation over all pairs of resamples of one round, under every rule."""
    matrix, q = part.matrix, parameters["n_resamples"]
    counts, present = np.ones((q, matrix.n_tasks), dtype=np.int64), np.ones((q, matrix.n_systems), dtype=bool)
    for k in range(q):
        random = generator(seed, NUMBER, axis, number, k)
        if axis == _TASKS:
            drawn = random.integers(matrix.n_tasks, size=matrix.n_tasks)
            counts[k] = np.bincount(drawn, minlength=matrix.n_tasks)
        else:
            present[k] = False
            present[k, random.integers(matrix.n_systems, size=matrix.n_systems)] = True
    least = 2 if axis == _TASKS else _LEAST_COMMON
    return {
        rule: float(
            mean_of(np.concatenate(list(_pair_correlations(average_ranks(scores), least, parameters["correlation"]))))
        )
        for rule, scores in board_scores(matrix, counts, present, part.rules).items()
    }


def _pair_correlations(ranks: FloatArray, least: int, correlation: str) -> Iterator[FloatArray]:
    """Yield the correlations of every row with the rows after it, NaN where fewer than `least` systems are in both."""
    yield np.empty(0)
    for k in range(len(ranks) - 1):
        others = ranks[k + 1 :]
        is_enough = (~np.isnan(others) & ~np.isnan(ranks[k])).sum(axis=1) >= least
        yield np.where(is_enough, CORRELATIONS[correlation](ranks[k][None], others), np.nan)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return the mean, the deviation and the number of undefined values of every criterion, for each rule."""
    arrays, plan = joined(partials), _plan(matrix, parameters)
    rules: dict[str, Any] = {rule: {name: _entry(arrays[f"{rule}.{name}"]) for name in CRITERIA} for rule in plan.rules}
    names = ("n_trials", "n_resamples", "n_rounds", "standardize", "correlation")
    summary = {name: parameters[name] for name in names}
    return StudyResult({**summary, "rules": rules, "not_studied": dict(plan.not_studied)}, arrays)


def _entry(values: FloatArray) -> dict[str, Any]:
    return {
        "mean": plain(float(mean_of(values))),
        "deviation": plain(float(deviation_of(values))),
        "n_undefined": int(np.isnan(values).sum()),
    }


def n_chunks(matrix: ScoreMatrix, parameters: Parameters) -> int:
    """Cut the trials by how long everything should take."""
    return chunks_for(estimate(matrix, parameters), parameters["n_trials"])


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    seconds = 0.0
    for part in _plan(matrix, parameters).parts:
        n, T = part.matrix.n_systems, part.matrix.n_tasks
        fast = [rule for rule in part.rules if is_batched(rule, part.matrix)]
        slow = sum(one_by_one_seconds(rule, part.matrix) for rule in part.rules if rule not in fast)
        trial = 1e-4 + 2e-7 * n * T + 2e-9 * n * n * (T + 5 * len(fast)) + len(part.rules) * 1e-7 * n * T + slow
        pair = 1e-6 + 1.5e-7 * n if parameters["correlation"] == "spearman" else 1e-6 + 1.2e-8 * n * n
        pairs = len(part.rules) * parameters["n_resamples"] ** 2 * pair / 2
        trial += 0.0 if parameters["correlation"] == "spearman" else len(part.rules) * T * 0.4 * pair
        rounds = 2 * parameters["n_rounds"]
        seconds += parameters["n_trials"] * trial + rounds * (pairs + parameters["n_resamples"] * trial)
    return seconds


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to draw from."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    n, T = scored.matrix.n_systems, scored.matrix.n_tasks
    if n < _LEAST_COMMON or T < 2:
        return f"{n} systems on {T} voting tasks; at least 3 systems and 2 tasks are needed"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    rankings = parameters["n_trials"] + 2 * parameters["n_rounds"] * parameters["n_resamples"]
    return make_plan(prepared(matrix, parameters), parameters, rankings, is_batched)


def _height(matrix: ScoreMatrix) -> int:
    return max(1, _BLOCK_CELLS // (matrix.n_systems * max(matrix.n_systems, matrix.n_tasks)))


def _check(parameters: Parameters) -> None:
    for name, least in (("n_trials", 1), ("n_resamples", 2), ("n_rounds", 1)):
        if parameters[name] < least:
            raise ValueError(f"`{name}` is {parameters[name]}; expected at least {least}")
    if parameters["correlation"] not in CORRELATIONS:
        raise ValueError(f"`correlation` is {parameters['correlation']!r}; expected one of {', '.join(CORRELATIONS)}")


STUDY = Study(
    key="judge_bootstrap",
    name="Tasks and systems drawn anew",
    question="How good is each rule's winner, and does its ranking hold when tasks and systems are drawn anew?",
    source="Pavao et al. 2021, sections 2.3 and 3",
    parameters={
        "rules": None,
        "n_trials": 10_000,
        "n_resamples": 100,
        "n_rounds": 10,
        "standardize": False,
        "correlation": "spearman",
        "missing": "drop_systems",
        "budget": 60.0,
    },
    n_chunks=n_chunks,
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_trials",
)
