from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine import naive, naive_consensus
from tests.ranking_engine.strategies import matrices

NAN = float("nan")


def assert_is_maximum(matrix: ScoreMatrix, ranking, prior: float = 0.0) -> None:
    """Strengths have mean 0 and expect of each system as many wins as it has, which only the maximum does."""
    won = naive_consensus.half_wins(matrix)
    systems = naive.scored_systems(matrix)
    strength = dict(zip(systems, ranking.scores[systems].tolist(), strict=True))
    assert sum(strength.values()) == pytest.approx(0, abs=1e-8)
    for i in systems:
        rivals = [j for j in systems if j != i]
        seen = sum(float(won[i, j]) + prior for j in rivals)
        expected = sum(
            (float(won[i, j] + won[j, i]) + 2 * prior) / (1 + math.exp(strength[j] - strength[i])) for j in rivals
        )
        assert seen == pytest.approx(expected, rel=1e-7, abs=1e-7)


@settings(max_examples=80, deadline=None)
@given(matrices())
def test_strengths_are_the_maximum_of_the_likelihood_or_undefined_with_the_components(matrix):
    ranking = rank(matrix, "bradley_terry")
    components = naive_consensus.win_components(matrix)
    if len(components) == 1:
        assert ranking.status == "ranked"
        assert_is_maximum(matrix, ranking)
        return
    assert ranking.status == "undefined"
    if components:
        assert len(components) == len(ranking.details["components"])
        assert {frozenset(part) for part in ranking.details["components"]} == components


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_a_prior_gives_strengths_to_every_board_and_is_named(matrix):
    ranking = rank(matrix, "bradley_terry", prior=0.25)
    if naive.scored_systems(matrix):
        assert (ranking.status, ranking.details["prior"]) == ("ranked", 0.25)
        assert_is_maximum(matrix, ranking, 0.25)


@pytest.mark.parametrize("options", [{"missing": 0.3}, {"n_levels": 4, "kind": "uniform"}, {"noise": 3.0}])
def test_larger_boards_have_the_maximum_too(options):
    matrix = random_matrix(16, 24, seed=2, **options)
    ranking = rank(matrix, "bradley_terry")
    assert ranking.status == "ranked"
    assert_is_maximum(matrix, ranking)


def test_two_systems_have_the_logarithm_of_the_odds():
    ranking = rank(ScoreMatrix([[1, 1, 1, 0], [0, 0, 0, 0]]), "bradley_terry")
    np.testing.assert_allclose(ranking.scores, [math.log(7) / 2, -math.log(7) / 2], rtol=1e-12)
    assert "standard_errors" not in ranking.details


def test_a_board_that_falls_apart_names_its_parts_from_the_strongest_down():
    matrix = ScoreMatrix([[2, 1], [3, 3], [1, 2], [0, 0]], system_names=["middle", "top", "also middle", "bottom"])
    ranking = rank(matrix, "bradley_terry")
    assert ranking.status == "undefined"
    assert ranking.details["components"] == [["top"], ["also middle", "middle"], ["bottom"]]
    assert ranking.reason == (
        "no finite strengths: 3 groups of systems have not both won and lost against each other "
        "(top; also middle, middle; bottom); a prior would give some"
    )


def test_systems_in_the_same_position_tie_exactly():
    cycle = ScoreMatrix([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    assert rank(cycle, "bradley_terry").scores.tolist() == [0, 0, 0]
    assert rank(ScoreMatrix([[1.0, 1.0], [1.0, 1.0]]), "bradley_terry").ranks.tolist() == [1, 1]


GROUPS = ["g", "g", "g", "h", "h", *[None] * 19]
CLUSTERS = [None, None, None, None, None, "c", "c", *[None] * 17]


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        ({}, list(range(24))),
        ({"groups": GROUPS}, [0, 0, 0, 3, 3, *range(5, 24)]),
        ({"groups": GROUPS, "clusters": CLUSTERS}, [0, 0, 0, 3, 3, 5, 5, *range(7, 24)]),
    ],
    ids=["tasks", "groups", "clusters"],
)
def test_standard_errors_are_those_of_the_clusters_that_the_tests_use(labels, keys):
    weights = [1, 2, 1, 3, 1, 1, 1, 1, 2, *[1] * 15]
    matrix = random_matrix(5, 24, seed=8, missing=0.1, weights=weights)
    matrix = ScoreMatrix(matrix.values, weights=matrix.weights, **labels)
    ranking = rank(matrix, "bradley_terry")
    expected, effective = naive_consensus.clustered_errors(matrix, ranking.scores.tolist(), keys)
    got = ranking.details["standard_errors"]
    assert got == pytest.approx(dict(zip(matrix.system_names, expected, strict=True)), rel=1e-9)
    assert ranking.details["n_clusters"] == len(set(keys))
    assert ranking.details["t_quantile"] == pytest.approx(stats.t.ppf(0.975, effective - 1), rel=1e-9)


def test_ten_columns_in_nine_clusters_have_no_standard_errors():
    matrix = random_matrix(5, 10, seed=8)
    assert "standard_errors" in rank(matrix, "bradley_terry").details
    of_nine = ScoreMatrix(matrix.values, groups=["one", "one", *[None] * 8])
    details = rank(of_nine, "bradley_terry").details
    assert (details["n_clusters"], "standard_errors" in details, "t_quantile" in details) == (9, False, False)


@pytest.mark.parametrize("rule", ["bradley_terry", "plackett_luce"])
@pytest.mark.parametrize(("largest", "has_errors"), [(30, False), (15, False), (4, True)])
def test_a_cluster_with_most_of_the_tasks_or_of_the_weight_leaves_no_standard_errors(rule, largest, has_errors):
    matrix = random_matrix(5, largest + 14, seed=8)
    together = ScoreMatrix(matrix.values, clusters=["one"] * largest + [None] * 14)
    assert ("standard_errors" in rank(together, rule).details) == has_errors
    heavy = ScoreMatrix(matrix.values[:, -15:], weights=[largest, *[1] * 14])
    assert ("standard_errors" in rank(heavy, rule).details) == has_errors


def test_strengths_are_in_their_intervals_where_clusters_differ_in_size():
    """With the sandwich and as many degrees of freedom as clusters less one, in 0.92 of these boards."""
    generator = np.random.default_rng(13)
    sizes, strengths, hits = [10] + [1] * 30, np.linspace(-0.6, 0.6, 5), []

    def board(sizes):
        taste = np.repeat(generator.normal(size=(5, len(sizes))), sizes, axis=1)
        return strengths[:, None] + taste + generator.gumbel(size=taste.shape)

    true = np.array(rank(ScoreMatrix(board([1] * 4000)), "bradley_terry").scores)
    names = np.repeat(np.arange(31), sizes).astype(str).tolist()
    for _ in range(150):
        ranking = rank(ScoreMatrix(board(sizes), clusters=names), "bradley_terry")
        margin = ranking.details["t_quantile"] * np.array(list(ranking.details["standard_errors"].values()))
        hits.append(np.abs(np.array(ranking.scores) - true) <= margin)
    assert np.mean(hits) > 0.93


def test_copies_of_a_task_in_one_group_do_not_make_strengths_surer():
    once = random_matrix(5, 12, seed=4)
    thrice = ScoreMatrix(np.repeat(once.values, 3, axis=1), groups=np.repeat(np.arange(12), 3).astype(str).tolist())
    errors = [rank(matrix, "bradley_terry").details["standard_errors"] for matrix in (once, thrice)]
    assert errors[1] == pytest.approx(errors[0], rel=1e-9)


def test_two_systems_have_the_standard_error_of_the_log_odds():
    # 8 of 12 tasks won: the variance of the log odds is 1 / (12 p q), clustered by task, times 12 / 11
    matrix = ScoreMatrix([[1] * 8 + [0] * 4, [0] * 8 + [1] * 4])
    errors = rank(matrix, "bradley_terry").details["standard_errors"]
    half = math.sqrt(12 / 11 / (12 * 8 / 12 * 4 / 12)) / 2
    assert errors == pytest.approx({"s1": half, "s2": half}, rel=1e-12)


def test_bad_priors_are_named():
    with pytest.raises(ValueError, match="`prior` is -1; expected a number from 0 to 1e"):
        rank(ScoreMatrix([[1.0]]), "bradley_terry", prior=-1)
    with pytest.raises(ValueError, match="`prior` is 'a'; expected a number"):
        rank(ScoreMatrix([[1.0]]), "bradley_terry", prior="a")


def test_sparse_comparisons_in_which_simultaneous_updates_overshoot_converge():
    gap = np.nan
    values = [[3, 1, gap], [gap, 0, 0], [gap, gap, 0], [1, gap, 2], [0, 2, 0], [gap, 0, 2]]
    ranking = rank(ScoreMatrix(values, weights=[2, 1, "1/10"]), "bradley_terry")
    assert ranking.status == "ranked"
    won = np.array(
        [[sum(
            weight * (0.5 + 0.5 * np.sign(mine - theirs))
            for weight, mine, theirs in zip([2, 1, 0.1], values[i], values[j], strict=True)
            if not np.isnan(mine - theirs)
        ) * (i != j) for j in range(6)] for i in range(6)]
    )  # fmt: skip
    chance = 1 / (1 + np.exp(ranking.scores[None, :] - ranking.scores[:, None]))
    np.testing.assert_allclose((won - (won + won.T) * chance).sum(axis=1), 0, atol=1e-9)  # the likelihood is flat
