"""Rules that give points for positions on the tasks."""

from __future__ import annotations

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.rule import Held, Kernels, Omission, ResampleKernel, Rule
from ranking_engine.core.profile import TaskSum
from ranking_engine.kernels import exact_points, growing, resamples, tables
from ranking_engine.rules import positional
from ranking_engine.rules.positional import task_sum_of

RULES: tuple[Rule, ...] = (
    Rule(
        key="plurality",
        name="Plurality",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.plurality,
        summary="The weight of the tasks on which a system is first.",
        source="Rofin et al. 2023, Vote'n'Rank, section 2.2.1",
        advice=(
            "Use it if only being the best on a task matters. It ignores everything except first places, and most "
            "systems of a long board tie."
        ),
        held=Held(
            claims.ADDITIVE | {"majority"},
            under={"best": claims.ADDITIVE | {"majority", "copies"}},
            why={
                **claims.SCORING_WHY,
                "majority": "more than half of all first places",
                "copies": "a copy shares first places and takes none",
            },
            why_not={
                **claims.SCORING_WHY_NOT,
                "unanimity": "two positions may be worth the same",
                "copies": "a copy takes first places, or parts of them, from the system that is copied; not under best",
            },
        ),
        tie_convention="worst",
        task_sum=task_sum_of(positional.plurality_vector),
        kernels=Kernels(
            tables=tables.plurality,
            draws=tables.plurality,
            resamples=ResampleKernel(resamples.of_vector(positional.plurality_vector, "worst"), adds_up=True),
            growing=growing.plurality,
        ),
        omission={
            "drop_tasks": Omission("3 1|1 2|2 3", 3, 1, 2, 1),
            "median": Omission("2 1|1 2", 3, 1, 2, 1),
            "worst": Omission("2 1|1 2", 3, 1, 2, 1),
        },
        exact_points=exact_points.plurality,
        points=positional.plurality_vector,
    ),
    Rule(
        key="borda",
        name="Borda",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.borda,
        summary="On each task a system earns one point, times the task's weight, for every system placed below it.",
        source="Borda 1784; Rofin et al. 2023, Vote'n'Rank, section 2.2.1",
        advice=(
            "A good first look at a board without missing scores: it uses every position on every task, is easy to "
            "explain, and changes little when one task changes. Adding or removing weak systems can change which "
            "system wins."
        ),
        held=Held(claims.PARETIAN, under={"average": claims.BORDA}, why=claims.BORDA_WHY, why_not=claims.BORDA_WHY_NOT),
        tie_convention="worst",
        task_sum=task_sum_of(positional.borda_vector),
        kernels=Kernels(
            tables=tables.borda,
            draws=tables.borda,
            resamples=ResampleKernel(resamples.of_vector(positional.borda_vector, "worst"), adds_up=True),
            growing=growing.borda,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 1|2 2|3 3", 3, 1, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        exact_points=exact_points.borda,
        rival_share=lambda n: 1.0,
    ),
    Rule(
        key="dowdall",
        name="Dowdall",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.dowdall,
        summary="On each task a system earns the task's weight divided by its position.",
        source="Reilly 2002 on Nauru; Rofin et al. 2023, Vote'n'Rank, section 2.2.1",
        advice=(
            "Between plurality and Borda: first places count much, low positions hardly differ. Use it if the top of "
            "the board matters most."
        ),
        held=Held(claims.PARETIAN, why=claims.SCORING_WHY, why_not=claims.SCORING_WHY_NOT),
        tie_convention="best",
        task_sum=task_sum_of(positional.dowdall_vector),
        kernels=Kernels(
            tables=tables.dowdall,
            draws=tables.dowdall,
            resamples=ResampleKernel(resamples.of_vector(positional.dowdall_vector, "best"), adds_up=True),
            growing=growing.dowdall,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 1|2 2|3 3", 3, 1, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        exact_points=exact_points.dowdall,
        points=positional.dowdall_vector,
    ),
    Rule(
        key="average_rank",
        name="Average rank",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.average_rank,
        summary="The weighted average of a system's positions on the tasks.",
        source="Brazdil and Soares 2000; Pavao et al. 2021, section 2.1",
        advice=(
            "The rank average of the machine learning literature, and of the Friedman test. It gives the same order "
            "as Borda with the same tie convention; its scores are easier to read."
        ),
        held=Held(
            claims.BORDA,
            under={"worst": claims.PARETIAN, "best": claims.PARETIAN},
            why=claims.BORDA_WHY,
            why_not=claims.BORDA_WHY_NOT,
        ),
        tie_convention="average",
        task_sum=TaskSum(positional.average_rank_contributions),
        kernels=Kernels(
            tables=tables.average_rank,
            draws=tables.average_rank,
            resamples=ResampleKernel(resamples.of_vector(positional.average_rank_vector, "average"), adds_up=True),
            growing=growing.average_rank,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 1|2 2|3 3", 3, 1, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        rival_share=lambda n: 1.0,
    ),
    Rule(
        key="veto",
        name="Veto",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.veto,
        summary="The less weight the tasks have on which a system is last, the better.",
        source="Anti-plurality, see Brandt et al. 2016, Handbook of computational social choice",
        advice=(
            "Use it if failing badly on any task disqualifies a system. Most systems of a long board are never last "
            "and tie for first: threshold asks the same question and continues."
        ),
        held=Held(
            claims.ADDITIVE | {"copies"},
            under={"best": claims.ADDITIVE, "average": claims.ADDITIVE},
            why={**claims.SCORING_WHY, "copies": "a copy shares last places and takes none"},
            why_not={
                **claims.SCORING_WHY_NOT,
                "unanimity": "two positions may be worth the same",
                "copies": "a copy takes last places, or parts of them, from the system that is copied; not under worst",
            },
        ),
        tie_convention="worst",
        task_sum=task_sum_of(positional.veto_vector),
        kernels=Kernels(
            tables=tables.veto,
            draws=tables.veto,
            resamples=ResampleKernel(resamples.of_vector(positional.veto_vector, "worst"), adds_up=True),
            growing=growing.veto,
        ),
        omission={
            "drop_tasks": Omission("2 1|1 2|3 3", 3, 1, 3, 1),
            "median": Omission("1 2|2 3|3 1", 1, 0, 2, 1),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
    ),
    Rule(
        key="positional",
        name="Positional",
        family="positional",
        needs_complete=True,
        cost=costs.sorting,
        function=positional.positional,
        summary="On each task a system earns the points that your own vector gives to its position.",
        source="Young 1975, Social choice scoring functions",
        advice=(
            "Use it if your community has points that it understands, such as those of a championship or a journal. "
            "Plurality, Borda and veto are the vectors 1, 0, ..., 0 and n − 1, n − 2, ..., 0 and 0, ..., 0, −1."
        ),
        held=Held(
            claims.ADDITIVE,
            why=claims.SCORING_WHY,
            why_not={**claims.SCORING_WHY_NOT, "unanimity": "two positions may be worth the same"},
        ),
        tie_convention="worst",
        parameters={"vector": positional.checked_vector},
        task_sum=task_sum_of(positional.padded_vector),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 1),
            "worst": Omission("1 3|2 2|3 1", 1, 0, 2, 1),
        },
        example_options={"vector": (12.0, 10.0, 8.0)},
        example_note="Points for the places: 12, 10, 8, then none.",
        least_options={"vector": (3.0, 2.0)},
    ),
    Rule(
        key="compatible_borda",
        name="Compatible Borda",
        family="positional",
        needs_complete=False,
        cost=costs.sorting,
        function=positional.compatible_borda,
        summary=(
            "Borda for boards with missing scores: on each task a system earns the number of systems that it should "
            "expect below it."
        ),
        source=(
            "Himmi et al. 2024, Towards more robust NLP system evaluation: handling missing scores in benchmarks, "
            "arXiv:2305.10284"
        ),
        advice=(
            "Use it instead of Borda if scores are missing at random: no system, task or score is left out, and "
            "nothing is made up but places. Do not use it if systems choose the tasks that they report."
        ),
        held=Held(claims.BORDA, why=claims.LIKE_BORDA_WHY, why_not=claims.SCORING_WHY_NOT),
        task_sum=TaskSum(positional.compatible_contributions),
        kernels=Kernels(
            tables=tables.compatible_borda,
            draws=tables.compatible_borda,
            resamples=ResampleKernel(resamples.of_vector(positional.borda_vector, "average"), adds_up=True),
            growing=growing.compatible_borda,
        ),
        omission={"common_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2)},
        expects_places=True,
    ),
)
