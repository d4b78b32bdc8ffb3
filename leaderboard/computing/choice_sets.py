"""Who is in which choice set of a board, the maximal lottery, and the cycles of its majority relation."""

import math
from typing import Any

import numpy as np

from ranking_engine import ScoreMatrix
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.rules.choice_sets import schwartz_set, smith_set, uncovered_set
from ranking_engine.rules.copy_proof import copy_proof_ratings
from ranking_engine.rules.majority_cycles import shortest_cycles
from ranking_engine.rules.maximal_lotteries import UnsolvedError, maximal_lottery

MAX_CYCLES = 20  # that are listed
MAX_RATED = 2_000_000  # systems times the square of the tasks, for which copy-proof ratings take about a second


def choice_sets_of(matrix: ScoreMatrix) -> dict[str, Any]:
    """The fields of `comparisons.choice_sets.ChoiceSets`; systems by index.

    Args:
        matrix: with the weights that decide majorities.
    """
    pairwise = Pairwise.of(matrix)
    systems = np.flatnonzero(pairwise.scored)
    members: dict[str, tuple[int, ...] | None] = {
        "smith_set": smith_set(pairwise),
        "schwartz_set": schwartz_set(pairwise),
        "uncovered_set": uncovered_set(pairwise),
        "essential_set": None,
    }
    lottery: dict[int, str] = {}
    is_only = None
    if systems.size:
        try:
            solved = maximal_lottery(pairwise.margins, systems)
        except UnsolvedError:
            pass
        else:
            members["essential_set"], is_only = solved.members, solved.is_unique
            lottery = {i: str(share) for i, share in zip(solved.members, solved.shares, strict=True)}
    cycles = shortest_cycles(pairwise)
    total = sum(int(weight) for weight in pairwise.weights.tolist()) or 1
    leads = [
        [int(pairwise.margins[i, j]) / total for i, j in zip(cycle, (*cycle[1:], cycle[0]), strict=True)]
        for cycle in cycles[:MAX_CYCLES]
    ]
    is_rated = matrix.n_systems * matrix.n_tasks**2 <= MAX_RATED
    rated = copy_proof_ratings(matrix) if is_rated else None
    too_large = f"there are too many systems and tasks: systems x tasks x tasks may be {MAX_RATED:,}"
    return {
        "members": members,
        "lottery": lottery,
        "is_only_lottery": is_only,
        "cycles": cycles[:MAX_CYCLES],
        "leads": leads,
        "n_cycles": len(cycles),
        "ratings": rated.ratings.tolist() if rated else [math.nan] * matrix.n_systems,
        "task_shares": rated.task_weights.tolist() if rated else [0.0] * matrix.n_tasks,
        "not_rated": rated.reason if rated else too_large,
    }
