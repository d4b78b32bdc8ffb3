"""Whether leaving out a score pays: every stored example is worked again, and every "never" is tried to break."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking_engine import MISSING_POLICIES, RULES, UNRANKED, ScoreMatrix, rank
from ranking_engine.omission import (
    EXAMPLE_OPTIONS,
    NATIVE,
    NEVER,
    WITNESSES,
    can_reward_omission,
    gain,
    omission_sentence,
    policies_of,
    policy_sentence,
)
from tests.ranking_engine.omission_search import first_witness, tables, variants
from tests.ranking_engine.strategies import matrices

EVERY = [(rule.key, policy) for rule in RULES.values() for policy in policies_of(rule)]
COMPLETE_ONLY = [rule.key for rule in RULES.values() if rule.needs_complete]


def missing_of(policy):
    return "undefined" if policy == NATIVE else policy


def test_every_rule_and_policy_has_an_example_or_an_argument():
    assert {(rule, policy) for rule, policy in EVERY if policy not in NEVER} == set(WITNESSES)
    assert list(policies_of(RULES["borda"])) == list(MISSING_POLICIES)
    for rule in RULES:
        for policy in MISSING_POLICIES:
            expected = not RULES[rule].needs_complete or policy not in NEVER
            assert can_reward_omission(rule, policy) == expected


@pytest.mark.parametrize(("rule", "policy"), list(WITNESSES))
def test_in_every_example_the_last_on_a_task_gains_by_leaving_it_out(rule, policy):
    witness = WITNESSES[rule, policy]
    matrix, options = witness.matrix, EXAMPLE_OPTIONS.get(rule, {})
    column = matrix.values[:, witness.task]
    assert column.argmin() == 0
    assert all(len(set(task)) == matrix.n_systems for task in matrix.values.T)  # no ties within a task
    found = gain(matrix, 0, witness.task, rule, missing_of(policy), **options)
    assert (found.before, found.after) == (witness.before, witness.after)
    values = matrix.values.copy()
    values[0, witness.task] = np.nan
    before = rank(matrix, rule, missing=missing_of(policy), **options)
    after = rank(matrix.with_values(values), rule, missing=missing_of(policy), **options)
    if rule == "condorcet":
        assert (before.ranks[0], after.ranks[0]) == (UNRANKED, 1)
    else:
        j = found.overtaken[0]
        assert before.ranks[j] < before.ranks[0]
        assert after.ranks[0] < after.ranks[j]


def test_copeland_rewards_leaving_out_the_worst_task():
    """Worked by hand: A loses to B on both tasks and to C on one; without its first score, to C on none."""
    witness = WITNESSES["copeland", NATIVE]
    assert (witness.table, witness.task) == (((1, 2), (2, 3), (3, 1)), 0)
    assert rank(witness.matrix, "copeland").scores.tolist() == [-1, 1, 0]
    without = ScoreMatrix([[np.nan, 2], [2, 3], [3, 1]])
    assert rank(without, "copeland").scores.tolist() == [0, 1, -1]


def test_each_policy_says_in_one_sentence_what_leaving_out_does():
    assert omission_sentence("copeland", "median") == (
        "Copeland on common tasks can reward leaving out one's worst score."
    )
    assert omission_sentence("borda", "drop_systems") == (
        "Leaving out a score never improves one's own rank: whoever lacks a score on a voting task gets no rank."
    )
    for rule in RULES:
        for policy in MISSING_POLICIES:
            sentence = omission_sentence(rule, policy)
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert ("can reward" in sentence) == can_reward_omission(rule, policy)


def test_what_is_said_of_a_policy_holds_for_every_rule_that_needs_all_scores():
    for policy in MISSING_POLICIES:
        answers = {can_reward_omission(rule, policy) for rule in COMPLETE_ONLY}
        assert answers == {"never" not in policy_sentence(policy)}


@settings(max_examples=50, deadline=None)
@given(matrices(scales=True, groups=True), st.sampled_from(COMPLETE_ONLY), st.sampled_from(sorted(NEVER)), st.data())
def test_nobody_gains_where_gaps_leave_one_or_everybody_without_a_rank(matrix, rule, policy, data):
    """Why: with the gap the rule ranks nobody, or not the system with the gap; a score that does not vote is no gap."""
    i = data.draw(st.integers(0, matrix.n_systems - 1))
    t = data.draw(st.integers(0, matrix.n_tasks - 1))
    aggregation = data.draw(st.sampled_from(["basic", "weighted", "balanced", "two_step"]))
    options = {**EXAMPLE_OPTIONS.get(rule, {}), "aggregation": aggregation}
    assert gain(matrix, i, t, rule, policy, **options) is None


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "policy"), list(WITNESSES))
def test_the_search_finds_the_stored_examples(rule, policy):
    assert first_witness(rule, policy) == WITNESSES[rule, policy]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "policy", "options"),
    [(rule, policy, options) for rule, policy in WITNESSES for options in variants(rule)],
)
def test_no_variant_and_no_tie_convention_takes_the_reward_away(rule, policy, options):
    assert first_witness(rule, policy, **options) is not None


def test_the_search_goes_through_thousands_of_tables():
    sizes = [(len(table), len(table[0])) for table, _ in tables()]
    assert len(sizes) == 1816
    assert sum(n > 2 for n, _ in sizes) == 1577
