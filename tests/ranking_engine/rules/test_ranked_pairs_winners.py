from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

from ranking_engine import Pairwise, ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.paths import STRENGTHS, victory_levels
from ranking_engine.rules.ranked_pairs_winners import winners_over_orders
from tests.ranking_engine import naive_consensus
from tests.ranking_engine.strategies import matrices

CIRCLE = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3]], system_names=["b", "c", "a"])


@settings(max_examples=60, deadline=None)
@given(matrices(max_systems=4), st.sampled_from(STRENGTHS))
def test_winners_are_those_of_every_order_of_equal_victories(matrix, strength):
    ranking = rank(matrix, "ranked_pairs", strength=strength)
    assume(ranking.status == "ranked")
    assert ranking.winners == naive_consensus.ranked_pairs_winners(matrix, strength)
    assert ranking.details["winners_complete"] is True


@st.composite
def boards_of_equal_victories(draw):
    """Boards of few levels: how strongly each pair is decided, from -2 to 2, drawn directly."""
    n = draw(st.integers(3, 6))
    most = draw(st.integers(1, 2))
    margins = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(i):
            margins[i, j] = draw(st.integers(-most, most))
            margins[j, i] = -margins[i, j]
    return margins


def board_of(margins) -> ScoreMatrix:
    """A board that has these margins: two tasks for each pair (McGarvey 1953)."""
    n = len(margins)
    columns, weights = [[0.0] * n], [1]
    for i in range(n):
        for j in range(n):
            if margins[i, j] > 0:
                rest = [k for k in range(n) if k not in (i, j)]
                for order in ([i, j, *rest], [*rest[::-1], i, j]):
                    columns.append([float(-order.index(k)) for k in range(n)])
                    weights.append(int(margins[i, j]))
    return ScoreMatrix(np.array(columns).T, weights=weights)


@settings(max_examples=150, deadline=None)
@given(boards_of_equal_victories())
@example(np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
def test_winners_are_the_tops_of_stacks_also_without_a_lucky_order(margins):
    """The second search has neither winners by name nor orders that try to help: it looks for every candidate."""
    board = board_of(margins)
    assert (Pairwise.of(board).margins == 2 * margins).all()
    tops = naive_consensus.tops_of_stacks(board)
    assert rank(board, "ranked_pairs").winners == tops
    levels = victory_levels(Pairwise.of(board), "margins")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ranking_engine.rules.ranked_pairs_winners._TRIES", 0)
        assert winners_over_orders(levels, []) == (list(tops), True)


@pytest.mark.parametrize("seed", range(6))
def test_names_choose_no_winner(seed):
    board = random_matrix(9, 6, seed=seed, kind="uniform")
    winners = {board.system_names[i] for i in rank(board, "ranked_pairs").winners}
    turned = ScoreMatrix(board.values[::-1], system_names=board.system_names)
    mirrored = {board.system_names[8 - i] for i in rank(turned, "ranked_pairs").winners}
    assert winners == mirrored


def test_all_three_of_a_circle_of_equal_victories_win_and_the_order_is_that_by_name():
    ranking = rank(CIRCLE, "ranked_pairs")
    assert ranking.winners == (0, 1, 2)
    assert ranking.ranks.tolist() == [2, 3, 1]
    assert (ranking.details["decided_by_name"], ranking.details["winners_complete"]) == (True, True)


def test_a_search_that_ends_too_early_names_only_winners_and_says_so():
    board = random_matrix(14, 4, seed=1, kind="uniform")
    levels = victory_levels(Pairwise.of(board), "margins")
    every, is_complete = winners_over_orders(levels, [], 10**7)
    assert is_complete
    assert len(every) > 1
    for allowance in (0, 50, 500, 5_000):
        some, is_all = winners_over_orders(levels, every[:1], allowance)
        assert set(every[:1]) <= set(some) <= set(every)
        assert is_all is False or some == every


def test_a_board_of_a_thousand_systems_of_equal_victories_ends_and_says_what_it_does_not_know():
    """A circle of three groups of a board: nearly every victory is as strong as the others."""
    ranking = rank(random_matrix(400, 3, seed=2, kind="uniform"), "ranked_pairs")
    assert ranking.details["decided_by_name"] is True
    first_by_name = min(np.flatnonzero(ranking.ranks == 1).tolist())
    assert first_by_name in ranking.winners
