"""Rofin et al. 2023, Vote'n'Rank: toy boards of the shape of tables 6 and 7 and figure 3.

The printed toys were not at hand: they are neither in the authors' repository nor in what else could be searched.
The first toy is Malkevitch's: 55 voters on five candidates, on which five procedures elect five candidates. The
second is found by trying all boards of three systems in order of size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ranking_engine import RULES, Pairwise, ScoreMatrix, rank
from reproduction.rofin_studies import RULES_OF_TABLE_8
from reproduction.tables import Grid, Progress, Result, Section, names_compared, number, ours_alone, published

TOY = published("malkevitch")
GAMMA = 4.0


def malkevitch() -> ScoreMatrix:
    """Return the toy as a board: a task a group of voters, weighted by its size, scores 5 for the first to 1."""
    names = sorted(TOY["ballots"][0]["order"])
    orders = [ballot["order"] for ballot in TOY["ballots"]]
    values = [[float(len(names) - order.index(name)) for order in orders] for name in names]
    return ScoreMatrix(values, system_names=names, weights=[ballot["voters"] for ballot in TOY["ballots"]]).with_gamma(
        GAMMA
    )


def every_rule(progress: Progress) -> Result:
    """Rank the toy under every rule of the paper (table 6)."""
    del progress
    matrix = malkevitch()
    rows, lines = [], []
    for rule, printed in TOY["winners"].items():
        ours = [matrix.system_names[i] for i in rank(matrix, rule).winners]
        rows.append(names_compared(f"{RULES[rule].name}, winner", ours, printed=[printed]))
    winners = set()
    for rule in RULES_OF_TABLE_8:
        ranking = rank(matrix, rule)
        named = [matrix.system_names[i] for i in ranking.winners]
        winners.update(named)
        shown = ["-" if np.isnan(s) else number(s) for s in np.asarray(ranking.scores, dtype=float)]
        lines.append([RULES[rule].name, *shown, "; ".join(named) or "nobody"])
    facts = {"n_winners": len(winners), "n_rules": len(RULES_OF_TABLE_8)}
    weights = [f"{ballot['voters']} x {' > '.join(ballot['order'])}" for ballot in TOY["ballots"]]
    grids = [
        Grid("The toy", ["votes"], [[text] for text in weights]),
        Grid("Scores and winners", ["rule", *matrix.system_names, "first"], lines),
    ]
    return Result(rows, grids, [_NOT_AT_HAND], facts=facts)


_NOT_AT_HAND = (
    "The printed toys were not at hand: they are not in the authors' repository, and no text of the paper that holds "
    "them could be found. This one has their purpose, one board on which the rules of the paper disagree; it is "
    "Malkevitch's, whose winners are the published side."
)


def newcomer(progress: Progress) -> Result:
    """Show the smallest boards on which a newcomer reverses two others (table 7)."""
    del progress
    rows, lines = [], []
    for rule in RULES_OF_TABLE_8:
        found = smallest_reversal(rule)
        if found is None:
            ours = f"none on up to {MOST_TASKS} tasks"
        else:
            matrix, (i, j), k = found
            names = matrix.system_names
            ours = f"{matrix.n_tasks} tasks: {names[i]} above {names[j]}, and below it once {names[k]} joins"
            orders = [" > ".join(names[s] for s in np.argsort(-column)) for column in matrix.values.T]
            lines.append([RULES[rule].name, *orders, *[""] * (MOST_TASKS - len(orders))])
        rows.append(ours_alone(f"{RULES[rule].name}: a newcomer reverses two others", ours))
    header = ["rule", *(f"task {t + 1}" for t in range(MOST_TASKS))]
    return Result(rows, [Grid("Those boards", header, lines)], [_SMALLEST])


_SMALLEST = (
    "Of all boards of three systems on up to five tasks without ties, scores 3, 2 and 1, in order of size. Rules that "
    "look at a system's own scores alone cannot be moved by a newcomer."
)
MOST_TASKS = 5


def boards_of_three() -> Iterator[ScoreMatrix]:
    """Yield the boards of three systems without ties, in order of size, tasks in one order only."""
    orders = list(itertools.permutations((3.0, 2.0, 1.0)))
    for n_tasks in range(1, MOST_TASKS + 1):
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


def majorities(progress: Progress) -> Result:
    """Show the majority graph of the toy (figure 3)."""
    del progress
    matrix = malkevitch()
    wins = Pairwise.of(matrix).wins
    names = matrix.system_names
    lines = [
        [names[i], *("-" if i == j else number(wins[i, j], 0) for j in range(len(names)))] for i in range(len(names))
    ]
    beaten = (wins > wins.T).sum(axis=1)
    rows = [
        ours_alone(f"{name} beats", "; ".join(names[j] for j in np.flatnonzero(wins[i] > wins[:, i])) or "nobody")
        for i, name in enumerate(names)
    ]
    for line, n in zip(lines, beaten, strict=True):
        line.append(str(int(n)))
    header = ["voters who put", *(f"above {name}" for name in names), "rivals beaten"]
    return Result(rows, [Grid("Voters who put a row above a column", header, lines)])


SECTIONS = (
    Section("rofin-toy", "Table 6: a toy on which the rules disagree", (), every_rule, (TOY["source"],)),
    Section("rofin-toy-newcomer", "Table 7: a toy newcomer that reverses two others", (), newcomer, is_slow=True),
    Section("rofin-toy-majorities", "Figure 3: the majority graph of the toy", (), majorities),
)
