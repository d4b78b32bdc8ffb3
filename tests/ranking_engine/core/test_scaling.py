"""Classical scaling, against points whose distances are known, and maps of rules and tasks against their definition."""

import itertools
import math

import numpy as np
import pytest

from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.ranking import average_ranks
from ranking_engine.core.scaling import MAX_MAPPED, classical_scaling, map_of_rankings, ranking_map


def distances_between(points):
    return np.array([[math.dist(a, b) for b in points] for a in points])


@pytest.mark.parametrize("seed", range(5))
def test_points_of_a_plane_are_found_again_but_for_where_they_are_turned(seed):
    points = np.random.default_rng(seed).normal(size=(6, 2))
    plane = classical_scaling(distances_between(points))
    assert np.allclose(distances_between(plane.points), distances_between(points))
    assert (plane.share, plane.stress) == (pytest.approx(1), pytest.approx(0, abs=1e-7))
    assert np.allclose(plane.points.mean(axis=0), 0)
    assert plane.points[:, 0].var() >= plane.points[:, 1].var()
    for column in plane.points.T:
        assert column[np.abs(column).argmax()] > 0


def test_four_points_of_equal_distance_need_three_axes_and_the_plane_says_what_it_loses():
    plane = classical_scaling(1 - np.eye(4))
    distances = distances_between(plane.points)
    pairs = list(itertools.combinations(range(4), 2))
    assert plane.share == pytest.approx(2 / 3)
    assert plane.stress == pytest.approx(math.sqrt(sum((distances[i, j] - 1) ** 2 for i, j in pairs) / 6))


def test_things_that_are_all_alike_are_one_point():
    plane = classical_scaling(np.zeros((3, 3)))
    assert plane.points.tolist() == [[0, 0]] * 3
    assert math.isnan(plane.share)
    assert math.isnan(plane.stress)


@pytest.mark.parametrize(
    "table", [[[0, 1]], [[0, 1], [2, 0]], [[0, -1], [-1, 0]], [[1, 0], [0, 1]], [[0, math.nan]] * 2]
)
def test_what_is_no_table_of_distances_is_refused(table):
    with pytest.raises(ValueError, match="`distances` must be"):
        classical_scaling(np.array(table, dtype=float))


def tau_b(first, second):
    """Kendall's tau-b from its definition, pair by pair, on what both rank."""
    both = [i for i in range(len(first)) if not math.isnan(first[i]) and not math.isnan(second[i])]
    s = x = y = 0
    for i, j in itertools.combinations(both, 2):
        one, other = np.sign(first[i] - first[j]), np.sign(second[i] - second[j])
        s, x, y = s + one * other, x + abs(one), y + abs(other)
    return s / math.sqrt(x * y)


@pytest.mark.parametrize("seed", range(4))
def test_the_map_is_that_of_the_tau_of_every_two_rules_and_tasks(seed):
    values = np.random.default_rng(seed).integers(0, 9, size=(7, 4)).astype(float)
    values[0, 1] = np.nan
    matrix = ScoreMatrix(values, weights=[1, 2, 1, 0])
    rankings = [rank(matrix, rule) for rule in ("copeland", "minimax", "win_rate")]
    rule_map = map_of_rankings(rankings, matrix)
    orders = [average_ranks(ranking.ranks) for ranking in rankings]
    orders += [[sum(w > v for w in column) + sum(w == v for w in column) / 2 if v == v else math.nan for v in column]
               for column in values.T[:3].tolist()]  # fmt: skip
    table = np.array([[(1 - tau_b(a, b)) / 2 if a is not b else 0 for b in orders] for a in orders])
    assert rule_map.members == [*(("rule", r.rule) for r in rankings), *(("task", f"t{t}") for t in (1, 2, 3))]
    assert np.allclose(rule_map.plane.points, classical_scaling(table).points)
    assert rule_map.left_out == []


def test_a_task_that_ties_all_is_left_out_and_two_that_are_left_make_no_map():
    matrix = ScoreMatrix([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], task_names=["One", "Flat"])
    ranks = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([3.0, 2.0, 1.0])}
    picture = ranking_map(ranks, matrix)
    assert (picture.members, picture.left_out) == ([("rule", "a"), ("rule", "b"), ("task", "One")], [("task", "Flat")])
    assert np.allclose(picture.plane.points, [[2 / 3, 0], [-1 / 3, 0], [-1 / 3, 0]])  # the task orders as b
    assert ranking_map({"a": ranks["a"]}, matrix) is None


def test_there_is_no_map_of_more_rankings_than_are_compared():
    matrix = ScoreMatrix(np.arange(2.0 * MAX_MAPPED).reshape(2, MAX_MAPPED))
    assert map_of_rankings([rank(matrix, "borda")], matrix) is None
