from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from ranking_engine import UNRANKED, ScoreMatrix, rank
from ranking_engine.core.missing import scored_part
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.stability.bootstrap import draw_tasks, rank_intervals
from ranking_engine.stability.simultaneous import simultaneous_ranks

SUMS = ("borda", "plurality", "minimax")  # scores grow with the weight of all tasks


def naive_limit(largest, n_clusters, level):
    """The least c that `level` of the largest deviations do not exceed, on Student's scale."""
    c = min(x for x in largest if sum(y <= x for y in largest) >= level * len(largest) - 1e-9)
    return math.sqrt(n_clusters / (n_clusters - 1)) * stats.t.isf(stats.norm.sf(max(c, 0)), n_clusters - 1)


def naive_simultaneous(observed, resampled, n_clusters, level):
    """Pair by pair and resample by resample: lower and upper ranks, and who may be best."""
    ranked = [i for i in range(len(observed)) if not math.isnan(observed[i])]
    same = 1e-9 * max(abs(observed[i]) for i in ranked)
    ahead, deviations = {}, {}
    for i in ranked:
        for j in ranked:
            off = [row[j] - row[i] - (observed[j] - observed[i]) for row in resampled]
            common = [x for x in off if not math.isnan(x)]
            spread = math.sqrt(sum(x * x for x in common) / max(1, len(common)))
            difference = observed[j] - observed[i]
            if 2 * len(common) < len(off) or abs(difference) <= same:
                ahead[i, j] = 0.0
            elif spread <= same:
                ahead[i, j] = math.copysign(1e300, difference)
            else:
                ahead[i, j] = difference / spread
            deviations[i, j] = [-math.inf if spread <= same or math.isnan(x) else x / spread for x in off]
    trials = range(len(resampled))
    limit = naive_limit([max(deviations[pair][r] for pair in ahead) for r in trials], n_clusters, level)
    bounds, best = {}, set()
    for i in ranked:
        own = naive_limit([max(deviations[i, j][r] for j in ranked) for r in trials], n_clusters, level)
        if all(ahead[i, j] <= own for j in ranked):
            best.add(i)
        above, below = (sum(ahead[pair] > limit for pair in pairs)
                        for pairs in ([(i, j) for j in ranked], [(j, i) for j in ranked]))  # fmt: skip
        bounds[i] = (1 + above, len(ranked) - below)
    return bounds, best


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.sampled_from([4, 20, 40]),
    st.sampled_from([2, 8, 30]),
    st.sampled_from([0.5, 0.95]),
    st.booleans(),
)
def test_intervals_and_the_possibly_best_are_as_defined(seed, n, n_resamples, n_clusters, level, has_gaps):
    random = np.random.default_rng(seed)
    observed = random.integers(0, 12, n).astype(float)
    resampled = observed + random.integers(-2, 3, (n_resamples, n)) * random.integers(0, 2, n)
    if has_gaps:
        resampled[random.random(resampled.shape) < 0.4] = np.nan
        observed[random.random(n) < 0.2] = np.nan
    result = simultaneous_ranks(observed, resampled, n_clusters, level)
    bounds, best = (
        naive_simultaneous(observed, resampled, n_clusters, level) if (~np.isnan(observed)).any() else ({}, set())
    )
    nowhere = (UNRANKED, UNRANKED)
    assert [(int(low), int(high)) for low, high in zip(result.lower, result.upper, strict=True)] == [
        bounds.get(i, nowhere) for i in range(n)
    ]
    assert set(np.flatnonzero(result.possibly_best)) == best


def naive_scores(matrix, rule, weights):
    """The rule's scores under other weights, on a scale that the sum of the weights does not change."""
    scores = rank(matrix.with_weights(weights), rule, missing="undefined").scores
    return scores / float(sum(weights)) if rule in SUMS else scores


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([None, 2, 4]), st.booleans())
def test_a_study_has_the_intervals_of_the_rules_own_scores_widened_to_hold_those_by_themselves(
    seed, n_levels, has_gaps
):
    options = {"missing": 0.15} if has_gaps else {}
    base = random_matrix(4, 11, seed=seed, n_levels=n_levels, **options)
    groups = ["g", "g", "h", "h", *[None] * 7]
    matrix = ScoreMatrix(base.values, groups=groups, weights=[1, 2, 1, 1, "1/2", 1, 1, 3, 1, 1, 1])
    rules = ("copeland", "minimax", "win_rate") if has_gaps else (
        "mean", "median", "borda", "plurality", "average_rank", "copeland", "minimax", "win_rate", "relative_difference"
    )  # fmt: skip
    intervals = rank_intervals(matrix, rules, n_resamples=40, seed=1, simultaneous=True)
    part = scored_part(matrix)
    draws = draw_tasks(part.matrix, 40, 1)
    for rule in intervals.simultaneous:
        observed = naive_scores(part.matrix, rule, part.matrix.weights)
        resampled = [
            naive_scores(
                part.matrix, rule, [w * Fraction(int(k)) for w, k in zip(part.matrix.weights, row, strict=True)]
            )
            for row in draws
        ]
        bounds, best = naive_simultaneous(observed, resampled, 9, 0.95)
        result = intervals.simultaneous[rule]
        for k, i in enumerate(part.systems):
            low, high = intervals.lower[rule][i], intervals.upper[rule][i]
            assert (result.lower[i], result.upper[i]) == (min(bounds[k][0], low), max(bounds[k][1], high)), rule
        assert {int(part.systems[k]) for k in best} == set(np.flatnonzero(result.possibly_best)), rule


def test_intervals_that_hold_together_contain_those_by_themselves_and_the_rank():
    matrix = random_matrix(12, 20, seed=4, noise=0.5)
    rules = ("mean", "borda", "copeland", "instant_runoff")
    intervals = rank_intervals(matrix, rules, n_resamples=200, simultaneous=True)
    for rule in rules:
        result, ranks = intervals.simultaneous[rule], rank(matrix, rule).ranks
        assert (result.lower <= intervals.lower[rule]).all()
        assert (result.upper >= intervals.upper[rule]).all()
        assert ((result.lower <= ranks) & (ranks <= result.upper)).all()
        assert result.possibly_best[ranks == 1].all()
        assert (result.lower[result.possibly_best] == 1).all()


def test_a_system_far_ahead_of_all_others_is_alone_possibly_best():
    random = np.random.default_rng(0)
    values = random.normal(size=(6, 30))
    values[2] += 5
    result = rank_intervals(ScoreMatrix(values), ("mean",), n_resamples=500, simultaneous=True).simultaneous["mean"]
    assert np.flatnonzero(result.possibly_best).tolist() == [2]
    assert (result.lower[2], result.upper[2]) == (1, 1)
    assert (np.delete(result.lower, 2) == 2).all()


def test_rules_that_rank_fewer_than_two_and_boards_of_too_many_have_none_and_say_why():
    values = np.random.default_rng(0).normal(size=(5, 12))
    values[0] += 9
    intervals = rank_intervals(ScoreMatrix(values), ("condorcet", "mean"), n_resamples=50, simultaneous=True)
    assert intervals.not_simultaneous == {"condorcet": "it ranks fewer than two systems"}
    assert set(intervals.simultaneous) == {"mean"}
    large = rank_intervals(random_matrix(401, 8, seed=0), ("mean",), n_resamples=5, simultaneous=True)
    assert large.not_simultaneous == {"mean": "it ranks more than 400 systems"}


@pytest.mark.parametrize("simultaneous", [False, True])
def test_intervals_by_themselves_do_not_depend_on_the_others(simultaneous):
    matrix = random_matrix(6, 9, seed=6)
    intervals = rank_intervals(matrix, ("borda",), n_resamples=50, simultaneous=simultaneous)
    alone = rank_intervals(matrix, ("borda",), n_resamples=50)
    np.testing.assert_array_equal(intervals.counts["borda"], alone.counts["borda"])
    assert set(intervals.simultaneous) == ({"borda"} if simultaneous else set())
