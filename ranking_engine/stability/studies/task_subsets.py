"""Task subsets: how far a ranking on some of the tasks agrees with the ranking on all of them.

Colombo et al. 2022, section 5.2.2: for every size k, the mean of Kendall's tau between the ranking on k random tasks
and the full one. Zhang and Hardt 2024, appendix C: how few well-chosen tasks do, the best of many subsets of each size.

Departures from the papers:
- A ranking is compared with the same rule's own full ranking, by tau-b on average ranks.
- Where there are no more subsets of a size than would be drawn, all of them are tried once. The smallest subset with
  tau-b 1 is then proven to be so; else its size is an upper bound.
- Rules that need all scores rank what the missing-score policy leaves of the whole table, decided before drawing.
- Every rule that ranks is studied.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import kendall
from ranking_engine.stability.parameters import INTEGER, INTEGERS, NUMBERS, Parameter
from ranking_engine.stability.plan import PROVEN, Plan, make_plan
from ranking_engine.stability.resampling.resampled_scores import has_fast_way, resampled_scores
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
    plain_list,
    span,
)

NUMBER = 3

Counts = NDArray[np.int64]

_BLOCK_CELLS = 1 << 22
_REACHED = 1 - 1e-12
_MAX_SIZES = 100
_RANDOM, _BEST = 0, 1  # the two curves


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return `<rule>.tau` of every subset of the chunk, first those of the mean curve and then those of the best.

    NaN for subsets that a slow rule does not rank: of those of one curve and size it ranks every so-many-th.
    """
    plan = _plan(matrix, parameters)
    arrays: Arrays = {}
    alone = plan.alone()
    for k, part in enumerate(plan.parts):
        subsets = Subsets(part.matrix.n_tasks, parameters, seed)
        mine = span(chunk, STUDY.n_chunks(matrix, parameters), len(subsets))
        taus = {rule: np.full(len(mine), np.nan) for rule in part.rules}
        for block in blocks(mine, max(1, _BLOCK_CELLS // part.matrix.n_systems)):
            rows = slice(block.start - mine.start, block.stop - mine.start)
            counts = subsets.counts(block)
            for every, rules in plan.by_repeats(part).items():
                some = subsets.is_ranked(block, every)
                if not some.any():
                    continue
                scores = resampled_scores(part.matrix, counts[some], rules, lambda share: None, alone)
                for rule, table in scores.items():
                    reference = part.reference[rule].average_ranks
                    taus[rule][rows][some], _ = kendall(reference, average_ranks(ranks_of(table)))
            if progress is not None:
                progress(k * len(mine) + rows.stop, len(plan.parts) * len(mine))
        arrays.update({f"{rule}.tau": values for rule, values in taus.items()})
    return arrays | plan.proven(alone)


class Subsets:
    """The subsets of one number of tasks, in a fixed order: those of the mean curve by size, then of the best curve.

    Attributes:
        n_tasks: how many tasks there are.
        sizes: for the two curves, the sizes of subsets.
        numbers: for the two curves, how many subsets there are of each size.
        is_every: for the sizes of the best curve, whether these are all there are.
    """

    def __init__(self, n_tasks: int, parameters: Parameters, seed: int) -> None:
        self.n_tasks, self.seed = n_tasks, seed
        # Of the mean curve the numbers of tasks that are stated, as numbers or as shares of all, or every one.
        chosen, ratios = parameters["sizes"], parameters["ratios"]
        if chosen is None and ratios is None:
            chosen = range(1, n_tasks + 1)
        wanted = [*(chosen or ()), *(max(1, round(ratio * n_tasks)) for ratio in ratios or ())]
        of_curve = sorted({size for size in wanted if size <= n_tasks}) or [n_tasks]
        self.sizes = (of_curve, range(1, min(n_tasks, parameters["largest_best"]) + 1))
        most = parameters["n_best"]
        self.is_every = [math.comb(n_tasks, size) <= most for size in self.sizes[_BEST]]
        self.numbers = (
            [parameters["n_repeats"]] * len(self.sizes[_RANDOM]),
            [min(most, math.comb(n_tasks, size)) for size in self.sizes[_BEST]],
        )

    def __len__(self) -> int:
        return sum(map(sum, self.numbers))

    def counts(self, wanted: range) -> Counts:
        """Return, for the subsets numbered `wanted`, 1 for each task that is in it."""
        rows = np.zeros((len(wanted), self.n_tasks), dtype=np.int64)
        start = 0
        for curve in (_RANDOM, _BEST):
            for size, number in zip(self.sizes[curve], self.numbers[curve], strict=True):
                inside = range(max(start, wanted.start), min(start + number, wanted.stop))
                chosen: Iterable[Any]
                if curve == _BEST and self.is_every[size - 1]:
                    every = itertools.combinations(range(self.n_tasks), size)
                    chosen = map(list, itertools.islice(every, inside.start - start, None))
                else:
                    chosen = (
                        generator(self.seed, NUMBER, curve, size, k - start).permutation(self.n_tasks)[:size]
                        for k in inside
                    )
                for k, tasks in zip(inside, chosen, strict=False):
                    rows[k - wanted.start, tasks] = 1
                start += number
        return rows

    def is_ranked(self, wanted: range, every: int) -> NDArray[np.bool_]:
        """Return which of the subsets numbered `wanted` a rule ranks that ranks the first of `every` of each size."""
        places = [np.arange(number) for curve in (_RANDOM, _BEST) for number in self.numbers[curve]]
        return np.asarray(np.concatenate(places)[wanted.start : wanted.stop] % every == 0)

    def split(self, values: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Return the figures of all subsets as the mean curve's (sizes, repeats), and the best curve's by size."""
        n_random = sum(self.numbers[_RANDOM])
        ends = np.cumsum(self.numbers[_BEST])[:-1]
        return values[:n_random].reshape(len(self.sizes[_RANDOM]), -1), np.split(values[n_random:], ends)


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return for each rule both curves and the smallest subset found that gives its full ranking.

    The arrays are `<rule>.tau`, shape (sizes, repeats); `<rule>.best_tau`, shape (sizes, subsets), NaN where there are
    fewer subsets of a size; and `<rule>.best_subset`, shape (sizes, tasks), 1 for each task of the best subset.
    """
    taus, plan = joined(partials), _plan(matrix, parameters)
    rules: dict[str, Any] = {}
    arrays: Arrays = {}
    for part in plan.parts:
        subsets = Subsets(part.matrix.n_tasks, parameters, seed)
        for rule in part.rules:
            random, best = subsets.split(taus[f"{rule}.tau"])
            random = random[:, :: plan.every(rule)]
            # The best subset of each size, the first of several; 0 where none of a size has a tau-b.
            chosen = np.zeros((len(best), subsets.n_tasks), dtype=np.int8)
            start = sum(subsets.numbers[_RANDOM])
            for row, best_taus in zip(chosen, best, strict=True):
                if not np.isnan(best_taus).all():
                    top = start + int(np.nanargmax(best_taus))
                    row[:] = subsets.counts(range(top, top + 1))[0]
                start += len(best_taus)
            reached = next((k for k, best_taus in enumerate(best) if (best_taus >= _REACHED).any()), None)
            smallest = [] if reached is None else np.flatnonzero(chosen[reached]).tolist()
            # A curve of more than 100 sizes at 100 of them, so that a summary stays small.
            n_sizes = len(random)
            sampled = np.linspace(1, n_sizes, min(n_sizes, _MAX_SIZES)).tolist()
            places = sorted({round(place) - 1 for place in sampled})
            sizes = [subsets.sizes[_RANDOM][place] for place in places]
            rules[rule] = {
                **({"sizes": sizes} if sizes != list(range(1, subsets.n_tasks + 1)) else {}),
                "mean": plain_list(mean_of(random[places], axis=1), 3),
                "deviation": plain_list(deviation_of(random[places], axis=1), 3),
                "n_undefined": int(np.isnan(random).sum()),
                "best": [plain(float(np.fmax.reduce(best_taus))) for best_taus in best],
                "smallest": None if reached is None else reached + 1,
                "smallest_share": None if reached is None else plain((reached + 1) / subsets.n_tasks),
                "smallest_tasks": [part.matrix.task_names[t] for t in smallest],
                "smallest_is_proven": reached is not None
                and (reached == 0 or plan.every(rule) == 1)
                and all(subsets.is_every[:reached]),
            }
            arrays[f"{rule}.tau"] = random
            arrays[f"{rule}.best_tau"] = np.full((len(best), max(map(len, best))), np.nan)
            for row, best_taus in zip(arrays[f"{rule}.best_tau"], best, strict=True):
                row[: len(best_taus)] = best_taus
            arrays[f"{rule}.best_subset"] = chosen
    by_key = {rule: rules[rule] for rule in plan.rules}
    summary = {"n_repeats": parameters["n_repeats"], "n_best": parameters["n_best"], "rules": by_key}
    summary |= plan.closing(parameters["n_repeats"], taus)
    arrays |= {name: values for name, values in taus.items() if name.endswith(f".{PROVEN}")}
    return StudyResult(summary, arrays)


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the study should take."""
    _check(parameters)
    # A subset has half of the tasks on average.
    return _plan(matrix, parameters).seconds(_n_subsets(matrix, parameters), share=0.5)


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why there are no subsets of tasks, or nothing to rank."""
    _check(parameters)
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    if scored.matrix.n_tasks < 2 or scored.matrix.n_systems < 2:
        n, T = scored.matrix.n_systems, scored.matrix.n_tasks
        return f"too few systems ({n}) or tasks of weight above 0 ({T}): at least 2 of each are needed"
    return "" if _plan(matrix, parameters).parts else "no rule ranks these systems"


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    return make_plan(matrix, parameters, _n_subsets(matrix, parameters), parameters["n_repeats"], _is_fast)


def _n_subsets(matrix: ScoreMatrix, parameters: Parameters) -> int:
    return len(Subsets(max(1, int(matrix.votes.sum())), parameters, 0))


def _is_fast(rule: str, matrix: ScoreMatrix) -> bool:
    return has_fast_way(rule, matrix, np.ones((1, matrix.n_tasks), dtype=np.int64))


def _check(parameters: Parameters) -> None:
    for name in ("n_repeats", "n_best", "largest_best"):
        if parameters[name] < 1:
            raise ValueError(f"`{name}` is {parameters[name]}; expected at least 1")


STUDY = Study(
    number=NUMBER,
    key="task_subsets",
    name="Task subsets",
    question="How few of the tasks would give the same ranking?",
    source="Colombo et al. 2022, section 5.2.2; Zhang and Hardt 2024, appendix C",
    declared=(
        known.rules(),
        known.repeats("n_repeats", 100, "Subsets of each size"),
        Parameter(
            "n_best",
            1000,
            INTEGER,
            "Subsets tried",
            "How many subsets of each small size to try, to find the best.",
            least=1,
            most=100_000,
        ),
        Parameter(
            "largest_best", 6, INTEGER, "Largest size tried", "The largest of these small sizes.", least=1, most=20
        ),
        Parameter(
            "sizes",
            None,
            INTEGERS,
            "Numbers of tasks",
            "The sizes of the random subsets; every size by default.",
            least=1,
        ),
        Parameter(
            "ratios",
            None,
            NUMBERS,
            "Shares of the tasks",
            "The same sizes as shares of all tasks: 0.1 for a tenth.",
            least=0.001,
            most=1,
        ),
        known.missing(),
        *known.budget(),
    ),
    n_chunks=cut_by_cost(estimate, _n_subsets),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_repeats",
    axes=("sizes",),
)
