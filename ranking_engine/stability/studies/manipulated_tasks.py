"""Manipulated tasks: from how many manipulated tasks on each rule states a wrong order, on made-up scores.

Colombo et al. 2022, sections 4.1 and 4.2. Unlike on a real board, the true order is known. The board that the study is
about gives the size and the weights: as many systems with scores, and its voting tasks. System i (0, 1, ...) has the
utility -φ i; its score on an instance adds Gumbel noise, so that every instance is a Plackett-Luce order (Luce 1959);
its score on a task is the mean of `n_instances` of them. Of r tasks, drawn at random, the scores are manipulated:

- `fixed`: system i scores i on all instances, as in the authors' notebook: the true order reversed, without noise.
- `reversed`: the utilities are +φ i, with noise like that of honest tasks, as section 4.2 describes.

The figure is Kendall's distance of a rule's ranking to the true order, as a share of all pairs: 0 the true order, 1 its
reverse. Colombo et al. compare the mean with Borda on one and two levels; here it is every rule, from task scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import kendall
from ranking_engine.stability.parameters import CHOICE, INTEGER, INTEGERS, NUMBER, Parameter
from ranking_engine.stability.plan import Plan, make_plan
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

NUMBER_OF_STUDY = 12
MAX_SIZES = 20
MAX_DRAWS = 20_000_000  # scores of single instances of one made-up board
MANIPULATIONS = ("fixed", "reversed")


def made_up_scores(n_systems: int, n_tasks: int, parameters: Parameters, random: np.random.Generator) -> FloatArray:
    """Return honest and manipulated scores, shape (2, n_systems, n_tasks), of systems in their true order.

    Args:
        n_systems, n_tasks: the size.
        parameters: `strength` φ, `n_instances` and `manipulation`.
        random: where the noise comes from.
    """
    places, shape = np.arange(n_systems, dtype=np.float64)[:, None], (n_systems, n_tasks, parameters["n_instances"])
    truth = -parameters["strength"] * places
    honest = truth + random.gumbel(size=shape).mean(axis=2)
    if parameters["manipulation"] == "fixed":
        return np.stack([honest, np.broadcast_to(places, honest.shape)])
    return np.stack([honest, -truth + random.gumbel(size=shape).mean(axis=2)])


def sizes(matrix: ScoreMatrix, parameters: Parameters) -> list[int]:
    """Return the numbers of manipulated tasks: those asked for, or from none to all, at most 20 evenly spread."""
    T = int(matrix.votes.sum())
    if parameters["n_manipulated"] is not None:
        return sorted({r for r in parameters["n_manipulated"] if r <= T})
    return sorted({round(r) for r in np.linspace(0, T, min(T + 1, MAX_SIZES)).tolist()})


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.distance`, shape (repeats of the chunk, numbers of tasks)."""
    plan, numbers = _plan(matrix, parameters), sizes(matrix, parameters)
    repeats = span(chunk, STUDY.n_chunks(matrix, parameters), parameters["n_repeats"])
    distances: dict[str, list[FloatArray]] = {rule: [] for rule in plan.rules}
    alone = plan.alone()
    scored = scored_part(matrix).matrix
    if scored is None:
        raise ValueError("nothing to rank")
    n, T = scored.n_systems, scored.n_tasks
    for row, repeat in enumerate(repeats):
        random = generator(seed, NUMBER_OF_STUDY, repeat)
        honest, manipulated = made_up_scores(n, T, parameters, random)
        board = ScoreMatrix(honest, weights=list(scored.weights))
        is_manipulated = np.zeros((len(numbers), T), dtype=np.int64)
        order = random.permutation(T)
        for chosen, r in zip(is_manipulated, numbers, strict=True):
            chosen[order[:r]] = 1
        counts = np.hstack([1 - is_manipulated, is_manipulated])
        truth = np.arange(1.0, n + 1)
        for part in plan.parts:
            rules = [rule for rule in part.rules if repeat % plan.every(rule) == 0]
            scores = resampled_scores(doubled(board, manipulated), counts, rules, lambda share: None, alone)
            for rule, table in scores.items():
                distances[rule].append(kendall(truth, average_ranks(ranks_of(table)))[1])
        if progress is not None:
            progress(row + 1, len(repeats))
    arrays = {f"{rule}.distance": np.array(rows).reshape(-1, len(numbers)) for rule, rows in distances.items()}
    return arrays | plan.proven(alone)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule the curve over the number of manipulated tasks, and where it first exceeds `limit`."""
    arrays, plan, numbers = joined(partials), _plan(matrix, parameters), sizes(matrix, parameters)
    rules: dict[str, Any] = {}
    for rule in plan.rules:
        table = arrays[f"{rule}.distance"]
        means = mean_of(table, axis=0)
        beyond = [r for r, mean in zip(numbers, means.tolist(), strict=True) if mean > parameters["limit"]]
        rules[rule] = {
            "distance": plain_list(means),
            "deviation": plain_list(deviation_of(table, axis=0)),
            "first_beyond": beyond[0] if beyond else None,
        }
    scored = scored_part(matrix).matrix
    summary = {
        "n_manipulated": numbers,
        "n_systems": 0 if scored is None else scored.n_systems,
        "n_tasks": int(matrix.votes.sum()),
        **{name: parameters[name] for name in ("n_repeats", "strength", "n_instances", "manipulation", "limit")},
        "rules": rules,
        **plan.closing(parameters["n_repeats"], arrays),
    }
    return StudyResult(summary, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    seconds, n_sizes, plan = 0.0, len(sizes(matrix, parameters)), _plan(matrix, parameters)
    for part in plan.parts:
        n, T = part.matrix.n_systems, part.matrix.n_tasks
        seconds += 6e-8 * n * T * parameters["n_instances"] + 2e-3
        for rule in part.rules:
            seconds += n_sizes * (1e-5 + 3e-9 * n * n * (T / 8 + 4)) if rule not in plan.sparse else 0
    return seconds * parameters["n_repeats"] + plan.slow_seconds


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to make up."""
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    n, T = scored.matrix.n_systems, scored.matrix.n_tasks
    if n < 2:
        return "1 system with scores; at least 2 are needed"
    if n * T * parameters["n_instances"] > MAX_DRAWS:
        return f"{n} systems, {T} tasks and {parameters['n_instances']:,} instances make more than {MAX_DRAWS:,} scores"
    if not sizes(matrix, parameters):
        return f"there are {T} tasks, fewer than `n_manipulated` asks for"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    if n_scores(matrix) * parameters["n_instances"] > MAX_DRAWS:
        return Plan((), {}, {})
    scored = scored_part(matrix).matrix
    if scored is None:
        return Plan((), {}, {})
    # Noise of the size that the mean of the instances has, but one draw a score: a plan needs no more of the scores.
    noise = generator(0, NUMBER_OF_STUDY, 0).gumbel(-np.euler_gamma, size=(scored.n_systems, scored.n_tasks))
    truth = -parameters["strength"] * np.arange(scored.n_systems)[:, None]
    scores = truth + np.euler_gamma + noise / np.sqrt(parameters["n_instances"])
    example = ScoreMatrix(scores, weights=list(scored.weights))
    n_rankings = parameters["n_repeats"] * len(sizes(matrix, parameters))
    return make_plan(
        example, {**parameters, "missing": "drop_systems"}, n_rankings, parameters["n_repeats"], is_fast_doubled
    )


def n_scores(matrix: ScoreMatrix) -> int:
    """Return how many scores a made-up board has: systems with scores by voting tasks."""
    scored = scored_part(matrix).matrix
    return 0 if scored is None else scored.n_systems * scored.n_tasks


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="manipulated_tasks",
    name="Manipulated tasks",
    question="From how many manipulated tasks on does each rule state a wrong order, on made-up scores?",
    source="Colombo et al. 2022, sections 4.1 and 4.2",
    declared=(
        known.rules(),
        known.repeats("n_repeats", 100),
        Parameter(
            "n_manipulated",
            None,
            INTEGERS,
            "Tasks manipulated",
            "How many tasks to manipulate at a time; up to 20 numbers by default.",
            most=100_000,
        ),
        Parameter(
            "strength",
            0.1,
            NUMBER,
            "Strength φ",
            "By how much neighbours in the true order differ; the noise has the deviation 1.28.",
            most=100,
        ),
        Parameter(
            "n_instances",
            12,
            INTEGER,
            "Instances of a task",
            "Of how many instances the score on a task is the mean.",
            least=1,
            most=10_000,
        ),
        Parameter(
            "manipulation",
            "fixed",
            CHOICE,
            "Manipulation",
            "`fixed` states the reverse of the true order; `reversed` draws from reversed strengths.",
            choices=MANIPULATIONS,
        ),
        Parameter("limit", 0.5, NUMBER, "Limit", "The distance to the true order that is called wrong.", most=1),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda _, parameters: parameters["n_repeats"]),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_repeats",
    axes=("n_manipulated",),
    runs_with_boards=False,
)
