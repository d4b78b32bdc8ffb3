"""Rofin et al. 2023, Vote'n'Rank: rankings for users with preferences (table 5), and the notebook of that study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ranking_engine import RULES, Ranking, ScoreMatrix, rank
from reproduction.boards import board
from reproduction.rofin.boards import PRINTED, SOURCES, with_group_weights
from reproduction.rofin.printed_rows import arrows_row, first_scores_row, score_rows
from reproduction.tables import AGREES, DIFFERS, Grid, Progress, Result, Row, Section, names_compared, published

NOTEBOOK = published("rofin_2023_users")
COLUMNS = {
    "mean": "Mean of performance",
    "basic": "Borda, basic",
    "weighted": "Borda, weighted",
    "two_step": "Borda, two-step with weights 0.4, 0.3 and 0.3",
    "performance": "Borda of performance",
    "efficiency": "Borda of efficiency",
    "fairness": "Borda of fairness",
}
SAME_CRITERIA = ("performance", "efficiency")  # the notebook's fairness has one criterion more than the paper's
SCORES_DIFFER = (
    "the paper's own columns of performance, efficiency and fairness add up to ours: 17.0 + 223.0 + 7.00 = 247.0, "
    "32.5 + 103.0 + 19.0 = 154.5 and 8.0 + 84.0 + 11.0 = 103.0"
)
ARROWS_DIFFER = "their arrow leads to a system that has another place by the scores of its column"
CRITERIA = (
    "The paper names three data sets of fairness: CrowS-Pairs, StereoSet (two criteria here) and WinoBias. The board "
    "has Winogender too, and the notebook counts it. Here it has weight 0; so 46 of the 49 printed scores are ours. "
    "The basic column is the sum of the columns of performance, efficiency and fairness, system by system. As printed "
    "these sum to 206, 840 and 84, in all 1,130, as the basic column does here; the printed basic column sums to "
    "1,056.5."
)


def users(progress: Progress) -> Result:
    """Compare the rankings for users who weigh performance, fairness and efficiency (table 5)."""
    del progress
    printed, own, names = PRINTED["table_5"], table_5(), board("votenrank-cs4").system_names
    rows = []
    for column, title in COLUMNS.items():
        rule = "mean" if column == "mean" else "borda"
        group = "performance" if column == "mean" else column
        code = _of_notebook(group, rule) if group in SAME_CRITERIA else []
        texts = printed["scores"][column]
        rows.append(_scores_row(f"{title}: scores", own[column], texts, code))
        if column != "mean":
            changes = printed["changes"][column]
            what = f"{title}: arrows"
            rows.append(arrows_row(what, names, own["mean"], own[column], changes, ARROWS_DIFFER))
    for column, theirs in PRINTED["section_3_4"].items():
        best = [names[i] for i in np.argsort(own[column].ranks, kind="stable")[:3]]
        verdict = AGREES if best == theirs else DIFFERS
        rows.append(
            Row(f"{COLUMNS[column]}: the first three, in order", "; ".join(theirs), "", "; ".join(best), verdict)
        )
    return Result(rows, notes=[CRITERIA])


def _of_notebook(group: str, rule: str) -> list[str]:
    return [line.partition(":")[0] for line in NOTEBOOK[group]["scores"][rule]["lines"].strip().splitlines()]


def _scores_row(what: str, ranking: Ranking, texts: list[str], code: list[str]) -> Row:
    """Compare a column of scores by place."""
    return first_scores_row(what, ranking, printed=texts, code=code, because=SCORES_DIFFER)


def table_5() -> dict[str, Ranking]:
    """Return our rankings by column of table 5, with the criteria that the paper names."""
    matrix = board("votenrank-cs4")
    weights = [0 if "winogender" in task else w for task, w in zip(matrix.task_names, matrix.weights, strict=True)]
    boards = user_boards(matrix.with_weights(weights))
    columns = {name: rank(part, "borda", aggregation=aggregation) for name, (part, aggregation) in boards.items()}
    return {"mean": rank(boards["performance"][0], "mean"), **columns}


def users_of_notebook(progress: Progress) -> Result:
    """Compare the notebook's rankings under every rule, with its five criteria of fairness."""
    del progress
    rows, grids = [], []
    for name, (matrix, aggregation) in user_boards(board("votenrank-cs4")).items():
        tables = NOTEBOOK[name]["scores"]
        own = {rule: rank(matrix, rule, aggregation=aggregation) for rule in tables}
        of_board, grid = score_rows(matrix, tables, own, {})
        rows += [replace(row, what=f"{name}: {row.what}") for row in of_board]
        grids.append(Grid(name, *grid))
        for rule, theirs in NOTEBOOK[name].get("winners", {}).items():
            ours = [matrix.system_names[i] for i in rank(matrix, rule, aggregation=aggregation).winners]
            rows.append(names_compared(f"{name}: winners by {RULES[rule].name}", ours, code=theirs))
        if "geometric_mean" not in tables:
            geometric = rank(matrix, "geometric_mean", aggregation=aggregation)
            rows.append(_no_geometric_mean(name, geometric))
    return Result(rows, grids)


def _no_geometric_mean(name: str, ranking: Ranking) -> Row:
    """Return the row of a board with negated costs, on which no system has a geometric mean."""
    verdict = AGREES if np.isnan(ranking.scores).all() else DIFFERS
    ours = f"a number for {ranking.n_ranked} of {ranking.n_systems}"
    because = "" if verdict == AGREES else "a negated cost has no logarithm"
    return Row(f"{name}: Geometric mean", "", f"nan for all {ranking.n_systems}", ours, verdict, because)


def user_boards(matrix: ScoreMatrix) -> dict[str, tuple[ScoreMatrix, str]]:
    """Return the boards of case study 4 and their aggregations: of all groups in three ways, and of each by itself."""
    equal = with_group_weights(matrix, {"performance": "1", "fairness": "1", "efficiency": "1"})
    preferred = with_group_weights(matrix, {"performance": "0.4", "fairness": "0.3", "efficiency": "0.3"})
    groups = np.array(matrix.groups)
    parts = {name: (matrix.subset(tasks=groups == name), "basic") for name in ("performance", "efficiency", "fairness")}
    return {"basic": (equal, "basic"), "weighted": (equal, "weighted"), "two_step": (preferred, "two_step"), **parts}


SECTIONS = (
    Section("rofin-users", "Table 5: users' preferences", ("votenrank-cs4",), users, (SOURCES["users"],)),
    Section(
        "rofin-users-notebook",
        "Section 3.4: users' preferences under every rule, as the notebook computes them",
        ("votenrank-cs4",),
        users_of_notebook,
        (SOURCES["users"],),
    ),
)
