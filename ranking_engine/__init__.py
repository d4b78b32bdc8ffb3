"""Ranking rules for multi-task benchmarks, in numpy: no Django, no Celery, no I/O beyond reading a table.

>>> from ranking_engine import ScoreMatrix, rank
>>> matrix = ScoreMatrix([[1, 4], [3, 3], [2, 1]], system_names=["A", "B", "C"])
>>> rank(matrix, "borda").ranks.tolist()
[2, 1, 3]
"""

from ranking_engine.aggregation import AGGREGATIONS
from ranking_engine.comparison import Comparison, compare
from ranking_engine.dispatch import rank, rank_all
from ranking_engine.missing import MISSING_POLICIES
from ranking_engine.pairwise import Pairwise
from ranking_engine.ranking import UNRANKED, Ranking
from ranking_engine.registry import RULES, TIES, Rule, listed_rules, quick_rules, slow_rules
from ranking_engine.rules.choice_sets import (
    condorcet_loser,
    condorcet_winner,
    schwartz_set,
    smith_set,
    uncovered_set,
    weak_condorcet_winners,
)
from ranking_engine.score_matrix import ScoreMatrix

__version__ = "0.5.0"  # raised whenever a figure can change

__all__ = [
    "AGGREGATIONS",
    "MISSING_POLICIES",
    "RULES",
    "TIES",
    "UNRANKED",
    "Comparison",
    "Pairwise",
    "Ranking",
    "Rule",
    "ScoreMatrix",
    "compare",
    "condorcet_loser",
    "condorcet_winner",
    "listed_rules",
    "quick_rules",
    "rank",
    "rank_all",
    "schwartz_set",
    "slow_rules",
    "smith_set",
    "uncovered_set",
    "weak_condorcet_winners",
]
