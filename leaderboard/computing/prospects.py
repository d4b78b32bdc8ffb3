"""Who can win under which weights, asked for with conditions or of two systems."""

from ranking_engine import ScoreMatrix
from ranking_engine.prospects import Conditions, Prospect, Prospects, pair_prospect, prospects

MAX_STEPS = 2_000  # linear programs; what they do not reach is undecided, and the answer says so
PAIR_DRAWS = 2_000  # weightings drawn for the share of those under which one system is above another


def who_can_win(matrix: ScoreMatrix, conditions: Conditions, rule: str, *, all_tasks: bool, missing: str) -> Prospects:
    """Who can win under conditions on the weights: verdicts alone.

    Args:
        matrix: what is ranked.
        conditions: checked against the matrix.
        rule: what is to be won, one of `prospects.RULES`.
        all_tasks: whether tasks of weight 0 vote, too.
        missing: the missing-score policy.
    """
    return prospects(
        matrix,
        conditions=conditions,
        rule=rule,
        all_tasks=all_tasks,
        missing=missing,
        n_draws=0,
        nearest=False,
        needed=False,
        max_steps=MAX_STEPS,
    )


def what_puts_above(matrix: ScoreMatrix, system: str, rival: str) -> Prospect:
    """Which weights put a system equal to a rival or above it, and the least changes that do."""
    return pair_prospect(matrix, system, rival, n_draws=PAIR_DRAWS)
