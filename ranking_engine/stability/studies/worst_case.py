"""Worst case of any rule: how far added systems, or other weights, can move the ranking of the first.

Zhang and Hardt 2024 search the worst case of the mean and of one win rate, and leave other rules open (end of section
4.2). Here it is sought under any rule: the first systems are ranked, and again with some of the others beside them, or
with each task at its own weight or at ε of it.

The search climbs from nothing, from everything and from random choices, changing one system or task at a time. What it
finds is reached, and so a lower bound. `worst_case_bound` proves for many rules that no choice reverses more pairs than
so many; where both are the same, the worst case is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ranking_engine.core.missing import scored_part
from ranking_engine.core.ranking import average_ranks, ranks_of
from ranking_engine.core.score_matrix import BoolArray, FloatArray, ScoreMatrix
from ranking_engine.stability import parameters as known
from ranking_engine.stability.agreement import kendall
from ranking_engine.stability.parameters import CHOICE, INTEGER, NUMBER, RULE, Parameter
from ranking_engine.stability.plan import Part, Plan, make_plan, one_by_one_seconds
from ranking_engine.stability.resampling.drawn_boards import board_scores, is_batched
from ranking_engine.stability.sensitivity.worst_case_bound import most_reversed_by_systems, most_reversed_by_weights
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult, generator, plain
from ranking_engine.text.names import name_order_key

NUMBER_OF_STUDY = 10

SYSTEMS, WEIGHTS = "systems", "weights"
MAX_DENOMINATOR = 1000  # of ε
MOST_TOLD = 200  # systems and tasks that a summary names
_BLOCK_CELLS = 1 << 21


@dataclass
class Case:
    """The worst choice so far: what was chosen, the ranks of the first under it, and how far they moved."""

    chosen: BoolArray
    ranks: FloatArray
    n_reversed: int = 0
    distance: float = 0.0


class Search:
    """Choices among systems or tasks, and the rankings that they give.

    Attributes:
        top: the indices of the systems that are compared.
        items: the indices of what can be chosen: the other systems, or all tasks.
        n_boards: how many choices were ranked.
    """

    def __init__(self, part: Part, parameters: Parameters) -> None:
        self.part, self.rule = part, part.rules[0]
        self.change, self.least_weight = parameters["change"], _kept_share(parameters)
        self.left, self.n_boards = int(parameters["n_boards"]), 0
        matrix = part.matrix
        # The systems by rank under the rule, those that tie by name.
        ranks, names = part.reference[self.rule].average_ranks, [name_order_key(name) for name in matrix.system_names]
        by_rank = sorted(range(len(names)), key=lambda i: (np.nan_to_num(ranks[i], nan=np.inf), names[i]))
        order = np.array(by_rank, dtype=np.intp)
        size = _n_top_of(matrix, parameters)
        self.top = np.sort(order[:size])
        self.items = np.sort(order[size:]) if self.change == SYSTEMS else np.arange(matrix.n_tasks)
        nothing = np.zeros((1, len(self.items)), dtype=bool)
        self.reference = self._ranks(nothing)[0]
        self.worst = Case(nothing[0], self.reference)

    def _ranks(self, chosen: BoolArray) -> FloatArray:
        """Return the average ranks of the first among themselves, a row a choice."""
        matrix = self.part.matrix
        counts = np.ones((len(chosen), matrix.n_tasks), dtype=np.int64)
        present = np.zeros((len(chosen), matrix.n_systems), dtype=bool)
        if self.change == SYSTEMS:
            present[:, self.top] = True
            present[:, self.items] = chosen
        else:
            present[:] = True
            counts = np.where(chosen, self.least_weight.numerator, self.least_weight.denominator).astype(np.int64)
        scores = board_scores(matrix, counts, present, [self.rule])[self.rule]
        return average_ranks(ranks_of(scores[:, self.top]))

    def try_out(self, choices: BoolArray) -> tuple[int, float, int]:
        """Rank as many of `choices` as the budget leaves; return reversed pairs, distance and row of the worst."""
        choices = choices[: self.left]
        self.left -= len(choices)
        self.n_boards += len(choices)
        best = (-1, -1.0, -1)
        height = max(
            1, _BLOCK_CELLS // (self.part.matrix.n_systems * max(self.part.matrix.n_systems, self.part.matrix.n_tasks))
        )
        for start in range(0, len(choices), height):
            ranks = self._ranks(choices[start : start + height])
            reversed_pairs, distances = n_reversed(self.reference, ranks), kendall(self.reference, ranks)[1]
            for k in np.lexsort((-distances, -reversed_pairs))[:1].tolist():
                value = (int(reversed_pairs[k]), float(np.nan_to_num(distances[k])))
                if value > best[:2]:
                    best = (*value, start + k)
                if value > (self.worst.n_reversed, self.worst.distance):
                    self.worst = Case(choices[start + k].copy(), ranks[k], *value)
        return best

    def climb(self, start: BoolArray) -> None:
        """Change one item at a time as long as that makes it worse."""
        at = start
        value = self.try_out(at[None])[:2]
        flips = np.eye(len(self.items), dtype=bool)
        while self.left > 0 and len(self.items):
            n_worse, distance, row = self.try_out(flips ^ at)
            if row < 0 or (n_worse, distance) <= value:
                return
            at, value = flips[row] ^ at, (n_worse, distance)


def n_reversed(reference: FloatArray, ranks: FloatArray) -> np.ndarray:
    """Return how many pairs each row of `ranks` orders strictly against `reference`."""
    first, second = np.triu_indices(len(reference), 1)
    before = np.sign(reference[first] - reference[second])
    after = np.nan_to_num(np.sign(ranks[:, first] - ranks[:, second]))
    return np.asarray((before * after < 0).sum(axis=1))


def _n_top_of(matrix: ScoreMatrix, parameters: Parameters) -> int:
    """Return how many systems are compared: those stated; all where weights change; else a fifth, at least 2."""
    if parameters["n_top"] is not None:
        return min(int(parameters["n_top"]), matrix.n_systems)
    return matrix.n_systems if parameters["change"] == WEIGHTS else max(2, matrix.n_systems // known.FIFTH)


def _kept_share(parameters: Parameters) -> Fraction:
    """Return ε as the nearest fraction of at most `MAX_DENOMINATOR`: tasks count a whole number of times."""
    return Fraction(str(parameters["least_weight"])).limit_denominator(MAX_DENOMINATOR)


def run_chunk(
    matrix: ScoreMatrix, parameters: Parameters, seed: int, chunk: int, progress: Progress | None = None
) -> Arrays:
    """Return what the search ends with: `before` and `after`, the ranks of `top`, and what was `chosen` of `items`."""
    search = Search(_plan(matrix, parameters).parts[0], parameters)
    random = generator(seed, NUMBER_OF_STUDY, 0)
    n_items, total = len(search.items), search.left
    starts = [np.zeros(n_items, dtype=bool), np.ones(n_items, dtype=bool)]
    starts += [random.random(n_items) < 0.5 for _ in range(parameters["n_starts"])]
    for start in starts:
        search.climb(start)
        if progress is not None:
            progress(min(search.n_boards, total), total)
        if search.left <= 0:
            break
    systems = search.part.completed.systems
    return {
        "top": systems[search.top],
        "items": systems[search.items] if search.change == SYSTEMS else search.items,
        "chosen": search.worst.chosen,
        "before": search.reference,
        "after": search.worst.ranks,
        "n_boards": np.array([search.n_boards]),
    }


def merge(matrix: ScoreMatrix, parameters: Parameters, seed: int, partials: Sequence[Arrays]) -> StudyResult:
    """Return how far the worst case moves the first, with the choice that does it and the ranks before and after."""
    arrays = partials[0]
    part = _plan(matrix, parameters).parts[0]
    before, after = arrays["before"], arrays["after"]
    n = len(before)
    systems = [matrix.system_names[i] for i in arrays["top"].tolist()]
    names = (
        [matrix.system_names[i] for i in arrays["items"].tolist()]
        if parameters["change"] == SYSTEMS
        else list(part.matrix.task_names)
    )
    chosen = [name for name, is_chosen in zip(names, arrays["chosen"].tolist(), strict=True) if is_chosen]
    by_rank = np.argsort(before, kind="stable")[:MOST_TOLD].tolist()
    n_pairs = max(1, n * (n - 1) // 2)
    share = float(n_reversed(before, after[None])[0]) / n_pairs
    if parameters["change"] == SYSTEMS:
        places = {int(i): k for k, i in enumerate(part.completed.systems)}
        top, others = (np.array([places[i] for i in arrays[name].tolist()], dtype=np.intp) for name in ("top", "items"))
        bound = most_reversed_by_systems(part.matrix, part.rules[0], before, top, others)
    else:
        bound = most_reversed_by_weights(part.matrix, part.rules[0], before, float(_kept_share(parameters)))
    summary = {
        "rule": part.rules[0],
        "change": parameters["change"],
        "n_top": n,
        "n_items": len(names),
        "least_weight": plain(float(_kept_share(parameters))),
        "discordant_share": plain(share),
        "discordant_upper": None if bound.pairs is None else plain(max(share, bound.pairs / n_pairs)),
        "no_upper": bound.reason,
        "distance": plain(float(kendall(before, after[None])[1][0])),
        "max_rank_change": plain(float(np.nanmax(np.abs(after - before), initial=0.0)) / max(1, n - 1)),
        "n_chosen": len(chosen),
        "chosen": chosen[:MOST_TOLD],
        "systems": [systems[i] for i in by_rank],
        "before": [plain(float(before[i])) for i in by_rank],
        "after": [plain(float(after[i])) for i in by_rank],
        "rankings": int(arrays["n_boards"][0]),
    }
    return StudyResult(summary, dict(arrays))


def estimate(matrix: ScoreMatrix, parameters: Parameters) -> float:
    """Return the seconds that the search should take."""
    plan = _plan(matrix, parameters)
    if not plan.parts:
        return 0.0
    part, n = plan.parts[0], plan.parts[0].matrix.n_systems
    T = part.matrix.n_tasks
    each = 2e-5 + 3e-9 * n * n * (T + 5) + 1e-7 * n * T
    if not is_batched(part.rules[0], part.matrix):
        each += one_by_one_seconds(part.rules[0], part.matrix)
    top = _n_top_of(part.matrix, parameters)
    return 0.1 + float(parameters["n_boards"]) * (each + 4e-8 * top**2)


def why_not(matrix: ScoreMatrix, parameters: Parameters) -> str:
    """Return why no two systems could change places."""
    scored = scored_part(matrix)
    if scored.matrix is None:
        return scored.reason
    plan = _plan(matrix, parameters)
    if not plan.parts:
        return next(iter(plan.not_studied.values()), "no rule ranks these systems")
    n, top = plan.parts[0].matrix.n_systems, _n_top_of(plan.parts[0].matrix, parameters)
    if top < 2 or (parameters["change"] == SYSTEMS and top >= n):
        return f"{n} systems are ranked and {top} are the first; at least 2 of them and 1 other are needed"
    return ""


def _plan(matrix: ScoreMatrix, parameters: Parameters) -> Plan:
    is_complete = bool(matrix.is_complete[matrix.has_score].all())
    rule = parameters["rule"] or ("borda" if is_complete else "copeland")
    n_boards = int(parameters["n_boards"])
    chosen = {"rules": [rule], "missing": parameters["missing"], "budget": float("inf"), "more_repeats": 1.0}
    return make_plan(matrix, chosen, n_boards, n_boards, is_batched)


STUDY = Study(
    number=NUMBER_OF_STUDY,
    key="worst_case",
    name="Worst case of a rule",
    question="How far can added systems, or other weights, move the first systems under one rule?",
    source="Zhang and Hardt 2024, section 4.2",
    declared=(
        Parameter("rule", None, RULE, "Rule", "Borda by default, or Copeland if scores are missing."),
        Parameter(
            "change", SYSTEMS, CHOICE, "What changes", "Systems join, or tasks lose weight.", choices=(SYSTEMS, WEIGHTS)
        ),
        Parameter(
            "n_top",
            None,
            INTEGER,
            "First systems",
            "How many first systems to compare; by default a fifth, at least 2, or all if weights change.",
            least=2,
            most=100_000,
        ),
        Parameter(
            "least_weight",
            0.01,
            NUMBER,
            "ε",
            "The share of its weight that a task keeps if it loses weight, as a fraction of at most 1,000.",
            least=0.001,
            most=1,
        ),
        Parameter("n_starts", 20, INTEGER, "Random starts", "How many random starts the search makes.", most=1_000),
        Parameter(
            "n_boards",
            5_000,
            INTEGER,
            "Boards ranked",
            "The most boards that the search ranks.",
            least=10,
            most=1_000_000,
        ),
        known.missing(),
    ),
    estimate=estimate,
    run_chunk=run_chunk,
    merge=merge,
    why_not=why_not,
    steps="n_boards",
    runs_with_boards=False,
)
