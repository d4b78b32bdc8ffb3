"""A board of any matrix, such as one that is stored nowhere, with the parts of which a page's board is made."""

import numpy as np

from leaderboard.models import Configuration, Revision
from leaderboard.services.columns import PublishedBoard, make_column
from leaderboard.services.rankings import majority_facts, rank_isolated, ranking_arrays, ranking_summary, split_rules
from ranking_engine import Ranking, ScoreMatrix


def board_of(
    matrix: ScoreMatrix, policy: str, aggregation: str, ties: str = "", *, kemeny_seconds: float = 2.0
) -> tuple[PublishedBoard, dict[str, Ranking]]:
    """The board as if it had been published, and the rankings that rank; its revision is no row and has no number.

    Args:
        matrix: what is ranked, under every quick rule.
        policy: the missing-score policy.
        aggregation: how tasks and groups count together.
        ties: the convention for ties within a task; each rule's own where empty.
        kemeny_seconds: how long Kemeny's order is looked for.
    """
    n, T = matrix.n_systems, matrix.n_tasks
    rules = split_rules(n, T)
    outcomes = rank_isolated(
        matrix, policy, aggregation, rules.quick, ties=ties or None,
        options={"kemeny": {"seconds": kemeny_seconds}},
    )  # fmt: skip
    names = list(matrix.system_names)
    made = [
        make_column(ranking_summary(outcome, rule, names), ranking_arrays(outcome, n), {})
        for rule, (outcome, _) in outcomes.items()
    ]
    winner, in_smith_set = majority_facts(matrix, aggregation)
    n_scored = np.isfinite(matrix.scores[:, matrix.votes]).sum(axis=1).astype(np.int32)
    facts = {
        "n_systems": n,
        "n_tasks": T,
        "n_voting_tasks": int(matrix.votes.sum()),
        "n_missing": int(matrix.votes.sum() * n - n_scored.sum()),
        "condorcet_winner": None if winner is None else names[winner],
    }
    content = {"groups": [{"key": name} for name in matrix.group_weights], "aggregation": aggregation}
    revision = Revision(number=0, configuration=Configuration(content=content))
    board = PublishedBoard(revision, facts, np.arange(n, dtype=np.int64), n_scored, in_smith_set, made)
    ranked = {
        rule: outcome
        for rule, (outcome, _) in outcomes.items()
        if isinstance(outcome, Ranking) and outcome.status == "ranked"
    }
    return board, ranked
