"""How many systems each rule ranks equal with another, measured on random boards: `python -m` this module stores it.

The shares are of boards on which no task has equal scores, so that all ties are the rule's own. Each rule has the
options that it has by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from ranking_engine.catalogue.dispatch import rank
from ranking_engine.catalogue.registry import RULES, get_rule
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix

N_BOARDS, N_SYSTEMS, N_TASKS = 200, 20, 8
_FILE = Path(__file__).with_name("tied_shares.json")


@cache
def tied_share(rule: str) -> float:
    """Return the stored share of systems that share their rank under `rule`; measured where none is stored.

    Raises:
        ValueError: an unknown rule.
    """
    get_rule(rule)
    stored = stored_shares()
    return stored[rule] if rule in stored else measured_share(rule)


@cache
def stored_shares() -> Mapping[str, float]:
    """Return the stored shares by rule."""
    shares: dict[str, float] = json.loads(_FILE.read_text(encoding="utf-8"))
    return shares


def measured_share(rule: str) -> float:
    """Return the mean share over the boards, to 3 decimals; who is not ranked counts as equal to others like it."""
    options = get_rule(rule).example_options
    shares = []
    for seed in range(N_BOARDS):
        ranks = rank(board(seed), rule, **options).ranks
        _, sizes = np.unique(ranks, return_counts=True)
        shares.append(sizes[sizes > 1].sum() / N_SYSTEMS)
    return round(float(np.mean(shares)), 3)


def board(seed: int) -> ScoreMatrix:
    """Return a random board: some systems are better than others, all scores positive, tasks of equal weight."""
    skill = random_matrix(N_SYSTEMS, N_TASKS, seed=seed)
    # a score x becomes exp(x) / (1 + exp(x)): the order stays, and every rule can read it
    values = np.exp(skill.values)
    least, most = [0] * N_TASKS, [1] * N_TASKS
    return ScoreMatrix(values / (1 + values), minimum=least, maximum=most, chance=least, gamma=0.9)


def store() -> None:
    """Measure every rule without parameters of the user and store the shares."""
    shares = {key: measured_share(key) for key, rule in RULES.items() if not rule.parameters}
    _FILE.write_text(json.dumps(shares, indent=2) + "\n", encoding="utf-8")
    stored_shares.cache_clear()
    tied_share.cache_clear()


if __name__ == "__main__":
    store()
