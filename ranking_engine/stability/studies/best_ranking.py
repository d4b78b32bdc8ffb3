"""Best ranking: the order that is closest to the tasks under several measures, and how far each rule is from it.

RANKY, the package of Pavao et al. 2021, looks for the ranking that agrees best with all judges under a measure that its
user names. Here the measures of `core/closest_orders.py` are minimised: all but Kendall's distance exactly, as an
assignment of systems to places; Kendall's by Kemeny's rule, with its own proof. Distances are means over the tasks, by
their weights, as shares of the largest distance between two orders.

The closest orders are without ties. A rule that ties systems gives them the mean of their places and can then come out
closer than any of these orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ranking_engine.core.closest_orders import (
    KENDALL,
    MEASURES,
    closest_order,
    mean_distance,
    task_shares,
)
from ranking_engine.core.comparison import task_ranks
from ranking_engine.core.missing import complete
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.parameters import CHOICE, RULE, Parameter
from ranking_engine.stability.plan import Plan, make_plan, one_by_one_seconds
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.studies.whole import side_by_side
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult, plain

NUMBER_OF_STUDY = 13

MOST_SYSTEMS = 1_500  # an assignment takes their cube
_KEMENY = "kemeny"


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `best.<measure>`, the places in the closest order, and `<rule>.ranks`, of the systems that take part."""
    del seed, chunk
    part, plan = _complete(matrix, parameters), _plan(matrix, parameters)
    of_tasks, shares = task_ranks(part), task_shares(part)
    rankings = {rule: ranking for ranked in plan.parts for rule, ranking in ranked.reference.items()}
    arrays: Arrays = {f"{rule}.ranks": rankings[rule].average_ranks for rule in plan.rules}
    for done, measure in enumerate(MEASURES):
        if measure != KENDALL:
            arrays[f"best.{measure}"] = closest_order(measure, of_tasks, shares).astype(np.float64)
        elif not _why_no_kemeny(part, parameters):
            alone = Alone({_KEMENY: float(parameters["budget"])})
            ranking = alone.rankings(part, [_KEMENY], parameters["missing"])[_KEMENY]
            arrays[f"best.{measure}"] = ranking.average_ranks
            arrays["kendall_proven"] = alone.proven(_KEMENY)
        if progress is not None:
            progress(done + 1, len(MEASURES))
    return arrays


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return the distances of the closest orders and of all rules, and one closest order beside one rule's ranking."""
    arrays, part, plan = partials[0], _complete(matrix, parameters), _plan(matrix, parameters)
    of_tasks, shares = task_ranks(part), task_shares(part)
    best: dict[str, Any] = {}
    for measure in MEASURES:
        places = arrays.get(f"best.{measure}")
        is_proven = measure != KENDALL or bool(arrays.get("kendall_proven", np.zeros(1)).all())
        best[measure] = {
            "distance": None if places is None else plain(mean_distance(measure, places, of_tasks, shares)),
            "proven": places is not None and is_proven,
            "reason": _why_no_kemeny(part, parameters) if places is None else "",
        }
    ranks = {rule: arrays[f"{rule}.ranks"] for rule in plan.rules}
    beside = parameters["rule"] if parameters["rule"] in ranks else next(iter(ranks))
    summary = {
        "measure": parameters["measure"],
        "rule": beside,
        "n_systems": part.n_systems,
        "n_tasks": len(of_tasks),
        "best": best,
        "rules": {
            rule: {measure: plain(mean_distance(measure, mine, of_tasks, shares)) for measure in MEASURES}
            for rule, mine in ranks.items()
        },
        "not_studied": dict(plan.not_studied),
    }
    if f"best.{parameters['measure']}" in arrays:
        closest = arrays[f"best.{parameters['measure']}"]
        summary["side_by_side"] = side_by_side(part.system_names, ranks[beside], closest)
    return StudyResult(summary, dict(arrays))


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take: the assignments, and every rule once."""
    part, plan = _complete(matrix, parameters), _plan(matrix, parameters)
    n, T = part.n_systems, part.n_tasks
    measured = 1e-8 * n * n * T * (len(plan.rules) + len(MEASURES))
    kemeny = 0.0 if _why_no_kemeny(part, parameters) else one_by_one_seconds(_KEMENY, part)
    return 0.05 + plan.slow_seconds + kemeny + measured + len(MEASURES) * 3e-10 * n**3


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to put in order."""
    completed = complete(matrix, parameters["missing"])
    if completed.matrix is None:
        return completed.reason
    n = completed.matrix.n_systems
    if n < 2:
        return "fewer than two systems have all scores"
    if n > MOST_SYSTEMS:
        return f"{n:,} systems are ranked; closest orders are computed for at most {MOST_SYSTEMS:,}"
    plan = _plan(matrix, parameters)
    return "" if plan.rules else next(iter(plan.not_studied.values()), "no rule ranks these systems")


def _complete(matrix: ScoreMatrix, parameters: Parameters) -> ScoreMatrix:
    completed = complete(matrix, parameters["missing"])
    if completed.matrix is None:
        raise ValueError(f"nothing to rank: {completed.reason}")
    return completed.matrix


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    part = complete(matrix, parameters["missing"]).matrix
    once = {**parameters, "more_repeats": 1.0}
    return make_plan(matrix if part is None else part, once, 1, 1, lambda rule, board: False)


def _why_no_kemeny(part: ScoreMatrix, parameters: Parameters) -> str:
    """Return why Kendall's distance is not minimised; empty where it is."""
    return _plan(part, {**parameters, "rules": [_KEMENY]}).not_studied.get(_KEMENY, "")


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="best_ranking",
    name="Best ranking",
    question="Which order is closest to the tasks, and how far is each rule from it?",
    source="RANKY, the package of Pavao et al. 2021; Dwork et al. 2001, for the footrule",
    declared=(
        Parameter(
            "measure",
            "footrule",
            CHOICE,
            "Measure",
            "The measure whose closest order is shown; distances are computed under all of them.",
            choices=tuple(MEASURES),
        ),
        Parameter("rule", "borda", RULE, "Compared with", "The rule whose ranking is shown beside the closest order."),
        known.rules(),
        known.missing(),
        known.budget()[0],
    ),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    runs_with_boards=False,
)
