"""Pavao et al. 2021: six rules under their criteria, on public benchmarks and a synthetic one."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ranking_engine import RULES, Ranking, ScoreMatrix, compare, rank
from ranking_engine.axioms import PROPERTIES, convention_of, entry, stored_witnesses, violates, witness
from ranking_engine.core.comparison import kendall_tau
from ranking_engine.core.synthetic import random_matrix
from reproduction.boards import board
from reproduction.studies import judged, slug
from reproduction.tables import Grid, Plot, Progress, Result, Section, number, ours_alone

CITATION = (
    "Pavao, Vaccaro and Guyon 2021, Judging competitions and benchmarks: a candidate election approach, ESANN 2021"
)
# Key: the rule, its options, and the key of the same ranking in the study, which takes no options. The success rate
# gives a tie nothing, and so does Borda with all that tie at the worst place of their block: see `success_rates`.
SIX: dict[str, tuple[str, dict[str, str], str]] = {
    "mean": ("mean", {}, "mean"),
    "median": ("median", {}, "median"),
    "average_rank": ("average_rank", {}, "average_rank"),
    "success_rate": ("win_rate", {"variant": "success_rate"}, "borda"),
    "relative_difference": ("relative_difference", {}, "relative_difference"),
    "copeland": ("copeland", {}, "copeland"),
}
NAMES = {key: "Success rate" if key == "success_rate" else RULES[rule].name for key, (rule, _, _) in SIX.items()}
BOARDS = ("VTAB", "SuperGLUE", "GLUE", "MTEB", "Open LLM", "BIG-Bench Hard")
SYNTHETIC = "synthetic tasks"
ALL = (*BOARDS, SYNTHETIC)
CRITERIA = {
    "winner_rank": "winner's average rank",
    "condorcet": "Condorcet rate",
    "generalization": "generalisation",
    "judge_stability": "stability, tasks drawn",
    "candidate_stability": "stability, systems drawn",
}
# No rule can do better, whatever the scores: the average rank's winner has the best average rank, Copeland's is the
# Condorcet winner where there is one, and the mean and the median look at a system's own scores alone.
MET_BY_DEFINITION = {
    "winner_rank": ("average_rank",),
    "condorcet": ("copeland",),
    "candidate_stability": ("mean", "median"),
}
COMPARED = tuple(criterion for criterion in CRITERIA if criterion not in MET_BY_DEFINITION)
N_TRIALS, N_ROUNDS = 10_000, 10
N_SEARCHED = 20  # random boards on which a property that holds is tried


@cache
def matrix_of(name: str) -> ScoreMatrix:
    """Return a board, at equal weights; the synthetic one has 20 systems with a skill each on 20 noisy tasks."""
    matrix = random_matrix(20, 20, seed=0, kind="skill") if name == SYNTHETIC else board(name)
    return matrix.with_weights([1] * matrix.n_tasks)


def ranked(matrix: ScoreMatrix) -> dict[str, Ranking]:
    return {key: rank(matrix, rule, **options) for key, (rule, options, _) in SIX.items()}


def studied(name: str, progress: Progress) -> dict[str, Any]:
    """Return each criterion of each rule: mean and deviation over the trials; and the rules that were not studied."""

    boards = () if name == SYNTHETIC else (name,)
    keys = [key for _, _, key in SIX.values()]
    outcome = judged(f"judge-bootstrap-{slug(name)}", boards, matrix_of(name), keys, N_TRIALS, N_ROUNDS, progress)
    rules = {key: outcome["rules"][study] for key, (_, _, study) in SIX.items() if study in outcome["rules"]}
    missing = {key: outcome["not_studied"][s] for key, (_, _, s) in SIX.items() if s in outcome["not_studied"]}
    return {"rules": rules, "not_studied": missing}


def criteria(name: str, progress: Progress) -> Result:
    """Measure how good each rule's winner is, and how far its ranking holds on other tasks and among other systems."""
    matrix, study = matrix_of(name), studied(name, progress)
    lines = []
    for key, of_rule in study["rules"].items():
        values = [of_rule[criterion] for criterion in CRITERIA]
        lines.append([NAMES[key], *(f"{_shown(v['mean'])} ± {_shown(v['deviation'])}" for v in values)])
    missing = [f"{NAMES[key]}: {reason}." for key, reason in study["not_studied"].items()]
    title = f"Mean ± deviation over {N_TRIALS:,} trials, {matrix.n_systems} systems on {matrix.n_tasks} tasks"
    return Result([], [Grid(title, ["rule", *CRITERIA.values()], lines)], missing)


def _shown(value: float | None) -> str:
    return "undefined" if value is None else number(value, 3)


def summary(progress: Progress) -> Result:
    """Average the criteria over all boards, and the place of each rule among the six."""
    values: dict[str, dict[str, list[float]]] = {key: {c: [] for c in CRITERIA} for key in SIX}
    places: dict[str, dict[str, list[float]]] = {key: {c: [] for c in CRITERIA} for key in SIX}
    for step, name in enumerate(ALL):
        progress(step, len(ALL))
        rules = studied(name, progress)["rules"]
        for criterion in CRITERIA:
            of_board = {key: rules[key][criterion]["mean"] for key in rules}
            known = {key: value for key, value in of_board.items() if value is not None}
            for key, value in known.items():
                values[key][criterion].append(value)
                above = sum(other > value for other in known.values())
                tied = sum(other == value for other in known.values())
                places[key][criterion].append(above + (tied + 1) / 2)
    place_of = {
        criteria: {key: float(np.mean([place for c in criteria for place in places[key][c]])) for key in SIX}
        for criteria in (COMPARED, tuple(CRITERIA))
    }
    lines = [
        [
            NAMES[key],
            *(number(float(np.mean(values[key][c])), 3) for c in CRITERIA),
            *(number(of_rules[key]) for of_rules in place_of.values()),
        ]
        for key in SIX
    ]
    in_order = {
        what: sorted(((NAMES[key], place) for key, place in place_of[criteria].items()), key=lambda one: one[1])
        for what, criteria in (("compared", COMPARED), ("all", tuple(CRITERIA)))
    }
    facts = {
        "n_boards": len(ALL),
        "compared": [CRITERIA[c] for c in COMPARED],
        "n_by_definition": len(MET_BY_DEFINITION),
        "by_definition": {NAMES[key]: CRITERIA[c] for c, keys in MET_BY_DEFINITION.items() for key in keys},
        "in_order": in_order,
    }
    of_compared = f"mean place of 6 ({'; '.join(CRITERIA[c] for c in COMPARED)})"
    header = ["rule", *CRITERIA.values(), of_compared, "mean place of 6 (all criteria)"]
    grid = Grid(f"Mean over {len(ALL)} boards", header, lines)
    picture = Plot(
        "pavao-criteria",
        "The six rules under the five criteria",
        f"Mean over {len(ALL)} boards; 1 is best.",
        "criterion",
        "mean",
        list(CRITERIA.values()),
        {NAMES[key]: [float(np.mean(values[key][c])) for c in CRITERIA] for key in SIX},
    )
    return Result([], [grid], [_PLACES], [picture], facts=facts)


_PLACES = (
    "The place of a rule is among the six, under each criterion and on each board; 1 is best. Three of the criteria "
    "have a rule that meets them best by definition: no winner has a better average rank than the average rank's, "
    "Copeland finds every Condorcet winner, and other systems do not change the mean or the median of a system. So "
    "they say little about which rule is better, and the first of the two mean places leaves them out."
)


def correlations(progress: Progress) -> Result:
    """Correlate the six rankings with each other (Spearman)."""
    grids, tables = [], []
    for step, name in enumerate(ALL):
        progress(step, len(ALL))
        tables.append(compare(ranked(matrix_of(name))).spearman)
        grids.append(_matrix(f"Spearman's correlation of the rankings, {name}", tables[-1]))
    mean = np.mean(tables, axis=0)
    grids.insert(0, _matrix(f"Spearman's correlation of the rankings, mean over {len(ALL)} boards", mean))
    keys = list(SIX)
    pairs = {(keys[i], keys[j]): float(mean[i, j]) for i in range(len(keys)) for j in range(i)}
    least = min(pairs, key=lambda pair: pairs[pair])
    facts = {"least": pairs[least], "least_pair": [NAMES[key] for key in least]}
    return Result([], grids, facts=facts)


def _matrix(title: str, table: np.ndarray) -> Grid:
    names = list(NAMES.values())
    return Grid(title, ["", *names], [[names[i], *(number(value, 3) for value in row)] for i, row in enumerate(table)])


def success_rates(progress: Progress) -> Result:
    """Set the success rate beside the average rank and the win rate that shares ties."""
    rows, lines = [], []
    for step, name in enumerate(ALL):
        progress(step, len(ALL))
        matrix = matrix_of(name)
        success = rank(matrix, "win_rate", variant="success_rate")
        shared, average = rank(matrix, "win_rate"), rank(matrix, "average_rank")
        borda = rank(matrix, "borda", ties="worst")
        n, T = matrix.values.shape
        gap = float(np.abs(success.scores - borda.scores / ((n - 1) * T)).max())
        moved = int((success.average_ranks != average.average_ranks).sum())
        tied = float(np.mean([1 - len(np.unique(column)) / n for column in matrix.scores.T]))
        alike = kendall_tau(success, average)
        lines.append([name, f"{number(100 * tied, 1)} %", number(alike, 4), str(moved), str(_moved(shared, average))])
        if gap > 1e-12:
            raise AssertionError(f"the success rate on {name} is not Borda's with ties at the worst place: {gap}")
    what = f"success rate = Borda with ties at the worst place / ((systems - 1) x tasks), on {len(ALL)} boards"
    rows.append(ours_alone(what, f"holds on all {len(ALL)}, to 12 decimals"))
    header = ["board", "systems that repeat a score, mean over tasks", "tau-b with the average rank"]
    header += ["systems on another rank", "and with ties as halves"]
    return Result(rows, [Grid("Success rate against average rank", header, lines)], [_SAME])


def _moved(first: Ranking, second: Ranking) -> int:
    return int((first.average_ranks != second.average_ranks).sum())


_SAME = (
    "On complete boards the share of rivals beaten is the average rank in other units: with ties as halves the two "
    "always rank alike, and with ties as nothing (the success rate of the paper) they part where scores are equal. "
    "That is why the study above takes Borda for it."
)


def properties(progress: Progress) -> Result:
    """Say which of the six rules has which property, and check each answer (the left part of table 2)."""
    header = ["rule", "ties or variant", *(prop.name for prop in PROPERTIES.values())]
    lines, n_no, n_yes, n_steps = [], 0, 0, 0
    for step, (key, (rule, options, _)) in enumerate(SIX.items()):
        progress(step, len(SIX))
        convention, cells = convention_of(rule, options), []
        for prop in PROPERTIES:
            holds = entry(rule, prop, options).holds
            cells.append("yes" if holds else "no")
            if holds:
                n_yes, n_steps = n_yes + 1, n_steps + _searched(rule, prop, options)
            else:
                stored = stored_witnesses()[rule, convention, prop]
                if not violates(stored.board, stored.witness):
                    raise AssertionError(f"the stored board does not violate {prop} under {rule}")
                n_no += 1
        lines.append([NAMES[key], convention or "-", *cells])
    rows = [
        ours_alone("*no*: the stored board violates the property, checked from its definition", str(n_no)),
        ours_alone(
            f"*yes*: no violation found on {N_SEARCHED} random boards each", f"{n_yes}, {n_steps:,} boards looked at"
        ),
    ]
    return Result(rows, [Grid("Properties", header, lines)], [_WITNESSES], facts={"n_no": n_no, "n_yes": n_yes})


def _searched(rule: str, prop: str, options: dict[str, str]) -> int:
    """Look for a violation of a property that should hold; return how many boards were looked at."""
    n_steps = 0
    for seed in range(N_SEARCHED):
        matrix = random_matrix(4, 5, seed=seed, kind="uniform", n_levels=4 if seed % 2 else None)
        search = witness(rule, prop, matrix, options=options, seed=seed, max_steps=20)
        if search.witness is not None:
            raise AssertionError(f"{prop} should hold under {rule}, but a violation was found on seed {seed}")
        n_steps += search.n_steps
    return n_steps


_WITNESSES = (
    "For complete scores and the rules as they are computed here; docs/rules/ says where each *yes* comes from. The "
    "paper's own table is compared above."
)

SECTIONS = (
    *(
        Section(
            f"pavao-{slug(name)}",
            f"The criteria on {name}",
            (name,) if name != SYNTHETIC else (),
            partial(criteria, name),
            is_slow=True,
        )
        for name in ALL
    ),
    Section("pavao-summary", "The criteria over all of these boards", BOARDS, summary, is_slow=True),
    Section("pavao-correlations", "How far the six rankings agree", BOARDS, correlations),
    Section("pavao-success-rate", "Success rate, average rank and win rate", BOARDS, success_rates),
    Section("pavao-properties", "Properties of the six rules, with proofs", (), properties, is_slow=True),
)
