from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from ranking_engine import Ranking, ScoreMatrix, listed_rules, rank, rank_all
from ranking_engine.core.comparison import (
    RankDifference,
    RankMove,
    agreement_rate,
    compare,
    compare_ranks,
    kendall_distance,
    kendall_tau,
    kendall_w,
    max_rank_change,
    rank_changes,
    spearman,
    task_ranks,
)
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.core.task_distances import dispersion, dispersion_to, weighted_distance
from tests.ranking_engine.strategies import matrices

NAN = float("nan")
FEW = settings(max_examples=60, deadline=None)


def ranking(scores):
    return Ranking.from_scores("r", np.array(scores, dtype=float))


SCORES = st.integers(0, 7).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, NAN]), min_size=n + 1, max_size=n + 1),
        min_size=2,
        max_size=2,
    )
)


class Naive:
    """Two rankings on the systems that both rank, pair by pair and place by place."""

    def __init__(self, first, second):
        common = [i for i in range(len(first)) if not math.isnan(first[i]) and not math.isnan(second[i])]
        self.first, self.second = [first[i] for i in common], [second[i] for i in common]
        self.n = len(common)
        self.pairs = list(itertools.combinations(range(self.n), 2))

    def products(self):
        for i, j in self.pairs:
            x, y = self.first[i] - self.first[j], self.second[i] - self.second[j]
            yield (x > 0) - (x < 0), (y > 0) - (y < 0)

    def ranks(self, scores):
        return [1 + sum(other > s for other in scores) + (sum(other == s for other in scores) - 1) / 2 for s in scores]

    def tau(self):
        signs = list(self.products())
        untied = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
        return sum(x * y for x, y in signs) / math.sqrt(untied) if untied else NAN

    def distance(self):
        if not self.n:
            return NAN
        return sum(x * y < 0 for x, y in self.products()) + sum((x == 0) != (y == 0) for x, y in self.products()) / 2

    def normalized(self):
        return self.distance() / len(self.pairs) if self.pairs else NAN

    def spearman(self):
        x, y = self.ranks(self.first), self.ranks(self.second)
        if self.n < 2 or len(set(x)) == 1 or len(set(y)) == 1:
            return NAN
        return stats.pearsonr(x, y).statistic

    def change(self):
        if self.n < 2:
            return NAN
        return max(abs(x - y) for x, y in zip(self.ranks(self.first), self.ranks(self.second), strict=True)) / (
            self.n - 1
        )

    def agreement(self, k, sign=1):
        if self.n < k:
            return NAN

        def shares(scores):
            scores = [sign * s for s in scores]
            above = [sum(other > s for other in scores) for s in scores]
            return [min(1, max(0, (k - a) / scores.count(s))) for a, s in zip(above, scores, strict=True)]

        return sum(map(min, shares(self.first), shares(self.second))) / k


@FEW
@given(SCORES)
def test_measures_of_two_rankings_are_as_defined(scores):
    first, second, naive = ranking(scores[0]), ranking(scores[1]), Naive(*scores)
    got = [
        kendall_tau(first, second),
        kendall_distance(first, second),
        kendall_distance(first, second, normalized=True),
        spearman(first, second),
        max_rank_change(first, second),
        *(agreement_rate(first, second, k) for k in (1, 2, 5)),
        *(agreement_rate(first, second, k, least=True) for k in (1, 3)),
    ]
    expected = [
        naive.tau(), naive.distance(), naive.normalized(), naive.spearman(), naive.change(),
        *(naive.agreement(k) for k in (1, 2, 5)), *(naive.agreement(k, sign=-1) for k in (1, 3)),
    ]  # fmt: skip
    assert got == pytest.approx(expected, nan_ok=True, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(SCORES, min_size=1, max_size=3).map(lambda pairs: [row for pair in pairs for row in pair]))
def test_all_pairs_at_once_are_the_pairs_one_by_one(rows):
    n = min(len(row) for row in rows)
    rankings = {str(k): ranking(row[:n]) for k, row in enumerate(rows)}
    comparison = compare(rankings, top=(2,), least=(1,))
    for (a, first), (b, second) in itertools.product(enumerate(rankings.values()), repeat=2):
        expected = {
            "kendall_tau": kendall_tau(first, second),
            "kendall_distance": kendall_distance(first, second),
            "normalized_distance": kendall_distance(first, second, normalized=True),
            "spearman": spearman(first, second),
            "max_rank_change": max_rank_change(first, second),
            "n_common": int((~np.isnan(first.average_ranks) & ~np.isnan(second.average_ranks)).sum()),
        }
        assert {name: getattr(comparison, name)[a, b] for name in expected} == pytest.approx(expected, nan_ok=True)
        assert comparison.top[2][a, b] == pytest.approx(agreement_rate(first, second, 2), nan_ok=True)
        assert comparison.least[1][a, b] == pytest.approx(agreement_rate(first, second, 1, least=True), nan_ok=True)


def test_many_systems_in_blocks_have_the_tau_and_correlation_of_scipy():
    generator = np.random.default_rng(0)
    rows = np.vstack([generator.integers(0, 400, (3, 1500)), np.zeros((1, 1500))]).astype(float)
    ranks = np.array([ranking(row).average_ranks for row in rows])
    comparison = compare_ranks(ranks)
    for a, b in itertools.combinations(range(3), 2):
        assert comparison.kendall_tau[a, b] == pytest.approx(stats.kendalltau(ranks[a], ranks[b]).statistic)
        assert comparison.spearman[a, b] == pytest.approx(stats.spearmanr(ranks[a], ranks[b]).statistic)
    assert np.isnan(comparison.kendall_tau[3]).all()
    assert comparison.kendall_tau[:3, :3].diagonal().tolist() == [1, 1, 1]
    assert comparison.spearman[:3, :3].diagonal().tolist() == [1, 1, 1]
    assert comparison.kendall_distance.diagonal().tolist() == [0, 0, 0, 0]


def test_a_tie_that_straddles_the_last_place_shares_what_is_left():
    tied, strict = ranking([3, 2, 2, 2, 1]), ranking([5, 4, 3, 2, 1])
    assert agreement_rate(tied, strict, 1) == 1
    assert agreement_rate(tied, strict, 2) == pytest.approx((1 + 1 / 3) / 2)
    assert agreement_rate(tied, tied, 2) == pytest.approx(1)
    assert agreement_rate(tied, strict, 4) == 1
    assert agreement_rate(tied, strict, 2, least=True) == pytest.approx((1 + 1 / 3) / 2)


def test_the_largest_rank_change_of_a_reversal_is_one():
    assert max_rank_change(ranking([3, 2, 1]), ranking([1, 2, 3])) == 1
    assert kendall_distance(ranking([3, 2, 1]), ranking([1, 2, 3]), normalized=True) == 1


def test_rank_changes_count_places_won_among_the_systems_that_both_rank():
    changes = rank_changes(ranking([9, 5, 4, 3]), ranking([NAN, 3, 5, 5]))
    np.testing.assert_array_equal(changes, [NAN, -2, 0.5, 1.5])


def test_rankings_of_different_systems_cannot_be_compared():
    with pytest.raises(ValueError, match="the rankings are of 2 and 1 systems; expected the same ones"):
        kendall_tau(ranking([1, 2]), ranking([1]))


def test_kendall_w_of_agreement_disagreement_and_ties():
    agree = np.array([[1.0, 2, 3], [1, 2, 3]])
    oppose = np.array([[1.0, 2, 3], [3, 2, 1]])
    tied = np.array([[1.0, 2.5, 2.5], [1.0, 2.5, 2.5]])
    assert (kendall_w(agree), kendall_w(oppose)) == (1, 0)
    assert (kendall_w(tied), kendall_w(tied, is_tie_corrected=True)) == (0.75, 1)
    assert math.isnan(kendall_w(np.full((2, 3), 2.0), is_tie_corrected=True))
    with pytest.raises(ValueError, match="`ranks` must be complete"):
        kendall_w(np.array([[1.0, NAN]]))


@FEW
@given(matrices(gaps=False))
def test_kendall_w_corrected_for_ties_has_the_textbook_formula(matrix):
    ranks = task_ranks(matrix)
    if not len(ranks):
        return
    m, n = ranks.shape
    sums = ranks.sum(axis=0)
    squares = ((sums - sums.mean()) ** 2).sum()
    ties = sum(c**3 - c for row in ranks for c in np.unique(row, return_counts=True)[1])
    most = m**2 * (n**3 - n) - m * ties
    expected = 12 * squares / most if most else NAN
    assert kendall_w(ranks, is_tie_corrected=True) == pytest.approx(expected, nan_ok=True)


@FEW
@given(matrices(max_systems=6))
def test_dispersion_is_the_mean_distance_over_pairs_of_tasks(matrix):
    tasks = [Naive(*pair) for pair in itertools.permutations(matrix.scores[:, matrix.votes].T.tolist(), 2)]
    tasks = [pair for pair in tasks if pair.n > 1]
    for normalized in (False, True):
        distances = [pair.normalized() if normalized else pair.distance() for pair in tasks]
        expected = sum(distances) / len(distances) if distances else NAN
        assert dispersion(matrix, normalized=normalized) == pytest.approx(expected, nan_ok=True)


def test_the_dispersion_of_very_many_tasks_takes_little_memory():
    columns = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 1.0], [NAN, 1.0, 2.0], [1.0, NAN, NAN]]
    counts = [60_000, 50_000, 3, 40_000, 7]  # a float for every pair of tasks would take 90 GB
    matrix = ScoreMatrix(np.repeat(np.array(columns).T, counts, axis=1))
    total, n_pairs = 0.0, 0
    for (i, first), (j, second) in itertools.product(enumerate(columns), repeat=2):
        pair, n = Naive(first, second), counts[i] * (counts[j] - (i == j))
        if pair.n > 1:
            total, n_pairs = total + n * pair.distance(), n_pairs + n
    assert dispersion(matrix) == pytest.approx(total / n_pairs)


@FEW
@given(matrices(max_systems=6), st.integers(0, 5))
def test_dispersion_to_a_ranking_is_the_mean_distance_of_the_tasks_to_it(matrix, seed):
    scores = np.random.default_rng(seed).choice([1.0, 2.0, 3.0, NAN], size=matrix.n_systems)
    tasks = [Naive(row, scores.tolist()) for row in matrix.scores[:, matrix.votes].T.tolist()]
    tasks = [pair for pair in tasks if pair.n > 1]
    for normalized in (False, True):
        distances = [pair.normalized() if normalized else pair.distance() for pair in tasks]
        expected = sum(distances) / len(distances) if distances else NAN
        got = dispersion_to(matrix, ranking(scores), normalized=normalized)
        assert got == pytest.approx(expected, nan_ok=True)


def test_all_rules_of_a_leaderboard_compare_at_once():
    matrix = random_matrix(40, 10, seed=2, missing=0.1)
    rankings = rank_all(matrix)
    comparison = compare(rankings)
    assert comparison.names == tuple(listed_rules())
    borda, copeland = comparison.names.index("borda"), comparison.names.index("copeland")
    assert comparison.n_common[borda, copeland] == rankings["borda"].n_ranked < rankings["copeland"].n_ranked
    assert comparison.n_common[borda, comparison.names.index("optimality_gap")] == 0


def test_tasks_rank_the_systems_that_they_have_a_score_of():
    matrix = ScoreMatrix([[1, 5], [2, NAN], [2, 5]], directions=[1, -1])
    np.testing.assert_array_equal(task_ranks(matrix), [[3, 1.5, 1.5], [1.5, NAN, 1.5]])
    assert rank(matrix, "copeland").n_tied == 1


def naive_weighted_distance(matrix, ranking):
    total, ranked = 0, [i for i in range(matrix.n_systems) if ranking.ranks[i] > 0]
    for i, j in itertools.permutations(ranked, 2):
        share = Fraction(1, 2) if ranking.ranks[i] == ranking.ranks[j] else ranking.ranks[i] > ranking.ranks[j]
        for t in np.flatnonzero(matrix.votes):
            total += share * matrix.weights[t] * bool(matrix.scores[i, t] > matrix.scores[j, t])
    return float(total) if ranked else NAN


def test_the_weight_against_a_ranking_is_counted_beyond_64_bits():
    matrix = ScoreMatrix([[k] for k in range(5)], weights=[2**60])
    tied = Ranking.from_scores("plurality", np.zeros(5))
    assert weighted_distance(matrix, tied) == 10 * 2**60 / 2


@FEW
@given(matrices(huge_weights=True), st.sampled_from(["borda", "copeland", "plurality", "kemeny"]))
def test_the_weight_against_a_ranking_is_counted_pair_by_pair_and_least_for_kemeny(matrix, rule):
    ranking, kemeny = rank(matrix, rule), rank(matrix, "kemeny")
    distance = weighted_distance(matrix, ranking)
    assert distance == naive_weighted_distance(matrix, ranking) or math.isnan(distance)
    if kemeny.status == "ranked":
        assert weighted_distance(matrix, kemeny) == kemeny.details["distance"]
        assert rule != "copeland" or distance >= kemeny.details["distance"]


# --- What differs between two rankings ------------------------------------------------------------------------------


def test_a_difference_says_who_moved_fell_and_passed_whom():
    difference = RankDifference({"a": 1, "b": 2, "c": 3, "gone": 4}, {"c": 1, "new": 2, "a": 3, "b": 4})
    assert difference.move("a") == RankMove("a", 1, 3)
    assert [move.places for move in map(difference.move, ["a", "c", "new", "gone", "nobody"])] == [-2, 2, 0, 0, 0]
    assert {move.system for move in difference.changed()} == {"a", "b", "c", "new", "gone"}
    assert difference.fallen() == ["a", "b"]
    assert difference.newly_first() == ["c"]
    assert difference.passed("a") == ["c", "new"]
    assert difference.overtaken_by("c") == ["a", "b"]
    assert difference.overtaken_by("new") == ["a", "b"]
    assert difference.overtaken_by("gone") == []
