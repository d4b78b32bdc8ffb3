from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from tests.ranking_engine import naive
from tests.ranking_engine.naive_consensus import reachable
from tests.ranking_engine.strategies import matrices

NAN = float("nan")


def picks(matrix: ScoreMatrix):
    """Every pick of every task: its weight, the system, and the set from which it is picked."""
    table, systems = naive.oriented(matrix), naive.scored_systems(matrix)
    for t in naive.voting_tasks(matrix):
        scored = [i for i in systems if (i, t) in table]
        for i in scored:
            yield float(matrix.weights[t]), i, [j for j in scored if table[j, t] <= table[i, t]]


def log_likelihood(matrix: ScoreMatrix, strength: dict, prior: float = 0.0) -> float:
    """The definition, sum by sum."""
    total = 0.0
    for weight, i, left in picks(matrix):
        total += weight * (strength[i] - math.log(sum(math.exp(strength[j]) for j in left)))
    return total - prior * sum(math.log1p(math.exp(-s)) + math.log1p(math.exp(s)) for s in strength.values())


def assert_is_maximum(matrix: ScoreMatrix, ranking) -> None:
    """Strengths have mean 0, and every system is expected to be picked as often as it is."""
    systems = naive.scored_systems(matrix)
    strength = dict(zip(systems, ranking.scores[systems].tolist(), strict=True))
    assert sum(strength.values()) == pytest.approx(0, abs=1e-8)
    seen, expected = dict.fromkeys(systems, 0.0), dict.fromkeys(systems, 0.0)
    for weight, i, left in picks(matrix):
        seen[i] += weight
        whole = sum(math.exp(strength[j]) for j in left)
        for j in left:
            expected[j] += weight * math.exp(strength[j]) / whole
    assert seen == pytest.approx(expected, rel=1e-7, abs=1e-7)


def groups_apart(matrix: ScoreMatrix) -> set:
    """Systems that chains of wins or ties connect both ways."""
    table, systems = naive.oriented(matrix), naive.scored_systems(matrix)
    ahead = {
        (i, j): any(
            table[i, t] >= table[j, t]
            for t in naive.voting_tasks(matrix)
            if i != j and (i, t) in table and (j, t) in table
        )
        for i in systems
        for j in systems
    }
    reach = {i: reachable(ahead, i, systems) for i in systems}
    return {frozenset(j for j in reach[i] if i in reach[j]) for i in systems}


@settings(max_examples=80, deadline=None)
@given(matrices())
def test_strengths_are_the_maximum_of_the_likelihood_or_undefined_with_the_groups(matrix):
    ranking = rank(matrix, "plackett_luce")
    groups = groups_apart(matrix)
    if len(groups) == 1:
        assert ranking.status == "ranked"
        assert_is_maximum(matrix, ranking)
        return
    assert ranking.status == "undefined"
    if groups:
        names, parts = matrix.system_names, ranking.details["components"]
        components = {frozenset(map(names.index, part)) for part in parts}
        assert components == groups


@pytest.mark.parametrize("prior", [0.0, 0.25])
@pytest.mark.parametrize(
    "options", [{}, {"missing": 0.3}, {"n_levels": 3}, {"weights": ["1/3", 2, 5, 1, 1, "0.7"] * 2}]
)
def test_no_other_strengths_are_more_likely(options, prior):
    matrix = random_matrix(5, 12, seed=4, kind="uniform", **options)
    ranking = rank(matrix, "plackett_luce", prior=prior)
    assert (ranking.status, ranking.details["prior"]) == ("ranked", prior)

    def unlikely(values):
        return -log_likelihood(matrix, dict(enumerate(values)), prior)

    best = minimize(unlikely, np.zeros(5), tol=1e-10).x
    np.testing.assert_allclose(ranking.scores, best - best.mean(), atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(matrices())
def test_a_prior_gives_strengths_to_every_board(matrix):
    ranking = rank(matrix, "plackett_luce", prior=0.5)
    assert ranking.status == ("ranked" if naive.scored_systems(matrix) else "undefined")


def test_two_systems_a_task_are_bradley_terry():
    values = np.full((6, 40), NAN)
    generator = np.random.default_rng(2)
    for column in values.T:
        column[generator.choice(6, 2, replace=False)] = generator.permutation(2)
    matrix = ScoreMatrix(values)
    luce, terry = rank(matrix, "plackett_luce"), rank(matrix, "bradley_terry")
    assert luce.status == "ranked"
    np.testing.assert_allclose(luce.scores, terry.scores, atol=1e-9)
    errors = [list(ranking.details["standard_errors"].values()) for ranking in (luce, terry)]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-8)


def test_errors_are_sandwiches_by_cluster():
    matrix = ScoreMatrix(random_matrix(4, 24, seed=1).values, clusters=[str(t % 12) for t in range(24)])
    ranking = rank(matrix, "plackett_luce")
    n, strength = 4, dict(enumerate(ranking.scores.tolist()))
    gradients, information = np.zeros((12, n)), np.zeros((n, n))
    for number, (_, i, left) in enumerate(picks(matrix)):
        chance = np.array([math.exp(strength[j]) if j in left else 0.0 for j in range(n)])
        chance /= chance.sum()
        gradients[(number // n) % 12] += np.eye(n)[i] - chance
        information += np.diag(chance) - np.outer(chance, chance)
    influence = gradients @ np.linalg.pinv(information)
    errors = np.sqrt((influence**2).sum(axis=0) * 12 / 11)
    np.testing.assert_allclose(list(ranking.details["standard_errors"].values()), errors, rtol=1e-8)
    assert ranking.details["n_clusters"] == 12


@pytest.mark.parametrize("n_comparing", [2, 12])
def test_tasks_with_a_single_score_count_as_no_cluster(n_comparing):
    comparing = np.stack([[t % 2, 1 - t % 2] for t in range(n_comparing)], axis=1).astype(float)
    comparing[:, 0] = [1, 1]
    single = np.where(np.arange(10) % 2 == np.array([[0], [1]]), 1.0, NAN)
    alone, together = (
        rank(ScoreMatrix(values), "plackett_luce") for values in (comparing, np.hstack([comparing, single]))
    )
    assert together.details["n_clusters"] == alone.details["n_clusters"] == n_comparing
    assert together.scores.tolist() == pytest.approx(alone.scores.tolist())
    errors = [ranking.details.get("standard_errors") for ranking in (alone, together)]
    assert (errors[0] is None) == (n_comparing < 10)
    assert errors[1] == (pytest.approx(errors[0]) if errors[0] else None)
    assert together.details.get("t_quantile") == alone.details.get("t_quantile")


def test_errors_are_the_spread_of_strengths_over_boards():
    """400 boards of 60 tasks from known strengths: the mean error is the spread of the estimates, within an eighth."""
    generator, truth = np.random.default_rng(0), np.array([1.0, 0.4, 0.0, -0.4, -1.0])
    estimates, errors = [], []
    for _ in range(400):
        ranking = rank(ScoreMatrix(truth[:, None] + generator.gumbel(size=(5, 60))), "plackett_luce")
        estimates.append(ranking.scores)
        errors.append(list(ranking.details["standard_errors"].values()))
    np.testing.assert_allclose(np.mean(estimates, axis=0), truth, atol=0.05)
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(estimates, axis=0), rtol=0.125)


def test_a_long_chain_is_fitted_and_one_beyond_floats_says_so():
    def chain(n, odds):
        values = np.full((n, 2 * (n - 1)), NAN)
        for i in range(n - 1):
            values[[i, i + 1], 2 * i : 2 * i + 2] = [[1, 0], [0, 1]]
        return rank(ScoreMatrix(values, weights=[odds, 1] * (n - 1)), "plackett_luce")

    fitted = chain(20, 9)
    np.testing.assert_allclose(-np.diff(fitted.scores), math.log(9), rtol=1e-7)
    too_far = chain(20, 10**6)
    assert (too_far.status, too_far.reason) == (
        "undefined",
        "strengths are more than 250 apart, too far for floating-point numbers; use a prior",
    )
