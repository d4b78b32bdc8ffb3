"""Rules on the scores themselves."""

from __future__ import annotations

import numpy as np

from ranking_engine.catalogue.records import claims, costs
from ranking_engine.catalogue.rule import Held, Kernels, Omission, ResampleKernel, Rule
from ranking_engine.core.profile import TaskSum
from ranking_engine.kernels import exact_points, resamples, tables
from ranking_engine.rules import cardinal

RULES: tuple[Rule, ...] = (
    Rule(
        key="mean",
        name="Mean",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.mean,
        summary="The weighted average of the scores.",
        source="The usual practice; see Colombo et al. 2022 and Rofin et al. 2023 for what is wrong with it.",
        advice=(
            "Use it if all tasks have the same unit and a point on one task is worth a point on any other. A task "
            "with widely spread scores decides more than its weight suggests, and rescaling one task can change the "
            "order. If tasks have different units, use a rule that reads orders."
        ),
        held=Held(
            claims.OWN_SCORES | {"reversal_symmetry"},
            why={
                **claims.OWN_SCORES_WHY,
                "reversal_symmetry": "the mean of the scores turned upside down is a constant minus the mean",
            },
            why_not=claims.OWN_SCORES_WHY_NOT,
        ),
        task_sum=TaskSum(cardinal.mean_contributions),
        kernels=Kernels(
            tables=tables.mean,
            draws=tables.mean,
            resamples=ResampleKernel(resamples.mean_of(lambda profile: profile.scores)),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        exact_points=exact_points.mean,
    ),
    Rule(
        key="geometric_mean",
        name="Geometric mean",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.geometric_mean,
        summary="The weighted geometric mean of the scores; a system with a score of 0 or below has none.",
        source="Rofin et al. 2023, Vote'n'Rank, section 3.1",
        advice=(
            "Use it if scores are ratios, such as speed-ups over a baseline: it is the only mean whose order does not "
            "depend on the baseline. A single score near zero can pull a system down almost without limit."
        ),
        held=Held(claims.OWN_SCORES, why=claims.OWN_SCORES_WHY, why_not=claims.OWN_SCORES_WHY_NOT),
        task_sum=TaskSum(cardinal.log_contributions, "logarithm of the score", np.exp),
        kernels=Kernels(
            tables=tables.geometric_mean,
            draws=tables.geometric_mean,
            resamples=ResampleKernel(resamples.geometric_mean),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
        },
        needs_positive=True,
    ),
    Rule(
        key="harmonic_mean",
        name="Harmonic mean",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.harmonic_mean,
        summary="The weighted harmonic mean of the scores; a system with a score of 0 or below has none.",
        source="The third Pythagorean mean; see Rofin et al. 2023, Vote'n'Rank, section 1",
        advice=(
            "Use it if scores are rates, such as items per second, and each task has the same amount of work: it is "
            "the rate over all work. Tasks with low scores count most, more than under the geometric mean."
        ),
        held=Held(claims.OWN_SCORES, why=claims.OWN_SCORES_WHY, why_not=claims.OWN_SCORES_WHY_NOT),
        task_sum=TaskSum(cardinal.inverse_contributions, "minus the inverse of the score", cardinal.of_inverses),
        kernels=Kernels(
            tables=tables.harmonic_mean,
            draws=tables.harmonic_mean,
            resamples=ResampleKernel(resamples.harmonic_mean),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
        },
        needs_positive=True,
    ),
    Rule(
        key="worst_task",
        name="Worst task",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.worst_task,
        summary="The score on the task on which a system does worst: egalitarian welfare.",
        source="Rawls 1971; Rofin et al. 2023, Vote'n'Rank, section 2.1",
        advice=(
            "Use it if a system must not fail on any task and all tasks have the same unit. It uses only one task of "
            "each system, a single hard task can decide everything, and weights do not matter."
        ),
        held=Held(
            claims.OWN_SCORES - {"consistency"},
            why={
                "unanimity": "the least of greater scores is greater",
                "monotonicity": "the least score falls with none of them",
                "participation": "the least score of X stays at or above Y's when a task with X above Y joins",
            },
            why_not={
                **claims.OWN_SCORES_WHY_NOT,
                "consistency": "a system that is worse on one part may share the least score of all",
            },
        ),
        kernels=Kernels(
            tables=tables.worst_task,
            draws=tables.worst_task,
            resamples=ResampleKernel(resamples.worst_task),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 3|2 1|3 2", 1, 0, 2, 1),
            "median": Omission("1 3|2 1|3 2", 1, 0, 2, 1),
            "worst": Omission("1 3|3 2", 1, 0, 2, 1),
        },
    ),
    Rule(
        key="median",
        name="Median",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.median,
        summary="The weighted median of the scores.",
        source="Pavao et al. 2021, section 2.1",
        advice=(
            "Use it if single scores may be extreme: almost half of the scores can change arbitrarily without moving "
            "it far. It says nothing about the tasks on which a system is best or worst, and often has ties if there "
            "are few tasks."
        ),
        held=Held(
            claims.OWN_SCORES - {"consistency", "participation"},
            why=claims.OWN_SCORES_WHY,
            why_not={
                **claims.OWN_SCORES_WHY_NOT,
                "consistency": "medians of parts say little about the median",
                "participation": "a task above X's median and Y's may move them differently",
            },
        ),
        kernels=Kernels(
            tables=tables.median,
            draws=tables.median,
            resamples=ResampleKernel(resamples.median, needs_exact_weights=True),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("1 2|3 1", 1, 0, 2, 1),
        },
    ),
    Rule(
        key="normalized_mean",
        name="Normalised mean",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.normalized_mean,
        summary="The weighted average of how far a system has come from chance to the best possible score.",
        source="Srivastava et al. 2022, Beyond the imitation game, normalised preferred metric",
        advice=(
            "Use it if tasks have different but known scales: it puts them on one scale. Scores below chance count "
            "negatively."
        ),
        held=Held(
            claims.OWN_SCORES | {"reversal_symmetry"},
            why={
                **claims.OWN_SCORES_WHY,
                "reversal_symmetry": "the mean of the scores turned upside down is a constant minus the mean",
            },
            why_not=claims.OWN_SCORES_WHY_NOT,
        ),
        task_sum=TaskSum(cardinal.normalized_contributions),
        kernels=Kernels(
            tables=tables.normalized_mean,
            draws=tables.normalized_mean,
            resamples=ResampleKernel(resamples.mean_of(cardinal.normalized)),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        reads_scales=True,
        groups_rule="mean",
        example_note="Every task runs from 0 to 4, and guessing gives 1.",
    ),
    Rule(
        key="optimality_gap",
        name="Optimality gap",
        family="cardinal",
        needs_complete=True,
        cost=costs.sorting,
        function=cardinal.optimality_gap,
        summary="How far, on average, a system stays below the benchmark's optimality threshold.",
        source="Agarwal et al. 2021; Rofin et al. 2023, Vote'n'Rank, section 3.1",
        advice=(
            "Use it if scores beyond some level are as good as perfect, so that a system cannot make up for a weak "
            "task with a brilliant one."
        ),
        held=Held(
            claims.OWN_SCORES - {"unanimity"},
            why={"monotonicity": "scores rise with each of their terms"},
            why_not={**claims.OWN_SCORES_WHY_NOT, "unanimity": "above the threshold better scores count nothing"},
        ),
        task_sum=TaskSum(cardinal.gap_contributions),
        kernels=Kernels(
            tables=tables.optimality_gap,
            draws=tables.optimality_gap,
            resamples=ResampleKernel(resamples.mean_of(cardinal.minus_gaps)),
            judges_alone=True,
        ),
        omission={
            "drop_tasks": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "median": Omission("1 2|2 3|3 1", 1, 0, 3, 2),
            "worst": Omission("2 1|1 2|3 3", 3, 1, 3, 2),
        },
        groups_rule="mean",
        example_note="The optimality threshold γ is 3: scores beyond it count as 3.",
    ),
)
