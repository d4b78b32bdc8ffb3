"""Small boards full of what breaks proofs, and the search among them for a counter-example of all that a rule lacks.

Boards have ties within tasks, equal strengths, even weights, systems and tasks that are there twice, and margins chosen
at will (McGarvey 1953).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ranking_engine.axioms.boards import part_of
from ranking_engine.axioms.definitions import violates
from ranking_engine.axioms.properties import PROPERTIES
from ranking_engine.axioms.search import witness
from ranking_engine.axioms.stored import StoredWitness
from ranking_engine.axioms.table import conventions, entry
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.score_matrix import ScoreMatrix

CARDINAL_SCORES = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0])
MAX_SYSTEMS, MAX_TASKS = 6, 9
STEPS = 40  # boards ranked around each random one
ROUNDS, TRIES = 40, 20  # of all sizes, and boards of each size in a round
SHIFTS = (0.0, 4.0)  # in each round first boards without scores below 0, and then boards with such
FEW_STEPS = 8  # boards ranked around each of these
SIZES = sorted(itertools.product(range(2, 6), range(1, 6)), key=math.prod)  # systems x tasks, the smallest first


def random_board(rule: str, generator: np.random.Generator, size: tuple[int, int] | None = None) -> ScoreMatrix:
    """Return a board of two to six systems on up to nine tasks, often with ties, equal strengths and duplicates.

    Args:
        rule: its key; cardinal rules get scores that grow ever faster.
        generator: of the random numbers.
        size: systems and tasks; drawn where it is None.
    """
    n, T = size or (int(generator.integers(2, MAX_SYSTEMS + 1)), int(generator.integers(1, MAX_TASKS + 1)))
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
    kinds: list[Any] = [
        [1] * T,
        generator.integers(1, 4, T),
        2 * generator.integers(1, 3, T),
        generator.integers(1, 9, T),
    ]
    weights = kinds[int(generator.integers(len(kinds)))]
    if size is None and generator.random() < 0.25:
        # Orders, better is higher, and weights that give few strengths to all pairs: many are equal.
        n, largest = int(generator.integers(3, 6)), int(generator.integers(1, 4))
        columns, weights = [], []
        for i, j in itertools.combinations(range(n), 2):
            margin = int(generator.integers(-largest, largest + 1))
            pair = [i, j] if margin > 0 else [j, i]
            rest = [k for k in range(n) if k not in pair]
            for order in ([*pair, *rest], [*rest[::-1], *pair]) if margin else ():
                columns.append([n - 1 - order.index(k) for k in range(n)])
                weights.append(abs(margin))
        levels, weights = (np.array(columns).T, weights) if columns else (np.zeros((n, 1), int), [1])
        T = levels.shape[1]
    scores = CARDINAL_SCORES[levels] if get_rule(rule).family == "cardinal" else levels + 1.0
    return ScoreMatrix(
        scores,
        system_names=list("ABCDEF"[:n]),
        weights=[int(weight) for weight in weights],
        minimum=[0] * T,
        maximum=[20] * T,
        chance=[0] * T,
        gamma=6.0,
    )


def lacked(rule: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield what a rule lacks by its record: options of `rank`, of each of its conventions, and the property's key."""
    least_options = {name: list(value) for name, value in get_rule(rule).least_options.items()}
    for number, options in enumerate(conventions(rule)):
        for key in PROPERTIES:
            if not entry(rule, key, options).holds:
                yield {**(options if number else {}), **least_options}, key


def smallest_witness(rule: str, key: str, options: Mapping[str, Any], *, seed: int = 0) -> StoredWitness | None:
    """Return a violation of a property and its board, one of the smallest that are met; None where none is.

    Args:
        rule: a key of RULES.
        key: of the property.
        options: those of `rank`.
        seed: of the boards; the same seed gives the same answer.
    """
    generator = np.random.default_rng(seed)
    for _, shift, size, _ in itertools.product(range(ROUNDS), SHIFTS, SIZES, range(TRIES)):
        board = random_board(rule, generator, size)
        board = board.with_values(board.values - shift) if shift else board
        if key == "non_dictatorship":  # which is about equal weights
            board = board.with_weights([1] * board.n_tasks)
        search = witness(rule, key, board, options=options, max_steps=FEW_STEPS)
        if search.witness is not None:
            whole = replace(search.witness, systems=None, tasks=None)
            part = part_of(board, search.witness.systems, search.witness.tasks)
            # Where a part of the board violates it, that is the smaller board; the task that is added may be elsewhere.
            is_of_part = (not whole.task or whole.task in part.task_names) and violates(part, whole)
            return StoredWitness(part, whole) if is_of_part else StoredWitness(board, search.witness)
    return None
