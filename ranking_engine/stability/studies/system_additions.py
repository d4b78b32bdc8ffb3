"""System additions: how often a newcomer changes the order of the others (independence of irrelevant alternatives).

Rofin et al. 2023, Vote'n'Rank, section 3.1 and table 2: systems join an empty board one by one in random order, and
each newcomer that changes the order of the systems before it is counted.

Departures from the paper and its code:
- Two counts instead of one: newcomers that strictly reverse two others, and newcomers that change anything at all among
  the others, ties made or broken included. The paper's code breaks ties by name and so counts neither.
- The last system of an order is added too: n - 2 newcomers count, the third to the n-th.
- Rules that need all scores rank the systems that the missing-score policy leaves, decided before the first board.
- Every rule that ranks is studied.
`compat` = `votenrank` does as the paper's code: its random numbers (seeds 0, 1, ...), ties broken by descending name,
the last system never added.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import UNRANKED, Ranking, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.parameters import CHOICE, Parameter
from ranking_engine.stability.plan import PROVEN, Part, Plan, make_plan
from ranking_engine.stability.resampling.alone import Alone
from ranking_engine.stability.resampling.growing_boards import growing_scores, grows_fast
from ranking_engine.stability.study import (
    Arrays,
    Parameters,
    Progress,
    Study,
    StudyResult,
    cut_by_cost,
    generator,
    joined,
    plain,
    span,
)

NUMBER = 2

NO_NEWCOMER, NO_CHANGE, TIES_CHANGED, REVERSED = -1, 0, 1, 2
VOTENRANK = "votenrank"

_PAIR_SECONDS = 1.5e-8
_N_DISRUPTIVE = 5


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.effect`, shape (orders of the chunk that the rule ranks, n_systems); see `effects`."""
    plan = _plan(matrix, parameters)
    orders = span(chunk, STUDY.n_chunks(matrix, parameters), parameters["n_orders"])
    is_peer = parameters["compat"] == VOTENRANK
    alone = plan.alone()
    changes: dict[str, list[NDArray[np.int8]]] = {rule: [] for rule in plan.rules}
    for row, number in enumerate(orders):
        for part in plan.parts:
            rules = [rule for rule in part.rules if number % plan.every(rule) == 0]
            n = part.matrix.n_systems
            if is_peer:  # the order that the paper's code draws for one of its repeats
                shuffled = list(range(n))
                np.random.RandomState(number).shuffle(shuffled)
                order = np.array(shuffled, dtype=np.intp)
            else:  # that of all systems, without those that are left out
                row_of = np.full(matrix.n_systems, -1)
                row_of[part.completed.systems] = np.arange(n)
                order = row_of[generator(seed, NUMBER, number).permutation(matrix.n_systems)]
                order = order[order >= 0]
            for rule, effect in effects(part, order, rules, alone, is_peer=is_peer).items():
                changes[rule].append(np.full(matrix.n_systems, NO_NEWCOMER, dtype=np.int8))
                changes[rule][-1][part.completed.systems[order]] = effect
        if progress is not None:
            progress(row + 1, len(orders))
    shape = (-1, matrix.n_systems)
    arrays = {f"{rule}.effect": np.array(rows, dtype=np.int8).reshape(shape) for rule, rows in changes.items()}
    return arrays | plan.proven(alone)


def effects(
    part: Part,
    order: NDArray[np.intp],
    rules: Sequence[str] | None = None,
    alone: Alone | None = None,
    *,
    is_peer: bool = False,
) -> dict[str, NDArray[np.int8]]:
    """Return what each newcomer, in the order of coming, does to the others under `rules`, or all those of `part`.

    -1: there are no two others, or the rule does not rank the board before or after; 0: nothing; 1: it makes or breaks
    ties; 2: it strictly reverses two of them.
    """
    matrix = part.matrix.subset(systems=order)
    reference = {rule: Ranking.from_scores(rule, ranking.scores[order]) for rule, ranking in part.reference.items()}
    scores = growing_scores(matrix, part.rules if rules is None else rules, reference, alone)
    if not is_peer:
        return {rule: _effects(ranks_of(table)) for rule, table in scores.items()}
    # The paper's code breaks ties by descending name, and forgets the last newcomer. Scores tie when they are equal as
    # floats there: sums that differ by rounding do not.
    names, peers_effects = matrix.system_names, {}
    by_name = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    for rule, table in scores.items():
        by_score = np.argsort(-table[:, by_name], axis=1, kind="stable")
        places = np.empty(table.shape)
        np.put_along_axis(places, np.array(by_name)[by_score], np.arange(len(names), dtype=np.float64)[None], axis=1)
        peers_effects[rule] = _effects(ranks_of(np.where(np.isnan(table), np.nan, -places)))
        peers_effects[rule][-1] = NO_NEWCOMER
    return peers_effects


def _effects(ranks: NDArray[np.int32]) -> NDArray[np.int8]:
    """Compare each board with the one before it, on the systems that both rank, ranked again among these."""
    n = len(ranks)
    effect = np.full(n, NO_NEWCOMER, dtype=np.int8)
    if n < 3:
        return effect
    common = (ranks[1:-1] != UNRANKED) & (ranks[2:] != UNRANKED)
    before, after = _anew(ranks[1:-1], common), _anew(ranks[2:], common)
    effect[2:] = np.where((before != after).any(axis=1), TIES_CHANGED, NO_CHANGE)
    # Sorted by `before` and then by `after`, ranks after fall somewhere if and only if two systems are reversed.
    width = before.shape[1] + 2
    both = np.sort((before.astype(np.int64) + 1) * width + after + 1, axis=1)
    effect[2:][(np.diff(both % width, axis=1) < 0).any(axis=1)] = REVERSED
    effect[2:][common.sum(axis=1) < 2] = NO_NEWCOMER
    return effect


def _anew(ranks: NDArray[np.int32], among: BoolArray) -> NDArray[np.int32]:
    scores: FloatArray = np.where(among, -ranks.astype(np.float64), np.nan)
    return ranks_of(scores)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule the mean numbers of newcomers in an order, and the systems that change most as newcomers."""
    arrays, plan = joined(partials), _plan(matrix, parameters)
    rules = {}
    for name, effect in arrays.items():
        if name.endswith(f".{PROVEN}"):
            continue
        is_change, is_reversal = effect >= TIES_CHANGED, effect == REVERSED
        changes, reversals, by_system = is_change.sum(axis=1), is_reversal.sum(axis=1), is_change.sum(axis=0)
        most = np.argsort(-by_system, kind="stable")[:_N_DISRUPTIVE]
        rules[name.rpartition(".")[0]] = {
            "any_change": plain(changes.mean()),
            "any_change_deviation": plain(changes.std()),
            "reversals": plain(reversals.mean()),
            "reversals_deviation": plain(reversals.std()),
            "n_newcomers": plain((effect != NO_NEWCOMER).sum(axis=1).mean()),
            "most_disruptive": {matrix.system_names[i]: int(by_system[i]) for i in most if by_system[i]},
        }
    summary = {
        "n_orders": parameters["n_orders"],
        "compat": parameters["compat"],
        "rules": rules,
        **plan.closing(parameters["n_orders"], arrays),
    }
    return StudyResult(summary, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    seconds = 0.0
    plan = _plan(matrix, parameters)
    for part in plan.parts:
        n, T = part.matrix.n_systems, part.matrix.n_tasks
        seconds += parameters["n_orders"] * (1e-2 + _PAIR_SECONDS * n * n * (T + n / 8))
    return seconds + plan.slow_seconds


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why no newcomer could change the order of two others."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    if scored.matrix.n_systems < 3:
        return f"systems with scores: {scored.matrix.n_systems}; at least 3 are needed for a newcomer and two others"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    # All boards of one order cost about as much as a third of them of full size: time grows with the square or cube.
    n_whole = parameters["n_orders"] * max(1, matrix.n_systems // 3)
    return make_plan(matrix, parameters, n_whole, parameters["n_orders"], grows_fast)


def _check(parameters: Parameters) -> None:
    if parameters["n_orders"] < 1:
        raise ValueError(f"`n_orders` is {parameters['n_orders']}; expected at least 1")
    if parameters["compat"] not in ("", VOTENRANK):
        raise ValueError(f"`compat` is {parameters['compat']!r}; expected '' or {VOTENRANK!r}")


STUDY = Study(
    number=NUMBER,
    key="system_additions",
    name="System additions",
    question="How often does a newcomer change the order of the systems that were there before it?",
    source="Rofin et al. 2023, Vote'n'Rank, section 3.1",
    declared=(
        known.rules(),
        known.repeats("n_orders", 50, "Random orders"),
        Parameter(
            "compat", "", CHOICE, "Counted as in", "votenrank: as in the code of the paper.", choices=("", VOTENRANK)
        ),
        known.missing(),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, lambda _, parameters: parameters["n_orders"]),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_orders",
)
