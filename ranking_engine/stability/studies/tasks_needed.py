"""Tasks needed: how the criteria of Pavao et al. settle as tasks join, and how many tasks reach a target.

Pavao et al. 2021, section 4, name the rate of convergence with the number of judges as work to come. For every size m,
m tasks are drawn with replacement from those that there are, so that m may be larger than their number. Both rankings
of a pair come from the same tasks: they agree more and more as m grows, whether the board's differences are more than
chance or not. Rankings from new tasks agree less, and need more of them. If systems differ by chance alone, those never
agree, and these agree at `CHANCE_AGREEMENT` at m = T, where the stability is that of the judge bootstrap.

- `winner_rank`, `condorcet`, `generalization`: as in `judge_bootstrap`, all systems taking part.
- `judge_stability`: the mean correlation of every two rankings, each from m tasks of its own draw.

Generalization and judge stability are *reached* at the least size from which on their mean is at least `target`. The
other two never are: a winner is best on the very tasks that it was chosen on, so that its rank is 1 at m = 1 and falls.
`n_undefined` says how many draws of each size have no Condorcet winner, and how many leave no task for generalization.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import CORRELATIONS
from ranking_engine.stability.parameters import INTEGER, INTEGERS, NUMBER, Parameter
from ranking_engine.stability.plan import Plan, make_plan
from ranking_engine.stability.resampling.drawn_boards import drawn_rankings, is_batched
from ranking_engine.stability.studies.judge_bootstrap import (
    criteria_of_trials,
    mean_correlation,
    seconds_of_a_pair,
    seconds_of_a_trial,
)
from ranking_engine.stability.study import (
    Arrays,
    Parameters,
    Progress,
    Study,
    StudyResult,
    cut_by_cost,
    generator,
    joined,
    mean_of,
    plain_list,
    span,
)

NUMBER_OF_STUDY = 11

CRITERIA = ("winner_rank", "condorcet", "generalization", "judge_stability")
REACHED = ("generalization", "judge_stability")  # those that more tasks make better
UNDEFINED = ("condorcet", "generalization")  # those that some draws do not have
NOTE = (
    "both rankings of a pair are drawn from the same tasks, so that they agree more and more as their number grows, "
    "even if systems differ by chance alone; rankings from new tasks agree less, and need more of them"
)
N_SIZES = 10
BEYOND = 4  # times as many tasks as there are
MAX_TIMES = 20


def _sizes_of(matrix: ScoreMatrix, parameters: Parameters) -> list[int]:
    """Return the numbers of tasks: those stated, or some from 1 to four times those there are."""
    T = max(1, int(matrix.votes.sum()))
    if parameters["sizes"] is not None:
        return sorted(set(parameters["sizes"]))
    return sorted({T, *(round(size) for size in np.geomspace(1, BEYOND * T, N_SIZES).tolist())})


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.<criterion>` of the sizes of the chunk, and in how many draws it is undefined."""
    plan, sizes = _plan(matrix, parameters), _sizes_of(matrix, parameters)
    mine = span(chunk, STUDY.n_chunks(matrix, parameters), len(sizes))
    names = (*CRITERIA, *(f"{name}.n_undefined" for name in UNDEFINED))
    arrays = {f"{rule}.{name}": np.full(len(mine), np.nan) for rule in plan.rules for name in names}
    correlation, alone = parameters["correlation"], plan.alone()
    for done, k in enumerate(mine):
        for part in plan.parts:
            n, T, q = part.matrix.n_systems, part.matrix.n_tasks, parameters["n_resamples"]
            draws = (generator(seed, NUMBER_OF_STUDY, sizes[k], row).integers(T, size=sizes[k]) for row in range(q))
            counts = np.array([np.bincount(tasks, minlength=T) for tasks in draws])
            present = np.ones((q, n), dtype=bool)
            for every, rules in plan.by_repeats(part).items():
                some = (counts[::every], present[::every])
                rankings = drawn_rankings(part.matrix, *some, rules, alone)
                for name, values in criteria_of_trials(part.matrix, *some, correlation, rankings).items():
                    arrays[name][done] = float(mean_of(values))
                    if name.endswith(UNDEFINED):
                        arrays[f"{name}.n_undefined"][done] = int(np.isnan(values).sum())
                for rule, drawn in rankings.items():
                    ranks = average_ranks(ranks_of(drawn.scores))
                    arrays[f"{rule}.judge_stability"][done] = mean_correlation(ranks, 2, correlation)
        if progress is not None:
            progress(done + 1, len(mine))
    return arrays | plan.proven(alone)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule the curve of every criterion over the sizes, and the size at which it is reached."""
    arrays, plan, sizes = joined(partials), _plan(matrix, parameters), _sizes_of(matrix, parameters)
    rules: dict[str, Any] = {}
    for rule in plan.rules:
        rules[rule] = {name: plain_list(arrays[f"{rule}.{name}"], 4) for name in CRITERIA}
        rules[rule]["n_undefined"] = {
            name: [None if math.isnan(n) else int(n) for n in arrays[f"{rule}.{name}.n_undefined"].tolist()]
            for name in UNDEFINED
        }
        rules[rule]["reached"] = {
            name: reached_at(arrays[f"{rule}.{name}"], sizes, parameters["target"]) for name in REACHED
        }
    summary = {
        "sizes": sizes,
        "n_tasks": int(matrix.votes.sum()),
        "n_resamples": parameters["n_resamples"],
        "target": parameters["target"],
        "correlation": parameters["correlation"],
        "note": NOTE,
        "rules": rules,
        **plan.closing(parameters["n_resamples"], arrays),
    }
    return StudyResult(summary, arrays)


def reached_at(values: np.ndarray, sizes: Sequence[int], target: float) -> int | None:
    """Return the least size from which on all values that exist are at least `target`; None where the last is not."""
    reached = None
    for value, size in zip(values.tolist(), sizes, strict=True):
        if value >= target:
            reached = size if reached is None else reached
        elif value < target:  # False for NaN: all tasks were drawn, say
            reached = None
    return reached


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    seconds, q = 0.0, parameters["n_resamples"]
    plan = _plan(matrix, parameters)
    for part in plan.parts:
        T, is_spearman = part.matrix.n_tasks, parameters["correlation"] == "spearman"
        pair = seconds_of_a_pair(part.matrix, parameters["correlation"])
        seconds += q * (seconds_of_a_trial(part) + len(part.rules) * (q / 2 + (0 if is_spearman else T)) * pair)
    return seconds * len(_sizes_of(matrix, parameters)) + plan.slow_seconds


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to draw from."""
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    n, T = scored.matrix.n_systems, scored.matrix.n_tasks
    if n < 3 or T < 2:
        return f"too few systems ({n}) or tasks of weight above 0 ({T}): at least 3 systems and 2 tasks are needed"
    if (largest := max(_sizes_of(matrix, parameters))) > MAX_TIMES * T:
        return f"{largest:,} tasks cannot be drawn from {T}: at most {MAX_TIMES} times as many can"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    n_rankings = parameters["n_resamples"] * len(_sizes_of(matrix, parameters))
    return make_plan(matrix, parameters, n_rankings, parameters["n_resamples"], is_batched)


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="tasks_needed",
    name="Tasks needed",
    question="How many tasks, drawn from those that there are, does each rule need until its ranking settles?",
    source="Pavao et al. 2021, sections 2.3 and 4",
    declared=(
        known.rules(),
        Parameter(
            "sizes",
            None,
            INTEGERS,
            "Numbers of tasks",
            "How many tasks to draw; by default up to four times the number of tasks.",
            least=1,
            most=100_000,
        ),
        Parameter(
            "n_resamples",
            60,
            INTEGER,
            "Draws of each size",
            "How many draws of each size to rank and compare, each with all others.",
            least=2,
            most=1_000,
        ),
        Parameter("target", 0.9, NUMBER, "Target", "The value that a criterion has to reach.", most=1),
        known.correlation(tuple(CORRELATIONS)),
        known.missing(),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda matrix, parameters: len(_sizes_of(matrix, parameters))),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_resamples",
    axes=("sizes",),
    runs_with_boards=False,
)
