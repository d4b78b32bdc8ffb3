from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from ranking_engine import UNRANKED, ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
from ranking_engine.files.tables import read_table
from ranking_engine.stability.separability.friedman import critical_difference, friedman
from ranking_engine.stability.separability.pair_tests import (
    CONTRADICTED,
    NOT_SEPARABLE,
    SEPARABLE,
    TIED,
    TOO_FEW,
    instance_separability,
    pair_test,
)
from ranking_engine.stability.separability.sign_flips import holm
from ranking_engine.stability.separability.significance import significance, significance_of_rankings
from tests.ranking_engine.stability.separability.naive_flips import naive_p_value
from tests.ranking_engine.strategies import matrices

FAR = "more than 20: two average ranks would have to differ by 57 of 97"
SHARED = "several tasks belong to one group and are not independent"


def naive_contributions(matrix, rule, i, t):
    """What a task adds to the score of a system, from the definition, for complete scores."""
    others = [j for j in range(matrix.n_systems) if j != i]
    own, scores = matrix.scores[i, t], matrix.scores[:, t]
    above, level = int((scores > own).sum()), int((scores == own).sum())
    weight = matrix.weights[t]
    if rule == "borda":
        return weight * (matrix.n_systems - above - level)
    if rule == "plurality":
        return weight * (above == 0 and level == 1)
    if rule == "veto":
        return -weight * (above + level == matrix.n_systems)
    if rule == "dowdall":
        return weight * Fraction(1, above + 1)
    if rule == "average_rank":
        return -weight * (above + Fraction(level + 1, 2))
    if rule == "win_rate":
        return weight * sum(Fraction(1) if own > scores[j] else Fraction(int(own == scores[j]), 2) for j in others)
    return weight * Fraction(float(own))  # the mean


def naive_differences(matrix, rule, i, j):
    """The differences of two systems by cluster."""
    sums = {}
    for t in np.flatnonzero(matrix.votes).tolist():
        x, y = matrix.scores[i, t], matrix.scores[j, t]
        if np.isnan(x) or np.isnan(y):
            continue
        if rule == "copeland":
            apart = Fraction(float(x - y)) * matrix.weights[t]
        else:
            apart = naive_contributions(matrix, rule, i, t) - naive_contributions(matrix, rule, j, t)
        cluster = matrix.groups[t] or ("alone", t)
        sums[cluster] = sums.get(cluster, 0) + apart
    return list(sums.values())


def naive_verdicts(matrix, ranking, pairs, level):
    """p-values and verdicts of a family of pairs, the one ranked higher first, from the definition."""
    apart = [naive_differences(matrix, ranking.rule, i, j) for i, j in pairs]
    p_values = [naive_p_value(sums) if sums else 1.0 for sums in apart]
    adjusted = holm(np.array(p_values))
    best = holm(np.array([min(1.0, 2.0 ** (1 - len(sums))) for sums in apart]))
    verdicts = []
    for (i, j), sums, p, least in zip(pairs, apart, adjusted, best, strict=True):
        if ranking.ranks[i] == ranking.ranks[j]:
            verdicts.append(TIED)
        elif p <= level:
            verdicts.append(SEPARABLE if sum(sums) > 0 else CONTRADICTED)
        else:
            verdicts.append(TOO_FEW if least > level else NOT_SEPARABLE)
    return p_values, verdicts


def assert_tested_by_the_definition(matrix, rule, level):
    ranking = rank(matrix, rule)
    result = significance(matrix, ranking, scale="none", level=level, top=2)
    order, ranks = result.order, [int(ranking.ranks[i]) for i in result.order]
    distinct = sorted(set(ranks))
    following = dict(itertools.pairwise(distinct))
    every = [*itertools.combinations(order, 2)]
    families = {
        "neighbours": [(i, j) for i, j in every if following.get(ranking.ranks[i]) == ranking.ranks[j]],
        "top": [(i, j) for i, j in every if ranking.ranks[j] <= 2],
        "every_pair": every,
    }
    for name, pairs in families.items():
        family = getattr(result, name)
        p_values, verdicts = naive_verdicts(matrix, ranking, pairs, level)
        assert sorted(map(tuple, family.pairs.tolist())) == sorted(pairs)
        figures = zip(family.p_values, family.verdicts, strict=True)
        own = dict(zip(map(tuple, family.pairs.tolist()), figures, strict=True))
        assert [own[pair] for pair in pairs] == [*zip(p_values, verdicts, strict=True)]
    assert len(families["neighbours"]) <= len(order) ** 2 / 4
    assert result.no_neighbours_separable == (SEPARABLE not in result.neighbours.verdicts)
    assert_runs_are_maximal(result, ranking)
    return result


@settings(max_examples=30, deadline=None)
@given(matrices(max_systems=4, max_tasks=6, groups=True), st.sampled_from([0.05, 0.3]))
def test_mean_differences_are_tested_by_the_definition_on_small_matrices(matrix, level):
    result = assert_tested_by_the_definition(matrix, "copeland", level)
    assert result.tested == "mean_differences"
    assert set(result.order) == set(np.flatnonzero(matrix.has_score))


@pytest.mark.parametrize("rule", ["mean", "borda", "plurality", "veto", "dowdall", "average_rank", "win_rate"])
@settings(max_examples=15, deadline=None)
@given(
    matrix=matrices(max_systems=4, max_tasks=6, groups=True, gaps=False, cells=[0.0, 1.0, 2.0, 4.0]),
    level=st.sampled_from([0.05, 0.3]),
)
def test_contributions_are_tested_by_the_definition_on_small_matrices(rule, matrix, level):
    assume(matrix.votes.any())
    result = assert_tested_by_the_definition(matrix, rule, level)
    assert result.tested == "contributions"
    assert CONTRADICTED not in result.every_pair.verdicts


@settings(max_examples=20, deadline=None)
@given(matrices(max_systems=4, max_tasks=5, groups=True))
def test_several_rankings_together_are_answered_as_each_alone(matrix):
    rules = ("copeland", "minimax", "win_rate", "average_rank", "borda", "mean", "threshold")
    rankings = {rule: rank(matrix, rule, missing="median") for rule in rules}
    together = significance_of_rankings(matrix, rankings, level=0.3, missing="median")
    for rule, ranking in rankings.items():
        alone = significance(matrix, ranking, level=0.3, missing="median")
        assert together[rule].order == alone.order
        assert together[rule].summary() == alone.summary()
        for family in ("neighbours", "top", "every_pair"):
            ours, theirs = getattr(together[rule], family), getattr(alone, family)
            np.testing.assert_array_equal(ours.pairs, theirs.pairs)
            np.testing.assert_allclose(ours.differences, theirs.differences, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(ours.adjusted, theirs.adjusted)
            np.testing.assert_array_equal(ours.verdicts, theirs.verdicts)


def test_a_system_ahead_of_another_has_a_positive_difference_whichever_stands_first_in_the_file():
    matrix = ScoreMatrix([[1, 2], [3, 4], [2, 3]])
    for rule in ("copeland", "mean"):
        result = significance(matrix, rank(matrix, rule), scale="none")
        assert result.order == (1, 2, 0)
        assert result.every_pair.pairs.tolist() == [[1, 2], [1, 0], [2, 0]]
        assert result.every_pair.differences.tolist() == [1.0, 2.0, 1.0]


def assert_runs_are_maximal(result, ranking):
    """By brute force over all intervals of ranks."""
    pairs = [tuple(sorted(pair)) for pair in result.every_pair.pairs.tolist()]
    verdict = dict(zip(pairs, result.every_pair.verdicts, strict=True))
    places = sorted({int(r) for r in ranking.ranks if r != UNRANKED})
    quiet = []
    for first, last in itertools.combinations_with_replacement(places, 2):
        members = [i for i in result.order if first <= ranking.ranks[i] <= last]
        pairs = [tuple(sorted(pair)) for pair in itertools.combinations(members, 2)]
        if len(members) > 1 and not any(verdict[pair] == SEPARABLE for pair in pairs):
            quiet.append((set(members), all(verdict[pair] != TOO_FEW for pair in pairs)))
    expected = [run for run in quiet if not any(run[0] < other for other, _ in quiet)]
    assert [(set(run.systems), run.is_told) for run in result.runs] == expected


def test_groups_of_the_board_may_overlap():
    """A beats C on all 12 tasks; B is between them, ahead of each now and then."""
    signs = np.array([1, -1] * 6)
    values = np.stack([np.full(12, 10.0), 9 + 1.5 * signs, np.full(12, 8.0)])
    matrix = ScoreMatrix(values, system_names=["A", "B", "C"])
    result = significance(matrix, rank(matrix, "mean"))
    assert [run.systems for run in result.runs] == [(0, 1), (1, 2)]
    assert result.every_pair.verdicts.tolist() == [NOT_SEPARABLE, SEPARABLE, NOT_SEPARABLE]
    assert (result.no_neighbours_separable, result.neighbours.verdict) == (True, "none")


def test_five_tasks_are_too_few_to_tell_and_nine_are_enough_for_one_pair_but_not_for_many():
    for n, T, verdict in ((2, 5, TOO_FEW), (2, 9, SEPARABLE), (20, 9, TOO_FEW)):
        matrix = ScoreMatrix(np.arange(n)[:, None] + np.zeros((1, T)))
        result = significance(matrix, rank(matrix, "borda"))
        assert set(result.neighbours.verdicts.tolist()) == {verdict}
    assert result.summary()["neighbours"]["verdict"] == "too_few_tasks"
    assert result.summary()["neighbours"]["least_adjusted"] == 19 * 2.0**-8
    assert [run.is_told for run in result.runs] == [False]


def test_tasks_of_one_data_set_change_sign_together():
    named = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    for options in ({"groups": named}, {"clusters": named}, {"clusters": named, "groups": ["all"] * 12}):
        matrix = ScoreMatrix(np.array([[1.0] * 12, [0.0] * 12]), **options)
        result = significance(matrix, rank(matrix, "mean"))
        assert (result.n_clusters, result.neighbours.p_values.tolist()) == (3, [0.25])


def test_a_task_in_large_units_does_not_decide_alone_unless_scores_are_taken_as_they_are():
    generator = np.random.default_rng(2)
    noise = generator.normal(size=(2, 12))
    noise[0] += 2.0
    noise[0, 0], noise[1, 0] = 0.0, 1.0
    values = noise * np.r_[1e6, np.ones(11)]
    matrix = ScoreMatrix(values)
    ranking = rank(matrix, "copeland")
    assert significance(matrix, ranking).neighbours.verdicts.tolist() == [SEPARABLE]
    assert significance(matrix, ranking, scale="none").neighbours.p_values[0] > 0.99
    by_mean = significance(matrix, rank(matrix, "mean"))  # the mean goes by large units, and its test as well
    assert (by_mean.neighbours.p_values[0] > 0.99, by_mean.order) == (True, (1, 0))


def test_instances_are_tested_like_tasks_one_unit_each():
    matrix = random_matrix(3, 9, seed=5)
    pairs = np.array([[0, 1], [1, 2]])
    tests = instance_separability(matrix.scores, pairs)
    expected = [naive_p_value(matrix.scores[a] - matrix.scores[b]) for a, b in pairs]
    assert tests.p_values.tolist() == expected
    many = random_matrix(3, 300, seed=5).scores.copy()
    many[0, :50] = np.nan
    drawn = instance_separability(many, pairs, seed=1)
    assert drawn.n_units.tolist() == [250, 300]
    assert drawn.n_draws == 9_999


def test_friedman_agrees_with_the_chi_square_that_scipy_corrects_for_ties():
    matrix = random_matrix(6, 12, seed=3, n_levels=4)
    friedman_test = friedman(matrix)
    chi = stats.friedmanchisquare(*matrix.values).statistic
    assert friedman_test.statistic == pytest.approx(11 * chi / (12 * 5 - chi))
    assert friedman_test.p_value == pytest.approx(stats.f.sf(friedman_test.statistic, 5, 55))
    assert friedman_test.critical_difference == pytest.approx(
        2.850 * np.sqrt(6 * 7 / 72), abs=1e-3
    )  # Demšar 2006, table 5
    assert friedman_test.average_ranks.tolist() == sorted(friedman_test.average_ranks)
    for first, last in friedman_test.runs:
        assert (
            friedman_test.average_ranks[last] - friedman_test.average_ranks[first] <= friedman_test.critical_difference
        )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"shape": (97, 9)}, f"there are 9 tasks, fewer than 10; there are 97 systems, {FAR}"),
        ({"shape": (4, 12), "weights": [2] + [1] * 11}, "tasks have different weights"),
        ({"shape": (4, 12), "groups": ["a", "a"] + [None] * 10}, SHARED),
        ({"shape": (4, 12), "missing": True}, "scores are missing"),
        ({"shape": (1, 12)}, "there are fewer than two systems to compare"),
    ],
)  # fmt: skip
def test_friedman_is_refused_with_the_reason_where_it_is_not_valid(options, reason):
    values = np.random.default_rng(0).random(options.pop("shape"))
    if options.pop("missing", False):
        values[0, 0] = np.nan
    matrix = ScoreMatrix(values, **options)
    result = significance(matrix, rank(matrix, "copeland"))
    assert result.friedman.reason == reason
    assert result.summary()["friedman"]["reason"] == reason


def test_a_pool_chosen_in_advance_makes_the_critical_difference_valid():
    matrix = random_matrix(30, 12, seed=3)
    pool = matrix.system_names[:5]
    result = significance(matrix, rank(matrix, "borda"), pool=pool)
    assert (set(result.friedman.systems), result.friedman.reason) == (set(pool), "")
    assert result.friedman.critical_difference == pytest.approx(critical_difference(5, 12))
    with pytest.raises(ValueError, match="`pool` names 'nobody'"):
        significance(matrix, rank(matrix, "borda"), pool=["nobody"])


def test_one_system_and_tied_boards_have_nothing_to_separate():
    alone = ScoreMatrix([[1.0, 2.0]])
    result = significance(alone, rank(alone, "borda"))
    assert (len(result.every_pair.pairs), result.runs, result.no_neighbours_separable) == (0, (), True)
    tied = ScoreMatrix(np.ones((3, 9)))
    result = significance(tied, rank(tied, "borda"))
    assert result.neighbours.verdicts.tolist() == []
    assert result.every_pair.verdicts.tolist() == [TIED] * 3
    assert [run.systems for run in result.runs] == [(0, 1, 2)]


def board(key):
    """A board of the demonstration."""
    folder = Path(__file__).resolve().parents[4] / "leaderboard" / "demonstration" / key
    return to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml"))


def separable_neighbours(matrix, rule):
    """For each pair of neighbours that is told apart: by how many ranks they differ, and who is ahead."""
    ranking = rank(matrix, rule)
    tests = significance(matrix, ranking).neighbours
    pairs = tests.pairs[tests.verdicts == SEPARABLE]
    return ranking.ranks[pairs[:, 1]] - ranking.ranks[pairs[:, 0]], tests.differences[tests.verdicts == SEPARABLE]


def test_no_neighbours_under_threshold_are_told_apart_the_wrong_way_on_big_bench_hard():
    matrix = board("bigbench-hard")
    apart, differences = separable_neighbours(matrix, "threshold")
    assert len(apart) > 0
    assert (apart > 0).all()
    assert (differences > 0).all()
    tests = significance(matrix, rank(matrix, "threshold"))
    contradicted = tests.neighbours.differences[tests.neighbours.verdicts == CONTRADICTED]
    assert tests.summary()["neighbours"]["n_contradicted"] == len(contradicted) > 0
    assert (contradicted < 0).all()


def test_no_neighbours_under_plurality_share_a_rank():
    matrix = board("bigbench-hard")
    ranking = rank(matrix, "plurality")
    pairs = significance(matrix, ranking).neighbours.pairs
    ranks = sorted(set(ranking.ranks.tolist()))
    assert {tuple(ranking.ranks[pair].tolist()) for pair in pairs} == {*itertools.pairwise(ranks)}


def test_what_is_tested_is_named_with_the_reason():
    matrix = random_matrix(5, 8, seed=1)
    by_rule = {rule: significance(matrix, rank(matrix, rule)) for rule in ("borda", "copeland")}
    assert by_rule["borda"].tested_text == "what each task adds to the score under Borda, weights included"
    assert by_rule["copeland"].tested_text == (
        "weighted mean differences of scores over common tasks, in units of each task's spread over the systems, "
        "because Copeland is no sum over tasks"
    )
    gaps = random_matrix(5, 8, seed=1, missing=0.1)
    result = significance(gaps, rank(gaps, "win_rate"))
    assert result.tested_text.endswith("because Win rate is no sum over tasks where scores are missing")
    assert result.summary()["tested"] == "mean_differences"
    assert "each sign" not in result.summary()["null_hypothesis"]
    assert "as likely with either sign" in result.summary()["null_hypothesis"]


def test_a_ranking_made_in_another_way_is_refused():
    gaps = random_matrix(6, 8, seed=1, missing=0.1)
    with pytest.raises(ValueError, match="`missing` is 'worst'; state the `missing`, `ties` and `options`"):
        significance(gaps, rank(gaps, "borda", missing="median"), missing="worst")
    tied = random_matrix(6, 8, seed=1, n_levels=3)
    best = rank(tied, "borda", ties="best")
    with pytest.raises(ValueError, match="other scores than the rule borda"):
        significance(tied, best)
    assert significance(tied, best, ties="best").rule == "borda"


def test_a_parameter_out_of_range_is_refused():
    matrix = random_matrix(3, 3, seed=1)
    ranking = rank(matrix, "borda")
    with pytest.raises(ValueError, match="`level` is 2"):
        significance(matrix, ranking, level=2)
    with pytest.raises(ValueError, match="`scale` is 'x'"):
        significance(matrix, ranking, scale="x")
    with pytest.raises(ValueError, match="`ranking` is of 3 systems, `matrix` of 2"):
        significance(matrix.subset([0, 1]), ranking)


@pytest.mark.parametrize("unit", [1e154, 1e-162, 1e-170])
def test_the_unit_of_a_task_changes_no_test_however_large_or_small(unit):
    values = np.array([[1, 2, 3, 4, 5, 6.0], [0] * 6, [0.5, 1, 1, 1, 1, 1]])
    changed = np.hstack([values[:, :1], values[:, 1:] * unit])
    expected = pair_test(ScoreMatrix(values), 0, 1).p_values
    np.testing.assert_array_equal(pair_test(ScoreMatrix(changed), 0, 1).p_values, expected)


def test_a_system_that_the_geometric_mean_does_not_rank_leaves_the_tests_of_the_others_as_they_are():
    positive = random_matrix(4, 9, seed=1, kind="uniform").values + 0.1
    matrix = ScoreMatrix(np.vstack([positive, np.r_[-1.0, np.ones(8)]]))
    result = significance(matrix, rank(matrix, "geometric_mean"))
    alone = significance(ScoreMatrix(positive), rank(ScoreMatrix(positive), "geometric_mean"))
    assert (result.order, result.tested) == (alone.order, "contributions")
    assert result.every_pair.p_values.tolist() == alone.every_pair.p_values.tolist()
    assert result.tested_text == (
        "what each task adds to the logarithm of the score under Geometric mean, weights included"
    )
