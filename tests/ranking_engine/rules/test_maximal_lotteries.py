from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import ScoreMatrix, essential_set, rank, smith_set
from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.core.pairwise import Pairwise
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules import maximal_lotteries as rule
from tests.ranking_engine import naive, naive_lotteries
from tests.ranking_engine.strategies import matrices

BOARDS = [
    {"kind": "uniform"},
    {"kind": "uniform", "n_levels": 3},
    {"kind": "skill", "missing": 0.4},
    {"kind": "uniform", "weights": [1, 3, 7, "0.1", "1/13", 0, 19]},
]


def assert_as_defined(matrix):
    ranking = rank(matrix, "maximal_lotteries")
    left = len(naive.scored_systems(matrix))
    if not left:
        assert ranking.status == "undefined"
        return
    for k, (members, lotteries) in enumerate(naive_lotteries.rounds(matrix)):
        left -= len(members)
        shares = {i: 2 * (ranking.scores[i] - left) - 1 for i in members}
        assert sum(shares.values()) == pytest.approx(1)
        assert -1e-9 <= min(shares.values()) <= max(shares.values()) <= 1 + 1e-9
        if k == 0:
            assert ranking.winners == tuple(sorted(members)) == essential_set(matrix)
            assert ranking.details["unique"] is (len(lotteries) == 1)
            named = {matrix.system_names.index(name): Fraction(s) for name, s in ranking.details["lottery"].items()}
            assert naive_lotteries.is_nearest_to_equal(named, lotteries)
            assert {i: float(share) for i, share in named.items()} == pytest.approx(shares)
        exact = {i: Fraction(share).limit_denominator(10**6) for i, share in shares.items()}
        close = [{i: share * (1 + Fraction(1, 10**6)) for i, share in one.items()} for one in lotteries]
        assert naive_lotteries.is_nearest_to_equal(exact, close)
    assert left == 0
    one_of_many = rank_all(matrix, ["maximal_lotteries"], seconds={"maximal_lotteries": 1.0})["maximal_lotteries"]
    assert np.array_equal(one_of_many.ranks, ranking.ranks)
    assert one_of_many.winners == ranking.winners


@pytest.mark.parametrize("huge", [False, True])
def test_small_boards_have_the_lotteries_of_the_definition(huge):
    @settings(max_examples=60, deadline=None)
    @given(matrices(huge_weights=huge))
    def check(matrix):
        assert_as_defined(matrix)

    check()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_random_boards_have_the_lotteries_of_the_definition(board, seed):
    assert_as_defined(random_matrix(5, 7, seed=seed, **board))


@pytest.mark.parametrize("n_levels", [2, 5, 30])
@pytest.mark.parametrize("n", [1, 2, 7, 40, 60])
def test_rounds_by_groups_are_those_of_one_lottery_after_the_other(n, n_levels):
    margins = Pairwise.of(random_matrix(n, 8, seed=n, kind="skill", n_levels=n_levels)).margins
    left, one_by_one = np.arange(n), []
    while left.size:
        lottery = rule.maximal_lottery(margins, left)
        one_by_one.append((lottery.members, lottery.shares))
        left = np.setdiff1d(left, lottery.members)
    by_groups = rule.rounds_of(margins, np.arange(n))
    assert [(tuple(members.tolist()), shares) for members, shares in by_groups] == one_by_one


@pytest.mark.parametrize("seed", range(2))
def test_larger_boards_are_proven_in_integers(seed):
    matrix = random_matrix(60, 9, seed=seed, kind="uniform", n_levels=30)
    margins = Pairwise.of(matrix).margins
    lottery = rule.maximal_lottery(margins, np.arange(60))
    game = [[Fraction(int(margin)) for margin in row] for row in margins.tolist()]
    for shares in (lottery.shares, lottery.proof):
        assert sum(shares) == 1
        whole = [Fraction(0)] * 60
        for i, share in zip(lottery.members, shares, strict=True):
            whole[i] = share
        leads = naive_lotteries.leads(game, whole)
        assert min([*leads, *shares]) >= 0
    assert min(lottery.proof) > 0
    assert min(leads[j] for j in range(60) if j not in lottery.members) == lottery.least_lead > 0
    assert set(lottery.members) <= set(smith_set(matrix))


def test_the_order_of_rows_and_the_names_decide_nothing():
    matrix = random_matrix(12, 6, seed=3, kind="uniform", n_levels=3)
    order = np.random.default_rng(0).permutation(12)
    moved = ScoreMatrix(matrix.values[order], weights=matrix.weights)
    np.testing.assert_allclose(
        rank(moved, "maximal_lotteries").scores, rank(matrix, "maximal_lotteries").scores[order], rtol=1e-12
    )


@pytest.mark.parametrize("max_faces", [3_000, 0], ids=["all faces", "floats"])
def test_the_lottery_nearest_to_equal_shares_may_be_on_the_edge(monkeypatch, max_faces):
    # B and C draw; B beats A by 2, A beats C by 3: C may have up to 2/5, where the lead over A is 0.
    game = np.array([[0, -2, 3], [2, 0, 0], [-3, 0, 0]])
    monkeypatch.setattr(rule, "MAX_FACES", max_faces)
    lottery = rule.maximal_lottery(game, np.arange(3))
    assert (lottery.members, lottery.shares) == ((1, 2), (Fraction(3, 5), Fraction(2, 5)))
    assert not lottery.is_unique


@pytest.mark.parametrize("seed", range(12))
def test_the_lottery_that_floats_name_is_the_nearest_of_all_faces(monkeypatch, seed):
    # Many draws, so that many lotteries are maximal.
    draw = np.random.default_rng(seed)
    above = np.triu(draw.integers(-1, 2, size=(9, 9)) * draw.integers(0, 2, size=(9, 9)), 1)
    game, lotteries = above - above.T, []
    for few in (0, 10**9):
        monkeypatch.setattr(rule, "FEW_FACES", few)
        monkeypatch.setattr(rule, "MAX_FACES", 10**9)
        lotteries.append(rule.maximal_lottery(game, np.arange(9)))
    assert lotteries[0].shares == lotteries[1].shares


def test_too_many_systems_that_matter_leave_the_ranking_undefined(monkeypatch):
    circle = ScoreMatrix([[3, 1, 2], [2, 3, 1], [1, 2, 3], [0, 0, 0]])
    monkeypatch.setattr(rule, "MAX_MEMBERS", 1)
    assert essential_set(circle) == (0, 1, 2)  # solved in integers
    monkeypatch.setattr(rule, "MAX_EXACT", 3)
    ranking = rank(circle, "maximal_lotteries")
    assert (ranking.status, essential_set(circle)) == ("undefined", None)
    assert ranking.reason == "3 systems share the maximal lottery; at most 1 are solved"
    monkeypatch.setattr(rule, "_STRONGEST", 1)
    monkeypatch.setattr(rule, "MAX_CANDIDATES", 2)
    assert rank(circle, "maximal_lotteries").reason == "more than 2 systems matter for the maximal lottery"
