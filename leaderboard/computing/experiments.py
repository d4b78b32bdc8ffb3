"""What an experiment would take, found out before it is started."""

from typing import Any, NamedTuple

from ranking_engine import ScoreMatrix
from ranking_engine.stability.catalogue import estimate_study


class Forecast(NamedTuple):
    """What is known of an experiment beforehand: why it says nothing, or the seconds that it should take."""

    reason: str
    seconds: float


def forecast(matrix: ScoreMatrix, study: str, parameters: dict[str, Any]) -> Forecast:
    """Whether the study says something about these scores, and what it should take.

    Args:
        matrix: what is studied.
        study: its key.
        parameters: all of them, checked.
    """
    try:
        return Forecast(*estimate_study(study, matrix, parameters))
    except ValueError as error:
        return Forecast(str(error), 0.0)
