"""Scores as people read them: values as they are ranked, and why there is none."""

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.common.text import value_text
from leaderboard.models import Score
from leaderboard.rankings.scores import NOT_SUBMITTED, CurrentScore
from ranking_engine.core.decimals import exact_precision, rounded, rounded_to
from ranking_engine.text.names import listed

REASONS = dict(Score.MissingReason.choices) | {NOT_SUBMITTED: "not submitted"}


def ranked_text(value: float, task: dict[str, Any]) -> str:
    """A score as it is ranked: rounded to the precision of its task (an entry of a configuration), where it has one."""
    precision = task.get("precision")
    if precision is None:
        return value_text(value)
    return value_text(float(rounded_to(rounded(value), exact_precision(precision))))


def precision_sentence(tasks: Sequence[dict[str, Any]]) -> str:
    """To what scores are rounded before anything is ranked, for people; empty where no task states a precision."""
    named: dict[str, list[str]] = {}
    for task in tasks:
        if task.get("precision") is not None:
            named.setdefault(task["precision"], []).append(task["name"])
    if not named:
        return ""
    parts = [
        f"{'all' if len(names) == len(tasks) else listed(names)} to {precision}" for precision, names in named.items()
    ]
    return (
        f"Scores are rounded to the precision of their tasks before anything is ranked, and are shown so: "
        f"{'; '.join(parts)}. Downloads have them as they were given."
    )


def details_text(score: CurrentScore | None) -> str:
    """What was stated of how a score was measured: "± 0.4 (n = 1,000)", or as much of it as is known."""
    if score is None or score.value is None:
        return ""
    error, n = score.standard_error, score.n_instances
    parts = ["" if error is None else f"± {float(f'{error:.3g}'):.12g}", "" if n is None else f"(n = {n:,})"]
    return " ".join(part for part in parts if part)


def missing_text(reason: str) -> str:
    """Why a score is missing, in words."""
    return REASONS[reason]


def votes(task: Mapping[str, Any]) -> bool:
    """Whether a configuration's task votes."""
    return task["direction"] != 0 and float(task["weight"]) > 0
