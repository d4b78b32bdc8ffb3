"""Missing scores: how a ranking changes when scores are deleted at random.

Rofin et al. 2023, Vote'n'Rank, section 3.3 (figure 2): at each level a share of the scores is deleted, and Spearman's
correlation of the noisy with the full ranking is taken over the first 7 systems of the noisy one.

Departures from the paper and its code:
- Observed scores of voting tasks are deleted, not cells: a cell that is missing already, or whose task does not vote,
  cannot be drawn. The number is the share of them, rounded.
- Ranks are correlated, with average ranks for ties, not scores rounded to two decimals.
- The first 7 are all systems of rank 7 or better, tied ones included, not the first 7 rows of an unstable sort.
- A correlation that does not exist, because all of these systems tie, is counted apart instead of spoiling the mean.
- Every rule that ranks is studied, not four of them.
- Beside each rule is what it makes of the same tables with all gaps filled, under every policy that fills them, at
  a few levels: rules that need all scores rank such tables, the others compare systems on common tasks. What of a
  difference between two rules is gone on equal tables comes from how gaps are filled, and not from the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import UNRANKED, average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.kernels.tables import MatrixBatch
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import CORRELATIONS
from ranking_engine.stability.parameters import FLAG, INTEGER, NUMBERS, Parameter
from ranking_engine.stability.plan import PROVEN, Part, Plan, make_plan
from ranking_engine.stability.resampling.batches import IMPUTING, batch_scores, completed, is_batched
from ranking_engine.stability.study import (
    Arrays,
    Parameters,
    Progress,
    Study,
    StudyResult,
    blocks,
    cut_by_cost,
    deviation_of,
    generator,
    joined,
    mean_of,
    plain_list,
    span,
)

NUMBER = 1

_BLOCK_CELLS = 1 << 21
_CELL_SECONDS = 2e-8  # of a score or a comparison, for all rules together


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.<correlation>`, shape (repeats of the chunk, levels), and `<rule>.filled_<policy>`.

    Rules that are too slow for all repeats have a row for every so-many-th, see `plan.Sparse`. The latter, of rules
    that are scored in batches, are for tables without gaps at the levels of `filled_levels`, of the same repeats.
    """
    plan = _plan(matrix, parameters)
    repeats = span(chunk, STUDY.n_chunks(matrix, parameters), parameters["n_repeats"])
    if not plan.parts:
        return {}
    part, levels, alone = plan.parts[0], len(parameters["levels"]), plan.alone()
    figure = parameters["correlation"]
    arrays: Arrays = {}
    groups = plan.by_repeats(part)
    for done, (every, group) in enumerate(sorted(groups.items())):
        mine = [repeat for repeat in repeats if repeat % every == 0]
        trials = range(len(mine) * levels)
        correlations = {rule: np.full(len(trials), np.nan) for rule in group}
        for block in blocks(trials, _height(part.matrix)):
            drawn = [(mine[trial // levels], trial % levels) for trial in block]
            gaps = MatrixBatch(part.matrix, _with_gaps(part, parameters, seed, drawn))
            for rule, noisy in batch_scores(gaps, group, parameters["missing"], alone).items():
                reference = part.reference[rule].average_ranks
                correlations[rule][block.start : block.stop] = _of_the_first(reference, noisy, parameters)
            if progress is not None:
                progress(done * len(trials) + block.stop, len(groups) * len(trials))
        arrays |= {f"{rule}.{figure}": values.reshape(-1, levels) for rule, values in correlations.items()}
    arrays |= plan.proven(alone)
    # The same of tables whose gaps are filled, compared with the full table, filled; of as many repeats as above.
    places = filled_levels(parameters["levels"])
    filled: Arrays = {}
    whole = MatrixBatch(part.matrix, part.matrix.scores[None])
    for every, group in sorted(groups.items()):
        rules = [rule for rule in group if is_batched(rule, part.matrix)]
        references = {policy: batch_scores(completed(whole, policy), rules, policy) for policy in IMPUTING}
        draws = [(repeat, place) for repeat in repeats if repeat % every == 0 for place in places]
        filled |= {f"{rule}.filled_{policy}": np.full(len(draws), np.nan) for policy in IMPUTING for rule in rules}
        for block in blocks(range(len(draws) if rules else 0), _height(part.matrix)):
            gaps = MatrixBatch(part.matrix, _with_gaps(part, parameters, seed, [draws[k] for k in block]))
            for policy in IMPUTING:
                for rule, noisy in batch_scores(completed(gaps, policy), rules, policy).items():
                    reference = average_ranks(ranks_of(references[policy][rule]))[0]
                    values = _of_the_first(reference, noisy, parameters)
                    filled[f"{rule}.filled_{policy}"][block.start : block.stop] = values
    return arrays | {name: values.reshape(-1, len(places)) for name, values in filled.items()}


def filled_levels(levels: Sequence[float]) -> list[int]:
    """Return the places in `levels` at which filled tables are ranked, too: about 5, 10 and 20 %, and up to 10 %."""
    wanted = {next((k for k, level in enumerate(levels) if level >= at), len(levels) - 1) for at in (5, 10, 20)}
    return sorted(wanted | {reported_level(levels)})


def reported_level(levels: Sequence[float]) -> int:
    """Return the place in `levels` of the one that sentences report: the largest up to 10 %, else the least."""
    return max(range(len(levels)), key=lambda k: (levels[k] <= 10, levels[k] if levels[k] <= 10 else -levels[k]))


def _with_gaps(part: Part, parameters: Parameters, seed: int, drawn: Sequence[tuple[int, int]]) -> FloatArray:
    levels = parameters["levels"]
    return np.array([with_gaps(part.matrix, levels[level], seed, repeat, level) for repeat, level in drawn])


def with_gaps(matrix: ScoreMatrix, percent: float, seed: int, repeat: int, level: int) -> FloatArray:
    """Return the oriented scores without `percent` of those that are there, drawn for one repeat and level."""
    scores = matrix.scores.copy()
    observed = np.flatnonzero(~np.isnan(scores))
    n_deleted = round(percent / 100 * len(observed))
    drawn = generator(seed, NUMBER, repeat, level).permutation(len(observed))[:n_deleted]
    scores.flat[observed[drawn]] = np.nan
    return scores


def _of_the_first(reference: FloatArray, noisy: FloatArray, parameters: Parameters) -> FloatArray:
    """Correlate over the systems of rank `top` or better in the noisy ranking, or in the reference."""
    ranks = ranks_of(noisy)
    if parameters["fixed_top"]:
        first = np.broadcast_to(ranks_of(-reference[None]), ranks.shape)
    else:
        first = ranks
    among = (first <= parameters["top"]) & (first != UNRANKED)
    return CORRELATIONS[parameters["correlation"]](reference[None], average_ranks(ranks), among)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule the curves over levels: mean, standard deviation, number of undefined correlations.

    `filled` are the means on tables without gaps, by policy, at some of the levels.
    """
    arrays, plan = joined(partials), _plan(matrix, parameters)
    rules: dict[str, Any] = {}
    levels = [parameters["levels"][k] for k in filled_levels(parameters["levels"])]
    for name, values in arrays.items():
        rule, _, figure = name.rpartition(".")
        if figure == PROVEN:
            continue
        mean = plain_list(mean_of(values, axis=0))
        if figure.startswith("filled_"):
            rules[rule].setdefault("filled", {})[figure.removeprefix("filled_")] = {"levels": levels, "mean": mean}
            continue
        rules[rule] = {
            "mean": mean,
            "deviation": plain_list(deviation_of(values, axis=0)),
            "n_undefined": np.isnan(values).sum(axis=0).tolist(),
        }
    n_observed = max(np.count_nonzero(~np.isnan(part.matrix.scores)) for part in plan.parts)
    summary = {
        "levels": list(parameters["levels"]),
        "n_deleted": [round(level / 100 * n_observed) for level in parameters["levels"]],
        "n_repeats": parameters["n_repeats"],
        "top": min(parameters["top"], max(part.matrix.n_systems for part in plan.parts)),
        "correlation": parameters["correlation"],
        "missing": parameters["missing"],
        "rules": rules,
        **plan.closing(parameters["n_repeats"], arrays),
    }
    return StudyResult(summary, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    n, T = matrix.n_systems, int(matrix.votes.sum())
    n_levels, n_filled = len(parameters["levels"]), len(filled_levels(parameters["levels"])) * len(IMPUTING)
    quick_seconds = parameters["n_repeats"] * n_levels * _CELL_SECONDS * n * (n + T) * max(1, T / 8)
    plan = _plan(matrix, parameters)
    slow_and_filled = sum(slow.seconds for rule, slow in plan.sparse.items() if is_batched(rule, matrix))
    return quick_seconds + plan.slow_seconds + slow_and_filled * n_filled / n_levels


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to delete from, or nothing to correlate."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    if scored.matrix.n_systems < 3:
        return f"systems with scores: {scored.matrix.n_systems}; at least 3 are needed to correlate rankings"
    if not _plan(matrix, parameters).parts:
        return "no rule ranks these systems"
    return ""


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    n_rankings = parameters["n_repeats"] * len(parameters["levels"])
    return make_plan(matrix, parameters, n_rankings, parameters["n_repeats"], is_batched, is_imputed_later=True)


def _height(matrix: ScoreMatrix) -> int:
    return max(1, _BLOCK_CELLS // (matrix.n_systems * max(matrix.n_systems, matrix.n_tasks)))


def _check(parameters: Parameters) -> None:
    if parameters["missing"] not in IMPUTING:
        raise ValueError(f"`missing` is {parameters['missing']!r}; this study expects one of {', '.join(IMPUTING)}")
    if parameters["n_repeats"] < 1:
        raise ValueError(f"`n_repeats` is {parameters['n_repeats']}; expected at least 1")
    if not parameters["levels"] or not all(0 <= level < 100 for level in parameters["levels"]):
        raise ValueError(f"`levels` is {parameters['levels']}; expected percentages from 0 to below 100")
    if parameters["top"] < 2:
        raise ValueError(f"`top` is {parameters['top']}; expected at least 2")
    if parameters["correlation"] not in CORRELATIONS:
        raise ValueError(f"`correlation` is {parameters['correlation']!r}; expected one of {', '.join(CORRELATIONS)}")


STUDY = Study(
    number=NUMBER,
    key="missing_scores",
    name="Missing scores",
    question="How does each ranking change when scores go missing at random?",
    source="Rofin et al. 2023, Vote'n'Rank, section 3.3",
    declared=(
        known.rules(),
        known.repeats("n_repeats", 100),
        Parameter(
            "levels",
            list(range(21)),
            NUMBERS,
            "Deleted scores, in percent",
            "The percentages of the scores to delete.",
            most=99.9,
        ),
        Parameter(
            "top", 7, INTEGER, "First systems compared", "How many first systems to compare.", least=2, most=100_000
        ),
        Parameter(
            "fixed_top",
            False,
            FLAG,
            "First in the full ranking",
            "Compare the first systems of the full ranking, not those of the ranking with deleted scores.",
        ),
        known.correlation(tuple(CORRELATIONS)),
        known.missing("median", IMPUTING),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda _, parameters: parameters["n_repeats"]),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_repeats",
    axes=("levels",),
)
