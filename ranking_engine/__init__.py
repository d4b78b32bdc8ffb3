"""Ranking rules for multi-task benchmarks, in numpy: no Django, no Celery, no I/O beyond reading a table.

>>> from ranking_engine import ScoreMatrix, rank
>>> matrix = ScoreMatrix([[1, 4], [3, 3], [2, 1]], system_names=["A", "B", "C"])
>>> rank(matrix, "borda").ranks.tolist()
[2, 1, 3]
"""

from ranking_engine.catalogue.dispatch import rank, rank_all
from ranking_engine.catalogue.registry import RULES, TIES, Rule, listed_rules, quick_rules, slow_rules
from ranking_engine.core.aggregation import AGGREGATIONS
from ranking_engine.core.comparison import Comparison, compare
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.ranking import UNRANKED, Ranking
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.rules.choice_sets import (
    condorcet_loser,
    condorcet_winner,
    schwartz_set,
    smith_set,
    uncovered_set,
    weak_condorcet_winners,
)
from ranking_engine.rules.copy_proof import copy_proof_ratings
from ranking_engine.rules.majority_cycles import shortest_cycles
from ranking_engine.rules.maximal_lotteries import essential_set

__version__ = "0.13.0"  # raised whenever a figure can change

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
    "copy_proof_ratings",
    "essential_set",
    "listed_rules",
    "quick_rules",
    "rank",
    "rank_all",
    "schwartz_set",
    "shortest_cycles",
    "slow_rules",
    "smith_set",
    "uncovered_set",
    "weak_condorcet_winners",
]
