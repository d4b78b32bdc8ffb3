from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from ranking_engine import ScoreMatrix
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.copy_proof import ERROR, copy_proof_ratings, least_mixture


def of_two_tasks(scores):
    """The ratings on two tasks, exactly: of all points where two systems meet, and both ends, the least one."""
    columns = [[Fraction(value) for value in column] for column in zip(*scores, strict=True)]
    scaled = [[(x - min(column)) / (max(column) - min(column)) for x in column] for column in columns]
    lines = list(zip(*scaled, strict=True))
    points = {Fraction(0), Fraction(1)}
    for (a, b), (c, d) in combinations(lines, 2):
        slope = (a - b) - (c - d)
        if slope and 0 <= (point := (d - b) / slope) <= 1:
            points.add(point)
    ratings = [[w * a + (1 - w) * b for a, b in lines] for w in points]
    return [float(r) for r in min(ratings, key=lambda row: sorted(row, reverse=True))]


def by_trying_each(game):
    """The ratings by linear programs that ask of each system whether it could be lower at the optimum."""
    n, T = game.shape
    fixed = {}
    while len(fixed) < n:
        free = [i for i in range(n) if i not in fixed]
        rows = [[*game[i], -1.0 if i in free else 0.0] for i in range(n)]
        rights = [fixed.get(i, 0.0) for i in range(n)]
        simplex = {"A_eq": [[1.0] * T + [0.0]], "b_eq": [1.0], "bounds": [(0, None)] * T + [(None, None)]}
        highest = linprog([0.0] * T + [1.0], A_ub=rows, b_ub=np.add(rights, 1e-9), **simplex).fun
        at_optimum = [*rights]
        for i in free:
            at_optimum[i] = highest
        inside = [[*game[i], 0.0] for i in range(n)]
        tight = []
        for i in free:
            lowest = linprog([*game[i], 0.0], A_ub=inside, b_ub=np.add(at_optimum, 1e-8), **simplex).fun
            if lowest > highest - 1e-6:
                tight.append(i)
        fixed |= dict.fromkeys(tight, highest)
    return [fixed[i] for i in range(n)]


@pytest.mark.parametrize("seed", range(12))
def test_ratings_on_two_tasks_are_those_of_exact_fractions(seed):
    scores = np.random.default_rng(seed).integers(0, 6, (5, 2)).astype(float)
    scores[:2] = [[0, 6], [6, 0]]
    assert copy_proof_ratings(ScoreMatrix(scores)).ratings == pytest.approx(of_two_tasks(scores.tolist()), abs=ERROR)


@pytest.mark.parametrize("n_levels", [None, 3])
@pytest.mark.parametrize("seed", range(4))
def test_ratings_are_those_of_programs_that_ask_of_each_system(seed, n_levels):
    matrix = random_matrix(6, 4, seed=seed, kind="uniform", n_levels=n_levels)
    scores = matrix.scores
    game = (scores - scores.min(axis=0)) / (scores.max(axis=0) - scores.min(axis=0))
    assert copy_proof_ratings(matrix).ratings == pytest.approx(by_trying_each(game), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_copies_of_tasks_and_of_systems_move_nothing_and_they_move_the_mean(seed):
    matrix = random_matrix(7, 5, seed=seed, kind="uniform", n_levels=6 if seed % 2 else None)
    before = copy_proof_ratings(matrix)
    random = np.random.default_rng(seed)
    tasks = [*range(5), *random.integers(0, 5, 6)]
    systems = [*range(7), *random.integers(0, 7, 5)]
    copied = ScoreMatrix(matrix.scores[np.ix_(systems, tasks)])
    after = copy_proof_ratings(copied)
    assert after.ratings == pytest.approx(before.ratings[systems], abs=ERROR)
    assert copied.scores[:7].mean(axis=1) != pytest.approx(matrix.scores.mean(axis=1), abs=1e-3)


def test_a_task_that_is_a_mixture_of_others_moves_nothing_either():
    scores = np.array([[0.0, 1.0, 0.4], [1.0, 0.0, 0.6], [0.5, 0.9, 0.0], [0.2, 0.3, 1.0]])
    before = copy_proof_ratings(ScoreMatrix(scores)).ratings
    game = np.column_stack([scores, scores @ [0.5, 0.25, 0.25]])
    assert game @ least_mixture(game) == pytest.approx(before, abs=ERROR)


def test_rock_paper_scissors_are_equal_and_the_one_behind_everywhere_is_last():
    ratings = copy_proof_ratings(ScoreMatrix([[2, 1, 3], [3, 2, 1], [1, 3, 2], [0, 0, 0]]))
    assert ratings.ratings == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0], abs=ERROR)
    assert ratings.task_weights == pytest.approx([1 / 3] * 3, abs=ERROR)


def test_what_cannot_be_rated_has_no_rating_and_a_reason():
    nan = float("nan")
    some = copy_proof_ratings(ScoreMatrix([[1, 2], [2, nan], [3, 1]]))
    assert np.isnan(some.ratings).tolist() == [False, True, False]
    assert some.ratings[[0, 2]] == pytest.approx([0.5, 0.5], abs=ERROR)
    assert (
        copy_proof_ratings(ScoreMatrix([[1, nan], [nan, 2]])).reason
        == "no system has a score on every task of weight above 0"
    )
    assert copy_proof_ratings(ScoreMatrix([[1, 2], [1, 2]])).reason == "all systems tie on every task"
    reversed_task = copy_proof_ratings(ScoreMatrix([[1, 5], [2, 7]], directions=[-1, 1]))
    assert reversed_task.ratings == pytest.approx([0.5, 0.5], abs=ERROR)
    huge = copy_proof_ratings(ScoreMatrix([[1e308, 0], [-1e308, 1]]))
    assert huge.ratings == pytest.approx([0.5, 0.5], abs=ERROR)
