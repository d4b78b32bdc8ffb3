"""Every rule, policy, tie convention and variant against the definitions, on small matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import MISSING_POLICIES, RULES, TIES, listed_rules, rank, rank_all
from tests.ranking_engine import naive
from tests.ranking_engine.strategies import matrices

FEW = settings(max_examples=60, deadline=None)

POSITIVE = [0.5, 1.0, 2.0, 3.0, 81.0]
EXACT = ("threshold", "baldwin", "nanson", "instant_runoff", "coombs")
POLICIES = st.sampled_from(list(MISSING_POLICIES))


@FEW
@given(matrices(), POLICIES)
def test_mean(matrix, policy):
    naive.assert_ranks(rank(matrix, "mean", missing=policy), naive.mean(matrix, policy), matrix.n_systems)


@FEW
@given(matrices(), POLICIES)
def test_median(matrix, policy):
    expected = naive.weighted_median(matrix, policy)
    naive.assert_ranks(rank(matrix, "median", missing=policy), expected, matrix.n_systems)


@pytest.mark.parametrize("rule", ["geometric_mean", "harmonic_mean", "worst_task"])
def test_other_means_and_the_worst_task(rule):
    @FEW
    @given(matrices(cells=POSITIVE), POLICIES)
    def agrees(matrix, policy):
        expected = getattr(naive, rule)(matrix, policy)
        naive.assert_ranks(rank(matrix, rule, missing=policy), expected, matrix.n_systems)

    agrees()


@pytest.mark.parametrize("rule", ["normalized_mean", "optimality_gap"])
def test_rules_on_scales(rule):
    @FEW
    @given(matrices(scales=True), POLICIES)
    def check(matrix, policy):
        expected = getattr(naive, rule)(matrix, policy)
        naive.assert_ranks(rank(matrix, rule, missing=policy), expected, matrix.n_systems)

    check()


@pytest.mark.parametrize(
    ("rule", "huge"),
    [
        *((rule, False) for rule in ("plurality", "borda", "dowdall", "average_rank", "veto", *EXACT)),
        *((rule, True) for rule in EXACT),
    ],
)
def test_rules_on_positions(rule, huge):
    @FEW
    @given(matrices(huge_weights=huge), POLICIES, st.sampled_from([None, *TIES]))
    def check(matrix, policy, ties):
        expected = getattr(naive, rule)(matrix, ties or RULES[rule].tie_convention, policy)
        naive.assert_ranks(rank(matrix, rule, missing=policy, ties=ties), expected, matrix.n_systems)

    check()


@FEW
@given(matrices(), st.sampled_from([(12.0, 10.0, 8.0), (1.0, 1.0, 0.25), (3.0,)]), st.sampled_from(list(TIES)))
def test_positional(matrix, vector, ties):
    expected = naive.positional(matrix, lambda p, n: Fraction(([*vector] + [0] * n)[p - 1]), ties)
    naive.assert_ranks(rank(matrix, "positional", vector=vector, ties=ties), expected, matrix.n_systems)


@FEW
@given(matrices(), st.sampled_from(list(TIES)))
def test_the_threshold_rule_lists_the_weights_that_it_compares(matrix, ties):
    ranking, expected = rank(matrix, "threshold", ties=ties), naive.weights_by_position(matrix, ties)
    n = len(expected or ())
    given = {
        matrix.system_names[i]: {p: float(w) for p, w in zip(range(n, 1, -1), weights, strict=True) if w}
        for i, weights in (expected or {}).items()
    }
    assert ranking.details.get("weights_by_position", {}) == given


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
    assert list(together) == listed_rules()
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
