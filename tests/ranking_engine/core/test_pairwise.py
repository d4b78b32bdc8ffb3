from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import AGGREGATIONS, MISSING_POLICIES, Pairwise, ScoreMatrix, rank_all
from ranking_engine.core.aggregation import reweighted
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine import naive
from tests.ranking_engine.strategies import matrices

FEW = settings(max_examples=60, deadline=None)
PAIRWISE_RULES = ("copeland", "minimax", "condorcet", "baldwin", "nanson", "win_rate")


def assert_same_as_naive(pairwise: Pairwise, matrix: ScoreMatrix) -> None:
    expected = naive.wins(matrix)
    n = matrix.n_systems
    got = {(i, j): Fraction(int(pairwise.wins[i, j]), pairwise.denominator) for i in range(n) for j in range(n)}
    assert got == expected
    better = naive.beats(matrix)
    assert {(i, j): bool(pairwise.beats[i, j]) for i in range(n) for j in range(n)} == better
    assert (pairwise.margins == pairwise.wins - pairwise.wins.T).all()
    assert np.flatnonzero(pairwise.scored).tolist() == naive.scored_systems(matrix)


@FEW
@given(matrices())
def test_wins_are_the_weights_of_the_tasks_won(matrix):
    assert_same_as_naive(Pairwise.of(matrix), matrix)


@FEW
@given(matrices(huge_weights=True))
def test_weights_beyond_64_bits_are_summed_exactly(matrix):
    assert_same_as_naive(Pairwise.of(matrix), matrix)


@pytest.mark.parametrize(
    "weights",
    [
        [1] * 40,
        [1] * 20 + list(range(1, 21)),
        [Fraction(1, k) for k in range(1, 41)],
        [2**33 + k for k in range(40)],
        [2**27 + k % 2 for k in range(40)],
    ],
    ids=["equal", "mixed", "fractions beyond 2^62", "int64", "above 2^31"],
)
def test_counting_in_bytes_and_packing_in_tables_give_the_same_sums(weights):
    matrix = random_matrix(12, 40, seed=1, missing=0.2, n_levels=6, weights=weights)
    assert_same_as_naive(Pairwise.of(matrix), matrix)


def test_more_tasks_than_a_byte_counts_and_more_systems_than_a_block_holds():
    matrix = random_matrix(400, 300, seed=2, n_levels=300)
    scores = matrix.scores
    expected = sum((scores[:, None, t] > scores[None, :, t]).astype(np.int64) for t in range(300))
    np.testing.assert_array_equal(Pairwise.of(matrix).wins, expected)


def test_weights_that_floats_would_add_up_wrongly_tie_exactly():
    # 0.1 + 0.2 against 0.3: a tie, although 0.1 + 0.2 > 0.3 in floating point
    matrix = ScoreMatrix([[1, 1, 0], [0, 0, 1]], weights=[0.1, 0.2, 0.3])
    assert not Pairwise.of(matrix).beats.any()


@FEW
@given(matrices(), matrices())
def test_an_update_is_what_a_fresh_comparison_gives(matrix, other):
    row = np.resize(other.values[0], matrix.n_tasks)
    pairwise = Pairwise.of(matrix)
    for i in range(matrix.n_systems):
        changed = matrix.replace_row(i, row)
        assert_same_as_naive(pairwise.updated(changed, i), changed)
    longer = matrix.with_row("newcomer", row)
    assert_same_as_naive(pairwise.updated(longer, matrix.n_systems), longer)


@FEW
@given(matrices(), matrices())
def test_several_systems_may_change_and_join_at_once(matrix, other):
    row = np.resize(other.values[0], matrix.n_tasks)
    changed = matrix.replace_row(0, row).with_row("first", row).with_row("second", matrix.values[-1])
    updated = Pairwise.of(matrix).updated(changed, [0, matrix.n_systems, matrix.n_systems + 1])
    assert_same_as_naive(updated, changed)


@pytest.mark.parametrize("systems", [[1], [1, 2, 4], [-1, 2, 3], []])
def test_an_update_refuses_newcomers_that_are_not_named_and_systems_that_are_not_there(systems):
    matrix = ScoreMatrix([[1.0], [2.0]])
    with pytest.raises(ValueError, match="`matrix` must differ from the compared one in `systems` alone"):
        Pairwise.of(matrix).updated(matrix.with_row("C", [3.0]).with_row("D", [4.0]), systems)


def test_an_update_refuses_a_matrix_of_another_size():
    pairwise = Pairwise.of(ScoreMatrix([[1.0], [2.0]]))
    with pytest.raises(ValueError, match="`matrix` must differ from the compared one in `systems` alone"):
        pairwise.updated(ScoreMatrix([[1.0]]), 0)


@FEW
@given(matrices())
def test_pairs_without_a_common_task_are_counted(matrix):
    pairwise = Pairwise.of(matrix)
    assert pairwise.n_pairs_without_common_task == naive.pairs_without_common_task(matrix)
    assert pairwise.rivals_without_common_task.sum() == 2 * naive.pairs_without_common_task(matrix)


def test_an_update_refuses_other_weights():
    pairwise = Pairwise.of(ScoreMatrix([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="`matrix` must differ from the compared one in `systems` alone"):
        pairwise.updated(ScoreMatrix([[1.0, 2.0], [2.0, 1.0]], weights=[1, 2]), 0)


@FEW
@given(matrices())
def test_the_comparison_of_some_systems_is_part_of_that_of_all(matrix):
    kept = np.arange(0, matrix.n_systems, 2)
    assert_same_as_naive(Pairwise.of(matrix).subset(kept), matrix.subset(kept))


@settings(max_examples=30, deadline=None)
@given(matrices(), matrices(), st.sampled_from(list(MISSING_POLICIES)))
def test_rankings_of_an_updated_comparison_are_those_of_a_fresh_one(matrix, other, missing):
    row = np.resize(other.values[0], matrix.n_tasks)
    changed, longer = matrix.replace_row(0, row), matrix.with_row("newcomer", row)
    before = Pairwise.of(matrix)
    for after, i in ((changed, 0), (longer, matrix.n_systems)):
        expected = rank_all(after, PAIRWISE_RULES, missing=missing)
        got = rank_all(after, PAIRWISE_RULES, missing=missing, pairwise=before.updated(after, i))
        for rule, ranking in got.items():
            np.testing.assert_array_equal(ranking.scores, expected[rule].scores)
            assert (ranking.status, ranking.details) == (expected[rule].status, expected[rule].details)


@settings(max_examples=30, deadline=None)
@given(matrices(groups=True), matrices(), st.sampled_from(list(AGGREGATIONS)))
def test_an_updated_comparison_serves_every_aggregation(matrix, other, aggregation):
    changed = matrix.replace_row(0, np.resize(other.values[0], matrix.n_tasks))
    before, after = (m if aggregation == "two_step" else reweighted(m, aggregation) for m in (matrix, changed))
    known = Pairwise.of(before).updated(after, 0)
    expected = rank_all(changed, PAIRWISE_RULES, aggregation=aggregation)
    got = rank_all(changed, PAIRWISE_RULES, aggregation=aggregation, pairwise=known)
    for rule, ranking in got.items():
        np.testing.assert_array_equal(ranking.scores, expected[rule].scores)


def test_rankings_refuse_the_comparison_of_another_matrix():
    matrix = ScoreMatrix([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="`pairwise` is not the comparison of `matrix`"):
        rank_all(matrix, ["copeland"], pairwise=Pairwise.of(matrix.with_weights([1, 2])))
