"""Corrupted and rescaled tasks: how far a ranking moves when some tasks are manipulated.

Colombo et al. 2022, sections 4.2 and 4.3: r random tasks are reversed, or one task is multiplied by λ; Kendall's
distance of the ranking to the one before, as a share of all pairs.

Departures from the paper:
- The experiment runs on the benchmark's own scores, not on synthetic ones.
- Reversal maps a score x to minimum + maximum - x, the task's extremes over the systems that are ranked.
- Every task is multiplied by every λ in turn; scores alone are, not the task's scale or the threshold γ.
- Rules that need all scores rank what the missing-score policy leaves, decided before the corruption.
- Every rule that ranks is studied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import kendall
from ranking_engine.stability.parameters import INTEGERS, NUMBERS, Parameter
from ranking_engine.stability.plan import Part, Plan, make_plan
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.doubled_tasks import doubled, is_fast_doubled
from ranking_engine.stability.resampling.resampled_scores import resampled_scores
from ranking_engine.stability.study import (
    Arrays,
    Parameters,
    Progress,
    Study,
    StudyResult,
    cut_by_cost,
    deviation_of,
    generator,
    joined,
    mean_of,
    plain_list,
    span,
)

NUMBER = 4

_MAX_SIZES = 20


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.reversed`, shape (repeats of the chunk, numbers of tasks), and in the first chunk `<rule>.scaled`.

    `<rule>.scaled` has shape (1, factors, voting tasks), NaN for a task that the policy drops; (0, ...) elsewhere.
    Slow rules rank every so-many-th repeat, and of the tasks that are multiplied as few.
    """
    plan = _plan(matrix, parameters)
    repeats = span(chunk, STUDY.n_chunks(matrix, parameters), parameters["n_repeats"])
    factors = parameters["factors"] if chunk == 0 else []
    shape = (min(1, len(factors)), len(parameters["factors"]), _n_voting(matrix))
    arrays: Arrays = {}
    steps = len(plan.parts) * (1 + len(factors))
    alone = plan.alone()
    voting = [name for name, votes in zip(matrix.task_names, matrix.votes, strict=True) if votes]
    for done, part in enumerate(plan.parts):
        begun = done * (1 + len(factors))
        columns = [voting.index(name) for name in part.matrix.task_names]
        numbers, T = sizes(matrix, parameters), part.matrix.n_tasks
        is_reversed = np.zeros((len(repeats), len(numbers), T), dtype=np.int64)
        for row, repeat in zip(is_reversed, repeats, strict=True):
            for chosen, r in zip(row, numbers, strict=True):
                chosen[generator(seed, NUMBER, repeat, r).permutation(T)[:r]] = 1
        groups = plan.by_repeats(part)
        for every, rules in groups.items():
            mine = is_reversed[[repeat % every == 0 for repeat in repeats]].reshape(-1, T)
            for rule, distances in _distances(part, reversed_scores(part.matrix), mine, rules, alone).items():
                arrays[f"{rule}.reversed"] = distances.reshape(-1, len(numbers))
        if progress is not None:
            progress(begun + 1, steps)
        scaled = {rule: np.full(shape, np.nan) for rule in part.rules}
        for k, factor in enumerate(factors):
            for every, rules in groups.items():
                each = _distances(part, part.matrix.scores * factor, np.eye(T, dtype=np.int64)[::every], rules, alone)
                for rule, distances in each.items():
                    scaled[rule][0, k, columns[::every]] = distances
            if progress is not None:
                progress(begun + 2 + k, steps)
        arrays.update({f"{rule}.scaled": table for rule, table in scaled.items()})
    return arrays | plan.proven(alone)


def sizes(matrix: ScoreMatrix, parameters: Parameters) -> list[int]:
    """Return the numbers of tasks that are reversed: those asked for, or all, at most 20 evenly spread."""
    T = _n_voting(matrix)
    if parameters["n_reversed"] is not None:
        return [r for r in parameters["n_reversed"] if r <= T]
    return sorted({round(r) for r in np.linspace(1, T, min(T, _MAX_SIZES)).tolist()})


def reversed_scores(matrix: ScoreMatrix) -> FloatArray:
    """Return the oriented scores with every task reversed between its extremes."""
    low, high = np.fmin.reduce(matrix.scores, axis=0), np.fmax.reduce(matrix.scores, axis=0)
    turned = low + high - matrix.scores
    # of the extremes and of scores that tie nothing may be lost to rounding
    turned = np.where(matrix.scores == low, high, np.where(matrix.scores == high, low, turned))
    return np.where(np.isnan(matrix.scores), np.nan, turned)


def _distances(
    part: Part, corrupted: FloatArray, is_corrupted: NDArray[np.int64], rules: Sequence[str], alone: Alone
) -> dict[str, FloatArray]:
    """Return the distance to the reference of each row of `is_corrupted`: tasks that have their `corrupted` scores.

    Each task is twice in one matrix, honest and corrupted, and counts once.
    """
    both = doubled(part.matrix, corrupted)
    counts = np.hstack([1 - is_corrupted, is_corrupted])
    scores = resampled_scores(both, counts, rules, lambda share: None, alone)
    return {
        rule: kendall(part.reference[rule].average_ranks, average_ranks(ranks_of(table)))[1]
        for rule, table in scores.items()
    }


def _n_voting(matrix: ScoreMatrix) -> int:
    return int(matrix.votes.sum())


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule the curve over the number of reversed tasks, and over λ the mean and largest distance."""
    arrays, plan = joined(partials), _plan(matrix, parameters)
    shape = (len(parameters["factors"]), _n_voting(matrix))
    arrays = {name: table.reshape(shape) if name.endswith(".scaled") else table for name, table in arrays.items()}
    rules: dict[str, Any] = {}
    for rule in plan.rules:
        turned, scaled = arrays[f"{rule}.reversed"], arrays[f"{rule}.scaled"]
        rules[rule] = {
            "reversed": plain_list(mean_of(turned, axis=0)),
            "reversed_deviation": plain_list(deviation_of(turned, axis=0)),
            "scaled": plain_list(mean_of(scaled, axis=1)),
            "scaled_largest": plain_list(np.fmax.reduce(scaled, axis=1)),
            "n_undefined": int(np.isnan(turned).sum()),
        }
    summary = {
        "n_repeats": parameters["n_repeats"],
        "n_reversed": sizes(matrix, parameters),
        "factors": list(parameters["factors"]),
        "rules": rules,
        **plan.closing(parameters["n_repeats"], arrays),
    }
    return StudyResult(summary, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    return _plan(matrix, parameters).seconds(_n_rankings(matrix, parameters))


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to rank."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    if scored.matrix.n_systems < 2:
        return "1 system with scores; at least 2 are needed"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    return make_plan(matrix, parameters, _n_rankings(matrix, parameters), parameters["n_repeats"], is_fast_doubled)


def _n_rankings(matrix: ScoreMatrix, parameters: Parameters) -> int:
    reversals = parameters["n_repeats"] * len(sizes(matrix, parameters))
    return reversals + len(parameters["factors"]) * _n_voting(matrix)


def _check(parameters: Parameters) -> None:
    for name in ("n_repeats", "n_reversed", "factors"):
        STUDY.parameter(name).checked(parameters[name])


STUDY = Study(
    number=NUMBER,
    key="corrupted_tasks",
    name="Corrupted tasks",
    question="How far does each ranking move when tasks are reversed, or one is multiplied?",
    source="Colombo et al. 2022, sections 4.2 and 4.3",
    declared=(
        known.rules(),
        known.repeats("n_repeats", 100),
        Parameter(
            "n_reversed",
            None,
            INTEGERS,
            "Tasks reversed",
            "How many tasks to reverse at a time; up to 20 numbers by default.",
            least=1,
        ),
        Parameter(
            "factors",
            [0.01, 0.1, 0.5, 2.0, 10.0, 100.0],
            NUMBERS,
            "Factors",
            "The factors by which to multiply one task.",
            least=1e-12,
            most=1e12,
            most_items=20,
        ),
        known.missing(),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda _, parameters: parameters["n_repeats"]),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_repeats",
    axes=("n_reversed", "factors"),
)
