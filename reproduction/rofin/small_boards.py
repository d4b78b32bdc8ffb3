"""Small boards beside those of Vote'n'Rank: Malkevitch's, on which the rules disagree, and the least with reversals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ranking_engine import RULES, ScoreMatrix, rank
from reproduction.tables import Grid, Progress, Result, Section, names_compared, number, ours_alone, published

MALKEVITCH = published("malkevitch")
GAMMA = 4.0
MAX_TASKS = 5
RULES_OF_PAPER = (
    "plurality", "dowdall", "borda", "baldwin", "threshold", "copeland", "minimax", "condorcet", "mean",
    "geometric_mean", "optimality_gap",
)  # fmt: skip
_WHOSE = (
    "Malkevitch's 55 voters on five candidates, under whose ballots five procedures have five winners. The board is "
    "not in the paper; the paper's own toy is in the section on its appendix A.1."
)
_SMALLEST = (
    "Of all boards of three systems on up to five tasks without ties, scores 3, 2 and 1, in order of size. Rules that "
    "look at a system's own scores alone cannot be moved by a newcomer. The paper has no such boards; its table 2 "
    "counts such newcomers."
)


def malkevitch() -> ScoreMatrix:
    """Return the election as a board: a task a group of voters, weighted by its size, scores 5 for the first to 1."""
    names = sorted(MALKEVITCH["ballots"][0]["order"])
    orders = [ballot["order"] for ballot in MALKEVITCH["ballots"]]
    values = [[float(len(names) - order.index(name)) for order in orders] for name in names]
    weights = [ballot["voters"] for ballot in MALKEVITCH["ballots"]]
    return ScoreMatrix(values, system_names=names, weights=weights).with_gamma(GAMMA)


def is_strict(matrix: ScoreMatrix) -> bool:
    """Whether no two systems tie on a task."""
    return all(np.unique(column).size == column.size for column in matrix.values.T)


def orders_of(matrix: ScoreMatrix) -> list[str]:
    """Return the order of each task of a board without ties, with its weight where it is not 1."""
    orders = []
    for column, weight in zip(matrix.scores.T, matrix.weights, strict=True):
        order = " > ".join(matrix.system_names[i] for i in np.argsort(-column))
        orders.append(order if weight == 1 else f"{weight} x {order}")
    return orders


def every_rule(progress: Progress) -> Result:
    """Rank the toy under every rule of the paper (table 6)."""
    del progress
    matrix = malkevitch()
    rows, lines = [], []
    for rule, printed in MALKEVITCH["winners"].items():
        ours = [matrix.system_names[i] for i in rank(matrix, rule).winners]
        rows.append(names_compared(f"{RULES[rule].name}, winner", ours, printed=[printed]))
    winners = set()
    for rule in RULES_OF_PAPER:
        ranking = rank(matrix, rule)
        named = [matrix.system_names[i] for i in ranking.winners]
        winners.update(named)
        scores = ["-" if np.isnan(s) else number(s) for s in np.asarray(ranking.scores, dtype=float)]
        lines.append([RULES[rule].name, *scores, "; ".join(named) or "no system"])
    facts = {"n_winners": len(winners), "n_rules": len(RULES_OF_PAPER)}
    weights = [f"{ballot['voters']} x {' > '.join(ballot['order'])}" for ballot in MALKEVITCH["ballots"]]
    grids = [
        Grid("The board", ["votes"], [[text] for text in weights]),
        Grid("Scores and winners", ["rule", *matrix.system_names, "first"], lines),
    ]
    return Result(rows, grids, [_WHOSE], facts=facts)


def newcomer(progress: Progress) -> Result:
    """Show the smallest boards on which a newcomer reverses two others."""
    del progress
    rows, lines = [], []
    for rule in RULES_OF_PAPER:
        reversal = smallest_reversal(rule)
        if reversal is None:
            ours = f"none on up to {MAX_TASKS} tasks"
        else:
            matrix, (i, j), k = reversal
            names = matrix.system_names
            ours = f"{matrix.n_tasks} tasks: {names[i]} above {names[j]}, and below it once {names[k]} joins"
            orders = orders_of(matrix)
            lines.append([RULES[rule].name, *orders, *[""] * (MAX_TASKS - len(orders))])
        rows.append(ours_alone(f"{RULES[rule].name}: a newcomer reverses two others", ours))
    header = ["rule", *(f"task {t + 1}" for t in range(MAX_TASKS))]
    return Result(rows, [Grid("Those boards", header, lines)], [_SMALLEST])


def boards_of_three() -> Iterator[ScoreMatrix]:
    """Yield the boards of three systems without ties, in order of size, tasks in one order only."""
    orders = list(itertools.permutations((3.0, 2.0, 1.0)))
    for n_tasks in range(1, MAX_TASKS + 1):
        for chosen in itertools.combinations_with_replacement(orders, n_tasks):
            yield ScoreMatrix(np.array(chosen).T, system_names=["A", "B", "C"]).with_gamma(2.0)


def smallest_reversal(rule: str) -> tuple[ScoreMatrix, tuple[int, int], int] | None:
    """Return the first board on which i is above j without k, and below with k."""
    for matrix in boards_of_three():
        full = rank(matrix, rule)
        for k in range(3):
            pair = [s for s in range(3) if s != k]
            before, after = rank(matrix.subset(pair), rule).average_ranks, full.average_ranks[pair]
            if (before[0] - before[1]) * (after[0] - after[1]) < 0:
                i, j = pair if before[0] < before[1] else reversed(pair)
                return matrix, (i, j), k
    return None


SECTIONS = (
    Section("rofin-malkevitch", "A board on which the rules disagree", (), every_rule),
    Section(
        "rofin-toy-newcomer", "The smallest boards on which a newcomer reverses two others", (), newcomer, is_slow=True
    ),
)
