"""Rules on head-to-head victories."""

from __future__ import annotations

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.records.costs import MAX_COMPARED
from ranking_engine.catalogue.rule import Held, Kernels, Omission, PairKernel, RivalKernel, Rule
from ranking_engine.kernels import growing, locked_pairs, pairs, resamples, tables
from ranking_engine.rules import majority, maximal_lotteries, paths

RULES: tuple[Rule, ...] = (
    Rule(
        key="condorcet",
        name="Condorcet",
        family="majority",
        needs_complete=False,
        cost=costs.pairwise,
        function=majority.condorcet,
        summary="The winner is the system that beats every other one head to head, if any; no other system is ranked.",
        source="Condorcet 1785; Rofin et al. 2023, Vote'n'Rank, section 2.2.3",
        advice=(
            "Ask it before you use any other rule: a Condorcet winner is the best possible answer to pairwise "
            "questions, and a rule with another winner needs a reason."
        ),
        held=Held(
            (claims.MAJORITY | claims.ADDITIVE | {"reversal_symmetry"}) - {"transitivity"},
            why={
                "monotonicity": "Fishburn 1977: victories of the winner only grow",
                "condorcet_winner": "by definition",
                "condorcet_loser": "it wins against no one",
                "consistency": "who beats all others on both parts beats them on all tasks",
                "participation": "X still beats Y",
            },
            why_not={
                "unanimity": "it ranks no system but the winner",
                "copies": "a copy of the winner draws with it, so that no one beats all others",
            },
        ),
        max_systems=MAX_COMPARED,
        kernels=Kernels(
            pairs=PairKernel(pairs.condorcet), rivals=RivalKernel(resamples.beaten, resamples.only_unrivalled)
        ),
        omission={"common_tasks": Omission("1 3|2 1|3 2", 1, 0, None, 1)},
        elects_only=True,
    ),
    Rule(
        key="copeland",
        name="Copeland",
        family="majority",
        needs_complete=False,
        cost=costs.pairwise,
        function=majority.copeland,
        summary="The number of systems it beats head to head minus the number that beat it.",
        source="Copeland 1951; Rofin et al. 2023, Vote'n'Rank, section 2.2.3",
        advice=(
            "The standard choice if scores are missing: it needs no policy, puts the Condorcet winner first if there "
            "is one, and counts each rival once, however close the comparison. On short boards it often has ties."
        ),
        held=Held(
            claims.BY_MARGINS,
            under={
                "lower": claims.BY_MARGINS - {"reversal_symmetry"},
                "upper": claims.BY_MARGINS - {"reversal_symmetry"},
            },
            why={
                "unanimity": "who is above beats the other and all that the other beats (Fishburn 1977)",
                "monotonicity": "Fishburn 1977: victories of the winner only grow",
                "condorcet_winner": "Fishburn 1977",
                "condorcet_loser": "it beats no one and all others beat it",
            },
            why_not={"reversal_symmetry": "only wins, or only losses, are counted"},
        ),
        options={"variant": majority.COPELAND_VARIANTS},
        max_systems=MAX_COMPARED,
        kernels=Kernels(
            tables=tables.of_pairs(pairs.copeland),
            pairs=PairKernel(pairs.copeland),
            rivals=RivalKernel(resamples.copeland),
            growing=growing.copeland,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        rival_share=lambda n: 1.0,
    ),
    Rule(
        key="minimax",
        name="Minimax",
        family="majority",
        needs_complete=False,
        cost=costs.pairwise,
        function=majority.minimax,
        summary="The smaller the worst head-to-head defeat of a system, the better.",
        source="Simpson 1969, Kramer 1977; Rofin et al. 2023, Vote'n'Rank, section 2.2.3",
        advice=(
            "Use it to find the system that the fewest tasks oppose. It considers only one rival of each "
            "system, so it says little about the middle of the board."
        ),
        held=Held(
            claims.ALWAYS | {"monotonicity", "majority", "condorcet_winner", "copies"},
            under={"pairwise_opposition": claims.ALWAYS | {"majority", "monotonicity", "copies"}},
            why={
                "copies": "a copy draws with the system that it copies and defeats no one whom that one does not",
                "monotonicity": "Fishburn 1977: victories of the winner only grow",
                "majority": "less than half the weight is against it and more than half against every other",
                "condorcet_winner": "Fishburn 1977",
            },
            why_not={
                "unanimity": "a third system may beat both equally",
                "condorcet_winner": "pairwise opposition counts weight against a system even where it wins",
                "condorcet_loser": "its defeats may be narrow",
            },
        ),
        options={"variant": majority.MINIMAX_VARIANTS},
        max_systems=MAX_COMPARED,
        kernels=Kernels(
            tables=tables.of_pairs(pairs.minimax),
            pairs=PairKernel(pairs.minimax, adds_up=True),
            rivals=RivalKernel(resamples.minimax),
            growing=growing.minimax,
        ),
        omission={"common_tasks": Omission("1 1|2 3|3 2", 3, 1, 3, 2)},
    ),
    Rule(
        key="schulze",
        name="Schulze",
        family="majority",
        needs_complete=False,
        cost=costs.schulze,
        function=paths.schulze,
        summary="Compares two systems by their strongest chains of head-to-head victories over each other.",
        source="Schulze 2011",
        advice=(
            "Use it to resolve circles by the strength of their victories, also with missing scores. Many communities "
            "use it for elections, and it is the most studied rule of its kind."
        ),
        held=Held(
            claims.BY_MARGINS | {"clones"},
            why={
                "unanimity": "Schulze 2011: no chain back is as strong as a victory by all tasks",
                "monotonicity": "Schulze 2011: chains from the winner only grow, chains to it only weaken",
                "condorcet_winner": "Schulze 2011",
                "condorcet_loser": "Schulze 2011",
                "clones": "Schulze 2011: a chain to one of the clones is as strong as one to any other",
                "reversal_symmetry": (
                    "Schulze 2011: a system that wins alone beats all others, and every chain is reversed with it"
                ),
            },
        ),
        options={"strength": paths.STRENGTHS},
        is_slow=True,
        max_systems=10_000,
        kernels=Kernels(
            tables=tables.of_pairs(pairs.schulze),
            pairs=PairKernel(pairs.schulze, winners=pairs.schulze_winners),
            growing=growing.schulze,
            max_systems=300,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        winner_below="a system that no other beats along paths wins, and the score counts how many each beats",
    ),
    Rule(
        key="ranked_pairs",
        name="Ranked pairs",
        family="majority",
        needs_complete=False,
        cost=costs.ranked_pairs,
        function=paths.ranked_pairs,
        summary="Locks in head-to-head victories, the strongest first, unless they contradict those locked in before.",
        source="Tideman 1987",
        advice=(
            "Like Schulze; you can explain the order that it builds victory by victory. If many victories are equally "
            "strong, names may decide the order that is shown, but never the winners; the result then says so."
        ),
        held=Held(
            claims.BY_MARGINS,
            why={
                "unanimity": "Tideman 1987: victories by all tasks are locked in first and make no circle",
                "monotonicity": "an order of equal strengths that made it a winner does so again (Tideman 1987)",
                "condorcet_winner": "Tideman 1987",
                "condorcet_loser": "Tideman 1987: its defeats are all locked in",
                "reversal_symmetry": "each order of equal strengths locks in the same victories, turned upside down",
            },
            why_not={
                "local_iia": "only where pairs are drawn; without draws Tideman's order has it",
                "clones": "a clone gives equal strengths more orders; where none are equal it has it",
            },
        ),
        options={"strength": paths.STRENGTHS},
        is_slow=True,
        max_systems=3_000,
        kernels=Kernels(
            tables=tables.of_pairs(locked_pairs.ranked_pairs),
            pairs=PairKernel(locked_pairs.ranked_pairs, winners=locked_pairs.ranked_pairs_winners),
            growing=growing.by_rounds(locked_pairs.ranked_pairs),
            seconds=costs.rounds_at_once,
            max_systems=300,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        decided_detail=("decided_by_name", False),
        winner_below="another order of victories of equal strength makes it first",
    ),
    Rule(
        key="maximal_lotteries",
        name="Maximal lotteries",
        family="majority",
        needs_complete=False,
        cost=costs.lotteries,
        function=maximal_lotteries.maximal_lotteries,
        of_many=maximal_lotteries.lotteries_of_many,
        summary="Shares among systems that no other shares beat on average; the next ranks go to shares of the others.",
        source=(
            "Fishburn 1984, Brandl, Brandt and Seedig 2016; in rounds as a ranking: Lanctot et al. 2023, "
            "Evaluating agents using social choice theory, arXiv:2312.03121"
        ),
        advice=(
            "Use it if systems beat each other in circles and no single one is best: it says who has a claim to the "
            "first place, and how large a share. Where the lottery is the only one, copies of a system split its share."
        ),
        held=Held(
            claims.BY_MARGINS | {"clones"},
            why={
                "unanimity": "who is above everywhere wins more against every lottery, so the other has no share",
                "monotonicity": (
                    "a lottery that proves it outside the essential set would prove it with its lower scores, too"
                ),
                "condorcet_winner": "Fishburn 1984: the only maximal lottery is the winner alone",
                "condorcet_loser": "every other share wins against it",
                "clones": "Brandl, Brandt and Seedig 2016: clones share what one of them has",
                "reversal_symmetry": "who is alone in the essential set beats all others, and loses to all upside down",
            },
            why_not={
                "consistency": "maximal lotteries are consistent (Fishburn 1984), the sets of systems in them are not",
                "local_iia": "the greater share may go to the one that loses the duel",
                "copies": "where there are several maximal lotteries, the one nearest to equal shares moves",
            },
        ),
        is_slow=True,
        max_systems=2_000,
        omission={"common_tasks": Omission("2 1|1 2|3 3", 3, 1, 3, 2)},
        winner_below="it has a smaller share, or none in the lottery shown, but one in some maximal lottery",
    ),
)
