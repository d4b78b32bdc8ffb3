"""Scoring of predictions against references that no one sees, and boards that many submissions do not overfit."""

from ranking_engine.evaluation.ladder import Ladder, LadderAnswer
from ranking_engine.evaluation.leaks import Leak, boosting_attack, quota

__all__ = ["Ladder", "LadderAnswer", "Leak", "boosting_attack", "quota"]
