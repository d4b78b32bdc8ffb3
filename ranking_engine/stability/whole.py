"""The studies that are not made of trials: diversity, significance, and sensitivity with its proof.

Each is one chunk, but for cardinal sensitivity, which is one for each feasible set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.core.missing import complete
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability.diversity import diversity
from ranking_engine.stability.sensitivity.cardinal import FEASIBLE_SETS, cardinal_sensitivity
from ranking_engine.stability.sensitivity.ordinal import ordinal_sensitivity
from ranking_engine.stability.sensitivity.proof import BOX_WORK, MAX_PROGRAMS
from ranking_engine.stability.sensitivity.subsets import MAX_NODES
from ranking_engine.stability.separability.pair_tests import LEVEL, PairTests
from ranking_engine.stability.separability.significance import TOP, significance
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult

_SUMMARY = "summary.json"  # how a partial result holds its summary, as bytes
_FEW = "fewer than two systems have a score on a voting task"

Run = Callable[[ScoreMatrix, Parameters, int, int, Progress | None], StudyResult]


def _chunked(run: Run) -> Callable[..., Arrays]:
    """Make `run` return arrays alone; the summary is one of them."""

    def run_chunk(
        matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
    ) -> Arrays:
        found = run(matrix, parameters, seed, chunk, progress)
        text = json.dumps(found.summary, allow_nan=False).encode()
        return {_SUMMARY: np.frombuffer(text, dtype=np.uint8), **found.arrays}

    return run_chunk


def _summary_of(partial: Arrays) -> dict[str, Any]:
    return dict(json.loads(partial[_SUMMARY].tobytes()))


def _rest_of(partial: Arrays) -> Arrays:
    return {name: array for name, array in partial.items() if name != _SUMMARY}


def _only(_matrix: ScoreMatrix, _parameters: Parameters, _seed: int, partials: Sequence[Arrays]) -> StudyResult:
    return StudyResult(_summary_of(partials[0]), _rest_of(partials[0]))


def _one(_matrix: ScoreMatrix, _parameters: Parameters) -> int:
    return 1


def _done(progress: Progress | None) -> None:
    if progress is not None:
        progress(1, 1)


def _why_no_pair(matrix: ScoreMatrix, _parameters: Parameters) -> str:
    return _FEW if matrix.has_score.sum() < 2 else ""


def _run_diversity(
    matrix: ScoreMatrix, _parameters: Parameters, _seed: int, _chunk: int, progress: Progress | None
) -> StudyResult:
    found = diversity(matrix)
    _done(progress)
    summary = {**found.summary(), "tasks": list(found.tasks)}
    return StudyResult(summary, {"max_rank_changes": found.max_rank_changes, "kendall_tau": found.kendall_tau})


DIVERSITY = Study(
    key="diversity",
    name="Diversity",
    question="How much do the tasks disagree about the systems?",
    source="Zhang and Hardt 2024, section 4.1; Colombo et al. 2022, eq. 3",
    parameters={},
    n_chunks=_one,
    estimate=lambda matrix, _: 0.02 + 2e-9 * matrix.n_tasks**2 * matrix.n_systems**2 + 1e-5 * matrix.values.size,
    run_chunk=_chunked(_run_diversity),
    merge=_only,
    why_not=_why_no_pair,
)


def _ranking(matrix: ScoreMatrix, parameters: Parameters) -> Ranking:
    """By the rule named, by default Borda, and Copeland where scores are missing."""
    is_complete = bool(matrix.is_complete[matrix.has_score].all())
    rule = parameters["rule"] or ("borda" if is_complete else "copeland")
    return rank(matrix, rule, missing=parameters["missing"])


def _why_nothing_to_separate(matrix: ScoreMatrix, parameters: Parameters) -> str:
    ranking = _ranking(matrix, parameters)
    if ranking.status == "undefined":
        return ranking.reason
    return "fewer than two systems are ranked" if ranking.n_ranked < 2 else ""


def _run_significance(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, _chunk: int, progress: Progress | None
) -> StudyResult:
    ranking = _ranking(matrix, parameters)
    chosen = {name: parameters[name] for name in ("top", "level", "scale", "pool")}
    found = significance(matrix, ranking, seed=seed, missing=parameters["missing"], **chosen)
    _done(progress)
    arrays: Arrays = {"order": np.array(found.order, dtype=np.int32)}
    for name in ("neighbours", "top", "every_pair"):
        arrays.update(_tests(name, getattr(found, name)))
    return StudyResult({"rule": ranking.rule, **found.summary()}, arrays)


def _tests(name: str, tests: PairTests) -> Arrays:
    fields = ("pairs", "differences", "n_units", "p_values", "adjusted", "least_adjusted", "verdicts")
    return {f"{name}.{field}": getattr(tests, field) for field in fields}


SIGNIFICANCE = Study(
    key="significance",
    name="Significance",
    question="Which systems can be told apart, and where are there too few tasks to tell?",
    source="Demšar 2006; Benavoli et al. 2016",
    parameters={
        "rule": None,
        "missing": "drop_systems",
        "top": TOP,
        "level": LEVEL,
        "scale": "sd",
        "pool": None,
    },
    n_chunks=_one,
    estimate=lambda matrix, _: 0.05 + (4e-5 if matrix.n_tasks <= 20 else 1e-3) * matrix.n_systems**2 / 2,
    run_chunk=_chunked(_run_significance),
    merge=_only,
    why_not=_why_nothing_to_separate,
)


def _why_not_cardinal(matrix: ScoreMatrix, parameters: Parameters) -> str:
    part = complete(matrix, parameters["missing"]).matrix
    if part is None or part.n_systems < 2:
        return "fewer than two systems have all scores"
    return "" if (part.scores != part.scores[0]).any() else "no task tells any two systems apart"


def _run_cardinal(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None
) -> StudyResult:
    feasible = tuple(parameters["feasible"])[chunk]
    found = cardinal_sensitivity(
        matrix,
        feasible=feasible,
        missing=parameters["missing"],
        max_programs=parameters["max_programs"],
        seed=seed,
        progress=progress,
    )
    arrays: Arrays = {f"{feasible}.reference": found.reference}
    for name in ("discordant_share", "max_rank_change"):
        interval = getattr(found, name)
        if interval is not None:
            arrays[f"{feasible}.{name}.ranks"] = interval.ranks
    return StudyResult({"systems": list(found.systems), "found": found.summary()}, arrays)


def _merge_cardinal(
    _matrix: ScoreMatrix, parameters: Parameters, _seed: int, partials: Sequence[Arrays]
) -> StudyResult:
    summaries = [_summary_of(partial) for partial in partials]
    found = {name: summary["found"] for name, summary in zip(parameters["feasible"], summaries, strict=True)}
    arrays = {name: array for partial in partials for name, array in _rest_of(partial).items()}
    return StudyResult({"systems": summaries[0]["systems"], "feasible": found}, arrays)


def _cardinal_seconds(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """The search and the halving of boxes, and all relaxations where these hardly ever suffice."""
    n, T = matrix.n_systems, matrix.n_tasks
    rows = n * (n - 1) / 2
    each = 1e-3 + 1e-6 * rows + 1.2e-9 * rows * T**2
    is_hard = T > 8 and n > 12
    search = 0.5 + min(3e8, rows * T * 3 * T) * 2e-8
    halving = min(1.0, rows * T / 1000) * 1.5e-9 * BOX_WORK  # for the pairs, and about as much for the rank changes
    relaxing = 1.5 * parameters["max_programs"] * each if is_hard else 0.0
    return len(parameters["feasible"]) * (search + 2 * halving + relaxing)


CARDINAL = Study(
    key="cardinal_sensitivity",
    name="Cardinal sensitivity",
    question="How far can other task weights move the ranking by mean score?",
    source="Zhang and Hardt 2024, section 4.2, algorithm 1",
    parameters={
        "feasible": list(FEASIBLE_SETS),
        "missing": "drop_systems",
        "max_programs": MAX_PROGRAMS,
    },
    n_chunks=lambda _, parameters: len(parameters["feasible"]),
    estimate=_cardinal_seconds,
    run_chunk=_chunked(_run_cardinal),
    merge=_merge_cardinal,
    why_not=_why_not_cardinal,
    steps="max_programs",
)


def _why_not_ordinal(matrix: ScoreMatrix, parameters: Parameters) -> str:
    size = parameters["n_top"] or matrix.n_systems // 5
    if size < 2:
        return f"the first fifth of {matrix.n_systems} systems has no pair"
    n_scored = int(matrix.has_score.sum())
    return f"{n_scored} systems have a score; {size} make the top" if n_scored < size else ""


def _run_ordinal(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, _chunk: int, progress: Progress | None
) -> StudyResult:
    chosen = {name: parameters[name] for name in ("n_top", "max_nodes")}
    found = ordinal_sensitivity(matrix, seed=seed, progress=progress, **chosen)
    arrays: Arrays = {"reference": found.reference}
    for name in ("discordant_share", "max_rank_change"):
        interval = getattr(found, name)
        if interval is not None:
            arrays[f"{name}.ranks"] = interval.ranks
    return StudyResult(found.summary(), arrays)


def _ordinal_seconds(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """The search, and a tenth of the branches allowed: most programs need fewer."""
    size = parameters["n_top"] or matrix.n_systems // 5
    cells = min(5e5, size**2 / 2 * matrix.n_systems)
    return 0.2 + 8e-6 * cells + 4e-6 * min(size, 40) ** 2 * parameters["max_nodes"]


ORDINAL = Study(
    key="ordinal_sensitivity",
    name="Ordinal sensitivity",
    question="How far can adding lower systems move the ranking of the top by win rate?",
    source="Zhang and Hardt 2024, section 4.2, algorithm 2",
    parameters={"n_top": None, "max_nodes": MAX_NODES},
    n_chunks=_one,
    estimate=_ordinal_seconds,
    run_chunk=_chunked(_run_ordinal),
    merge=_only,
    why_not=_why_not_ordinal,
    steps="max_nodes",
)

WHOLE_STUDIES = (DIVERSITY, SIGNIFICANCE, CARDINAL, ORDINAL)
