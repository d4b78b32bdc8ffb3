"""A search for boards that violate a property which the table says a rule has.

`PYTHONPATH=. python performance/property_search.py [--minutes 1] [--rule schulze] [--seed 0]` goes through all that
"holds", of every rule under every convention, one random board after another, and prints how many boards were ranked
and what fell.
"""

import argparse
import itertools
import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ranking_engine import RULES
from ranking_engine.axioms import PROPERTIES, WitnessSearch, conventions, entry, sentence, witness
from ranking_engine.axioms.small_boards import STEPS, random_board


def claims(rule: str | None) -> list[tuple[str, dict[str, Any], str]]:
    """Return every rule, convention and property of which the table says that it holds."""
    return [
        (key, options, name)
        for key in ([rule] if rule else RULES)
        for options in conventions(key)
        for name in PROPERTIES
        if entry(key, name, options).holds
    ]


def searched(rule: str, options: Mapping[str, Any], name: str, generator: np.random.Generator) -> WitnessSearch:
    """Look for a violation around one random board."""
    board = random_board(rule, generator)
    if name == "non_dictatorship":  # which is about equal weights
        board = board.with_weights([1] * board.n_tasks)
    seed = int(generator.integers(2**31))
    return witness(rule, name, board, options={**options, **RULES[rule].least_options}, seed=seed, max_steps=STEPS)


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
