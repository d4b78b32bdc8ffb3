"""Colombo et al. 2022, table 1: three systems on six tasks, by mean, in pairs and by Borda."""

from __future__ import annotations

import numpy as np

from ranking_engine import Pairwise, ScoreMatrix, rank
from reproduction.colombo.sources import PAPER, SOURCES
from reproduction.tables import AGREES, DIFFERS, Grid, Progress, Result, Row, Section, compared

SCORES = {name: cells[:-1] for name, cells in PAPER["table_1"].items()}
SUMS = {name: cells[-1] for name, cells in PAPER["table_1"].items()}
PRINTED_BOARD = ScoreMatrix(
    [[float(cell) for cell in cells] for cells in SCORES.values()],
    system_names=list(SCORES),
    task_names=[f"Task{k}" for k in range(1, 7)],
)
LOWER_BOARD = ScoreMatrix(
    PRINTED_BOARD.values,
    system_names=PRINTED_BOARD.system_names,
    task_names=PRINTED_BOARD.task_names,
    directions=[-1] * PRINTED_BOARD.n_tasks,
)
README = {"mean": "A > B > C", "pairs": "B > A, C > B, A = C", "borda": "C > B > A"}


def paradox(progress: Progress) -> Result:
    """Rank the printed scores, and compare with the orders that the README states."""
    del progress
    rows = [
        compared(f"sum of {name}", float(PRINTED_BOARD.values[i].sum()), printed=SUMS[name])
        for i, name in enumerate(PRINTED_BOARD.system_names)
    ]
    for board, which, because in ((PRINTED_BOARD, "", REVERSED), (LOWER_BOARD, ", lower scores being better", "")):
        orders = {"mean": order(board, "mean"), "pairs": in_pairs(board), "borda": order(board, "borda")}
        names = {"mean": "by mean", "pairs": "in pairs", "borda": "by their method, Borda"}
        for key, ours in orders.items():
            verdict = AGREES if ours == README[key] else DIFFERS
            rows.append(Row(names[key] + which, "", README[key], ours, verdict, "" if verdict == AGREES else because))
    kemeny = Row("by Kemeny, exactly", "", README["borda"], order(PRINTED_BOARD, "kemeny"), DIFFERS, REVERSED)
    lines = [[name, *cells, SUMS[name]] for name, cells in SCORES.items()]
    return Result(
        [*rows, kemeny], [Grid("The printed scores", ["system", *PRINTED_BOARD.task_names, "SUM"], lines)], [LOST]
    )


REVERSED = "the README's three orders are ours from the last to the first: they are right if lower scores are better"
LOST = (
    "The text at our disposal lost the orders in the table's caption; the README of their repository states them. "
    "Higher scores being better, as on the three boards of section 5.1, the printed scores show the paradox the other "
    "way round: A beats B and B beats C on four tasks of six, A and C are even, and the mean orders C > B > A."
)


def in_pairs(board: ScoreMatrix) -> str:
    """Return who beats whom on more tasks, pair by pair as the README lists them."""
    sign = np.sign(Pairwise.of(board).margins.astype(float)).astype(int)
    between = {1: ">", 0: "=", -1: "<"}
    pairs = (("B", "A"), ("C", "B"), ("A", "C"))
    index = board.system_names.index
    parts = []
    for a, b in pairs:
        won = sign[index(a), index(b)]
        first, second = (b, a) if won < 0 else (a, b)
        parts.append(f"{first} {between[abs(won)]} {second}")
    return ", ".join(parts)


def order(board: ScoreMatrix, rule: str) -> str:
    """Return a ranking as A > B = C."""
    ranks: list[int] = rank(board, rule).ranks.tolist()
    by_rank = {place: [n for n, r in zip(board.system_names, ranks, strict=True) if r == place] for place in ranks}
    return " > ".join(" = ".join(by_rank[place]) for place in sorted(by_rank))


SECTIONS = (Section("colombo-paradox", "Table 1: a paradox of pairs", (), paradox, (SOURCES["readme"],)),)
