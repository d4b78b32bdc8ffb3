"""A board of any matrix, such as one that is stored nowhere, with the parts of which a page's board is made."""

from collections.abc import Sequence

import numpy as np

from leaderboard.computing.rankings import MajorityFacts, Outcomes
from leaderboard.models import Benchmark, Configuration, Revision
from leaderboard.on_demand.budget import too_long_reason
from leaderboard.rankings.compute import ranking_arrays, ranking_summary
from leaderboard.rankings.configuration import BoardConfiguration, ConfiguredGroup, ConfiguredTask
from leaderboard.rankings.published import ColumnTexts, PublishedBoard, empty_column, make_column
from ranking_engine import ScoreMatrix
from ranking_engine.core.threshold import DerivedGamma


def board_of(
    matrix: ScoreMatrix,
    aggregation: str,
    outcomes: Outcomes,
    majority: MajorityFacts,
    too_long: Sequence[str],
    *,
    missing_policy: str,
    derived: DerivedGamma | None = None,
) -> PublishedBoard:
    """The board as if it had been published; its revision is no row and has no number.

    Args:
        matrix: what was ranked.
        aggregation: how tasks and groups counted together.
        outcomes: by rule, its ranking or the exception that it raised.
        majority: the Condorcet winner and the Smith set.
        too_long: further rules, which were not done in time.
        missing_policy: how systems with missing scores were ranked.
        derived: the matrix's optimality threshold, where no one stated it.
    """
    n, names = matrix.n_systems, list(matrix.system_names)
    configuration = BoardConfiguration(
        groups=tuple(ConfiguredGroup(name, name, str(weight)) for name, weight in matrix.group_weights.items()),
        tasks=tuple(
            ConfiguredTask(
                id=t,
                key=name,
                name=name,
                group=matrix.groups[t],
                direction=int(matrix.directions[t]),
                weight=str(matrix.weights[t]),
                metric="",
                unit="",
                minimum=None,
                maximum=None,
                chance=None,
            )
            for t, name in enumerate(matrix.task_names)
        ),
        gamma=matrix.gamma if derived is None else None,
        derived_gamma=derived,
        missing_policy=missing_policy,
        aggregation=aggregation,
        replacement=Benchmark.Replacement.ROW,
    )
    revision = Revision(number=0, configuration=Configuration(content=configuration.content))
    texts = ColumnTexts.of(revision)
    made = [
        make_column(ranking_summary(outcome, rule, names), ranking_arrays(outcome, names), texts)
        for rule, outcome in outcomes.items()
    ]
    made += [empty_column(rule, "undefined", too_long_reason(), n) for rule in too_long]
    winner, in_smith_set = majority
    n_scored = np.isfinite(matrix.scores[:, matrix.votes]).sum(axis=1).astype(np.int32)
    facts = {
        "n_systems": n,
        "n_tasks": matrix.n_tasks,
        "n_voting_tasks": int(matrix.votes.sum()),
        "n_missing": int(matrix.votes.sum() * n - n_scored.sum()),
        "condorcet_winner": None if winner is None else names[winner],
    }
    return PublishedBoard(revision, facts, np.arange(n, dtype=np.int64), n_scored, in_smith_set, made, aggregation)
