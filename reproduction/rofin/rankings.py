"""Rofin et al. 2023, Vote'n'Rank: leaderboards under every rule (tables 3, 9, 10 and 11) and winners (table 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ranking_engine import RULES, Ranking, ScoreMatrix, rank
from reproduction.rofin.boards import (
    ALL_BOARDS,
    BOARDS,
    NO_GEOMETRIC_MEAN,
    NOTEBOOKS,
    OWN_GAP,
    PRINTED,
    SOURCES,
    TABLES,
    TITLES,
    paper_board,
    ranked,
    with_equal_columns,
)
from reproduction.rofin.printed_rows import agreement_row, arrows_row, first_scores_row, score_rows
from reproduction.tables import AGREES, DIFFERS, Grid, Progress, Result, Row, Section, names_compared, printed_scores

REASONS = {"geometric_mean": NO_GEOMETRIC_MEAN, "optimality_gap": OWN_GAP}
ARROWS = "their notebook's scores put other systems at these places than their arrows do"
HOW_ARROWS_COMPARE = (
    "The systems of the printed table are pictures, which the text at our disposal lost. An arrow says from "
    "which place by the mean a system comes, and so which system it is; it agrees where ours has that system at that "
    "place, alone or tied. Their notebook prints the optimality gap times -100."
)


def rankings(name: str, progress: Progress) -> Result:
    """Compare every printed score and arrow of a board, and the notebook's scores of all systems."""
    del progress
    matrix, own = paper_board(name), ranked(name)
    scores = NOTEBOOKS[name]["scores"]
    rows = printed_table(name, matrix, own)
    of_notebook, grid = score_rows(matrix, scores, own, REASONS)
    rows += of_notebook
    if name in ("glue", "superglue"):
        rows += _gap_with_equal_columns(name, matrix, own["mean"])
        rows.append(geometric_means_where_defined(matrix, scores["geometric_mean"]))
    return Result(rows, [Grid(f"All scores on {TITLES[name]}", *grid)], [HOW_ARROWS_COMPARE])


def printed_table(name: str, matrix: ScoreMatrix, own: Mapping[str, Ranking]) -> list[Row]:
    """Return a row a column of scores and a row a column of arrows of the printed table."""
    printed, scores = PRINTED[TABLES[name]], NOTEBOOKS[name]["scores"]
    rows = []
    for rule, texts in printed["scores"].items():
        code = printed_scores(scores[rule], matrix.system_names).values()
        what = f"{RULES[rule].name}, first {len(texts)} scores"
        because = REASONS.get(rule, "")
        rows.append(first_scores_row(what, own[rule], printed=texts, code=list(code), because=because))
    if "mean" not in own:
        return rows
    for rule, changes in printed["changes"].items():
        what = f"{RULES[rule].name}, arrows of the first {len(changes)}"
        because = ARROWS if name == "value" else REASONS.get(rule, "")
        rows.append(arrows_row(what, matrix.system_names, own["mean"], own[rule], changes, because))
    return rows


def _gap_with_equal_columns(name: str, matrix: ScoreMatrix, mean: Ranking) -> list[Row]:
    """Compare the optimality gap with every column counting 1; its printed numbers were counted before."""
    ranking = rank(with_equal_columns(matrix), "optimality_gap")
    scores = printed_scores(NOTEBOOKS[name]["scores"]["optimality_gap"], matrix.system_names)
    printed, what = PRINTED[TABLES[name]], "Optimality gap with every column counting 1"
    texts, changes = printed["scores"]["optimality_gap"], printed["changes"]["optimality_gap"]
    rows = [
        first_scores_row(f"{what}, first {len(texts)} scores", ranking, printed=texts, code=list(scores.values())),
        arrows_row(f"{what}, arrows of the first {len(changes)}", matrix.system_names, mean, ranking, changes, ARROWS),
        replace(agreement_row(matrix, "optimality_gap", scores, ranking, OWN_GAP), what=f"{what}, all scores"),
    ]
    return [replace(row, n_printed=0, n_equal=0) for row in rows]


def geometric_means_where_defined(matrix: ScoreMatrix, table: Mapping[str, str]) -> Row:
    """Compare the geometric means of the systems for which the notebook prints one, ranked among themselves."""
    theirs = {name: score for name, score in printed_scores(table, matrix.system_names).items() if score != "nan"}
    part = matrix.subset([matrix.system_names.index(name) for name in theirs])
    row = agreement_row(part, "geometric_mean", theirs, rank(part, "geometric_mean"), "")
    return replace(row, what=f"Geometric mean of the {len(theirs)} of {matrix.n_systems} for which theirs is a number")


def winners(progress: Progress) -> Result:
    """Compare the winners of every rule, and how many are pictured (table 4)."""
    del progress
    rows = []
    for name in TITLES:
        matrix = paper_board(name)
        for rule, theirs in NOTEBOOKS[name]["winners"].items():
            ours = [matrix.system_names[i] for i in rank(matrix, rule).winners]
            what = f"{TITLES[name]}, {RULES[rule].name}"
            rows.append(names_compared(what, ours, code=theirs, because=REASONS.get(rule, "")))
    return Result(rows + [_pictures(rule, *counts) for rule, counts in PRINTED["table_4"].items()], notes=[_PICTURES])


def _pictures(rule: str, n_before: int, n_after: int) -> Row:
    """Compare how many winners a row of table 4 shows before and after its last bar."""
    with_missing = ["value_missing"] if rule in NOTEBOOKS["value_missing"]["winners"] else []
    before = sum(len(rank(paper_board(name), rule).winners) for name in ["glue", "superglue", *with_missing])
    after = len(rank(paper_board("value"), rule).winners)
    printed, ours = (f"{first} and {second}" for first, second in ((n_before, n_after), (before, after)))
    verdict = AGREES if printed == ours else DIFFERS
    return Row(f"{RULES[rule].name}: winners shown up to the last bar, and after it", printed, "", ours, verdict)


_PICTURES = (
    "The paper names the winners by pictures, which the text at our disposal lost; it kept a mark for each. Up to the "
    "last bar are the winners on GLUE, SuperGLUE and VALUE with its missing scores; after it are those on VALUE "
    "without Human."
)


def _section(name: str) -> Section:
    table = TABLES[name].replace("table_", "Table ")
    title = f"{table}: {TITLES[name]} under every rule"
    if name == "value_missing":
        title = f"{table}: VALUE with its missing scores"
    source = BOARDS[name.removesuffix("_missing")]
    key = f"rofin-{name.replace('_', '-')}"
    return Section(key, title, (source,), partial(rankings, name), (SOURCES["rankings"],))


SECTIONS = (
    *(_section(name) for name in TITLES),
    Section("rofin-winners", "Table 4: winners", ALL_BOARDS, winners, (SOURCES["rankings"],)),
)
