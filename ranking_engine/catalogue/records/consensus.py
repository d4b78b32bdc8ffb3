"""Rules that look for the order that contradicts the tasks least."""

from __future__ import annotations

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.rule import Held, Kernels, Number, Omission, PairKernel, Rule
from ranking_engine.kernels import growing, ratings
from ranking_engine.rules import kemeny, soft_condorcet

RULES: tuple[Rule, ...] = (
    Rule(
        key="kemeny",
        name="Kemeny",
        family="consensus",
        needs_complete=False,
        cost=costs.kemeny,
        function=kemeny.kemeny,
        of_many=kemeny.kemeny_of_many,
        summary=(
            "The order that contradicts the tasks least, counting for every pair the weight that prefers the lower one."
        ),
        source="Kemeny 1959, Young and Levenglick 1978",
        advice=(
            "Use it if you want one consensus order of all systems, with a proof that no order is better. It puts the "
            "Condorcet winner first and the Smith set before all others."
        ),
        held=Held(
            claims.BY_MARGINS | {"local_iia"},
            why={
                "unanimity": "Young and Levenglick 1978: exchanging the two makes the order better",
                "monotonicity": (
                    "an order that begins with the winner gains at least as much as any other (Fishburn 1977)"
                ),
                "condorcet_winner": "Young and Levenglick 1978",
                "condorcet_loser": "Young and Levenglick 1978: moved to the end it makes the order better",
                "local_iia": "Young 1988; where the best order is unique",
            },
            why_not={"consistency": "Young and Levenglick 1978: its orders are consistent, its winners are not"},
        ),
        is_slow=True,
        max_systems=1_000,
        numbers={"seconds": Number(kemeny.DEFAULT_SECONDS, 0.0, 86_400.0)},
        omission={"common_tasks": Omission("2 1|1 2|3 3", 3, 1, 3, 2)},
        decided_detail=("unique", True),
        winner_below="another order, equally near to the tasks, makes it first",
    ),
    Rule(
        key="soft_condorcet",
        name="Soft Condorcet",
        family="consensus",
        needs_complete=False,
        cost=costs.soft_condorcet,
        function=soft_condorcet.soft_condorcet,
        summary="Ratings whose order contradicts few comparisons: Kemeny's aim with smooth steps.",
        source=("Lanctot et al. 2025, Soft Condorcet optimization for ranking of general agents, arXiv:2411.00119"),
        advice=(
            "Use it where you would use Kemeny but have too many systems: its order is near the best one, without "
            "proof. Its ratings also say who is close to whom."
        ),
        held=Held(
            claims.MAJORITY | {"unanimity", "reversal_symmetry"},
            why={
                "unanimity": "in each step the upper one moves further up than the other would from there",
                "condorcet_winner": "it moves up as far as any may in each step, and all others less",
                "condorcet_loser": "it moves down as far as any may in each step",
                "reversal_symmetry": "tasks turned upside down mirror every step, and so the ratings",
            },
            why_not={"monotonicity": "other steps may lead to another minimum"},
        ),
        is_slow=True,
        max_systems=2_000,
        numbers={"temperature": Number(1.0, 0.1, 100.0)},
        kernels=Kernels(
            tables=ratings.soft_condorcet,
            pairs=PairKernel(ratings.soft_condorcet_of_pairs),
            growing=growing.by_rounds(ratings.soft_condorcet_of_pairs),
            seconds=costs.descent_at_once,
            max_systems=300,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
    ),
)
