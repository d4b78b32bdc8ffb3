"""Rofin et al. 2023, Vote'n'Rank: who can win under some weights (section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ranking_engine import Pairwise, ScoreMatrix, rank
from ranking_engine.prospects import prospects
from reproduction.boards import complete_board
from reproduction.rofin.boards import (
    ALL_BOARDS,
    BOARDS,
    NOTEBOOKS,
    PRINTED,
    SOURCES,
    TITLES,
    paper_board,
    with_equal_columns,
)
from reproduction.tables import AGREES, DIFFERS, Progress, Result, Row, Section, names_compared, ours_alone

PROSPECTIVE = (
    "What the paper calls prospective is a weak Condorcet winner, for which ties suffice (equation 2). The weights "
    "that its code returns are whatever its solver stops at, so that only the split is compared. Each of our "
    "verdicts is verified in exact arithmetic: who can win with weights, all others with a mixture of rivals that "
    "beats the system on every task."
)
TASKS_FOR_T5 = ("BoolQ", "MultiRC_n2")  # the accuracy of one, the exact match of the other


def who_can_win(progress: Progress) -> Result:
    """Compare who can win under some weights (section 3.2)."""
    rows: list[Row] = []
    facts: dict[str, Any] = {}
    options: dict[str, Any] = {"n_draws": 0, "nearest": False, "needed": False}
    for step, (name, source) in enumerate(BOARDS.items()):
        matrix = complete_board(source)
        title = f"{TITLES[name]}, {matrix.n_systems} systems"
        verdicts = prospects(matrix, all_tasks=True, **options).systems
        can = [p.system for p in verdicts if p.is_prospective]
        strict = [p.system for p in verdicts if p.verdict == "strict"]
        rows.append(_split(title, name, can, matrix.n_systems - len(can)))
        facts[TITLES[name]] = {"can": len(can), "strict": len(strict), "cannot": matrix.n_systems - len(can)}
        rows.append(_ours(f"{title}: who can win without a tie", strict))
        if name != "value":
            voting = prospects(matrix, **options)
            for what, wanted in (("win or tie", ("strict", "tie_only")), ("win without a tie", ("strict",))):
                names = [p.system for p in voting.systems if p.verdict in wanted]
                rows.append(_ours(f"{title}: who can {what} where diagnostics of weight 0 do not vote", names))
        if name == "superglue":
            rows += example(matrix, can)
        progress(step + 1, len(BOARDS))
    return Result(rows, notes=[PROSPECTIVE], facts=facts)


def _split(title: str, name: str, can: list[str], n_others: int) -> Row:
    """Compare how many can win and how many cannot, and with the notebook who they are."""
    texts, code = PRINTED["section_3_2"]["prospective"][name], NOTEBOOKS[name]["prospects"]
    theirs = _systems(sorted(code["prospective"]), code["n_others"])
    ours = _systems(sorted(can), n_others)
    n_equal = sum(int(text) == number for text, number in zip(texts, (len(can), n_others), strict=True))
    verdict = AGREES if n_equal == len(texts) and theirs == ours else DIFFERS
    printed = f"{texts[0]} systems, {texts[1]} others"
    what = f"{title}: who can win or tie, all columns voting"
    return Row(what, printed, theirs, ours, verdict, "", len(texts), n_equal)


def _systems(names: list[str], n_others: int) -> str:
    return f"{len(names)} systems ({'; '.join(names)}), {n_others} others"


def example(matrix: ScoreMatrix, can: list[str]) -> list[Row]:
    """Compare the paper's example, T5 on SuperGLUE with two tasks of equal weight."""
    text = PRINTED["section_3_2"]["weight"]
    weights = [text if task in TASKS_FOR_T5 else "0" for task in matrix.task_names]
    wins = Pairwise.of(matrix.with_weights(weights)).wins
    t5 = matrix.system_names.index("T5")
    margins = wins[t5] - wins[:, t5]
    level = [matrix.system_names[j] for j in np.flatnonzero(margins == 0) if j != t5]
    is_winner = bool((margins >= 0).all())
    ours = f"T5 {'loses to no system' if is_winner else 'loses'}, and ties with {'; '.join(level)}"
    uniform = rank(with_equal_columns(paper_board("superglue")), "condorcet").winners
    return [
        Row(
            "SuperGLUE: T5 with this weight on BoolQ and on MultiRC's exact match, 0 on all others",
            text, "", ours, AGREES if is_winner else DIFFERS, "", 1, int(is_winner),
        ),
        names_compared(
            "SuperGLUE: the Condorcet winner with uniform weights",
            [matrix.system_names[i] for i in uniform],
            printed=[],
        ),
        names_compared(
            "SuperGLUE: which of T5 and RoBERTa can win",
            [name for name in ("T5", "RoBERTa") if name in can],
            printed=["T5"],
        ),
    ]  # fmt: skip


def _ours(what: str, names: list[str]) -> Row:
    return ours_alone(what, f"{len(names)} systems ({'; '.join(names) or 'no system'})")


SECTIONS = (Section("rofin-prospects", "Section 3.2: who can win", ALL_BOARDS, who_can_win, (SOURCES["prospects"],)),)
