from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine import MISSING_POLICIES, RULES, UNRANKED, ScoreMatrix, listed_rules, rank
from ranking_engine.core.clusters import cluster_key, clusters_of
from ranking_engine.core.missing import complete, scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.bootstrap import (
    DEFAULT_RULES,
    affordable_resamples,
    draw_clusters,
    draw_tasks,
    rank_intervals,
)
from ranking_engine.stability.plan import one_by_one_seconds
from ranking_engine.stability.rank_bounds import end_errors, expanded_tail, interval_bounds
from tests.ranking_engine.strategies import matrices

BEYOND_FLOATS = [2**60 + k for k in range(8)]  # weights that no kernel adds up exactly: ranked one by one


def naive_counts(matrix, rule, n_resamples, seed, missing):
    """Resample and rank, one by one."""
    part = complete(matrix, missing) if RULES[rule].needs_complete else scored_part(matrix)
    n = matrix.n_systems
    counts = np.zeros((n, n), dtype=np.int32)
    for drawn in draw_tasks(part.matrix, n_resamples, seed):
        weights = [Fraction(int(k)) * weight for k, weight in zip(drawn, part.matrix.weights, strict=True)]
        ranking = rank(part.matrix.with_weights(weights), rule, missing="undefined")
        for row, place in enumerate(ranking.ranks):
            if place != UNRANKED:
                counts[part.systems[row], place - 1] += 1
    return counts


def assert_same_as_naive(matrix, rules, n_resamples, seed, missing="drop_systems"):
    intervals = rank_intervals(matrix, rules, n_resamples=n_resamples, seed=seed, missing=missing)
    for rule, counts in intervals.counts.items():
        np.testing.assert_array_equal(counts, naive_counts(matrix, rule, n_resamples, seed, missing), rule)
    return intervals


@settings(max_examples=15, deadline=None)
@given(
    matrices(max_systems=4, min_tasks=9, max_tasks=12, groups=True),
    st.integers(0, 5),
    st.sampled_from(list(MISSING_POLICIES)),
)
def test_batches_count_what_ranking_each_resample_counts(matrix, seed, missing):
    assert_same_as_naive(matrix, tuple(listed_rules()), 4, seed, missing)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_levels": 4}, {"missing": 0.3}, {"weights": [Fraction(1, k) for k in range(1, 9)]}],
    ids=["strict", "ties", "gaps", "fractions"],
)
def test_batches_agree_with_the_loop_on_larger_matrices(options):
    base = random_matrix(12, 8, seed=3, **options)
    scale = {"gamma": 2.0, "maximum": [9] * 8, "chance": [0.1] * 8}
    matrix = ScoreMatrix(np.exp(base.values), weights=base.weights, **scale)
    intervals = assert_same_as_naive(matrix, tuple(listed_rules()), 10, 1, "median")
    assert (set(intervals.counts), intervals.undefined, intervals.skipped) == (set(listed_rules()), {}, {})


def test_slow_rules_share_the_budget_the_cheapest_first_and_never_get_too_few_resamples():
    matrix, rules = random_matrix(20, 8, seed=3, weights=BEYOND_FLOATS), ("borda", "bradley_terry", "threshold")
    costs = {rule: one_by_one_seconds(rule, matrix) for rule in rules}
    budget = 30 * costs["threshold"] + 12.5 * costs["bradley_terry"]
    assert 30 * costs["threshold"] < budget / 2
    intervals = rank_intervals(matrix, rules, n_resamples=30, budget=budget, least=5)
    assert intervals.n_drawn == {"borda": 30, "threshold": 30, "bradley_terry": 12}
    least = rank_intervals(matrix, rules, n_resamples=30, budget=0, least=5)
    assert least.n_drawn == {"borda": 30, "threshold": 5, "bradley_terry": 5}
    first = rank_intervals(matrix, rules, n_resamples=12)
    np.testing.assert_array_equal(intervals.counts["bradley_terry"], first.counts["bradley_terry"])


def test_a_rule_that_ranks_many_resamples_at_once_shares_the_budget_where_each_costs_much():
    matrix = random_matrix(40, 8, seed=3)
    drawn = rank_intervals(matrix, ("bradley_terry", "soft_condorcet"), n_resamples=30, budget=0, least=5).n_drawn
    assert drawn == {"bradley_terry": 30, "soft_condorcet": 5}


def test_a_rule_of_which_one_resample_takes_too_long_is_skipped_and_says_so(monkeypatch):
    monkeypatch.setattr("ranking_engine.stability.bootstrap.MAX_SECONDS", 1e-5)
    intervals = rank_intervals(random_matrix(20, 8, seed=3, weights=BEYOND_FLOATS), ("borda", "coombs"), n_resamples=10)
    assert set(intervals.counts) == {"borda"}
    assert re.fullmatch(r"ranking one resample would take about [\d.e-]+ s", intervals.skipped["coombs"])


def test_a_search_ends_by_its_steps_and_says_in_what_share_of_the_resamples_its_order_is_proven(monkeypatch):
    matrix = random_matrix(20, 8, seed=3)
    assert rank_intervals(matrix, ("kemeny", "borda"), n_resamples=6).proven == {"kemeny": 1.0}
    monkeypatch.setattr("ranking_engine.stability.bootstrap.MOST_SECONDS", 0.0)
    few_steps, again = (rank_intervals(matrix, ("kemeny",), n_resamples=6) for _ in range(2))
    assert few_steps.n_drawn == {"kemeny": 6}
    assert few_steps.proven == again.proven
    assert 0 <= few_steps.proven["kemeny"] < 1
    np.testing.assert_array_equal(few_steps.counts["kemeny"], again.counts["kemeny"])


def test_rules_that_need_all_scores_and_rules_that_do_not_share_one_budget():
    values = random_matrix(20, 8, seed=3).values.copy()
    values[0, 0] = np.nan
    matrix, rules = ScoreMatrix(values, weights=BEYOND_FLOATS), ("threshold", "bradley_terry")
    costs = {rule: RULES[rule].cost(20, 8) for rule in rules}
    budget = 10.5 * sum(costs.values())
    assert rank_intervals(matrix, rules, n_resamples=10, budget=budget).n_drawn == dict.fromkeys(rules, 10)
    fewer = rank_intervals(matrix, rules, n_resamples=10, budget=budget * 0.8, least=1).n_drawn
    assert fewer["threshold"] == 10 > fewer["bradley_terry"] > 1


def test_a_rule_that_is_undefined_on_all_tasks_is_so_although_a_resample_may_leave_out_the_cause():
    matrix = random_matrix(4, 8, seed=3)
    undefined = rank_intervals(matrix, ("optimality_gap", "borda"), n_resamples=10).undefined
    assert list(undefined) == ["optimality_gap"]
    assert undefined["optimality_gap"].startswith("no optimality threshold (gamma) is stated, nor a maximum")


def test_weights_too_large_for_floats_are_ranked_exactly():
    assert_same_as_naive(random_matrix(6, 8, seed=4, weights=BEYOND_FLOATS), DEFAULT_RULES, 5, 0)
    assert_same_as_naive(random_matrix(6, 8, seed=4, weights=[2**40 + k for k in range(8)]), DEFAULT_RULES, 5, 0)


def test_a_system_whose_tasks_are_not_drawn_is_unranked_in_that_resample_and_nobodys_rival():
    values = random_matrix(4, 8, seed=9).values.copy()
    values[0, 1:] = values[1, :7] = np.nan
    intervals = assert_same_as_naive(ScoreMatrix(values), tuple(listed_rules()), 60, 0, "drop_systems")
    ranked = intervals.counts["copeland"].sum(axis=1)
    assert (ranked[2:] == 60).all()
    assert (ranked[:2] < 60).all()
    assert (ranked[:2] > 0).all()


def test_counts_of_rules_in_blocks_of_systems_and_resamples_agree_with_the_loop():
    assert_same_as_naive(random_matrix(300, 8, seed=5), ("copeland", "minimax"), 30, 0)


def test_a_resample_depends_on_the_seed_and_its_own_number_only():
    many = draw_clusters(7, 50, seed=3)
    np.testing.assert_array_equal(draw_clusters(7, 20, seed=3), many[:20])
    assert (many.sum(axis=1) == 7).all()
    assert len(np.unique(many, axis=0)) > 40
    assert (draw_clusters(7, 50, seed=4) != many).any()


def test_tasks_of_a_group_are_drawn_together():
    groups = ["g", "g", None, "h", "h", "h", None, None, None]
    matrix = ScoreMatrix(np.arange(18).reshape(2, 9), groups=groups)
    assert len(clusters_of(matrix)) == 6
    drawn = draw_tasks(matrix, 30, 0)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert (drawn[:, 3] == drawn[:, 5]).all()
    assert (drawn[:, 0] + drawn[:, 3] + drawn[:, [2, 6, 7, 8]].sum(axis=1) == 6).all()


def test_a_stated_cluster_counts_before_a_group_and_is_another_than_the_group_of_its_name():
    groups, clusters = ["g", "g", None, "g", None, None], [None, "C", "c", "c", "g", None]
    matrix = ScoreMatrix(np.arange(12).reshape(2, 6), groups=groups, clusters=clusters)
    assert [cluster_key(matrix, t) for t in range(6)] == [
        "group g", "cluster c", "cluster c", "cluster c", "cluster g", "task t6"
    ]  # fmt: skip
    assert clusters_of(matrix) == {"cluster c": 0, "cluster g": 1, "group g": 2, "task t6": 3}
    drawn = draw_tasks(matrix, 30, 0)
    assert (drawn[:, 1] == drawn[:, 2]).all()
    assert (drawn[:, 1] == drawn[:, 3]).all()
    assert (drawn[:, [0, 1, 4, 5]].sum(axis=1) == 4).all()


def test_the_order_of_tasks_changes_nothing():
    matrix = random_matrix(6, 9, seed=6)
    backwards = matrix.subset(tasks=range(8, -1, -1))
    assert list(clusters_of(matrix)) == list(clusters_of(backwards)) == [f"task t{k}" for k in range(1, 10)]
    for rule, counts in rank_intervals(matrix, n_resamples=30).counts.items():
        np.testing.assert_array_equal(counts, rank_intervals(backwards, n_resamples=30).counts[rule])


@pytest.mark.parametrize("n_clusters", [5, 7])
def test_fewer_than_eight_clusters_give_no_intervals_and_say_why(n_clusters):
    grouped = ScoreMatrix(np.ones((2, n_clusters + 4)), groups=["g"] * 5 + [None] * (n_clusters - 1))
    intervals = rank_intervals(grouped)
    assert (intervals.status, intervals.n_clusters, dict(intervals.counts)) == ("undefined", n_clusters, {})
    why = "tasks or clusters of tasks to draw from; with fewer than 8, intervals miss the true rank too often"
    assert intervals.reason == f"{n_clusters} {why}"
    assert rank_intervals(ScoreMatrix([[np.nan] * 9])).reason == "no system has a score on a task of weight above 0"


def test_eight_clusters_are_enough():
    assert rank_intervals(random_matrix(3, 8, seed=0), n_resamples=10).status == "computed"


def test_a_rule_whose_policy_leaves_too_few_tasks_is_undefined_and_the_others_are_not():
    values = random_matrix(4, 8, seed=7).values.copy()
    values[0, :4] = np.nan
    intervals = rank_intervals(ScoreMatrix(values), n_resamples=10, missing="drop_tasks")
    assert set(intervals.counts) == {"copeland", "minimax"}
    assert set(intervals.undefined.values()) == {
        "4 tasks or clusters of tasks to draw from; with fewer than 8, intervals miss the true rank too often"
    }
    undefined = rank_intervals(ScoreMatrix(values), n_resamples=10, missing="undefined").undefined
    assert undefined["mean"] == "4 missing scores (1 of 4 systems lacks at least one)"


def test_intervals_are_the_expanded_percentiles_of_the_counts_with_their_errors():
    matrix = random_matrix(9, 12, seed=2)
    intervals = rank_intervals(matrix, ("mean", "instant_runoff"), n_resamples=400)
    for rule in ("mean", "instant_runoff"):
        lower, upper = interval_bounds(intervals.counts[rule], expanded_tail(0.95, 12))
        np.testing.assert_array_equal(intervals.lower[rule], lower)
        np.testing.assert_array_equal(intervals.upper[rule], upper)
        errors = end_errors(intervals.counts[rule], expanded_tail(0.95, 12))
        np.testing.assert_array_equal(intervals.errors[rule], errors)


def test_a_policy_that_leaves_fewer_clusters_widens_the_intervals_of_its_rules_alone():
    values = random_matrix(6, 20, seed=7).values.copy()
    values[0, :10] = np.nan
    intervals = rank_intervals(ScoreMatrix(values), ("mean", "copeland"), n_resamples=300, missing="drop_tasks")
    for rule, n_clusters in (("mean", 10), ("copeland", 20)):
        lower, upper = interval_bounds(intervals.counts[rule], expanded_tail(0.95, n_clusters))
        np.testing.assert_array_equal(intervals.lower[rule], lower)
        np.testing.assert_array_equal(intervals.upper[rule], upper)


def test_small_boards_get_more_resamples_than_large_ones():
    assert [affordable_resamples(n) for n in (2, 300, 301, 5000)] == [4000, 4000, 1000, 1000]
    assert affordable_resamples(1000, most=50) == 50


RULES_OF_ALL_WAYS = ("mean", "borda", "copeland", "minimax", "median")


def test_progress_counts_up_to_its_total_and_may_cancel():
    seen = []
    rank_intervals(
        random_matrix(300, 8, seed=8), RULES_OF_ALL_WAYS, n_resamples=100, progress=lambda *s: seen.append(s)
    )
    done = [step for step, _ in seen]
    assert {total for _, total in seen} == {100}
    assert done == sorted(set(done))
    assert done[-1] == 100
    assert len(done) > 5

    def cancel(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        rank_intervals(random_matrix(20, 8, seed=8), n_resamples=20, progress=cancel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "`n_resamples` is 0"),
        ({"level": 1.0}, "`level` is 1.0"),
        ({"seed": -1}, "`seed` is -1"),
        ({"rules": ("bordo",)}, "`rule` is 'bordo'"),
        ({"rules": ("positional",)}, "`rules` names 'positional', which needs vector"),
        ({"missing": "guess"}, "`missing` is 'guess'"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        rank_intervals(random_matrix(3, 8, seed=0), **options)
