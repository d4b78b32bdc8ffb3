"""Rules on how often, or by how much, a system is ahead of its rivals."""

from __future__ import annotations

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.records.costs import MAX_COMPARED
from ranking_engine.catalogue.rule import (
    POSITIONS,
    SCORES,
    Held,
    Kernels,
    Number,
    Omission,
    PairKernel,
    ResampleKernel,
    Rule,
)
from ranking_engine.core.profile import TaskSum
from ranking_engine.kernels import growing, pairs, picks, resamples, strengths, tables, votes
from ranking_engine.rules import bradley_terry, plackett_luce, rates

RULES: tuple[Rule, ...] = (
    Rule(
        key="win_rate",
        name="Win rate",
        family="rates",
        needs_complete=False,
        cost=costs.win_rate,
        function=rates.win_rate,
        summary="How often a system is ahead, on average over its rivals; a tie is half a win.",
        source="Liang et al. 2023, HELM; Pavao et al. 2021, section 2.1 (success rate)",
        advice=(
            "Use it if you want a figure that readers understand at once, also with missing scores. In a complete "
            "table without ties it gives the same order as Borda."
        ),
        held=Held(
            claims.BORDA,
            under={"success_rate": claims.PARETIAN, "benchbench": claims.PARETIAN},
            why=claims.LIKE_BORDA_WHY,
            why_not={**claims.BORDA_WHY_NOT, "iia": "a system's score is a mean over its rivals"},
        ),
        options={"variant": rates.WIN_RATE_VARIANTS},
        max_systems=MAX_COMPARED,
        task_sum=TaskSum(rates.win_rate_contributions),
        kernels=Kernels(
            tables=tables.win_rate,
            resamples=ResampleKernel(resamples.win_rate, adds_up=True),
            pairs=PairKernel(pairs.win_rate_of_block, needs_common=True),
            growing=growing.win_rate,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        rival_share=lambda n: n - 1.0,
    ),
    Rule(
        key="relative_difference",
        name="Relative difference",
        family="rates",
        needs_complete=False,
        cost=costs.differences,
        function=rates.relative_difference,
        summary="By how much a system is ahead, relative to the two scores, on average over rivals and tasks.",
        source="Pavao et al. 2021, section 2.1",
        advice=(
            "Between means and orders: differences count, but on each task only in proportion to its scores. Use it "
            "for scores that are not negative and have a meaningful zero."
        ),
        held=Held(
            claims.PARETIAN,
            under={"sum": claims.ALWAYS | {"consistency"}},
            why={
                "unanimity": "differences to each rival are no less, and those between the two decide",
                "monotonicity": "each difference to a rival rises with the system's score",
            },
            why_not={
                "iia": "a system's score is a mean over its rivals",
                "majority": "far behind on few tasks outweighs little ahead on many",
                "participation": "a quotient turns its sign where the sum of two scores is below 0",
            },
        ),
        options={"divisor": rates.DIVISORS},
        max_systems=MAX_COMPARED,
        task_sum=TaskSum(rates.relative_difference_contributions),
        kernels=Kernels(
            tables=tables.relative_difference,
            draws=tables.relative_difference_of_draws,
            resamples=ResampleKernel(resamples.relative_difference),
            growing=growing.relative_difference,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        is_ranked_alone=True,
        reads=SCORES,
        groups_need_positive=True,
    ),
    Rule(
        key="bradley_terry",
        name="Bradley-Terry",
        family="rates",
        needs_complete=False,
        cost=costs.bradley_terry,
        function=bradley_terry.bradley_terry,
        summary="The strengths that make the wins and ties between all pairs of systems the most likely.",
        source="Bradley and Terry 1952, Newman 2023",
        advice=(
            "Use it if you want the probability that one system is ahead of another, or standard errors. It assumes "
            "that the comparisons of one task are independent, which they are not, so use the errors that treat the "
            "tasks of a cluster together."
        ),
        held=Held(claims.BORDA, why=claims.LIKE_BORDA_WHY, why_not=claims.LIKE_BORDA_WHY_NOT),
        is_slow=True,
        max_systems=5_000,
        numbers={"prior": Number(0.0, 0.0, 1e6)},
        kernels=Kernels(
            tables=strengths.bradley_terry,
            pairs=PairKernel(strengths.bradley_terry_of_pairs, needs_common=True),
            growing=votes.growing(strengths.bradley_terry),
            seconds=costs.rounds_at_once,
            max_systems=300,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        names_systems=True,
    ),
    Rule(
        key="plackett_luce",
        name="Plackett-Luce",
        family="rates",
        needs_complete=False,
        cost=costs.plackett_luce,
        function=plackett_luce.plackett_luce,
        summary="The strengths that make the orders of all tasks the most likely, each picked from the best down.",
        source=(
            "Luce 1959, Plackett 1975, Hunter 2004; for sparse scores of different kinds: Ghosh et al. 2024, ONEBench, "
            "arXiv:2412.06745"
        ),
        advice=(
            "Use it if each task has scores of some systems only, in units of its own: it reads the order of those "
            "that it has. Unlike Bradley-Terry it takes a task as one observation, not as many comparisons, and high "
            "places count more than low ones."
        ),
        held=Held(
            claims.ALWAYS | {"unanimity"},
            why={"unanimity": "the lower one is in every set from which the higher one is picked, and in more"},
            why_not={
                "majority": "how far down a system is on the other tasks counts",
                "iia": "a strength depends on who else is left to pick from",
                "consistency": "strengths are not sums over tasks",
                "participation": "strengths are not sums over tasks",
                "condorcet_winner": "a few last places outweigh many narrow victories",
                "condorcet_loser": "a few first places outweigh many narrow defeats",
                "reversal_symmetry": "picking from the worst up is another model",
            },
        ),
        is_slow=True,
        max_systems=2_000,
        numbers={"prior": Number(0.0, 0.0, 1e6)},
        kernels=Kernels(
            tables=picks.plackett_luce,
            draws=picks.plackett_luce,
            growing=votes.growing(picks.plackett_luce),
            seconds=costs.picks_at_once,
            max_systems=300,
        ),
        reads=POSITIONS,
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 1)},
        names_systems=True,
    ),
)
