"""Rofin et al. 2023, Vote'n'Rank: missing scores (figure 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from ranking_engine import RULES
from ranking_engine.stability.catalogue import run_study
from reproduction.rofin.boards import BOARDS, TITLES, paper_board
from reproduction.tables import Grid, Plot, Progress, Result, Section, number

CURVES = ("copeland", "minimax", "mean", "optimality_gap")
LEVELS = (1, 5, 10, 15, 20)
_WITHOUT_HUMAN = (
    "Section 3.3 speaks of VALUE. Leaving out Human, who has no scores on 5 of the 11 tasks, is our choice, and leaves "
    "fewer systems than the seven of the figure's caption."
)
_ONLY_PLOTTED = (
    "The paper shows this as a plot alone, of 100 runs, so that there is nothing to compare digit by digit. Its code "
    "draws random numbers without a seed and correlates scores rounded to two decimals."
)


def missing_scores(name: str, progress: Progress) -> Result:
    """Delete shares of the scores and correlate the first 7 with the full ranking (figure 2)."""
    parameters = {"rules": list(CURVES), "levels": list(range(21)), "n_repeats": 100}
    rules = run_study("missing_scores", paper_board(name), parameters, seed=0, progress=progress).summary["rules"]
    lines = [
        [RULES[rule].name, *(number(rules[rule]["mean"][level], 3) for level in LEVELS)]
        for rule in CURVES
        if rule in rules
    ]
    n, largest = paper_board(name).n_systems, 7
    over = f"the first {largest} systems" if n > largest else f"all {n} systems"
    title = f"Spearman's correlation over {over}, mean of 100 repeats, on {TITLES[name]}"
    picture = Plot(
        f"rofin-missing-{name}",
        f"{TITLES[name]} with missing scores",
        title + ".",
        "scores deleted, %",
        "Spearman",
        [str(level) for level in range(21)],
        {RULES[rule].name: [_known(value) for value in rules[rule]["mean"]] for rule in CURVES if rule in rules},
    )
    facts = {RULES[rule].name: float(rules[rule]["mean"][-1]) for rule in CURVES if rule in rules}
    grid = Grid(title, ["deleted", *(f"{level} %" for level in LEVELS)], lines)
    notes = [_ONLY_PLOTTED, *([_WITHOUT_HUMAN] if name == "value" else []), in_words(name, rules)]
    return Result([], [grid], notes, [picture], facts=facts)


def in_words(name: str, rules: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what section 3.3 says of a board in words, and for how many shares of deleted scores it is so here."""
    rule, word, extreme = ("minimax", "least", min) if name == "value" else ("copeland", "most", max)
    levels = range(1, 21)
    other = [level for level in levels if extreme(rules, key=lambda key: rules[key]["mean"][level]) != rule]
    exceptions = f"; not at {', '.join(f'{level} %' for level in other)}" if other else ""
    return (
        f"Section 3.3 says that {RULES[rule].name} is the {word} stable of the four on {TITLES[name].split()[0]}. "
        f"Here it is so at {len(levels) - len(other)} of the {len(levels)} shares of deleted scores{exceptions}."
    )


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


SECTIONS = tuple(
    Section(
        f"rofin-missing-{name}",
        f"Figure 2: missing scores, {TITLES[name]}",
        (BOARDS[name],),
        partial(missing_scores, name),
    )
    for name in BOARDS
)
