from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import Pairwise, ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules import locked_victories, paths
from ranking_engine.rules.locked_victories import locked_by_name, strongest_paths
from ranking_engine.rules.paths import STRENGTHS, victory_levels
from tests.ranking_engine import naive, naive_consensus
from tests.ranking_engine.strategies import matrices

FEW = settings(max_examples=60, deadline=None)
BOARDS = [
    {"kind": "uniform"},
    {"kind": "uniform", "n_levels": 3},
    {"kind": "skill", "missing": 0.4},
    {"kind": "uniform", "weights": [1, 3, 7, "0.1", "1/13", 0, 19]},
]


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_schulze_is_as_defined(strength, huge):
    @FEW
    @given(matrices(huge_weights=huge))
    def check(matrix):
        expected = naive_consensus.schulze(matrix, strength) or None
        ranking = rank(matrix, "schulze", strength=strength)
        naive.assert_ranks(ranking, expected, matrix.n_systems)
        assert ranking.winners == naive_consensus.schulze_winners(matrix, strength)

    check()


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_ranked_pairs_is_as_defined(strength, huge):
    @FEW
    @given(matrices(huge_weights=huge))
    def check(matrix):
        assert_ranked_pairs(matrix, strength)

    check()


def assert_ranked_pairs(matrix: ScoreMatrix, strength: str) -> None:
    ranking = rank(matrix, "ranked_pairs", strength=strength)
    expected, decided = naive_consensus.ranked_pairs(matrix, strength)
    naive.assert_ranks(ranking, expected or None, matrix.n_systems)
    if ranking.status == "ranked":
        assert ranking.details == {
            "pairs_without_common_task": naive.pairs_without_common_task(matrix),
            "decided_by_name": decided,
            "winners_complete": ranking.details["winners_complete"],
        }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_boards_with_long_circles_are_as_defined(board, seed):
    matrix = random_matrix(8, 7, seed=seed, **board)
    for strength in STRENGTHS:
        ranking = rank(matrix, "schulze", strength=strength)
        naive.assert_ranks(ranking, naive_consensus.schulze(matrix, strength), 8)
        assert_ranked_pairs(matrix, strength)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 12),
    st.integers(0, 99),
    st.sampled_from(BOARDS),
    st.sampled_from([1, 8]),
)
def test_components_and_paths_give_the_same_counts_of_schulze(n, T, seed, board, leaf):
    options = board if T == 7 else {key: value for key, value in board.items() if key != "weights"}
    matrix = random_matrix(n, T, seed=seed, **options)
    for strength in STRENGTHS:
        assert_same_by_components_and_paths(matrix, strength, leaf)


def test_a_board_beyond_the_leaf_and_the_word_has_the_same_counts_by_components():
    for weights in (None, [100 + t * t for t in range(30)]):
        assert_same_by_components_and_paths(random_matrix(230, 30, seed=5, weights=weights), "margins", paths._LEAF)


def assert_same_by_components_and_paths(matrix: ScoreMatrix, strength: str, leaf: int) -> None:
    by_paths = rank(matrix, "schulze", strength=strength)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "FEW_SYSTEMS", 0)
        patch.setattr(paths, "_LEAF", leaf)
        by_components = rank(matrix, "schulze", strength=strength)
    np.testing.assert_array_equal(by_components.scores, by_paths.scores)
    assert by_components.winners == by_paths.winners


@pytest.mark.parametrize("board", BOARDS, ids=str)
@FEW
@given(n=st.integers(1, 40), T=st.integers(1, 9), seed=st.integers(0, 99))
def test_victories_that_close_no_circle_can_be_locked_at_once(board, n, T, seed):
    options = board if T == 7 else {key: value for key, value in board.items() if key != "weights"}
    levels = victory_levels(Pairwise.of(random_matrix(n, T, seed=seed, **options)), "margins")
    at_once = locked_by_name(levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locked_victories, "FEW_SYSTEMS", 0)
        one_by_one = locked_by_name(levels)
    assert (at_once[0].tolist(), at_once[1]) == (one_by_one[0].tolist(), one_by_one[1])


@FEW
@given(st.integers(1, 5), st.data())
def test_the_strongest_path_is_the_best_of_all_chains(n, data):
    rows = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    levels = np.array(data.draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.uint8)
    np.fill_diagonal(levels, 0)
    path = strongest_paths(levels)
    for i, j in itertools.permutations(range(n), 2):
        between = [k for k in range(n) if k not in (i, j)]
        chains = [(i, *some, j) for size in range(n - 1) for some in itertools.permutations(between, size)]
        assert path[i, j] == max(min(levels[a, b] for a, b in itertools.pairwise(chain)) for chain in chains)


@pytest.mark.parametrize(
    ("n", "weights"), [(70, None), (16, [100 + t * t for t in range(12)])], ids=["equal", "unequal"]
)
def test_ranked_pairs_of_larger_boards_is_as_defined(n, weights):
    assert_ranked_pairs(random_matrix(n, 12, seed=3, kind="uniform", weights=weights), "margins")


def test_levels_order_victories_by_strength():
    # A beats B by 3 to 2, and each beats C by 2 to 0
    nan = float("nan")
    matrix = ScoreMatrix([[2, 2, 2, 1, 1], [1, 1, 1, 2, 2], [nan, nan, nan, 0, 0]])
    assert victory_levels(Pairwise.of(matrix), "margins").tolist() == [[0, 1, 2], [0, 0, 2], [0, 0, 0]]
    assert victory_levels(Pairwise.of(matrix), "winning_votes").tolist() == [[0, 2, 1], [0, 0, 1], [0, 0, 0]]


def test_schulze_and_ranked_pairs_settle_the_circle_of_tideman_and_schulze():
    # 45 tasks, the example of Schulze 2011, section 3.1: E > A > C > B > D
    orders = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}
    values = [[5 - order.index(name) for order in orders] for name in "ABCDE"]
    matrix = ScoreMatrix(values, weights=list(orders.values()), system_names=list("ABCDE"))
    for strength in STRENGTHS:
        assert rank(matrix, "schulze", strength=strength).ranks.tolist() == [2, 4, 3, 5, 1]
    assert rank(matrix, "ranked_pairs").details["decided_by_name"] is False


def test_whom_nobody_beats_wins_whatever_the_score():
    """A beats C, and B draws with both: B's score is less, but nobody beats it."""
    matrix = ScoreMatrix([[3, 2], [1, 3], [2, 1]], system_names=list("ABC"))
    for rule in ("schulze", "ranked_pairs"):
        ranking = rank(matrix, rule)
        assert ranking.scores.tolist() == [1, 0, -1]
        assert ranking.winners == (0, 1)


def test_a_circle_of_equal_victories_is_cut_by_name_and_says_so():
    matrix = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3]], system_names=["b", "c", "a"])
    ranking = rank(matrix, "ranked_pairs")  # b > c > a > b; a > b comes first by name, then b > c
    assert ranking.ranks.tolist() == [2, 3, 1]
    assert ranking.details["decided_by_name"] is True
    assert rank(matrix, "schulze").ranks.tolist() == [1, 1, 1]


def test_equal_victories_without_a_circle_need_no_names():
    ranking = rank(ScoreMatrix([[3.0], [2.0], [1.0]]), "ranked_pairs")
    assert (ranking.scores.tolist(), ranking.details["decided_by_name"]) == ([2, 0, -2], False)
    tied = rank(ScoreMatrix([[1.0], [1.0]]), "ranked_pairs")
    assert (tied.ranks.tolist(), tied.details["decided_by_name"]) == ([1, 1], False)
