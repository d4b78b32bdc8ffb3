"""Rules by which systems leave, the worst first."""

from __future__ import annotations

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.records.costs import MAX_COMPARED
from ranking_engine.catalogue.rule import Held, Kernels, Omission, PairKernel, ResampleKernel, Rule
from ranking_engine.kernels import growing, pairs, tables, votes
from ranking_engine.rules import elimination, threshold

RULES: tuple[Rule, ...] = (
    Rule(
        key="threshold",
        name="Threshold",
        family="elimination",
        needs_complete=True,
        cost=costs.threshold,
        function=threshold.threshold,
        summary="The best system is last on the least weight of tasks, and among equals last but one, and so on.",
        source="Aleskerov et al. 2010; Rofin et al. 2023, Vote'n'Rank, section 2.2.2",
        advice=(
            "Use it if strengths must not make up for weak spots: no number of first places makes up for one more "
            "last place."
        ),
        held=Held(claims.PARETIAN, why=claims.SCORING_WHY, why_not=claims.SCORING_WHY_NOT),
        tie_convention="worst",
        kernels=Kernels(
            tables=votes.threshold,
            draws=votes.threshold,
            resamples=ResampleKernel(votes.resampled(votes.threshold), needs_exact_weights=True),
            growing=votes.growing(votes.threshold),
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 1),
            "worst": Omission("1 3|2 2|3 1", 1, 0, 2, 1),
        },
    ),
    Rule(
        key="baldwin",
        name="Baldwin",
        family="elimination",
        needs_complete=True,
        cost=costs.rounds,
        function=elimination.baldwin,
        summary="Removes the systems with the lowest Borda score, round after round.",
        source="Baldwin 1926; Rofin et al. 2023, Vote'n'Rank, section 2.2.2",
        advice=(
            "Use it if Borda's use of whole orders appeals to you, but not its dependence on weak systems: here weak "
            "systems leave first, so they affect the result less."
        ),
        held=Held(
            claims.MAJORITY | {"unanimity"},
            under={"best": claims.ALWAYS | {"unanimity"}, "worst": claims.ALWAYS | {"majority", "unanimity"}},
            why={
                **claims.BORDA_ROUNDS_WHY,
                "unanimity": "among any that remain the system above has the greater Borda score, so it leaves later",
            },
            why_not=claims.BORDA_ROUNDS_WHY_NOT,
        ),
        tie_convention="average",
        max_systems=MAX_COMPARED,
        kernels=Kernels(
            tables=tables.of_pairs(pairs.baldwin),
            pairs=PairKernel(pairs.baldwin),
            growing=growing.by_rounds(pairs.baldwin),
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 1|2 2|3 3", 3, 1, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
    ),
    Rule(
        key="nanson",
        name="Nanson",
        family="elimination",
        needs_complete=True,
        cost=costs.rounds,
        function=elimination.nanson,
        summary="Removes the systems with a Borda score below the average, round after round.",
        source="Nanson 1882",
        advice=(
            "Like Baldwin, in fewer rounds: half of the board may leave at once, so more systems tie at the lower end."
        ),
        held=Held(
            claims.MAJORITY,
            under={"best": claims.ALWAYS, "worst": claims.ALWAYS | {"majority"}},
            why=claims.BORDA_ROUNDS_WHY,
            why_not={
                **claims.BORDA_ROUNDS_WHY_NOT,
                "unanimity": "systems tied for removal leave in the same round",
                "reversal_symmetry": "who is just on the average stays both ways, with other rivals each time",
            },
        ),
        tie_convention="average",
        max_systems=MAX_COMPARED,
        kernels=Kernels(
            tables=tables.of_pairs(pairs.nanson),
            pairs=PairKernel(pairs.nanson),
            growing=growing.by_rounds(pairs.nanson),
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("2 1|1 3|3 2", 3, 1, 3, 2),
            "worst": Omission("3 3 1|1 1 3|2 2 2", 3, 2, 3, 2),
        },
    ),
    Rule(
        key="instant_runoff",
        name="Instant runoff",
        family="elimination",
        needs_complete=True,
        cost=costs.votes,
        function=elimination.instant_runoff,
        summary="Removes the systems that are first on the least weight of tasks, round after round.",
        source="Hare 1857, Ware 1871",
        advice=(
            "Known from elections. On boards with more systems than tasks, most systems are first on no task and "
            "leave together in the first rounds, so it says little below the top."
        ),
        held=Held(
            claims.ALWAYS | {"majority"},
            under={"best": claims.ALWAYS | {"majority", "copies"}},
            why={
                "majority": "more than half of all first places, in every round",
                "copies": "a copy shares first places, takes none, and leaves in the same round",
            },
            why_not={
                **claims.VOTES_WHY_NOT,
                "copies": "a copy takes first places, or parts of them, from the system that is copied; not under best",
                "clones": "tied systems share or lose first places, and leave together; else Tideman 1987",
            },
        ),
        tie_convention="worst",
        kernels=Kernels(
            tables=votes.instant_runoff,
            draws=votes.instant_runoff,
            resamples=ResampleKernel(votes.resampled(votes.instant_runoff), needs_exact_weights=True),
            growing=votes.growing(votes.instant_runoff),
        ),
        omission={
            "drop_tasks": Omission("3 1|1 2|2 3", 3, 1, 2, 1),
            "median": Omission("2 1|1 2", 3, 1, 2, 1),
            "worst": Omission("2 1|1 2", 3, 1, 2, 1),
        },
    ),
    Rule(
        key="coombs",
        name="Coombs",
        family="elimination",
        needs_complete=True,
        cost=costs.votes,
        function=elimination.coombs,
        summary="Removes the systems that are last on the most weight of tasks, round after round.",
        source="Coombs 1964, A theory of data",
        advice=(
            "Use it to separate the weakest systems before the strongest: the system that is last most often leaves "
            "first."
        ),
        held=Held(
            claims.ALWAYS | {"unanimity", "copies"},
            under={"best": claims.ALWAYS, "average": claims.ALWAYS | {"unanimity"}},
            why={
                "unanimity": "a system above another is never last while that one remains",
                "copies": "a copy shares last places, takes none, and leaves in the same round",
            },
            why_not={
                **claims.VOTES_WHY_NOT,
                "majority": "last places alone decide, without a majority stop",
                "copies": "a copy takes last places, or parts of them, from the system that is copied; not under worst",
            },
        ),
        tie_convention="worst",
        kernels=Kernels(
            tables=votes.coombs,
            draws=votes.coombs,
            resamples=ResampleKernel(votes.resampled(votes.coombs), needs_exact_weights=True),
            growing=votes.growing(votes.coombs),
        ),
        omission={
            "drop_tasks": Omission("1 3|2 1|3 2", 1, 0, 2, 1),
            "median": Omission("1 2|2 3|3 1", 1, 0, 2, 1),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        is_ranked_alone=True,
    ),
)
