"""Where a rule ranks nobody it says so: its status is no `ranked`, and it has a reason."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import RULES, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.core.missing import MISSING_POLICIES
from ranking_engine.rules.rates import NO_RIVALS, WIN_RATE_VARIANTS
from tests.ranking_engine.strategies import matrices

APART = [[np.nan, 3], [2, np.nan]]  # no task compares the two


@pytest.mark.parametrize("options", [*({"variant": variant} for variant in WIN_RATE_VARIANTS[:3]), None], ids=str)
def test_without_rivals_rates_have_no_answer(options):
    rule = "relative_difference" if options is None else "win_rate"
    ranking = rank(ScoreMatrix(APART), rule, **(options or {}))
    assert (ranking.status, ranking.reason, ranking.winners) == ("undefined", NO_RIVALS, ())
    assert set(ranking.unranked_reasons.values()) == {NO_RIVALS}


@settings(max_examples=60, deadline=None)
@given(
    matrices(groups=True, scales=True),
    st.sampled_from(list(MISSING_POLICIES)),
    st.sampled_from(["basic", "balanced", "two_step"]),
)
def test_a_rule_is_ranked_only_where_somebody_is(matrix, missing, aggregation):
    for rule, ranking in rank_all(matrix, aggregation=aggregation, missing=missing).items():
        if ranking.status in ("ranked", "winner_only"):
            assert ranking.n_ranked, rule
            assert ranking.winners, rule
        else:
            assert (ranking.n_ranked, ranking.winners, bool(ranking.reason)) == (0, (), True), rule


@pytest.mark.parametrize("rule", [rule for rule in RULES if not RULES[rule].parameters])
@pytest.mark.parametrize("values", [APART, [[np.nan, np.nan]], [[-1.0], [0.0]]], ids=str)
def test_every_rule_says_why_it_ranks_nobody(rule, values):
    ranking = rank(ScoreMatrix(values), rule)
    assert (ranking.n_ranked > 0) == (ranking.status in ("ranked", "winner_only"))
    assert bool(ranking.reason) == (ranking.n_ranked == 0)


# --- Weights beyond the machine's integers -------------------------------------------------------------------------

PRIMES = [1000000007, 998244353, 1000000009, 999999937]
BEYOND = [f"1/{prime}" for prime in PRIMES]


def test_kemeny_orders_by_weights_of_a_thousand_digits():
    """With 40 denominators of 30 digits, integers over the least common one have more than a thousand."""
    generator = random.Random(0)
    weights = [Fraction(generator.randrange(1, 9), generator.randrange(10**29, 10**30)) for _ in range(40)]
    values = [[generator.randrange(1, 6) for _ in range(40)] for _ in range(6)]
    exact = rank(ScoreMatrix(values, weights=weights), "kemeny")
    near = rank(ScoreMatrix(values, weights=[round(weight * 10**36) for weight in weights]), "kemeny")
    assert (exact.status, exact.ranks.tolist()) == ("ranked", near.ranks.tolist())


@pytest.mark.parametrize("gap", [False, True])
def test_weights_beyond_64_bits_rank_as_their_proportions_do(gap):
    values = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1], [2, 2, 2, 2], [3, 1, 4, 2]])
    if gap:
        values[2, 3] = np.nan
    matrix = ScoreMatrix(values, weights=BEYOND)
    assert matrix.integer_weights.dtype == object
    near = ScoreMatrix(values, weights=[10**18 // prime for prime in PRIMES])
    for rule in listed_rules():
        assert rank(matrix, rule).ranks.tolist() == rank(near, rule).ranks.tolist(), rule
