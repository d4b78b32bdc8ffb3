"""Which systems can win under some task weights, with such weights; which cannot, with a proof.

>>> from ranking_engine import ScoreMatrix
>>> from ranking_engine.prospects import prospects
>>> found = prospects(ScoreMatrix([[3, 1], [1, 3], [0, 0]], system_names=["A", "B", "C"]))
>>> [(prospect.system, prospect.verdict) for prospect in found.systems]
[('A', 'strict'), ('B', 'strict'), ('C', 'none')]
"""

from ranking_engine.prospects.conditions import Bound, ConditionError, Conditions, Objective, Order, TaskSet
from ranking_engine.prospects.problem import MAJORITY, RULES
from ranking_engine.prospects.results import VERDICTS, Nearest, Prospect, Prospects, Verdict, WeightChange
from ranking_engine.prospects.search import pair_prospect, prospects

__all__ = [
    "MAJORITY",
    "RULES",
    "VERDICTS",
    "Bound",
    "ConditionError",
    "Conditions",
    "Nearest",
    "Objective",
    "Order",
    "Prospect",
    "Prospects",
    "TaskSet",
    "Verdict",
    "WeightChange",
    "pair_prospect",
    "prospects",
]
