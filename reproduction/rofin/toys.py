"""Rofin et al. 2023, Vote'n'Rank: the weights of figure 1, and the toy of tables 6 and 7, figure 3 and appendix A.1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ranking_engine import RULES, Pairwise, ScoreMatrix, rank
from ranking_engine.core.aggregation import reweighted
from reproduction.rofin.boards import PRINTED
from reproduction.rofin.small_boards import orders_of
from reproduction.tables import AGREES, DIFFERS, Grid, Progress, Result, Row, Section, listed, names_compared, number

TOY, A1 = PRINTED["toy"], PRINTED["appendix_a1"]
SIZES = {"blue": 3, "orange": 2, "violet": 2}  # the groups of figure 1
_PICTURE = (
    "Figure 3 is a picture, which the text at our disposal lost. What appendix A.1 says of it is compared; the grid is "
    "ours."
)
_VECTORS = "The rounds of the Baldwin rule are ours too: at each the last by the Borda score leaves."


def toy(orders: Sequence[str]) -> ScoreMatrix:
    """Return orders of systems, a task each, as a board; scores are points from the last up."""
    names = sorted(orders[0])
    return ScoreMatrix(
        [[float(len(names) - order.index(name)) for order in orders] for name in names], system_names=names
    )


def appendix(progress: Progress) -> Result:
    """Compare every number of appendix A.1, and the board of Baldwin's second round (table 7)."""
    del progress
    matrix = toy(TOY["table_6"])
    rows = [_scores(matrix, rule) for rule in ("plurality", "borda")]
    rows += [_dowdall(matrix), _threshold(matrix)]
    rows += _baldwin(matrix)
    rows += [_scores(matrix, rule) for rule in ("copeland", "minimax")]
    for rule, letters in A1["winners"].items():
        ours = [matrix.system_names[i] for i in rank(matrix, rule).winners]
        rows.append(names_compared(f"{RULES[rule].name}: winners", ours, printed=list(letters)))
    return Result(rows, [Grid("The toy of table 6", ["tasks"], [[order] for order in orders_of(matrix)])], [_VECTORS])


def _scores(matrix: ScoreMatrix, rule: str) -> Row:
    """Compare the scores of a rule, which the paper prints as they are."""
    what = f"{RULES[rule].name}: scores of {', '.join(matrix.system_names)}"
    return listed(what, rank(matrix, rule).scores.tolist(), printed=A1[rule])


def _dowdall(matrix: ScoreMatrix) -> Row:
    """Compare Dowdall's scores, of which one is printed as a sum."""
    sums = [sum(Fraction(part) for part in text.split("+")) for text in A1["dowdall"]]
    scores = rank(matrix, "dowdall").scores.tolist()
    n_equal = sum(abs(float(total) - score) < 1e-9 for total, score in zip(sums, scores, strict=True))
    what = f"Dowdall: scores of {', '.join(matrix.system_names)}"
    ours = ", ".join(number(score, 4).rstrip("0") for score in scores)
    verdict = AGREES if n_equal == len(sums) else DIFFERS
    return Row(what, ", ".join(A1["dowdall"]), "", ours, verdict, "", len(sums), n_equal)


def _threshold(matrix: ScoreMatrix) -> Row:
    """Compare the points of the Threshold rule's first vector: the tasks on which a system is not last."""
    scores = rank(matrix, "positional", vector=(1, 1, 1, 0)).scores
    what = f"Threshold, vector (1, 1, 1, 0): scores of {', '.join(matrix.system_names)}"
    return listed(what, scores.tolist(), printed=A1["threshold"])


def _baldwin(matrix: ScoreMatrix) -> list[Row]:
    """Compare Baldwin's rounds after the first, and the tasks of the second with table 7."""
    rows = []
    left = matrix
    for systems, printed in A1["baldwin"].items():
        borda = rank(left, "borda").scores
        left = left.subset(np.flatnonzero(borda > borda.min()))
        scores = rank(left, "borda").scores.tolist()
        rows.append(listed(f"Baldwin: Borda scores of {', '.join(systems)}, who are left", scores, printed=printed))
        if len(systems) == 3:
            orders, theirs = orders_of(left), [" > ".join(order) for order in TOY["table_7"]]
            verdict = AGREES if orders == theirs else DIFFERS
            rows.append(Row("Baldwin: the tasks of table 7", "; ".join(theirs), "", "; ".join(orders), verdict))
    return rows


def majorities(progress: Progress) -> Result:
    """Show the majority graph of the toy (figure 3)."""
    del progress
    matrix = toy(TOY["table_6"])
    wins, names = Pairwise.of(matrix).wins, matrix.system_names
    beaten = {name: [names[j] for j in np.flatnonzero(wins[i] > wins[:, i])] for i, name in enumerate(names)}
    rows = [names_compared("Who beats each of the others", [n for n in names if len(beaten[n]) == 3], printed=["B"])]
    lines = [
        [
            names[i],
            *("-" if i == j else number(wins[i, j], 0) for j in range(len(names))),
            ", ".join(beaten[names[i]]) or "-",
        ]
        for i in range(len(names))
    ]
    header = ["tasks on which", *(f"above {name}" for name in names), "beats"]
    return Result(rows, [Grid("Tasks on which a row is above a column", header, lines)], [_PICTURE])


def weights_of_groups(progress: Progress) -> Result:
    """Compare the weights that the weighted aggregation gives to seven voters in three groups (figure 1)."""
    del progress
    groups = [group for group, size in SIZES.items() for _ in range(size)]
    matrix = ScoreMatrix(np.eye(3, len(groups)).tolist(), system_names=["A", "B", "C"], groups=groups)
    ours = [str(weight) for weight in reweighted(matrix, "weighted").weights]
    printed = PRINTED["figure_1"]["weights"]
    n_equal = sum(one == other for one, other in zip(ours, printed, strict=True))
    what = "Weights of 3, 2 and 2 voters in three groups, weighted aggregation"
    verdict = AGREES if n_equal == len(printed) else DIFFERS
    return Result([Row(what, ", ".join(printed), "", ", ".join(ours), verdict, "", len(printed), n_equal)])


FIGURE_1 = Section("rofin-figure-1", "Figure 1: weights of grouped voters", (), weights_of_groups)
SECTIONS = (
    Section("rofin-toy", "Appendix A.1 and tables 6 and 7: the toy under every rule", (), appendix),
    Section("rofin-toy-majorities", "Figure 3: the majority graph of the toy", (), majorities),
)
