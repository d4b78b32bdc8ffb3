"""Categories of votes as tasks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from ranking_engine import rank
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.data import Votes
from ranking_engine.votes.ratings import rate
from tests.ranking_engine.votes.strategies import vote_sets

NAN = float("nan")


@settings(max_examples=50, deadline=None)
@given(vote_sets(weights=(0.0, 1.0, 2.0)))
def test_each_category_has_the_ratings_of_its_own_votes(votes):
    is_counted = votes.weights > 0
    own_fits = [rate(votes.where(is_counted & (votes.categories == number))) for number in np.unique(votes.categories)]
    if not any(np.bincount(own.connectedness.labels).max() > 1 for own in own_fits):
        with pytest.raises(ValueError, match="no category has ratings"):
            category_scores(votes)
        return
    scores = category_scores(votes)
    for t, name in enumerate(scores.matrix.task_names):
        number = votes.category_names.index(name) if name in votes.category_names else -1
        own = rate(votes.where(votes.categories == number))
        for i, system in enumerate(scores.matrix.system_names):
            place = votes.system_names.index(system)
            value = scores.matrix.values[i, t]
            is_in_largest = own.connectedness.labels[place] == own.connectedness.largest
            assert np.isnan(value) or (is_in_largest and value == pytest.approx(own.points[place]))


def test_every_rule_applies_to_the_categories():
    rows = [("A", "B"), ("B", "A"), ("A", "B"), ("B", "C"), ("C", "B"), ("B", "C")]
    votes = Votes.of(
        [a for a, _ in rows] * 2,
        [b for _, b in rows] * 2,
        [0] * 6 + [0, 0, 0, 0, 0, 1],
        categories=["code"] * 6 + ["math"] * 6,
    )
    scores = category_scores(votes)
    assert scores.matrix.task_names == ("code", "math")
    assert rank(scores.matrix, "borda").winners == (0,)
    assert scores.n_votes == (6, 6)
    assert (scores.errors > 0).all()


@pytest.mark.parametrize(("n_systems", "unaware"), [(2, 0.82), (3, 0.91)])
def test_errors_of_a_board_add_up_to_that_of_a_difference(n_systems, unaware):
    """400 boards of 200 votes on systems of equal strength: 95 % of the intervals of a difference have 0."""
    random = np.random.default_rng(0)
    pairs = [(i, j) for i in range(n_systems) for j in range(i)]
    first, second = zip(*(pairs[k % len(pairs)] for k in range(200)), strict=True)
    differences, errors, own_errors = [], [], []
    for _ in range(400):
        scores = category_scores(Votes.of(list(map(str, first)), list(map(str, second)), random.integers(0, 2, 200)))
        differences.append(scores.matrix.values[0, 0] - scores.matrix.values[1, 0])
        errors.append(math.hypot(*scores.board_errors[:2, 0]))
        own_errors.append(math.hypot(*scores.errors[:2, 0]))
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.08)
    covered, less = (np.mean(np.abs(differences) < 1.96 * np.array(of)) for of in (errors, own_errors))
    assert covered == pytest.approx(0.95, abs=0.025)
    assert less == pytest.approx(unaware, abs=0.035)


def test_systems_that_a_category_does_not_connect_are_missing_there():
    votes = Votes.of(
        ["A", "B", "B", "C", "A"], ["B", "A", "C", "B", "C"], [0] * 5, categories=["x", "x", "y", "y", None]
    )
    scores = category_scores(votes)
    points = {
        name: [None if np.isnan(value) else round(value) for value in row]
        for name, row in zip(scores.matrix.system_names, scores.matrix.values.tolist(), strict=True)
    }
    assert points == {"A": [1000, None], "B": [1000, 1000], "C": [None, 1000]}
    assert scores.problems == {"no category": scores.problems["no category"]}
    assert scores.problems["no category"].startswith("no ratings: ")


def test_votes_without_categories_are_one_task():
    votes = Votes.of(["A", "B"], ["B", "A"], [0, 0])
    assert category_scores(votes).matrix.task_names == ("all votes",)
