"""Pavao et al. 2021: six rules under their criteria, on public benchmarks and a synthetic one."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.papers.boards import board
from benchmarks.papers.tables import Grid, Progress, Result, Section, number
from ranking_engine import RULES, ScoreMatrix, compare, rank
from ranking_engine.axioms import PROPERTIES, convention_of, entry
from ranking_engine.stability.catalogue import run_study
from ranking_engine.synthetic import random_matrix

CITATION = (
    "Pavao, Vaccaro and Guyon 2021, Judging competitions and benchmarks: a candidate election approach, ESANN 2021"
)
SIX = ("mean", "median", "average_rank", "win_rate", "relative_difference", "copeland")
BOARDS = ("VTAB", "SuperGLUE", "GLUE")
SYNTHETIC = "synthetic tasks"
CRITERIA = {
    "winner_rank": "winner's average rank",
    "condorcet": "Condorcet rate",
    "generalization": "generalisation",
    "judge_stability": "stability, tasks drawn",
    "candidate_stability": "stability, systems drawn",
}
N_TRIALS = 10_000


def matrix_of(name: str) -> ScoreMatrix:
    """Return a board, at equal weights; the synthetic one has 20 systems with a skill each on 20 noisy tasks."""
    matrix = random_matrix(20, 20, seed=0, kind="skill") if name == SYNTHETIC else board(name)
    return matrix.with_weights([1] * matrix.n_tasks)


def criteria(name: str, progress: Progress) -> Result:
    """Measure how good each rule's winner is, and how far its ranking holds on other tasks and among other systems."""
    matrix = matrix_of(name)
    parameters: dict[str, Any] = {"rules": list(SIX), "n_trials": N_TRIALS}
    found = run_study("judge_bootstrap", matrix, parameters, seed=0, progress=progress).summary
    lines = []
    for rule in SIX:
        if rule in found["rules"]:
            values = [found["rules"][rule][key] for key in CRITERIA]
            lines.append([RULES[rule].name, *(f"{_shown(v['mean'])} ± {_shown(v['deviation'])}" for v in values)])
    missing = [f"{RULES[rule].name}: {reason}." for rule, reason in found["not_studied"].items() if rule in SIX]
    title = f"Mean ± deviation over {N_TRIALS:,} trials, {matrix.n_systems} systems on {matrix.n_tasks} tasks"
    return Result([], [Grid(title, ["rule", *CRITERIA.values()], lines)], missing)


def _shown(value: float | None) -> str:
    return "undefined" if value is None else number(value, 3)


def correlations(progress: Progress) -> Result:
    """Correlate the six rankings with each other (Spearman)."""
    grids = []
    for step, name in enumerate(BOARDS):
        progress(step, len(BOARDS))
        matrix = matrix_of(name)
        found = {rule: rank(matrix, rule) for rule in SIX}
        names = [RULES[rule].name for rule in found]
        table = compare(found).spearman
        lines = [[names[i], *(number(value, 3) for value in row)] for i, row in enumerate(table)]
        grids.append(Grid(f"Spearman's correlation of the rankings, {name}", ["", *names], lines))
    return Result([], grids)


def properties(progress: Progress) -> Result:
    """Say which of the six rules has which property."""
    del progress
    header = ["rule", "ties or variant", *(prop.name for prop in PROPERTIES.values())]
    lines = [[RULES[rule].name, convention_of(rule, {}) or "-", *_held(rule)] for rule in SIX]
    return Result([], [Grid("Properties", header, lines)], [WITNESSES])


def _held(rule: str) -> list[str]:
    return ["yes" if entry(rule, key).holds else "no" for key in PROPERTIES]


WITNESSES = (
    "For complete scores and the rules as they are computed here. Behind every *no* stands a stored board on which the "
    "property fails, which the tests check from the definition; docs/rules/ says where each *yes* comes from."
)

SECTIONS = (
    *(
        Section(
            f"pavao-{name.lower().replace(' ', '-')}",
            f"Criteria on {name}",
            (name,) if name != SYNTHETIC else (),
            partial(criteria, name),
            is_slow=True,
        )
        for name in (*BOARDS, SYNTHETIC)
    ),
    Section("pavao-correlations", "How far the six rankings agree", BOARDS, correlations),
    Section("pavao-properties", "Properties of the six rules", (), properties),
)
