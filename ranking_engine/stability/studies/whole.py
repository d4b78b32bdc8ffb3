"""The studies that are not made of trials: diversity, significance, and sensitivity with its proof.

Each is one chunk, except cardinal sensitivity, which is one for each feasible set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.core.missing import complete
from ranking_engine.core.ranking import Ranking
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.diversity import diversity
from ranking_engine.stability.parameters import CHOICE, CHOICES, INTEGER, NUMBER, NUMBERS, RULE, TEXTS, Parameter
from ranking_engine.stability.sensitivity.cardinal import FEASIBLE_SETS, LEAST_WEIGHT, Feasible, cardinal_sensitivity
from ranking_engine.stability.sensitivity.ordinal import ordinal_sensitivity, top_size, why_no_top
from ranking_engine.stability.sensitivity.proof import BOX_WORK, MAX_PROGRAMS
from ranking_engine.stability.sensitivity.subsets import MAX_NODES
from ranking_engine.stability.separability.pair_tests import LEVEL
from ranking_engine.stability.separability.significance import TOP, significance
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult

_SUMMARY = "summary.json"  # how a partial result holds its summary, as bytes
MOST_SIDE_BY_SIDE = 40  # systems of two rankings that a summary tells
_FEW = "fewer than two systems have a score on a task of weight above 0"

Run = Callable[[ScoreMatrix, Parameters, int, int, Progress | None], StudyResult]


def _chunked(run: Run) -> Callable[..., Arrays]:
    """Make `run` return arrays alone; the summary is one of them."""

    def run_chunk(
        matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
    ) -> Arrays:
        result = run(matrix, parameters, seed, chunk, progress)
        text = json.dumps(result.summary, allow_nan=False).encode()
        return {_SUMMARY: np.frombuffer(text, dtype=np.uint8), **result.arrays}

    return run_chunk


def _summary_of(partial: Arrays) -> dict[str, Any]:
    return dict(json.loads(partial[_SUMMARY].tobytes()))


def _rest_of(partial: Arrays) -> Arrays:
    return {name: array for name, array in partial.items() if name != _SUMMARY}


def side_by_side(systems: Sequence[str], before: FloatArray, after: FloatArray) -> dict[str, list[Any]]:
    """Return the first systems that two rankings rank, with their ranks in both, for a summary."""
    order = np.argsort(before, kind="stable")
    first = order[~np.isnan(before[order] + after[order])][:MOST_SIDE_BY_SIDE].tolist()
    return {
        "systems": [systems[i] for i in first],
        "before": [float(before[i]) for i in first],
        "after": [float(after[i]) for i in first],
    }


def _only(_matrix: ScoreMatrix, _parameters: Parameters, _seed: int, partials: Sequence[Arrays]) -> StudyResult:
    return StudyResult(_summary_of(partials[0]), _rest_of(partials[0]))


def _done(progress: Progress | None) -> None:
    if progress is not None:
        progress(1, 1)


def _why_no_pair(matrix: ScoreMatrix, _parameters: Parameters) -> str:
    return _FEW if matrix.has_score.sum() < 2 else ""


def _run_diversity(
    matrix: ScoreMatrix, _parameters: Parameters, _seed: int, _chunk: int, progress: Progress | None
) -> StudyResult:
    figures = diversity(matrix)
    _done(progress)
    summary = {**figures.summary(), "tasks": list(figures.tasks)}
    return StudyResult(summary, {"max_rank_changes": figures.max_rank_changes, "kendall_tau": figures.kendall_tau})


DIVERSITY = Study(
    number=6,
    key="diversity",
    name="Diversity",
    question="How much do the tasks disagree about the systems?",
    source="Zhang and Hardt 2024, section 4.1; Colombo et al. 2022, eq. 3",
    declared=(),
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
    answer = significance(matrix, ranking, seed=seed, missing=parameters["missing"], **chosen)
    _done(progress)
    arrays: Arrays = {"order": np.array(answer.order, dtype=np.int32)}
    for name in ("neighbours", "top", "every_pair"):
        for field in ("pairs", "differences", "n_units", "p_values", "adjusted", "least_adjusted", "verdicts"):
            arrays[f"{name}.{field}"] = getattr(getattr(answer, name), field)
    summary = {"rule": ranking.rule, **answer.summary()}
    names = matrix.system_names
    summary["runs"] = [{**run, "systems": [names[i] for i in run["systems"]]} for run in summary["runs"]]
    return StudyResult(summary, arrays)


SIGNIFICANCE = Study(
    number=7,
    key="significance",
    name="Significance",
    question="Which systems differ significantly, and where are there too few tasks to tell?",
    source="Demšar 2006; Benavoli et al. 2016",
    declared=(
        Parameter("rule", None, RULE, "Rule", "Borda by default, or Copeland if scores are missing."),
        known.missing(),
        Parameter(
            "top", TOP, INTEGER, "First systems", "Test all pairs of this many first systems.", least=2, most=1_000
        ),
        Parameter("level", LEVEL, NUMBER, "Level", "The significance level of the tests.", least=0.0001, most=0.5),
        Parameter(
            "scale",
            "sd",
            CHOICE,
            "Unit of differences",
            "For rules that add up nothing over tasks; sd: the standard deviation of each task.",
            choices=("sd", "none"),
        ),
        Parameter(
            "pool",
            None,
            TEXTS,
            "Compared systems",
            "Systems for the critical difference, by name; choose them before you see results.",
            most_items=20,
        ),
    ),
    estimate=lambda matrix, _: 0.05 + (4e-5 if matrix.n_tasks <= 20 else 1e-3) * matrix.n_systems**2 / 2,
    run_chunk=_chunked(_run_significance),
    merge=_only,
    why_not=_why_nothing_to_separate,
)


def _why_not_cardinal(matrix: ScoreMatrix, parameters: Parameters) -> str:
    part = complete(matrix, parameters["missing"]).matrix
    if part is None or part.n_systems < 2:
        return "fewer than two systems have all scores"
    return "" if (part.scores != part.scores[0]).any() else "on every task all systems are equal"


def _run_cardinal(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None
) -> StudyResult:
    feasible, least_weight = _places(parameters)[chunk]
    sensitivity = cardinal_sensitivity(
        matrix,
        feasible=feasible,
        least_weight=least_weight,
        missing=parameters["missing"],
        max_programs=parameters["max_programs"],
        seed=seed,
        progress=progress,
    )
    figures = sensitivity.summary()
    if least_weight != parameters["least_weights"][0]:
        return StudyResult({"systems": list(sensitivity.systems), "figures": figures}, {})
    if sensitivity.discordant_share is not None:
        ranks = sensitivity.discordant_share.ranks
        figures["side_by_side"] = side_by_side(sensitivity.systems, sensitivity.reference, ranks)
    arrays: Arrays = {f"{feasible}.reference": sensitivity.reference}
    for name in ("discordant_share", "max_rank_change"):
        interval = getattr(sensitivity, name)
        if interval is not None:
            arrays[f"{feasible}.{name}.ranks"] = interval.ranks
    return StudyResult({"systems": list(sensitivity.systems), "figures": figures}, arrays)


def _merge_cardinal(
    _matrix: ScoreMatrix, parameters: Parameters, _seed: int, partials: Sequence[Arrays]
) -> StudyResult:
    """Return the figures of each set under the first ε, and under several the curve of each set over them."""
    summaries = [_summary_of(partial) for partial in partials]
    least_weights = list(parameters["least_weights"])
    by_set: dict[str, Any] = {}
    curves: dict[str, list[dict[str, Any]]] = {}
    for (name, least_weight), summary in zip(_places(parameters), summaries, strict=True):
        figures = summary["figures"]
        by_set.setdefault(name, figures)
        # At one ε a curve says the bounds without the weights that reach them.
        point: dict[str, Any] = {"least_weight": least_weight}
        for figure in ("discordant_share", "max_rank_change"):
            if figure in figures:
                point[figure] = {bound: figures[figure][bound] for bound in ("lower", "upper", "proven")}
        if "tau_b_distance" in figures:
            point["tau_b_distance"] = figures["tau_b_distance"]["lower"]
        curves.setdefault(name, []).append(point)
    arrays = {name: array for partial in partials for name, array in _rest_of(partial).items()}
    summary = {"systems": summaries[0]["systems"], "least_weight": least_weights[0], "feasible": by_set}
    return StudyResult(summary | ({"curve": curves} if len(least_weights) > 1 else {}), arrays)


def _places(parameters: Parameters) -> list[tuple[Feasible, float]]:
    """Return the set of weights and the ε of each chunk."""
    return [(name, float(least)) for name in parameters["feasible"] for least in parameters["least_weights"]]


def _cardinal_seconds(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """The search and the halving of boxes, and all relaxations where these hardly ever suffice."""
    n, T = matrix.n_systems, matrix.n_tasks
    rows = n * (n - 1) / 2
    each = 1e-3 + 1e-6 * rows + 1.2e-9 * rows * T**2
    is_hard = T > 8 and n > 12
    search = 0.5 + min(3e8, rows * T * 3 * T) * 2e-8
    halving = min(1.0, rows * T / 1000) * 1.5e-9 * BOX_WORK  # for the pairs, and about as much for the rank changes
    relaxing = 1.5 * parameters["max_programs"] * each if is_hard else 0.0
    return len(_places(parameters)) * (search + 2 * halving + relaxing)


CARDINAL = Study(
    number=8,
    key="cardinal_sensitivity",
    name="Cardinal sensitivity",
    question="How far can other task weights move the ranking by mean score?",
    source="Zhang and Hardt 2024, section 4.2, algorithm 1",
    declared=(
        Parameter(
            "feasible",
            list(FEASIBLE_SETS),
            CHOICES,
            "Sets of weights",
            "box: as in the paper; scaled: as in its code.",
            choices=FEASIBLE_SETS,
            most_items=2,
        ),
        Parameter(
            "least_weights",
            [LEAST_WEIGHT],
            NUMBERS,
            "ε",
            "The least share of a task’s differences that noise preserves; several values make a curve.",
            least=1e-6,
            most=1,
            most_items=20,
        ),
        known.missing(),
        Parameter(
            "max_programs", MAX_PROGRAMS, INTEGER, "Programs", "The most programs to solve for a proof.", most=100_000
        ),
    ),
    n_chunks=lambda _, parameters: len(_places(parameters)),
    estimate=_cardinal_seconds,
    run_chunk=_chunked(_run_cardinal),
    merge=_merge_cardinal,
    why_not=_why_not_cardinal,
    steps="max_programs",
)


def _why_not_ordinal(matrix: ScoreMatrix, parameters: Parameters) -> str:
    return why_no_top(matrix, parameters["n_top"])


def _run_ordinal(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, _chunk: int, progress: Progress | None
) -> StudyResult:
    chosen = {name: parameters[name] for name in ("n_top", "max_nodes")}
    sensitivity = ordinal_sensitivity(matrix, seed=seed, progress=progress, **chosen)
    arrays: Arrays = {"reference": sensitivity.reference}
    for name in ("discordant_share", "max_rank_change"):
        interval = getattr(sensitivity, name)
        if interval is not None:
            arrays[f"{name}.ranks"] = interval.ranks
    summary = sensitivity.summary()
    if sensitivity.discordant_share is not None:
        ranks = sensitivity.discordant_share.ranks
        summary["side_by_side"] = side_by_side(sensitivity.top, sensitivity.reference, ranks)
    return StudyResult(summary, arrays)


def _ordinal_seconds(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """The search, and a tenth of the branches allowed: most programs need fewer."""
    size = top_size(matrix, parameters["n_top"])
    cells = min(5e5, size**2 / 2 * matrix.n_systems)
    return 0.2 + 8e-6 * cells + 4e-6 * min(size, 40) ** 2 * parameters["max_nodes"]


ORDINAL = Study(
    number=9,
    key="ordinal_sensitivity",
    name="Ordinal sensitivity",
    question="How far can adding lower systems move the ranking of the top by win rate?",
    source="Zhang and Hardt 2024, section 4.2, algorithm 2",
    declared=(
        Parameter(
            "n_top",
            None,
            INTEGER,
            "First systems",
            "How many first systems to rank; by default a fifth, at least 2.",
            least=2,
            most=100_000,
        ),
        Parameter("max_nodes", MAX_NODES, INTEGER, "Nodes", "The most nodes to search for a proof.", most=1_000_000),
    ),
    estimate=_ordinal_seconds,
    run_chunk=_chunked(_run_ordinal),
    merge=_only,
    why_not=_why_not_ordinal,
    steps="max_nodes",
)
