"""How far the tasks of a board are from each of its rankings, and from each other."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ranking_engine import Ranking, ScoreMatrix
from ranking_engine.core.missing import scored_part
from ranking_engine.core.profile import Profile
from ranking_engine.core.task_distances import TaskVotes
from ranking_engine.rules.mallows import fitted


def published_ranking(rule: str, ranks: np.ndarray) -> Ranking:
    """A ranking from the ranks that a board shows (1, 2, 2, 4; -1 = unranked); it has no rule scores."""
    return Ranking(rule, "ranked", np.full(len(ranks), np.nan), ranks)


def distances_of(matrix: ScoreMatrix, ranks: Mapping[str, np.ndarray], kemeny: str) -> dict[str, Any]:
    """The mean Kendall distance of two tasks, and by rule how far the tasks are from its ranking.

    Args:
        matrix: with the weights of the board.
        ranks: by rule, the ranks that the board shows.
        kemeny: the rule among them whose order is proven to be the nearest one; empty where none is.

    Returns:
        `dispersion`, and `rules`: by rule `dispersion_to` and `weighted_distance`, of the engine's functions of these
        names, and `excess` over `kemeny`, None where there is none. `spread`: that of the tasks around the nearest
        order, the fields of `MallowsFit`; None where none is proven to be the nearest.
    """
    votes = TaskVotes.of(matrix)
    rankings = {rule: published_ranking(rule, row) for rule, row in ranks.items()}
    optimum = rankings.get(kemeny)
    rules = {}
    for rule, ranking in rankings.items():
        weight = votes.weight_against(ranking)
        rules[rule] = {
            "dispersion_to": votes.dispersion_to(ranking),
            "weighted_distance": np.nan if weight is None else float(weight),
            "excess": None if optimum is None else votes.excess(ranking, optimum),
        }
    scored = scored_part(matrix).matrix
    spread = None
    if scored is not None and optimum is not None:
        against = votes.weight_against(optimum)
        spread = None if against is None else asdict(fitted(Profile(scored), float(against)))
    return {"dispersion": votes.dispersion, "rules": rules, "spread": spread}
