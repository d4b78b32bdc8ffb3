"""Scores as people read them: values as they were given, and why there is none."""

from typing import Any

from leaderboard.models import Score
from leaderboard.selectors.scores import NOT_SUBMITTED, CurrentScore

REASONS = dict(Score.MissingReason.choices) | {NOT_SUBMITTED: "not submitted"}


def value_text(value: float) -> str:
    """A score to twelve significant digits: what arithmetic before us left behind (83.05000000000001) says nothing.

    Downloads and the API give every digit.
    """
    return f"{value:.12g}"


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


def votes(task: dict[str, Any]) -> bool:
    """Whether a configuration's task votes."""
    return task["direction"] != 0 and float(task["weight"]) > 0
