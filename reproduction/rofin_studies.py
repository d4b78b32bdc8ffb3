"""Rofin et al. 2023, Vote'n'Rank: newcomers (table 2), missing scores (figure 2), properties of the rules (table 8)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ranking_engine import RULES
from ranking_engine.axioms import PROPERTIES, convention_of, entry
from ranking_engine.stability.catalogue import run_study
from reproduction.rofin import BOARDS, PRINTED, SOURCES, TITLES, paper_board
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Plot,
    Progress,
    Result,
    Row,
    Section,
    number,
    ours_alone,
)

NEWCOMERS = ("borda", "copeland", "dowdall", "mean", "minimax", "plurality")
CURVES = ("copeland", "minimax", "mean", "optimality_gap")
RULES_OF_TABLE_8 = (
    "plurality", "dowdall", "borda", "baldwin", "threshold", "copeland", "minimax", "condorcet", "mean",
    "geometric_mean", "optimality_gap",
)  # fmt: skip
LEVELS = (1, 5, 10, 15, 20)


def newcomers(progress: Progress) -> Result:
    """Compare how many newcomers change the order of the others, in 50 orders of arrival (table 2)."""
    rows = []
    for name in ("glue", "superglue"):
        as_theirs = _additions(name, "votenrank", progress)
        as_ours = _additions(name, "", progress)
        for rule in NEWCOMERS:
            rows += _newcomer_rows(name, rule, as_theirs[rule], as_ours[rule])
    return Result(rows, notes=[_TWO_COUNTS])


def _additions(name: str, compat: str, progress: Progress) -> dict[str, Any]:
    parameters = {"rules": list(NEWCOMERS), "n_orders": 50, "compat": compat}
    found = run_study("system_additions", paper_board(name), parameters, seed=0, progress=progress)
    return dict(found.summary["rules"])


def _newcomer_rows(name: str, rule: str, theirs: dict[str, Any], ours: dict[str, Any]) -> list[Row]:
    mean, deviation = PRINTED[name]["newcomers"][rule]
    what = f"{TITLES[name]}, {RULES[rule].name}"
    is_same = abs(theirs["any_change"] - mean) < 1e-6 and abs(theirs["any_change_deviation"] - deviation) < 1e-6
    shown = f"{theirs['any_change']:.2f} (deviation {theirs['any_change_deviation']:.4f})"
    counts = f"{ours['reversals']:.2f} reverse two others, {ours['any_change']:.2f} change anything"
    verdict = AGREES if is_same else DIFFERS
    return [
        Row(f"{what}: counted as theirs", "", f"{mean:.2f} (deviation {deviation:.4f})", shown, verdict),
        ours_alone(f"{what}: counted as defined here", counts),
    ]


def missing_scores(name: str, progress: Progress) -> Result:
    """Delete shares of the scores and correlate the first 7 with the full ranking (figure 2)."""
    parameters = {"rules": list(CURVES), "levels": list(range(21)), "n_repeats": 100}
    found = run_study("missing_scores", paper_board(name), parameters, seed=0, progress=progress).summary["rules"]
    lines = [
        [RULES[rule].name, *(number(found[rule]["mean"][level], 3) for level in LEVELS)]
        for rule in CURVES
        if rule in found
    ]
    title = f"Spearman's correlation over the first 7 systems, mean of 100 repeats, on {TITLES[name]}"
    picture = Plot(
        f"rofin-missing-{name}",
        f"{TITLES[name]} with missing scores",
        title + ".",
        "scores deleted, %",
        "Spearman",
        [str(level) for level in range(21)],
        {RULES[rule].name: [_known(value) for value in found[rule]["mean"]] for rule in CURVES if rule in found},
    )
    facts = {RULES[rule].name: float(found[rule]["mean"][-1]) for rule in CURVES if rule in found}
    grid = Grid(title, ["deleted", *(f"{level} %" for level in LEVELS)], lines)
    return Result([], [grid], [_ONLY_PLOTTED], [picture], facts=facts)


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


_TWO_COUNTS = (
    "Theirs breaks ties by name and never adds the last system, so that its count is neither of reversals nor of all "
    "changes. Ours tells the two apart and adds everybody."
)
_ONLY_PLOTTED = (
    "The paper shows this as a plot alone, drawn from random numbers without a seed, so that there is nothing to "
    "compare digit by digit. Theirs also correlates scores rounded to two decimals."
)
_WITH_TIES = (
    "The paper's table stands in the paper alone and is not repeated here. Ours is about the rules as they are "
    "computed, ties included, and so differs from what holds for strict orders: Baldwin under `worst` can drop a "
    "Condorcet winner. Behind every *no* stands a stored board that the tests check."
)


def properties(progress: Progress) -> Result:
    """Say which rule has which property (table 8)."""
    del progress
    header = ["rule", "ties or variant", *(prop.name for prop in PROPERTIES.values())]
    lines = [
        [RULES[rule].name, convention_of(rule, {}) or "-", *(_holds(rule, key) for key in PROPERTIES)]
        for rule in RULES_OF_TABLE_8
    ]
    return Result([], [Grid("Properties of the paper's rules", header, lines)], [_WITH_TIES])


def _holds(rule: str, key: str) -> str:
    return "yes" if entry(rule, key).holds else "no"


SECTIONS = (
    Section(
        "rofin-newcomers",
        "Table 2: newcomers that change the order of the others",
        (BOARDS["glue"], BOARDS["superglue"]),
        newcomers,
        (SOURCES["newcomers"],),
    ),
    *(
        Section(
            f"rofin-missing-{name}",
            f"Figure 2: missing scores, {TITLES[name]}",
            (BOARDS[name],),
            partial(missing_scores, name),
        )
        for name in BOARDS
    ),
    Section("rofin-properties", "Table 8: properties of the rules", (), properties),
)
