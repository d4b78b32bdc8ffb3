"""Rofin et al. 2023, Vote'n'Rank: re-ranked leaderboards, their winners, who can win, and users with preferences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ranking_engine import RULES, Ranking, ScoreMatrix, rank
from ranking_engine.core.comparison import agreement_rate, kendall_tau
from ranking_engine.prospects import prospects
from reproduction.boards import board, complete_board
from reproduction.tables import (
    AGREES,
    DIFFERS,
    Grid,
    Progress,
    Result,
    Row,
    Section,
    cell,
    compared,
    listed,
    names_compared,
    ours_alone,
    printed_scores,
    published,
    same,
)

PRINTED = published("rofin_2023")
USERS = published("rofin_2023_users")
SOURCES = PRINTED["sources"]

BOARDS = {"glue": "votenrank-glue", "superglue": "votenrank-superglue", "value": "votenrank-value"}
TITLES = {"glue": "GLUE", "superglue": "SuperGLUE", "value": "VALUE without Human", "value_missing": "VALUE"}
GAMMA = 95.0
NO_GEOMETRIC_MEAN = "their nan is 0 times the logarithm of a score <= 0 on a diagnostic, which does not vote here"
OWN_GAP = "they print another rule than they define: every column counts the same, diagnostics too"
UNSTABLE = "theirs breaks ties as an unstable sort leaves them; ours share the places left"
ROUNDED_TIE = "theirs tells means apart that differ by a rounding error alone; ours tie, and share the places left"
NAMES = "theirs is no rank correlation: the two lists of names are correlated as text, place by place"
PROSPECTIVE = (
    "What the paper calls prospective is a weak Condorcet winner, for which ties suffice. The weights that its "
    "code returns are whatever its solver stops at, so that only the split is compared. Every verdict of ours is "
    "verified in exact arithmetic: who can win with weights, all others with a mixture of rivals that beats the "
    "system on every task."
)


def paper_board(name: str) -> ScoreMatrix:
    """Return the systems that the paper ranks: GLUE's first 30 rows, and elsewhere all that are complete."""
    if name == "value_missing":
        return board("votenrank-value").with_gamma(GAMMA)
    return complete_board(BOARDS[name], head=30 if name == "glue" else None).with_gamma(GAMMA)


def ranked(name: str) -> dict[str, Ranking]:
    """Return the rankings of which scores are printed."""
    matrix = paper_board(name)
    return {rule: rank(matrix, rule) for rule in PRINTED[name]["scores"]}


def rankings(name: str, progress: Progress) -> Result:
    """Compare every printed score (tables 3, 9, 10 and 11)."""
    del progress
    matrix, found = paper_board(name), ranked(name)
    tables = PRINTED[name]["scores"]
    reasons = {"geometric_mean": NO_GEOMETRIC_MEAN, "optimality_gap": OWN_GAP}
    rows, grid = score_rows(matrix, tables, found, reasons)
    if name in ("glue", "superglue"):
        rows.append(unweighted_gap(matrix, tables["optimality_gap"]))
        rows.append(geometric_means_where_printed(matrix, tables["geometric_mean"]))
    return Result(rows, [Grid(f"All scores on {TITLES[name]}", *grid)])


def score_rows(
    matrix: ScoreMatrix,
    tables: Mapping[str, Mapping[str, str]],
    found: Mapping[str, Ranking],
    reasons: Mapping[str, str],
) -> tuple[list[Row], tuple[list[str], list[list[str]]]]:
    """Return a row a rule, and the header and lines of a grid of systems by rules in the order of the mean."""
    printed = {rule: printed_scores(table, matrix.system_names) for rule, table in tables.items()}
    rows = [_agreement_row(matrix, rule, printed[rule], found[rule], reasons.get(rule, "")) for rule in printed]
    leading = found["mean"] if "mean" in found else found["copeland"]
    lines = [
        [matrix.system_names[i], *(cell(printed[r][matrix.system_names[i]], found[r].scores[i]) for r in printed)]
        for i in np.argsort(-leading.scores, kind="stable")
    ]
    return rows, (["system", *(RULES[rule].name for rule in printed)], lines)


def _agreement_row(matrix: ScoreMatrix, rule: str, printed: Mapping[str, str], ranking: Ranking, reason: str) -> Row:
    n = len(printed)
    agreeing = sum(same(printed[name], score) for name, score in zip(matrix.system_names, ranking.scores, strict=True))
    verdict = AGREES if agreeing == n else DIFFERS
    return Row(
        f"{RULES[rule].name}, scores",
        "",
        f"{n} scores",
        f"{agreeing} of {n} are the same",
        verdict,
        "" if verdict == AGREES else reason,
    )


def unweighted_gap(matrix: ScoreMatrix, table: Mapping[str, str]) -> Row:
    """Show that the printed optimality gap is the one over all columns, each counting the same."""
    ranking = rank(matrix.with_weights([1] * matrix.n_tasks), "optimality_gap")
    row = _agreement_row(matrix, "optimality_gap", printed_scores(table, matrix.system_names), ranking, OWN_GAP)
    return replace(row, what="Optimality gap with every column counting 1")


def geometric_means_where_printed(matrix: ScoreMatrix, table: Mapping[str, str]) -> Row:
    """Compare the geometric means of the systems for which one is printed, ranked among themselves."""
    printed = {name: score for name, score in printed_scores(table, matrix.system_names).items() if score != "nan"}
    part = matrix.subset([matrix.system_names.index(name) for name in printed])
    row = _agreement_row(part, "geometric_mean", printed, rank(part, "geometric_mean"), "")
    return replace(row, what="Geometric mean of the systems for which one is printed")


def agreement(progress: Progress) -> Result:
    """Compare the agreement with the mean (table 1): rates of the first and last places, and Kendall's tau."""
    del progress
    rows = []
    for name in ("glue", "superglue"):
        found, printed = ranked(name), PRINTED[name]
        for rule, tau in printed["tau"].items():
            what = f"{TITLES[name]}, {RULES[rule].name}: Kendall's tau with the mean"
            rows.append(compared(what, kendall_tau(found["mean"], found[rule]), code=tau, because=NAMES))
        for which, ks in (("top", (1, 3, 5, 7)), ("least", (3, 7))):
            for rule, rates in printed["agreement"][which].items():
                because = OWN_GAP if rule == "optimality_gap" else UNSTABLE if found[rule].n_tied else ROUNDED_TIE
                if rule == "geometric_mean":
                    because = f"{because}; and {NO_GEOMETRIC_MEAN}"
                if found[rule].status == "undefined":
                    because = f"undefined here: {found[rule].reason}"
                ours = [agreement_rate(found["mean"], found[rule], k, least=which == "least") for k in ks]
                what = f"{TITLES[name]}, {RULES[rule].name}: {which} {', '.join(map(str, ks))}"
                rows.append(listed(what, ours, code=rates, because=because))
    return Result(rows)


def discrimination(progress: Progress) -> Result:
    """Compare the tie numbers (table 2): systems minus distinct scores."""
    del progress
    rows = []
    for name in ("glue", "superglue", "value", "value_missing"):
        found = ranked(name)
        for rule, ties in PRINTED[name]["ties"].items():
            because = {
                "geometric_mean": "it counts the systems without a geometric mean as tied: " + NO_GEOMETRIC_MEAN,
                "optimality_gap": OWN_GAP,
                "mean": "theirs tells means apart that differ by a rounding error alone",
            }.get(rule, "")
            what = f"{TITLES[name]}, {RULES[rule].name}"
            if found[rule].status == "undefined":
                rows.append(Row(what, "", str(ties), "undefined", DIFFERS, f"undefined here: {found[rule].reason}"))
            else:
                rows.append(compared(what, found[rule].n_tied, code=str(ties), because=because))
    return Result(rows)


def winners(progress: Progress) -> Result:
    """Compare the winners of every rule (table 4)."""
    del progress
    rows = []
    for name in ("glue", "superglue", "value", "value_missing"):
        matrix = paper_board(name)
        for rule, printed in PRINTED[name]["winners"].items():
            ours = [matrix.system_names[i] for i in rank(matrix, rule).winners]
            because = {"optimality_gap": OWN_GAP, "geometric_mean": NO_GEOMETRIC_MEAN}
            rows.append(
                names_compared(f"{TITLES[name]}, {RULES[rule].name}", ours, code=printed, because=because.get(rule, ""))
            )
    return Result(rows)


def who_can_win(progress: Progress) -> Result:
    """Compare who can win under some weights (section 3.2)."""
    rows: list[Row] = []
    facts: dict[str, Any] = {}
    options: dict[str, Any] = {"n_draws": 0, "nearest": False, "needed": False}
    for step, (name, source) in enumerate(BOARDS.items()):
        matrix, printed = complete_board(source), PRINTED[name]["prospects"]
        title = f"{TITLES[name]}, {matrix.n_systems} systems"
        found = prospects(matrix, all_tasks=True, **options)
        can = [p.system for p in found.systems if p.is_prospective]
        others = f"{printed['n_others']} others"
        row = names_compared(f"{title}: who can win or tie, all columns voting", can, code=printed["prospective"])
        n_others = f"{matrix.n_systems - len(can)} others"
        verdict = AGREES if row.verdict == AGREES and others == n_others else DIFFERS
        rows.append(
            Row(
                row.what,
                "",
                f"{len(printed['prospective'])} systems ({row.code}), {others}",
                f"{len(can)} systems ({row.ours}), {n_others}",
                verdict,
            )
        )
        strict = [p.system for p in found.systems if p.verdict == "strict"]
        facts[TITLES[name]] = {"can": len(can), "strict": len(strict), "cannot": matrix.n_systems - len(can)}
        rows.append(_ours(f"{title}: who can win without a tie", strict))
        if name != "value":
            voting = prospects(matrix, **options)
            for what, verdicts in (("win or tie", ("strict", "tie_only")), ("win without a tie", ("strict",))):
                names = [p.system for p in voting.systems if p.verdict in verdicts]
                rows.append(_ours(f"{title}: who can {what} where diagnostics of weight 0 do not vote", names))
        progress(step + 1, len(BOARDS))
    return Result(rows, notes=[PROSPECTIVE], facts=facts)


def _ours(what: str, names: list[str]) -> Row:
    return ours_alone(what, f"{len(names)} systems ({'; '.join(names) or 'nobody'})")


def users(progress: Progress) -> Result:
    """Compare the rankings for users who weigh performance, fairness and efficiency (table 5)."""
    del progress
    rows, grids = [], []
    for name, (matrix, aggregation) in user_boards().items():
        tables = USERS[name]["scores"]
        found = {rule: rank(matrix, rule, aggregation=aggregation) for rule in tables}
        of_board, grid = score_rows(matrix, tables, found, {})
        rows += [replace(row, what=f"{name}: {row.what}") for row in of_board]
        grids.append(Grid(name, *grid))
        for rule, printed in USERS[name].get("winners", {}).items():
            ours = [matrix.system_names[i] for i in rank(matrix, rule, aggregation=aggregation).winners]
            rows.append(names_compared(f"{name}: winners by {RULES[rule].name}", ours, code=printed))
        if "geometric_mean" not in tables:
            geometric = rank(matrix, "geometric_mean", aggregation=aggregation)
            because = "a negated cost has no logarithm; here the rule says that it is undefined, and why"
            shown = f"{geometric.status}: {geometric.reason}"
            rows.append(Row(f"{name}: Geometric mean", "", "nan for all 7", shown, DIFFERS, because))
    return Result(rows, grids)


def user_boards() -> dict[str, tuple[ScoreMatrix, str]]:
    """Return the boards of case study 4: of all groups in three ways, and of each group by itself."""
    matrix = board("votenrank-cs4")
    equal = with_group_weights(matrix, {"performance": "1", "fairness": "1", "efficiency": "1"})
    preferred = with_group_weights(matrix, {"performance": "0.4", "fairness": "0.3", "efficiency": "0.3"})
    groups = np.array(matrix.groups)
    parts = {name: (matrix.subset(tasks=groups == name), "basic") for name in ("performance", "efficiency", "fairness")}
    return {"basic": (equal, "basic"), "weighted": (equal, "weighted"), "two_step": (preferred, "two_step"), **parts}


def with_group_weights(matrix: ScoreMatrix, weights: Mapping[str, str]) -> ScoreMatrix:
    return ScoreMatrix(
        matrix.values,
        system_names=matrix.system_names,
        task_names=matrix.task_names,
        directions=matrix.directions,
        weights=matrix.weights,
        groups=matrix.groups,
        group_weights=weights,
    )


def _rankings_section(name: str, tables: str, reads: str) -> Section:
    return Section(
        f"rofin-{name.replace('_', '-')}",
        f"{tables}: {TITLES[name]} under every rule",
        (reads,),
        partial(rankings, name),
        (SOURCES["rankings"],),
    )


_ALL = tuple(BOARDS.values())
SECTIONS = (
    _rankings_section("glue", "Tables 3 and 9 to 11", "votenrank-glue"),
    _rankings_section("superglue", "Tables 3 and 9 to 11", "votenrank-superglue"),
    _rankings_section("value", "Tables 3 and 9 to 11", "votenrank-value"),
    _rankings_section("value_missing", "Tables 3 and 9 to 11, with missing scores", "votenrank-value"),
    Section("rofin-winners", "Table 4: winners", _ALL, winners, (SOURCES["rankings"],)),
    Section("rofin-agreement", "Table 1: agreement with the mean", _ALL, agreement, (SOURCES["rankings"],)),
    Section("rofin-ties", "Table 2: discriminative power", _ALL, discrimination, (SOURCES["rankings"],)),
    Section("rofin-prospects", "Section 3.2: who can win", _ALL, who_can_win, (SOURCES["prospects"],)),
    Section("rofin-users", "Table 5: users' preferences", ("votenrank-cs4",), users, (SOURCES["users"],)),
)
