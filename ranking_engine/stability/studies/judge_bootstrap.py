"""Pavao's criteria: how good a rule's winner is, and how far its ranking holds when tasks and systems are drawn again.

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

Both rankings of a pair come from the same tasks. Even if systems differ by chance alone, two rankings from T resampled
tasks agree at about `CHANCE_AGREEMENT`: each agrees with the board's own, which is one of many.

`baselines` adds a random ranking, and a dictator: the ranking of one of the tasks drawn.

Departures from the paper:
- A system drawn several times takes part once. Its copies would tie with it on every task, so that it could not be
  first alone, and perfectly agreeing tasks would not score 1. n counts the distinct systems.
- With `copies` there is `candidate_stability_copies` beside candidate stability: the same resamples of the systems, in
  which all copies take part, as in the paper. A rule that counts rivals then feels clones.
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

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.core.task_order import average_task_ranks
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import CORRELATIONS, OF_PAIRS
from ranking_engine.stability.parameters import FLAG, INTEGER, Parameter
from ranking_engine.stability.plan import Part, Plan, make_plan, seconds_at_once
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.batches import is_batched as are_tables_batched, scores_with_copies
from ranking_engine.stability.resampling.drawn_boards import (
    Drawn,
    board_scores,
    condorcet_winners,
    drawn_rankings,
    is_batched,
)
from ranking_engine.stability.resampling.standardized import standardized
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
    plain,
    span,
)

NUMBER = 5

# Rankings that no rule makes, beside which rules are seen: by chance, and by one of the tasks drawn.
BASELINES = ("random_ranking", "dictator")
CRITERIA = ("winner_rank", "condorcet", "generalization", "judge_stability", "candidate_stability")
WITH_COPIES = "candidate_stability_copies"  # candidate stability as the paper reads a system that is drawn twice

# How far rankings from resampled tasks agree on boards of noise, where rankings from new tasks do not agree at all.
CHANCE_AGREEMENT = {"spearman": 0.5, "kendall": 0.35}

Counts = NDArray[np.int64]

_TRIALS, _TASKS, _SYSTEMS, _BASELINES = 0, 1, 2, 3  # what is drawn
_BLOCK_CELLS = 1 << 21
_LEAST_COMMON = 3


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.<criterion>`: of each trial of the chunk, and of each round of the stabilities."""
    plan, chunks = _plan(matrix, parameters), STUDY.n_chunks(matrix, parameters)
    trials = span(chunk, chunks, parameters["n_trials"])
    rounds = span(chunk, chunks, 2 * parameters["n_rounds"])
    steps = len(plan.parts) * (len(trials) + len(rounds))
    names = _criteria(parameters)
    arrays: Arrays = {f"{rule}.{name}": np.empty(0) for rule in plan.rules for name in names}
    done, alone = 0, plan.alone()
    for part in plan.parts:
        with_baselines = parameters["baselines"] and part is plan.parts[0]
        rankers = [*part.rules, *(BASELINES if with_baselines else ())]
        pieces: dict[str, list[FloatArray]] = {f"{rule}.{name}": [] for rule in rankers for name in names}
        n, T = part.matrix.n_systems, part.matrix.n_tasks
        for block in blocks(trials, max(1, _BLOCK_CELLS // (n * max(n, T)))):
            # How often each trial counts each task, and which systems take part.
            draws = [(_TRIALS, trial) for trial in block]
            randoms = (generator(seed, NUMBER, *draw) for draw in draws)
            indices = [(random.integers(n, size=n), random.integers(T, size=T)) for random in randoms]
            present = np.zeros((len(block), n), dtype=bool)
            present[np.arange(len(block))[:, None], [systems for systems, _ in indices]] = True
            counts = np.array([np.bincount(tasks, minlength=T) for _, tasks in indices])
            for every, rules in {1: [], **plan.by_repeats(part)}.items():
                rows = [row for row, trial in enumerate(block) if trial % every == 0]
                drawn = (counts[rows], present[rows])
                rankings = drawn_rankings(part.matrix, *drawn, rules, alone)
                if with_baselines and every == 1:
                    rankings |= _baselines(part.matrix, *drawn, seed, draws)
                criteria = criteria_of_trials(part.matrix, *drawn, parameters["correlation"], rankings)
                for name, values in criteria.items():
                    pieces[name].append(values)
            done += len(block)
            if progress is not None:
                progress(done, steps)
        for number in rounds:
            axis = _TASKS if number < parameters["n_rounds"] else _SYSTEMS
            means = _stability(plan, part, parameters, seed, (axis, number), alone=alone, with_baselines=with_baselines)
            for name, value in means.items():
                pieces[name].append(np.array([value]))
            done += 1
            if progress is not None:
                progress(done, steps)
        arrays.update({name: np.concatenate([np.empty(0), *values]) for name, values in pieces.items()})
    return arrays | plan.proven(alone)


def _criteria(parameters: Parameters) -> tuple[str, ...]:
    """Return the criteria that are estimated."""
    return (*CRITERIA, WITH_COPIES) if parameters["copies"] else CRITERIA


def _baselines(
    matrix: ScoreMatrix, counts: Counts, present: BoolArray, seed: int, draws: Sequence[tuple[int, ...]]
) -> dict[str, Drawn]:
    """Return for every draw a random ranking, and that of one of the tasks drawn, chosen at random (a dictator)."""
    noise, dictators = np.empty(present.shape), np.empty(len(draws), dtype=np.intp)
    for row, draw in enumerate(draws):
        random = generator(seed, NUMBER, _BASELINES, *draw)
        noise[row] = random.random(matrix.n_systems)
        dictators[row] = random.choice(np.repeat(np.arange(matrix.n_tasks), counts[row]))
    baselines = {}
    for name, values in zip(BASELINES, (noise, matrix.scores[:, dictators].T), strict=True):
        scores = np.where(present, values, np.nan)
        best = np.fmax.reduce(scores, axis=1, initial=-np.inf)[:, None]
        baselines[name] = Drawn(scores, np.asarray(scores == best, dtype=bool))
    return baselines


def criteria_of_trials(
    matrix: ScoreMatrix, counts: Counts, present: BoolArray, correlation: str, rankings: Mapping[str, Drawn]
) -> dict[str, FloatArray]:
    """Return `<rule>.<criterion>` of every trial, for the three criteria and each of the `rankings` by their rules."""
    shape = (len(present), matrix.n_tasks, matrix.n_systems)
    scores = np.where(np.broadcast_to(present[:, None, :], shape), matrix.scores.T, np.nan)
    task_ranks = average_task_ranks(scores.reshape(-1, matrix.n_systems).T).reshape(shape)
    # 1 - (r - 1) / (n - 1) of every system, weighted over the tasks drawn; NaN without a rival on any.
    size = (~np.isnan(task_ranks)).sum(axis=2, keepdims=True)
    weights = np.array([float(weight) for weight in matrix.weights]) * counts
    counted = ~np.isnan(task_ranks) & (size > 1)
    of_tasks = 1 - (np.where(counted, task_ranks, 1) - 1) / np.maximum(size - 1, 1)
    total = (counted * weights[:, :, None]).sum(axis=1)
    with np.errstate(invalid="ignore"):
        quality = (counted * of_tasks * weights[:, :, None]).sum(axis=1) / np.where(total > 0, total, np.nan)
    winners = condorcet_winners(matrix, counts, present)
    trials, unseen = np.nonzero(counts == 0)  # tasks that were not drawn
    criteria: dict[str, FloatArray] = {}
    for rule, drawn in rankings.items():
        ranks = average_ranks(ranks_of(drawn.scores))
        criteria[f"{rule}.winner_rank"] = mean_of(np.where(drawn.is_winner, quality, np.nan), axis=1)
        n_winners = drawn.is_winner.sum(axis=1)
        elected = drawn.is_winner[np.arange(len(winners)), np.maximum(winners, 0)] / np.maximum(n_winners, 1)
        criteria[f"{rule}.condorcet"] = np.where((winners >= 0) & (n_winners > 0), elected, np.nan)
        correlations = np.full(counts.shape, np.nan)
        correlations[trials, unseen] = CORRELATIONS[correlation](ranks[trials], task_ranks[trials, unseen])
        criteria[f"{rule}.generalization"] = mean_of(correlations, axis=1)
    return criteria


def _stability(
    plan: Plan,
    part: Part,
    parameters: Parameters,
    seed: int,
    round_of: tuple[int, int],
    *,
    alone: Alone,
    with_baselines: bool,
) -> dict[str, float]:
    """Return `<rule>.<criterion>`: the mean correlation over all pairs of resamples of one round of an axis.

    A rule that ranks every so-many-th repeat ranks as many of the resamples, at least two: the mean of fewer pairs.
    """
    matrix, q, (axis, number) = part.matrix, parameters["n_resamples"], round_of
    counts, present = np.ones((q, matrix.n_tasks), dtype=np.int64), np.ones((q, matrix.n_systems), dtype=bool)
    systems = np.zeros((q, matrix.n_systems), dtype=np.intp)
    for k in range(q):
        random = generator(seed, NUMBER, axis, number, k)
        if axis == _TASKS:
            drawn = random.integers(matrix.n_tasks, size=matrix.n_tasks)
            counts[k] = np.bincount(drawn, minlength=matrix.n_tasks)
        else:
            systems[k] = random.integers(matrix.n_systems, size=matrix.n_systems)
            present[k] = np.isin(np.arange(matrix.n_systems), systems[k])
    least = 2 if axis == _TASKS else _LEAST_COMMON
    name = "judge_stability" if axis == _TASKS else "candidate_stability"
    has_copies = axis == _SYSTEMS and parameters["copies"]
    tables: dict[str, FloatArray] = {}
    for every, rules in plan.by_repeats(part).items():
        step = min(every, q - 1)
        once = board_scores(matrix, counts[::step], present[::step], rules, alone)
        tables |= {f"{rule}.{name}": scores for rule, scores in once.items()}
        if has_copies:
            often = scores_with_copies(matrix, systems[::step], rules, alone)
            tables |= {f"{rule}.{WITH_COPIES}": scores for rule, scores in often.items()}
    if with_baselines:
        others = _baselines(matrix, counts, present, seed, [(axis, number, k) for k in range(q)])
        for baseline, ranked in others.items():  # a copy is where its system is: both readings are one
            tables |= {f"{baseline}.{reading}": ranked.scores for reading in (name, *([WITH_COPIES] * has_copies))}
    return {
        figure: mean_correlation(average_ranks(ranks_of(scores)), least, parameters["correlation"])
        for figure, scores in tables.items()
    }


def mean_correlation(ranks: FloatArray, least: int, correlation: str) -> float:
    """Return the mean correlation of all pairs of rows that have at least `least` systems in common."""
    is_ranked = (~np.isnan(ranks)).astype(np.int64)
    correlations = np.where(is_ranked @ is_ranked.T >= least, OF_PAIRS[correlation](ranks), np.nan)
    return float(mean_of(correlations[np.triu_indices(len(ranks), 1)]))


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return the mean, the deviation and the number of undefined values of every criterion, for each rule."""
    arrays, plan = joined(partials), _plan(matrix, parameters)
    rules: dict[str, Any] = {rule: {} for rule in plan.rules}
    baselines: dict[str, Any] = {name: {} for name in BASELINES if parameters["baselines"]}
    for rule, entry in (rules | baselines).items():
        for name in _criteria(parameters):
            values = arrays[f"{rule}.{name}"]
            entry[name] = {
                "mean": plain(float(mean_of(values))),
                "deviation": plain(float(deviation_of(values))),
                "n_undefined": int(np.isnan(values).sum()),
            }
    names = ("n_trials", "n_resamples", "n_rounds", "copies", "standardize", "correlation")
    summary: dict[str, Any] = {name: parameters[name] for name in names}
    summary["note"] = (
        "both rankings from resampled tasks are drawn from the same tasks, so that they agree at about "
        f"{CHANCE_AGREEMENT[parameters['correlation']]:g} even if systems differ by chance alone"
    )
    if baselines:
        summary["baselines"] = baselines
    closing = plan.closing(parameters["n_trials"], arrays)
    q = parameters["n_resamples"]
    for rule, entry in closing["slow_rules"].items():  # see _stability
        entry |= {"n_resamples": len(range(0, q, min(plan.every(rule), q - 1))), "of_resamples": q}
    return StudyResult({**summary, "rules": rules, **closing}, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    seconds, plan = 0.0, _plan(matrix, parameters)
    for part in plan.parts:
        T, is_spearman = part.matrix.n_tasks, parameters["correlation"] == "spearman"
        trial, pair = seconds_of_a_trial(part), seconds_of_a_pair(part.matrix, parameters["correlation"])
        n_rules = sum(1 / plan.every(rule) ** 2 for rule in part.rules)  # a rule that ranks fewer has fewer pairs
        pairs = n_rules * parameters["n_resamples"] ** 2 * pair / 2
        trial += 0.0 if is_spearman else len(part.rules) * T * 0.4 * pair
        rounds = _n_drawn(parameters) * parameters["n_rounds"]
        seconds += parameters["n_trials"] * trial + rounds * (pairs + parameters["n_resamples"] * trial)
    return seconds + plan.slow_seconds


def seconds_of_a_trial(part: Part) -> float:
    """Return the seconds that one drawn board takes under all rules ranked at once, without its correlations."""
    n, T = part.matrix.n_systems, part.matrix.n_tasks
    fast = [rule for rule in part.rules if is_batched(rule, part.matrix) and not seconds_at_once(rule, part.matrix)]
    return 1e-4 + 2e-7 * n * T + 2e-9 * n * n * (T + 5 * len(fast)) + len(part.rules) * 1e-7 * n * T


def seconds_of_a_pair(matrix: ScoreMatrix, correlation: str) -> float:
    """Return the seconds that correlating two rankings takes."""
    n = matrix.n_systems
    return 1e-6 + 4e-8 * n if correlation == "spearman" else 1e-6 + 1.2e-8 * n * n


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there is nothing to draw from."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    n, T = scored.matrix.n_systems, scored.matrix.n_tasks
    if n < _LEAST_COMMON or T < 2:
        return f"too few systems ({n}) or tasks of weight above 0 ({T}): at least 3 systems and 2 tasks are needed"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    rankings = parameters["n_trials"] + _n_drawn(parameters) * parameters["n_rounds"] * parameters["n_resamples"]

    def is_fast(rule: str, ranked: ScoreMatrix) -> bool:
        return is_batched(rule, ranked) and (not parameters["copies"] or are_tables_batched(rule, ranked))

    ranked = standardized(matrix) if parameters["standardize"] else matrix
    return make_plan(ranked, parameters, rankings, parameters["n_trials"], is_fast)


def _n_drawn(parameters: Parameters) -> int:
    """Return how often a round is ranked: of drawn tasks, of drawn systems, and of these with their copies."""
    return 3 if parameters["copies"] else 2


def _check(parameters: Parameters) -> None:
    for name, least in (("n_trials", 1), ("n_resamples", 2), ("n_rounds", 1)):
        if parameters[name] < least:
            raise ValueError(f"`{name}` is {parameters[name]}; expected at least {least}")
    if parameters["correlation"] not in CORRELATIONS:
        raise ValueError(f"`correlation` is {parameters['correlation']!r}; expected one of {', '.join(CORRELATIONS)}")


STUDY = Study(
    number=NUMBER,
    key="judge_bootstrap",
    name="Resampled tasks and systems",
    question="How good is each rule's winner, and how stable is its ranking when tasks and systems are resampled?",
    source="Pavao et al. 2021, sections 2.3 and 3",
    declared=(
        known.rules(),
        known.repeats("n_trials", 10_000, "Trials", most=200_000),
        Parameter(
            "n_resamples",
            100,
            INTEGER,
            "Rankings compared",
            "How many rankings to compare in each round, each with all others.",
            least=2,
            most=1_000,
        ),
        known.repeats("n_rounds", 10, "Rounds of comparisons", most=100),
        Parameter(
            "copies",
            True,
            FLAG,
            "Copies",
            "Compare rankings of drawn systems twice: a system drawn several times takes part once, or as often.",
        ),
        Parameter(
            "baselines",
            False,
            FLAG,
            "Baselines",
            "Add a random ranking, and one random task that decides alone (a dictator).",
        ),
        Parameter(
            "standardize",
            False,
            FLAG,
            "Standardized scores",
            "Subtract the mean of all scores, and divide by their standard deviation.",
        ),
        known.correlation(tuple(CORRELATIONS)),
        known.missing(),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda _, parameters: parameters["n_trials"]),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_trials",
    cut_along=("n_rounds",),
)
