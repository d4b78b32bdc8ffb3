"""Rows that compare what the tables of Vote'n'Rank print: scores by place, and arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ranking_engine import RULES, UNRANKED, Ranking, ScoreMatrix
from reproduction.tables import AGREES, DIFFERS, Row, cell, listed, printed_scores, same


def score_rows(
    matrix: ScoreMatrix,
    tables: Mapping[str, Mapping[str, str]],
    rankings: Mapping[str, Ranking],
    reasons: Mapping[str, str],
) -> tuple[list[Row], tuple[list[str], list[list[str]]]]:
    """Compare the scores of all systems with a notebook's.

    Args:
        matrix: the board.
        tables: the notebook's scores by rule, as in `published/`.
        rankings: ours by rule.
        reasons: why scores differ, by rule.

    Returns:
        A row a rule, and the header and lines of a grid of systems by rules in the order of the mean.
    """
    theirs = {rule: printed_scores(table, matrix.system_names) for rule, table in tables.items()}
    rows = [agreement_row(matrix, rule, theirs[rule], rankings[rule], reasons.get(rule, "")) for rule in theirs]
    leading = rankings["mean"] if "mean" in rankings else rankings["copeland"]
    lines = [
        [matrix.system_names[i], *(cell(theirs[r][matrix.system_names[i]], rankings[r].scores[i]) for r in theirs)]
        for i in np.argsort(-leading.scores, kind="stable")
    ]
    return rows, (["system", *(RULES[rule].name for rule in theirs)], lines)


def agreement_row(matrix: ScoreMatrix, rule: str, theirs: Mapping[str, str], ranking: Ranking, reason: str) -> Row:
    """Return the row that counts the systems to which a notebook gives the same score; `reason` says why not to all."""
    n = len(theirs)
    agreeing = sum(same(theirs[name], score) for name, score in zip(matrix.system_names, ranking.scores, strict=True))
    verdict = AGREES if agreeing == n else DIFFERS
    counted = f"{agreeing} of {n} are the same"
    return Row(
        f"{RULES[rule].name}, all scores", "", f"{n} scores", counted, verdict, "" if verdict == AGREES else reason
    )


def first_scores_row(
    what: str, ranking: Ranking, *, printed: Sequence[str], code: Sequence[str] = (), because: str = ""
) -> Row:
    """Compare the best scores of a ranking, best first.

    Args:
        what: what they are.
        ranking: ours.
        printed: the paper's, from place 1 down.
        code: the notebook's, in any order; the best are taken.
        because: why they differ.
    """
    is_fraction = ranking.rule == "optimality_gap"  # printed as what is missing, of 1; ours is minus that, of 100
    best = np.sort(ranking.scores[~np.isnan(ranking.scores)])[::-1][: len(printed)]
    theirs = sorted((text for text in code if text != "nan"), key=float, reverse=True)[: len(printed)]
    if is_fraction:
        best, theirs = -best / 100, [f"{-float(text) / 100:.4f}" for text in theirs]
    return listed(what, best.tolist(), printed=printed, code=theirs, because=because)


def arrow(change: int) -> str:
    """Return a change of places as the paper draws it."""
    return f"↑{change}" if change > 0 else f"↓{-change}" if change < 0 else "↕0"


def arrows_row(
    what: str, names: Sequence[str], reference: Ranking, ranking: Ranking, changes: Sequence[int], because: str
) -> Row:
    """Compare the arrows of a column.

    An arrow leads from a place under a rule to a place of the reference, and so to a system. It is the same as ours
    if ours has that system at that place, or tied for it, and no place before was given to it.

    Args:
        what: what they are.
        names: of the systems.
        reference: the ranking that the arrows start from, by the mean.
        ranking: ours under the rule.
        changes: the printed arrows, from place 1 down; up is positive.
        because: why some differ; which systems they lead to is added.
    """
    by_reference = np.argsort(-reference.scores, kind="stable").tolist()
    at_place = _systems_at_places(ranking)
    chosen: dict[int, int] = {}  # the system that has a place
    for place, change in enumerate(changes):
        system = by_reference[place + change]
        if system in at_place[place] and system not in chosen.values():
            chosen[place] = system
    differences = []
    for place, change in enumerate(changes):
        if place not in chosen:
            chosen[place] = next(s for s in by_reference if s in at_place[place] and s not in chosen.values())
            theirs, ours = names[by_reference[place + change]], names[chosen[place]]
            differences.append(f"at place {place + 1} their arrow leads to {theirs}, ours to {ours}")
    n_equal = len(changes) - len(differences)
    reason = f"{because}: {'; '.join(differences)}" if differences else ""
    verdict = DIFFERS if differences else AGREES
    printed = ", ".join(arrow(change) for change in changes)
    own = ", ".join(arrow(by_reference.index(chosen[place]) - place) for place in range(len(changes)))
    return Row(what, printed, "", own, verdict, reason, len(changes), n_equal)


def _systems_at_places(ranking: Ranking) -> list[list[int]]:
    """Return the systems that have, or share, each place."""
    order = [i for i in np.argsort(ranking.ranks, kind="stable").tolist() if ranking.ranks[i] != UNRANKED]
    return [[j for j in order if ranking.ranks[j] == ranking.ranks[i]] for i in order]
