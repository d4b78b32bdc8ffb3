"""Long studies of single leaderboards, kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ranking_engine import RULES, ScoreMatrix, rank
from ranking_engine.stability.catalogue import STUDIES, run_study
from ranking_engine.stability.separability.significance import CONTRIBUTIONS, significance
from reproduction import store
from reproduction.boards import board
from reproduction.tables import Progress


def slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def judged(
    name: str,
    boards: Sequence[str],
    matrix: ScoreMatrix,
    rules: Sequence[str],
    n_trials: int,
    n_rounds: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return Pavao's criteria: mean and deviation by rule and criterion, and the rules that were not studied.

    Args:
        name, boards: under which it is kept.
        matrix: of the scores.
        rules, n_trials, n_rounds: of the study `judge_bootstrap`.
        progress: of the section.
    """

    def compute() -> dict[str, Any]:
        study = STUDIES["judge_bootstrap"]
        parameters: dict[str, Any] = {"rules": list(rules), "n_trials": n_trials, "n_rounds": n_rounds}
        parameters["copies"] = False  # `drawn_copies` has that reading
        if study.why_not(matrix, study.with_defaults(parameters)):
            return {"rules": {}, "not_studied": {}}
        summary = run_study("judge_bootstrap", matrix, parameters, seed=0, progress=progress).summary
        return {"rules": summary["rules"], "not_studied": summary["not_studied"]}

    return dict(store.kept(name, boards, compute))


def first_two(name: str, rule: str) -> dict[str, Any]:
    """Return the first and the second system of a leaderboard under a rule, and the test between them.

    The test is the one that the site makes of this pair: of what each task adds to the rule's own scores, or of mean
    differences where they are no sum over tasks. `difference` is that of the first over the second.
    """

    def compute() -> dict[str, Any]:
        matrix = board(name)
        ranking = rank(matrix, rule)
        answer = significance(matrix, ranking)
        test = answer.every_pair  # whose first pair is that of the first two of the order
        first, second = answer.order[:2]
        p = float(test.p_values[0])
        return {
            "rule": RULES[rule].name,
            "first": matrix.system_names[first],
            "second": matrix.system_names[second],
            "is_shared": len(ranking.winners) > 1,
            "is_of_rule": answer.tested == CONTRIBUTIONS,
            "n_units": int(test.n_units[0]),
            "difference": float(test.differences[0]),
            "p": p if p == p else None,
        }

    return dict(store.kept(f"first-two-{slug(name)}", (name,), compute))
