"""A hunt for boards that violate a property which the table says a rule has.

`PYTHONPATH=. python benchmarks/property_hunt.py [--minutes 1] [--rule schulze] [--seed 0]` goes through all that
"holds", of every rule under every convention, one random board after another, and prints how many boards were ranked
and what fell. Boards are small and full of what breaks proofs: ties within tasks, equal strengths, even weights,
systems and tasks that are there twice, and margins chosen at will (McGarvey 1953).
"""

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ranking_engine import RULES, ScoreMatrix
from ranking_engine.axioms import PROPERTIES, Search, conventions, entry, sentence, witness

STEPS = 40  # boards ranked around each random one
VECTOR = {"positional": {"vector": [3, 1]}}
CARDINAL_SCORES = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0])


def board_of_margins(generator: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """Return orders, better is higher, and weights of tasks that give few strengths to all pairs: many are equal."""
    n, most = int(generator.integers(3, 6)), int(generator.integers(1, 4))
    columns, weights = [], []
    for i, j in itertools.combinations(range(n), 2):
        margin = int(generator.integers(-most, most + 1))
        pair = [i, j] if margin > 0 else [j, i]
        rest = [k for k in range(n) if k not in pair]
        for order in ([*pair, *rest], [*rest[::-1], *pair]) if margin else ():
            columns.append([n - 1 - order.index(k) for k in range(n)])
            weights.append(abs(margin))
    return (np.array(columns).T, weights) if columns else (np.zeros((n, 1), int), [1])


def random_board(rule: str, generator: np.random.Generator) -> ScoreMatrix:
    """Return a board of two to six systems on up to nine tasks, often with ties, equal strengths and duplicates."""
    n, T = int(generator.integers(2, 7)), int(generator.integers(1, 10))
    n_levels = int(generator.choice([2, 3, n]))
    if generator.random() < 0.5:
        levels = np.column_stack([generator.permutation(n) for _ in range(T)])
        levels = levels * n_levels // n  # no tie within a task where there are n levels
    else:
        levels = generator.integers(0, n_levels, (n, T))
    if n > 2 and generator.random() < 0.2:
        levels[int(generator.integers(n))] = levels[int(generator.integers(n))]
    if T > 1 and generator.random() < 0.2:
        levels[:, int(generator.integers(T))] = levels[:, int(generator.integers(T))]
    kinds = [[1] * T, generator.integers(1, 4, T), 2 * generator.integers(1, 3, T), generator.integers(1, 9, T)]
    weights = kinds[int(generator.integers(len(kinds)))]
    if generator.random() < 0.25:
        levels, weights = board_of_margins(generator)
        n, T = levels.shape
    scores = CARDINAL_SCORES[levels] if RULES[rule].family == "cardinal" else levels + 1.0
    return ScoreMatrix(
        scores,
        system_names=list("ABCDEF"[:n]),
        weights=[int(weight) for weight in weights],
        minimum=[0] * T,
        maximum=[20] * T,
        chance=[0] * T,
        gamma=6.0,
    )


def claims(rule: str | None) -> list[tuple[str, dict[str, Any], str]]:
    """Return every rule, convention and property of which the table says that it holds."""
    return [
        (key, options, name)
        for key in ([rule] if rule else RULES)
        for options in conventions(key)
        for name in PROPERTIES
        if entry(key, name, options).holds
    ]


def searched(rule: str, options: Mapping[str, Any], name: str, generator: np.random.Generator) -> Search:
    """Look for a violation around one random board."""
    board = random_board(rule, generator)
    if name == "non_dictatorship":  # which is about equal weights
        board = board.with_weights([1] * board.n_tasks)
    seed = int(generator.integers(2**31))
    return witness(rule, name, board, options={**options, **VECTOR.get(rule, {})}, seed=seed, max_steps=STEPS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rule", choices=list(RULES))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generator = np.random.default_rng(arguments.seed)
    n_boards, n_ranked, fallen = Counter[str](), Counter[str](), set()
    end = time.monotonic() + 60 * arguments.minutes
    for rule, options, name in itertools.cycle(claims(arguments.rule)):
        if time.monotonic() > end:
            break
        claim = (rule, json.dumps(options), name)
        if claim in fallen:
            continue
        search = searched(rule, options, name, generator)
        n_boards[rule] += 1
        n_ranked[rule] += search.n_steps
        if search.witness is not None:
            fallen.add(claim)
            print("FALLEN", *claim, sentence(search.witness), flush=True)
    for rule in n_boards:
        print(f"{rule:20}{n_boards[rule]:9,} boards, {n_ranked[rule]:11,} ranked around them")
    print(f"{'all':20}{n_boards.total():9,} boards, {n_ranked.total():11,} ranked; {len(fallen)} claims fell")


if __name__ == "__main__":
    main()
