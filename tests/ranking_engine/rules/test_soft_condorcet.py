from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import plurank
from ranking_engine import ScoreMatrix, rank
from ranking_engine.core.synthetic import random_matrix
from ranking_engine.rules.soft_condorcet import MAX_STEPS, descended, step_limit, unfinished_note
from tests.ranking_engine import naive
from tests.ranking_engine.strategies import matrices

DEMONSTRATION = Path(__file__).parents[3] / "leaderboard" / "demonstration"


def pairs(matrix: ScoreMatrix):
    """Every comparison on a task that is not a tie: its weight, the better system, the worse one."""
    table, systems = naive.oriented(matrix), naive.scored_systems(matrix)
    for t in naive.voting_tasks(matrix):
        for i in systems:
            for j in systems:
                if (i, t) in table and (j, t) in table and table[i, t] > table[j, t]:
                    yield float(matrix.weights[t]), i, j


def smooth(matrix: ScoreMatrix, ratings, temperature: float = 1.0) -> float:
    return sum(
        weight / (1 + math.exp(min(700.0, (ratings[i] - ratings[j]) / temperature))) for weight, i, j in pairs(matrix)
    )


def distance(matrix: ScoreMatrix, ratings) -> float:
    return sum(weight * ((ratings[i] < ratings[j]) + (ratings[i] == ratings[j]) / 2) for weight, i, j in pairs(matrix))


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_loss_and_distance_are_those_of_the_definition(matrix):
    ranking = rank(matrix, "soft_condorcet")
    if not naive.scored_systems(matrix):
        assert ranking.status == "undefined"
        return
    assert ranking.details["loss"] == pytest.approx(smooth(matrix, ranking.scores), rel=1e-9, abs=1e-9)
    assert ranking.details["distance"] == pytest.approx(distance(matrix, ranking.scores))
    rated = ranking.scores[naive.scored_systems(matrix)]
    assert 0 <= rated.min() <= rated.max() <= 1000


def test_a_cycle_stays_at_a_saddle_point_from_which_the_loss_falls():
    cycle = ScoreMatrix([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]])
    ranking = rank(cycle, "soft_condorcet")
    assert (ranking.scores.tolist(), ranking.details["is_stationary"]) == ([500.0] * 3, True)
    assert ranking.details["loss"] == pytest.approx(4.5)
    assert rank(cycle, "kemeny").details["distance"] == 4


@pytest.mark.parametrize("temperature", [1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_rating_alone_can_be_moved_to_a_lower_loss_nearby(seed, temperature):
    matrix = random_matrix(6, 9, seed=seed, noise=2.0)
    ranking = rank(matrix, "soft_condorcet", temperature=temperature)
    assert ranking.details["is_stationary"]
    for i in range(6):
        for move in (-0.5, 0.5):
            moved = ranking.scores.copy()
            moved[i] = min(1000.0, max(0.0, moved[i] + move))
            assert smooth(matrix, moved, temperature) >= ranking.details["loss"] - 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_orders_are_near_kemenys_and_nearer_than_bordas(seed):
    """Above the least distance by less than one in 250 of all comparisons, on boards that Kemeny solves."""
    matrix = random_matrix(30, 15, seed=seed, noise=2.0)
    least = rank(matrix, "kemeny").details["distance"]
    found_distance = rank(matrix, "soft_condorcet").details["distance"]
    assert least <= found_distance < least + 0.004 * 15 * 30 * 29 / 2
    assert found_distance < distance(matrix, rank(matrix, "borda").scores)


def test_a_lower_temperature_is_nearer_to_kemeny(monkeypatch):
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet.MAX_STEPS", 1000)  # 10,000 end at the same distances
    matrix = random_matrix(60, 20, seed=1, noise=2.0)
    distances = [rank(matrix, "soft_condorcet", temperature=t).details["distance"] for t in (30.0, 10.0, 3.0, 1.0)]
    assert distances == sorted(distances, reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_changes_no_bit_and_tasks_upside_down_mirror_the_ratings(seed):
    matrix = random_matrix(12, 7, seed=seed, n_levels=4)
    ranking = rank(matrix, "soft_condorcet")
    shuffled = np.random.default_rng(seed).permutation(12)
    assert rank(matrix.subset(shuffled), "soft_condorcet").scores.tolist() == ranking.scores[shuffled].tolist()
    mirrored = rank(matrix.with_values(-matrix.values), "soft_condorcet")
    np.testing.assert_allclose(mirrored.scores, 1000 - ranking.scores, atol=1e-3)


def test_systems_that_the_table_treats_alike_have_equal_ratings():
    # Three systems in a circle, a copy of each, and one that all beat.
    circle = np.array([[3, 1, 2], [2, 3, 1], [1, 2, 3]])
    matrix = ScoreMatrix(np.vstack([circle, circle, [[0, 0, 0]]]))
    ratings = rank(matrix, "soft_condorcet").scores
    assert len(set(ratings[:6].tolist())) == 1
    assert ratings[6] < ratings[0]


def test_a_board_has_the_ratings_by_itself_that_it_has_among_others():
    """Also where others are absent from its board, and boards of the batch end at different steps."""
    matrices = [
        random_matrix(14, 9, seed=seed, noise=noise, n_levels=levels)
        for seed, noise, levels in ((1, 0.3, None), (2, 2.0, 4), (3, 5.0, None), (4, 1.0, 3))
    ]
    margins = np.array([majority_shares(matrix) for matrix in matrices])
    present = np.ones((4, 14), dtype=bool)
    present[1, 3:6] = present[2, 0] = False
    margins *= present[:, :, None] & present[:, None, :]
    together = descended(margins, present, 1000.0)
    assert together.is_stationary.all()
    for row, here, ratings in zip(margins, present, together.ratings, strict=True):
        alone = descended(row[np.ix_(here, here)][None], np.ones((1, here.sum()), dtype=bool), 1000.0)
        assert ratings[here] == pytest.approx(alone.ratings[0], abs=1e-3)
        assert places(ratings[here]) == places(alone.ratings[0])
        assert not ratings[~here].any()


def majority_shares(matrix: ScoreMatrix):
    """Half the signs of differences, over tasks: margins of at most 1."""
    signs = np.sign(matrix.scores[:, None, :] - matrix.scores[None, :, :]).sum(axis=2)
    return signs / matrix.n_tasks


def places(ratings):
    return np.argsort(-ratings, kind="stable").tolist(), [(ratings == rating).sum() for rating in np.sort(ratings)]


@pytest.mark.parametrize("seed", range(40))
def test_momentum_ends_where_plain_steps_alone_end_after_long(monkeypatch, seed):
    """In the same order on these boards; on 1 in 30 like them momentum ends at another minimum, as low or lower."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 25))
    matrix = random_matrix(n, int(random.integers(3, 30)), seed=seed, noise=float(random.choice([0.3, 1.0, 3.0])))
    quick = rank(matrix, "soft_condorcet")
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet._PLAIN_STEPS", MAX_STEPS)
    plain = rank(matrix, "soft_condorcet")
    assert quick.details["is_stationary"]
    assert plain.details["is_stationary"]
    assert quick.details["steps"] <= plain.details["steps"]
    assert quick.details["loss"] <= plain.details["loss"] + 1e-6
    assert quick.ranks.tolist() == plain.ranks.tolist()


@pytest.mark.parametrize("name", ["glue", "mteb", "bigbench-hard"])
def test_boards_of_a_hundred_systems_are_finished(name):
    """After 300 steps between 0 and 100 they were not: two systems met at the bound, and MTEB had another winner."""
    ranking = rank(plurank.read(DEMONSTRATION / name).matrix, "soft_condorcet")
    assert ranking.details["is_stationary"]
    assert ranking.details["loss"] == pytest.approx(ranking.details["distance"], rel=1e-5)
    assert len(ranking.winners) == 1
    assert unfinished_note(ranking.details) == ""


def test_at_a_low_temperature_the_loss_is_the_distance():
    ranking = rank(plurank.read(DEMONSTRATION / "glue").matrix, "soft_condorcet", temperature=0.1)
    assert ranking.details["loss"] == pytest.approx(ranking.details["distance"], rel=1e-5)
    assert 450 <= ranking.scores.min() < ranking.scores.max() <= 550  # 1,000 temperatures of room


def test_steps_have_a_limit_that_is_said(monkeypatch):
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet.MAX_STEPS", 20)
    matrix = random_matrix(12, 7, seed=1)
    ranking = rank(matrix, "soft_condorcet")
    assert (ranking.details["steps"], ranking.details["is_stationary"]) == (20, False)
    assert np.isfinite(ranking.scores).all()
    assert unfinished_note(ranking.details).startswith("The descent was ended after 20 steps, before")


def test_a_limit_is_not_said_where_no_order_is_nearer(monkeypatch):
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet.MAX_STEPS", 20)
    tasks = [np.arange(12), np.arange(12), np.roll(np.arange(12).reshape(6, 2), 1, axis=1).ravel()]
    details = rank(ScoreMatrix(np.array(tasks, dtype=float).T), "soft_condorcet").details
    assert (details["is_stationary"], details["distance"], details["lower_bound"]) == (False, 6.0, 6.0)
    assert unfinished_note(details) == ""


@pytest.mark.parametrize(("temperature", "first"), [(30.0, [1, 2, 3, 4]), (50.0, [1, 1, 3, 4])])
def test_systems_that_all_tasks_order_alike_tie_at_the_bound_at_high_temperatures(temperature, first, monkeypatch):
    monkeypatch.setattr("ranking_engine.rules.soft_condorcet.MAX_STEPS", 500)  # ratings hardly move after them
    matrix = ScoreMatrix(np.arange(20.0, 0.0, -1.0)[:, np.newaxis])
    assert rank(matrix, "soft_condorcet", temperature=temperature).ranks[:4].tolist() == first


def test_larger_boards_have_fewer_steps():
    assert [step_limit(n) for n in (1, 100, 173, 300, 1000, 2000)] == [10_000, 10_000, 10_000, 3_333, 300, 300]
