"""What each task adds to a rule's scores adds up to these scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import AGGREGATIONS, MISSING_POLICIES, RULES, TIES, UNRANKED, rank
from ranking_engine.catalogue.dispatch import task_contributions
from ranking_engine.core.aggregation import reweighted
from tests.ranking_engine.strategies import matrices

SUMS = [key for key, rule in RULES.items() if rule.task_sum is not None]
VECTOR = {"positional": {"vector": (5.0, 3.0, 1.0)}}
WEIGHTED = [aggregation for aggregation in AGGREGATIONS if aggregation != "two_step"]


def test_means_positional_rules_and_rates_are_sums_over_tasks():
    means = {"mean", "geometric_mean", "harmonic_mean", "normalized_mean", "optimality_gap"}
    rates = {"win_rate", "relative_difference", "compatible_borda"}
    positional = {key for key, rule in RULES.items() if rule.family == "positional"}
    assert means | rates | positional <= set(SUMS)


@pytest.mark.parametrize("rule", SUMS)
@settings(max_examples=40, deadline=None)
@given(
    matrix=matrices(groups=True, scales=True),
    aggregation=st.sampled_from(WEIGHTED),
    missing=st.sampled_from(list(MISSING_POLICIES)),
    ties=st.sampled_from([None, *TIES]),
)
def test_contributions_add_up_to_the_scores_of_the_rule(rule, matrix, aggregation, missing, ties):
    if not matrix.votes.any():
        return
    options = VECTOR.get(rule, {})
    ranking = rank(matrix, rule, aggregation=aggregation, missing=missing, ties=ties, **options)
    if ranking.status != "ranked":
        return
    weighed = reweighted(matrix, aggregation)
    contributions = task_contributions(weighed, [rule], missing=missing, ties=ties, options={rule: options}).get(rule)
    if contributions is None:  # rates divide by what each system has, where scores are missing
        assert rule in ("win_rate", "relative_difference", "compatible_borda")
        assert np.isnan(weighed.scores[weighed.has_score][:, weighed.votes]).any()
        return
    ranked = ranking.ranks != UNRANKED
    np.testing.assert_allclose(contributions.scores[ranked], ranking.scores[ranked], rtol=1e-9, atol=1e-12)
    sums = contributions.values.sum(axis=1)
    sum_of = {"geometric_mean": np.log, "harmonic_mean": lambda score: -1 / score}.get(rule, np.array)
    expected = sum_of(ranking.scores[contributions.systems])
    known = ranked[contributions.systems]
    np.testing.assert_allclose(sums[known], expected[known], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("variant", RULES["win_rate"].options["variant"])
@settings(max_examples=20, deadline=None)
@given(matrix=matrices(gaps=False))
def test_contributions_add_up_to_every_variant_of_the_win_rate(variant, matrix):
    if not matrix.votes.any():
        return
    ranking = rank(matrix, "win_rate", variant=variant)
    contributions = task_contributions(matrix, ["win_rate"], options={"win_rate": {"variant": variant}})["win_rate"]
    ranked = ranking.ranks != UNRANKED
    np.testing.assert_allclose(contributions.scores[ranked], ranking.scores[ranked], rtol=1e-9, atol=1e-12)
