"""Every rule, policy, tie convention and variant against the definitions, on small matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking_engine import MISSING_POLICIES, RULES, TIES, rank, rank_all
from tests.ranking_engine import naive
from tests.ranking_engine.strategies import matrices

FEW = settings(max_examples=60, deadline=None)

POLICIES = st.sampled_from(list(MISSING_POLICIES))


@FEW
@given(matrices(), POLICIES)
def test_mean(matrix, policy):
    naive.assert_ranks(rank(matrix, "mean", missing=policy), naive.mean(matrix, policy), matrix.n_systems)


@FEW
@given(matrices(), POLICIES, st.sampled_from([None, *TIES]))
def test_plurality(matrix, policy, ties):
    expected = naive.plurality(matrix, ties or "worst", policy)
    naive.assert_ranks(rank(matrix, "plurality", missing=policy, ties=ties), expected, matrix.n_systems)


@FEW
@given(matrices(), POLICIES, st.sampled_from([None, *TIES]))
def test_borda(matrix, policy, ties):
    expected = naive.borda(matrix, ties or "worst", policy)
    naive.assert_ranks(rank(matrix, "borda", missing=policy, ties=ties), expected, matrix.n_systems)


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("variant", RULES["copeland"].options["variant"])
def test_copeland(variant, huge):
    @FEW
    @given(matrices(huge_weights=huge))
    def check(matrix):
        ranking = rank(matrix, "copeland", variant=variant)
        naive.assert_ranks(ranking, naive.copeland(matrix, variant) or None, matrix.n_systems)
        if ranking.status == "ranked":
            assert ranking.details == {"pairs_without_common_task": naive.pairs_without_common_task(matrix)}

    check()


@pytest.mark.parametrize("variant", RULES["minimax"].options["variant"])
def test_minimax(variant):
    @FEW
    @given(matrices())
    def check(matrix):
        ranking = rank(matrix, "minimax", variant=variant)
        naive.assert_ranks(ranking, naive.minimax(matrix, variant) or None, matrix.n_systems)

    check()


@FEW
@given(matrices())
def test_condorcet(matrix):
    ranking, winner = rank(matrix, "condorcet"), naive.condorcet_winner(matrix)
    n_scored = len(naive.scored_systems(matrix))
    status = "winner_only" if winner is not None else "no_winner" if n_scored else "undefined"
    assert ranking.status == status
    assert ranking.ranks.tolist() == [1 if i == winner else -1 for i in range(matrix.n_systems)]
    assert ranking.winners == (() if winner is None else (winner,))
    assert set(ranking.unranked_reasons) == set(range(matrix.n_systems)) - {winner}
    assert bool(ranking.reason) == (winner is None)


@FEW
@given(matrices(), POLICIES, st.sampled_from([None, *TIES]))
def test_rank_all_gives_every_rule_what_rank_gives_alone(matrix, policy, ties):
    together = rank_all(matrix, missing=policy, ties=ties)
    assert list(together) == list(RULES)
    for rule, ranking in together.items():
        alone = rank(matrix, rule, missing=policy, ties=ties)
        np.testing.assert_array_equal(ranking.scores, alone.scores)
        assert (ranking.status, ranking.reason, ranking.unranked_reasons, ranking.details) == (
            alone.status, alone.reason, alone.unranked_reasons, alone.details
        )  # fmt: skip


@FEW
@given(matrices(), st.randoms(use_true_random=False), POLICIES)
def test_the_order_of_systems_and_tasks_changes_nothing(matrix, random, policy):
    rows = random.sample(range(matrix.n_systems), matrix.n_systems)
    columns = random.sample(range(matrix.n_tasks), matrix.n_tasks)
    shuffled = rank_all(matrix.subset(rows, columns), missing=policy)
    for rule, ranking in rank_all(matrix, missing=policy).items():
        assert shuffled[rule].ranks.tolist() == ranking.ranks[rows].tolist()
        np.testing.assert_array_equal(shuffled[rule].scores, ranking.scores[rows])
