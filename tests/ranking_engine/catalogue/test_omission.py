"""Whether leaving out a score pays: every stored example is worked again, and every "never" is tried to break."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import MISSING_POLICIES, RULES, UNRANKED, ScoreMatrix, rank
from ranking_engine.catalogue.omission import (
    NATIVE,
    NEVER,
    can_reward_omission,
    first_witness,
    gain,
    omission_sentence,
    omission_witness,
    policies_of,
    policy_sentence,
    searched_policies,
    small_tables,
)
from tests.ranking_engine.strategies import matrices

REWARDED = [(rule.key, policy) for rule in RULES.values() for policy in searched_policies(rule)]
COMPLETE_ONLY = [rule.key for rule in RULES.values() if rule.needs_complete]


def variants(rule):
    """Every option of `rule` that is not the default, one at a time; the tie conventions among them."""
    options = [{name: value} for name, values in RULES[rule].options.items() for value in values[1:]]
    ties = {"worst", "best", "average"} - {RULES[rule].tie_convention}
    return options + [{"ties": convention} for convention in sorted(ties) if RULES[rule].tie_convention]


def missing_of(policy):
    return "undefined" if policy == NATIVE else policy


def test_every_rule_and_policy_has_an_example_or_an_argument():
    assert all(omission_witness(rule, policy) for rule, policy in REWARDED)
    assert list(policies_of(RULES["borda"])) == list(MISSING_POLICIES)
    for rule in RULES:
        for policy in MISSING_POLICIES:
            expected = not RULES[rule].needs_complete or policy not in NEVER
            assert can_reward_omission(rule, policy) == expected


def boards_with_a_slump(n_boards, n=8, T=7):
    """Boards of systems of which each is better than the one before, and one of the better ones fails on one task."""
    scale = {"gamma": 80.0, "minimum": [0] * T, "maximum": [200] * T, "chance": [0] * T}
    for seed in range(n_boards):
        generator = np.random.default_rng(seed)
        values = np.round(50 + 5 * np.arange(n)[:, None] + generator.normal(scale=4, size=(n, T)))
        i = int(generator.integers(n - 4, n))
        if seed % 2:  # it is far ahead on some tasks, and closely behind the best on the others
            i = n - 2
            values[i, 1:] = values[n - 1, 1:] + [-1, -1, -1, 12, 12, 12]
        values[i, 0] = values[:, 0].min() - 1
        yield i, ScoreMatrix(values, **scale)


@pytest.mark.parametrize("rule", COMPLETE_ONLY)
def test_a_system_can_gain_by_leaving_out_a_score_where_a_better_one_is_predicted(rule):
    options = RULES[rule].least_options
    gains = (gain(matrix, i, 0, rule, "predicted", **options) for i, matrix in boards_with_a_slump(150))
    assert any(advantage is not None for advantage in gains)
    assert can_reward_omission(rule, "predicted")
    assert "a better one is predicted" in omission_sentence(rule, "predicted")


@pytest.mark.parametrize(("rule", "policy"), REWARDED)
def test_in_every_example_the_last_on_a_task_gains_by_leaving_it_out(rule, policy):
    witness = omission_witness(rule, policy)
    matrix, options = witness.matrix, RULES[rule].least_options
    column = matrix.values[:, witness.task]
    assert column.argmin() == 0
    assert all(len(set(task)) == matrix.n_systems for task in matrix.values.T)  # no ties within a task
    advantage = gain(matrix, 0, witness.task, rule, missing_of(policy), **options)
    assert (advantage.before, advantage.after) == (witness.before, witness.after)
    values = matrix.values.copy()
    values[0, witness.task] = np.nan
    before = rank(matrix, rule, missing=missing_of(policy), **options)
    after = rank(matrix.with_values(values), rule, missing=missing_of(policy), **options)
    if rule == "condorcet":
        assert (before.ranks[0], after.ranks[0]) == (UNRANKED, 1)
    else:
        j = advantage.overtaken[0]
        assert before.ranks[j] < before.ranks[0]
        assert after.ranks[0] < after.ranks[j]


def test_copeland_rewards_leaving_out_the_worst_task():
    """Worked by hand: A loses to B on both tasks and to C on one; without its first score, to C on none."""
    witness = omission_witness("copeland", NATIVE)
    assert (witness.table, witness.task) == (((1, 2), (2, 3), (3, 1)), 0)
    assert rank(witness.matrix, "copeland").scores.tolist() == [-1, 1, 0]
    without = ScoreMatrix([[np.nan, 2], [2, 3], [3, 1]])
    assert rank(without, "copeland").scores.tolist() == [0, 1, -1]


def test_each_policy_says_in_one_sentence_what_leaving_out_does():
    assert omission_sentence("copeland", "median") == (
        "A system can gain under Copeland by leaving out its worst score: only common tasks are compared."
    )
    assert omission_sentence("borda", "drop_systems") == (
        "A system never gains by leaving out a score: a system that lacks a score on a task of weight above 0 gets no "
        "rank."
    )
    for rule in RULES:
        for policy in MISSING_POLICIES:
            sentence = omission_sentence(rule, policy)
            assert sentence[0].isupper()
            assert sentence.endswith(".")
            assert ("can gain" in sentence) == can_reward_omission(rule, policy)


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
    options = {**RULES[rule].least_options, "aggregation": aggregation}
    assert gain(matrix, i, t, rule, policy, **options) is None


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "policy"), REWARDED)
def test_the_search_finds_the_stored_examples(rule, policy):
    assert first_witness(rule, policy) == omission_witness(rule, policy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "policy", "options"),
    [(rule, policy, options) for rule, policy in REWARDED for options in variants(rule)],
)
def test_no_variant_and_no_tie_convention_takes_the_reward_away(rule, policy, options):
    assert first_witness(rule, policy, **options) is not None


def test_the_search_goes_through_thousands_of_tables():
    sizes = [(len(table), len(table[0])) for table, _ in small_tables()]
    assert len(sizes) == 1816
    assert sum(n > 2 for n, _ in sizes) == 1577
