from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import Pairwise, ScoreMatrix, shortest_cycles, smith_set
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine.naive import beats, scored_systems
from tests.ranking_engine.strategies import matrices


def all_cycles(matrix):
    """Every cycle of the majority relation, by trying all orders of all sets; the least index first."""
    better, systems = beats(matrix), scored_systems(matrix)
    return [
        order
        for size in range(3, len(systems) + 1)
        for order in itertools.permutations(systems, size)
        if order[0] == min(order)
        if all(better[i, j] for i, j in zip(order, (*order[1:], order[0]), strict=True))
    ]


def assert_as_defined(matrix):
    every, cycles = all_cycles(matrix), shortest_cycles(matrix)
    assert set(cycles) <= set(every)
    assert list(cycles) == sorted(set(cycles), key=lambda cycle: (len(cycle), cycle))
    for i in scored_systems(matrix):
        lengths = [len(cycle) for cycle in every if i in cycle]
        assert min((len(cycle) for cycle in cycles if i in cycle), default=0) == min(lengths, default=0)


@settings(max_examples=60, deadline=None)
@given(matrices(max_tasks=4))
def test_every_system_on_a_cycle_has_a_shortest_one(matrix):
    assert_as_defined(matrix)


@pytest.mark.parametrize("seed", range(6))
def test_boards_with_draws_and_gaps_have_the_cycles_of_the_definition(seed):
    assert_as_defined(random_matrix(7, 3, seed=seed, kind="uniform", n_levels=4, missing=0.2))


def test_a_long_circle_is_one_cycle_and_an_order_has_none():
    names = [f"s{k}" for k in range(5)]
    rows = np.full((5, 5), np.nan)  # task t compares system t with the next one alone
    for t in range(5):
        rows[t, t], rows[(t + 1) % 5, t] = 2, 1
    assert shortest_cycles(ScoreMatrix(rows, system_names=names)) == ((0, 1, 2, 3, 4),)
    assert shortest_cycles(ScoreMatrix([[3], [2], [1]])) == ()


def test_only_as_many_as_asked_for_are_given_short_ones_first():
    matrix = random_matrix(30, 9, seed=1, kind="uniform")
    every = shortest_cycles(Pairwise.of(matrix))
    assert len(smith_set(matrix)) > 3
    assert shortest_cycles(matrix, 2) == every[:2]
